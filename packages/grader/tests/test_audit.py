"""What an audit found: wrong answers that were accepted, right ones that were refused."""

import pytest

from setrl_grader import MathGrader


def matrix(rows, kind="pmatrix"):
    return rf"\begin{{{kind}}} {rows} \end{{{kind}}}"


def bracketed(rows):
    return rf"\left[\begin{{array}}{{c}} {rows} \end{{array}}\right]"


GRADERS = {units: MathGrader(units=units) for units in (False, True)}


def grade(answer, gold, *, units=False):
    return GRADERS[units].grade(rf"\boxed{{{answer}}}", gold)


WRONG = [
    ("x", "x^{1/2}x^{1/2}", "no values below 0"),
    ("x^{1/2}x^{1/2}", "x", "values below 0"),
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
    ("f^{(3)}(x)", "f^3(x)", "derivative read as a power"),
    (r"f^{-1}(x)=\frac{x}{2}", r"\frac{1}{f(x)}=\frac{x}{2}", "inverse read as a power"),
    ("A'B'", "AB'", "prime of a point lost"),
    (r"\angle ABC", r"\angle ACB", "points multiplied"),
    ("AB", "BA", "points multiplied"),
    (r"\text{dog}", r"\text{god}", "letters of a word multiplied"),
    ("xyzw", "xyzW", "case of letters lost"),
    ("a-bc", "abc", "minus sign read as a hyphen"),
    (r"\text{ellipse}", r"-\text{ellipse}", "minus sign before a word lost"),
    ("n!!", "(n!)!", "double factorial read as two"),
    (r"30^\circ", r"30\%", "degree mark read as a percent sign"),
    (r"50\%", r"50\%\%", "two percent signs"),
    ("-101_2", "-101_3", "base of a negative number lost"),
    ("12.1_3", "12.1", "base of a fraction lost"),
    ("101_b", "101_c", "base that is a letter lost"),
    ("5", r"x \not= 5", "negation lost"),
    ("5", r"\text{not } x=5", "words read as a name"),
    ("5", r"\text{wrong}=5", "words read as a name"),
    ("5", "xy=5", "product read as a name"),
    ("5", "x=6-1", "arithmetic behind a name"),
    ("(x,y)=(1,2)", "(y,x)=(1,2)", "order of names lost"),
    (r"x \in (1,2)", r"y \in (1,2)", "name of a set's element lost"),
    (r"A=\{1,2\}", r"B=\{1,2\}", "name of a set lost"),
    ("1,2", "1,,2", "empty item dropped"),
    ("(1,2)", "(1,2,)", "empty item dropped"),
    ("56", r"\$5\$6", "digits on both sides of a dollar sign run together"),
    ("5.6", r"5.\text{ }6", "digits run together"),
    (r"\{\{1\},2\}", r"\{1,2\}", "set read as its only member"),
    (r"\emptyset", r"\{\emptyset\}", "set read as its only member"),
    (r"x<0\text{ or }x>1", r"x<0\text{ and }x>1", "and read as or"),
    (r"\text{Alice and Bob}", r"\text{Alice or Bob}", "and read as or"),
    ("1<x<2", r"\{1,2\}", "interval read as the set of its ends"),
    ("B", "(B)(C)", "second choice dropped"),
    ("B", r"(B) \text{ or } (C)", "second choice dropped"),
    ("B", r"(B) \text{ is wrong}", "text behind a choice dropped"),
    ("(B) 5", "(B) 6", "text behind a choice dropped"),
    ("Δ", "δ", "case of letters lost"),
    ("5x", f"{5 + 2**61 - 31}x", "numbers compared modulo a prime that is known"),
    ("i", "583529827753931384", "numbers compared modulo a prime that is known"),
    (r"\sqrt{10^{80}+1}", "10^{40}", "numbers compared in sixty digits"),
    ("2024!+1", "2024!", "numbers compared in sixty digits"),
    ("52", "5²", "an error in the trainer's process"),
]


@pytest.mark.parametrize(("gold", "answer", "why"), WRONG)
def test_a_wrong_answer_is_refused(gold, answer, why):
    assert grade(gold, gold).reward == 1.0
    assert grade(answer, gold).reward != 1.0, why


@pytest.mark.parametrize(
    ("gold", "answer"),
    [
        ("5", "5 million"),
        ("5", "5 plus six"),
        ("5", "5 is wrong"),
        ("2", "2 pi"),
        ("5", "5 squared"),
        ("5", "5 times 6"),
        ("5", "5 per cm"),
    ],
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
    (r"\sin 30^\circ", r"\frac12", "degrees inside a function"),
    ("(1+i)^2", "2i", "imaginary unit"),
    (r"32,\! 349", "32349", "space after a thousands comma"),
    ("32349", r"32,\! 349", "space after a thousands comma"),
    ("e^{x/2}e^{x/2}", "e^x", "product of powers"),
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
    (r"\langle \frac12, 2\rangle", r"\langle 0.5,2\rangle", "vector in angle brackets"),
    ("2x", "f^{-1}(x)=2x", "inverse function as a name"),
    ("0.5", "P(X=1)=0.5", "probability as a name"),
    (r"a\pm b\mp c", "a+b-c, a-b+c", "two signs that belong together"),
    ("1,2,3", r"1, 2,\text{ and }3", "comma before and"),
    ("5!!", "15", "double factorial"),
    ("x^2", "x²", "exponent as one character"),
    (r"\frac12", "½", "fraction as one character"),
    (r"\emptyset", r"\varnothing", "empty set"),
    (r"\emptyset", r"\{\}", "empty set"),
    ("5", r"{\bf 5}", "font"),
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


@pytest.mark.parametrize(
    "answer",
    [
        r"\sin " * 300, "x_1" * 600, "1/" * 900 + "1", "x^" * 900 + "x",
        "(" * 900 + "x" + ")" * 900,
        r"\sqrt{" * 250 + "x" + "}" * 250, "x" + "!°" * 900, r"\text{" * 200 + "x" + "}" * 200,
        "|" * 1_000, "½" * 1_900, "{" * 900 + "}" * 900,
    ],
    ids=lambda answer: answer[:8],
)  # fmt: skip
def test_deep_answers_raise_no_error_in_the_trainers_process(answer):
    assert grade(answer, "x+1").reward == 0.0
