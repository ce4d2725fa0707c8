"""What writes samples, behind one protocol: a local model, or a model behind a server."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from typing import Any, Protocol

import numpy as np


@dataclass(frozen=True)
class Ask:
    """The samples that one problem still lacks.

    Attributes:
        problem: The problem's place in its task, from 0; with the seed it decides the samples.
        prompt: The text that the model is given.
        numbers: Which of the problem's n samples are wanted, each from 0 to n − 1.
        n: Samples of the problem, including those that exist already.
    """

    problem: int
    prompt: str
    numbers: tuple[int, ...]
    n: int


@dataclass(frozen=True)
class Sample:
    """One finished sample: sample `number` of a problem.

    Attributes:
        problem: The problem's place in its task.
        number: Which of its samples.
        text: What the model wrote.
        finish: Why it ended, in the server's word ("stop", "length"); None if it is not known.
    """

    problem: int
    number: int
    text: str
    finish: str | None = None


@dataclass(frozen=True)
class Failure:
    """Samples that could not be generated.

    Attributes:
        problem: The problem's place in its task.
        samples: How many of its samples are missing for it.
        reason: Why, in one word: timeout, rate_limit, server_error, connection, refused or budget.
        detail: What the server answered, where it did.
    """

    problem: int
    samples: int
    reason: str
    detail: str = field(default="", compare=False)


class Generator(Protocol):
    """Writes samples. A failure of the service is an event, never an exception and never a text."""

    @property
    def settings(self) -> dict[str, Any]:
        """What the samples depend on, besides prompts and seed: model, temperature, …"""

    def generate(self, asks: Sequence[Ask], seed: int) -> Iterator[Sample | Failure]:
        """Finished samples, in any order, as they arrive."""


def problem_seed(seed: int, problem: int) -> int:
    """The seed of one problem's samples, below 2³²: different problems get different ones."""
    return int(np.random.SeedSequence([seed, problem]).generate_state(1)[0])
