"""Reward functions in TRL's interface, from a domain's verifier and its reader of strategies."""

from __future__ import annotations

import hashlib
from collections.abc import Sequence
from functools import lru_cache
from typing import Any

from setrl.samples.conversation import Text, plain_text
from setrl.samples.values import DEGENERATE
from setrl.tasks.domains import Domain, Reading

LABELS = 2**24  # TRL keeps rewards in float32, which holds every integer up to this one


class Verifier:
    """The functions `correct` and `strategy` of a domain, which reads each sample once for both."""

    def __init__(self, domain: Domain):
        self.domain = domain
        self._read = lru_cache(maxsize=2**16)(domain.read)

    def reading(self, prompt: Text, completion: Text) -> Reading:
        """Read one sample by the domain."""
        return self._read(plain_text(prompt), plain_text(completion))

    def correct(
        self, prompts: Sequence[Text], completions: Sequence[Text], **_: Any
    ) -> list[float]:
        """1 for correct samples, else 0."""
        return [float(one.correct) for one in self._readings(prompts, completions)]

    def strategy(
        self, prompts: Sequence[Text], completions: Sequence[Text], **_: Any
    ) -> list[str | int]:
        """Return the name of each sample's strategy; −1 where none can be read."""
        found = self._readings(prompts, completions)
        return [DEGENERATE if one.strategy is None else one.strategy for one in found]

    def answer(
        self, prompts: Sequence[Text], completions: Sequence[Text], **_: Any
    ) -> list[str | int]:
        """Return each sample's final answer; −1 where none can be read."""
        found = self._readings(prompts, completions)
        return [DEGENERATE if one.answer is None else one.answer for one in found]

    def _readings(self, prompts: Sequence[Text], completions: Sequence[Text]) -> list[Reading]:
        return [self.reading(*pair) for pair in zip(prompts, completions, strict=True)]


@lru_cache(maxsize=2**16)
def strategy_label(name: str | None) -> int:
    """Map a strategy's name to an integer in [0, 2²⁴), the same in every process; None to −1.

    Labels need not be consecutive: only their equality counts. Two of C different names get the
    same label with probability about C² / 2²⁵.

    >>> strategy_label("x=2"), strategy_label(None)
    (8211693, -1)
    """
    if name is None:
        return DEGENERATE
    return int.from_bytes(hashlib.blake2b(name.encode(), digest_size=3).digest(), "big")
