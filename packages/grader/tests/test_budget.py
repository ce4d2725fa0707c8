"""Every answer is graded within a budget of steps, which is the same on every machine."""

import math
import multiprocessing
import subprocess
import sys
import threading

import mpmath
import pytest

from setrl_grader import MathGrader, Reason, gold_problem, values
from setrl_grader.budget import STEPS, BudgetError, budget, spend
from setrl_grader.grammar import read
from setrl_grader.math_grader import judged
from setrl_grader.numeric import equal_numeric
from setrl_grader.trees import double_factorial

MOST_CALLS = 2_000_000  # of functions, Python's and C's, in one comparison
ENDS = {Reason.EQUAL, Reason.DIFFERENT, Reason.TOO_LARGE, Reason.UNEVALUATED}


def nested(pattern: str, times: int, inner: str = "x") -> str:
    for _ in range(times):
        inner = pattern.replace("%", inner)
    return inner


def joined(pattern: str, sign: str, length: int = 1_700) -> str:
    """Return as many terms as fit."""
    terms: list[str] = []
    while len(sign.join(terms)) < length:
        terms.append(pattern.replace("%", str(len(terms) + 1)))
    return sign.join(terms)


MEMBERS = [r"\{" + ",".join(str(at + off) for at in range(12)) + r"\}" for off in range(50)]
NASTY = {
    "powers of powers": (r"\sqrt{2}", "((((10^{10^6})^{10^6})^{10^6})^{10^6})^{10^6}"),
    "a decimal for a tower": ("1.5", "((10^{10^6})^{10^6})^{10^6}"),
    "a root of a huge degree": (r"\sqrt{2}", r"\sqrt[((10^{10^6})^{10^6})^{10^6}]{2}"),
    "a tower of letters": ("x", "x+x^{x^{x^{x^x}}}"),
    "bounds of a tower": ("x^{x^{x^x}}", r"x^{x^{x^x}}+\sqrt{2}-\sqrt{2}"),
    "exponentials in each other": (r"\sqrt{x}", nested("e^{%}", 45)),
    "a factorial of a factorial": (r"\sqrt{2}", "(99999!)!"),
    "large factorials": (r"\sqrt{2}", joined("99999!", r"\cdot ")),
    "exact factorials": (joined("5000!", "+"), joined("5000!", "+") + r"+0\pi"),
    "coprime denominators": ("e", joined(r"\frac{1}{%^{999}}", "+")),
    "binomial coefficients": (joined(r"\binom{n}{%}", "+"), joined(r"\binom{n}{%}", "+") + "+0e"),
    "roots in each other": (nested(r"\sqrt{x+%}", 30), nested(r"\sqrt{x+%}", 30) + r"+0\pi"),
    "logarithms in each other": ("x", nested(r"\ln(%)", 30)),
    "bars in each other": ("x", nested("|%-1|", 40)),
    "bars beside each other": ("x", joined("|x^5-%|", "+")),
    "logarithms of bars": (r"\sqrt{2}", joined(r"\ln|x^7-%|", "-")),
    "sines": (joined(r"\sin(%x)", "+"), joined(r"\sin(%x)", "+") + "+0e"),
    "right but slow": (r"\sqrt{x}", r"\sqrt{x}" + "+x^{x^x}-x^{x^x}" * 110),
    "almost one": ("1", r"\tanh(200000)"),
    "almost nothing": (r"\sqrt{5}", r"\sqrt{5}+e^{-300000}"),
    "a power of an angle": ("f(x)", r"f(x)+(|f(0.5)|)^{(\cot(x))^{(100000)°}}-0"),
    "half of a half": ("x+1", "½" * 1_900),
    "matrices": (joined("(A+B)^{64}", ""), joined("(B+A)^{64}", "")),
    "sets of sets": (r"\{" + ",".join(MEMBERS) + r"\}", r"\{" + ",".join(MEMBERS[::-1]) + r"\}"),
    "lists": (joined(r"\ln(%)", ",", 600), ",".join(joined(r"\ln(%)", ",", 600).split(",")[::-1])),
}  # fmt: skip


@pytest.mark.parametrize("name", NASTY)
def test_nasty_answers_take_few_calls(name):
    """A count, not a time: a loop that nobody pays for is seen on any machine."""
    gold, answer = NASTY[name]
    calls = 0

    def count(frame, event, argument):
        nonlocal calls
        calls += event in ("call", "c_call")

    judged.cache_clear()
    before = sys.getprofile()
    sys.setprofile(count)
    try:
        grade = MathGrader().grade(rf"\boxed{{{answer}}}", gold)
    finally:
        sys.setprofile(before)
    assert calls < MOST_CALLS
    assert grade.reason in ENDS


def test_what_takes_more_is_wrong_with_a_reason():
    gold, answer = NASTY["right but slow"]
    grade = MathGrader().grade(rf"\boxed{{{answer}}}", gold)
    assert (grade.reason, grade.correct, grade.verdict) == (Reason.TOO_LARGE, False, "unreadable")
    assert grade.why.endswith("takes more steps than are allowed")


def test_an_operation_is_paid_before_it_is_done():
    with budget(10) as mine:
        spend(10)
        with pytest.raises(BudgetError):
            spend(1)
    assert mine.left == float("inf")


def test_the_same_pair_costs_the_same_each_time():
    one, other, spent = read(r"|x-3|+\sqrt{x}"), read(r"\sqrt{x}+\sqrt{(3-x)^2}"), []
    for digits in (15, 50):  # which a thread that was stopped may leave
        values.mp.dps = digits
        with budget(STEPS) as mine:
            assert equal_numeric(one, other, 1e-6)
            spent.append(STEPS - mine.left)
    assert spent[0] == spent[1] > 0


PAIRS = [(r"\sqrt{x}", r"x^{1/2}"), (r"\sqrt{x}", r"\sqrt{x}+10^{-900}"), ("e^x", r"e^{2x-x}"),
         (r"\sin x", r"\sin x+10^{-50}")]  # fmt: skip


def reasons() -> list[Reason]:
    judged.cache_clear()
    grader = MathGrader()
    return [grader.grade(rf"\boxed{{{answer}}}", gold).reason for gold, answer in PAIRS * 3]


def test_threads_get_the_grades_of_one():
    alone, found = reasons(), []
    threads = [threading.Thread(target=lambda: found.append(reasons())) for _ in range(4)]
    for thread in threads:
        thread.start()
    with mpmath.workdps(7):  # the digits of others are theirs
        for thread in threads:
            thread.join()
        assert mpmath.mp.dps == 7
    assert found == [alone] * 4


FORKS = """
import multiprocessing
from setrl_grader import MathGrader, grades, values

def is_right(answer):
    return MathGrader().grade(rf"\\boxed{{{answer}}}", r"\\ln 8").correct

locks = values._computing.lock, grades._COUNTING.lock
with locks[0], locks[1], multiprocessing.get_context("fork").Pool(1) as pool:
    assert pool.apply_async(is_right, (r"3\\ln 2",)).get(timeout=60)
assert is_right(r"3\\ln 2")
"""


@pytest.mark.skipif("fork" not in multiprocessing.get_all_start_methods(), reason="no fork")
def test_a_forked_child_does_not_wait_for_a_thread_of_its_parent():
    """In a process without the threads that other tests start here."""
    subprocess.run([sys.executable, "-W", "error", "-c", FORKS], check=True)


@pytest.mark.parametrize("number", [0, 1, 2, 7, 8, 63, 64, 65, 999, 1000])
def test_a_double_factorial_is_the_product_in_steps_of_two(number):
    assert double_factorial(number) == math.prod(range(number, 0, -2))


def test_a_large_double_factorial_is_no_product_of_all_its_factors(monkeypatch):
    """One number times a long one, 50,000 times, takes a second."""
    monkeypatch.setattr(math, "prod", lambda *_: pytest.fail("one factor after the other"))
    assert double_factorial(99_999).bit_length() > 700_000


@pytest.mark.parametrize("text", ["½" * 10**6, "√" * 10**6, "{}" * 500_000, "a " * 500_000])
def test_a_gold_of_a_million_characters_is_not_read(text, monkeypatch):
    monkeypatch.setattr("setrl_grader.stated.normal_form", lambda _: pytest.fail("it is read"))
    assert gold_problem(text) == "longer than 2,000 characters"
