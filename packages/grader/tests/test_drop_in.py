r"""`parse` and `verify` with math-verify's arguments; what does not hold here is refused."""

import pytest

from setrl_grader import parse, trainers, verify
from setrl_grader.stated import GoldError

HANGS = r"1+\sqrt{x}" + "+x^{x^x}-x^{x^x}" * 110


@pytest.mark.parametrize(
    ("text", "answer"),
    [
        (r"So it is \boxed{\frac12}.", r"\frac{1}{2}"),
        (r"$\frac{1}{2}$", r"\frac{1}{2}"),
        (r"The answer is \(x = 5\).", "x = 5"),
        (r"We get \[ 9 \]", "9"),
        ("18", "18"),
        ("She has 9.\n#### 18", "18"),
        ("<answer>B</answer>", "B"),
        ("$5$, $7$", "5,7"),
        ("10 cm", "10 cm"),
        (r"\boxed{1}, \boxed{2} and \boxed{3}", "1,2,3"),
        ("$1$ and $2$", "1and2"),
        ("The matrix is $A$.", "A"),
        ("The answer is $28$ percent.", r"28%"),
        ("Final Answer: The final answer is $100$. I hope it is correct.", "100"),
    ],
)
def test_what_a_text_states(text, answer):
    [found] = parse(text)
    assert found.replace(" ", "") == answer.replace(" ", "")


@pytest.mark.parametrize(
    "text",
    ["It is $5$ minus one", "less than $5$", "the square root of $5$", "The answer is twice $5$.",
     "$5$ is wrong", "anything but $5$", "x is $5$ but y is big", "The answer is $4$, not.",
     "Either $4$ or $5$", "It is not $4$.", "We have $4$ and then $5$.", "", r"\boxed{4",
     "<think>4", "\\boxed{4}, but see \\boxed{5}"],
)  # fmt: skip
def test_a_text_that_states_no_single_answer(text):
    assert parse(text) == []


def test_the_gold_comes_first():
    assert verify("50\\%", "50")
    assert not verify(r"\frac{1}{2}", r"0.5, \frac{1}{3}")
    assert verify(parse(r"$(1,2)$"), parse(r"\boxed{1<x<2}"), allow_set_relation_comp=True)


def test_lists_agree_if_any_pair_does():
    assert verify(["1", "2"], ["3", "2"])
    assert not verify(["1", "2"], ["3"])
    assert not verify(["1"], [])


def test_braces_that_are_not_in_pairs_cannot_leave_the_box():
    assert not verify("6", "5}\nWait, it is\n\\boxed{6")
    assert not verify("5,6", "5}, \\fbox{6")


def test_float_rounding_is_the_tolerance_of_decimals():
    assert verify(r"\sqrt{2}", "1.414", float_rounding=3)
    assert not verify(r"\sqrt{2}", "1.414")


@pytest.mark.parametrize(
    ("call", "argument"),
    [
        (lambda: parse("5", extraction_config=["latex"]), "extraction_config"),
        (lambda: parse("5", fallback_mode="no_fallback"), "fallback_mode"),
        (lambda: parse("5", extraction_mode="last"), "extraction_mode"),
        (lambda: verify("5", "5", numeric_precision=30), "numeric_precision"),
        (lambda: verify("5", "5", strict=False), "strict"),
    ],
)
def test_what_does_not_hold_here_is_refused_by_name(call, argument):
    with pytest.raises(ValueError, match=argument):
        call()


def test_a_limit_is_a_wrong_answer_or_an_error():
    gold = r"\sqrt{x}+1"
    assert not verify(gold, HANGS, timeout_seconds=None)
    with pytest.raises(GoldError, match="too large"):
        verify(gold, HANGS, raise_on_error=True)
    with pytest.raises(GoldError, match="unparsable gold"):
        verify("2x+", "5", raise_on_error=True)


def test_settings_share_a_grader():
    assert trainers._grader(1e-6) is trainers._grader(1e-6)
