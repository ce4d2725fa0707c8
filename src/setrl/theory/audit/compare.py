"""Which objective's gradient an estimator follows: by name and factor, or the nearest one."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from decimal import ROUND_DOWN, Context, Decimal
from fractions import Fraction
from functools import cached_property
from itertools import groupby

import numpy as np

from setrl.theory.audit.field import Field, of_scores
from setrl.theory.audit.known import Known, mean_scores
from setrl.theory.audit.paid import places
from setrl.theory.multisets import Multisets, multisets

LARGEST_DENOMINATOR, ROUNDED = 64, 1e-6  # of a factor that is written as a fraction; how near
SMALL_DENOMINATOR, NEAR = 12, 1e-5  # how near to such a fraction it may be
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
        errors: Half the 95% interval of each factor, if they come from drawn batches.
    """

    parts: tuple[Known, ...]
    factors: tuple[float, ...]
    off: float
    is_exact: bool
    example: PromptExample | None = None
    rounding: float = 0.0
    errors: tuple[float, ...] = ()

    @property
    def holds(self) -> bool:
        """Whether F = Σ factor·∇J, except for rounding and small numbers added to a std."""
        return self.off <= max(FLOOR, self.rounding)

    @property
    def rounded(self) -> float:
        """By which share of its length the gradient changes if its factors are as written."""
        near = [fraction(number) for number in self.factors]
        apart = [abs(float(short or number) / number - 1) if number else 0.0
                 for short, number in zip(near, self.factors, strict=True)]  # fmt: skip
        most = max(apart, default=0.0)
        return most if most > ROUNDED else 0.0

    @property
    def is_as_written(self) -> bool:
        """Whether F is the gradient with the factors as written, for every policy."""
        return self.is_exact and not self.rounded

    def __str__(self) -> str:
        errors = self.errors or (0.0,) * len(self.parts)
        terms = sorted(zip(self.factors, errors, self.parts, strict=True), key=lambda it: it[0] < 0)
        off = 0.0 if self.holds else self.off
        text = " + ".join(
            f"{_write_factor(number, error, off)}∇{part.label}" for number, error, part in terms
        )
        return text.replace("+ −", "− ")


def _write_factor(number: float, error: float, off: float) -> str:
    text = factor(number, off)
    if error > FLOOR**2 * abs(number):
        digits = max(1 - int(np.floor(np.log10(error))), 0)
        text = f"({number:.{digits}f} ± {error:.{digits}f})"
    text = text.replace("-", "−")
    return {"1": "", "−1": "−"}.get(text, f"{text}·")


def factor(number: float, off: float = 0.0) -> str:
    """Write a factor: as a fraction or with three digits and "…"; rounded, if it is so far off.

    Of a small distance rounding adds little.

    >>> factor(2.0), factor(4 / 3), factor(4.99672), factor(4 / 3, off=0.1), factor(4 / 3, 0.001)
    ('2', '4/3', '4.99…', '1.33', '1.333')
    """
    if off or not number:
        digits = max(3, 1 - int(np.floor(np.log10(off or 1))))
        return f"{number:.{digits}g}"
    if (near := fraction(number)) is not None and abs(number) < SMALL:
        return str(near)
    short, power = f"{number:.3g}", Decimal(number).adjusted()
    if abs(float(short) - number) <= ROUNDED * abs(number):
        return short
    is_long = not -5 < power < 6
    digits = 3 if is_long else max(3, power + 1)
    below = Context(prec=digits, rounding=ROUND_DOWN).create_decimal(number)
    return f"{below:e}…" if is_long else f"{below:f}…"


def fraction(number: float) -> Fraction | None:
    """Return the fraction that a number is, except for rounding; None for any other number.

    A small number in a divisor may change a fraction with a small denominator a little more.

    >>> fraction(0.6), fraction(1.999997), fraction(1.9997)
    (Fraction(3, 5), Fraction(2, 1), None)
    """
    for largest, most_apart in ((SMALL_DENOMINATOR, NEAR), (LARGEST_DENOMINATOR, ROUNDED)):
        near = Fraction(number).limit_denominator(largest)
        is_short = near.denominator == 1 or abs(near.numerator) <= LARGEST_NUMERATOR
        if near and is_short and abs(float(near) - number) <= most_apart * abs(number):
            return near
    return None


def share(off: float) -> str:
    """Write a distance as per cent with two digits, so that a small one is not 0.

    >>> share(0.0123), share(0.00004), share(0.291)
    ('1.2%', '0.004%', '29%')
    """
    return f"{100 * off:.2g}%"


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
        rest_groups = multisets(table.num_actions, num - 1) if num > 1 else None
        scored, rows = [], []
        for _, alike in groupby(objectives, key=lambda known: id(known.objective)):
            variants = list(alike)
            sizes = [variant.set_size for variant in variants]
            whole_KS = mean_scores(variants[0].objective, sizes, table, field.paid.groups)
            below = sorted({size - less for size in sizes for less in (0, 1)} - {0})
            rest = {0: np.zeros(1)}
            if rest_groups is not None:
                below_KM = mean_scores(variants[0].objective, below, table, rest_groups)
                rest = {0: np.zeros(len(below_KM[0]))} | dict(zip(below, below_KM, strict=True))
            for variant, scores_S in zip(variants, whole_KS, strict=True):
                if np.isfinite(scores_S).all() and np.ptp(scores_S) > 0:
                    scored.append(variant)
                    rows.append((scores_S, rest.get(variant.set_size), rest[variant.set_size - 1]))
        empty: list[tuple[np.ndarray, ...]] = [(np.zeros(0), np.zeros(0), np.zeros(0))]
        columns = zip(*(rows or empty), strict=True)
        return cls(field, scored, *(np.array(part) for part in columns))

    def on(self, field: Field, parts: Sequence[Known]) -> Library:
        """Return some of the objectives, to compare another estimator of the same groups."""
        at = [self.objectives.index(part) for part in parts]
        scores = (rows[at] for rows in (self.scores_KS, self.without_KM, self.smaller_KM))
        return Library(field, list(parts), *scores)

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
            unmasked = {"u − w": with_SA - smaller_SA, "u": with_SA}
        else:
            with_SA = (num * total_S1 - (num - size) * without_SA) / size
            unmasked = {
                "u − v": with_SA - without_SA,
                "u − U": with_SA - total_S1,
                "u − w": with_SA - smaller_SA,
                "u − v·N/(N − 1)": with_SA - without_SA * num / (num - 1),
                "u": with_SA,
            }
        held = {base: np.where(here_SA, credit_SA, 0.0) for base, credit_SA in unmasked.items()}
        # Sums over several set sizes have no score of smaller sets, and so no w.
        return {base: credit_SA for base, credit_SA in held.items() if np.isfinite(credit_SA).all()}

    @cached_property
    def _rest_SA(self) -> np.ndarray:
        return rest_of(self.field.paid.groups)

    @cached_property
    def gradients(self) -> np.ndarray:
        """∇J of each objective over the grid of policies, one row each."""
        rows = [self.field.of_credit(scores_S[:, None]).ravel() for scores_S in self.scores_KS]
        return np.array(rows)

    def nearest(self) -> Match | None:
        """Return the objective, or the sum of two, that F is exactly; else the nearest objective.

        None if the expected gradient is 0 for every policy.
        """
        target, gradients = self.field.values_PA.ravel(), self.gradients
        if self._is_zero:
            return None
        lengths = np.linalg.norm(gradients, axis=1)
        cosine = gradients @ target / lengths / np.linalg.norm(target)
        best = int(np.argmax(np.round(np.abs(cosine), 9)))
        match = self._match_parts((best,), target, gradients)
        if match.holds:
            return match
        return self._find_nearest_pair(target, gradients) or match

    @property
    def _is_zero(self) -> bool:
        return bool(np.abs(self.field.contrast_MA).max() <= 4 * self.field.paid.rounding)

    def combined(self, match: Match) -> np.ndarray:
        """Return Σ factor·∇J of a match whose parts are this library's objectives, (P, A)."""
        total = np.asarray(match.factors) @ self.gradients
        return total.reshape(self.field.values_PA.shape)

    def match(self, index: int) -> Match:
        """Return how far F is from the gradient of one objective."""
        return self._match_parts((index,), self.field.values_PA.ravel(), self.gradients)

    def _find_nearest_pair(self, target: np.ndarray, gradients: np.ndarray) -> Match | None:
        """Return the first sum of two objectives whose gradient F is, with fractions as factors.

        Small groups have so few gradients that other factors fit by chance.
        """
        unit = gradients / np.linalg.norm(gradients, axis=1, keepdims=True)
        along, cosines = unit @ target / np.linalg.norm(target), unit @ unit.T
        # R² of two regressors, from their correlations; parallel ones are not a pair.
        apart = np.maximum(1 - cosines**2, 0)
        explained = along[:, None] ** 2 + along**2 - 2 * cosines * along[:, None] * along
        share = np.where(apart > 1e-6, explained / np.where(apart > 0, apart, 1), 0)
        for left, right in np.argwhere(np.triu(share, 1) > 1 - FLOOR**2):
            match = self._match_parts((int(left), int(right)), target, gradients)
            if match.holds and all(map(fraction, match.factors)):
                return match
        return None

    def _match_parts(
        self, chosen: tuple[int, ...], target: np.ndarray, gradients: np.ndarray
    ) -> Match:
        rows = gradients[list(chosen)]
        factors, *_ = np.linalg.lstsq(rows.T, target, rcond=None)
        factors *= not self._is_zero
        apart, length = np.linalg.norm(target - factors @ rows), np.linalg.norm(target)
        off = float(apart / length) if factors.any() else 1.0  # an update of 0 follows none
        parts = tuple(self.objectives[at] for at in chosen)
        wanted_MA = of_scores(self.field.paid, factors @ self.scores_KS[list(chosen)])
        exact = off < CLOSE and self._is_exact(wanted_MA)
        if exact:
            return Match(parts, tuple(factors.tolist()), 0.0, True)
        example, rounding = self._find_example(wanted_MA), self.field.paid.tolerance
        return Match(parts, tuple(factors.tolist()), off, False, example, rounding)

    def _is_exact(self, wanted_MA: np.ndarray) -> bool:
        """Compare the advantages with all N − 1 others, which decides it for every policy."""
        paid = self.field.paid
        apart = np.abs(self.field.contrast_MA - wanted_MA).max()
        return bool(apart <= 100 * paid.rounding)

    def _find_example(self, wanted_MA: np.ndarray) -> PromptExample:
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
    rest_groups = multisets(num_actions, num - 1)
    rows = []
    for unit_A in np.eye(num_actions):
        has_it = groups.counts_SA @ unit_A > 0
        fewer_SA = np.where(has_it[:, None], groups.counts_SA - unit_A, rest_groups.counts_SA[0])
        rows.append(places(rest_groups, fewer_SA))
    return np.stack(rows, axis=1)
