"""What an estimator keeps to, and what it pays: one sentence and one answer for each law."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from contextlib import suppress
from dataclasses import dataclass, replace
from itertools import pairwise

import numpy as np

from setrl.support.wording import in_a_row
from setrl.theory.audit.calling import Estimator, cleaned
from setrl.theory.audit.paid import Paid, places, sample_rows
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
    """

    estimator: Estimator
    paid: Paid

    @property
    def table(self) -> ActionTable:
        """The actions."""
        return self.paid.table

    @property
    def rewards_RN(self) -> np.ndarray:
        """The rewards of the rows."""
        return np.asarray(self.table.rewards, dtype=np.float64)[self.paid.groups_RN]

    @property
    def labels_RN(self) -> np.ndarray:
        """The labels of the rows; 0 without labels."""
        labels = self.table.clusters
        known = np.zeros(self.table.num_actions, dtype=np.int64) if labels is None else labels
        return np.asarray(known)[self.paid.groups_RN]

    def word(self, binary: str, graded: str) -> str:
        """Choose words: samples are right or wrong only if there are two rewards."""
        return binary if np.unique(np.asarray(self.table.rewards)).size == 2 else graded

    def is_zero(self, values: np.ndarray | float, times: int = 4) -> bool:
        """Whether numbers are 0 but for rounding."""
        return bool(np.abs(values).max(initial=0.0) <= times * self.paid.rounding)

    def again(
        self, change: Callable[[np.ndarray, np.ndarray], tuple[np.ndarray, np.ndarray]]
    ) -> np.ndarray | None:
        """Return what it pays in the rows after a change, `cleaned`; None if it cannot take it."""
        rows, habits = sample_rows(len(self.paid.groups_RN)), set(self.estimator.habits)
        try:
            given = change(self.rewards_RN[rows], self.labels_RN[rows])
            return cleaned(self.estimator.advantages(*given))
        except ValueError:
            return None
        finally:  # habits are about the groups of the audit
            self.estimator.habits.intersection_update(habits)

    def paid_to(self, row: int) -> str:
        """Write what a row was paid; in a long one, what the first sample of each kind was paid."""
        return self.written(row, self.paid.values_RN[row])

    def written(self, row: int, values_N: np.ndarray) -> str:
        """Write advantages of a row; in a long one, of the first sample of each kind."""
        if self.paid.num_samples > LONG:
            _, first = np.unique(self.paid.groups_RN[row], return_index=True)
            values_N = values_N[first]
        return _numbers(values_N)

    def _kinds(self, row: int) -> list[str]:
        actions_A, counts_A = np.unique(self.paid.groups_RN[row], return_counts=True)
        rewards, labels = np.asarray(self.table.rewards), self.table.clusters
        names = [f"reward {rewards[action]:g}" for action in actions_A]
        if labels is not None:
            names = [
                f"{name} label {np.asarray(labels)[action]}"
                for name, action in zip(names, actions_A, strict=True)
            ]
        return [f"{times} × {name}" for times, name in zip(counts_A, names, strict=True)]

    @property
    def first_values(self) -> np.ndarray:
        """What it paid in the rows that `again` repeats."""
        return self.paid.values_RN[sample_rows(len(self.paid.groups_RN))]

    def show(self, row: int) -> str:
        """Write a row of groups; a long one by the kinds of its samples."""
        if self.paid.num_samples > LONG:
            return ", ".join(self._kinds(row))
        rewards = ", ".join(f"{one:g}" for one in self.rewards_RN[row])
        if self.table.clusters is None:
            return f"rewards ({rewards})"
        return f"rewards ({rewards}), labels ({', '.join(map(str, self.labels_RN[row]))})"


LONG = 8  # samples of a group that are written one by one
PAIRS = 40  # batches of two groups that are tried
LARGE = 256  # groups of a batch
# A floor in a divisor shows only if rewards are far smaller than the audited ones.
SCALES = {"3": 3.0, "1/3": 1 / 3, "1,000": 1e3, "1/1,000": 1e-3}
SHIFTS = {"1": 1.0, "−1": -1.0, "1,000": 1e3}
SAME = 1e-2  # of the largest advantage: what 1e-6 in a divisor may change in small rewards
RENAMED = 7, 5  # a label c is also called 7c + 5, which is the number of no label


def laws(estimator: Estimator, paid: Paid) -> tuple[Law, ...]:
    """Try every law, in the order in which sentences name them."""
    case = Case(estimator, paid)
    found = tuple(law(case) for law in LAWS)
    return found if estimator.is_steady else tuple(map(_of_unsteady, found))


def _of_unsteady(law: Law) -> Law:
    """Return what a law can say if equal calls give other numbers: what a single call shows."""
    shown = law.name in OF_ANY_CALLS or (law.name in OF_ONE_CALL and law.holds is False)
    says = "could not be decided, because equal calls give other numbers"
    return law if shown else Law(law.name, None, says)


def finite(case: Case) -> Law:
    """Whether every group gets numbers."""
    if "missing" not in case.estimator.habits:
        return Law("finite", True, "returns finite numbers in every group")
    rows, lost = sample_rows(len(case.paid.groups_RN)), np.zeros(0, dtype=int)
    with suppress(ValueError):  # of a function that now fails
        values = case.estimator.advantages(case.rewards_RN[rows], case.labels_RN[rows])
        lost = np.flatnonzero(~np.isfinite(values).all(axis=1))
    which = f", such as {case.show(int(rows[lost[0]]))}" if lost.size else ""
    says = f"returns NaN or infinite numbers in some groups{which}; they count as 0 below"
    return Law("finite", False, says)


def leaves_input(case: Case) -> Law:
    """Whether the arrays that it was given are unchanged."""
    edits = "edits" in case.estimator.habits
    says = "changes its input in place" if edits else "leaves its input as it is"
    return Law("leaves-input", not edits, says)


def deterministic(case: Case) -> Law:
    """Whether equal calls give equal numbers."""
    habits, name = case.estimator.habits, "deterministic"
    if "unsteady" in habits:
        how = (
            "draws from a global random generator"
            if "draws" in habits
            else ("is random, keeps a state, or depends on one")
        )
        return Law(name, False, f"gives other numbers when it is called again: it {how}")
    if "draws" in habits:
        return Law(name, False, "draws from a global random generator, or sets its seed")
    return Law(name, True, "gives the same numbers every time")


def permutation_invariant(case: Case) -> Law:
    """Whether the order of a group's samples matters."""
    paid = case.paid
    if paid.is_symmetric:
        tried = "in every order" if paid.all_orders else "in the orders that were tried"
        return Law("permutation-invariant", True, f"pays a sample the same {tried} of its group")
    usual = np.take_along_axis(
        paid.credit_SA[places(paid.groups, paid.counts_RA)], paid.groups_RN, axis=1
    )
    row = int(np.abs(paid.values_RN - usual).max(axis=1).argmax())
    says = f"depends on the order of the samples: {case.show(row)} get {case.paid_to(row)}"
    return Law("permutation-invariant", False, says)


def label_invariant(case: Case) -> Law:
    """Whether the names of labels matter."""
    if case.table.clusters is None:
        return Law("label-invariant", None, "was not given labels")
    name, used = "label-invariant", np.unique(case.labels_RN)
    swaps = [{a: b, b: a} for a, b in pairwise(used.tolist())]
    times, more = RENAMED
    for names in (*swaps, {label: times * label + more for label in used.tolist()}):
        new = np.array([names.get(label, label) for label in used.tolist()])
        again = case.again(lambda rewards, labels: (rewards, new[np.searchsorted(used, labels)]))  # noqa: B023
        if again is None:
            return Law(name, None, f"fails if its labels are {', '.join(map(str, new))}")
        if not case.is_zero(again - case.first_values):
            row = int(np.abs(again - case.first_values).max(axis=1).argmax())
            row = int(sample_rows(len(case.paid.groups_RN))[row])
            renamed = ", ".join(f"{old} is called {now}" for old, now in names.items())
            says = (
                f"depends on the names of labels: it pays {case.show(row)} otherwise if {renamed}"
            )
            return Law(name, False, says)
    return Law(name, True, "does not care how strategies are named")


def independent_groups(case: Case) -> Law:
    """Whether a group is paid the same next to other groups of a batch, also next to itself."""
    name = "independent-groups"
    if not case.estimator.shape.takes_batches:
        return Law(name, True, "takes one group at a time")
    rows = sample_rows(len(case.paid.groups_RN))
    for batch in _batches(len(rows)):
        chosen = rows[batch]
        try:
            together = case.estimator.of_batch(case.rewards_RN[chosen], case.labels_RN[chosen])
        except ValueError:
            return Law(name, False, f"fails in a batch of {len(batch)} groups")
        difference = np.abs(cleaned(together) - case.paid.values_RN[chosen])
        if case.is_zero(difference):
            continue
        at = int(difference.max(axis=1).argmax())
        row = int(chosen[at])
        own, other = case.paid_to(row), case.written(row, together[at])
        says = f"mixes the groups of a batch: {case.show(row)} get {own} by themselves, {other}"
        return Law(name, False, f"{says} in a batch of {len(batch)} groups")
    if "mixes" in case.estimator.habits:
        return Law(name, False, "mixes the groups of a batch")
    return Law(name, True, "pays a group the same in any batch")


def rows_in_any_order(case: Case) -> Law:
    """Whether it reads which group a row is in, where the trainer says it."""
    name, mixed = "rows-in-any-order", case.estimator.shape.mixed
    if mixed is None:
        return Law(name, None, "is not told which group a row is in")
    rows = sample_rows(len(case.paid.groups_RN), LARGE)
    given = case.rewards_RN[rows], case.labels_RN[rows]
    other = replace(case.estimator, shape=replace(case.estimator.shape, call=mixed))
    try:
        apart = cleaned(other.of_batch(*given)) - cleaned(case.estimator.of_batch(*given))
    except ValueError:
        return Law(name, False, "fails if the rows of the groups are not one after the other")
    if case.is_zero(apart):
        return Law(name, True, "pays the same if the rows of a batch are in another order")
    says = "takes N rows after one another for a group, although an argument names the groups"
    return Law(name, False, says)


def _batches(num_rows: int) -> Iterator[list[int]]:
    """Yield batches of groups: all, then many with each group several times, then pairs."""
    every = list(range(num_rows))
    yield every
    yield every[::-1] * (LARGE // num_rows + 1)
    for row in sample_rows(num_rows)[:: max(num_rows // PAIRS, 1)].tolist():
        yield [row, (row + num_rows // 2 + 1) % num_rows]


def zero_sum(case: Case) -> Law:
    """Whether the advantages of every group sum to 0."""
    sums_R = case.paid.values_RN.sum(axis=1)
    if case.is_zero(sums_R, 4 * case.paid.num_samples):
        return Law("zero-sum", True, "sums to 0 in every group")
    row = int(np.abs(sums_R).argmax())
    return Law("zero-sum", False, f"is not centred: {case.show(row)} sum to {sums_R[row]:.3g}")


def _silent(case: Case, name: str, reward: float, end: str) -> Law:
    what = case.word(f"all {end}", f"all of the reward {reward:g}")
    alike_R = (case.rewards_RN == reward).all(axis=1)
    values_RN = np.abs(case.paid.values_RN) * alike_R[:, None]
    if case.is_zero(values_RN):
        return Law(name, True, f"pays nothing in groups that are {what}")
    row = int(values_RN.max(axis=1).argmax())
    paid = case.paid_to(row)
    return Law(name, False, f"pays in groups that are {what}: {case.show(row)} get {paid}")


def silent_if_all_wrong(case: Case) -> Law:
    """Whether groups without a right sample get 0."""
    return _silent(case, "silent-if-all-wrong", case.rewards_RN.min(), "wrong")


def silent_if_all_right(case: Case) -> Law:
    """Whether groups without a wrong sample get 0."""
    return _silent(case, "silent-if-all-right", case.rewards_RN.max(), "right")


def no_pay_for_wrong(case: Case) -> Law:
    """Whether no sample with the lowest reward gets a positive advantage."""
    wrong_RN = case.rewards_RN == case.rewards_RN.min()
    values_RN = np.where(wrong_RN, case.paid.values_RN, -np.inf)
    row, column = map(int, np.unravel_index(values_RN.argmax(), values_RN.shape))
    if values_RN[row, column] <= 4 * case.paid.rounding:
        what = case.word("no wrong sample", "no sample of the lowest reward")
        return Law("no-pay-for-wrong", True, f"pays {what} more than 0")
    label = case.labels_RN[row, column]
    is_new = case.table.clusters is not None and (case.labels_RN[row] == label).sum() == 1
    kind = case.word("wrong sample", "sample of the lowest reward")
    kind += " whose strategy is new" if is_new else ""
    says = f"pays a {kind} {values_RN[row, column]:.3g}: {case.show(row)} get "
    return Law("no-pay-for-wrong", False, says + case.paid_to(row))


def scale_free(case: Case) -> Law:
    """Whether larger and smaller rewards give the same advantages."""
    name, kept = "scale-free", list[str]()
    for written, times in SCALES.items():
        again = case.again(lambda rewards, labels: (times * rewards, labels))  # noqa: B023
        if again is None:
            continue
        if np.abs(again - case.first_values).max() > SAME * case.paid.scale:
            if kept:
                return Law(name, False, f"{_scaled(*kept)}, but not by {written}")
            linear = case.is_zero(again - times * case.first_values, 12)
            how = f"pays {written} times as much" if linear else "changes in its own way"
            return Law(name, False, f"{how} if all rewards are multiplied by {written}")
        kept.append(written)
    if not kept:
        return Law(name, None, "does not take rewards on another scale")
    return Law(name, True, _scaled(*kept))


def _scaled(*times: str) -> str:
    return f"pays the same if all rewards are multiplied by {_or(times)}"


def shift_free(case: Case) -> Law:
    """Whether a constant that is added to all rewards changes nothing."""
    name, kept = "shift-free", list[str]()
    for written, shift in SHIFTS.items():
        again = case.again(lambda rewards, labels: (rewards + shift, labels))  # noqa: B023
        if again is None:
            continue
        if not case.is_zero(again - case.first_values, 12):
            if kept:
                return Law(name, False, f"{_shifted(*kept)}, but not if {written} is")
            return Law(name, False, f"pays otherwise if {written} is added to all rewards")
        kept.append(written)
    if not kept:
        return Law(name, None, "does not take rewards with a constant added")
    return Law(name, True, _shifted(*kept))


def _shifted(*shifts: str) -> str:
    return f"pays the same if {_or(shifts)} is added to all rewards"


def _or(names: Sequence[str]) -> str:
    return in_a_row(names).replace(" and ", " or ")


def takes_integers(case: Case) -> Law:
    """Whether rewards of integers give the advantages that floats give."""
    name, whole = "takes-integers", (case.rewards_RN % 1 == 0).all()
    if not whole:
        return Law(name, None, "was given rewards that are not integers")
    again = case.again(lambda rewards, labels: (rewards.astype(np.int64), labels))
    if again is None:
        return Law(name, False, "fails if rewards are integers")
    same = case.is_zero(again - case.first_values)
    says = "gives the same numbers" if same else "gives other numbers"
    return Law(name, same, f"{says} if rewards are integers")


def missing_rewards(case: Case) -> Law:
    """Whether the other samples keep finite advantages if one reward is NaN."""
    name = "survives-missing"
    labels = np.arange(case.paid.num_samples)[None] % 2
    rewards = (np.arange(case.paid.num_samples)[None] % 2) * 1.0
    rewards[0, 0] = np.nan
    habits = set(case.estimator.habits)
    try:
        values = case.estimator.advantages(rewards, labels)[0]
    except ValueError:
        return Law(name, None, "refuses a missing reward (NaN)")
    finally:
        case.estimator.habits.intersection_update(habits)
    if np.isfinite(values[1:]).all():
        return Law(name, True, "leaves the other samples finite advantages if a reward is NaN")
    return Law(name, False, "gives the whole group NaN if one reward is NaN")


def _numbers(values: np.ndarray) -> str:
    """Write advantages with three digits of the largest one."""
    largest = float(np.abs(cleaned(values)).max(initial=0.0))
    digits = 3 if largest == 0 else max(3, 2 - int(np.floor(np.log10(largest))))
    return "(" + ", ".join(f"{round(float(one), digits) + 0.0:g}" for one in values) + ")"


OF_ANY_CALLS = "finite", "leaves-input", "deterministic", "survives-missing"
OF_ONE_CALL = "zero-sum", "silent-if-all-wrong", "silent-if-all-right", "no-pay-for-wrong"


LAWS: tuple[Callable[[Case], Law], ...] = (
    finite,
    leaves_input,
    deterministic,
    permutation_invariant,
    label_invariant,
    independent_groups,
    rows_in_any_order,
    zero_sum,
    silent_if_all_wrong,
    silent_if_all_right,
    no_pay_for_wrong,
    scale_free,
    shift_free,
    takes_integers,
    missing_rewards,
)
