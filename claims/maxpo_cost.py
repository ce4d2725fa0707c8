"""MaxPO review: how many operations its advantages cost."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from fractions import Fraction
from functools import total_ordering
from itertools import accumulate, pairwise
from math import comb, log2

import numpy as np

import setrl
from claims.claims import MAXPO, Trials, Verdict, claim, remark, shown, stated
from claims.formulas import Formula
from claims.maxpo import batches, leave_two_out

Work = Counter[str]


@total_ordering
@dataclass(frozen=True, eq=False)
class Counted:
    """A number that counts the additions, multiplications and comparisons made with it."""

    value: Fraction
    work: Work

    def _done(self, kind: str, value: Fraction) -> Counted:
        self.work[kind] += 1
        return Counted(value, self.work)

    def __add__(self, other: Counted) -> Counted:
        """Sum."""
        return self._done("add", self.value + other.value)

    def __sub__(self, other: Counted) -> Counted:
        """Difference."""
        return self._done("add", self.value - other.value)

    def __mul__(self, factor: Fraction) -> Counted:
        """Multiply by a weight that depends only on B and K."""
        return self._done("multiply", self.value * factor)

    def __lt__(self, other: Counted) -> bool:
        """Order."""
        self.work["compare"] += 1
        return self.value < other.value


Numbers = Sequence[Counted]


def _ranked(rewards: Numbers) -> list[int]:
    return sorted(range(len(rewards)), key=rewards.__getitem__)


def _weights(num: int, size: int) -> list[tuple[Fraction, Fraction]]:
    """Return the gaps' weights above the k lowest rewards: for a sample above and one below."""
    found = []
    for k in range(1, num):
        above = Fraction(comb(k, size), comb(num - 1, size))
        found.append((above, -above * Fraction(num - k, k)))
    return found


def by_gaps(rewards: Numbers, size: int) -> list[Counted]:
    """Compute u − v of max@K: every sample adds up a share of every gap between neighbours."""
    num, order = len(rewards), _ranked(rewards)
    weights, work = _weights(num, size), rewards[0].work
    found = [Counted(Fraction(0), work)] * num
    gaps = [rewards[b] - rewards[a] for a, b in pairwise(order)]
    for rank, i in enumerate(order):
        for k, (gap, (above, below)) in enumerate(zip(gaps, weights, strict=True)):
            found[i] = found[i] + gap * (above if rank > k else below)
    return found


def by_running_sums(rewards: Numbers, size: int) -> list[Counted]:
    """Compute the same, with running sums of the gaps' shares below and above a sample."""
    num, order = len(rewards), _ranked(rewards)
    weights, zero = _weights(num, size), Counted(Fraction(0), rewards[0].work)
    gaps = [rewards[b] - rewards[a] for a, b in pairwise(order)]
    won = [gap * above for gap, (above, _) in zip(gaps, weights, strict=True)]
    lost = [gap * below for gap, (_, below) in zip(gaps, weights, strict=True)]
    low = list(accumulate(won, initial=zero))
    high = list(accumulate(reversed(lost), initial=zero))[::-1]
    found = [zero] * num
    for rank, i in enumerate(order):
        found[i] = low[rank] + high[rank]
    return found


Advantages = Callable[[Numbers, int], list[Counted]]


def operations(advantages: Advantages, num: int, size: int) -> int:
    """Count the operations for a batch of B shuffled rewards."""
    work: Work = Counter()
    shuffled = [Counted(Fraction(7 * i % num, num), work) for i in range(num)]
    advantages(shuffled, size)
    return work.total()


LEAST = Formula("B·log₂B + 5B")


@claim(
    "maxpo-quadratic",
    MAXPO,
    "Abstract: quadratic-time implementation",
    Verdict.HOLDS,
    compares=("operations", "<", Formula("2B² + B·log₂B")),
    how="Additions, multiplications and comparisons counted for B = $B, K = $K, where every sample "
    "adds up the gaps between sorted rewards. It equals the definition in every batch of up to "
    "five, in fractions.",
    truth="O(B log B) suffices, with running sums of the gaps: at most $least. The library "
    "computes these, to ⟦1e-12⟧.",
    tried="5 stated, 470 remark",
    nearest="15",
)
def cost() -> Trials:
    """The advantages can be computed in quadratic time."""
    for rewards, size in batches():
        counted = [Counted(Fraction(r), Counter()) for r in rewards]
        exact = leave_two_out(rewards, size)
        for advantages in (by_gaps, by_running_sums):
            found = [a.value for a in advantages(counted, size)]
            yield remark(found == exact, r=rewards, size=size, A=found)
        library = setrl.methods.maxpo(size).advantages(np.array([rewards]) * 1.0)
        yield remark(np.abs(library.values_BN[0] - [float(a) for a in exact]).max() < 1e-12)
    for num in (8, 16, 32, 64, 128):
        quadratic, least = (operations(form, num, 4) for form in (by_gaps, by_running_sums))
        letters = {"B": num, "log2B": Fraction(log2(num))}
        yield stated(quadratic, **letters, K=4, operations=quadratic)
        yield remark(least <= LEAST(**letters), B=num, operations=least)
    yield shown(least=LEAST)
