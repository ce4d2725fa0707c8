"""The records of a step: its metrics, and its samples with their advantages."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Any

import numpy as np

from setrl import DEGENERATE
from setrl.core import methods
from setrl.core.objectives.labels import count_distinct
from setrl.evaluate.estimators import count_labels, pass_at_k
from setrl.evaluate.metrics import powers_of_two
from setrl.logs.records import record_of
from setrl.samples.columns import LABELS
from setrl.samples.samples import Samples
from setrl.train.scoring import ScoredBatch
from setrl.train.scoring.credit import FIELDS

DEAD_GROUPS = "advantage/dead_groups"
EPS = float(np.finfo(float).eps)
COMPARED_K = 4  # of the methods whose advantages stand beside the arm's own
NAMES_SHOWN = 20  # strategies whose shares are recorded; the others are summed

Names = Sequence[Sequence[str | None]]
NameOf = Callable[[str, str], str | None]  # (prompt, text) → the strategy's name


def strategy_names(batch: ScoredBatch, name_of: NameOf | None) -> Names | None:
    """Return the strategies of a batch by a task's own reader; None without a reader."""
    if name_of is None:
        return None
    groups = zip(batch.samples.prompts, batch.samples.texts, strict=True)
    return [[name_of(prompt, text) for text in texts] for prompt, texts in groups]


def batch_metrics(batch: ScoredBatch, names_BN: Names | None = None) -> dict[str, float]:
    """Measure a batch of samples: flat metrics, `stage/quantity`."""
    metrics = _measure_samples(batch)
    if names_BN is not None:
        metrics |= _measure_shares(names_BN)
    if batch.judging is not None:
        metrics |= {"judge/unknown": batch.judging.unknown, "judge/hidden": batch.judging.hidden}
        metrics |= {f"judge/{name}": value for name, value in batch.judging.used.items()}
    return metrics | _measure_advantages(batch)


def evaluation_metrics(batch: ScoredBatch) -> dict[str, list[float]]:
    """Measure samples that enter no loss: rewards, strategies, and pass@k for k = 1, 2, 4, …, N.

    Returns:
        The values of each metric, whose mean over all batches is logged: for pass@k one of each
        prompt with k graded samples or more, so that each prompt counts once.
    """
    values = {key: [value] for key, value in _measure_samples(batch).items()}
    return {**values, **_pass_at_powers(batch.samples.correct)} if has_outcomes(batch) else values


def _pass_at_powers(correct_BN: np.ndarray) -> dict[str, list[float]]:
    """Return pass@k of each prompt, from its graded samples, if there are k of them."""
    graded_B = (~np.isnan(correct_BN)).sum(axis=1)
    right_B = (correct_BN == 1).sum(axis=1)
    passed: dict[str, list[float]] = {}
    for k in powers_of_two(correct_BN.shape[1]):
        enough_B = graded_B >= k
        if enough_B.any():
            values_B = pass_at_k(right_B[enough_B], graded_B[enough_B], k)
            passed[f"reward/pass@{k}"] = values_B.tolist()
    return passed


def _measure_samples(batch: ScoredBatch) -> dict[str, float]:
    """Measure rewards and strategies, which do not depend on the method."""
    metrics = {
        "reward/mean": mean_of(batch.samples.rewards),
        "reward/unknown": mean_of(np.isnan(batch.samples.components)),
    }
    if has_outcomes(batch):
        metrics["reward/pass@1"] = mean_of(batch.samples.correct)
        metrics["reward/ungraded"] = mean_of(np.isnan(batch.samples.correct))
    if batch.samples.strategies is not None:
        metrics |= _measure_strategies(batch, batch.samples.strategies)
    return metrics


def has_outcomes(batch: ScoredBatch) -> bool:
    """Return whether it is known of any sample that it is right, or wrong."""
    return not np.isnan(batch.samples.correct).all()


def _measure_strategies(batch: ScoredBatch, strategies_BN: np.ndarray) -> dict[str, float]:
    """Measure the strategies of the samples that have a label; NaN if none has."""
    known_BN = ~np.isnan(strategies_BN)
    labels_BN = np.where(known_BN, strategies_BN, DEGENERATE).astype(np.int64)
    is_judged_B, right_BN = known_BN.any(axis=1), batch.samples.correct == 1
    is_graded_B = is_judged_B & ~np.isnan(batch.samples.correct).all(axis=1)
    correct_BN = np.where(right_BN, labels_BN, DEGENERATE)
    of_correct = {
        "strategies/correct_per_prompt": mean_of(count_distinct(correct_BN)[is_graded_B]),
        "strategies/correct_degenerate": mean_of(labels_BN[right_BN & known_BN] == DEGENERATE),
    }
    most_B = count_labels(labels_BN).max(axis=1)
    top_share_B = np.where(most_B, most_B, np.nan) / np.maximum(known_BN.sum(axis=1), 1)
    return {
        "strategies/per_prompt": mean_of(count_distinct(labels_BN)[is_judged_B]),
        **(of_correct if has_outcomes(batch) else {}),
        "strategies/top_share": mean_of(top_share_B),
        "strategies/degenerate": mean_of(labels_BN[known_BN] == DEGENERATE),
    }


def _measure_shares(names_BN: Names) -> dict[str, float]:
    """Return the share of each strategy in all samples; an unreadable sample has no strategy."""
    count = Counter(name for names in names_BN for name in names if name is not None)
    num_samples = sum(len(names) for names in names_BN)
    shown = dict(count.most_common(NAMES_SHOWN))
    if num_unshown := count.total() - sum(shown.values()):
        shown["other"] = shown.get("other", 0) + num_unshown
    return {f"strategies/share/{name}": times / num_samples for name, times in shown.items()}


def _measure_advantages(batch: ScoredBatch) -> dict[str, float]:
    values_BN, usable_BN = batch.advantages.values_BN, batch.advantages.usable_BN
    correct_BN = batch.samples.correct
    against = {
        "advantage/wrong_positive": mean_of(values_BN[usable_BN & (correct_BN == 0)] > 0),
        "advantage/correct_negative": mean_of(values_BN[usable_BN & (correct_BN == 1)] < 0),
    }
    return {
        **(against if has_outcomes(batch) else {}),
        DEAD_GROUPS: mean_of(dead_groups(batch)),
        "reward/dead_groups": mean_of(_find_equal_rewards(batch.samples.rewards)),
        "advantage/left_out": mean_of(~usable_BN),
        "advantage/skipped": mean_of(batch.advantages.skipped_B),
    }


def had_signal(records: Iterable[Mapping[str, Any]]) -> bool:
    """Return whether a sample had an advantage in any of the steps that were recorded."""
    return any(record.get(DEAD_GROUPS, 1) < 1 for record in records)


def dead_groups(batch: ScoredBatch) -> np.ndarray:
    """Return which prompts train nothing, (B,) bool: all their advantages are 0."""
    return (batch.advantages.values_BN == 0).all(axis=1)


def _find_equal_rewards(rewards_BN: np.ndarray) -> np.ndarray:
    """Return which of the prompts with a reward a filter on their variance would drop, bool."""
    rewards_BN = rewards_BN[~np.isnan(rewards_BN).all(axis=1)]
    return np.nanmax(rewards_BN, axis=1) <= np.nanmin(rewards_BN, axis=1)


def mean_of(values: Any) -> float:
    """Return the mean of the known values; NaN without any, and 0 where only rounding is left.

    Normalised rewards have a mean of 0, and their sum in floating point some -2.78e-17.
    """
    array = np.asarray(values, dtype=float)
    numbers = array[~np.isnan(array)]
    if not numbers.size:
        return float("nan")
    mean = float(numbers.mean())
    return 0.0 if abs(mean) <= EPS * np.abs(numbers).max() else mean


def rollout_records(batch: ScoredBatch, names_BN: Names | None, step: int) -> list[dict[str, Any]]:
    """Make a record of each prompt: its samples with their advantages, also by other methods.

    `strategies` has the labels that the method compared, and `read` the strategies that a task's
    own reader finds in the texts, if there is one. The fields that the method read are there, so
    that `setrl credit` gives a record the same advantages again. Pairs are left out: there are too
    many.
    """
    columns, compared = _list_columns(batch, names_BN), _credit_by_others(batch)
    return [
        record_of(
            f"{step}/{b}",
            prompt,
            {key: values_BN[b] for key, values_BN in columns.items()},
            step=step,
            **_mark_unjudged(batch, b),
            counterfactual={name: values_BN[b].tolist() for name, values_BN in compared.items()},
        )
        for b, prompt in enumerate(batch.samples.prompts)
    ]


def _list_columns(batch: ScoredBatch, names_BN: Names | None) -> dict[str, Sequence[Sequence[Any]]]:
    """Return what records say of samples: key of a sample → the values of all samples."""
    samples = batch.samples
    columns = {
        "text": samples.texts,
        "reward": samples.rewards.tolist(),
        "correct": [
            [None if np.isnan(outcome) else bool(outcome) for outcome in row]
            for row in samples.correct.tolist()
        ],
        "strategy": samples.labels("strategies"),
        "read": names_BN,
        **{key: _read_field(samples, name) for name, key in FIELDS.items()},
        "tokens": None if samples.tokens is None else samples.tokens.tolist(),
        "advantage": batch.advantages.values_BN.tolist(),
    }
    return {key: values_BN for key, values_BN in columns.items() if values_BN is not None}


def _read_field(samples: Samples, name: str) -> Sequence[Sequence[Any]] | None:
    values_BN = samples.columns.get(name)
    return samples.labels(name) if values_BN is None or name in LABELS else values_BN.tolist()


def _credit_by_others(batch: ScoredBatch) -> dict[str, np.ndarray]:
    """Return the advantages by three other methods; K is in the name, and the same for all arms."""
    k = min(COMPARED_K, batch.samples.num_samples - 1)
    compared = {"grpo": methods.dr_grpo(), f"maxpo@{k}": methods.maxpo(k)}
    if batch.samples.strategies is not None:
        compared[f"poly_epo@{k}"] = methods.poly_epo(k)
    return {name: method.advantages(batch.samples).values_BN for name, method in compared.items()}


def _mark_unjudged(batch: ScoredBatch, b: int) -> dict[str, Any]:
    """Mark the record of a prompt that could not be judged, as `setrl judge` does."""
    strategies_BN = batch.samples.strategies
    if batch.judging is None or strategies_BN is None or not np.isnan(strategies_BN[b]).all():
        return {}
    return {"judged": {"strategy": {"unknown": "the judge failed"}}}
