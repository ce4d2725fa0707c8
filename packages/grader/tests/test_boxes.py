import pytest
from hypothesis import given
from hypothesis import strategies as st

from setrl_grader import Reason, grade
from setrl_grader.stated import MAX_BOXES, final_boxes

BALANCED = st.recursive(
    st.text(alphabet="ab1+ ", max_size=4),
    lambda inner: st.builds("{0}{{{1}}}{2}".format, inner, inner, inner),
    max_leaves=8,
)


@given(before=st.text(alphabet="ab{}\\ \n$"), inside=BALANCED, after=st.text(alphabet="}. \n"))
def test_whatever_stands_around_it_the_last_box_is_read_whole(before, inside, after):
    # A stray backslash before the box would escape it.
    text = f"{before} \n\n no \\boxed{{{inside}}}{after}"
    assert final_boxes(text).answers[-1] == inside


@pytest.mark.parametrize(
    ("text", "answers"),
    [
        ("", ()),
        ("no box", ()),
        (r"\boxed{1}", ("1",)),
        (r"\fbox{1}", ("1",)),
        (r"It is $\boxed 5$.", ("5",)),
        (r"\(\boxed 1,234\)", ("1,234",)),
        (r"\boxed -2.5.", ("-2.5",)),
        (r"\boxed x, as $y=1$", ("x",)),
        (r"\boxed5", ("5",)),
        (r"\boxed 1,234 + 5", ()),
        (r"\boxed 5x", ()),
        (r"\boxed 5\%", ()),
        (r"\boxed x^2", ()),
        (r"\boxed it", ()),
        (r"\boxed{1} and \boxed 2", ("1", "2")),
        (r"\boxed{3+{\boxed 5}}", (r"3+{\boxed 5}",)),
        (r"\boxed {1}", ("1",)),
        (r"\boxed{\{1,2\}}", (r"\{1,2\}",)),
        (r"\boxed{\frac{1}{2}} {", (r"\frac{1}{2}",)),
        (r"{ \boxed{1}", ("1",)),
        (r"} \boxed{1}", ("1",)),
        (r"\boxed{\boxed{1}+2}", (r"\boxed{1}+2",)),
        (r"\boxed{ we box it: \boxed{1}", ("1",)),
        (r"\\boxed{1}", ()),  # a line break, and the word "boxed"
        (r"\\\boxed{1}", ("1",)),
        (r"\boxed{1} \\boxed{2}", ("1",)),
        (r"\boxedfoo{1}", ()),
        ("\\boxed{1}\n\\boxed{2}", ("1", "2")),
        ("\\boxed{1},\n and $\\boxed{2}$", ("1", "2")),
        ("\\boxed{1} and so on \\boxed{2}", ("1", "2")),
        ("\\boxed{1}\nso that \\boxed{2}", ("2",)),
        ("\\boxed{0}\nno\n\\boxed{1}\n\n\\boxed{2}", ("1", "2")),
    ],
)
def test_boxes_at_the_end(text, answers):
    assert final_boxes(text).answers == answers


@pytest.mark.parametrize("text", [r"\boxed{", r"\boxed{1} \boxed{2", r"\boxed{\frac{1}{2}"])
def test_a_box_that_is_never_closed_is_cut_off(text):
    found = final_boxes(text)
    assert found.cut_off
    assert found.answers == ()


def test_deep_nesting_and_many_boxes_are_read_without_recursion():
    depth = 10**5
    nested = r"\boxed{" + "{" * depth + "1" + "}" * depth + "}"
    assert final_boxes(nested).answers == ("{" * depth + "1" + "}" * depth,)
    assert final_boxes("{" * depth).answers == ()
    boxes_in_boxes = r"\boxed{" * depth + "1" + "}" * depth
    assert final_boxes(boxes_in_boxes).answers == (boxes_in_boxes[len(r"\boxed{") : -1],)
    assert final_boxes(r"\boxed{1}" * depth).answers == ("1",) * MAX_BOXES
    assert final_boxes(r"\boxed{" * depth).cut_off


@pytest.mark.parametrize(
    "text",
    [
        r"<answer>\boxed{5}</answer>",
        "<answer>\n\\boxed{5}\n</answer>",
        r"=> \boxed{5}",
        r"-> $\boxed{5}$",
        r"> \boxed{5}",
        "As $x>3$ and x > 4:\n\\boxed{5}",
        r"$\boxed{5}^\circ$",
        r"\boxed{5}. Thus it is approximately 5.04 in all.",
    ],
)
def test_tags_arrows_and_marks_of_degrees_bind_no_box(text):
    assert grade(text, "5", prompt="What is it in degrees?").correct


@pytest.mark.parametrize("text", [r"$x>\boxed{5}$", r"$f(x) < \boxed{5}$", r"$\boxed{5}^2$"])
def test_relations_and_exponents_bind_a_box(text):
    assert grade(text, "5").reason == Reason.NO_BOX


def test_what_is_far_behind_a_box_is_not_read_but_white_space():
    assert grade(r"\boxed{5}" + " " * 9_000, "5").correct
    assert grade(r"\boxed{5}" + ". It is 5" * 900, "5").reason == Reason.NO_ANSWER


def test_a_long_row_of_numbers_and_signs_behind_a_box_is_read_once():
    # Three stars over the row would take minutes.
    assert grade(r"It is \boxed{5}. " + "1-" * 1_500, "5", prompt="Is it 5?").correct is False


def test_what_is_not_known_around_a_box_is_named():
    found = grade(r"A decoy is \boxed{5}.", "5", prompt="How many cats are left?")
    assert found.why == "it is not known what decoy says there, before or behind the box"
