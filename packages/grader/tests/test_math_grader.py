import pickle
import resource
from dataclasses import replace

import pytest
from hypothesis import given
from hypothesis import strategies as st

from setrl_grader import MathGrader, Reason
from setrl_grader.math_grader import judged
from setrl_grader.stated import GoldError

SLOW = r"\sqrt{x}" + "+x^{x^x}-x^{x^x}" * 110  # right, and it takes seconds to see that


def test_golds_may_be_numbers_and_gsm8k_solutions():
    grader = MathGrader()
    assert grader.grade(r"\boxed{18}", 18).correct
    assert grader.grade(r"\boxed{2.50}", 2.5).correct
    assert grader.grade(r"\boxed{1,800}", "so 9 * 200 = <<9*200=1800>>1800.\n#### 1,800").correct


def test_one_sample_and_a_batch_get_the_same_grades(grader):
    texts = [rf"\boxed{{{answer}}}" for answer in ("1", "x+1", r"\sqrt{8}", "2,1", "")]
    golds = ["1", "1+x", r"2\sqrt{2}", "1,2", "1"]
    assert grader.grades(texts, golds) == [
        grader.grade(text, gold) for text, gold in zip(texts, golds, strict=True)
    ]


def test_what_it_did_is_counted():
    counted = MathGrader()
    texts = [r"\boxed{2}", "2", rf"\boxed{{{SLOW}}}", r"\boxed{2}"]
    golds = ["2", "2", r"\sqrt{x}", None]
    assert [grade.reward for grade in counted.grades(texts, golds)] == [1, 0, 0, None]
    assert counted.counts.metrics() == {
        "rewards/too_large": 1,
        "rewards/faults": 0,
        "rewards/unparsable": 1,
        "rewards/bad_golds": 1,
    }


def test_a_question_that_is_asked_twice_is_answered_once():
    before = judged.cache_info()
    MathGrader().grades([r"\boxed{e^q}", r"\boxed{ e^q }", r"\boxed{e^y}"], ["1+e^q"] * 3)
    after = judged.cache_info()
    assert (after.misses - before.misses, after.hits - before.hits) == (2, 1)


def test_long_answers_are_wrong_whatever_they_say():
    grader = MathGrader(max_length=10)
    assert grader.grade(r"\boxed{0000000012}", "12").correct
    assert grader.grade(r"\boxed{00000000012}", "12").reason == Reason.TOO_LONG


@given(st.text(alphabet="\\boxed{}^_fracsqrt0123456789+-*/=().,% $\n", max_size=80))
def test_whatever_is_written_there_is_a_reason(text):
    grader = MathGrader()
    assert grader.grade(text, "12345").reason in set(Reason)
    assert grader.grade(rf"\boxed{{{text}}}", "x+y").reason in set(Reason)


HOSTILE = {
    "right but slow": rf"x+1-\sqrt{{x}}+{SLOW}",
    "tower": r"9^{9^{9^{9}}}",
    "nested tower": r"((9^{9})^{9^{9}})^{9^{9^{9}}}",
    "factorials": "9!!!!!!",
    "power of a sum": "(a+b+c+d+e+f)^{9999}",
    "root of a power": r"\sqrt{2^{2^{2^{40}}}}",
    "many variables": "+".join(rf"\sin({a}{b})" for a in "abcdefgh" for b in "mnopqrst"),
    "nested fractions": r"\frac{1}{1+" * 100 + "x" + "}" * 100,
    "brackets": "(" * 900 + "x" + ")" * 900,
    "10^5 braces": "{" * 10**5 + "1" + "}" * 10**5,
    "a long number": "9" * 10**5,
    "a long list": ",".join(["x"] * 900),
    "commands": "\\alpha" * 300 + "=",
    "spaces": "1" + " " * 1900 + "x",
    "digits": "1" * 1990 + "x",
    "exponent": "1e" + "9" * 1000,
}  # fmt: skip


def test_a_hostile_batch_ends_the_right_answers_in_it_are_right_and_no_memory_is_held():
    grader = MathGrader()
    texts, golds = [], []
    for answer in HOSTILE.values():
        texts += [rf"\boxed{{{answer}}}", r"\boxed{x+1}", r"\boxed{7}"]
        golds += ["1+x", "1+x", "7"]
    before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    grades = grader.grades(texts, golds)
    assert [grade.reason for grade in grades[1::3]] == [Reason.EQUAL] * len(HOSTILE)
    assert [grade.reason for grade in grades[2::3]] == [Reason.EQUAL] * len(HOSTILE)
    assert not any(grade.correct for grade in grades[0::3])
    assert resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - before < 100_000  # kB


def test_unfit_golds_are_an_error_when_the_data_are_loaded(grader):
    grader.check_golds(["1", "x+1", r"\text{Yes}", 3])
    with pytest.raises(GoldError, match=r"2 of 4 golds .* row 1, '2x\+': a missing operand"):
        grader.check_golds(["1", "2x+", "x", r"\frac{}{2}"])


@pytest.mark.parametrize(
    ("gold", "reason"),
    [
        ([5], "neither text nor a number, but list"),
        (None, "neither text nor a number, but NoneType"),
        ("", "empty"),
        ("$$", "empty"),
        ("the proof is left to the reader as an exercise", "prose"),
        ("GPpassesthroughthemidpoint", "prose"),
        (r"\frac{^2-b^2}{}", "an empty group"),
        (r"x\leyz", r"no LaTeX command: \leyz"),
        (r"\frac{1}{2", "unbalanced brackets"),
        (r"\sqrt{^2+b^2}", "an exponent or index of nothing"),
        ("f(x)=2x+", "a missing operand"),
        ("\\textbf{(D)}\\", "a lone backslash"),
        (r"t(0,4]]", "unbalanced brackets"),
        (r"x \ge", "a missing operand"),
        (r"0\cdot 5", r"accepts another answer: 0\cdot 6"),
    ],
)
def test_unfit_golds(gold, reason, grader):
    assert grader.gold_problems([gold]) == [reason]


@pytest.mark.parametrize(
    "gold",
    ["18", "-0.5", "1,234", r"\frac{1}{2}", r"2\sqrt{3}", "(1,2]", r"\{1,2\}", "1,2,3", "Yes", "B",
     r"\textbf{(B)}\;7", r"36^\circ", r"45\%", "160\\,", "x=5", "f(n)=n", r"m_{\max }=n^2", "e^e",
     r"(-\infty,0)\cup\{1\}", r"\binom{2n}{n}", r"\frac{100!}{2^{50}}", "3:4", r"\pm 2",
     r"\left\lfloor\log _{2} n\right\rfloor+1", "equilateral triangle", "-1",
     r"n\mid p", "I(0)", r"0.\overline{36}", "2024-03-05", r"\mathbf{a}\times\mathbf{b}"],
)  # fmt: skip
def test_fit_golds(gold, grader):
    assert grader.gold_problems([gold]) == [None]


@pytest.mark.parametrize(
    ("settings", "message"),
    [
        ({"max_length": 0}, "max_length must be above 0, got 0"),
        ({"relative_tolerance": 1.0}, r"relative_tolerance must be in \[0, 1\), got 1.0"),
    ],
)
def test_settings_are_checked(settings, message):
    with pytest.raises(ValueError, match=message):
        MathGrader(**settings)


def test_calls_are_checked(grader):
    with pytest.raises(ValueError, match="one gold for each of 2 samples, got 1"):
        grader.grades(["1", "2"], ["1"])


def test_it_is_a_value():
    assert MathGrader() == MathGrader()
    assert MathGrader(units=True) != MathGrader()
    again = pickle.loads(pickle.dumps(replace(MathGrader(), max_length=9)))
    assert again == MathGrader(max_length=9)
    assert again.grade(r"\boxed{1}", "1").correct


@pytest.mark.parametrize(
    "gold",
    [r"\binom{2023}{1011}", r"\aleph_0", r"2^{\aleph_0}", r"\arsinh(x)", r"A \ltimes B", "aBc",
     "2aBx", "xyAB", "mgRt"],
)  # fmt: skip
def test_a_gold_that_grading_accepts_is_fit(gold, grader):
    assert grader.gold_problems([gold]) == [None]


@pytest.mark.parametrize(("gold", "answer"), [("f(x,y)+1", "f(x,y)"), ("P(X=1)", "P(X=2)")])
def test_an_unknown_function_has_no_value_in_a_sentence(gold, answer, grader):
    """Its values are drawn, its commas are no letters."""
    assert grader.grade(rf"\boxed{{{answer}}}", gold).why == f"{answer} is not {gold}"


def test_damage_that_was_found_in_real_golds(grader):
    """The text of a gold shows it: lost spaces and letters (tests/golds_polaris.jsonl)."""
    golds = [r"x\leyz", r"(n-1)\leS", r"\trianglePQR", r"\p<1", "TheofPiseven.",
             "GPpassesthroughthemidpointofXY"]  # fmt: skip
    assert None not in grader.gold_problems(golds)


def test_a_gold_with_several_boxes_is_unknown_unless_they_are_a_list(grader):
    several = r"First we get $x=\boxed{3}$, and therefore $y=\boxed{5}$."
    assert grader.grade(r"\boxed{5}", several).correct is None
    assert grader.grade(r"\boxed{5}", "(a) \\boxed{3}\n(b) so \\boxed{5}").correct is None
    assert grader.grade(r"\boxed{5, 3}", r"So we get \boxed{3} and \boxed{5}.").correct
    assert grader.grade(r"\boxed{5}", r"So it is \boxed{5}, and we box \boxed{5}.").correct


@pytest.mark.parametrize(
    ("gold", "answer", "right"),
    [("0.5", r"0.5\%", False), ("0.5", r"50.5\%", True), ("€4.20", r"\$4.25", False),
     ("€4.20", "€4.25", True), (r"4.2\%", r"4.25\%", True)],
)  # fmt: skip
def test_an_error_is_accepted_in_one_mark(gold, answer, right, grader):
    assert grader.grades([rf"\boxed{{{answer}}}"], [gold], error=0.1)[0].correct is right
