"""Logged groups as counts: the strategies that samples use, and how many of each are right."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Any, Literal

import numpy as np

from setrl.evaluate.agreement import flips
from setrl.evaluate.samples import Evaluation
from setrl.recommend.forecasts import Strategies
from setrl.samples.strategies import DEGENERATE
from setrl.support.errors import DataError
from setrl.support.wording import count

Labels = Literal["auto", "shared", "by_prompt"]
FEWEST = 5  # prompts: resampling fewer says nothing about other prompts
RAREST = 1e-9  # share of a strategy that a resample lacks
OFTEN = 0.5  # share of right samples with a repeated label, from which on labels are shared


@dataclass(frozen=True, eq=False)
class Logged:
    """Counts of P prompts and C strategies.

    Attributes:
        labels: Names of the strategies, the most frequent first; empty where none is known.
        right_PC: Right samples of each strategy.
        all_PC: All samples of each.
        right_P: Right samples, also those without a strategy.
        n_P: Samples.
        is_shared: Whether a label means the same strategy in all prompts. If not, labels are ranks:
            the most frequent strategy of each prompt, the second, ….
        why_ranks: Why labels are ranks; empty if they are shared.
    """

    labels: tuple[str, ...]
    right_PC: np.ndarray
    all_PC: np.ndarray
    right_P: np.ndarray
    n_P: np.ndarray
    is_shared: bool = True
    why_ranks: str = ""

    @classmethod
    def of(cls, found: Evaluation, labels: Labels = "auto") -> Logged:
        """Count the samples of an evaluation file or a log.

        Raises:
            DataError: If the groups cannot say anything: too few, or all samples alike.
        """
        n_P = np.broadcast_to(found.sizes, len(found.prompts)).astype(int)
        _refuse_uninformative(found.correct_count_P, n_P)
        names = found.strategy_names
        numbers_PN = found.strategies_PN
        # Only right samples: a wrong one may well have the label that is right elsewhere.
        right_PN = np.where(found.correct_PN, numbers_PN, DEGENERATE)
        why = _why_ranks(labels, names, right_PN)
        is_shared = bool(names) and not why
        if names and not is_shared:
            numbers_PN = _ranks(numbers_PN)
            names = tuple(f"no. {rank}" for rank in range(1, int(numbers_PN.max(initial=-1)) + 2))
        all_PC = _counts(numbers_PN, len(names))
        right_PN = np.where(found.correct_PN, numbers_PN, DEGENERATE)
        right_PC = _counts(right_PN, len(names))
        order = np.argsort(-all_PC.sum(axis=0), kind="stable")
        names = tuple(names[place] for place in order)
        counts = right_PC[:, order], all_PC[:, order], found.correct_count_P, n_P
        return cls(names, *counts, is_shared, why)

    @property
    def rate_P(self) -> np.ndarray:
        """p̂ of each prompt."""
        return self.right_P / self.n_P

    @property
    def degenerate(self) -> float:
        """The share of samples without a strategy."""
        return float(1 - self.all_PC.sum() / self.n_P.sum())

    @property
    def right_strategies_P(self) -> np.ndarray:
        """How many strategies of each prompt have a right sample; the model may know more."""
        return (self.right_PC > 0).sum(axis=1)

    @property
    def wrong_have_strategies(self) -> bool:
        """Whether wrong samples have strategies, which a method may then pay for."""
        return bool((self.all_PC > self.right_PC).any())

    def strategies(self, weight_P: np.ndarray | None = None) -> Strategies:
        """Shares and success over all prompts, which may be weighted."""
        weights = np.ones(len(self.n_P)) if weight_P is None else weight_P
        all_C, right_C = weights @ self.all_PC, weights @ self.right_PC
        overall_C = self.right_PC.sum(axis=0) / np.maximum(self.all_PC.sum(axis=0), 1)
        success_C = np.where(all_C > 0, right_C / np.maximum(all_C, RAREST), overall_C)
        shares_C = np.maximum(all_C / (weights @ self.n_P), RAREST)
        return Strategies(shares_C / max(shares_C.sum(), 1.0), success_C, self.labels)

    def resampled(self, resamples: int, seed: int = 0) -> list[Strategies]:
        """Return the strategies of resampled prompts."""
        num, rng = len(self.n_P), np.random.default_rng(seed)
        times_DP = rng.multinomial(num, np.full(num, 1 / num), size=resamples)
        return [self.strategies(times_P) for times_P in times_DP]

    def alike(self, num_samples: int) -> float:
        """Return the share of groups of N samples that are all right or all wrong, over draws of N.

        The mean of (C(c, N) + C(n − c, N)) / C(n, N) over prompts with n ≥ N; NaN without any.
        """
        shares, taken_N = [], np.arange(num_samples)
        for right, n in zip(self.right_P.tolist(), self.n_P.tolist(), strict=True):
            if n >= num_samples:
                missed = np.clip([right - taken_N, n - right - taken_N], 0, None) / (n - taken_N)
                shares.append(missed.prod(axis=1).sum())
        return float(np.mean(shares)) if shares else float("nan")

    def as_large_as(self, num_samples: int) -> int:
        """Return how many prompts have at least N samples."""
        return int((self.n_P >= num_samples).sum())


def disagreement(first: Evaluation, second: Evaluation) -> float:
    """Return the mean share of a prompt's samples that two labelings cluster differently."""
    rows = zip(first.strategies_PN, second.strategies_PN, first.present_PN, strict=True)
    return float(
        np.mean([flips(one[there].tolist(), two[there].tolist()) for one, two, there in rows])
    )


def means_the_same(names: Iterable[str], numbers_PN: np.ndarray) -> bool:
    """Whether labels seem to be names that prompts share.

    Not if all of them are whole numbers, which judges count anew for each prompt, or if most
    samples have a label that no other prompt has. Only right samples should be given.
    """
    names = list(names)
    return not _are_numbers(names) and _repeated(numbers_PN, len(names)) >= OFTEN


def _why_ranks(labels: Labels, names: Sequence[str], right_PN: np.ndarray) -> str:
    """Why labels are compared by rank; empty if they are taken as shared."""
    if labels == "shared" or not names:
        return ""
    if labels == "by_prompt":
        return "--labels by_prompt says so"
    if means_the_same(names, right_PN):
        return ""
    if _are_numbers(names):
        return "all labels are whole numbers"
    return (
        f"fewer than half of right samples ({_repeated(right_PN, len(names)):.0%}) have a label "
        "that is right in another prompt, too"
    )


def _are_numbers(names: Sequence[str]) -> bool:
    return all(name.isdecimal() for name in names)


def _repeated(numbers_PN: np.ndarray, num: int) -> float:
    """Return the share of labelled samples whose label another prompt has too; 1 without labels."""
    all_PC = _counts(numbers_PN, num)
    is_repeated_C = (all_PC > 0).sum(axis=0) > 1
    return float(all_PC[:, is_repeated_C].sum() / all_PC.sum()) if all_PC.any() else 1.0


def _refuse_uninformative(right_P: np.ndarray, n_P: np.ndarray) -> None:
    if len(n_P) < FEWEST:
        raise DataError(
            f"too few prompts to say something about others: {len(n_P)}; log at least {FEWEST}, "
            "better 50"
        )
    if n_P.max() == 1:
        raise DataError(
            "every prompt has one sample: set methods compare several samples of a prompt"
        )
    for right, what, then in (
        (0, "wrong", "give it easier problems, more samples, or a better base model"),
        (n_P.sum(), "right", "there is nothing that rewards could still teach"),
    ):
        if right_P.sum() == right:
            raise DataError(
                f"all {count(int(n_P.sum()), 'sample')} are {what}: no method that reads rewards "
                f"can learn from such groups; {then}"
            )


def _counts(numbers_PN: np.ndarray, num: int) -> np.ndarray:
    """How many samples of each prompt have each label, (P, C)."""
    rows, columns = np.nonzero(numbers_PN >= 0)
    counts: Any = np.zeros((len(numbers_PN), num), dtype=int)
    np.add.at(counts, (rows, numbers_PN[rows, columns]), 1)
    return counts


def _ranks(numbers_PN: np.ndarray) -> np.ndarray:
    """Each label as its rank by frequency within its prompt, from 0."""
    ranks_PN = np.full(numbers_PN.shape, DEGENERATE)
    for row, numbers_N in zip(ranks_PN, numbers_PN, strict=True):
        labels, counts = np.unique(numbers_N[numbers_N >= 0], return_counts=True)
        for rank, label in enumerate(labels[np.argsort(-counts, kind="stable")]):
            row[numbers_N == label] = rank
    return ranks_PN
