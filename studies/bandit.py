"""A softmax bandit: the exact gradient of max@K, and what estimators make of it.

Every estimator of a batch's gradient is Σᵢ Aᵢ ∇log π(yᵢ) with its advantages scaled so that its
mean is ∇J, J = E max of K draws, and not a multiple of it.
"""

from __future__ import annotations

import operator
from collections.abc import Callable
from dataclasses import dataclass
from math import comb
from typing import Any

import numpy as np

from setrl import credit, objectives
from setrl.core.advantages import Advantages, set_advantages
from setrl.core.credit.estimators import Credit, credit_from_sets
from setrl.core.objectives import Objective
from setrl.samples.samples import Samples
from setrl.support import names
from setrl.theory.multisets import multisets
from setrl.theory.policies import softmax

CHUNK = 1 << 22  # numbers that are held at once
MOST_ENUMERATED = 30_000  # different batches


@dataclass(frozen=True, eq=False)
class Bandit:
    """Arms with fixed rewards, and a policy over them.

    Attributes:
        rewards_A: What each arm pays.
        policy_A: Probabilities.
    """

    rewards_A: np.ndarray
    policy_A: np.ndarray

    @property
    def num_arms(self) -> int:
        """A."""
        return len(self.rewards_A)

    def sample(self, num_batches: int, num_samples: int, rng: np.random.Generator) -> np.ndarray:
        """Return arms of B batches of N independent samples: (B, N)."""
        return rng.choice(self.num_arms, size=(num_batches, num_samples), p=self.policy_A)


def _sparse(num_arms: int, rng: np.random.Generator) -> np.ndarray:
    return (rng.permutation(num_arms) < max(1, num_arms // 10)) * 1.0


REWARDS: dict[str, Callable[[int, np.random.Generator], np.ndarray]] = {
    "uniform": lambda num_arms, rng: rng.random(num_arms),
    "normal": lambda num_arms, rng: rng.normal(size=num_arms),
    "sparse": _sparse,
}


def draw_bandit(
    num_arms: int, rng: np.random.Generator, rewards: str = "uniform", spread: float = 1.0
) -> Bandit:
    """Return a random bandit with logits N(0, spread²).

    Args:
        num_arms: A.
        rng: Draws rewards and logits.
        rewards: "uniform" in [0, 1], "normal" N(0, 1), or "sparse": 1 for one arm in ten (at least
            one), else 0.
        spread: Standard deviation of the logits.
    """
    draw = names.look_up("kind of rewards", rewards, REWARDS)
    return Bandit(draw(num_arms, rng), softmax(spread * rng.normal(size=num_arms)))


def max_gradient(bandit: Bandit, set_size: int) -> np.ndarray:
    """∇_z E max r(a₁…a_K) = K·π(a)·(E[max | a₁ = a] − E max), any number of arms, by sorting.

    With Δₖ the gap above the k-th reward and Fₖ = P(an arm is at or below it),

        E[max | a] − E max = Σ_{gaps below a} Δ·F^K − Σ_{gaps above a} Δ·F^(K−1)·(1 − F),

    which keeps its digits for a policy that hardly ever misses the best arm.
    """
    order_A = np.argsort(bandit.rewards_A)
    policy_A, gap_a = bandit.policy_A[order_A], np.diff(bandit.rewards_A[order_A])
    below_a, above_a = np.cumsum(policy_A)[:-1], np.cumsum(policy_A[::-1])[-2::-1]
    passed_a = gap_a * below_a**set_size
    missed_a = gap_a * below_a ** (set_size - 1) * above_a
    gain_A = np.empty(bandit.num_arms)
    gain_A[order_A] = np.append(0.0, np.cumsum(passed_a)) - np.append(
        np.cumsum(missed_a[::-1])[::-1], 0.0
    )
    return set_size * bandit.policy_A * gain_A


@dataclass(frozen=True)
class Estimator:
    """A way to turn the rewards of a batch into advantages whose update has mean ∇J.

    Attributes:
        label: The name in figures.
        advantages: (rewards_BN, K, rng) → (B, N).
        biased: Whether its mean is not ∇J.
    """

    label: str
    advantages: Callable[[np.ndarray, int, np.random.Generator], np.ndarray]
    biased: bool = False


def _credit(rewards_BN: np.ndarray, set_size: int, **choices: Any) -> Advantages:
    return set_advantages(rewards_BN, objective=objectives.max(), set_size=set_size, **choices)


def _scaled(
    divisor: Callable[[int, int], int] = lambda num_samples, set_size: num_samples, **choices: Any
) -> Callable[[np.ndarray, int, np.random.Generator], np.ndarray]:
    """Scale advantages with mean (divisor/K)·∇J by K/divisor; the divisor is N by default."""

    def advantages(rewards_BN: np.ndarray, set_size: int, rng: np.random.Generator) -> np.ndarray:
        found = _credit(rewards_BN, set_size, rng=rng, **choices)
        return found.values_BN * set_size / divisor(rewards_BN.shape[1], set_size)

    return advantages


def standardised(rewards_BN: np.ndarray, set_size: int, rng: np.random.Generator) -> np.ndarray:
    """(u − U) / std, as GRPO divides."""
    return _credit(rewards_BN, set_size, baseline="all_sets", scale="group_std").values_BN


def pkpo_leave_one_out(
    rewards_BN: np.ndarray, set_size: int, rng: np.random.Generator
) -> np.ndarray:
    """s_loo = (K/N)u − (K/(N−1))v: PKPO (arXiv:2505.15201, Eq. 29) and MaxPO's BoN mean."""
    found, n = _credit(rewards_BN, set_size, baseline="leave_one_out"), rewards_BN.shape[1]
    return set_size / n * found.with_BN - set_size / (n - 1) * found.without_BN


ESTIMATORS: dict[str, Estimator] = {
    "raw": Estimator("no baseline, u", _scaled(baseline="none")),
    "s_loo": Estimator("PKPO s_loo (BoN mean)", pkpo_leave_one_out),
    "ei": Estimator("EI, u − w (PKPO s_loo−1)", _scaled(baseline="smaller_sets")),
    "l2o": Estimator("EI + leave-two-out, u − v (MaxPO)", _scaled(baseline="leave_one_out")),
    "mixture": Estimator("half of each, u − (v + w)/2", _scaled(baseline=credit.Mixture(0.5))),
    # The mean update of u − U is (N−K)/K·∇J.
    "all_sets": Estimator("all sets, u − U (Set RL)", _scaled(operator.sub, baseline="all_sets")),
    "sampled": Estimator(
        "u − v from 500 sampled sets",
        _scaled(baseline="leave_one_out", estimator=credit.Sampled(500)),
    ),
    "regression": Estimator(
        "u − v from 500 sets, regression",
        _scaled(baseline="leave_one_out", estimator=credit.Regression(500)),
    ),
    "standardised": Estimator("(u − U)/std, biased", standardised, biased=True),
}


@dataclass(frozen=True)
class Disjoint:
    """⌊N/K⌋ disjoint sets, drawn once for all prompts: a Monte Carlo estimate from fresh sets.

        u − v = f(own set) − mean f(the other sets),   0 for a sample that is in no set

    Set RL note, Eq. 6 and the naive algorithm after it. Σᵢ ∇log π(yᵢ)·(u − v) has mean ⌊N/K⌋·∇J: as
    `Exact()`, if K divides N. The u − v of all sets is its mean over all ways to split the samples,
    so that it never has a larger variance. Use it for comparisons: it scores the fewest sets.
    """

    def __call__(
        self, objective: Objective, samples: Samples, set_size: int, rng: np.random.Generator | None
    ) -> Credit:
        """Means over the disjoint sets; the standard errors of single sets are not known (NaN)."""
        n = samples.num_samples
        num_sets = n // set_size
        if num_sets < 2:
            raise ValueError(
                f"Disjoint() needs two sets: at least {2 * set_size} samples for set_size="
                f"{set_size}, got {n}"
            )
        if rng is None:
            raise ValueError("Disjoint() needs rng=np.random.default_rng(seed)")
        order = rng.permutation(n)[: num_sets * set_size]
        sets_SK = np.sort(order.reshape(num_sets, set_size), axis=1)
        used = f"disjoint ({num_sets:,} sets)"
        return credit_from_sets(objective, samples, sets_SK, used)


# Not among the others: it depends on the order of a batch's samples, so that batches must be drawn.
NAIVE = Estimator(
    "separate sets (Set RL's naive algorithm)",
    _scaled(
        lambda num_samples, set_size: num_samples // set_size * set_size,
        baseline="leave_one_out",
        estimator=Disjoint(),
    ),
)


def gradients(bandit: Bandit, arms_BN: np.ndarray, advantages_BN: np.ndarray) -> np.ndarray:
    """Σᵢ Aᵢ ∇_z log π(yᵢ) of every batch: (B, A)."""
    num_batches, num_arms = len(arms_BN), bandit.num_arms
    place_BN = arms_BN + num_arms * np.arange(num_batches)[:, None]
    own_BA = np.bincount(place_BN.ravel(), advantages_BN.ravel(), num_batches * num_arms)
    total_B = advantages_BN.sum(axis=1)
    return own_BA.reshape(num_batches, num_arms) - total_B[:, None] * bandit.policy_A


def running_means(
    bandit: Bandit,
    estimator: Estimator,
    set_size: int,
    num_samples: int,
    checkpoints: list[int],
    rng: np.random.Generator,
) -> np.ndarray:
    """Return the mean gradient of the first `checkpoints` batches: (checkpoints, A)."""
    total_A, done, means = np.zeros(bandit.num_arms), 0, []
    for upto in checkpoints:
        for size in _chunks(bandit, num_samples, upto - done):
            arms_BN = bandit.sample(size, num_samples, rng)
            advantages_BN = estimator.advantages(bandit.rewards_A[arms_BN], set_size, rng)
            total_A += gradients(bandit, arms_BN, advantages_BN).sum(axis=0)
        done = upto
        means.append(total_A / done)
    return np.stack(means)


def relative_variance(
    bandit: Bandit,
    estimator: Estimator,
    set_size: int,
    num_samples: int,
    num_batches: int,
    rng: np.random.Generator,
) -> float:
    """E‖g − ∇J‖² / ‖∇J‖² of one batch: the trace of the covariance, for an unbiased estimator.

    Over every batch, exactly, where they are few; else over `num_batches` sampled ones.
    """
    truth_A = max_gradient(bandit, set_size)

    def total(arms_BN: np.ndarray, weight_B: np.ndarray) -> float:
        advantages_BN = estimator.advantages(bandit.rewards_A[arms_BN], set_size, rng)
        error_BA = gradients(bandit, arms_BN, advantages_BN) - truth_A
        return float(weight_B @ (error_BA**2).sum(axis=1))

    if comb(bandit.num_arms + num_samples - 1, num_samples) <= MOST_ENUMERATED:
        every = multisets(bandit.num_arms, num_samples)
        mean = total(every.sets_SK, every.chances(bandit.policy_A))
    else:
        sizes = _chunks(bandit, num_samples, num_batches)
        sampled = (bandit.sample(size, num_samples, rng) for size in sizes)
        mean = sum(total(arms_BN, np.ones(len(arms_BN))) for arms_BN in sampled) / num_batches
    return mean / float((truth_A**2).sum())


def _chunks(bandit: Bandit, num_samples: int, num_batches: int) -> list[int]:
    """Return how many batches to hold at once, until there are `num_batches`."""
    step = max(1, CHUNK // (bandit.num_arms + 8 * num_samples))
    full, rest = divmod(num_batches, step)
    return [step] * full + [rest] * (rest > 0)
