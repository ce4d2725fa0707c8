"""Copies of a problem are no answers, nor is a form that it does not ask for."""

import json
import re
from pathlib import Path

import pytest

import attack_cases as cases
from setrl_grader import (
    ChoiceGrader,
    MathGrader,
    NumberGrader,
    Reason,
    compute_score,
    grade,
    trl_reward,
)
from setrl_grader.problem import problem_of

SIMPLIFY = r"Simplify $4(3r^3+5r-6)-6(2r^3-r^2+4r)$."
POLYNOMIAL = "6r^2-4r-24"

COPIES = [  # problem, gold, answer
    (SIMPLIFY, POLYNOMIAL, "4(3r^3+5r-6)-6(2r^3-r^2+4r)"),
    (SIMPLIFY, POLYNOMIAL, r"4 (5r + 3r^3 - 6) - 6 (2r^3 - r^2 + 4r)"),
    ("Simplify 4(3r^3+5r-6)-6(2r^3-r^2+4r).", POLYNOMIAL, "4(3r^3+5r-6)-6(2r^3-r^2+4r)"),
    (r"Factor \(x^4+64\).", "(x^2-4x+8)(x^2+4x+8)", "x^4+64"),
    (r"Factor \[64+x^4\]", "(x^2-4x+8)(x^2+4x+8)", "x^4+64"),
    ("Solve $2x+3y=6$ for $y$.", r"y=\frac{6-2x}{3}", "2x+3y=6"),
    ("Solve $2x+3y=6$ for $y$.", r"y=\frac{6-2x}{3}", "6=3y+2x"),
    ("Let $f(x)=(x+1)^2$. Expand $f(x)$.", "x^2+2x+1", "(x+1)^2"),
    ("Let $f(x)=(x+1)^2$. Expand $f(x)$.", "x^2+2x+1", "f(x)=(x+1)^2"),
    (r"Express $\frac{3\sqrt2}{4}$ as a decimal.", "1.060660", r"\frac{3\sqrt2}{4}"),
    (r"Simplify $\sqrt{50}$.", r"5\sqrt2", r"\sqrt{50}"),
    ("Compute $(2+3i)(1-i)$.", "5+i", "(2+3i)(1-i)"),
    ("Convert $60^\\circ$ to radians.", r"\frac{\pi}{3}", r"60^\circ"),
    ("Simplify the ratio $6:9$.", "2:3", "6:9"),
    (r"Write $(1,3)\cup(2,5)$ as one interval.", "(1,5)", r"(1,3)\cup(2,5)"),
    ("Write x^2 - 9 as a product of two binomials.", "(x-3)(x+3)", "-9+x^2"),
    ("Write x² − 9 as a product of two binomials.", "(x-3)(x+3)", "x^2-9"),
    ("Which is $x^2-9$? (A) $(x-3)(x+3)$ (B) $(x-3)^2$", "(x-3)(x+3)", "x^2-9"),
    ("Expand the product of $x+1$ and $x+2$.", "x^2+3x+2", "(x+1)(x+2)"),
    ("What is the square of $x-4$?", "x^2-8x+16", "(x-4)^2"),
    ("What is the cube of $2x$?", "8x^3", "(2x)^3"),
    ("Subtract $2(x+1)$ from $5x$.", "3x-2", "5x-2(x+1)"),
    ("The area is $(x+2)(x+3)$.\nTask: Write it as a polynomial.", "x^2+5x+6", "(x+2)(x+3)"),
]


@pytest.mark.parametrize(("problem", "gold", "answer"), COPIES)
def test_a_formula_of_the_problem_is_no_answer(problem, gold, answer):
    found = grade(rf"\boxed{{{answer}}}", gold, prompt=problem)
    assert found.reason == Reason.COPIED
    assert found.reward == 0.0
    assert found.why == "the answer is a formula of the problem"
    assert found.witness is None
    assert found.certificate is None
    assert grade(rf"\boxed{{{answer}}}", gold).reason in (Reason.EQUAL, Reason.UNEVALUATED)


RIGHT = [
    ("Approximate the root to ten places.", r"\sqrt7", "2.6457513111", "a decimal"),
    ("How many kilometers? Round to the nearest millionth.", r"\frac19", "0.111111", "a decimal"),
    ("Express it as a common fraction.", r"\frac25", r"\frac25=0.4", "both are the value"),
    ("How long is it?", "0.3333333", r"\frac13", "the gold is a decimal"),
    (r"Compute $\frac12+\frac14$.", r"\frac34", "0.75", "no notation is asked"),
    ("Find the sine.", r"\frac{\sqrt6}{2}", r"\frac{\sqrt3}{\sqrt2}", "no roots to make one"),
    ("6 / 8 =", "0.75", r"\frac34", "no notation is asked"),
    (r"A quarter is $\frac14$. What is $\frac18+\frac18$?", "0.25", r"\frac14", "a lone value"),
    ("Find it in cm, in simplest radical form.", r"5\sqrt2", r"5\sqrt2\text{ cm}", "a unit"),
    (r"Write $\frac{5}{4}$ as a percentage.", "125", r"125\%", "a mark"),
    ("Factorize it.", "b(x-y)(ax-ay-b)", "b(x-y)(a(x-y)-b)", "a sum within a factor"),
    ("How large is it in degrees?", r"\frac{45}{2}", "22.5", "the same measure"),
    (SIMPLIFY, POLYNOMIAL, "2(3r^2-2r-12)", "it is another form"),
    ("Which is larger, $2^{10}x$ or $x^3+1$, for $x>40$?", "1+x^3", "x^3+1", "a choice"),
    ("Let $AB=2$. What is $BC$?", "2", "BC=2", "a lone value"),
    ("Find $f$ with $f(f(x))=x$ and $f(x)=x$ at 0.", "f(z)=z", "f(x)=x", "a lone value"),
    ("Is it $x+1$ or $x+2$?", "x+1", "1+x", "the gold stands there"),
    ("Divide $x^2+x$ by $x$, not $2x+1$.", "x+1", "x+1", "it is a part of another formula"),
    ("It is $15^\\circ$. Which other angle is?", "15", r"15^\circ", "a mark is no other form"),
    ("It grows by $5\\%$. By what percentage in the end?", "5", r"5\%", "a mark is no other form"),
    (r"Which of the lines $2x-4y+5=0$ and $2x+4y-5=0$ is it?", r"y=\frac{x}{2}+\frac54",
     "2x-4y+5=0", "a choice in the problem"),
    ("Factor $x^2-9$.\nA. x^2-9\nB. (x-3)(x+3)", "(x-3)(x+3)", "(x+3)(x-3)", "an option"),
    ("Each side grows by a factor of 2. Find it.", "(n-1)(n+2)", "n^2+n-2", "no form is asked for"),
    ("Question: Factor $x^2-1$.\nAnswer: (x-1)(x+1)\n\nQuestion: Expand $(x-1)(x+1)$.\nAnswer:",
     "-1+x^2", "x^2-1", "it stands in an example"),
]  # fmt: skip


@pytest.mark.parametrize(("problem", "gold", "answer", "why"), RIGHT)
def test_what_answers_the_problem_is_right(problem, gold, answer, why):
    assert grade(rf"\boxed{{{answer}}}", gold, prompt=problem).correct, why


FORMS = [
    (r"Write $0.\overline{36}$ as a fraction.", r"\frac{4}{11}", r"0.\overline{36}"),
    (r"Write $2\frac12$ as an improper fraction.", r"\frac52", r"2\frac12"),
    ("Write 45% as a fraction.", r"\frac{9}{20}", r"45\%"),
    ("Find the prime factorization of 360.", r"2^3\cdot3^2\cdot5", "360"),
    ("Factorise $x^3-x$ completely.", "x(x-1)(x+1)", "x(x^2-1)"),
    ("Solve $2x+3y=6$ for $y$.", r"y=\frac{6-2x}{3}", "4x+6y=12"),
    ("Express $y$ in terms of $x$ where $y-x=2$.", "y=x+2", "3y-3x=6"),
    ("Factor $2x^2-2$.", "2(x-1)(x+1)", "(2x-2)(x+1)"),
    ("Write $x^2-9$ as a product.", "(x-3)(x+3)", r"x\cdot x-9"),
    ("Write x^2-9 as a product.", "(x-3)(x+3)", r"x\cdot x-9"),
    ("Write $x^2-6x+13$ in vertex form.", "(x-3)^2+4", "x(x-6)+13"),
    ("If $2x+3y=6$, what is $y$?", r"y=\frac{6-2x}{3}", r"3y=6-2x"),
    ("Express $m$ in terms of $n$.", r"m=\frac{n-3}{2}", "2m=n-3"),
    (r"Simplify $\frac{12x}{8y}$.", r"\frac{3x}{2y}", r"\frac{6x}{4y}"),
    (r"Simplify $\sqrt{16x}$.", r"4\sqrt{x}", r"2\sqrt{4x}"),
    (r"Write $\frac{40}{60}$ in simplest form.", r"\frac23", r"\frac{10}{15}"),
    ("Find the prime factorization of 360.", r"2^3\cdot3^2\cdot5", r"8\cdot45"),
    ("Write $0.36$ as a fraction.", r"\frac{9}{25}", r"\frac{36}{100}"),
    ("Which mixed number is $2.75$?", r"2\frac34", r"\frac{11}{4}"),
    ("How likely is it? Express it as a common fraction.", r"\frac12", r"\frac{18}{36}"),
    ("How likely is it? Express it as a common fraction.", r"\frac34", "0.75"),
    ("Convert seven twentieths to a percent.", r"35\%", r"\frac{7}{20}"),
    ("Simplify the square root of 75.", r"5\sqrt3", r"\sqrt{75}"),
    ("Rationalize the denominator of 6 by a root of 3.", r"2\sqrt3", r"\frac{6}{\sqrt3}"),
    ("How large is the angle in degrees?", r"60^\circ", r"\frac{\pi}{3}"),
    ("Give the line in slope-intercept form.", "y=-2x+4", "2x+y=4"),
    ("Find the line in the form $Ax+By=C$.", "3x+2y=7", r"y-2=-\frac32(x-1)"),
    (r"Simplify $\sqrt{12}$.", r"2\sqrt3", "12^{1/2}"),
    (r"What is it in terms of $\pi$?", r"16\pi", "50.265482"),
    ("How long is it exactly?", r"\sqrt7", "2.645751311"),
    ("How likely is it?", r"\frac19", "0.111111111"),
    ("Which is the exact value? A decimal is none.", r"\sqrt2", "1.4142136"),
    ("Express it as a common fraction.", r"\frac25", r"\frac{4}{10}=0.4"),
    (r"Simplify $\frac{6x+9}{12}$.", r"\frac{2x+3}{4}", r"\frac{12x+18}{24}"),
    (r"Simplify $\frac{6+6\sqrt5}{9}$.", r"\frac{2+2\sqrt5}{3}", r"\frac{12+12\sqrt5}{18}"),
    ("Express the ratio of both in simplest form.", "2:5", "28:70"),
    ("In lowest terms, what is their ratio?", "2:3:5", "6:9:15"),
    ("How long is it, in simplest radical form?", r"17\sqrt2", r"\sqrt{578}"),
    ("Solve $2|x|+1<7$. Give an interval.", "(-3,3)", "|x|<3"),
]  # fmt: skip


@pytest.mark.parametrize(("problem", "gold", "answer"), FORMS)
def test_the_form_that_a_problem_asks_for_is_the_gold_s(problem, gold, answer):
    assert grade(rf"\boxed{{{answer}}}", gold, prompt=problem).reason == Reason.UNEVALUATED
    assert grade(rf"\boxed{{{answer}}}", gold).correct


@pytest.mark.parametrize(
    ("problem", "gold", "answer"),
    [
        ("Factor $x^4+64$.", "(x^2-4x+8)(x^2+4x+8)", r"(x^2+4x+8)\cdot(8-4x+x^2)"),
        ("Factor $x^2-2x+1$.", "(x-1)^2", "(1-x)(1-x)"),
        ("Factor $a(x-y)-a^2$.", "a(x-y-a)", "a((x-y)-a)"),
        (r"Evaluate $\sin 30^\circ$.", r"\frac12", "0.5"),
        (r"Simplify $\frac{18}{24}$.", r"\frac34", "0.75"),
        ("Find the line and solve it.", "y=2x+3", "2x+3"),
        ("Find the line through both.", "y=2x+3", "2x-y+3=0"),
        ("Expand $(x+1)(x+2)$.", "x^2+3x+2", "2+3x+x^2"),
        (r"Rationalize $\frac{1}{1+\sqrt2}$.", r"\sqrt2-1", r"-1+\sqrt2"),
        (r"Simplify $\frac{4+6a}{5}-\frac{1+3a}{4}$.", r"\frac{11+9a}{20}", "(9a+11)/20"),
    ],
)
def test_the_same_form_may_be_written_in_another_way(problem, gold, answer):
    assert grade(rf"\boxed{{{answer}}}", gold, prompt=problem).correct


ASKED = [  # problem, gold, answer, right
    ("Find $f'(x)$ for $f(x)=x^2$.", "2x", "f'(x)=2x", True),
    ("Find $E[X]$.", "3", "E[X]=3", True),
    ("Find $xy$ if $x+y=5$.", "6", "xy=6", True),
    ("Find $x$ if $xy=6$ and $y=1$.", "6", "xy=6", False),
    ("Find $x$ if $2x=4$.", "2", "2x-x=2", False),
    ("Find $f'(x)$.", "2x", "f'(x)=3x", False),
]


@pytest.mark.parametrize(("problem", "gold", "answer", "right"), ASKED)
def test_what_a_problem_asks_for_may_stand_before_the_value(problem, gold, answer, right):
    assert grade(rf"\boxed{{{answer}}}", gold, prompt=problem).correct is right
    assert grade(rf"\boxed{{{answer}}}", gold).correct is False


MARKS = [  # problem, gold, answer, right
    ("How many of them passed?", "5", r"5\%", False),
    ("What percentage of them passed?", "5", r"5\%", True),
    ("How likely is it?", "0.5", r"50\%", True),
    ("How many diagonals has it?", "12", r"12^\circ", False),
    (r"What is $\angle ABC$?", "12", r"12^\circ", True),
    ("What is the central angle in radians?", "2", r"2^\circ", False),
    ("What is the height of the triangle?", r"\sqrt3", r"\sqrt3^\circ", False),
    ("What is the area of the unit circle?", r"\pi", r"180^\circ", False),
    ("How many cents does it cost?", "50", r"\$50", False),
    ("It was $3. How much is it now?", "50", r"\$50", True),
    ("How much is it now, if it was 3$?", "50", r"\$50", True),
    ("How many dollars is it?", "5", "€5", False),
    ("What is the cost of 3 tins?", "15", r"15^\circ", False),
    ("Its sine is one half. What is the angle?", "30", r"30^\circ", True),
]


@pytest.mark.parametrize(("problem", "gold", "answer", "right"), MARKS)
def test_a_mark_stands_in_the_gold_or_in_the_problem(problem, gold, answer, right):
    assert grade(rf"\boxed{{{answer}}}", gold, prompt=problem).correct is right
    assert grade(rf"\boxed{{{answer}}}", gold).correct
    assert grade(rf"\boxed{{{answer}}}", answer, prompt=problem).correct


def test_a_mark_that_nobody_asked_for_is_named():
    found = grade(r"\boxed{5\%}", "5", prompt="How many?")
    assert found.why == "5% has another unit than 5, and units are not converted"


def test_a_problem_is_text_or_messages():
    asked = {"role": "user", "content": SIMPLIFY}
    example = [
        {"role": "user", "content": "Factor $x^2-1$."},
        {"role": "assistant", "content": "The answer is (x-1)(x+1)."},
    ]
    assert problem_of([{"role": "system", "content": "Box it."}, *example, asked]) == SIMPLIFY
    assert problem_of([{"role": "user", "content": [{"type": "text", "text": "x"}, "y"]}]) == "x\ny"
    for nothing in (None, 5, [], [None], [{"role": "assistant", "content": "x"}], {"a": 1}):
        assert problem_of(nothing) == ""
    assert problem_of([asked, {"role": "assistant", "content": "All steps?"}]) == SIMPLIFY
    example, heading = "## Problem 3: a\n**Answer:** c\n\n", "**Question:** b"
    assert problem_of(example + heading).strip(" *") == "b"
    assert problem_of(heading + "\nTask: c") == heading + "\nTask: c"


@pytest.mark.parametrize(
    "prompt", [None, 5, [], [None], "", "x" * 10**6, "$" * 99, "{" * 999, "\\"]
)
def test_no_prompt_raises(prompt):
    assert grade(r"\boxed{1+x}", "x+1", prompt=prompt).correct


def test_there_is_one_prompt_for_each_sample():
    with pytest.raises(ValueError, match="one prompt for each of 2 samples, got 1"):
        MathGrader().grades(["1", "2"], ["1", "2"], prompts=["?"])


def test_graders_without_algebra_take_prompts():
    assert NumberGrader().grade("#### 5", "5", prompt="Is it 5?").correct
    assert ChoiceGrader().grades(["B"], ["B"], prompts=["A or B?"])[0].correct


def test_trainers_pass_the_problem():
    copy, answer = r"\boxed{x^4+64}", r"\boxed{(x^2+4x+8)(x^2-4x+8)}"
    gold, problem = "(x^2-4x+8)(x^2+4x+8)", "Factor $x^4+64$."
    chat = [{"role": "user", "content": problem}]
    for prompt in (problem, chat):
        rewards = trl_reward([copy, answer], prompts=[prompt] * 2, answer=[gold] * 2)
        assert rewards == [0.0, 1.0]
    for more in ({"question": problem}, {"prompt": chat}, {"problem": problem}):
        assert compute_score("math", copy, gold, extra_info=more)["score"] == 0.0
    assert compute_score("math", copy, gold)["score"] == 1.0


def misgraded(right, rows, *forms):
    """Those of the rows whose grade is not `right` in one of the forms of the answer."""
    return [
        (problem, gold, *answer)
        for problem, gold, *answer in rows
        if any(
            grade(form.format(*answer), gold, prompt=problem).correct is not right for form in forms
        )
    ]


SENTENCES = Path(__file__).with_name("gsm8k_sentences.jsonl")


def test_final_sentences_of_people_are_right():
    """40 last lines of the solutions of GSM8K, drawn with seed 0, each with its answer boxed."""
    rows = [json.loads(line) for line in SENTENCES.read_text(encoding="utf-8").splitlines()]
    found = [grade(row["sentence"], row["answer"], prompt=row["problem"]) for row in rows]
    refused = [row["id"] for row, each in zip(rows, found, strict=True) if not each.correct]
    assert len(rows) == 40
    assert refused == ["gsm8k/test/1026"], "it has the pounds of a month as pounds a day"


def words_apart(rows):
    r"""Return rows whose answer ends with words, 5\text{ cats}, with the words apart."""
    found = [(*row[:2], re.fullmatch(r"(.*[\d})])\\text(\{ [^{}]*\})", row[2])) for row in rows]
    return [(problem, gold, each[1], each[2].strip("{}")) for problem, gold, each in found if each]


INSIDE = r"\boxed{{{}}}"
BEHIND = (r"The answer is $\boxed{{{}}}${}.", r"\boxed{{{}}}\text{{{}}}")


def test_what_the_problem_does_not_ask_for_is_no_answer():
    assert misgraded(False, cases.WRONG_TO_PROBLEMS, INSIDE) == []


def test_what_the_problem_asks_for_is_right():
    assert misgraded(True, cases.RIGHT_TO_PROBLEMS, INSIDE) == []


def test_words_behind_a_box_are_judged_as_in_it():
    wrong, right = map(words_apart, (cases.WRONG_TO_PROBLEMS, cases.RIGHT_TO_PROBLEMS))
    assert min(len(wrong), len(right)) > 20
    free = [row for row in wrong if (row[0], row[3].strip()) in cases.FREE_BEHIND]
    assert misgraded(False, [row for row in wrong if row not in free], *BEHIND) == []
    assert misgraded(True, [*right, *free], *BEHIND) == []


def test_what_is_around_a_box_belongs_to_the_answer():
    assert misgraded(False, cases.WRONG_TEXTS_TO_PROBLEMS, "{}") == []


def test_what_is_around_a_box_may_be_what_is_asked_for():
    rows = [*cases.RIGHT_TEXTS_TO_PROBLEMS, *cases.ODD_TEXTS_TO_PROBLEMS]
    assert misgraded(True, rows, "{}") == []
