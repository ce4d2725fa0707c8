"""How fast answers are graded, and what a hostile batch costs.

    python benchmarks/rewards.py

Part one: answers a second on one core without workers (numbers, words, lists of numbers, in samples
of about 2,000 characters), and with workers (algebra). Part two: answers that hang, explode or are
simply huge, mixed with ordinary ones: how long the batch takes against its limit, whether the
ordinary ones are graded right, and what memory is left taken afterwards.
"""

from __future__ import annotations

import gc
import os
import time
from pathlib import Path

from setrl.rewards import Grade, MathAnswer, math_answer
from setrl.rewards.workers import CLOCK_FACTOR

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
    """Samples that end in a box, and their golds."""
    return [f"{REASONING}\n\\boxed{{{answer}}}" for _, answer in pairs], [g for g, _ in pairs]


def rate(grader: MathAnswer, pairs: list[tuple[str, str]]) -> float:
    """Answers a second of processor time, this process and the worker together."""
    texts, golds = samples(pairs)
    began = processor_seconds(grader)
    grader.grades(texts, golds)
    return len(pairs) / (processor_seconds(grader) - began)


def processor_seconds(grader: MathAnswer) -> float:
    """Used so far by this process and the workers at hand."""
    total = time.process_time()
    for worker in grader.pool.idle:
        fields = Path(f"/proc/{worker.pid}/stat").read_text().rpartition(")")[2].split()
        total += (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")
    return total


def throughput() -> None:
    grader = math_answer(workers=1)
    many = [(gold, f"{answer}") for _ in range(500) for gold, answer in FAST]
    fresh = [(str(number), f"{number + number % 2:,}") for number in range(10_000, 15_000)]
    grader.grade(r"\boxed{x+1}", "1+x")  # starts the worker
    # Fewer than a worker does before it is renewed.
    algebra = [(g.format(n), a.format(n)) for n in range(3, 83) for g, a in SLOW]
    print("answers a second, one core, samples of about 2,000 characters")
    print(f"  no algebra, few different answers   {rate(grader, many):10,.0f}")
    print(f"  no algebra, all answers different   {rate(grader, fresh):10,.0f}")
    print(f"  algebra, one worker                 {rate(grader, algebra):10,.0f}")
    grader.close()


def memory_mb() -> float:
    """What this process holds."""
    gc.collect()
    pages = int(Path("/proc/self/statm").read_text().split()[1])
    return pages * os.sysconf("SC_PAGE_SIZE") / 2**20


def hostile_batch(time_limit_s: float = 1.0, workers: int = 2) -> None:
    grader = math_answer(workers=workers, time_limit_s=time_limit_s)
    grader.grade(r"\boxed{x+1}", "1+x")
    print(f"\nhostile answers, {workers} workers, {time_limit_s:g} s of processor time an answer,")
    print(f"{CLOCK_FACTOR * time_limit_s:g} s by the clock")
    in_process = 0.0
    for name, answer in HOSTILE.items():
        began = time.perf_counter()
        grade = grader.grade(f"\\boxed{{{answer}}}", "x+1")
        seconds = time.perf_counter() - began
        in_process += seconds if grade.fast else 0.0
        print(f"  {name:22} {seconds:6.2f} s  {grade.reason}")
    texts = [f"\\boxed{{{answer}}}" for answer in HOSTILE.values()]
    right = [f"\\boxed{{{number}+x}}" for number in range(len(texts))]
    began = time.perf_counter()
    grades = grader.grades(
        texts + right, ["x+1"] * len(texts) + [f"x+{number}" for number in range(len(texts))]
    )
    report_batch(grades, time.perf_counter() - began, in_process, grader)
    del texts, grades, grade
    huge = [answer for answer in HOSTILE.values() if len(answer) > grader.max_length]
    for batch in range(1, 4):
        grader.grades([f"\\boxed{{{answer}}}" for answer in huge], ["1"] * len(huge))
        print(
            f"  after {batch} more batches of the huge ones this process holds {memory_mb():.0f} MB"
        )
    grader.close()


def report_batch(
    grades: list[Grade], seconds: float, in_process: float, grader: MathAnswer
) -> None:
    half = len(grades) // 2
    slow = sum(not grade.fast for grade in grades[:half])
    limit = in_process + CLOCK_FACTOR * grader.time_limit_s * -(-slow // grader.workers)
    right = sum(grade.correct is True for grade in grades[half:])
    wrong = sum(grade.correct is True for grade in grades[:half])
    print(f"  all of them and {half} right answers: {seconds:.1f} s, limit {limit:.0f} s")
    print(f"  right answers accepted: {right} of {half}; hostile ones: {wrong}")


if __name__ == "__main__":
    print(f"memory of this process at the start: {memory_mb():.0f} MB")
    throughput()
    hostile_batch()
