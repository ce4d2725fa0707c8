"""How long a million samples take to evaluate: 1,000 problems with 1,000 samples each.

    OMP_NUM_THREADS=1 python benchmarks/evaluation.py

From labels to intervals, on one core: every metric at k = 1, 2, 4, … 512 with its bootstrap
interval over problems. The file of samples is written and read beforehand, and that time is printed
separately. At the end: how much faster a majority's mean is without the credit of each sample.

Answers are drawn from a law of their own for each problem, over 40 answers (Dirichlet, 0.2): about
25 different answers occur, and a handful of them compete. --hard draws 300 equally likely ones: all
compete.
"""

from __future__ import annotations

import json
import resource
import sys
import tempfile
import time
from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import Any, TypeVar

import numpy as np

from setrl import mean_set_scores, objectives, set_advantages
from setrl.evaluate import mean_over_problems
from setrl.evaluate.loading import load_evaluation
from setrl.evaluate.metrics import metric_values, powers_of_two
from setrl.evaluate.samples import Evaluation
from setrl.samples.samples import Samples

PROBLEMS, SAMPLES = 1000, 1000
T = TypeVar("T")


def timed(name: str, call: Callable[[], T]) -> T:
    """Run, and print the seconds of processor time."""
    start = time.process_time()
    result = call()
    print(f"{name:<34}{time.process_time() - start:6.2f} s", flush=True)
    return result


def draw(hard: bool) -> Evaluation:
    """Draw samples with answers, strategies, and one right answer per problem."""
    rng = np.random.default_rng(0)
    size = 300 if hard else 40
    answers_PN = np.empty((PROBLEMS, SAMPLES), dtype=np.int64)
    for row in answers_PN:
        law = np.full(size, 1 / size) if hard else rng.dirichlet(np.full(size, 0.2))
        row[:] = rng.choice(size, SAMPLES, p=law)
    right_P = answers_PN[:, 0]
    return Evaluation(
        Samples(
            np.full(answers_PN.shape, np.nan),
            strategies=rng.integers(-1, 12, (PROBLEMS, SAMPLES)) * 1.0,
            answers=answers_PN * 1.0,
            correct=(answers_PN == right_P[:, None]) * 1.0,
            prompts=tuple(map(str, range(PROBLEMS))),
        )
    )


def write(evaluation: Evaluation, path: Path) -> None:
    """Write the samples as an evaluation file."""
    with path.open("w") as file:
        for row, prompt in enumerate(evaluation.prompts):
            record = {
                "schema_version": 1,
                "prompt": prompt,
                "split": "test",
                "n": evaluation.n,
                "correct": evaluation.correct_PN[row].astype(int).tolist(),
                "strategies": [
                    str(s) if s >= 0 else None for s in evaluation.counted("strategies")[row]
                ],
                "answers": [str(a) for a in evaluation.counted("answers")[row]],
            }
            file.write(json.dumps(record) + "\n")


def compare_majority(problems: int = 100, samples: int = 256, k: int = 128) -> None:
    """Compare the time of the mean with the time of the form that also credits every sample."""
    rng = np.random.default_rng(1)
    answers_PN = rng.integers(0, 40, (problems, samples))
    correct_PN = answers_PN == 0
    majority = objectives.majority()
    print(f"majority@{k} of {problems} problems x {samples} samples")
    start = time.process_time()
    [mean_P] = mean_set_scores(correct_PN, majority, [k], answers=answers_PN)
    mean_seconds = time.process_time() - start
    start = time.process_time()
    whole = set_advantages(correct_PN, objective=majority, set_size=k, answers=answers_PN)
    credit_seconds = time.process_time() - start
    apart = float(np.abs(whole.mean_B - mean_P).max())
    print(f"    mean_set_scores {mean_seconds:.3f} s, set_advantages {credit_seconds:.2f} s: "
          f"{credit_seconds / mean_seconds:.0f} times; means agree to {apart:.0e}")  # fmt: skip


def main() -> None:
    """Print the seconds of each part, and of the whole."""
    drawn = draw("--hard" in sys.argv)
    ks = powers_of_two(SAMPLES)
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "test.jsonl"
        write(drawn, path)
        evaluation = timed("reading the file", lambda: load_evaluation(path))
    correct_PN, strategies_PN = evaluation.correct_PN, evaluation.counted("strategies")
    votes = {"answers": evaluation.counted("answers")}
    strategies = {"strategies": strategies_PN}
    asked: list[tuple[str, objectives.Objective, dict[str, Any]]] = [
        ("pass@k", objectives.any_correct(), {}),
        ("majority@k", objectives.majority(), votes),
        ("vote share@k", objectives.vote_share(), votes),
        ("strategies@k", objectives.distinct(), strategies),
        ("correct strategies@k", objectives.distinct_correct(), strategies),
    ]
    start = time.process_time()
    values = [
        timed(name, partial(mean_set_scores, correct_PN, objective, ks, **fields))
        for name, objective, fields in asked
    ]
    timed("intervals", lambda: [[mean_over_problems(v) for v in vs] for vs in values])
    total = time.process_time() - start
    print(f"{'all but reading':<34}{total:6.2f} s for {PROBLEMS * SAMPLES:,} samples")
    timed("every metric of the summary", lambda: metric_values(evaluation))
    print(f"largest memory: {resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024:.0f} MiB")
    compare_majority()


if __name__ == "__main__":
    main()
