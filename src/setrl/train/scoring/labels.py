"""What a judge says about samples, as columns of labels."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import chain

from setrl.judges import Judgement
from setrl.samples.values import DEGENERATE, Label, read_label


def strategies_of(judgements: Sequence[Judgement], num_samples: int) -> list[Label]:
    """Return the labels of all samples: names where the judge gives them, else its numbers."""
    return [*chain.from_iterable(_named(one, num_samples) for one in judgements)]


def families_of(judgements: Sequence[Judgement], num_samples: int) -> list[Label]:
    """Return the families of all samples; None where the judge gives none."""
    unknown = (None,) * num_samples
    return [family for one in judgements for family in one.read(num_samples).families_N or unknown]


def _named(judgement: Judgement, num_samples: int) -> Sequence[Label]:
    numbers = judgement.read(num_samples).labels_N
    if numbers is None:
        return [None] * num_samples
    names = judgement.names_N or [None] * num_samples
    labels = [number if number == DEGENERATE or not name else read_label(name)
              for number, name in zip(numbers, names, strict=True)]  # fmt: skip
    # What the judge compares are its numbers: a name that two of them share says less.
    pairs = set(zip(numbers, labels, strict=True))
    is_named = len(set(labels)) == len(set(numbers)) == len(pairs)
    return labels if is_named and labels.count(DEGENERATE) == numbers.count(DEGENERATE) else numbers
