"""How the mean scores of a prompt's sets are computed: in closed form, by enumeration, by sampling.

An estimator is a value. Given dense samples (every prompt has all its N samples) it returns a
`Credit`: u, v and U of `setrl.objectives.SetMeans`, how many sets held each sample, and the
standard errors where sets were drawn: which sets are scored when not all are is at the end.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import lru_cache
from itertools import combinations
from math import ceil, comb
from typing import Any, Protocol

import numpy as np

from setrl.core.credit.rounding import centred, mean_score, without_rounding
from setrl.core.objectives.base import Objective, SetMeans, finite
from setrl.core.sums import by_member, mean, total
from setrl.samples.samples import Samples

KEYS = 1 << 22  # random keys that are drawn at once: 32 MB
CHUNK = 1 << 21  # members of sets that are scored at once: 16 MB a field
BLOCK = 1 << 15  # samples whose arrays stay in the processor's cache: 256 KB each


@dataclass(frozen=True)
class Credit:
    """What an estimator found.

    Attributes:
        means: u, u − v, U and, where known, u − w and the variance of the scores.
        num_sets: How many sets were scored (inf where that has no float); (B, 1) where that differs
            between prompts.
        share_N: The share of them that held each sample; K/N when every set counted; (B, N) where
            that differs between prompts.
        used: What was done, in words: it goes into logs.
        stderr_with_BN: Standard error of u; None when every set counted.
        stderr_contrast_BN: Standard error of u − v; None when every set counted.
    """

    means: SetMeans
    num_sets: float | np.ndarray
    share_N: np.ndarray
    used: str
    stderr_with_BN: np.ndarray | None = None
    stderr_contrast_BN: np.ndarray | None = None


class Estimator(Protocol):
    """Anything that finds the mean set scores of dense samples."""

    def __call__(
        self, objective: Objective, samples: Samples, set_size: int, rng: np.random.Generator | None
    ) -> Credit:
        """Return the credit of every sample, fields (B, N)."""


@dataclass(frozen=True)
class Enumerated:
    """Every set is scored by the objective's definition. C(N, K) scores a prompt.

    Attributes:
        max_sets: Refuse prompts that have more sets than this.
    """

    max_sets: int = 1_000_000

    def __call__(
        self, objective: Objective, samples: Samples, set_size: int, rng: np.random.Generator | None
    ) -> Credit:
        """Means over all C(N, K) sets."""
        num_sets = comb(samples.num_samples, set_size)
        if num_sets > self.max_sets:
            raise ValueError(
                f"{num_sets:,} sets of {set_size} out of {samples.num_samples} are more than "
                f"Enumerated(max_sets={self.max_sets:,}) scores; use Exact() or Sampled(num_sets)"
            )
        sets_SK = all_sets(samples.num_samples, set_size)
        return credit_from_sets(objective, samples, sets_SK, f"enumerated ({num_sets:,} sets)")


@dataclass(frozen=True)
class DrawnSets(ABC):
    """`num_sets` different sets are drawn uniformly and scored; all where there are no more.

    One draw serves all prompts that have equally many samples: given the draw, the credit is
    linear in each prompt's scores, and prompts share nothing else.
    """

    num_sets: int

    def __post_init__(self) -> None:
        if self.num_sets < 2:
            raise ValueError(
                f"{type(self).__name__}(num_sets=...) must be at least 2, got {self.num_sets}"
            )

    def __call__(
        self, objective: Objective, samples: Samples, set_size: int, rng: np.random.Generator | None
    ) -> Credit:
        """Return what `from_sets` makes of the drawn sets, or the means over all of them."""
        n = samples.num_samples
        total = comb(n, set_size)
        if self.num_sets >= total:
            return Enumerated(max_sets=total)(objective, samples, set_size, rng)
        sets_SK = draw_sets(n, set_size, self.num_sets, rng)
        return self.from_sets(objective, samples, sets_SK)

    @abstractmethod
    def from_sets(self, objective: Objective, samples: Samples, sets_SK: np.ndarray) -> Credit:
        """Return credit, with standard errors, from fewer sets than there are."""


@dataclass(frozen=True)
class Sampled(DrawnSets):
    """Means over `num_sets` sets, drawn uniformly without replacement; unbiased for any number.

    A sample that no drawn set holds gets advantage 0.
    """

    def from_sets(self, objective: Objective, samples: Samples, sets_SK: np.ndarray) -> Credit:
        """Means over the drawn sets, with their standard errors."""
        total = comb(samples.num_samples, sets_SK.shape[1])
        used = f"sampled ({self.num_sets:,} of {total:,} sets)"
        return credit_from_sets(objective, samples, sets_SK, used)


@dataclass(frozen=True)
class Chosen:
    """Means over the sets of your choice, such as those of a worked example, which are all scored.

    A sample in none of the sets gets advantage 0. Sets that depend on rewards bias the credit.

    Attributes:
        sets: Different sets of equally many samples, by index from 0.
        num_samples: N. A prompt with fewer usable samples is refused: it lacks members of the sets.

    >>> from setrl import credit, objectives, set_advantages
    >>> chosen = credit.Chosen([(0, 2), (1, 3), (0, 1)], num_samples=4)
    >>> set_advantages(  # Set RL, Algorithm 1
    ...     [[1.0, 1, 0, 1]], objective=objectives.polychromic(), set_size=2, estimator=chosen,
    ...     reduction="sum", strategies=[[0, 1, 2, 3]],
    ... ).values_BN.round(3)
    array([[-0.167,  0.333, -0.333,  0.167]])
    """

    sets: Sequence[Sequence[int]]
    num_samples: int

    def __post_init__(self) -> None:
        sizes = {len(chosen) for chosen in self.sets}
        if len(sizes) != 1 or 0 in sizes:
            raise ValueError(f"Chosen(sets=...) must be sets of one size, got {self.sets!r}")
        for chosen in self.sets:
            members = set(chosen)
            if len(members) < len(chosen) or not members <= set(range(self.num_samples)):
                raise ValueError(
                    f"Chosen(sets=...): a set must hold different samples of 0 to "
                    f"{self.num_samples - 1}, got {tuple(chosen)}"
                )
        sets = tuple(tuple(sorted(chosen)) for chosen in self.sets)
        if len(set(sets)) < len(sets):
            raise ValueError("Chosen(sets=...) must be different sets, but one comes twice")
        object.__setattr__(self, "sets", sets)

    def __call__(
        self, objective: Objective, samples: Samples, set_size: int, rng: np.random.Generator | None
    ) -> Credit:
        """Means over the chosen sets."""
        sets_SK = np.array(self.sets, dtype=np.intp)
        if (samples.num_samples, set_size) != (self.num_samples, sets_SK.shape[1]):
            raise ValueError(
                f"Chosen has sets of {sets_SK.shape[1]} out of {self.num_samples} samples, "
                f"got set_size={set_size} and {samples.num_samples} usable samples"
            )
        credit = credit_from_sets(objective, samples, sets_SK, f"chosen ({len(sets_SK):,} sets)")
        if credit.stderr_with_BN is None:
            return credit
        unknown_BN = np.full(samples.rewards.shape, np.nan)  # nothing says how the sets were drawn
        return replace(credit, stderr_with_BN=unknown_BN, stderr_contrast_BN=unknown_BN)


@dataclass(frozen=True)
class Exact:
    """The objective's closed form; without one, enumeration of few sets, else sampled sets.

    Attributes:
        max_sets: Enumerate up to this many sets a prompt where there is no closed form.
        num_sets: Sample this many where there are more.
    """

    max_sets: int = 20_000
    num_sets: int = 2_000

    def __call__(
        self, objective: Objective, samples: Samples, set_size: int, rng: np.random.Generator | None
    ) -> Credit:
        """Exact means where they can be computed; `Credit.used` names what was done."""
        n = samples.num_samples
        known_B = objective.has_closed_form(samples, set_size)
        if not isinstance(known_B, bool) and known_B.any() and not known_B.all():
            # Each prompt by itself: its credit does not depend on the other prompts.
            every_N = np.arange(n)[None]
            kinds = [np.flatnonzero(known_B), np.flatnonzero(~known_B)]
            chosen = [samples.choose(rows, every_N.repeat(len(rows), axis=0)) for rows in kinds]
            return _join_credits(kinds, [self(objective, part, set_size, rng) for part in chosen])
        means = objective.set_means(samples, set_size)
        if means is not None:
            share_N = np.full(n, set_size / n)
            return Credit(without_rounding(means), count_sets(n, set_size), share_N, "closed form")
        if comb(n, set_size) <= self.max_sets:
            return Enumerated(self.max_sets)(objective, samples, set_size, rng)
        return Sampled(self.num_sets)(objective, samples, set_size, rng)


def _join_credits(rows: list[np.ndarray], credits: list[Credit]) -> Credit:
    """Return one credit of prompts in several parts, whose places are given."""
    num_prompts = sum(map(len, rows))

    def join(parts: list[Any]) -> np.ndarray:
        width = np.broadcast(*(part[:1] for part in parts if isinstance(part, np.ndarray))).shape[
            1:
        ]
        whole = np.zeros((num_prompts, *width))
        for at, part in zip(rows, parts, strict=True):
            whole[at] = part
        return whole

    def join_stderr(name: str) -> np.ndarray | None:
        stderrs = [getattr(credit, name) for credit in credits]
        if all(part is None for part in stderrs):
            return None
        return join([0.0 if part is None else part for part in stderrs])

    means = [credit.means for credit in credits]
    return Credit(
        SetMeans(
            with_BN=join([part.with_BN for part in means]),
            contrast_BN=join([part.contrast_BN for part in means]),
            mean_B=join([part.mean_B for part in means]),
        ),
        num_sets=join([np.full((1, 1), credit.num_sets) for credit in credits]),
        share_N=join([credit.share_N[None] for credit in credits]),
        used="; ".join(credit.used for credit in credits),
        stderr_with_BN=join_stderr("stderr_with_BN"),
        stderr_contrast_BN=join_stderr("stderr_contrast_BN"),
    )


def score_sets(objective: Objective, samples: Samples, sets_SK: np.ndarray) -> np.ndarray:
    """Return the score of every set of every prompt, by the definition: (B, S).

    Raises:
        ValueError: Naming the objective, if one of its scores is NaN or infinite.
    """
    most = len(sets_SK) // 2  # parts of two sets at least: a single one would be summed otherwise
    num_parts = ceil(samples.rewards.shape[0] * sets_SK.size / CHUNK)
    parts = np.array_split(sets_SK, min(num_parts, max(1, most)))
    scores_BS = np.concatenate([objective(samples.sets(part)) for part in parts], axis=-1)
    return finite(objective, np.ascontiguousarray(scores_BS))


def credit_from_sets(
    objective: Objective, samples: Samples, sets_SK: np.ndarray, used: str
) -> Credit:
    """Means over these sets, which are all scored, and their standard errors."""
    n, num_sets = samples.num_samples, len(sets_SK)
    scores_BS = score_sets(objective, samples, sets_SK)
    num_with_N = np.bincount(sets_SK.ravel(), minlength=n)
    mean_B = mean_score(scores_BS)
    centred_BS = centred(scores_BS)
    sum_BN = by_member(centred_BS, sets_SK, n)
    above_BN, below_BN = (
        _divide_or_nan(sum_BN, num_with_N),
        _divide_or_nan(-sum_BN, num_sets - num_with_N),
    )
    means = SetMeans(
        with_BN=mean_B[:, None] + above_BN,
        contrast_BN=above_BN - below_BN,
        mean_B=mean_B,
        variance=lambda: mean(centred_BS**2),
        size_B=4 * np.abs(scores_BS).max(axis=-1),
    )
    is_every_set = num_sets == comb(n, sets_SK.shape[1])
    means = without_rounding(means, every_set=is_every_set)
    credit = Credit(means, float(num_sets), num_with_N / num_sets, used)
    return credit if is_every_set else _add_standard_errors(credit, centred_BS, sum_BN, sets_SK)


def _add_standard_errors(
    credit: Credit, centred_BS: np.ndarray, sum_BN: np.ndarray, sets_SK: np.ndarray
) -> Credit:
    """Add standard errors of u and u − v: two strata drawn without replacement, with and without i.

    var(mean of a stratum) = s²/m · (1 − m/M), for m drawn of M sets with sample variance s².
    """
    n, set_size = sum_BN.shape[1], sets_SK.shape[1]
    squares_BS = centred_BS**2
    square_BN = by_member(squares_BS, sets_SK, n)
    rest_BN = np.maximum(total(squares_BS)[:, None] - square_BN, 0.0)
    num_with_N = np.bincount(sets_SK.ravel(), minlength=n)
    holding, lacking = count_sets(n - 1, set_size - 1), count_sets(n - 1, set_size)
    of_with_BN = _stratum_variance(sum_BN, square_BN, num_with_N, holding)
    # Centred scores sum to 0: the sum over the sets without a sample is minus that over the others.
    of_without_BN = _stratum_variance(sum_BN, rest_BN, len(sets_SK) - num_with_N, lacking)
    return replace(
        credit,
        stderr_with_BN=np.sqrt(of_with_BN),
        stderr_contrast_BN=np.sqrt(of_with_BN + of_without_BN),
    )


def _stratum_variance(
    sum_BN: np.ndarray, square_BN: np.ndarray, drawn_N: np.ndarray, num_in_all: float
) -> np.ndarray:
    """Return the variance of the mean score over each sample's stratum; NaN below two sets."""
    mean_BN, mean_square_BN = _divide_or_nan(sum_BN, drawn_N), _divide_or_nan(square_BN, drawn_N)
    spread_BN = np.maximum(mean_square_BN - mean_BN**2, 0.0) * _divide_or_nan(drawn_N, drawn_N - 1)
    return _divide_or_nan(spread_BN, drawn_N) * (1 - drawn_N / num_in_all)


def _divide_or_nan(top: np.ndarray, bottom: np.ndarray) -> np.ndarray:
    """top / bottom, NaN where the bottom is not positive."""
    return np.divide(top, np.where(bottom > 0, bottom, np.nan))


@lru_cache(maxsize=32)
def all_sets(num_samples: int, set_size: int) -> np.ndarray:
    """Every set of `set_size` out of `num_samples`, by index: (C(N, K), K)."""
    flat = [index for chosen in combinations(range(num_samples), set_size) for index in chosen]
    sets_SK = np.array(flat, dtype=np.intp).reshape(-1, set_size)
    sets_SK.flags.writeable = False
    return sets_SK


def draw_sets(
    num_samples: int, set_size: int, num_sets: int, rng: np.random.Generator | None
) -> np.ndarray:
    """`num_sets` different sets, uniformly among all such collections: (S, K), members ascending.

    Independent sets are drawn, repeats are dropped, and the missing ones are drawn again until
    there are enough, which is uniform without replacement. Where most sets are wanted, that would
    take long, and they are chosen from the full list instead.
    """
    if rng is None:
        raise ValueError("drawing sets needs rng=np.random.default_rng(seed)")
    total = comb(num_samples, set_size)
    if num_sets > total:
        raise ValueError(
            f"there are only {total:,} sets of {set_size} out of {num_samples}, got {num_sets:,}"
        )
    if total <= 4 * num_sets:
        return all_sets(num_samples, set_size)[rng.permutation(total)[:num_sets]]
    drawn_SK = np.empty((0, set_size), dtype=np.intp)
    while len(drawn_SK) < num_sets:
        more_SK = _random_sets(num_samples, set_size, num_sets - len(drawn_SK), rng)
        drawn_SK = _drop_repeated_sets(np.concatenate([drawn_SK, more_SK]))
    return drawn_SK


def advance(rng: np.random.Generator | None, used: np.random.Generator | None) -> None:
    """Put a generator where a copy of it is that has been used."""
    if rng is not None and used is not None:
        rng.bit_generator.state = used.bit_generator.state


@lru_cache(maxsize=256)
def count_sets(num_samples: int, set_size: int) -> float:
    """C(N, K) as a float; inf where it has no float."""
    try:
        return float(comb(num_samples, set_size))
    except OverflowError:
        return np.inf


def membership(sets_SK: np.ndarray, num_samples: int) -> np.ndarray:
    """1 where a set holds a sample, else 0: (S, N) float64."""
    member_SN = np.zeros((len(sets_SK), num_samples))
    np.put_along_axis(member_SN, sets_SK, 1.0, axis=1)
    return member_SN


def _random_sets(
    num_samples: int, set_size: int, num_sets: int, rng: np.random.Generator
) -> np.ndarray:
    """Independent uniform sets: the places of the `set_size` smallest of N random keys."""
    step = max(1, KEYS // num_samples)
    parts = []
    for start in range(0, num_sets, step):
        key_SN = rng.random((min(step, num_sets - start), num_samples))
        parts.append(np.argpartition(key_SN, set_size - 1, axis=1)[:, :set_size])
    return np.sort(np.concatenate(parts), axis=1)


def _drop_repeated_sets(sets_SK: np.ndarray) -> np.ndarray:
    """Return the different sets, in the order in which they first came."""
    _, first_S = np.unique(sets_SK, axis=0, return_index=True)
    return sets_SK[np.sort(first_S)]
