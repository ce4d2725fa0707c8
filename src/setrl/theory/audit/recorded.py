"""The advantages that a trainer recorded: which of our methods gave them."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass

import numpy as np

from setrl.core import methods
from setrl.core.method import AnyMethod
from setrl.samples.types import Group
from setrl.support.wording import count, first_of, in_a_row
from setrl.train.scoring.credit import credit_groups

FITS = 1e-3  # of the largest advantage: recorded numbers are often rounded
MOST_GROUPS = 2_000  # that methods are compared on
SIZES = (2, 3, 4, 8, 16)  # K that are tried
MANY = 200  # groups on which methods that fit a log are compared


@dataclass(frozen=True, eq=False)
class Recorded:
    """The method that gave the advantages of a log, for `audit`.

    Attributes:
        method: The method, with the factor nearest to 1.
        num_samples: N, the commonest size of a group; other groups are left out.
        rewards: The different rewards.
        says: Which groups were read, and which method gave their advantages.
    """

    method: AnyMethod
    num_samples: int
    rewards: tuple[float, ...]
    says: tuple[str, ...]

    @classmethod
    def of(cls, groups: Iterable[Group]) -> Recorded:
        """Read groups of the commonest size whose samples all have a reward and an advantage.

        Raises:
            ValueError: If no such group is found, or all rewards are equal, or no method of ours
                gives these advantages, or several do and no group of the log tells them apart.
        """
        every = list(groups)
        whole = [group for group in every if group.samples and all(map(_is_known, group.samples))]
        if not whole:
            raise ValueError("no group has a reward and an advantage for each of its samples")
        size = Counter(map(len, whole)).most_common(1)[0][0]
        kept = [group for group in whole if len(group) == size]
        rewards = sorted({float(sample.reward or 0) for group in kept for sample in group.samples})
        if len(rewards) == 1:
            raise ValueError(
                f"all samples of the log have the reward {rewards[0]:g}; an audit needs different "
                "rewards"
            )
        fits = sorted(_find_methods(kept[:MOST_GROUPS]), key=lambda fit: abs(fit[1] - 1) > FITS)
        scope = f"{count(len(kept), 'group')} of {size}"
        if not fits:
            raise ValueError(
                f"no method with its default arguments gives the advantages of the log ({scope}): "
                "audit the function that gave them, module:name"
            )
        named = [_describe_method(*fit) for fit in fits]
        if not _are_alike([method for method, _ in fits], rewards, size):
            raise ValueError(
                f"{scope}: the recorded advantages are {named[0]}, or {first_of(named[1:])}: the "
                "log has no groups that tell them apart; audit one by its name"
            )
        limit = f" in the first {MOST_GROUPS:,}" if len(kept) > MOST_GROUPS else ""
        claim = f"{scope}: the recorded advantages are {named[0]}{limit}."
        out = {
            "with a sample that has no reward or no advantage": len(every) - len(whole),
            f"with more or fewer than {size} samples": len(whole) - len(kept),
        }
        return cls(
            fits[0][0], size, tuple(rewards), (*_describe_unread_groups(out, len(kept)), claim)
        )


def _describe_unread_groups(unread: dict[str, int], num_read: int) -> list[str]:
    why = [f"{number:,} {reason}" for reason, number in unread.items() if number]
    if not why:
        return []
    every = count(num_read + sum(unread.values()), "group")
    return [f"{num_read:,} of {every} were checked; the others were not: {in_a_row(why)}."]


def _is_known(sample: object) -> bool:
    return all(getattr(sample, name) is not None for name in ("reward", "advantage"))


def _describe_method(method: AnyMethod, times: float) -> str:
    size = f" with K = {method.set_size}" if method.set_size != 1 else ""
    return (f"{times:.4g} times " if abs(times - 1) > FITS else "") + method.name + size


def _are_alike(methods: Sequence[AnyMethod], rewards: Sequence[float], num: int) -> bool:
    """Whether methods give proportional advantages in groups of these rewards."""
    groups = np.random.default_rng(0).choice(np.array(rewards), (MANY, num))
    tables = []
    for method in methods:
        try:
            values_BN = np.asarray(method.advantages(groups).values_BN)
        except ValueError:  # it reads fields that only the log has
            continue
        tables.append(values_BN / (np.linalg.norm(values_BN) or 1.0))
    return all(np.abs(table - tables[0]).max() <= FITS for table in tables[1:])


def _find_methods(groups: Sequence[Group]) -> list[tuple[AnyMethod, float]]:
    """Return the methods that give the recorded advantages, and the factors between them."""
    fits: list[tuple[AnyMethod, float]] = []
    recorded = np.array([[sample.advantage for sample in group.samples] for group in groups], float)
    scale = np.abs(recorded).max()
    for method in _list_methods():
        try:
            values_BN = np.asarray(credit_groups(groups, method).values_BN)[:, : recorded.shape[1]]
        except ValueError:  # it needs fields that are not in the log, or larger groups
            continue
        length = (values_BN**2).sum()
        times = float((values_BN * recorded).sum() / length) if length else 0.0
        if times > 0 and np.abs(recorded - times * values_BN).max() <= FITS * scale:
            fits.append((method, times))
    return fits


def _list_methods() -> Iterable[AnyMethod]:
    for make in methods.by_name.values():
        for sizes in ({}, *({"set_size": size} for size in SIZES)):
            try:
                yield make(**sizes)
            except (TypeError, ValueError):
                break
