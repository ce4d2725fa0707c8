"""Prints what `setrl.set_advantages` and `setrl.methods` give on fixed batches, as JSON.

Objectives, baselines, estimators and methods are expressions, which name themselves in the file.
"""

from __future__ import annotations

import json
import math
from typing import Any

import numpy as np

import setrl
from tests.golden.digest import sha

OBJECTIVES = {  # with the size of its sets
    "mean()": 4,
    "mean(of='proxy')": 4,
    "max()": 4,
    "any_correct()": 4,
    "top_mean(1)": 4,
    "top_mean(3)": 4,
    "minimum()": 4,
    "median()": 4,
    "gini_mean_difference()": 4,
    "l_statistic([1, 0, -2, 0.5])": 4,
    "best_of()": 4,
    "majority('uniform')": 4,
    "majority('first')": 4,
    "majority('lexicographic')": 4,
    "distinct()": 4,
    "distinct_correct()": 4,
    "rarest_correct()": 4,
    "differ()": 4,
    "distinct_share()": 4,
    "extra_share()": 4,
    "mixed_share()": 4,
    "mean() * distinct_correct()": 4,
    "mean() * differ()": 4,
    "polychromic()": 4,
    "polychromic(extra_share())": 4,
    "polychromic(mixed_share())": 4,
    "product(mean(), mean(of='proxy'))": 4,
    "pairwise_distance()": 4,
    "polychromic(pairwise_distance())": 4,
    "from_counts(lambda counts: (counts[..., :-1, 1] >= 2).sum(-1))": 4,
    "from_function(lambda rewards: rewards.max(-1) - rewards.min(-1))": 4,
    "over_sizes(max(), {1: 0.5, 4: -2.0, 3: 1.0})": 4,
    "over_sizes(polychromic(), {2: 1.0, 5: 1.0})": 5,
    "max() - 0.5 * distinct() + 2 * mean() * differ()": 4,
    "mean() * mean()": 4,
}
BASELINES = ("'all_sets'", "'leave_one_out'", "'smaller_sets'", "'none'", "Mixture(0.25)")
ESTIMATORS = ("Exact()", "Enumerated()", "Sampled(20)", "Regression(20)")
RULES: tuple[dict[str, Any], ...] = (
    {"reduction": "sum"},
    {"scale": "group_std"},
    {"scale": "score_std"},
    {"reduction": "sum", "scale": "score_std", "baseline": "leave_one_out"},
)
METHODS = (
    *("grpo()", "dr_grpo()", "rloo()", "grpo_div()", "grpo_div(0.3)", "darling()", "darling(0.3)"),
    *("maxrl()", "unlikeliness()", "unlikeliness(0.5)", "order_grad([1, 0, -2, 0.5])"),
    *("poly_epo(3)", "poly_epo({2: 0.5, 4: 1.0})", "maxpo(3)", "maxpo({1: 0.5, 4: 0.5})"),
    *("pkpo(3)", "pkpo({1: 0.5, 4: 0.5})", "pass_k_training(3)"),
)
RESULTS = ("values_BN", "with_BN", "without_BN", "mean_B", "stderr_BN", "usable_BN", "skipped_B")


def batch(num_prompts: int, num_samples: int) -> dict[str, np.ndarray]:
    """A prompt of equal samples, one with missing rewards, a ragged one, one with degenerate and
    unknown strategies, one with too few samples, and draws."""
    rng, shape = np.random.default_rng(7), (num_prompts, num_samples)
    features_BND = rng.normal(size=(*shape, 3))
    fields = {
        "rewards": np.where(rng.random(shape) < 0.5, rng.integers(0, 2, shape), rng.random(shape)),
        "strategies": rng.integers(-1, 4, shape).astype(float),
        "answers": rng.integers(0, 4, shape),
        "proxy": rng.normal(size=shape),
        "pairs": features_BND @ features_BND.swapaxes(1, 2) + np.eye(num_samples) / 4,
        "mask": np.ones(shape, dtype=bool),
    }
    fields["rewards"][0], fields["strategies"][0] = 1.0, 2
    fields["rewards"][1, [2, 5]] = np.nan
    fields["mask"][2, -2:] = False
    fields["strategies"][3, :5] = [-1, -1, np.nan, -1, -1]
    fields["mask"][4, 2:] = False
    fields["correct"] = np.where(np.isnan(fields["rewards"]), np.nan, fields["rewards"] > 0.5)
    return fields


def value(expression: str, family: Any) -> Any:
    """An expression with the names of a module of setrl."""
    return eval(expression, dict(vars(family)))


def advantages(fields: dict[str, Any], **options: Any) -> Any:
    """`set_advantages` of a batch; the kind of the error where it refuses."""
    try:
        return setrl.set_advantages(fields["rewards"], **_others(fields), **options)
    except ValueError as error:
        return type(error).__name__


def _others(fields: dict[str, np.ndarray]) -> dict[str, np.ndarray]:
    return {name: field for name, field in fields.items() if name != "rewards"}


def shortened(found: list[Any]) -> dict[str, list[Any]]:
    """Return a hash of all floats of each result, and a weighted sum of its advantages."""
    return {"bits": [sha(_text(one))[:10] for one in found], "sums": [_sum(one) for one in found]}


def _text(found: Any) -> str:
    if isinstance(found, str):
        return found
    arrays = [getattr(found, name) for name in RESULTS]
    return ";".join("none" if array is None else " ".join(in_hex(array)) for array in arrays)


def in_hex(array: np.ndarray) -> list[str]:
    """The floats of an array, to the bit."""
    return [float(x).hex() for x in np.asarray(array).ravel()]


def _sum(found: Any) -> float | str:
    if isinstance(found, str):
        return found
    weighted = [place * x for place, x in enumerate(found.values_BN.ravel().tolist(), 1)]
    return float(f"{math.fsum(weighted):.6g}")


def objective_figures(expression: str, set_size: int) -> dict[str, Any]:
    """Every estimator with every baseline on a small batch, every rule, and a larger batch."""
    chosen = {"objective": value(expression, setrl.objectives), "set_size": set_size, "rng": 3}
    small, large = batch(7, 9), batch(5, 24)
    found: dict[str, Any] = {}
    for estimator in ESTIMATORS:
        how = {**chosen, "estimator": value(estimator, setrl.credit)}
        baselines = [value(baseline, setrl.credit) for baseline in BASELINES]
        found[estimator] = shortened([advantages(small, **how, baseline=b) for b in baselines])
    found["rules"] = shortened([advantages(small, **chosen, **rule) for rule in RULES])
    names = ("all_sets", "smaller_sets")
    found["24 samples"] = shortened([advantages(large, **chosen, baseline=b) for b in names])
    return found | {"values": in_hex(advantages(small, **chosen).values_BN[-1, :4])}


def method_figures(expression: str) -> dict[str, Any]:
    """A method on the small batch: hashes, and the last prompt's advantages."""
    fields, method = batch(7, 9), value(expression, setrl.methods)
    found = method.advantages(fields["rewards"], rng=3, **_others(fields))
    return shortened([found]) | {"values": in_hex(found.values_BN[-1])}


def main() -> None:
    """Print everything."""
    objectives = {text: objective_figures(text, size) for text, size in OBJECTIVES.items()}
    methods = {text: method_figures(text) for text in METHODS}
    print(json.dumps({"objectives": objectives, "methods": methods}))


if __name__ == "__main__":
    main()
