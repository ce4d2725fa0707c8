"""No input raises, and none needs the guard that would catch it."""

import random
import sys
import unicodedata

import pytest

from setrl_grader import ChoiceGrader, ExactGrader, MathGrader, NumberGrader, Reason
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
LETTERS = [chr(code) for code in range(sys.maxunicode) if unicodedata.category(chr(code))[0] == "L"]
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
    for module in (reading, sys.modules["setrl_grader.plain"]):
        monkeypatch.setattr(module, "guarded", lambda text, gold, grade: grade())


def read(text, gold):
    """Grade a pair by every grader."""
    for grader in GRADERS:
        assert grader.grade(text, gold).why
        grader.answer(text)


def test_numbers_of_all_scripts():
    assert len(NUMBERS) > 1500
    for place, sign in enumerate(NUMBERS):
        answer = FORMS[place % len(FORMS)].format(sign, sign)
        read(rf"\boxed{{{answer}}}", "5")
        read(r"\boxed{5}", sign)


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
    for _ in range(2500):
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
    assert grader.counts.faults == 1
    assert "KeyError: 'gone'" in caplog.text
    assert "boxed{5}" in caplog.text


def test_a_second_point_after_a_decimal():
    for answer in (r"3.50.\overline{3}", r"3.5.(3)", r"0.5.\overline{6}+1"):
        read(rf"\boxed{{{answer}}}", "3.5")
