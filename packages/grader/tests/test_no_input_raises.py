"""No input raises, and none needs the guard that would catch it."""

import random
import sys
import unicodedata

import pytest

from setrl_grader import (
    ChoiceGrader,
    ExactGrader,
    MathGrader,
    NumberGrader,
    Reason,
    compute_score,
    parse,
    trl_reward,
    verify,
)
from setrl_grader import math_grader as reading

GRADERS = [MathGrader(), NumberGrader(), ChoiceGrader(), ExactGrader()]
FORMS = [
    r"{}",
    r"1{}",
    r"{}.5",
    r"{}/2",
    r"\frac{}3",
    r"\frac{{{}}}{{3}}",
    r"x^{}",
    r"x_{}",
    r"\sqrt{{{}}}",
    r"{}%",
    r"{}!",
    r"({},{})",
    r"{}°",
    r"{}e5",
    r"\binom{}{}",
]
NUMBERS = [chr(code) for code in range(sys.maxunicode) if unicodedata.category(chr(code))[0] == "N"]
ALIKE = ("CJK UNIFIED IDEOGRAPH", "HANGUL SYLLABLE")  # 110,000 letters: one of 20 stands for them
LETTERS = [
    chr(code)
    for code in range(sys.maxunicode)
    if unicodedata.category(chr(code))[0] == "L"
    and (code % 20 == 0 or not unicodedata.name(chr(code), "").startswith(ALIKE))
]
LONG = ["9" * 5000, "1." + "3" * 5000, rf"\frac{{1}}{{{'7' * 5000}}}", f"x^{{{'9' * 5000}}}",
        f"10^{{{'9' * 400}}}", f"0.({'3' * 5000})", "1e" + "9" * 50, "9" * 1999,
        ".350.(3)"]  # fmt: skip
PIECES = [
    r"\frac",
    r"\sqrt",
    r"\binom",
    r"\sin",
    r"\pi",
    r"\left(",
    r"\right)",
    r"\text{and}",
    r"\in",
    r"\mathbb{Z}",
    r"\begin{pmatrix}",
    r"\end{pmatrix}",
    r"\\",
    r"\overline",
    r"\log_",
    r"{",
    r"}",
    r"[",
    r"]",
    r"(",
    r")",
    r"^",
    r"_",
    r"&",
    r"|",
    r"=",
    r"<",
    r",",
    r";",
    r"+",
    r"-",
    r"/",
    r"*",
    r"!",
    r"'",
    r"°",
    r"%",
    r"$",
    r"0",
    r"12",
    r"3.5",
    r".",
    r"x",
    r"y",
    r"n",
    r"AB",
    r"①",
    r"٣",
    r"½",
    r"²",
    r"∞",
    r"√",
    " ",
    "**",
    "*",
    "sqrt(",
    "exp(",
    "pi",
]


@pytest.fixture(autouse=True)
def unguarded(monkeypatch):
    """The guard lets errors through."""
    for module in (
        reading,
        sys.modules["setrl_grader.plain"],
        sys.modules["setrl_grader.trainers"],
    ):
        monkeypatch.setattr(module, "guarded", lambda text, gold, grade: grade())


def read(text, gold):
    """Grade a pair by every grader, and say why."""
    for grader in GRADERS:
        grade = grader.grade(text, gold)
        assert grade.why
        assert grade.verdict
        assert (grade.certificate is None) or (grade.witness is None)
        grader.answer(text)
    verify(parse(gold), parse(text))


def test_numbers_of_all_scripts():
    assert len(NUMBERS) > 1500
    for place, sign in enumerate(NUMBERS):
        answer = FORMS[place % len(FORMS)].format(sign, sign)
        read(rf"\boxed{{{answer}}}", sign)


def test_a_digit_is_a_digit_and_a_sign_is_none():
    grader = MathGrader()
    assert grader.grade(r"\boxed{٣}", "3").correct
    assert not grader.grade(r"\boxed{①}", "1").correct
    assert grader.grade(r"\boxed{①}", "①").correct


def test_letters_of_all_scripts():
    for start in range(0, len(LETTERS), 240):
        some = "".join(LETTERS[start : start + 240])
        read(rf"\boxed{{{some[:120]}+{some[120:]}}}", some)
    for letter in random.Random(0).sample(LETTERS, 200):
        read(rf"\boxed{{{letter}+1}}", letter)


@pytest.mark.parametrize("long", LONG, ids=range(len(LONG)))
def test_long_numbers(long):
    for text, gold in [(long, "5"), ("5", long), (long, long + " ")]:
        read(rf"\boxed{{{text}}}", gold)
        for grader in GRADERS:
            grader.gold_problems([gold])


def test_a_number_that_python_does_not_write():
    for grader in (MathGrader(), NumberGrader()):
        assert grader.grade(r"\boxed{5}", 10**5000).reason == Reason.BAD_GOLD


def test_made_latex():
    draw = random.Random(1)
    for _ in range(1500):
        gold, answer = ("".join(draw.choices(PIECES, k=draw.randint(1, 12))) for _ in range(2))
        try:
            read(rf"\boxed{{{answer}}}", gold)
        except RecursionError:
            pytest.fail(answer)


def test_the_guard_says_what_it_caught(monkeypatch, caplog):
    monkeypatch.undo()

    def fails(_):
        raise KeyError("gone")

    monkeypatch.setattr(reading, "normal_form", fails)
    grader = MathGrader()
    grade = grader.grade(r"So \boxed{5}", "5")
    assert (grade.reason, grade.verdict, grade.correct) == (Reason.FAULT, "unreadable", False)
    assert grader.counts.by_reason[Reason.FAULT] == 1
    assert "KeyError: 'gone'" in caplog.text
    assert "boxed{5}" in caplog.text


@pytest.mark.parametrize(
    ("gold", "answer"),
    [
        (r"2\vec{a}", r"3\vec{a}"),
        (r"\overline{z}", r"2\overline{z}"),
        (r"\frac{\partial f}{\partial x}", r"2\frac{\partial f}{\partial x}"),
        (r"\vec{a}\cdot\vec{b}", r"\vec{a}"),
        ("{0}x", "{1}x"),
    ],
)
def test_braces_in_an_answer_are_no_places_of_a_sentence(gold, answer):
    grade = MathGrader().grade(rf"\boxed{{{answer}}}", gold)
    assert not grade.correct
    assert answer.replace(" ", "") in grade.why.replace(" ", "")
    assert grade.witness


ODD = [None, 5, b"5", float("nan"), ["5"], {"content": 5}, [["5"]], [{"content": [{"text": 5}]}]]


@pytest.mark.parametrize("odd", ODD, ids=repr)
def test_what_is_no_text_states_nothing(odd, monkeypatch):
    monkeypatch.undo()  # it is at the guard's door, and no fault
    for grader in GRADERS:
        assert grader.grade(odd, "5").reason in (Reason.NO_ANSWER, Reason.BAD_GOLD)
        assert grader.answer(odd) is None
        assert grader.grade("5", odd).correct in (None, False, True)
    assert parse(odd) == []
    assert verify("6", odd) is verify(odd, "6") is False
    assert compute_score(odd, odd, odd)["score"] == 0.0
    assert trl_reward([odd], answer=["6"]) == [0.0]


NESTED = [r"\text{", r"\frac{", r"\sqrt{", r"\binom{", "{", "(", r"\left(", "|", r"\boxed{"]


@pytest.mark.parametrize("part", NESTED)
@pytest.mark.parametrize("depth", [300, 20_000])
def test_nesting_states_nothing_to_parse(part, depth):
    closing = {"{": "}", "(": ")", "|": "|"}[part[-1]]
    text = part * depth + "5" + closing * depth
    assert not verify("6", text)
    read(text, "5")
    read("5", text)


@pytest.mark.parametrize(
    "text",
    [r"{a \choose b}" * 2000, r"\(" * 20_000 + " x", "a" + " " * 20_000 + "b", "$ " * 20_000,
     "1,111" * 4000, "{" * 950 + "1" + "}" * 950, r"{a \choose b}" * 130, r"\(" * 990,
     "a" + " " * 1990 + "b", r"\text{" * 330 + "5" + "}" * 330],
    ids=lambda text: text[:8],
)  # fmt: skip
def test_long_rows_are_read_in_linear_time(text):
    read(text, "5")
    read(rf"\boxed{{{text}}}", "5")


def test_a_setting_that_cannot_be_is_named():
    with pytest.raises(ValueError, match="error must be finite"):
        MathGrader().grades([r"\boxed{4}"], ["5"], error=float("inf"))
    with pytest.raises(ValueError, match="float_rounding"):
        verify("5", "5", float_rounding=0)


def test_a_second_point_after_a_decimal():
    for answer in (r"3.50.\overline{3}", r"3.5.(3)", r"0.5.\overline{6}+1"):
        read(rf"\boxed{{{answer}}}", "3.5")


@pytest.mark.parametrize("inner", ["i", "1+i", r"\ln i", "i^{1/3}", r"\sqrt[3]{2}i"])
@pytest.mark.parametrize(
    "outer",
    [r"\ln(%)", r"\log_{%}(2)", "(%)^{1/3}", r"\arcsin(%)", r"\arctan(%)", r"\lfloor %\rfloor",
     r"\sqrt{%}", r"\tanh(%)", "(%)!", "f(%)", r"|%|", "2^{%}"],
)  # fmt: skip
def test_complex_values_in_every_function(outer, inner, caplog):
    text = outer.replace("%", inner) + r"+\sqrt[3]{5}"
    MathGrader().grade(rf"\boxed{{{text}+0\pi}}", text)
    assert not caplog.records
