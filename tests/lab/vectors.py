"""What the core computes for the groups that the page's maths is tested on.

    python -m tests.lab.vectors     # write web/tests/vectors.json again

The page computes in TypeScript. `web/tests/vectors.test.ts` compares it with this file to 1e-12,
and `test_vectors.py` checks that the file is what the core computes now.
"""

from __future__ import annotations

import json
from collections.abc import Iterator
from itertools import count, product
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

from setrl import Samples, credit, methods, objectives
from setrl.core.advantages import Method
from setrl.core.credit.estimators import Credit, all_sets, score_sets
from setrl.core.objectives.base import Objective
from setrl.theory.decomposition import decompose_group
from setrl.theory.dynamics import Success, expected_steps
from setrl.theory.tabular import TabularMethod

FILE = Path(__file__).parents[2] / "web" / "tests" / "vectors.json"

OBJECTIVES: dict[str, Objective] = {
    "polychromic": objectives.polychromic(),
    "any_correct": objectives.any_correct(),
    "max": objectives.max(),
    "majority": objectives.majority(),
    "mean": objectives.mean(),
    "distinct_correct": objectives.distinct_correct(),
}
BASELINES = ("all_sets", "leave_one_out", "smaller_sets", "none")
REDUCTIONS, SCALES = ("mean", "sum"), ("none", "group_std", "score_std")
LAMBDAS, ALPHAS = (0.3, 2.0), (0.0, 0.25, 1.0)
COUNTS_ALPHA = 0.4  # in the dynamics


class Group(NamedTuple):
    """The samples of one prompt, and the set sizes that are tried."""

    rewards: list[float]
    strategies: list[int]
    answers: list[int]
    set_sizes: tuple[int, ...]

    @property
    def fields(self) -> dict[str, Any]:
        """Return the case as arguments of `set_advantages`, one prompt."""
        return {
            "correct": np.array([self.rewards]) > 0.5,  # as the page has it
            "strategies": np.array([self.strategies]),
            "answers": np.array([self.answers]),
        }


def _group(rewards: str, strategies: str, *set_sizes: int) -> Group:
    """From digits in tenths, with X for 1, and letters, with - for a degenerate sample."""
    values = [1.0 if digit == "X" else int(digit) / 10 for digit in rewards]
    labels = [-1 if letter == "-" else ord(letter) - ord("A") for letter in strategies]
    wrong = [2 + label for label in labels]
    answers = [0 if r > 0.5 else w for r, w in zip(values, wrong, strict=True)]
    return Group(values, labels, answers, set_sizes)


GROUPS = [
    _group("XX0X", "ABCA", 1, 2, 3),  # the worked example of the tutorial
    _group("XXXX0000", "AAABAAAC", 2, 4),
    _group("XXXXXXX0", "AAAAAAAB", 2, 4, 7),  # all correct samples are pushed down
    _group("XXXXXX", "AAAAAA", 3),
    _group("XXXXXX", "ABCDEF", 3),
    _group("0000", "ABAB", 2),
    _group("3X0759X2", "ABA-CBAC", 2, 5),  # graded rewards, a degenerate sample
    _group("X0X0", "----", 2),
    _group("X0", "AB", 1),
    _group("X0X00XX0X0X000X5", "AABBCCDDEEFGH-AB", 4, 8),
]


def vectors() -> dict[str, Any]:
    """Everything, as plain numbers."""
    return {
        "credit": list(_credit()),
        "sampled": list(_sampled()),
        "methods": list(_methods()),
        "scores": list(_scores()),
        "decomposition": list(_decomposition()),
        "dynamics": list(_dynamics()),
        "water_filling": list(_water_filling()),
        "pass_at_k": list(_pass_at_k()),
    }


def _inputs(group: Group) -> dict[str, Any]:
    return {"rewards": group.rewards, "strategies": group.strategies, "answers": group.answers}


def _settings() -> Iterator[tuple[Group, int, str, str, str, str]]:
    """Each group, size, objective and baseline; reductions and scales take turns.

    Where all samples are equal there is no scale: it would divide rounding errors by 1e-4.
    """
    turn = count()
    for group in GROUPS:
        for set_size, name, baseline in product(group.set_sizes, OBJECTIVES, BASELINES):
            at = next(turn)
            scale = SCALES[at % 7 % 3] if len(set(group.rewards)) > 1 else "none"
            yield group, set_size, name, baseline, REDUCTIONS[at % 2], scale


def _credit() -> Iterator[dict[str, Any]]:
    for group, set_size, name, baseline, reduction, scale in _settings():
        method = _method(name, set_size, baseline, reduction, scale)
        found = method.advantages(np.array([group.rewards]), **group.fields)
        yield {
            **_inputs(group),
            "method": _written(name, set_size, baseline, reduction, scale),
            "values": found.values_BN[0].tolist(),
        }


def _method(
    name: str, set_size: int, baseline: str, reduction: str, scale: str, estimator: Any = None
) -> Method:
    how: Any = {"baseline": baseline, "reduction": reduction}
    how["scale"] = None if scale == "none" else scale
    if scale == "score_std" and estimator is None:  # few closed forms know the variance
        estimator = credit.Enumerated()
    return Method("vector", OBJECTIVES[name], set_size, **how, estimator=estimator)


def _written(name: str, set_size: int, baseline: str, reduction: str, scale: str) -> dict[str, Any]:
    how = {"baseline": baseline, "reduction": reduction, "scale": scale}
    return {"objective": name, "setSize": set_size, **how}


class Listed(NamedTuple):
    """An estimator that scores the sets it is given, by their size."""

    sets: dict[int, list[list[int]]]

    def __call__(
        self, objective: Objective, samples: Samples, set_size: int, rng: object
    ) -> Credit:
        """The credit from these sets."""
        sets_SK = np.array(self.sets[set_size])
        return credit.Sampled(len(sets_SK)).from_sets(objective, samples, sets_SK)


def _sampled() -> Iterator[dict[str, Any]]:
    """Some of the sets: the worked example's three, and draws that leave samples out."""
    rng, turn = np.random.default_rng(0), count()
    designs = [(GROUPS[0], {2: [[0, 2], [1, 3], [0, 1]], 1: [[0], [1], [3]]})]
    for group, set_size, num_sets in [(GROUPS[2], 4, 5), (GROUPS[6], 2, 3), (GROUPS[9], 4, 40)]:
        n = len(group.rewards)
        sizes = {k: rng.permutation(all_sets(n, k))[:num_sets] for k in (set_size, set_size - 1)}
        designs.append((group, {k: sets_SK.tolist() for k, sets_SK in sizes.items()}))
    for (group, sets), name, baseline in product(designs, OBJECTIVES, BASELINES):
        at, set_size = next(turn), max(sets)
        how = name, set_size, baseline, REDUCTIONS[at % 2], SCALES[at % 7 % 3]
        found = _method(*how, Listed(sets)).advantages(np.array([group.rewards]), **group.fields)
        yield {
            **_inputs(group),
            "method": _written(*how),
            "sets": sets[set_size],
            "smaller": sets[set_size - 1],
            "values": found.values_BN[0].tolist(),
        }


def _methods() -> Iterator[dict[str, Any]]:
    for group in GROUPS:
        rewards_BN, labels_BN = np.array([group.rewards]), group.fields["strategies"]

        def values(
            method: Method, rewards: Any = rewards_BN, labels: Any = labels_BN
        ) -> list[float]:
            fields = {"strategies": labels, "correct": rewards > 0.5}
            return method.advantages(rewards, **fields).values_BN[0].tolist()

        yield {
            **_inputs(group),
            "grpo": values(methods.grpo()),
            "shaping": {str(weight): values(methods.grpo_div(weight)) for weight in LAMBDAS},
            "poly_epo": {str(k): values(methods.poly_epo(k)) for k in group.set_sizes},
            "maxpo": {str(k): values(methods.maxpo(k)) for k in group.set_sizes},
            "counts": {str(alpha): values(methods.concave_counts(alpha)) for alpha in ALPHAS},
        }


def _scores() -> Iterator[dict[str, Any]]:
    """The score of every set, in the order of `itertools.combinations`."""
    for group in GROUPS:
        set_size = group.set_sizes[0]
        sets_SK = all_sets(len(group.rewards), set_size)
        if len(sets_SK) > 100:
            continue
        samples = Samples(
            rewards=np.array([group.rewards]),
            strategies=group.fields["strategies"],
            answers=group.fields["answers"],
            correct=group.fields["correct"],
        )
        yield {
            **_inputs(group),
            "set_size": set_size,
            "sets": sets_SK.tolist(),
            "scores": {
                name: score_sets(objective, samples, sets_SK)[0].tolist()
                for name, objective in OBJECTIVES.items()
            },
        }


def _decomposition() -> Iterator[dict[str, Any]]:
    for group in GROUPS:
        for set_size in group.set_sizes:
            found = decompose_group(
                np.array([group.rewards]), set_size=set_size, strategies=group.fields["strategies"]
            )
            yield {
                **_inputs(group),
                "set_size": set_size,
                "reward_with": found.reward_with[0].tolist(),
                "diversity_with": found.diversity_with[0].tolist(),
                "covariance_with": found.covariance_with[0].tolist(),
                "means_part": found.means_part[0].tolist(),
                "covariance_part": found.covariance_part[0].tolist(),
                "advantages": found.advantages[0].tolist(),
            }


TABLES: list[tuple[list[float], list[float], int, int]] = [  # shares, success, N, K
    ([0.5, 0.3, 0.2], [0.9, 0.6, 0.3], 6, 2),
    ([0.2, 0.2, 0.6], [0.5, 0.5, 0.0], 5, 4),
    ([0.97, 0.03], [1.0, 0.4], 8, 3),
]


def _dynamics() -> Iterator[dict[str, Any]]:
    """Mean updates by listing every group of N samples, and ten steps along them."""
    for shares, success, num_samples, set_size in TABLES:
        rates = Success(success)
        of_methods = {
            "grpo": methods.grpo(),
            "maxpo": methods.maxpo(set_size),
            "poly_epo": methods.poly_epo(set_size),
            "counts": methods.concave_counts(COUNTS_ALPHA),
        }
        velocities = {
            name: rates.velocity(TabularMethod(method, rates.table, num_samples).advantages)
            for name, method in of_methods.items()
        }
        yield {
            "shares": shares,
            "success": success,
            "num_samples": num_samples,
            "set_size": set_size,
            "alpha": COUNTS_ALPHA,
            "velocity": {name: v(np.array(shares)).tolist() for name, v in velocities.items()},
            "path": {
                name: expected_steps(v, shares, 2.0, 10).policies_TA[-1].tolist()
                for name, v in velocities.items()
            },
        }


def _water_filling() -> Iterator[dict[str, Any]]:
    """q = (1 − λ/s)₊/α, with the λ at which Σ q = 1 found by bisection."""
    for success in ([0.9, 0.8, 0.7, 0.6, 0.5, 0.4], [0.5, 0.5, 0.2], [1.0, 0.05]):
        for alpha in (0.1, 0.2, 0.5, 1.0):
            s_A = np.array(success)
            low, high = s_A.max() - alpha * s_A.max(), s_A.max()
            for _ in range(200):
                level = (low + high) / 2
                over = (np.maximum(1 - level / s_A, 0) / alpha).sum() > 1
                low, high = (level, high) if over else (low, level)
            shares_A = np.maximum(1 - level / s_A, 0) / alpha
            yield {
                "success": success,
                "alpha": alpha,
                "shares": shares_A.tolist(),
                "level": float(level),
                "pass_at_1": float(shares_A @ s_A),
            }


def _pass_at_k() -> Iterator[dict[str, Any]]:
    """By problem: every case of which strategies work; by attempt: one chance for all."""
    for shares, success in (([0.5, 0.3, 0.2], [0.9, 0.6, 0.3]), ([0.1] * 10, [0.2] * 10)):
        for k in (1, 4, 32, 1024):
            by_problem = 0.0
            for works in product((0, 1), repeat=len(shares)):
                chance = np.prod([s if w else 1 - s for s, w in zip(success, works, strict=True)])
                by_problem += chance * (1 - (1 - min(float(np.dot(shares, works)), 1.0)) ** k)
            yield {
                "shares": shares,
                "success": success,
                "k": k,
                "problem": float(by_problem),
                "attempt": float(1 - (1 - np.dot(shares, success)) ** k),
            }


def text() -> str:
    """The file's content: one vector a line."""
    lines = []
    for name, rows in vectors().items():
        listed = ",\n".join(json.dumps(row, separators=(",", ":")) for row in rows)
        lines.append(f'"{name}":[\n{listed}\n]')
    return "{\n" + ",\n".join(lines) + "\n}\n"


if __name__ == "__main__":
    FILE.parent.mkdir(parents=True, exist_ok=True)
    FILE.write_text(text(), "utf-8")
    print(FILE)
