"""A trainer's recorded advantages: which method gave them, or what they paid in which group."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Iterable, Sequence
from dataclasses import dataclass

import numpy as np

from setrl.core import methods
from setrl.core.method import AnyMethod
from setrl.groups.credit import credit_groups
from setrl.groups.types import Group
from setrl.wording import count

FITS = 1e-3  # of the largest advantage: recorded numbers are often rounded
MOST_GROUPS = 2_000  # that methods are compared on
MOST_REWARDS = 5  # different ones, for a table of groups
SIZES = (2, 3, 4, 8, 16)  # K that are tried


@dataclass(frozen=True, eq=False)
class Recorded:
    """The advantages of a log, as a function of a group's rewards, for `audit`.

    Attributes:
        num_samples: N, the commonest size of a group; other groups are left out.
        rewards: The different rewards.
        paid: How many samples of each reward a group holds → what each reward was paid, a mean.
        groups: How many groups were read.
        spread: The largest difference between the advantages of equal samples of equal groups.
        method: The method of ours that gives these advantages, times `times`; None if no one does.
        times: What the method's advantages are multiplied by.
    """

    num_samples: int
    rewards: tuple[float, ...]
    paid: dict[tuple[int, ...], dict[int, float]]
    groups: int
    spread: float
    method: AnyMethod | None
    times: float

    def __call__(self, rewards: np.ndarray) -> np.ndarray:
        """Return what such a group was paid; NaN where the log has no such group."""
        at = [self.rewards.index(float(reward)) for reward in rewards]
        paid = self.paid.get(_key(at, len(self.rewards)), {})
        numbers = [paid.get(place, np.nan) for place in at]
        return np.array(numbers, dtype=np.float32)  # recorded numbers are rounded

    def sentences(self) -> list[str]:
        """Say what the log holds, and which method gave its advantages."""
        largest = max((abs(v) for paid in self.paid.values() for v in paid.values()), default=0.0)
        size = f"groups of {self.num_samples}"
        if self.method is not None:
            given = f"{self.times:.4g} times " if abs(self.times - 1) > FITS else ""
            return [f"{count(self.groups, 'group')} of {self.num_samples}: the recorded advantages "
                    f"are {given}{self.method.name} with K = {self.method.set_size}."]  # fmt: skip
        lines = [f"No method with its default arguments gives these advantages ({size})."]
        if self.spread > FITS * largest:
            lines.append(
                f"Equal samples of groups with equal rewards differ by up to {self.spread:.3g}: "
                "the advantages depend on more than the group's rewards (labels, lengths, the "
                "batch); below is their mean."
            )
        return lines

    @classmethod
    def of(cls, groups: Iterable[Group]) -> Recorded:
        """Read groups whose samples all have a reward and an advantage.

        Raises:
            ValueError: If there are none, or too many different rewards.
        """
        whole = [group for group in groups if group.samples and all(map(_is_known, group.samples))]
        if not whole:
            raise ValueError("no group has a reward and an advantage for each of its samples")
        size = Counter(map(len, whole)).most_common(1)[0][0]
        kept = [group for group in whole if len(group) == size]
        found = _fitting(kept[:MOST_GROUPS])
        rewards = sorted({float(one.reward or 0) for group in kept for one in group.samples})
        if len(rewards) > MOST_REWARDS and found is None:
            raise ValueError(
                f"the log has {len(rewards)} different rewards, and no method of ours gives its "
                f"advantages; a table of groups can have at most {MOST_REWARDS}"
            )
        paid, spread = _table(kept, rewards)
        method, times = found or (None, 1.0)
        return cls(size, tuple(rewards), paid, len(kept), spread, method, times)


def _is_known(sample: object) -> bool:
    return all(getattr(sample, name) is not None for name in ("reward", "advantage"))


def _key(at: Sequence[int], num: int) -> tuple[int, ...]:
    return tuple(np.bincount(np.asarray(at, dtype=np.intp), minlength=num).tolist())


def _table(
    groups: Sequence[Group], rewards: Sequence[float]
) -> tuple[dict[tuple[int, ...], dict[int, float]], float]:
    """Return the mean advantage by group and reward, and the largest difference within a cell."""
    cells: dict[tuple[int, ...], dict[int, list[float]]] = defaultdict(lambda: defaultdict(list))
    for group in groups:
        at = [rewards.index(float(one.reward or 0)) for one in group.samples]
        for place, one in zip(at, group.samples, strict=True):
            cells[_key(at, len(rewards))][place].append(float(one.advantage or 0))
    every = [values for cell in cells.values() for values in cell.values()]
    paid = {
        key: {place: float(np.mean(values)) for place, values in cell.items()}
        for key, cell in cells.items()
    }
    return paid, max(max(values) - min(values) for values in every)


def _fitting(groups: Sequence[Group]) -> tuple[AnyMethod, float] | None:
    """Return the method that gives the recorded advantages, and the factor between them."""
    recorded = np.array([[one.advantage for one in group.samples] for group in groups], float)
    scale = np.abs(recorded).max()
    for method in _candidates():
        try:
            own = np.asarray(credit_groups(groups, method).values_BN)[:, : recorded.shape[1]]
        except ValueError:  # it needs fields that are not in the log, or larger groups
            continue
        length = (own**2).sum()
        times = float((own * recorded).sum() / length) if length else 0.0
        if times > 0 and np.abs(recorded - times * own).max() <= FITS * scale:
            return method, times
    return None


def _candidates() -> Iterable[AnyMethod]:
    for make in methods.by_name.values():
        for sizes in ({}, *({"set_size": size} for size in SIZES)):
            try:
                yield make(**sizes)
            except (TypeError, ValueError):
                break
