"""A trainer's recorded advantages: which method gave them, or what they paid in which group."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from itertools import combinations_with_replacement, islice

import numpy as np

from setrl.core import methods
from setrl.core.method import AnyMethod
from setrl.samples.types import Group
from setrl.support.wording import count, first_of, in_a_row
from setrl.train.gathering.credit import credit_groups

FITS = 1e-3  # of the largest advantage: recorded numbers are often rounded
MOST_GROUPS = 2_000  # that methods are compared on
MOST_REWARDS = 5  # different ones, for a table of groups
SIZES = (2, 3, 4, 8, 16)  # K that are tried
MANY = 200  # groups on which methods that fit a log are compared


@dataclass(frozen=True, eq=False)
class Recorded:
    """The advantages of a log, as a function of a group's rewards, for `audit`.

    Attributes:
        num_samples: N, the commonest size of a group; other groups are left out.
        rewards: The different rewards.
        paid: How many samples of each reward a group holds → what each reward was paid, a mean.
        groups: How many groups were read.
        unread: Why groups were not read → how many.
        spread: The largest difference between the advantages of equal samples of equal groups.
        fits: The methods of ours that give these advantages, and what they are multiplied by; the
            factors nearest to 1 first.
        alike: Whether all of them give proportional advantages in all groups.
    """

    num_samples: int
    rewards: tuple[float, ...]
    paid: dict[tuple[int, ...], dict[int, float]]
    groups: int
    unread: dict[str, int]
    spread: float
    fits: tuple[tuple[AnyMethod, float], ...]
    alike: bool

    @property
    def method(self) -> AnyMethod | None:
        """The method that gives these advantages, with the factor nearest to 1; or None."""
        return self.fits[0][0] if self.fits else None

    @property
    def audited(self) -> AnyMethod | Recorded:
        """The method, if the log tells it from others; otherwise what the log's groups got."""
        is_sure = self.alike or len(self.rewards) > MOST_REWARDS
        return self.method if self.method is not None and is_sure else self

    @property
    def lacks(self) -> tuple[float, ...] | None:
        """The rewards of a group that the log does not have; None if it has every group."""
        sets = combinations_with_replacement(range(len(self.rewards)), self.num_samples)
        for at in islice(sets, MOST_GROUPS):
            if _key(at, len(self.rewards)) not in self.paid:
                return tuple(self.rewards[place] for place in reversed(at))
        return None

    def __call__(self, rewards: np.ndarray) -> np.ndarray:
        """Return what such a group was paid; NaN where the log has no such group."""
        at = [self.rewards.index(float(reward)) for reward in rewards]
        paid = self.paid.get(_key(at, len(self.rewards)), {})
        numbers = [paid.get(place, np.nan) for place in at]
        return np.array(numbers, dtype=np.float32)  # recorded numbers are rounded

    def sentences(self) -> list[str]:
        """Say what the log holds, and which method gave its advantages."""
        return [*self._unread(), *self._found()]

    def _unread(self) -> list[str]:
        left = sum(self.unread.values())
        if not left:
            return []
        why = in_a_row([f"{number:,} {reason}" for reason, number in self.unread.items()])
        every = count(self.groups + left, "group")
        return [f"{self.groups:,} of {every} were checked; the others were not: {why}."]

    def _found(self) -> list[str]:
        largest = max((abs(v) for paid in self.paid.values() for v in paid.values()), default=0.0)
        size = f"groups of {self.num_samples}"
        if self.fits:
            named = [_name(*fit) for fit in self.fits]
            line = f"{count(self.groups, 'group')} of {self.num_samples}: the recorded advantages "
            few = f" in the first {MOST_GROUPS:,}" if self.groups > MOST_GROUPS else ""
            line += f"are {named[0]}{few}."
            if not self.alike:
                line += f" The log has no groups that tell it from {first_of(named[1:])}."
            return [line]
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
        """Read groups of the commonest size whose samples all have a reward and an advantage.

        Raises:
            ValueError: If there are none, or too many different rewards.
        """
        every = list(groups)
        whole = [group for group in every if group.samples and all(map(_is_known, group.samples))]
        if not whole:
            raise ValueError("no group has a reward and an advantage for each of its samples")
        size = Counter(map(len, whole)).most_common(1)[0][0]
        kept = [group for group in whole if len(group) == size]
        unread = {
            "with a sample that has no reward or no advantage": len(every) - len(whole),
            f"with more or fewer than {size} samples": len(whole) - len(kept),
        }
        unread = {reason: number for reason, number in unread.items() if number}
        rewards = sorted({float(one.reward or 0) for group in kept for one in group.samples})
        if len(rewards) == 1:
            raise ValueError(
                f"all samples of the log have the reward {rewards[0]:g}; an audit needs different "
                "rewards"
            )
        found = _fitting(kept[:MOST_GROUPS])
        if len(rewards) > MOST_REWARDS and not found:
            raise ValueError(
                f"the log has {len(rewards)} different rewards, and no method of ours gives its "
                f"advantages; a table of groups can have at most {MOST_REWARDS}"
            )
        paid, spread = _table(kept, rewards)
        fits = tuple(sorted(found, key=lambda fit: abs(fit[1] - 1) > FITS))
        alike = _are_alike([method for method, _ in fits], rewards, size)
        return cls(size, tuple(rewards), paid, len(kept), unread, spread, fits, alike)


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


def _name(method: AnyMethod, times: float) -> str:
    size = f" with K = {method.set_size}" if method.set_size != 1 else ""
    return (f"{times:.4g} times " if abs(times - 1) > FITS else "") + method.name + size


def _are_alike(methods: Sequence[AnyMethod], rewards: Sequence[float], num: int) -> bool:
    """Whether methods give proportional advantages in groups of these rewards."""
    groups = np.random.default_rng(0).choice(np.array(rewards), (MANY, num))
    tables = []
    for method in methods:
        try:
            own = np.asarray(method.advantages(groups).values_BN)
        except ValueError:  # it reads fields that only the log has
            continue
        tables.append(own / (np.linalg.norm(own) or 1.0))
    return all(np.abs(one - tables[0]).max() <= FITS for one in tables[1:])


def _fitting(groups: Sequence[Group]) -> list[tuple[AnyMethod, float]]:
    """Return the methods that give the recorded advantages, and the factors between them."""
    found: list[tuple[AnyMethod, float]] = []
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
            found.append((method, times))
    return found


def _candidates() -> Iterable[AnyMethod]:
    for make in methods.by_name.values():
        for sizes in ({}, *({"set_size": size} for size in SIZES)):
            try:
                yield make(**sizes)
            except (TypeError, ValueError):
                break
