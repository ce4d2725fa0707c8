"""The samples of a step, as they enter the loss, and what methods may read of them."""

from __future__ import annotations

from collections.abc import Collection, Mapping
from dataclasses import dataclass, field

import numpy as np

from setrl import Advantages, AnyMethod
from setrl.core.advantages import require_method
from setrl.engines.judging import JudgingTimes
from setrl.engines.labels import Label

FIELDS = frozenset({"rewards", "clusters"})  # what every trainer can know of a sample


def check_method(
    method: AnyMethod, num_samples: int, called: str, known: Collection[str] | None = None
) -> None:
    """Refuse a method that no trainer can use: N is too small, or it reads unknown fields.

    Args:
        method: The method.
        num_samples: N.
        called: What the caller calls N, for the message.
        known: The fields that it is given; None where a trainer takes no others than `FIELDS`.

    Raises:
        ValueError: Naming the method and what is wrong.
    """
    require_method(method)
    try:
        method.check_samples(num_samples, called)
    except ValueError as error:
        raise ValueError(f"{method.name}: {error}") from None
    if unknown := sorted(set(method.reads) - set(FIELDS if known is None else known)):
        raise ValueError(
            f"{method.name} reads {' and '.join(unknown)}"
            + (
                f", which this trainer does not know: it knows {' and '.join(sorted(FIELDS))}"
                if known is None
                else f": pass fields={{{unknown[0]!r}: …}}, a function or the name of a column"
            )
        )


@dataclass(frozen=True)
class ScoredBatch:
    """The samples of one generation over all processes, as they enter the loss.

    Attributes:
        prompts_B: The prompts.
        texts_BN: The samples.
        rewards_BN: Their rewards; NaN where no reward function gave one.
        clusters_BN: Labels of their strategies, −1 degenerate, NaN unknown; None if not asked for.
            Where the cluster function gives names, a name's number is the same within the batch.
        advantages: The method's result; `advantages.values_BN` is what entered the loss.
        seconds: Time spent on this process, by part: generation, verification, judging, credit.
        judging: What judging cost; None if a function labels the samples.
        labels_BN: What the cluster function or the judge called the strategies: names, or integers
            where it gives no names; −1 degenerate, None unknown. None as a whole if not asked for.
        outcomes_BN: Where rewards are combined, the one that decides which samples are right; NaN
            unknown. None: `rewards_BN` decides.
        fields: Further fields that the method was given: `answers`, `proxy`, `second`, `families`
            (B, N) and `pairs` (B, N, N), with NaN or None where unknown.
    """

    prompts_B: list[str]
    texts_BN: list[list[str]]
    rewards_BN: np.ndarray
    clusters_BN: np.ndarray | None
    advantages: Advantages
    seconds: dict[str, float]
    judging: JudgingTimes | None = None
    labels_BN: list[list[Label]] | None = None
    outcomes_BN: np.ndarray | None = None
    fields: Mapping[str, np.ndarray] = field(default_factory=dict)
