"""What an estimator does in batches of several groups, and whether it mixes them.

The other groups come from other prompts, whose policies are uniform over all policies. Every group
of N samples is then equally likely, whatever its order, and a group may stand at any place. A
group's mean advantages over the others and the places are a table like the table of an estimator of
one group, so they are compared in the same way.

All batches are tried in every order of their groups and samples, if these are few. Otherwise they
are drawn, and so are the batches of an estimator whose equal calls differ.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field, replace
from itertools import combinations_with_replacement, product
from math import comb, factorial, prod
from typing import Any

import numpy as np

from setrl.core.method import AnyMethod
from setrl.support.wording import count, in_a_row
from setrl.theory.audit.calling import CalledEstimator, cleaned, uses_global_generators
from setrl.theory.audit.compare import FLOOR, Library, Match, share
from setrl.theory.audit.field import Field
from setrl.theory.audit.known import Known
from setrl.theory.audit.paid import Paid, counts, places
from setrl.theory.audit.templates import words
from setrl.theory.tabular import ActionTable

GROUPS = 8  # of a batch
LARGE = 257  # groups of the largest batch
MOST = 10_000  # batches that are all tried
FEW = 300  # batches that are all tried if no size was asked for
LOOKS = 200  # batches that are drawn to see whether groups are mixed
DRAWS = 1_000  # batches that are drawn if there are too many to try all
TIMES = 4  # as many, if equal calls differ
PARTS = 20  # of the draws, whose means show the standard error
SPREAD = 2.093  # standard errors of a 95% interval from 20 parts (Student's t)
UNSURE = 1 / 3  # of the update's length: with so large a standard error it may be 0


@dataclass(frozen=True, eq=False)
class Calls:
    """Batches by the actions of their samples, what each stands for, and what was paid in it."""

    batches_DBN: np.ndarray
    weight_D: np.ndarray
    values_DBN: np.ndarray


@dataclass(frozen=True, eq=False)
class Mixed:
    """A group that is paid otherwise next to other groups.

    Attributes:
        row_N: The actions of its samples.
        values_N: What it is paid; None if the batch fails.
        num_groups: The groups of the batch.
    """

    row_N: np.ndarray
    values_N: np.ndarray | None
    num_groups: int


@dataclass(frozen=True, eq=False)
class Tries:
    """Calls with batches.

    Attributes:
        estimator: The function.
        alone: What it pays groups by themselves.
        asked: B that was asked for, if one was.
        looks: The calls that looked whether groups are mixed: B → all batches, or drawn ones.
        mixed: The first batch in which a group is paid otherwise.
    """

    estimator: CalledEstimator
    alone: Paid
    asked: int | None = None
    looks: dict[int, Calls] = field(default_factory=dict)
    mixed: Mixed | None = None

    def looked(self) -> Tries:
        """Call batches, unless it takes one group; notice a state that only batches have."""
        is_single = not self.estimator.shape.takes_batches
        is_ours = isinstance(self.estimator.function, AnyMethod)
        if is_single or is_ours or not self.estimator.is_steady:
            return self
        for batches_DBN, weight_D in self._list_batches_to_look_at():
            num = batches_DBN.shape[1]
            call = self.estimator.twice if num in self._sizes_to_try else self._pay_batches
            try:
                calls = Calls(batches_DBN, weight_D, call(self.alone.table, batches_DBN))
            except ValueError:
                return replace(self, mixed=Mixed(batches_DBN[0, 0], None, num))
            if num in self._sizes_to_try:
                self.looks[num] = calls
            mixed = self._find_mixing(calls) if self.estimator.is_steady else None
            if mixed is not None or not self.estimator.is_steady:
                self.estimator.habits.update({"mixes"} if mixed else ())
                return replace(self, mixed=mixed)
        return self

    def says(self) -> str:
        """Return which batches were tried, and showed no difference; "" if none were."""
        tried = [words("all batches" if self.has_all(num) else "drawn batches",
                       number=f"{len(self.looks[num].batches_DBN):,}", groups=count(num, "group"))
                 for num in self._sizes_to_try if num in self.looks]  # fmt: skip
        return in_a_row(tried) if tried else ""

    def has_all(self, groups: int) -> bool:
        """Whether all batches of so many groups are tried, in every order."""
        return self._count_looks(groups) <= (MOST if groups == self.asked else FEW)

    @property
    def _sizes_to_try(self) -> Sequence[int]:
        return (2, GROUPS) if self.asked is None else (self.asked,) if self.asked > 1 else ()

    def _count_looks(self, groups: int) -> int:
        return int(self.alone.table.num_actions) ** (self.alone.num_samples * groups)

    def _list_batches_to_look_at(self) -> Iterator[tuple[np.ndarray, np.ndarray]]:
        """Yield all batches of the sizes, or drawn ones; then some of other sizes."""
        for groups in self._sizes_to_try:
            if self.has_all(groups):
                yield self._list_batches(groups)
            else:
                draws = LOOKS if self.asked is None else DRAWS
                yield self._draw_batches(groups, draws), np.ones(draws)
        for groups in {3, 5, 6, 7, 9, 2 * GROUPS, LARGE} - set(self._sizes_to_try):
            yield self._draw_batches(groups, max(40 // groups, 1)), np.ones(1)

    def _find_mixing(self, calls: Calls) -> Mixed | None:
        rows_DBN, values_DBN = calls.batches_DBN, calls.values_DBN
        shape = (-1, rows_DBN.shape[2])
        usual_DBN = self.alone.of_rows(rows_DBN.reshape(shape)).reshape(rows_DBN.shape)
        apart_DB = np.abs(values_DBN - usual_DBN).max(axis=2)
        scale = max(self.alone.scale, np.abs(values_DBN).max())
        if apart_DB.max() <= 4 * self.alone.tolerance * scale:
            return None
        at = np.unravel_index(apart_DB.argmax(), apart_DB.shape)
        return Mixed(rows_DBN[at], values_DBN[at], rows_DBN.shape[1])

    def every(self, groups: int) -> Calls | None:
        """Return all batches in every order; None if they are too many."""
        if groups in self.looks and self.has_all(groups):
            return self.looks[groups]
        return (
            None
            if self._count_looks(groups) > MOST
            else self._call_batches(*self._list_batches(groups))
        )

    def _list_batches(self, groups: int) -> tuple[np.ndarray, np.ndarray]:
        num_actions, num = self.alone.table.num_actions, self.alone.num_samples
        flat_DM = np.array(list(product(range(num_actions), repeat=num * groups)))
        rows_RN = flat_DM.reshape(-1, num)
        chance_R = 1 / self.alone.groups.orderings_S[self._find_places(rows_RN)]
        return flat_DM.reshape(-1, groups, num), chance_R.reshape(-1, groups).prod(axis=1)

    def drawn(self, groups: int, draws: int) -> Calls:
        """Return batches by chance."""
        calls = self.looks.get(groups) if self.estimator.is_steady else None
        if calls is not None and len(calls.weight_D) == draws:
            return calls
        with uses_global_generators():  # so that an audit says the same every time
            return self._call_batches(self._draw_batches(groups, draws), np.ones(draws))

    def _draw_batches(self, groups: int, draws: int) -> np.ndarray:
        rng, sets_SN = np.random.default_rng(draws), self.alone.groups.sets_SK
        return rng.permuted(sets_SN[rng.integers(len(sets_SN), size=(draws, groups))], axis=2)

    def without_order(self, drawn: Calls) -> Calls | None:
        """Return all batches without their order; None if they are too many, or an order matters.

        Whether one matters, drawn batches show, which are sorted and called again.
        """
        sets_SN, groups = self.alone.groups.sets_SK, drawn.batches_DBN.shape[1]
        if comb(len(sets_SN) + groups - 1, groups) > MOST:
            return None
        sample_DBN = np.argsort(drawn.batches_DBN, axis=2)
        rows_DBN = np.take_along_axis(drawn.batches_DBN, sample_DBN, axis=2)
        group_DB1 = np.argsort(self._find_places(rows_DBN.reshape(-1, rows_DBN.shape[2]))
                               .reshape(rows_DBN.shape[:2]), axis=1)[:, :, None]  # fmt: skip
        again = self._call_batches(np.take_along_axis(rows_DBN, group_DB1, axis=1), drawn.weight_D)
        usual_DBN = np.take_along_axis(drawn.values_DBN, sample_DBN, axis=2)
        apart_DBN = again.values_DBN - np.take_along_axis(usual_DBN, group_DB1, axis=1)
        if np.abs(apart_DBN).max() > 4 * self.alone.tolerance * np.abs(again.values_DBN).max():
            return None
        chosen = list(combinations_with_replacement(range(len(sets_SN)), groups))
        times = [factorial(groups) / prod(map(factorial, Counter(row).values())) for row in chosen]
        return self._call_batches(sets_SN[np.array(chosen)], np.array(times))

    def _call_batches(self, batches_DBN: np.ndarray, weight_D: np.ndarray) -> Calls:
        return Calls(batches_DBN, weight_D, self._pay_batches(self.alone.table, batches_DBN))

    def _pay_batches(self, table: ActionTable, batches_DBN: np.ndarray) -> np.ndarray:
        return cleaned(self.estimator.paid(table, batches_DBN))

    def _find_places(self, rows_RN: np.ndarray) -> np.ndarray:
        return places(self.alone.groups, counts(rows_RN, self.alone.table.num_actions))

    def means(self, calls: Calls, parts: int = 1) -> np.ndarray:
        """Return the mean advantage of each action in each group, (parts, S, A)."""
        groups, (num_calls, num, size) = self.alone.groups, calls.batches_DBN.shape
        rows_RN, values_RN = calls.batches_DBN.reshape(-1, size), calls.values_DBN.reshape(-1, size)
        counts_RA = counts(rows_RN, self.alone.table.num_actions)
        at = np.repeat(np.arange(num_calls) * parts // num_calls, num), places(groups, counts_RA)
        weight_R1 = np.repeat(calls.weight_D, num)[:, None]
        totals = np.zeros((parts, *groups.counts_SA.shape))
        times = np.zeros((*totals.shape[:2], 1))
        is_action = rows_RN[:, :, None] == np.arange(counts_RA.shape[1])
        paid_RA = (values_RN[:, :, None] * is_action).sum(axis=1) / np.maximum(counts_RA, 1)
        np.add.at(totals, at, weight_R1 * paid_RA)
        np.add.at(times, at, weight_R1)
        usual_SA = totals.sum(axis=0) / np.maximum(times.sum(axis=0), 1e-300)
        return np.where(times > 0, totals / np.where(times > 0, times, 1), usual_SA)


@dataclass(frozen=True, eq=False)
class Batched:
    """What an estimator does on average in batches of several groups.

    Attributes:
        num_groups: B, the groups of a batch.
        paid: A group's advantages, as means over the other groups and over the places of a batch.
        match: The claim, or the objective whose gradient is nearest; None if the mean update is 0.
        noise: The share of the mean update's length that chance adds; 0 if all batches were tried.
        draws: How many batches were drawn; 0 if all were tried.
        sorted: How many drawn batches were paid the same in another order, if all were tried
            without their order; otherwise 0.
        larger: What batches of `GROUPS` groups show that were drawn, if there were too many to try
            them in every order; None if `num_groups` was asked for.
    """

    num_groups: int
    paid: Paid
    match: Match | None
    noise: float = 0.0
    draws: int = 0
    sorted: int = 0
    larger: Batched | None = None

    @property
    def off(self) -> float:
        """How far the mean update is from the objective, without the part that chance adds."""
        if self.match is None:
            return float("nan")
        return float(np.sqrt(max(self.match.off**2 - self.noise**2, 0.0)))

    @property
    def is_near(self) -> bool:
        """Whether chance explains how far the mean update is from the objective."""
        return self.match is not None and self.match.off <= max(2 * self.noise, self.paid.tolerance)

    @property
    def all_wrong(self) -> float:
        """The mean advantage of the samples of a group in which all have the lowest reward."""
        lowest = int(np.argmin(self.paid.table.rewards))
        row = int(self.paid.groups.counts_SA[:, lowest].argmax())
        return float(self.paid.credit_SA[row, lowest])

    def to_json(self) -> dict[str, Any]:
        """Return plain values."""
        return {
            "groups": self.num_groups,
            "nearest": None if self.match is None else str(self.match),
            "off": self.off,
            "noise": self.noise,
            "draws": self.draws,
            "all_wrong": self.all_wrong,
        }

    def __str__(self) -> str:
        row = self.larger or self
        error = 2 * row.noise + (row.match.off if row.match and row.is_near else 0)
        return words(
            " ".join(filter(None, ("batch", *self._name_kind()))),
            match=self.match,
            off=share(self.off + (self.match.rounded if self.match else 0.0)),
            noise=share(error),
            groups=self.num_groups,
            more=row.num_groups,
            larger=row.match,
            draws=f"{row.draws or row.sorted:,}",
            rare=f"{row.draws // 3:,}",
        )

    def _name_kind(self) -> Iterator[str]:
        yield "fewer" if self.larger else "drawn" if self.draws else "sorted" if self.sorted else ""
        if self.match is None:
            yield "nothing"
        elif self.noise >= UNSURE:
            yield "unsure"
        elif self.draws and self.match.holds and self.noise <= self.paid.tolerance:
            yield "same"
        elif not (self.is_near if self.draws else self.match.is_as_written):
            yield "off"


def batched(tries: Tries, library: Library, parts: Sequence[Known]) -> Batched | None:
    """Return what an estimator that mixes groups, or whose calls differ, does in batches.

    None of other estimators, and if the batches fail. Without a size that was asked for, batches
    have 8 groups. If their order matters, batches of fewer groups answer for them, if drawn ones of
    8 agree.

    Args:
        tries: The calls with batches.
        library: The objectives on the groups.
        parts: Those with which it is compared; only the claim, if there is one.
    """
    num_groups = tries.asked or GROUPS if tries.estimator.shape.takes_batches else 1
    is_steady = tries.estimator.is_steady
    if is_steady and (tries.mixed is None or num_groups == 1):
        return None
    try:
        if not is_steady:
            return _match_in_batches(
                tries, tries.drawn(num_groups, TIMES * DRAWS), library, parts, True
            )
        if (whole := tries.every(num_groups)) is not None:
            return _match_in_batches(tries, whole, library, parts)
        drawn = tries.drawn(num_groups, DRAWS)
        if (whole := tries.without_order(drawn)) is not None:
            return replace(_match_in_batches(tries, whole, library, parts), sorted=DRAWS)
        fewer = None if tries.asked else _match_with_fewer_groups(tries, drawn, library, parts)
        return fewer or _match_in_batches(tries, drawn, library, parts, True)
    except ValueError:  # the law of independent groups says that such batches fail
        return None


def _match_with_fewer_groups(
    tries: Tries, drawn: Calls, library: Library, parts: Sequence[Known]
) -> Batched | None:
    """Return what batches of fewer groups show exactly, if drawn ones agree."""
    tried = (tries.every(num) for num in range(drawn.batches_DBN.shape[1] - 1, 1, -1))
    whole = next((calls for calls in tried if calls is not None), None)
    exact = None if whole is None else _match_in_batches(tries, whole, library, parts)
    if exact is None or exact.match is None or not exact.match.holds:
        return None
    larger = _match_in_batches(tries, drawn, library, exact.match.parts, True)
    return replace(exact, larger=larger) if _agrees_with_larger(exact.match, larger) else None


def _agrees_with_larger(match: Match, larger: Batched) -> bool:
    """Whether chance explains how far drawn batches are from an objective and its factors."""
    other = larger.match
    if other is None or not larger.is_near or len(match.factors) != len(other.factors):
        return False
    apart = np.abs(np.subtract(match.factors, other.factors))
    return bool((apart <= np.array(other.errors) + FLOOR * np.abs(match.factors)).all())


def _match_in_batches(
    tries: Tries,
    calls: Calls,
    library: Library,
    parts: Sequence[Known],
    is_drawn: bool = False,
) -> Batched:
    parts_DSA = tries.means(calls, PARTS if is_drawn else 1)
    largest = float(np.abs(calls.values_DBN).max())
    paid = replace(tries.alone.paying(parts_DSA.mean(axis=0)), largest=largest,
                   tolerance=tries.alone.tolerance)  # fmt: skip
    mean, (num_calls, num, _) = Field(paid, library.field.policies_PA), calls.batches_DBN.shape
    library = library.on(mean, parts)
    if not is_drawn:
        return Batched(num, paid, library.nearest())
    noise, match = _measure_error(mean, parts_DSA), library.nearest()
    if match is None:
        return Batched(num, paid, None, noise, num_calls)
    match = library.match(0) if noise >= UNSURE else match
    return Batched(num, paid, _add_errors(library, match, parts_DSA), noise, num_calls)


def _measure_error(mean: Field, parts_DSA: np.ndarray) -> float:
    """Return the standard error of the mean update, as a share of its length."""
    each_DPA = np.array([mean.of_credit(credit_SA) for credit_SA in parts_DSA])
    error_PA = each_DPA.std(axis=0, ddof=1) / np.sqrt(len(each_DPA))
    return float(np.linalg.norm(error_PA)) / (float(np.linalg.norm(mean.values_PA)) or 1.0)


def _add_errors(library: Library, match: Match, parts_DSA: np.ndarray) -> Match:
    """Return the match with a 95% interval of each factor, from the parts of the draws."""
    rows = library.on(library.field, match.parts).gradients
    fits = [np.linalg.lstsq(rows.T, library.field.of_credit(credit_SA).ravel(), rcond=None)[0]
            for credit_SA in parts_DSA]  # fmt: skip
    errors = SPREAD * np.std(fits, axis=0, ddof=1) / np.sqrt(len(fits))
    return replace(match, errors=tuple(errors.tolist()))
