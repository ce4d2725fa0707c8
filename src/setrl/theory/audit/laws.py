"""What an estimator keeps to, and what it pays: one sentence and one answer for each law."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, replace
from itertools import pairwise

import numpy as np

from setrl.support.wording import in_a_row
from setrl.theory.audit.batches import LARGE, Tries
from setrl.theory.audit.calling import CalledEstimator, cleaned, fields
from setrl.theory.audit.paid import Paid, places, sample_rows
from setrl.theory.audit.templates import TEXTS, filled, kind, words
from setrl.theory.tabular import ActionTable


@dataclass(frozen=True)
class Law:
    """Whether an estimator keeps a law.

    Attributes:
        name: The name for `--require`.
        holds: Whether the estimator keeps it; None if this could not be tried.
        says: A sentence about the estimator, with the group that shows it.
    """

    name: str
    holds: bool | None
    says: str


@dataclass(frozen=True, eq=False)
class Case:
    """What the laws look at.

    Attributes:
        estimator: The function.
        paid: Its advantages in every group.
        tries: Its calls with batches.
    """

    estimator: CalledEstimator
    paid: Paid
    tries: Tries

    @property
    def table(self) -> ActionTable:
        """The actions."""
        return self.paid.table

    @property
    def rewards_RN(self) -> np.ndarray:
        """The rewards of the rows."""
        return fields(self.table, self.paid.groups_RN)[0]

    @property
    def labels_RN(self) -> np.ndarray:
        """The labels of the rows; 0 without labels."""
        return fields(self.table, self.paid.groups_RN)[1]

    def word(self, binary: str, graded: str) -> str:
        """Choose words: samples are right or wrong only if there are two rewards."""
        return binary if np.unique(np.asarray(self.table.rewards)).size == 2 else graded

    def is_zero(self, values: np.ndarray | float, times: int = 4) -> bool:
        """Whether numbers are 0 except for rounding."""
        return bool(np.abs(values).max(initial=0.0) <= times * self.paid.rounding)

    def again(
        self, change: Callable[[np.ndarray, np.ndarray], tuple[np.ndarray, np.ndarray]]
    ) -> np.ndarray | None:
        """Return what it pays in the rows after a change, `cleaned`; None if it cannot take it."""
        rows, habits = sample_rows(len(self.paid.groups_RN)), set(self.estimator.habits)
        try:
            arguments = change(self.rewards_RN[rows], self.labels_RN[rows])
            return cleaned(self.estimator.advantages(*arguments))
        except ValueError:
            return None
        finally:  # habits are about the groups of the audit
            self.estimator.habits.intersection_update(habits)

    def paid_to(self, row: int) -> str:
        """Write what a row was paid."""
        return self.written(self.paid.groups_RN[row], self.paid.values_RN[row])

    def written(self, group_N: np.ndarray, values_N: np.ndarray) -> str:
        """Write advantages of a group; in a long one, of the first sample of each kind."""
        if self.paid.num_samples > LONG:
            _, first = np.unique(group_N, return_index=True)
            values_N = values_N[first]
        return _write_in_brackets(values_N)

    def _name_kinds(self, group_N: np.ndarray) -> list[str]:
        actions_A, counts_A = np.unique(group_N, return_counts=True)
        names = [kind(self.table, action) for action in actions_A]
        return [f"{times} × {name}" for times, name in zip(counts_A, names, strict=True)]

    @property
    def first_values(self) -> np.ndarray:
        """What it paid in the rows that `again` repeats."""
        return self.paid.values_RN[sample_rows(len(self.paid.groups_RN))]

    def show(self, row: int) -> str:
        """Write a row of groups."""
        return self.shown(self.paid.groups_RN[row])

    def shown(self, group_N: np.ndarray) -> str:
        """Write a group by its samples; a long one by the kinds of its samples."""
        if self.paid.num_samples > LONG:
            return ", ".join(self._name_kinds(group_N))
        rewards_N, labels_N = fields(self.table, group_N)
        rewards = ", ".join(f"{reward:g}" for reward in rewards_N)
        if self.table.strategies is None:
            return words("rewards", rewards=rewards)
        labels = ", ".join(map(str, labels_N))
        return words("rewards and labels", rewards=rewards, labels=labels)


LONG = 8  # samples of a group that are written one by one
# A floor in a divisor shows only if rewards are far smaller than the audited ones.
SCALES = {"3": 3.0, "1/3": 1 / 3, "1,000": 1e3, "1/1,000": 1e-3}
NEAR = 3.0, 1 / 3  # scales at which an estimator of any scale pays the same, or in proportion
SHIFTS = {"1": 1.0, "−1": -1.0, "1,000": 1e3}
SAME = 1e-2  # of the largest advantage: what 1e-6 in a divisor may change in small rewards
RENAMED = 7, 5  # a label c is also called 7c + 5, which is the number of no label
UNSTEADY = "could not be decided, because equal calls give other numbers"
OF_ANY_CALLS = "finite", "leaves-input", "deterministic", "survives-missing"
OF_ONE_CALL = "zero-sum", "silent-if-all-wrong", "silent-if-all-right", "no-pay-for-wrong"


def laws(estimator: CalledEstimator, paid: Paid, tries: Tries) -> tuple[Law, ...]:
    """Try every law, in the order in which sentences name them."""
    case = Case(estimator, paid, tries)
    results = tuple(law(case) for law in LAWS)
    return results if estimator.is_steady else tuple(map(_withdraw_law, results))


def _withdraw_law(law: Law) -> Law:
    """Return what a law can say if equal calls give other numbers: what a single call shows."""
    shown = law.name in OF_ANY_CALLS or (law.name in OF_ONE_CALL and law.holds is False)
    return law if shown else Law(law.name, None, UNSTEADY)


def _make_law(name: str, holds: bool | None, variant: str = "", **parts: str) -> Law:
    """Return a law with its sentence of `sentences.json`."""
    key = {True: name, False: f"not {name}", None: f"unknown {name}"}[holds]
    template = TEXTS["laws"][f"{variant} {name}" if variant else key]
    return Law(name, holds, filled(template, parts))


def finite(case: Case) -> Law:
    """Whether every group gets numbers."""
    if "missing" not in case.estimator.habits:
        return _make_law("finite", True)
    rows, lost = sample_rows(len(case.paid.groups_RN)), np.zeros(0, dtype=int)
    with suppress(ValueError):  # of a function that now fails
        values = case.estimator.advantages(case.rewards_RN[rows], case.labels_RN[rows])
        lost = np.flatnonzero(~np.isfinite(values).all(axis=1))
    which = f", such as {case.show(int(rows[lost[0]]))}" if lost.size else ""
    return _make_law("finite", False, which=which)


def leaves_input(case: Case) -> Law:
    """Whether the arrays that it was given are unchanged."""
    return _make_law("leaves-input", "edits" not in case.estimator.habits)


def deterministic(case: Case) -> Law:
    """Whether equal calls give equal numbers."""
    habits = case.estimator.habits
    if not habits & {"unsteady", "draws"}:
        return _make_law("deterministic", True)
    variant = "seeded" if "unsteady" not in habits else "random" if "draws" in habits else ""
    return _make_law("deterministic", False, variant)


def permutation_invariant(case: Case) -> Law:
    """Whether the order of a group's samples matters."""
    paid = case.paid
    if paid.is_symmetric:
        return _make_law("permutation-invariant", True, "" if paid.all_orders else "sampled")
    mean_RN = np.take_along_axis(
        paid.credit_SA[places(paid.groups, paid.counts_RA)], paid.groups_RN, axis=1
    )
    row = int(np.abs(paid.values_RN - mean_RN).max(axis=1).argmax())
    return _make_law("permutation-invariant", False, group=case.show(row), paid=case.paid_to(row))


def label_invariant(case: Case) -> Law:
    """Whether the names of labels matter."""
    if case.table.strategies is None:
        return Law("label-invariant", None, "was not given labels")
    used = np.unique(case.labels_RN)
    swaps = [{a: b, b: a} for a, b in pairwise(used.tolist())]
    factor, offset = RENAMED
    for names in (*swaps, {label: factor * label + offset for label in used.tolist()}):
        new = np.array([names.get(label, label) for label in used.tolist()])
        again = case.again(lambda rewards, labels: (rewards, new[np.searchsorted(used, labels)]))  # noqa: B023
        if again is None:
            return _make_law("label-invariant", None, labels=", ".join(map(str, new)))
        if not case.is_zero(again - case.first_values):
            row = int(np.abs(again - case.first_values).max(axis=1).argmax())
            group = case.show(int(sample_rows(len(case.paid.groups_RN))[row]))
            renamed = ", ".join(f"{label} is called {alias}" for label, alias in names.items())
            return _make_law("label-invariant", False, group=group, renamed=renamed)
    return _make_law("label-invariant", True)


def independent_groups(case: Case) -> Law:
    """Whether a group is paid the same next to other groups of a batch, also next to itself."""
    if not case.estimator.shape.takes_batches:
        return _make_law("independent-groups", True, "single")
    mixed = case.tries.mixed
    if mixed is None:
        tried = case.tries.says()
        return _make_law("independent-groups", True, "" if tried else "ours", tried=tried)
    number = str(mixed.num_groups)
    if mixed.values_N is None:
        return _make_law("independent-groups", False, "other", number=number)
    own_N = case.paid.of_rows(mixed.row_N[None])[0]
    shown = {
        "paid": case.written(mixed.row_N, own_N),
        "other": case.written(mixed.row_N, mixed.values_N),
    }
    return _make_law(
        "independent-groups", False, group=case.shown(mixed.row_N), **shown, number=number
    )


def rows_in_any_order(case: Case) -> Law:
    """Whether it reads which group a row is in, where the trainer says it."""
    name, mixed = "rows-in-any-order", case.estimator.shape.mixed
    if mixed is None:
        return Law(name, None, "is not told which group a row is in")
    rows = sample_rows(len(case.paid.groups_RN), LARGE)
    arguments = case.rewards_RN[rows], case.labels_RN[rows]
    other = replace(case.estimator, shape=replace(case.estimator.shape, call=mixed))
    try:
        apart = cleaned(other.of_batch(*arguments)) - cleaned(case.estimator.of_batch(*arguments))
    except ValueError:
        return _make_law(name, False, "other")
    return _make_law(name, case.is_zero(apart))


def zero_sum(case: Case) -> Law:
    """Whether the advantages of every group sum to 0."""
    sums_R = case.paid.values_RN.sum(axis=1)
    row = int(np.abs(sums_R).argmax())
    holds = case.is_zero(sums_R, 4 * case.paid.num_samples)
    return _make_law("zero-sum", holds, group=case.show(row), sum=f"{sums_R[row]:.3g}")


def _check_silence(case: Case, name: str, reward: float) -> Law:
    end = name.removeprefix("silent-if-").replace("-", " ")
    alike_R = (case.rewards_RN == reward).all(axis=1)
    values_RN = np.abs(case.paid.values_RN) * alike_R[:, None]
    row = int(values_RN.max(axis=1).argmax())
    shown = {"all": words(case.word(end, "all"), reward=f"{reward:g}"), "group": case.show(row)}
    return _make_law(name, case.is_zero(values_RN), paid=case.paid_to(row), **shown)


def silent_if_all_wrong(case: Case) -> Law:
    """Whether groups without a right sample get 0."""
    return _check_silence(case, "silent-if-all-wrong", case.rewards_RN.min())


def silent_if_all_right(case: Case) -> Law:
    """Whether groups without a wrong sample get 0."""
    return _check_silence(case, "silent-if-all-right", case.rewards_RN.max())


def no_pay_for_wrong(case: Case) -> Law:
    """Whether no sample with the lowest reward gets a positive advantage."""
    wrong_RN = case.rewards_RN == case.rewards_RN.min()
    values_RN = np.where(wrong_RN, case.paid.values_RN, -np.inf)
    row, column = map(int, np.unravel_index(values_RN.argmax(), values_RN.shape))
    sample = words(case.word("wrong", "lowest"))
    if values_RN[row, column] <= 4 * case.paid.rounding:
        return _make_law("no-pay-for-wrong", True, sample=sample)
    label = case.labels_RN[row, column]
    if case.table.strategies is not None and (case.labels_RN[row] == label).sum() == 1:
        sample = words("new", sample=sample)
    shown = {"group": case.show(row), "paid": case.paid_to(row)}
    return _make_law(
        "no-pay-for-wrong", False, sample=sample, most=f"{values_RN[row, column]:.3g}", **shown
    )


def any_scale(case: Case) -> Law:
    """Whether rewards that are larger or smaller are paid the same, or in proportion."""
    repeats = [case.again(lambda rewards, labels: (times * rewards, labels)) for times in NEAR]  # noqa: B023
    usable = [values for values in repeats if values is not None]
    if len(usable) < len(NEAR):
        return _make_law("any-scale", None)
    first = case.first_values
    same = all(np.abs(values - first).max() <= SAME * case.paid.scale for values in usable)
    linear = all(
        case.is_zero(values - times * first, 12) for values, times in zip(usable, NEAR, strict=True)
    )
    return _make_law("any-scale", same or linear)


def scale_free(case: Case) -> Law:
    """Whether larger and smaller rewards give the same advantages."""

    def change(times: float, again: np.ndarray | None) -> str | None:
        if again is None or np.abs(again - case.first_values).max() <= SAME * case.paid.scale:
            return None
        return "linear" if case.is_zero(again - times * case.first_values, 12) else "other"

    return _check_changes(
        case, "scale-free", SCALES, lambda rewards, times: rewards * times, change
    )


def shift_free(case: Case) -> Law:
    """Whether a constant that is added to all rewards changes nothing."""

    def change(_: float, again: np.ndarray | None) -> str | None:
        return None if again is None or case.is_zero(again - case.first_values, 12) else "other"

    return _check_changes(
        case, "shift-free", SHIFTS, lambda rewards, shift: rewards + shift, change
    )


def _check_changes(
    case: Case,
    name: str,
    numbers: Mapping[str, float],
    apply: Callable[[np.ndarray, float], np.ndarray],
    change: Callable[[float, np.ndarray | None], str | None],
) -> Law:
    """Return the law that no number changes the advantages; it names the first that does."""
    unchanged: list[str] = []
    for text, number in numbers.items():
        again = case.again(lambda rewards, labels: (apply(rewards, number), labels))  # noqa: B023
        if how := change(number, again):
            return _make_law(
                name, False, "" if unchanged else how, kept=_join_by_or(unchanged), number=text
            )
        unchanged += [text] if again is not None else []
    return _make_law(name, True if unchanged else None, kept=_join_by_or(unchanged))


def _join_by_or(names: Sequence[str]) -> str:
    return in_a_row(names).replace(" and ", " or ") if names else ""


def takes_integers(case: Case) -> Law:
    """Whether rewards of integers give the advantages that floats give."""
    if not (case.rewards_RN % 1 == 0).all():
        return Law("takes-integers", None, "was given rewards that are not integers")
    again = case.again(lambda rewards, labels: (rewards.astype(np.int64), labels))
    if again is None:
        return _make_law("takes-integers", False, "other")
    return _make_law("takes-integers", case.is_zero(again - case.first_values))


def missing_rewards(case: Case) -> Law:
    """Whether the other samples keep finite advantages if one reward is NaN."""
    half = np.arange(case.paid.num_samples)[None] % 2
    rewards = np.where(np.arange(case.paid.num_samples) == 0, np.nan, half)
    habits = set(case.estimator.habits)
    try:
        values = case.estimator.advantages(rewards, half)[0]
    except ValueError:
        return _make_law("survives-missing", None)
    finally:
        case.estimator.habits.intersection_update(habits)
    return _make_law("survives-missing", bool(np.isfinite(values[1:]).all()))


def _write_in_brackets(values: np.ndarray) -> str:
    """Write advantages with three digits of the largest one."""
    largest = float(np.abs(cleaned(values)).max(initial=0.0))
    digits = 3 if largest == 0 else max(3, 2 - int(np.floor(np.log10(largest))))
    return "(" + ", ".join(f"{round(float(value), digits) + 0.0:g}" for value in values) + ")"


LAWS: tuple[Callable[[Case], Law], ...] = (
    finite, leaves_input, deterministic, permutation_invariant, label_invariant, independent_groups,
    rows_in_any_order, zero_sum, silent_if_all_wrong, silent_if_all_right, no_pay_for_wrong,
    any_scale, scale_free, shift_free, takes_integers, missing_rewards,
)  # fmt: skip
