"""Why prompts have no credit: what is unknown about their samples."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from setrl import Advantages
from setrl.judges import Judgement
from setrl.train.scoring.batch import Columns

CUT = "cut at the length limit"
NO_REWARD = "no reward"
NO_STRATEGY = "no strategy"
NO_VERDICT = "right or wrong is not known"
TOO_FEW = "too few samples"


@dataclass(frozen=True)
class Missing:
    """Why one prompt has no credit.

    Attributes:
        reason: What most of its samples lack, in a few words.
        detail: What the judge or its server answered instead, shortened; None if not known.
    """

    reason: str
    detail: str | None = None

    @classmethod
    def by_judge(cls, judgement: Judgement) -> Missing | None:
        """Return why a judge gave no strategies; None if it gave some, or no reason."""
        if judgement.labels_N is not None or judgement.reason is None:
            return None
        return cls(f"judge: {judgement.reason}", judgement.detail)


def missing_credit(
    columns: Columns,
    rewards_BNR: np.ndarray,
    known: Mapping[str, np.ndarray | None],
    advantages: Advantages,
) -> tuple[Missing | None, ...]:
    """Return why each prompt has no credit; None for a prompt with credit.

    Args:
        columns: What is known about the samples.
        rewards_BNR: The rewards before they are combined, NaN where unknown.
        known: Field → its values, NaN or None where unknown; rewards and strategies among them.
        advantages: What the method made of the samples.
    """
    skipped_B = np.asarray(advantages.skipped_B)
    unknown = {name: _unknown(one) for name, one in known.items() if one is not None}
    is_left_out_BN = ~np.asarray(advantages.usable_BN)
    cut_BN = np.zeros(is_left_out_BN.shape, dtype=bool)
    if columns.cut is not None:
        cut_BN = np.reshape(columns.cut, cut_BN.shape) & ~np.isnan(rewards_BNR).any(axis=2)
    lacks = {CUT: cut_BN & unknown["rewards"], NO_REWARD: unknown["rewards"] & ~cut_BN}
    lacks |= {_named(name): lacks_BN for name, lacks_BN in unknown.items() if name != "rewards"}
    counts = {why: (lacks_BN & is_left_out_BN).sum(axis=1) for why, lacks_BN in lacks.items()}
    by_prompt = [Counter({why: int(n_B[b]) for why, n_B in counts.items()})
                 for b in range(len(skipped_B))]  # fmt: skip
    n = is_left_out_BN.shape[1]
    return tuple(
        _missing(by_prompt[b], columns.strategies, b, n) if is_skipped else None
        for b, is_skipped in enumerate(skipped_B)
    )


def _unknown(values: np.ndarray) -> np.ndarray:
    """Return which samples lack a value, (B, N)."""
    if values.dtype == object:  # answers
        return np.array([[one is None or one != one for one in row] for row in values])
    unknown = np.isnan(values)
    return unknown.diagonal(axis1=1, axis2=2) if values.ndim == 3 else unknown


def _named(field: str) -> str:
    return {"strategies": NO_STRATEGY, "correct": NO_VERDICT}.get(field, f"no {field}")


def _missing(counts: Counter[str], strategies: object, b: int, num_samples: int) -> Missing:
    """Name what most samples of a prompt lack; a judge says why it gave no strategy."""
    [(why, number)] = counts.most_common(1)
    if not number:
        return Missing(TOO_FEW)
    told = _told(strategies, b, num_samples) if why == NO_STRATEGY else None
    return told or Missing(why)


def _told(strategies: object, b: int, num_samples: int) -> Missing | None:
    """Return what the judge says about a prompt, once for the prompt or in a sample's place."""
    if not isinstance(strategies, Sequence) or not strategies:
        return None
    if isinstance(strategies[0], Judgement):
        return Missing.by_judge(strategies[b])
    labels = strategies[b * num_samples : (b + 1) * num_samples]
    return next((one for one in labels if isinstance(one, Missing)), None)
