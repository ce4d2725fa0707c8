"""Which objective's gradient an estimator follows: by name and factor, or the nearest one."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property
from itertools import groupby

import numpy as np

from setrl.theory.audit.field import Field, of_scores
from setrl.theory.audit.known import Known, mean_scores
from setrl.theory.audit.paid import places
from setrl.theory.multisets import Multisets, multisets

LARGEST_DENOMINATOR = 64  # of a factor that is written as a fraction
LARGEST_NUMERATOR = 256  # of such a fraction: near a large number some fraction always is
CLOSE = 1e-5  # a distance below which a match is worth confirming
SMALL = 10**6  # denominators of the scores of small groups are smaller
FLOOR = 1e-4  # what a small number that is added to a divisor may change


@dataclass(frozen=True)
class PromptExample:
    """Two samples with the same others, and how much more the first is paid than the second.

    Attributes:
        others: The N − 1 others, by their actions.
        pair: The two actions.
        paid: The difference of their advantages.
        needed: What the difference must be, for the gradient of the objective.
    """

    others: tuple[int, ...]
    pair: tuple[int, int]
    paid: float
    needed: float


@dataclass(frozen=True, eq=False)
class Match:
    """A combination of objectives, and how far an estimator is from its gradient.

    Attributes:
        parts: The objectives.
        factors: What the gradient of each is multiplied by.
        off: ‖F − Σ factor·∇J‖ / ‖F‖, root mean squares over the policies of the grid; 0 if exact.
        is_exact: Whether F = Σ factor·∇J for every policy, up to rounding.
        example: Where F differs most, for a sample with others; None if it is exact.
        rounding: The rounding of the estimator's numbers, relative to the largest advantage.
    """

    parts: tuple[Known, ...]
    factors: tuple[float, ...]
    off: float
    is_exact: bool
    example: PromptExample | None = None
    rounding: float = 0.0

    @property
    def holds(self) -> bool:
        """Whether F = Σ factor·∇J, but for rounding and small numbers that are added to a std."""
        return self.off <= max(FLOOR, self.rounding)

    def __str__(self) -> str:
        terms = sorted(zip(self.factors, self.parts, strict=True), key=lambda term: term[0] < 0)
        text = " + ".join(f"{_times(number, self.is_exact)}∇{part.label}" for number, part in terms)
        return text.replace("+ −", "− ")


def _times(number: float, is_exact: bool) -> str:
    text = factor(number, is_exact).replace("-", "−")
    return {"1": "", "−1": "−"}.get(text, f"{text}·")


def factor(number: float, is_exact: bool = True) -> str:
    """Write a factor: as a fraction if it is one and exact, otherwise with three digits.

    >>> factor(2.0), factor(4 / 3), factor(0.8660254), factor(4 / 3, is_exact=False)
    ('2', '4/3', '0.866', '1.33')
    """
    if is_exact and _is_fraction(number) and abs(number) < SMALL:
        return str(Fraction(number).limit_denominator(LARGEST_DENOMINATOR))
    return f"{number:.3g}"


def share(off: float) -> str:
    """Write a distance as per cent with two digits, so that a small one is not 0.

    >>> share(0.0123), share(0.00004), share(0.291)
    ('1.2%', '0.004%', '29%')
    """
    return f"{100 * off:.2g}%"


def _is_fraction(number: float) -> bool:
    near = Fraction(number).limit_denominator(LARGEST_DENOMINATOR)
    is_short = near.denominator == 1 or abs(near.numerator) <= LARGEST_NUMERATOR
    return bool(near) and is_short and abs(float(near) - number) <= 1e-6 * abs(number)


@dataclass(frozen=True, eq=False)
class Library:
    """The gradients of objectives, on the groups and policies of one audit.

    Attributes:
        field: The estimator's expected gradient.
        objectives: The objectives.
        scores_KS: U, the mean score of every group, for each of them.
        without_KM: v, the mean score of every group of N − 1; NaN if K = N.
        smaller_KM: w, the mean score of the sets of K − 1 in every group of N − 1; 0 if K = 1.
    """

    field: Field
    objectives: Sequence[Known]
    scores_KS: np.ndarray
    without_KM: np.ndarray
    smaller_KM: np.ndarray

    @classmethod
    def of(cls, field: Field, objectives: Sequence[Known]) -> Library:
        """Score every group; leave out objectives that sets of this size do not have."""
        table, num = field.paid.table, field.paid.num_samples
        others = multisets(table.num_actions, num - 1) if num > 1 else None
        kept, rows = [], []
        for _, alike in groupby(objectives, key=lambda one: id(one.objective)):
            known = list(alike)
            sizes = [one.set_size for one in known]
            whole_KS = mean_scores(known[0].objective, sizes, table, field.paid.groups)
            below = sorted({size - less for size in sizes for less in (0, 1)} - {0})
            rest = {0: np.zeros(1)}
            if others is not None:
                found = mean_scores(known[0].objective, below, table, others)
                rest = {0: np.zeros(len(found[0]))} | dict(zip(below, found, strict=True))
            for one, scores_S in zip(known, whole_KS, strict=True):
                if np.isfinite(scores_S).all() and np.ptp(scores_S) > 0:
                    kept.append(one)
                    rows.append((scores_S, rest.get(one.set_size), rest[one.set_size - 1]))
        empty: list[tuple[np.ndarray, ...]] = [(np.zeros(0), np.zeros(0), np.zeros(0))]
        columns = zip(*(rows or empty), strict=True)
        return cls(field, kept, *(np.array(part) for part in columns))

    def credits(self, index: int) -> dict[str, np.ndarray]:
        """Return the credits u − v, u − U, u − w, u − v·N/(N − 1), u of an objective, (S, A).

        u, v and w follow from the mean scores of the groups with and without a sample:
        N·U = K·u + (N − K)·v. Credits that need v are left out at K = N.
        """
        paid = self.field.paid
        num, size = paid.num_samples, self.objectives[index].set_size
        here_SA = paid.groups.counts_SA > 0
        total_S1 = self.scores_KS[index][:, None]
        without_SA = self.without_KM[index][self._rest_SA]
        smaller_SA = self.smaller_KM[index][self._rest_SA]
        if size == num:
            with_SA = np.repeat(total_S1, here_SA.shape[1], axis=1)
            found = {"u − w": with_SA - smaller_SA, "u": with_SA}
        else:
            with_SA = (num * total_S1 - (num - size) * without_SA) / size
            found = {
                "u − v": with_SA - without_SA,
                "u − U": with_SA - total_S1,
                "u − w": with_SA - smaller_SA,
                "u − v·N/(N − 1)": with_SA - without_SA * num / (num - 1),
                "u": with_SA,
            }
        kept = {base: np.where(here_SA, credit_SA, 0.0) for base, credit_SA in found.items()}
        # Sums over several set sizes have no score of smaller sets, and so no w.
        return {base: credit_SA for base, credit_SA in kept.items() if np.isfinite(credit_SA).all()}

    @cached_property
    def _rest_SA(self) -> np.ndarray:
        return rest_of(self.field.paid.groups)

    @cached_property
    def gradients(self) -> np.ndarray:
        """∇J of each objective over the grid of policies, one row each."""
        each = [self.field.of_credit(scores_S[:, None]).ravel() for scores_S in self.scores_KS]
        return np.array(each)

    def nearest(self) -> Match | None:
        """Return the objective, or the sum of two, that F is exactly; else the nearest objective.

        None if the expected gradient is 0 for every policy.
        """
        target, gradients = self.field.values_PA.ravel(), self.gradients
        if np.abs(self.field.contrast_MA).max() <= 4 * self.field.paid.rounding:
            return None
        lengths = np.linalg.norm(gradients, axis=1)
        cosine = gradients @ target / lengths / np.linalg.norm(target)
        best = int(np.argmax(np.round(np.abs(cosine), 9)))
        match = self._match((best,), target, gradients)
        if match.holds:
            return match
        return self._pair(target, gradients) or match

    def combined(self, match: Match) -> np.ndarray:
        """Return Σ factor·∇J of a match whose parts are this library's objectives, (P, A)."""
        total = np.asarray(match.factors) @ self.gradients
        return total.reshape(self.field.values_PA.shape)

    def match(self, index: int) -> Match:
        """Return how far F is from the gradient of one objective."""
        return self._match((index,), self.field.values_PA.ravel(), self.gradients)

    def _pair(self, target: np.ndarray, gradients: np.ndarray) -> Match | None:
        """Return the first sum of two objectives whose gradient F is, with fractions as factors.

        Small groups have so few gradients that other factors fit by chance.
        """
        unit = gradients / np.linalg.norm(gradients, axis=1, keepdims=True)
        along, cosines = unit @ target / np.linalg.norm(target), unit @ unit.T
        # R² of two regressors, from their correlations; parallel ones are no pair.
        apart = np.maximum(1 - cosines**2, 0)
        explained = along[:, None] ** 2 + along**2 - 2 * cosines * along[:, None] * along
        share = np.where(apart > 1e-6, explained / np.where(apart > 0, apart, 1), 0)
        for left, right in np.argwhere(np.triu(share, 1) > 1 - FLOOR**2):
            match = self._match((int(left), int(right)), target, gradients)
            if match.holds and all(map(_is_fraction, match.factors)):
                return match
        return None

    def _match(self, chosen: tuple[int, ...], target: np.ndarray, gradients: np.ndarray) -> Match:
        rows = gradients[list(chosen)]
        factors, *_ = np.linalg.lstsq(rows.T, target, rcond=None)
        apart, length = np.linalg.norm(target - factors @ rows), np.linalg.norm(target)
        off = float(apart / length) if length else 1.0  # an expected gradient of 0 follows none
        parts = tuple(self.objectives[at] for at in chosen)
        wanted_MA = of_scores(self.field.paid, factors @ self.scores_KS[list(chosen)])
        exact = off < CLOSE and self._is_exact(wanted_MA)
        if exact:
            return Match(parts, tuple(factors.tolist()), 0.0, True)
        example, rounding = self._example(wanted_MA), self.field.paid.tolerance
        return Match(parts, tuple(factors.tolist()), off, False, example, rounding)

    def _is_exact(self, wanted_MA: np.ndarray) -> bool:
        """Compare the advantages with all N − 1 others, which decides it for every policy."""
        paid = self.field.paid
        apart = np.abs(self.field.contrast_MA - wanted_MA).max()
        return bool(apart <= 100 * paid.rounding)

    def _example(self, wanted_MA: np.ndarray) -> PromptExample:
        """Return the pair of samples whose advantages differ most from what they must be."""
        own_MA = self.field.contrast_MA
        apart_MA = own_MA - wanted_MA
        row = int(np.ptp(apart_MA, axis=1).argmax())
        high, low = int(apart_MA[row].argmax()), int(apart_MA[row].argmin())
        first, second = min(high, low), max(high, low)
        num = self.field.paid.num_samples
        others = multisets(own_MA.shape[1], num - 1).sets_SK[row] if num > 1 else np.array([], int)
        paid, needed = (part[row, first] - part[row, second] for part in (own_MA, wanted_MA))
        return PromptExample(tuple(others.tolist()), (first, second), float(paid), float(needed))


def rest_of(groups: Multisets) -> np.ndarray:
    """Return which group of N − 1 remains without a sample of an action, (S, A); 0 if none is."""
    num_actions, num = groups.counts_SA.shape[1], groups.sets_SK.shape[1]
    if num == 1:
        return np.zeros(groups.counts_SA.shape, dtype=np.intp)
    others = multisets(num_actions, num - 1)
    rest = []
    for unit_A in np.eye(num_actions):
        has_it = groups.counts_SA @ unit_A > 0
        fewer_SA = np.where(has_it[:, None], groups.counts_SA - unit_A, others.counts_SA[0])
        rest.append(places(others, fewer_SA))
    return np.stack(rest, axis=1)
