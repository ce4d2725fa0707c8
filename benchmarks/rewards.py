"""How fast answers are graded, and what a hostile batch costs.

    python benchmarks/rewards.py [CALLS]

Part one: answers a second in samples of about 2,000 characters, easy (numbers, words, lists), hard
(roots, π, polynomials) and both mixed, beside plain math-verify. Part two: answers that hang,
explode or are simply huge, mixed with ordinary ones: how long it takes, whether the ordinary ones
are graded right, and what memory is left taken. With
a number of calls, part three: the memory after so many different answers of eight kinds.
"""

from __future__ import annotations

import gc
import os
import sys
import time
from pathlib import Path

from math_verify import parse, verify

from setrl_grader import MathGrader

REASONING = "We add the two and get 3, so $x_{1} = \\frac{1}{2}$ follows. " * 32
FAST = [
    ("18", "18"), ("70000", r"\$70,000"), (r"\frac{3}{4}", "0.75"), ("1,2,3", "3, 2, 1"),
    ("7", "8"),
    ("x=5", "5"), ("Yes", r"\text{yes}"), ("(1,2)", r"\left(1, 2\right)"), ("2^{10}", "1024"),
    (r"50\%", "0.5"),
]  # fmt: skip
SLOW = [
    ("x^2+{0}", "{0}+x^2"), (r"{0}\sqrt{{2}}", r"\sqrt{{2}}\cdot {0}"),
    (r"\frac{{\pi}}{{{0}}}", r"\pi/{0}"),
    ("{0}n", "{0}m"), (r"\sqrt{{{0}}}", r"\frac{{{0}}}{{\sqrt{{{0}}}}}"),
]  # fmt: skip
POLYNOMIALS = [
    ("(x+{0})^2", "x^2+{1}x+{2}"), (r"\frac{{x^2-{2}}}{{x-{0}}}", "x+{0}"),
    ("(x+y+{0})(x-y)", "x^2-y^2+{0}x-{0}y"), ("(x+{0})^3", "x^3+{2}"), ("R^2-{2}r^2", "(R-{0}r)^2"),
]  # fmt: skip
HOSTILE = {
    "9^{9^{9^{9}}}": r"9^{9^{9^{9}}}",
    "nested towers": r"((9^{9})^{9^{9}})^{9^{9^{9}}}+\sqrt{2}",
    "factorials": "9!!!!!!",
    "(a+…+f)^9999": "(a+b+c+d+e+f)^{9999}",
    "2^2^2^40": r"\sqrt{2^{2^{2^{40}}}}",
    "64 sines": "+".join(rf"\sin({a}{b})" for a in "abcdefgh" for b in "mnopqrst"),
    "100 nested fractions": r"\frac{1}{1+" * 100 + "x" + "}" * 100,
    "900 brackets": "(" * 900 + "x" + ")" * 900,
    "10⁶ nested braces": "{" * 10**6 + "1" + "}" * 10**6,
    "10⁶ open braces": "{" * 10**6,
    "a megabyte of digits": "9" * 10**6,
    "a megabyte of text": "so " * 350_000,
    "10⁶ boxes": r"1}\boxed{" * 10**6 + "2",
}


def samples(pairs: list[tuple[str, str]]) -> tuple[list[str], list[str]]:
    """Write samples that end in a box; return them and their golds."""
    return [f"{REASONING}\n\\boxed{{{answer}}}" for _, answer in pairs], [g for g, _ in pairs]


def rates(grader: MathGrader, pairs: list[tuple[str, str]]) -> tuple[float, float]:
    """Return answers per second: of CPU time; of the clock."""
    texts, golds = samples(pairs)
    began, clock = time.process_time(), time.perf_counter()
    grader.grades(texts, golds)
    clock = time.perf_counter() - clock
    return len(pairs) / (time.process_time() - began), len(pairs) / clock


def rates_of_math_verify(pairs: list[tuple[str, str]]) -> tuple[float, float]:
    """Return the rates of math-verify, called as its README says, on only the box."""
    began, clock = time.process_time(), time.perf_counter()
    for gold, answer in pairs:
        verify(*(parse(rf"$\boxed{{{text}}}$") for text in (gold, answer)))
    clock = time.perf_counter() - clock
    return len(pairs) / (time.process_time() - began), len(pairs) / clock


def batches() -> dict[str, list[tuple[str, str]]]:
    """Return (gold, answer) by difficulty; only in the first batch do answers repeat."""
    polynomials = [
        (g.format(n, 2 * n, n * n), a.format(n, 2 * n, n * n))
        for n in range(3, 63)
        for g, a in POLYNOMIALS
    ]
    hard = [(g.format(n), a.format(n)) for n in range(3, 53) for g, a in SLOW]
    fresh = [(str(number), f"{number + number % 2:,}") for number in range(10_000, 10_500)]
    easy = [pair for _ in range(50) for pair in FAST]
    mixed = [pair for three in zip(fresh, polynomials, hard, strict=False) for pair in three]
    return {
        "easy, few different": easy, "easy, all different": fresh, "polynomials": polynomials,
        "roots, π, letters": hard, "mixed": mixed,
    }  # fmt: skip


def throughput() -> None:
    print("answers a second of processor time (by the clock), samples of about 2,000 characters")
    print(f"  {'':22}{'setrl':>18}{'math-verify':>18}")
    grader = MathGrader()
    grader.grade(r"\boxed{3\ln 2}", r"\ln 8")  # loads mpmath
    for name, pairs in batches().items():
        clear_caches()
        columns = [rates(grader, pairs), rates_of_math_verify(pairs)]
        line = "".join(f"{f'{cpu:,.0f} ({clock:,.0f})':>18}" for cpu, clock in columns)
        print(f"  {name:22}{line}")


def clear_caches() -> None:
    """Clear what one batch has left to the next."""
    modules = [module for name, module in sys.modules.items() if name.startswith("setrl_grader")]
    for each in (each for module in modules for each in vars(module).values()):
        if hasattr(each, "cache_clear"):
            each.cache_clear()


def memory_mb() -> float:
    """Return the memory of this process."""
    gc.collect()
    pages = int(Path("/proc/self/statm").read_text().split()[1])
    return pages * os.sysconf("SC_PAGE_SIZE") / 2**20


def hostile_batch() -> None:
    grader = MathGrader()
    grader.grade(r"\boxed{3\ln 2}", r"\ln 8")
    print("\nhostile answers, seconds of processor time")
    for name, answer in HOSTILE.items():
        began = time.process_time()
        grade = grader.grade(f"\\boxed{{{answer}}}", "x+1")
        seconds = time.process_time() - began
        print(f"  {name:22} {seconds:6.2f} s  {grade.reason}")
    texts = [f"\\boxed{{{answer}}}" for answer in HOSTILE.values()]
    right = [f"\\boxed{{{number}+x}}" for number in range(len(texts))]
    grades = grader.grades(
        texts + right, ["x+1"] * len(texts) + [f"x+{number}" for number in range(len(texts))]
    )
    accepted = [
        sum(grade.correct is True for grade in part)
        for part in (grades[: len(right)], grades[len(right) :])
    ]
    print(f"  right answers accepted: {accepted[1]} of {len(right)}; hostile ones: {accepted[0]}")
    del texts, grades, grade
    huge = [answer for answer in HOSTILE.values() if len(answer) > grader.max_length]
    for batch in range(1, 4):
        grader.grades([f"\\boxed{{{answer}}}" for answer in huge], ["1"] * len(huge))
        print(
            f"  after {batch} more batches of the huge ones this process holds {memory_mb():.0f} MB"
        )


KINDS = [
    ("{0}", "{0}"), (r"\frac{{{0}}}{{7}}", "{0}/7"), ("x^2+{0}", "{0}+x^2"), ("({0},2)", "(2,{0})"),
    (r"{0}\text{{ cm}}", "{0} cm"), ("x<{0}", r"(-\infty,{0})"), ("word{0}", "words {0}"),
    (r"\{{1,{0}\}}", "{0},1"),
]  # fmt: skip


def growth(calls: int) -> None:
    grader, shown = MathGrader(), 1_000
    began = time.process_time()
    for first in range(0, calls, 1_000):
        numbers = range(first, first + 1_000, len(KINDS))
        pairs = [(g.format(n), a.format(n)) for n in numbers for g, a in KINDS]
        grader.grades([f"\\boxed{{{answer}}}" for _, answer in pairs], [gold for gold, _ in pairs])
        if first + 1_000 == shown:
            rate = shown / (time.process_time() - began)
            print(
                f"{shown:9,} answers: {memory_mb():.1f} MB, {rate:,.0f} a second of processor time"
            )
            shown *= 10


if __name__ == "__main__":
    if len(sys.argv) > 1:
        growth(int(sys.argv[1]))
        sys.exit()
    print(f"memory of this process at the start: {memory_mb():.0f} MB")
    throughput()
    hostile_batch()
