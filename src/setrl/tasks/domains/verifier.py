"""Reward functions in TRL's interface, from a domain's verifier and its reader of strategies."""

from __future__ import annotations

import hashlib
from collections.abc import Sequence
from functools import lru_cache
from typing import Any

from setrl.samples.conversation import Text, plain_text
from setrl.samples.values import DEGENERATE, Label
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

    def name(self, prompt: Text, completion: Text) -> str | None:
        """Return the name of a sample's strategy, for people to read; None where it has none."""
        strategy = self.reading(prompt, completion).strategy
        return None if strategy in (None, DEGENERATE) else str(strategy)

    def correct(
        self, prompts: Sequence[Text], completions: Sequence[Text], **_: Any
    ) -> list[float | None]:
        """1 for correct samples, 0 for wrong ones, None where that is unknown."""
        readings = self._readings(prompts, completions)
        return [None if one.correct is None else float(one.correct) for one in readings]

    def strategy(
        self, prompts: Sequence[Text], completions: Sequence[Text], **_: Any
    ) -> list[Label]:
        """Return the name of each sample's strategy; −1 for a sample of none."""
        return [reading.strategy for reading in self._readings(prompts, completions)]

    def answer(
        self, prompts: Sequence[Text], completions: Sequence[Text], **_: Any
    ) -> list[str | None]:
        """Return each sample's final answer; None where there is none."""
        return [reading.answer for reading in self._readings(prompts, completions)]

    def _readings(self, prompts: Sequence[Text], completions: Sequence[Text]) -> list[Reading]:
        return [self.reading(*pair) for pair in zip(prompts, completions, strict=True)]


@lru_cache(maxsize=2**16)
def strategy_label(name: Label) -> int:
    """Map a strategy's name to an integer in [0, 2²⁴), the same in every process; −1 stays.

    Labels need not be consecutive: only their equality counts. Two of C different names get the
    same label with probability about C² / 2²⁵.

    >>> strategy_label("x=2"), strategy_label(-1)
    (8211693, -1)

    Raises:
        ValueError: If it is unknown: an integer cannot say that.
    """
    if name is None:
        raise ValueError("the strategy is unknown, which no integer says")
    if name == DEGENERATE:
        return DEGENERATE
    return int.from_bytes(hashlib.blake2b(str(name).encode(), digest_size=3).digest(), "big")
