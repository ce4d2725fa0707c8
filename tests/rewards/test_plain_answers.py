import pytest

from setrl.errors import DataError
from setrl.grading.stated import normal_text, stated_answer
from setrl.rewards.plain_answers import ChoiceAnswer, ExactAnswer, NumberAnswer


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
    for kind, gold in ((NumberAnswer, "7"), (ChoiceAnswer, "B")):
        assert reward_of(kind, gold, part * 50_000) == 0.0


def test_normal_text_keeps_what_is_not_dress():
    assert normal_text(" A\tB ") == "a b"
    assert normal_text("1.50") == "1.50"
    assert normal_text(" . ") is None


RIGHT = {
    NumberAnswer: [
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
    ChoiceAnswer: [
        ("B", "B"),
        ("(b)", "The answer is (B)."),
        ("B", r"\boxed{\text{B}}"),
        ("B", "B. Paris"),
        ("B", "Answer: option b"),
        ("B", "**B)** Paris"),
        ("B", "thinking about A\nB"),
        ("B", "<answer>B</answer>"),
        ("B", "The answer is B, as A is too small."),
    ],
    ExactAnswer: [
        ("New York", "Answer:  new\tyork."),
        ("x", r"so \boxed{x}"),
        ("Ⅷ", "viii"),
        ("'a'", "it is so\n`a`"),
        ("reason\n#### yes", "<answer> Yes </answer>"),
    ],
}
WRONG = {
    NumberAnswer: [
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
    ChoiceAnswer: [
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
    ExactAnswer: [("york", "new york"), ("x", ""), ("x", "x y"), ("1", r"\boxed{1")],
}


def reward_of(kind, gold, text):
    [value] = kind()(prompts=["?"], completions=[text], answer=[gold])
    return value


@pytest.mark.parametrize(
    ("kind", "gold", "text"), [(kind, *case) for kind, cases in RIGHT.items() for case in cases]
)
def test_right_answers(kind, gold, text):
    assert reward_of(kind, gold, text) == 1.0
    [reading] = kind().read(gold, [text])
    assert reading.correct
    assert reading.answer
    assert reading.reason == ""


@pytest.mark.parametrize(
    ("kind", "gold", "text"), [(kind, *case) for kind, cases in WRONG.items() for case in cases]
)
def test_wrong_answers(kind, gold, text):
    assert reward_of(kind, gold, text) == 0.0
    [reading] = kind().read(gold, [text])
    assert not reading.correct
    assert reading.reason in ("different", "no answer")


@pytest.mark.parametrize(
    ("kind", "bad"), [(NumberAnswer, "many"), (ChoiceAnswer, "Paris"), (ExactAnswer, " ")]
)
def test_golds_that_cannot_be_used(kind, bad):
    assert reward_of(kind, bad, "18") is None
    assert reward_of(kind, None, "18") is None
    [problem] = kind().gold_problems([bad])
    assert problem.startswith("no ")
    with pytest.raises(DataError, match=f"gold {bad!r} cannot be used for grading: it states no"):
        kind().read(bad, ["18"])


def test_the_column_of_golds_is_named_where_it_is_missing():
    with pytest.raises(ValueError, match="in the column 'gold', but the columns are: answer"):
        NumberAnswer("gold")(prompts=["?"], completions=["1"], answer=["1"])


def test_equal_numbers_are_one_answer():
    texts = ["0.5", "1/2", r"\boxed{\frac12}", "50%"]
    readings = NumberAnswer().read("0.5", texts)
    assert [reading.answer for reading in readings] == ["1/2", "1/2", "1/2", "50%"]
