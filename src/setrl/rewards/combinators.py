"""Rewards made of rewards: they keep TRL's interface, so they can be combined again."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass
from operator import mul
from typing import Any, Literal

from setrl.rewards.interface import Reward
from setrl.samples.conversation import Text, plain_text


@dataclass(frozen=True)
class WeightedSum:
    """Σ_j weights[j] · rewards[j]; None if one of the parts is None.

    >>> by_length = LengthPenalty(free=2, limit=6, unit="characters")
    >>> both = WeightedSum((FormatReward("[0-9]+"), by_length), (1.0, 0.5))
    >>> both(prompts=["1+1=", "1+1="], completions=["2", "it 2"])
    [1.0, -0.25]
    """

    rewards: tuple[Reward, ...]
    weights: tuple[float, ...]

    def __post_init__(self) -> None:
        if len(self.rewards) != len(self.weights) or not self.rewards:
            raise ValueError(
                f"each reward needs one weight, and there must be at least one reward: got "
                f"{len(self.rewards)} rewards and {len(self.weights)} weights"
            )

    @property
    def __name__(self) -> str:
        terms = zip(self.weights, self.rewards, strict=True)
        return " + ".join(f"{weight:g}*{reward.__name__}" for weight, reward in terms)

    def __call__(
        self, *, prompts: Sequence[Text], completions: Sequence[Text], **columns: Any
    ) -> list[float | None]:
        """Return the sum for each sample."""
        parts = [
            reward(prompts=prompts, completions=completions, **columns) for reward in self.rewards
        ]
        return [
            None if None in values else float(sum(map(mul, self.weights, values)))
            for values in zip(*parts, strict=True)
        ]


@dataclass(frozen=True)
class Gated:
    """`reward` if `gate` is at least `threshold`, else `closed`; None if the gate is None.

    A reward for style that only correct samples can get: `Gated(style, gate=math_answer())`.
    """

    reward: Reward
    gate: Reward
    threshold: float = 1.0
    closed: float = 0.0

    @property
    def __name__(self) -> str:
        return f"{self.reward.__name__} if {self.gate.__name__}>={self.threshold:g}"

    def __call__(
        self, *, prompts: Sequence[Text], completions: Sequence[Text], **columns: Any
    ) -> list[float | None]:
        """Return the gated reward of each sample."""
        both = [
            each(prompts=prompts, completions=completions, **columns)
            for each in (self.gate, self.reward)
        ]
        return [
            None if gate is None else reward if gate >= self.threshold else self.closed
            for gate, reward in zip(*both, strict=True)
        ]


@dataclass(frozen=True)
class LengthPenalty:
    """A penalty that grows linearly with the length, from `free` to `limit`.

        penalty(length) = −clip((length − free) / (limit − free), 0, 1)

    DAPO's soft overlong punishment (arXiv:2503.14476, Eq. 13), with free = L_max − L_cache and
    limit = L_max.

    Attributes:
        free: Longest sample without a penalty.
        limit: Shortest sample with the full penalty, −1.
        unit: "tokens" reads TRL's `completion_ids`; "characters" the text itself.
    """

    free: int
    limit: int
    unit: Literal["tokens", "characters"] = "tokens"

    def __post_init__(self) -> None:
        if not 0 <= self.free < self.limit:
            raise ValueError(f"0 ≤ free < limit must hold, got {self.free} and {self.limit}")
        if self.unit not in ("tokens", "characters"):
            raise ValueError(f"unit must be 'tokens' or 'characters', got {self.unit!r}")

    @property
    def __name__(self) -> str:
        return "length_penalty"

    def __call__(
        self, *, prompts: Sequence[Text], completions: Sequence[Text], **columns: Any
    ) -> list[float | None]:
        """Return the penalty of each sample, in [−1, 0].

        Raises:
            ValueError: If tokens are to be counted without a column `completion_ids`.
        """
        return [self._penalty(length) for length in self._lengths(completions, columns)]

    def _lengths(self, completions: Sequence[Text], columns: dict[str, Any]) -> list[int]:
        if self.unit == "characters":
            return [len(plain_text(completion)) for completion in completions]
        if columns.get("completion_ids") is None:
            raise ValueError(
                "tokens are counted in the column 'completion_ids', which is missing: "
                "pass it, or use unit='characters'"
            )
        return [len(ids) for ids in columns["completion_ids"]]

    def _penalty(self, length: int) -> float:
        over = (length - self.free) / (self.limit - self.free)
        return -min(max(over, 0.0), 1.0)


@dataclass(frozen=True)
class FormatReward:
    r"""1 for samples whose whole text matches a regular expression, else 0.

    A dot matches any character, also a newline. Spaces around a sample are ignored.

    >>> thinks = FormatReward(r"<think>.*</think>\s*<answer>.*</answer>")
    >>> thinks(prompts=["?"] * 2, completions=["<think>1</think> <answer>2</answer>", "2"])
    [1.0, 0.0]
    """

    pattern: str

    def __post_init__(self) -> None:
        try:
            re.compile(self.pattern)
        except re.error as error:
            raise ValueError(
                f"pattern must be a regular expression, got {self.pattern!r}: {error}"
            ) from error

    @property
    def __name__(self) -> str:
        return "format_reward"

    def __call__(
        self, *, prompts: Sequence[Text], completions: Sequence[Text], **columns: Any
    ) -> list[float | None]:
        """1 or 0 for each sample."""
        whole = re.compile(self.pattern, re.DOTALL)
        texts = (plain_text(completion).strip() for completion in completions)
        return [float(whole.fullmatch(text) is not None) for text in texts]
