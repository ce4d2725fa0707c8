"""How long a million samples take to evaluate: 1,000 problems with 1,000 samples each.

    OMP_NUM_THREADS=1 python benchmarks/evaluation.py

From labels to intervals, on one core: counts of answers and strategies, then every metric at
k = 1, 2, 4, … 512 with its bootstrap interval over problems. The file of samples is written and
read beforehand, and its time said apart.

Answers are drawn from a law of their own for each problem, over 40 answers (Dirichlet, 0.2): about
25 different answers occur, and a handful of them compete. Harder for a majority vote are answers
that all compete (300 equally likely ones); --hard takes those.
"""

from __future__ import annotations

import json
import resource
import sys
import tempfile
import time
from collections.abc import Callable
from pathlib import Path
from typing import TypeVar

import numpy as np

from setrl.evaluation import (
    count_labels,
    distinct_at_k,
    majority_at_k,
    mean_over_problems,
    pass_at_k,
)
from setrl.evaluation.metrics import metric_values, powers_of_two
from setrl.logs.records import Evaluation, load_evaluation

PROBLEMS, SAMPLES = 1000, 1000
T = TypeVar("T")


def timed(name: str, call: Callable[[], T]) -> T:
    """Run, and print the seconds of processor time."""
    start = time.process_time()
    result = call()
    print(f"{name:<34}{time.process_time() - start:6.2f} s", flush=True)
    return result


def draw(hard: bool) -> Evaluation:
    """Samples with answers, strategies, and one right answer a problem."""
    rng = np.random.default_rng(0)
    size = 300 if hard else 40
    answers_PN = np.empty((PROBLEMS, SAMPLES), dtype=np.int64)
    for row in answers_PN:
        law = np.full(size, 1 / size) if hard else rng.dirichlet(np.full(size, 0.2))
        row[:] = rng.choice(size, SAMPLES, p=law)
    right_P = answers_PN[:, 0]
    return Evaluation(
        prompts=tuple(map(str, range(PROBLEMS))),
        correct_PN=answers_PN == right_P[:, None],
        strategies_PN=rng.integers(-1, 12, (PROBLEMS, SAMPLES)),
        answers_PN=answers_PN,
        temperature=1.0,
    )


def write(evaluation: Evaluation, path: Path) -> None:
    """The samples as an evaluation file."""
    with path.open("w") as file:
        for row, prompt in enumerate(evaluation.prompts):
            record = {
                "schema_version": 1,
                "prompt": prompt,
                "split": "test",
                "n": evaluation.n,
                "correct": evaluation.correct_PN[row].astype(int).tolist(),
                "strategies": [str(s) if s >= 0 else None for s in evaluation.strategies_PN[row]],
                "answers": [str(a) for a in evaluation.answers_PN[row]],
            }
            file.write(json.dumps(record) + "\n")


def main() -> None:
    """Print the seconds of each part, and of the whole."""
    drawn = draw("--hard" in sys.argv)
    ks = powers_of_two(SAMPLES)
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "test.jsonl"
        write(drawn, path)
        evaluation = timed("reading the file", lambda: load_evaluation(path))
    start = time.process_time()
    answers = timed(
        "counting answers", lambda: count_labels(evaluation.answers_PN, evaluation.correct_PN)
    )
    strategies = timed(
        "counting strategies", lambda: count_labels(evaluation.strategies_PN, evaluation.correct_PN)
    )
    correct_P, right_PA = evaluation.correct_count_P, answers.correct_PC > 0
    values = {
        "pass": timed("pass@k", lambda: [pass_at_k(correct_P, SAMPLES, k) for k in ks]),
        "majority": timed(
            "majority@k, vote share@k",
            lambda: [majority_at_k(answers.all_PC, right_PA, SAMPLES, k).accuracy_P for k in ks],
        ),
        "distinct": timed(
            "strategies@k",
            lambda: [distinct_at_k(strategies.all_PC, SAMPLES, k) for k in ks],
        ),
        "distinct correct": timed(
            "correct strategies@k",
            lambda: [distinct_at_k(strategies.correct_PC, SAMPLES, k) for k in ks],
        ),
    }
    timed("intervals", lambda: [[mean_over_problems(v) for v in vs] for vs in values.values()])
    total = time.process_time() - start
    print(f"{'all but reading':<34}{total:6.2f} s for {PROBLEMS * SAMPLES:,} samples")
    timed("again, as the summary does it", lambda: metric_values(evaluation))
    print(f"largest memory: {resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024:.0f} MiB")


if __name__ == "__main__":
    main()
