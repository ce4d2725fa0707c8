"""Why prompts have no credit: what is unknown about their samples."""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection, Sequence
from dataclasses import dataclass

import numpy as np

from setrl import Advantages
from setrl.judges import Judgement
from setrl.samples.samples import Samples

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
    samples: Samples,
    reads: Collection[str],
    advantages: Advantages,
    said: object = None,
    cut_BN: np.ndarray | None = None,
) -> tuple[Missing | None, ...]:
    """Return why each prompt has no credit; None for a prompt with credit.

    Args:
        samples: The samples.
        reads: What the method reads.
        advantages: What the method made of the samples.
        said: The column of strategies, where a judge may have said why one is missing.
        cut_BN: The samples that lost their rewards because they were cut; None if none did.
    """
    skipped_B = np.asarray(advantages.skipped_B)
    known = {k: v for k, v in samples.columns.items() if k not in ("correct", "mask") or k in reads}
    unknown = {name: _unknown(one) for name, one in known.items()}
    is_left_out_BN = ~np.asarray(advantages.usable_BN)
    cut_BN = np.zeros(is_left_out_BN.shape, dtype=bool) if cut_BN is None else cut_BN
    lacks = {CUT: cut_BN & unknown["rewards"], NO_REWARD: unknown["rewards"] & ~cut_BN}
    lacks |= {_named(name): lacks_BN for name, lacks_BN in unknown.items() if name != "rewards"}
    counts = {why: (lacks_BN & is_left_out_BN).sum(axis=1) for why, lacks_BN in lacks.items()}
    by_prompt = [Counter({why: int(n_B[b]) for why, n_B in counts.items()})
                 for b in range(len(skipped_B))]  # fmt: skip
    n = is_left_out_BN.shape[1]
    return tuple(
        _missing(by_prompt[b], said, b, n) if is_skipped else None
        for b, is_skipped in enumerate(skipped_B)
    )


def _unknown(values: np.ndarray) -> np.ndarray:
    """Return which samples lack a value, (B, N)."""
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
