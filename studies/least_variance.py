"""Which unbiased estimator has the least variance? (docs/audit.md#the-estimator-of-least-variance)

Estimators of ∇pass@K that ignore the order of a group are u + b(others). For several prompts, the
study compares the variance of known choices of b with the least one, which solves linear equations:
on average over policies, for the worst policy, and for who knows the policy.
"""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np

from setrl import objectives
from setrl.core.method import Method
from setrl.support import files
from setrl.support.wording import markdown_table
from setrl.theory.audit.calling import CalledEstimator, estimator
from setrl.theory.audit.paid import Paid, pay
from setrl.theory.audit.variance import least_variance, of_update
from setrl.theory.tabular import ActionTable

# Right and wrong answers of a prompt; N and K.
CASES = [(1, 1, 4, 1), (1, 1, 8, 1), (1, 1, 8, 2), (1, 3, 4, 1), (2, 2, 4, 1), (3, 3, 4, 1),
         (3, 3, 4, 2), (1, 7, 4, 1)]  # fmt: skip
POLICIES = 200
ROUNDS, RATE = 300, 0.5  # of the weights of the worst policies
NAMES = ("u − v", "u − w", "u − 1 + K(v − w)", "least on average", "least at worst", "known policy")


def run(folder: Path) -> str:
    """Write least_variance.json and return the table: relative variances, means over policies."""
    records = [compare(*case) for case in CASES]
    folder.mkdir(parents=True, exist_ok=True)
    files.write_json(folder / "least_variance.json", {"policies": POLICIES, "cases": records})
    head = ["right", "wrong", "N", "K", *NAMES]
    rows = [
        [*(str(one[name]) for name in head[:4]), *(f"{one['mean'][name]:.3g}" for name in NAMES)]
        for one in records
    ]
    return markdown_table(head, rows)


def compare(right: int, wrong: int, num_samples: int, set_size: int) -> dict[str, Any]:
    """Return each estimator's Tr Cov/‖E‖², its mean and its largest value over policies."""
    actions = ActionTable(np.repeat([1.0, 0.0], [right, wrong]))
    rng = np.random.default_rng(0)
    # The success rate is uniform; so are the shares of the right, and of the wrong answers.
    success = rng.uniform(0.05, 0.95, POLICIES)[:, None]
    sides = [rng.dirichlet(np.full(num, 4.0), POLICIES) for num in (right, wrong)]
    policies_PA = np.concatenate([success * sides[0], (1 - success) * sides[1]], axis=1)
    made = {
        "u − v": _method(set_size, "leave_one_out"),
        "u − w": _method(set_size, "smaller_sets"),
        "u − 1 + K(v − w)": failing(set_size),
    }
    paid = {name: pay(one, actions, num_samples, orders=False) for name, one in made.items()}
    signal_P = _signal(paid["u − v"], policies_PA)
    found = {name: of_update(one, policies_PA) / signal_P for name, one in paid.items()}
    found |= _least(paid["u − v"], policies_PA, signal_P)
    return {
        "right": right, "wrong": wrong, "N": num_samples, "K": set_size,
        "mean": {name: float(values.mean()) for name, values in found.items()},
        "worst": {name: float(values.max()) for name, values in found.items()},
    }  # fmt: skip


def failing(set_size: int) -> CalledEstimator:
    """u − 1 + K(v − w) of pass@K, which has no noise of first order if there are two answers."""
    gain, contrast = (_method(set_size, name) for name in ("smaller_sets", "leave_one_out"))

    def advantages(rewards_BN: np.ndarray) -> np.ndarray:
        of_v, of_w = (one.function.advantages(rewards_BN) for one in (contrast, gain))
        # v − w = (u − w) − (u − v)
        return of_v.with_BN - 1 + set_size * (of_w.values_BN - of_v.values_BN)

    return estimator(advantages, takes="batch", num_samples=set_size + 2)


def _method(set_size: int, baseline: str) -> CalledEstimator:
    return estimator(Method(baseline, objectives.any_correct(), set_size, baseline))


def _signal(paid: Paid, policies_PA: np.ndarray) -> np.ndarray:
    from setrl.theory.audit.field import Field

    return (Field(paid, policies_PA).values_PA ** 2).sum(axis=1)


def _least(paid: Paid, policies_PA: np.ndarray, signal_P: np.ndarray) -> dict[str, np.ndarray]:
    """Return the least relative variances: of one b on average, at worst, and of one b a policy."""
    average = _relative(paid, policies_PA, signal_P, np.ones(len(signal_P)))
    weight_P, best, best_P = np.ones(len(signal_P)), np.inf, average
    for _ in range(ROUNDS):  # policies with much variance get more weight
        found_P = _relative(paid, policies_PA, signal_P, weight_P)
        if found_P.max() < best:
            best, best_P = found_P.max(), found_P
        weight_P = weight_P * np.exp(RATE * found_P / found_P.max())
        weight_P /= weight_P.mean()
    known = [
        _relative(paid, policies_PA[[at]], signal_P[[at]], np.ones(1))[0]
        for at in range(len(signal_P))
    ]
    return {
        "least on average": average,
        "least at worst": best_P,
        "known policy": np.array(known),
    }


def _relative(
    paid: Paid, policies_PA: np.ndarray, signal_P: np.ndarray, weight_P: np.ndarray
) -> np.ndarray:
    found = least_variance(paid, policies_PA, weight_P / signal_P)
    assert found is not None
    return of_update(found, policies_PA) / signal_P
