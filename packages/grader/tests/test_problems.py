"""Copies of a problem are no answers, nor is a form that it does not ask for."""

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
from setrl_grader.forms import problem_of

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
]


@pytest.mark.parametrize(("problem", "gold", "answer"), COPIES)
def test_a_formula_of_the_problem_is_no_answer(problem, gold, answer):
    found = grade(rf"\boxed{{{answer}}}", gold, prompt=problem)
    assert found.reason == Reason.COPIED
    assert found.reward == 0.0
    assert found.why == "the answer is a formula of the problem"
    assert found.witness is None
    assert found.certificate is None
    assert grade(rf"\boxed{{{answer}}}", gold).correct


RIGHT = [
    (SIMPLIFY, POLYNOMIAL, "2(3r^2-2r-12)", "it is another form"),
    ("Which is larger, $2^{10}x$ or $x^3+1$, for $x>40$?", "1+x^3", "x^3+1", "a choice"),
    ("Let $AB=2$. What is $BC$?", "2", "BC=2", "a lone value"),
    ("Find $f$ with $f(f(x))=x$ and $f(x)=x$ at 0.", "f(z)=z", "f(x)=x", "a lone value"),
    ("Is it $x+1$ or $x+2$?", "x+1", "1+x", "the gold stands there"),
    ("Divide $x^2+x$ by $x$, not $2x+1$.", "x+1", "x+1", "it is a part of another formula"),
    (r"Express $\frac{3\sqrt2}{4}$ as a decimal.", "1.060660", r"\frac{3\sqrt2}{4}", "a value"),
    ("Question: Factor $x^2-1$.\nAnswer: (x-1)(x+1)\n\nQuestion: Expand $(x-1)(x+1)$.\nAnswer:",
     "-1+x^2", "x^2-1", "it stands in an example"),
]  # fmt: skip


@pytest.mark.parametrize(("problem", "gold", "answer", "why"), RIGHT)
def test_what_answers_the_problem_is_right(problem, gold, answer, why):
    assert grade(rf"\boxed{{{answer}}}", gold, prompt=problem).correct, why


FORMS = [
    ("Factor $x^4+64$.", "(x^2-4x+8)(x^2+4x+8)", "x^4+64+0"),
    ("Factor $x^4+64$.", "(x^2-4x+8)(x^2+4x+8)", "1(x^4+64)"),
    ("Factorise $x^3-x$ completely.", "x(x-1)(x+1)", "x(x^2-1)"),
    ("Factor $x^2-2x+1$.", "(x-1)^2", "x^2-2x+1+0"),
    ("Expand $(x+1)(x+2)$.", "x^2+3x+2", "(x+2)(x+1)+0"),
    ("Solve $2x+3y=6$ for $y$.", r"y=\frac{6-2x}{3}", "4x+6y=12"),
    ("Express $y$ in terms of $x$ where $y-x=2$.", "y=x+2", "3y-3x=6"),
    (r"Rationalize $\frac{1}{1+\sqrt2}$.", r"\sqrt2-1", r"\frac{2}{2+2\sqrt2}"),
    (SIMPLIFY, POLYNOMIAL, "4(3r^3+5r-6)-6(2r^3-r^2+4r)+0"),
    (r"Simplify $\frac{4+6a}{5}-\frac{1+3a}{4}$.", r"\frac{11+9a}{20}",
     r"\frac{6a+4}{5}+\frac{-1-3a}{4}"),
]  # fmt: skip


@pytest.mark.parametrize(("problem", "gold", "answer"), FORMS)
def test_the_form_that_a_problem_asks_for_is_the_gold_s(problem, gold, answer):
    assert grade(rf"\boxed{{{answer}}}", gold, prompt=problem).reason == Reason.UNEVALUATED
    assert grade(rf"\boxed{{{answer}}}", gold).correct


@pytest.mark.parametrize(
    ("problem", "gold", "answer"),
    [
        ("Factor $x^4+64$.", "(x^2-4x+8)(x^2+4x+8)", r"(x^2+4x+8)\cdot(8-4x+x^2)"),
        ("Factor $2x^2-2$.", "2(x-1)(x+1)", "(2x-2)(x+1)"),
        ("Find the line and solve it.", "y=2x+3", "2x+3"),
        ("Find the line through both.", "y=2x+3", "2x-y+3=0"),
        ("Expand $(x+1)(x+2)$.", "x^2+3x+2", "2+3x+x^2"),
        (r"Rationalize $\frac{1}{1+\sqrt2}$.", r"\sqrt2-1", r"-1+\sqrt2"),
        (r"Simplify $\frac{4+6a}{5}-\frac{1+3a}{4}$.", r"\frac{11+9a}{20}", "(9a+11)/20"),
    ],
)
def test_the_same_form_may_be_written_in_another_way(problem, gold, answer):
    assert grade(rf"\boxed{{{answer}}}", gold, prompt=problem).correct


def test_a_problem_is_text_or_messages():
    asked = {"role": "user", "content": SIMPLIFY}
    example = [{"role": "user", "content": "Factor $x^2-1$."}, {"role": "assistant", "content": ""}]
    assert problem_of([{"role": "system", "content": "Box it."}, *example, asked]) == SIMPLIFY
    assert problem_of([{"role": "user", "content": [{"type": "text", "text": "x"}, "y"]}]) == "x\ny"
    for nothing in (None, 5, [], [None], [{"role": "assistant", "content": "x"}], {"a": 1}):
        assert problem_of(nothing) == ""
    assert problem_of("## Problem 3: a\n\n**Question:** b").strip(" *") == "b"


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


@pytest.mark.parametrize(("problem", "gold", "answer"), cases.WRONG_TO_PROBLEMS)
def test_what_the_problem_does_not_ask_for_is_no_answer(problem, gold, answer):
    assert grade(rf"\boxed{{{answer}}}", gold, prompt=problem).correct is False


@pytest.mark.parametrize(("problem", "gold", "answer"), cases.RIGHT_TO_PROBLEMS)
def test_what_the_problem_asks_for_is_right(problem, gold, answer):
    assert grade(rf"\boxed{{{answer}}}", gold, prompt=problem).correct
