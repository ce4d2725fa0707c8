"""What a method will do to a model's strategies, forecast from its samples before any training.

The model is replaced by a miniature, with two logits for each strategy: how likely it is chosen and
how likely it then succeeds. The miniature is trained with the real method, group size, batch size
and number of steps, in well under a second. Two numbers cannot be known beforehand and were fitted
to one arm of one recipe: the length of a step, and how much faster or slower success is learned
than choice (`studies/predictions.py` fits them, and compares all other arms).

>>> import numpy as np
>>> from setrl import methods
>>> base = Strategies.of_groups(np.array([[1, 1, 0, 1, 1, 0]]), np.array([[0, 0, 0, 1, 1, -1]]))
>>> base.labels, base.shares_C.round(2), base.success_C.round(2)
((0, 1), array([0.5 , 0.33]), array([0.67, 1.  ]))
>>> forecast(base, methods.grpo(), Miniature(steps=5, runs=2)).pass_1 > base.pass_1
True
"""

from __future__ import annotations

from collections.abc import Hashable, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from setrl.core.advantages import Method
from setrl.core.samples import DEGENERATE
from setrl.theory.policies import softmax
from setrl.theory.tabular import ActionTable

FLOOR = 0.002  # success is kept this far from 0 and 1, where its logit would be infinite
MEMORIES = (0.9, 0.999)  # of Adam: of gradients, and of their squares


@dataclass(frozen=True, eq=False)
class Strategies:
    """How often a model uses each strategy, and how often it then succeeds.

    Attributes:
        shares_C: The probability of each strategy; what is missing to 1 is degenerate, and wrong.
        success_C: The probability that a sample of each is right.
        labels: What each is called.
    """

    shares_C: np.ndarray
    success_C: np.ndarray
    labels: Sequence[Hashable]

    def __post_init__(self) -> None:
        shares, success = self.shares_C, self.success_C
        if not shares.shape == success.shape == (len(self.labels),):
            raise ValueError(
                f"shares_C, success_C and labels must be equally long, got {shares.shape}, "
                f"{success.shape} and {len(self.labels)} labels"
            )
        if not (shares > 0).all() or shares.sum() > 1 + 1e-9 or not len(shares):
            raise ValueError(
                f"shares_C must be positive with a sum of at most 1, got {shares.tolist()}"
            )
        if not ((success >= 0) & (success <= 1)).all():
            raise ValueError(f"success_C must be in [0, 1], got {success.tolist()}")

    @classmethod
    def of_groups(cls, rewards_BN: ArrayLike, clusters_BN: ArrayLike) -> Strategies:
        """Those of logged samples, over all prompts: a label is the same strategy in all of them.

        Args:
            rewards_BN: Rewards; a sample is right above 0.5. NaN leaves a sample out.
            clusters_BN: Labels of strategies, integers; −1 is degenerate, and counts as wrong.
        """
        rewards, labels = np.asarray(rewards_BN, dtype=np.float64), np.asarray(clusters_BN)
        if rewards.shape != labels.shape:
            raise ValueError(
                f"rewards_BN and clusters_BN must have one shape, got {rewards.shape} and "
                f"{labels.shape}"
            )
        if labels.size and labels.dtype.kind not in "iu":
            raise ValueError(
                f"clusters_BN must be integers, -1 for degenerate, got {labels.dtype}: number the "
                "strategies, or count them for Strategies.of_counts"
            )
        known = ~np.isnan(rewards)
        right = {c: int((rewards[known & (labels == c)] > 0.5).sum()) for c in np.unique(labels)}
        counts = {c: (n, int((known & (labels == c)).sum()) - n) for c, n in right.items()}
        return cls.of_counts(
            {int(c): pair for c, pair in counts.items() if c != DEGENERATE},
            degenerate=sum(counts.get(DEGENERATE, (0, 0))),
        )

    @classmethod
    def of_counts(cls, counts: Mapping[Any, tuple[int, int]], degenerate: int = 0) -> Strategies:
        """Those of right and wrong samples of each strategy, the most frequent first."""
        used = {label: pair for label, pair in counts.items() if sum(pair)}
        if not used:
            raise ValueError("no sample has a strategy: nothing can be predicted")
        ordered = sorted(used, key=lambda label: -sum(used[label]))
        right_C, wrong_C = np.array([used[label] for label in ordered], dtype=np.float64).T
        total_C = right_C + wrong_C
        return cls(total_C / (total_C.sum() + degenerate), right_C / total_C, tuple(ordered))

    @property
    def pass_1(self) -> float:
        """The probability that a sample is right."""
        return float(self.shares_C @ self.success_C)

    @property
    def top_share(self) -> float:
        """The share of the most frequent strategy among all samples."""
        return float(self.shares_C.max())

    def right_strategies(self, num_samples: int) -> float:
        """How many different strategies the right ones of k samples use, on average."""
        return float((1 - (1 - self.shares_C * self.success_C) ** num_samples).sum())

    def survivors(self, least: float = 0.01) -> tuple[Hashable, ...]:
        """The strategies with at least this share of all samples."""
        kept = zip(self.labels, self.shares_C, strict=True)
        return tuple(label for label, share in kept if share >= least)


@dataclass(frozen=True)
class Miniature:
    """The training that is imitated: what is known of it, and the two fitted numbers.

    Attributes:
        steps: Updates; the length of a step falls linearly to 0 over them.
        prompts: B, the prompts of a step.
        num_samples: N, the samples of a prompt.
        step: The length of a step in the logits of choice, as a root mean square over time.
        skill: How fast the logits of success move, relative to those of choice; 0 keeps success.
        runs: Over how many runs the forecast is averaged.
        seed: Draws the samples.
    """

    steps: int = 200
    prompts: int = 16
    num_samples: int = 16
    step: float = 0.6
    skill: float = 0.12
    runs: int = 4
    seed: int = 0

    def __post_init__(self) -> None:
        for name in ("steps", "prompts", "num_samples", "runs"):
            if getattr(self, name) < 1:
                raise ValueError(f"{name} must be at least 1, got {getattr(self, name)}")
        if not (self.step > 0 and self.skill >= 0):
            raise ValueError(
                f"step must be positive and skill at least 0, got {self.step} and {self.skill}"
            )


@dataclass(frozen=True, eq=False)
class Forecast:
    """What a miniature came to, in each of its runs.

    Attributes:
        ends: The strategies at the end of each run.
    """

    ends: tuple[Strategies, ...]

    @property
    def pass_1(self) -> float:
        """Mean over runs."""
        return float(np.mean([end.pass_1 for end in self.ends]))

    @property
    def top_share(self) -> float:
        """Mean over runs."""
        return float(np.mean([end.top_share for end in self.ends]))

    def right_strategies(self, num_samples: int) -> float:
        """Mean over runs."""
        return float(np.mean([end.right_strategies(num_samples) for end in self.ends]))

    def survivors(self, least: float = 0.01) -> tuple[Hashable, ...]:
        """The strategies that have at least this share in more than half of the runs."""
        kept = [set(end.survivors(least)) for end in self.ends]
        labels = self.ends[0].labels
        return tuple(x for x in labels if 2 * sum(x in found for found in kept) > len(kept))


def forecast(base: Strategies, method: Method, training: Miniature | None = None) -> Forecast:
    """What training with a method will make of a base model's strategies.

    Args:
        base: The strategies of the base model, measured from its samples.
        method: Any method that reads rewards and clusters.
        training: How it will be trained; the recipe of `polynomial` by default.
    """
    training = training or Miniature()
    method.check_samples(training.num_samples)
    model = _Model(base, training)
    model.table.check_reads(method.reads)
    return Forecast(tuple(model.train(method, run) for run in range(training.runs)))


@dataclass(frozen=True, eq=False)
class _Model:
    """Two logits for each strategy, of choice and of success; and one for degenerate samples.

    The outcomes are being right with each strategy, being wrong with each, and being degenerate.
    """

    base: Strategies
    training: Miniature

    @property
    def num(self) -> int:
        """C."""
        return len(self.base.labels)

    @cached_property
    def table(self) -> ActionTable:
        """The reward and the cluster of each of the 2C + 1 outcomes."""
        rewards = np.repeat([1.0, 0.0], [self.num, self.num + 1])
        return ActionTable(rewards, clusters=np.append(np.tile(np.arange(self.num), 2), DEGENERATE))

    def start(self) -> tuple[np.ndarray, np.ndarray]:
        """The logits of the base: C + 1 of choice, degenerate samples last, and C of success."""
        rest = max(1 - self.base.shares_C.sum(), 1e-9)
        rates = np.clip(self.base.success_C, FLOOR, 1 - FLOOR)
        return np.log(np.append(self.base.shares_C, rest)), np.log(rates / (1 - rates))

    def train(self, method: Method, run: int) -> Strategies:
        """One run: Adam with one second moment for all logits, and a linear schedule."""
        training = self.training
        rng = np.random.default_rng([training.seed, run])
        choice, success = self.start()
        mean, square = np.zeros(2 * self.num + 1), 0.0
        for step in range(1, training.steps + 1):
            of_choice, of_success = self.update(method, choice, success, rng)
            mean = MEMORIES[0] * mean + (1 - MEMORIES[0]) * np.append(of_choice, of_success)
            square = MEMORIES[1] * square + (1 - MEMORIES[1]) * (of_choice**2).sum()
            length = training.step * (1 - (step - 1) / training.steps)
            root = np.sqrt(square / (1 - MEMORIES[1] ** step))
            moved = length * mean / (1 - MEMORIES[0] ** step) / max(root, 1e-12)
            choice = choice + moved[: self.num + 1]
            success = success + training.skill * moved[self.num + 1 :]
        shares, rates = softmax(choice), 1 / (1 + np.exp(-success))
        kept = np.maximum(shares[:-1], 1e-300)  # positive, also where the exponential is 0
        return Strategies(kept, rates, self.base.labels)

    def update(
        self, method: Method, choice: np.ndarray, success: np.ndarray, rng: np.random.Generator
    ) -> tuple[np.ndarray, np.ndarray]:
        """(1/BN) Σ Aᵢ ∇log π(yᵢ) from fresh samples, for the logits of choice and of success."""
        size = self.training.prompts, self.training.num_samples
        shares, rates = softmax(choice), 1 / (1 + np.exp(-success))
        right = shares[:-1] * rates
        pi = np.concatenate([right, shares[:-1] - right, shares[-1:]])
        drawn = rng.choice(2 * self.num + 1, size=size, p=pi / pi.sum())
        credit = self.table.credit(method, drawn, rng).values_BN
        per_outcome = np.bincount(drawn.ravel(), credit.ravel(), 2 * self.num + 1) / drawn.size
        of_right, of_wrong = per_outcome[: self.num], per_outcome[self.num : -1]
        of_choice = np.append(of_right + of_wrong, per_outcome[-1]) - shares * per_outcome.sum()
        return of_choice, of_right * (1 - rates) - of_wrong * rates
