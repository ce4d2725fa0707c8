"""`python -m studies.collapse`: see collapse in a terminal, in seconds; it needs only NumPy.

The policy of the tutorial docs/tutorials/collapse.ipynb: one prompt, and six ways to answer it.
"""

from __future__ import annotations

import argparse
from collections.abc import Mapping

import numpy as np

from setrl import methods, objectives
from setrl.theory import ActionTable, TabularMethod, TabularObjective
from setrl.theory.dynamics import expected_steps

WAYS = "ABCDEF"
TABLE = ActionTable([1, 1, 1, 1, 1, 0], strategies=range(6))
CHANGED = ActionTable([0, 1, 1, 1, 1, 0])  # the first way does not work any more
START = (0.25, 0.18, 0.12, 0.09, 0.06, 0.30)
COMPARED = {"GRPO": methods.grpo(), "Poly-EPO, sets of 4": methods.poly_epo(set_size=4)}
NUM_SAMPLES = 8
SHOWN = (0, 10, 30, 100, 300, 1000, 3000)  # steps
WIDTH = 40

INTRODUCTION = f"""\
One prompt, six ways to answer: A to E are always right, F is always wrong.
A line shows what the policy does at a step: of {WIDTH} letters, each way has its share.
"""
CONCLUSION = """\
Then the task changes, and A is wrong, too. How often is one of k samples right?
"""


def trained(steps: int = SHOWN[-1]) -> dict[str, np.ndarray]:
    """Return the policies of each method, (T + 1, A), by exact mean updates: nothing is random."""
    updates = {
        name: TabularMethod(one, TABLE, NUM_SAMPLES).update for name, one in COMPARED.items()
    }
    return {
        name: expected_steps(update, START, learning_rate=1.0, steps=steps).policies_TA
        for name, update in updates.items()
    }


def bar(policy_A: np.ndarray, width: int = WIDTH) -> str:
    """Return letters in the shares of the ways; the largest remainders get the rest.

    >>> bar(np.array([0.5, 0.26, 0.24]), width=10)
    'AAAAABBBCC'
    """
    exact = np.asarray(policy_A) * width
    counts = np.floor(exact + 1e-9).astype(int)
    counts[np.argsort(counts - exact, kind="stable")[: width - counts.sum()]] += 1
    return "".join(way * count for way, count in zip(WAYS, counts, strict=False))


def lines(paths: Mapping[str, np.ndarray]) -> list[str]:
    """Print a bar for each method at each step that is shown."""
    rows = [f"{'step':>5}  " + "  ".join(f"{name:{WIDTH}}" for name in paths).rstrip()]
    for step in (one for one in SHOWN if one < len(next(iter(paths.values())))):
        rows.append(f"{step:5}  " + "  ".join(bar(path[step]) for path in paths.values()))
    return rows


def after_the_change(paths: Mapping[str, np.ndarray]) -> list[str]:
    """Print the exact pass@k of the last policies, and of the first, where the first way fails."""
    rows = [f"{'k':20}      1      4     16"]
    for name, policy in {"before training": START, **{n: p[-1] for n, p in paths.items()}}.items():
        chances = (TabularObjective(objectives.any_correct(), CHANGED, k) for k in (1, 4, 16))
        rows.append(f"{name:20} " + " ".join(f"{float(one.value(policy)):6.1%}" for one in chances))
    return rows


def main(arguments: list[str] | None = None) -> None:
    """Print the policies of training, and what collapse costs."""
    argparse.ArgumentParser(
        prog="python -m studies.collapse",
        description="Train a policy over six ways to answer with GRPO and with Poly-EPO, and print "
        "which ways it keeps. It takes seconds, and has no options.",
    ).parse_args(arguments)
    print(INTRODUCTION, flush=True)
    paths = trained()
    print("\n".join([*lines(paths), "", CONCLUSION, *after_the_change(paths)]))


if __name__ == "__main__":
    main()
