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
from setrl.samples.samples import right_by_reward
from setrl.samples.values import DEGENERATE
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
    def of_groups(cls, rewards_BN: ArrayLike, strategies_BN: ArrayLike) -> Strategies:
        """Measure logged samples, over all prompts: a label is the same strategy in all of them.

        Args:
            rewards_BN: 1 for a right sample, 0 for a wrong one; NaN leaves a sample out.
            strategies_BN: Labels of strategies, integers; −1 is degenerate, and counts as wrong.
        """
        rewards, labels = np.asarray(rewards_BN, dtype=np.float64), np.asarray(strategies_BN)
        if rewards.shape != labels.shape:
            raise ValueError(
                f"rewards_BN and strategies_BN must have one shape, got {rewards.shape} and "
                f"{labels.shape}"
            )
        if labels.size and labels.dtype.kind not in "iu":
            raise ValueError(
                f"strategies_BN must be integers, -1 for degenerate, got {labels.dtype}: number "
                "the strategies, or count them for Strategies.of_counts"
            )
        known = ~np.isnan(rewards)
        is_right = right_by_reward(rewards)
        right = {c: int(is_right[known & (labels == c)].sum()) for c in np.unique(labels)}
        counts = {c: (n, int((known & (labels == c)).sum()) - n) for c, n in right.items()}
        return cls.of_counts(
            {int(c): pair for c, pair in counts.items() if c != DEGENERATE},
            degenerate=sum(counts.get(DEGENERATE, (0, 0))),
        )

    @classmethod
    def of_counts(cls, counts: Mapping[Any, tuple[int, int]], degenerate: int = 0) -> Strategies:
        """Measure counts of right and wrong samples by strategy, the most frequent first."""
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
        """Return the strategies with at least this share of all samples."""
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
        skill: How fast the logits of success move, relative to the logits of choice; 0 keeps them.
        runs: Over how many runs the forecast is averaged.
        seed: Draws the samples.
        label_noise: The probability that the judge gives a sample another strategy of its group,
            or into a new one, as `studies.faulty.NoisyJudge` does.
    """

    steps: int = 200
    prompts: int = 16
    num_samples: int = 16
    step: float = 0.6
    skill: float = 0.12
    runs: int = 4
    seed: int = 0
    label_noise: float = 0.0

    def __post_init__(self) -> None:
        for name in ("steps", "prompts", "num_samples", "runs"):
            if getattr(self, name) < 1:
                raise ValueError(f"{name} must be at least 1, got {getattr(self, name)}")
        if not (self.step > 0 and self.skill >= 0):
            raise ValueError(
                f"step must be positive and skill at least 0, got {self.step} and {self.skill}"
            )
        if not 0 <= self.label_noise <= 1:
            raise ValueError(f"label_noise must be in [0, 1], got {self.label_noise}")


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
        """Return the strategies that have at least this share in more than half of the runs."""
        kept = [set(end.survivors(least)) for end in self.ends]
        labels = self.ends[0].labels
        return tuple(x for x in labels if 2 * sum(x in found for found in kept) > len(kept))


def forecast(base: Strategies, method: Method, training: Miniature | None = None) -> Forecast:
    """Forecast what training with a method will make of a base model's strategies.

    Args:
        base: The strategies of the base model, measured from its samples.
        method: Any method that reads rewards and strategies.
        training: How it will be trained; the recipe of `polynomial` by default.
    """
    return forecasts([base], method, training)[0]


def forecasts(
    bases: Sequence[Strategies], method: Method, training: Miniature | None = None
) -> list[Forecast]:
    """Forecast for each of several bases with the same strategies, trained side by side.

    Many small training runs cost little more than one: the bases may be resamples of one log. They
    all see the same random numbers, so that they differ by what the bases are.
    """
    training = training or Miniature()
    method.check_samples(training.num_samples)
    if len({base.labels for base in bases}) > 1:
        raise ValueError("the bases must have the same labels in the same order")
    model = _Model(bases, training)
    model.table.check_reads(method.reads)
    ends = model.train(method)
    runs = training.runs
    return [Forecast(tuple(ends[place : place + runs])) for place in range(0, len(ends), runs)]


@dataclass(frozen=True, eq=False)
class _Model:
    """Two logits for each strategy, of choice and of success; and one for degenerate samples.

    The outcomes are being right with each strategy, being wrong with each, and being degenerate.
    R training runs go side by side: each base with each run.
    """

    bases: Sequence[Strategies]
    training: Miniature

    @property
    def num(self) -> int:
        """C."""
        return len(self.bases[0].labels)

    @cached_property
    def table(self) -> ActionTable:
        """The reward and the strategy of each of the 2C + 1 outcomes."""
        rewards = np.repeat([1.0, 0.0], [self.num, self.num + 1])
        return ActionTable(
            rewards, strategies=np.append(np.tile(np.arange(self.num), 2), DEGENERATE)
        )

    def start(self) -> tuple[np.ndarray, np.ndarray]:
        """Return logits of the bases: choice (R, C + 1), degenerate last, and success (R, C)."""
        shares_RC = np.repeat([base.shares_C for base in self.bases], self.training.runs, axis=0)
        success_RC = np.repeat([base.success_C for base in self.bases], self.training.runs, axis=0)
        rest_R = np.maximum(1 - shares_RC.sum(axis=1), 1e-9)
        rates_RC = np.clip(success_RC, FLOOR, 1 - FLOOR)
        choice = np.log(np.column_stack([shares_RC, rest_R]))
        return choice, np.log(rates_RC / (1 - rates_RC))

    def train(self, method: Method) -> list[Strategies]:
        """Train all copies: Adam with one second moment each, and a linear schedule."""
        training = self.training
        choice, success = self.start()
        runs = [r % training.runs for r in range(len(choice))]
        rngs = [np.random.default_rng([training.seed, run]) for run in runs]
        mean, square_R = np.zeros((len(choice), 2 * self.num + 1)), np.zeros(len(choice))
        for step in range(1, training.steps + 1):
            of_choice, of_success = self.update(method, choice, success, rngs)
            both = np.hstack([of_choice, of_success])
            mean = MEMORIES[0] * mean + (1 - MEMORIES[0]) * both
            square_R = MEMORIES[1] * square_R + (1 - MEMORIES[1]) * (of_choice**2).sum(axis=1)
            length = training.step * (1 - (step - 1) / training.steps)
            root_R = np.sqrt(square_R / (1 - MEMORIES[1] ** step))
            scale_R1 = length / (1 - MEMORIES[0] ** step) / np.maximum(root_R, 1e-12)[:, None]
            choice = choice + scale_R1 * mean[:, : self.num + 1]
            success = success + training.skill * scale_R1 * mean[:, self.num + 1 :]
        shares_RC, rates_RC = softmax(choice)[:, :-1], 1 / (1 + np.exp(-success))
        kept_RC = np.maximum(shares_RC, 1e-300)  # positive, also where the exponential is 0
        labels = self.bases[0].labels
        return [Strategies(q, s, labels) for q, s in zip(kept_RC, rates_RC, strict=True)]

    def update(
        self,
        method: Method,
        choice: np.ndarray,
        success: np.ndarray,
        rngs: Sequence[np.random.Generator],
    ) -> tuple[np.ndarray, np.ndarray]:
        """(1/BN) Σ Aᵢ ∇log π(yᵢ) from fresh samples, for the logits of choice and of success."""
        size = self.training.prompts, self.training.num_samples
        shares, rates = softmax(choice), 1 / (1 + np.exp(-success))
        right = shares[:, :-1] * rates
        pi = np.hstack([right, shares[:, :-1] - right, shares[:, -1:]])
        num = 2 * self.num + 1
        drawn_RBN = np.array(
            [rng.choice(num, size=size, p=p / p.sum()) for rng, p in zip(rngs, pi, strict=True)]
        )
        credit = self.credit(method, drawn_RBN.reshape(-1, size[1]), rngs[0])
        offset = num * np.arange(len(pi))[:, None, None]
        total = np.bincount((drawn_RBN + offset).ravel(), credit.ravel(), num * len(pi))
        per_outcome = total.reshape(len(pi), num) / (size[0] * size[1])
        of_right, of_wrong = per_outcome[:, : self.num], per_outcome[:, self.num : -1]
        of_choice = np.hstack([of_right + of_wrong, per_outcome[:, -1:]])
        of_choice -= shares * per_outcome.sum(axis=1, keepdims=True)
        return of_choice, of_right * (1 - rates) - of_wrong * rates

    def credit(self, method: Method, drawn_MN: np.ndarray, rng: np.random.Generator) -> np.ndarray:
        """Return the advantages of M groups, whose labels the judge may have mistaken."""
        if not self.training.label_noise:
            return self.table.credit(method, drawn_MN, rng).values_BN
        outcomes = self.table.samples.sets(drawn_MN)
        strategies_MN = mistaken(outcomes.strategies[0], self.training.label_noise, self.num, rng)
        return method.advantages(outcomes.rewards[0], strategies=strategies_MN, rng=rng).values_BN


def mistaken(
    strategies_MN: np.ndarray, chance: float, num_labels: int, rng: np.random.Generator
) -> np.ndarray:
    """Move each label with this chance, as `studies.faulty.NoisyJudge` moves them.

    The new place is drawn uniformly from the other strategies of the group and a new one, unless
    no other sample has its strategy. No sample becomes degenerate.

    Args:
        strategies_MN: Labels from −1 to `num_labels` − 1.
        chance: The chance of each sample.
        num_labels: C; new strategies get labels from C on.
        rng: Draws.
    """
    rows, columns = np.nonzero(rng.random(strategies_MN.shape) < chance)
    size_MC = np.zeros((len(strategies_MN), num_labels), dtype=int)
    group, place = np.nonzero(strategies_MN != DEGENERATE)
    np.add.at(size_MC, (group, strategies_MN[group, place]), 1)
    own_m = strategies_MN[rows, columns]
    has_own_m = own_m != DEGENERATE
    sizes_mC = size_MC[rows]
    is_alone_m = has_own_m & (sizes_mC[np.arange(len(rows)), own_m] == 1)
    open_mC = np.column_stack([sizes_mC > 0, ~is_alone_m])
    open_mC[np.flatnonzero(has_own_m), own_m[has_own_m]] = False
    best_m = np.where(open_mC, rng.random(open_mC.shape), -1.0).argmax(axis=1)
    new_m = np.where(best_m == num_labels, num_labels + columns, best_m)
    moved_MN = strategies_MN.copy()
    moved_MN[rows, columns] = np.where(open_mC.any(axis=1), new_m, own_m)
    return moved_MN
