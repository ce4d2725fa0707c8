"""What an audit found: wrong answers that were accepted, right ones that were refused."""

import pytest

from setrl.rewards import math_answer


def matrix(rows, kind="pmatrix"):
    return rf"\begin{{{kind}}} {rows} \end{{{kind}}}"


def bracketed(rows):
    return rf"\left[\begin{{array}}{{c}} {rows} \end{{array}}\right]"


GRADERS = {units: math_answer(units=units) for units in (False, True)}  # share their workers


def grade(answer, gold, *, units=False):
    return GRADERS[units].grade(rf"\boxed{{{answer}}}", gold)


WRONG = [
    (matrix(r"5 \\ 3"), matrix(r"3 \\ 5"), "row break lost"),
    (matrix(r"1 & 2 \\ 3 & 4"), matrix(r"1 & 3 \\ 2 & 4"), "row break lost"),
    ("R^2-r^2", "0", "case of letters lost"),
    (r"\frac{R}{r}", "1", "case of letters lost"),
    (r"\Omega", r"\omega", "case of letters lost"),
    ("204_5", "204_6", "base lost"),
    ("204_5", "204", "base lost"),
    ("f'(x)=2x", "f(x)=2x", "prime lost"),
    ("30'", "30", "prime lost"),
    (r"\sin(90)", r"\sin(90^\circ)", "degrees inside a function lost"),
    (r"30^\circ15'", "3015", "degrees and minutes run together"),
    ("x=1,y=2", "2,1", "names of values lost"),
    ("12:30", r"\frac25", "a time of day read as a ratio"),
    ("1:2:3", r"\frac16", "a ratio of three read as a number"),
]


@pytest.mark.parametrize(("gold", "answer", "why"), WRONG)
def test_a_wrong_answer_is_refused(gold, answer, why):
    assert grade(gold, gold).reward == 1.0
    assert grade(answer, gold).reward != 1.0, why


@pytest.mark.parametrize(
    ("gold", "answer"),
    [("5", "5 million"), ("5", "5 plus six"), ("5", "5 is wrong"), ("2", "2 pi")],
)
def test_words_that_are_no_unit_are_refused(gold, answer):
    assert grade(gold, gold, units=True).reward == 1.0
    assert grade(answer, gold, units=True).reward != 1.0


RIGHT = [
    (matrix(r"5 \\ 3"), r"\begin{pmatrix}5\\3\end{pmatrix}", "matrix without spaces"),
    (
        matrix(r"1 & 2 \\ 3 & 4"),
        r"\begin{pmatrix}1&2\\3&4\end{pmatrix}",
        "matrix without spaces",
    ),
    ("x'", r"x^{\prime}", "prime in words"),
    (r"x^{\prime}", "x'", "prime in words"),
    (r"\frac12", r"\sin 30^\circ", "degrees inside a function"),
    ("2i", "(1+i)^2", "imaginary unit"),
    ("(1+i)^2", "2i", "imaginary unit"),
    (r"32,\! 349", "32349", "space after a thousands comma"),
    ("32349", r"32,\! 349", "space after a thousands comma"),
    ("x", "x^{1/2}x^{1/2}", "product of roots"),
    ("x^{1/2}x^{1/2}", "x", "product of roots"),
    ("1.5", "1 1/2", "mixed number"),
    ("1 1/2", "1.5", "mixed number"),
    ("1", "|AB| = 1", "name before a value"),
    ("|AB| = 1", "1", "name before a value"),
    ("11:21", "V_1:V_2 = 11:21", "name before a ratio"),
    ("V_1:V_2 = 11:21", "11:21", "name before a ratio"),
    (matrix(r"5 \\ 3"), bracketed(r"5 \\ 3"), "array in brackets"),
    (bracketed(r"5 \\ 3"), matrix(r"5 \\ 3"), "array in brackets"),
    ("5", r"\textnormal{5}", "textnormal"),
    (r"\text{yes}", r"\textnormal{yes}", "textnormal"),
    (r"\frac12\%", r"\frac12\text{ percent}", "percent as a word"),
]


@pytest.mark.parametrize(("gold", "answer", "why"), RIGHT)
def test_a_right_answer_is_accepted(gold, answer, why):
    assert grade(gold, gold).reward == 1.0
    assert grade(answer, gold).reward == 1.0, why


@pytest.mark.parametrize(
    ("gold", "answer"),
    [
        (r"0.\overline{3}", r"\frac13"),
        (r"{5\choose 2}", "10"),
        (r"\{x|x>1\}", r"(1,\infty)"),
        ("-3./2", r"-\frac32"),
        (r"\frac12\text{ percent}", r"\frac12\%"),
    ],
)
def test_a_gold_can_be_graded_against(gold, answer):
    assert grade(answer, gold).reward == 1.0
