"""How an estimator is made: an unbiased credit of ours, and what was done to it afterwards.

A standard deviation, centring, clipping, filtering and sets by value each turn an unbiased credit
into another estimator, often a biased one. Every such change is tried on every objective, until one
gives the numbers of the audited estimator, up to a factor.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterator
from dataclasses import dataclass
from itertools import chain
from math import comb

import numpy as np

from setrl.core import objectives
from setrl.theory.audit.compare import CLOSE, Library, factor, share
from setrl.theory.audit.known import Known, mean_scores
from setrl.theory.audit.paid import Paid

PLAIN = ("pass@1", "mean reward")
NEAR = 2e-3  # relative distance of equal numbers: a floor of 1e-4 added to a std is within it


@dataclass(frozen=True)
class Made:
    """How an estimator is made.

    Attributes:
        of: The objective, such as "pass@2".
        base: The credit, such as "u − v" or "u − w".
        change: What was done to it, in words; "" if nothing.
        times: What it was multiplied by in the end.
        off: The largest difference, relative to the largest advantage.
    """

    of: str
    base: str
    change: str
    times: float
    off: float = 0.0

    def __str__(self) -> str:
        text = factor(self.times, 0.0 if self.off <= CLOSE else self.off)
        times = "" if abs(self.times - 1) < NEAR else f"{text} times "
        off = f" (up to {share(self.off)} of the largest advantage)" if self.off > CLOSE else ""
        return f"{times}{self.base} of {self.of}{self.change}{off}"


@dataclass(frozen=True, eq=False)
class Recipe:
    """A credit in every group, to which changes are made.

    Attributes:
        paid: What the audited estimator pays.
        credit_SA: The credit of each action in each group.
    """

    paid: Paid
    credit_SA: np.ndarray

    @property
    def rewards_SA(self) -> np.ndarray:
        """The reward of each action."""
        rewards_A = np.asarray(self.paid.table.rewards, dtype=np.float64)
        return np.broadcast_to(rewards_A, self.credit_SA.shape)

    def mean(self, values_SA: np.ndarray) -> np.ndarray:
        """Return the mean over the samples of each group, (S, 1)."""
        counts_SA = self.paid.groups.counts_SA
        mean_S1 = (counts_SA * values_SA).sum(axis=1, keepdims=True)
        return mean_S1 / self.paid.num_samples

    def std(self, values_SA: np.ndarray) -> np.ndarray:
        """Return the standard deviation over the samples of each group, (S, 1)."""
        return np.sqrt(self.mean((values_SA - self.mean(values_SA)) ** 2))

    def over(self, divisor_S1: np.ndarray) -> np.ndarray:
        """Return the credit divided by a number of the group; 0 where that is 0."""
        usable = divisor_S1 > 1e-9
        return np.where(usable, self.credit_SA / np.where(usable, divisor_S1, 1.0), 0.0)

    def centred(self) -> Recipe:
        """Return the credit minus its mean in each group."""
        return Recipe(self.paid, self.credit_SA - self.mean(self.credit_SA))


CHANGES: dict[str, Callable[[Recipe], np.ndarray]] = {
    "": lambda base: base.credit_SA,
    ", divided by the standard deviation of the rewards": lambda base: base.over(
        base.std(base.rewards_SA)
    ),
    ", divided by the mean reward": lambda base: base.over(base.mean(base.rewards_SA)),
    ", divided by its own standard deviation": lambda base: base.over(base.std(base.credit_SA)),
    ", minus its mean in the group": lambda base: base.centred().credit_SA,
    ", minus its mean in the group, divided by the standard deviation": lambda base: (
        base.centred().over(base.std(base.credit_SA))
    ),
    ", clipped to at least 0": lambda base: np.maximum(base.credit_SA, 0),
    ", clipped to at most 0 for wrong samples": lambda base: np.where(
        base.rewards_SA == base.rewards_SA.max(), base.credit_SA, np.minimum(base.credit_SA, 0)
    ),
    ", without the groups whose rewards are all equal": lambda base: np.where(
        base.std(base.rewards_SA) > 1e-9, base.credit_SA, 0
    ),
}


def made(library: Library, likely: Collection[Known]) -> Made | None:
    """Return the first recipe that gives the estimator's advantages, or None.

    Args:
        library: The objectives; each with an unchanged credit is tried.
        likely: The objectives that are tried with a changed credit, with the plain mean and
            concave counts: in small groups, a change of any other would fit by chance.
    """
    paid = library.field.paid
    if not paid.is_symmetric:
        return None
    parts = list(library.objectives)
    plain = [
        part for part in parts if part in likely or part.label in PLAIN or _is_concave_counts(part)
    ]
    for change, alter in CHANGES.items():
        ways = [
            Made(part.label, base, change, *fit)
            for part in (plain if change else parts)
            for base, credit_SA in library.credits(parts.index(part)).items()
            if (fit := _fit_factor(paid, alter(Recipe(paid, credit_SA)))) is not None
        ]
        if ways:
            return min(ways, key=lambda way: (way.off > CLOSE, abs(way.times - 1) > NEAR))
    return next(chain(_try_score_std(library), _try_sets_by_value(library)), None)


def _is_concave_counts(known: Known) -> bool:
    return known.label.startswith("concave_counts")


def _fit_factor(paid: Paid, credit_SA: np.ndarray) -> tuple[float, float] | None:
    """Return by what this credit is multiplied to give the estimator's, and how far off it is.

    None if no factor comes near.
    """
    is_held = paid.groups.counts_SA > 0
    target, credit = paid.credit_SA[is_held], credit_SA[is_held]
    length = credit @ credit
    times = float(credit @ target / length) if length > 0 else 0.0
    apart = np.abs(target - times * credit).max()
    return (times, float(apart / paid.scale)) if times > 0 and apart <= NEAR * paid.scale else None


def _try_score_std(library: Library) -> Iterator[Made]:
    """Yield u − U divided by the standard deviation of the scores of the sets, if they are 0 or 1.

    This standard deviation is √(U(1 − U)): Pass@k Training.
    """
    paid = library.field.paid
    for index, (known, scores_S) in enumerate(
        zip(library.objectives, library.scores_KS, strict=True)
    ):
        credit_SA = library.credits(index).get("u − U")
        if credit_SA is not None and isinstance(known.objective, objectives.any_correct):
            spread_S1 = np.sqrt(np.maximum(scores_S * (1 - scores_S), 0))[:, None]
            fit = _fit_factor(paid, Recipe(paid, credit_SA).over(spread_S1))
            if fit is not None:
                change = ", divided by the standard deviation of the sets' scores"
                yield Made(known.label, "u − U", change, *fit)


def _try_sets_by_value(library: Library) -> Iterator[Made]:
    """Yield u − v in which the sets with a sample are found by its value, not by its index."""
    paid = library.field.paid
    num, counts_SA = paid.num_samples, paid.groups.counts_SA
    for index, known in enumerate(library.objectives):
        size = known.set_size
        without_SA = np.stack(
            [_average_without_action(known, paid, action) for action in range(counts_SA.shape[1])],
            axis=1,
        )
        sets_SA = np.array([float(comb(num - m, size)) for m in range(num + 1)])[
            counts_SA.astype(int)
        ]
        rest_SA = comb(num, size) - sets_SA
        sums_SA = comb(num, size) * library.scores_KS[index][:, None] - sets_SA * without_SA
        by_value_SA = sums_SA / np.where(rest_SA > 0, rest_SA, 1)
        for used_SA in (library.credits(index)["u"], by_value_SA):
            fit = _fit_factor(paid, used_SA - without_SA)
            if fit is not None:
                change = ", with membership by value: equal samples count as this sample"
                yield Made(known.label, "u − v", change, *fit)


def _average_without_action(known: Known, paid: Paid, action: int) -> np.ndarray:
    """Return the mean score of the sets without any sample of an action; 0 without such sets."""
    kept_SN = paid.groups.sets_SK != action
    size = [known.set_size]
    return np.nan_to_num(mean_scores(known.objective, size, paid.table, paid.groups, kept_SN)[0])
