"""How far apart samples are as texts: the field `pairs`, without a judge."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Literal

from setrl.samples.conversation import Text, sample_text


@dataclass(frozen=True)
class NgramDistance:
    """pairsᵢⱼ = 1 − |Gᵢ ∩ Gⱼ| / |Gᵢ ∪ Gⱼ|, the Jaccard distance of the n-grams G of two samples.

    From 0, for samples with the same n-grams, to 1. `objectives.pairwise_distance` reads it. A
    mistake is as different as another strategy, so this measures wording, not strategies: give it
    to a product with the reward, such as `polychromic(pairwise_distance())`.

    Attributes:
        length: n, at least 1. A text that is shorter is one n-gram; two empty texts are equal.
        of: What an n-gram is made of.
    """

    length: int = 4
    of: Literal["characters", "words"] = "characters"

    def __post_init__(self) -> None:
        if self.length < 1 or self.of not in ("characters", "words"):
            raise ValueError(
                "NgramDistance needs length ≥ 1 and characters or words, "
                f"got length={self.length!r}, of={self.of!r}"
            )

    def __call__(self, *, completions: Sequence[Text], **columns: Any) -> list[list[float]]:
        """Return the distances of one prompt's samples, N × N.

        >>> NgramDistance(length=2)(completions=["abc", "abd", ""])[0]  # {ab, bc}, {ab, bd}
        [0.0, 0.6666666666666667, 1.0]
        """
        grams = [self._make_ngrams(sample_text(completion)) for completion in completions]
        return [[1 - len(a & b) / len(a | b) for b in grams] for a in grams]

    def _make_ngrams(self, text: str) -> set[Any]:
        parts = text if self.of == "characters" else text.split()
        return {tuple(gram) for gram in ngrams(parts, self.length)}


def ngrams(parts: Sequence[str], length: int) -> list[Sequence[str]]:
    """Return every run of `length` parts, in order; a shorter sequence is one run.

    >>> ngrams("abcd", 3), ngrams("ab", 3)
    (['abc', 'bcd'], ['ab'])
    """
    return [parts[i : i + length] for i in range(max(1, len(parts) - length + 1))]
