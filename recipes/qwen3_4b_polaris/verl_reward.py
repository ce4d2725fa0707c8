"""The reward of verl.yaml: whether the last box of a sample equals the gold answer.

verl calls it in several threads of each reward worker; the grader takes one sample at a time.
"""

from __future__ import annotations

import threading
from functools import cache
from typing import Any

from setrl.rewards.verifier import MathVerifier

_one_at_a_time = threading.Lock()


@cache
def _verifier() -> MathVerifier:
    return MathVerifier()


def compute_score(
    data_source: str, solution_str: str, ground_truth: str, extra_info: Any = None, **_: Any
) -> dict[str, float]:
    """Return 1 if the sample is right, else 0; the judge of verl.yaml reads the strategy."""
    with _one_at_a_time:
        [reading] = _verifier()(ground_truth, [solution_str])
    return {"score": float(reading.correct)}
