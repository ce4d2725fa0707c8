"""Generators of samples behind one protocol: a local model, or a model behind a server."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from typing import Any, Protocol

import numpy as np


@dataclass(frozen=True)
class Ask:
    """The samples that one problem still lacks.

    Attributes:
        problem: Number of the problem in its task, from 0; with the seed it decides the samples.
        prompt: The text that the model continues.
        numbers: Which of the problem's n samples to generate, each from 0 to n − 1.
        n: Samples of the problem, including those that exist already.
    """

    problem: int
    prompt: str
    numbers: tuple[int, ...]
    n: int


@dataclass(frozen=True)
class Completion:
    """One finished sample: sample `number` of a problem.

    Attributes:
        problem: Number of the problem in its task.
        number: Number of the sample in its problem.
        text: What the model wrote.
        finish: Why the sample ended, in the server's word ("stop", "length"); None if unknown.
    """

    problem: int
    number: int
    text: str
    finish: str | None = None


@dataclass(frozen=True)
class Failure:
    """Samples that could not be generated.

    Attributes:
        problem: Number of the problem in its task.
        samples: How many samples of the problem are missing.
        reason: Why, in one word: timeout, rate_limit, server_error, connection, refused, budget or
            filtered.
        detail: What the server answered, if it answered.
    """

    problem: int
    samples: int
    reason: str
    detail: str = field(default="", compare=False)


class Generator(Protocol):
    """Generates samples. A failure of the service is an event, not an exception or a sample."""

    @property
    def settings(self) -> dict[str, Any]:
        """What the samples depend on, besides prompts and seed: model, temperature, …"""

    @property
    def weights(self) -> str | None:
        """A fingerprint of the model; None if it is unknown, or the settings name the model."""

    def generate(self, asks: Sequence[Ask], seed: int) -> Iterator[Completion | Failure]:
        """Yield finished samples, in any order, as they arrive."""


def problem_seed(seed: int, problem: int) -> int:
    """Return the seed of one problem's samples, below 2³²: each problem gets another one."""
    return int(np.random.SeedSequence([seed, problem]).generate_state(1)[0])
