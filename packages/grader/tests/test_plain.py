import pytest

from setrl_grader import ChoiceGrader, ExactGrader, NumberGrader, Reason
from setrl_grader.stated import GoldError, normal_text, stated_answer


@pytest.mark.parametrize(
    ("text", "stated", "place"),
    [
        (r"The answer is 3. \boxed{4}", "4", "marked"),
        ("<answer>a</answer> then <answer>b</answer> #### c", "b", "marked"),
        ("<answer>a</answer> </answer> <answer>", "a", "marked"),
        ("#### 3\n#### 18 \nso", "18", "marked"),
        ("The answer is 3.\nNo, the answer is **7**.\nBye", "7**.", "prose"),
        ("Answer: B", "B", "prose"),
        ("9 + 9\nmakes 18\n\n", "makes 18", "end"),
        ("<think>the answer is 3</think>4", "4", "end"),
    ],
)
def test_where_an_answer_is_read(text, stated, place):
    found = stated_answer(text)
    assert (found.text, found.place) == (stated, place)


@pytest.mark.parametrize(
    "text", ["", " \n ", r"18 \boxed{18", r"\boxed{1} \boxed{2}", "<think>18", "<think>1</think> "]
)
def test_texts_that_state_nothing(text):
    assert stated_answer(text) is None


@pytest.mark.parametrize(
    "part", ["<answer>", "answer is ", "#### ", "</think>", "9,", "(A", "\n", "\\boxed{"]
)
def test_hostile_texts_are_read_in_linear_time(part):
    """A quadratic reader would take minutes."""
    for kind, gold in ((NumberGrader, "7"), (ChoiceGrader, "B")):
        assert kind().grade(part * 50_000, gold).correct is False


def test_normal_text_keeps_what_is_not_dress():
    assert normal_text(" A\tB ") == "a b"
    assert normal_text("1.50") == "1.50"
    assert normal_text(" . ") is None


RIGHT = {
    NumberGrader: [
        ("18", "#### 18"),
        ("18", "She makes $18.00"),
        ("1,018", "The answer is 1018 eggs in 7 days."),
        ("He has 9.\n#### 1,018", r"\boxed{1{,}018}"),
        ("-2", "#### −2"),
        ("0.5", r"\boxed{\frac{1}{2}}"),
        ("3/4", "so 0.75"),
        ("18", "\\boxed{18\\text{ dollars}}"),
        (18, "3 * 6 = **18**"),
        (2.0, "it is 2."),
        ("18", "#### 18 = 18.0"),
    ],
    ChoiceGrader: [
        ("B", "B"),
        ("(b)", "The answer is (B)."),
        ("B", r"\boxed{\text{B}}"),
        ("B. Paris", "B. Paris"),
        ("B", "Answer: option b"),
        ("B. Paris", "**B)** Paris"),
        ("B", "thinking about A\nB"),
        ("B", "<answer>B</answer>"),
        ("B", "The answer is B, not A."),
    ],
    ExactGrader: [
        ("New York", "Answer:  new\tyork."),
        ("x", r"so \boxed{x}"),
        ("Ⅷ", "viii"),
        ("'a'", "it is so\n`a`"),
        ("reason\n#### yes", "<answer> Yes </answer>"),
    ],
}
WRONG = {
    NumberGrader: [
        ("18", "#### 18 or 19"),
        ("18", "18\nthe answer is 19"),
        ("18", "18 then 19"),
        ("18", "eighteen"),
        ("18", "1 8"),
        ("18", "#### 118"),
        ("18", "18.1"),
        ("18", r"\boxed{18"),
        ("18", "x18"),
        ("-18", "18"),
        ("1018", "1,01,8"),
        ("18", "9" * 3000 + "18"),
    ],
    ChoiceGrader: [
        ("A", "A dog"),
        ("A", "The answer is (A) or (B)"),
        ("A", "(A), (B)"),
        ("A", "A or B"),
        ("A", "A, B"),
        ("A", "ABCD"),
        ("A", "B"),
        ("A", "(A) (B) (C)"),
        ("I", "I think"),
    ],
    ExactGrader: [("york", "new york"), ("x", ""), ("x", "x y"), ("1", r"\boxed{1")],
}


@pytest.mark.parametrize(
    ("kind", "gold", "text"), [(kind, *case) for kind, cases in RIGHT.items() for case in cases]
)
def test_right_answers(kind, gold, text):
    grade = kind().grade(text, gold)
    assert (grade.correct, grade.reason) == (True, Reason.EQUAL)
    assert grade.answer == kind().answer(text)
    assert grade.answer


@pytest.mark.parametrize(
    ("kind", "gold", "text"), [(kind, *case) for kind, cases in WRONG.items() for case in cases]
)
def test_wrong_answers(kind, gold, text):
    grade = kind().grade(text, gold)
    assert grade.correct is False
    assert grade.reason == (Reason.DIFFERENT if grade.answer else Reason.NO_ANSWER)


@pytest.mark.parametrize(
    ("kind", "bad"), [(NumberGrader, "many"), (ChoiceGrader, "Paris"), (ExactGrader, " ")]
)
def test_golds_that_cannot_be_used(kind, bad):
    assert kind().grade("18", bad).correct is None
    assert kind().grade("18", None).correct is None
    with pytest.raises(GoldError, match=f"1 of 1 golds .* row 0, {bad!r}: no "):
        kind().check_golds([bad])


def test_a_batch_has_one_gold_for_each_sample():
    with pytest.raises(ValueError, match="one gold for each of 2 samples, got 1"):
        NumberGrader().grades(["1", "2"], ["1"])


def test_equal_numbers_are_one_answer():
    texts = ["0.5", "1/2", r"\boxed{\frac12}", "50%"]
    assert [NumberGrader().answer(text) for text in texts] == ["1/2", "1/2", "1/2", "50%"]
