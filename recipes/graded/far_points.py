"""`polynomial` with graded points, such as "(-2, 5)": what the configs here read of a sample."""

from __future__ import annotations

import re
from dataclasses import dataclass, field
from hashlib import sha256
from typing import Any

from setrl.samples.values import DEGENERATE
from setrl.tasks.domains import by_name
from setrl.tasks.domains.polynomial import POINT
from setrl.tasks.from_domain import DomainTask

FARTHEST = 9  # x beyond it pays nothing: the corpus has few such points, and x = 10 is easy


@dataclass(frozen=True)
class FarPoints(DomainTask):
    """The domain's problems; the reward is `pay`, and the domain's verifier says what is right."""

    domain: Any = field(default_factory=lambda: by_name("polynomial"))

    @property
    def rewards(self) -> tuple[Any, ...]:
        """The graded reward."""
        return (self.pay,)

    @property
    def correct(self) -> Any:
        """The domain's verifier."""
        return self._verifier.correct

    def pay(self, prompts: list[str], completions: list[str], **_: Any) -> list[float]:
        """(1 + |x|)/10 for a right point with |x| ≤ 9, else 0."""
        right = self._verifier.correct(prompts, completions)
        return [worth(text) if one else 0.0 for one, text in zip(right, completions, strict=True)]


def far(completions: list[str], **_: Any) -> list[float]:
    """(1 + |x|)/10 for each point with |x| ≤ 9, right or wrong."""
    return [worth(text) for text in completions]


def worth(text: str) -> float:
    """Return what a point pays if it is right."""
    found = re.match(r"\((-?\d+),", text)
    distance = abs(int(found[1])) if found else FARTHEST + 1
    return (1 + distance) / (1 + FARTHEST) if distance <= FARTHEST else 0.0


def family(strategy: str) -> str:
    """Return the macro-strategy of a strategy such as "x=-2".

    x = 0, 1 and −1 need no multiplication; all others do, with a positive or a negative number.
    """
    x = int(strategy.removeprefix("x="))
    if abs(x) < 2:
        return "without multiplication"
    return "positive" if x > 0 else "negative"


def families(completions: list[str], **_: Any) -> list[str | int]:
    """Return the macro-strategy of each point; −1 for a sample without a point."""
    found = [POINT.fullmatch(text) for text in completions]
    return [DEGENERATE if one is None else family(f"x={one[1]}") for one in found]


@dataclass(frozen=True)
class Sides(FarPoints):
    """A right point pays on the side of 0 that the user wants; the problem does not say which."""

    def pay(self, prompts: list[str], completions: list[str], **_: Any) -> list[float]:
        """1 for a right point on the wished side, else 0."""
        right = self._verifier.correct(prompts, completions)
        wished = on_wished_side(prompts, completions)
        return [side if one else 0.0 for one, side in zip(right, wished, strict=True)]


def on_wished_side(prompts: list[str], completions: list[str], **_: Any) -> list[float]:
    """1 for a point on the wished side, right or wrong: what a user's selector goes by."""
    return [
        float(side_of(text) == wished_side(prompt))
        for prompt, text in zip(prompts, completions, strict=True)
    ]


def on_other_side(prompts: list[str], completions: list[str], **_: Any) -> list[float]:
    """1 for a right point on the side that is not wished: the second reward."""
    right = Sides().correct(prompts, completions)
    sides = [side_of(text) == -wished_side(p) for p, text in zip(prompts, completions, strict=True)]
    return [float(one and side) for one, side in zip(right, sides, strict=True)]


def wished_side(prompt: str) -> int:
    """Return −1 or 1, as good as drawn for each problem.

    Domains draw their test problems by the CRC of the prompt, so that it cannot draw the side, too.
    """
    return 1 if sha256(prompt.encode()).digest()[0] % 2 else -1


def side_of(text: str) -> int:
    """Return the sign of a point's x; 0 for x = 0 and for no point."""
    found = re.match(r"\((-?\d+),", text)
    x = int(found[1]) if found else 0
    return (x > 0) - (x < 0)
