"""A domain: problems, an exact verifier, an exact reader of strategies, and a writer of samples.

The prompt holds everything about a problem, so a sample from any log can be verified:
``domain.read(prompt, text)`` needs nothing else.
"""

from __future__ import annotations

import zlib
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Literal, Protocol, get_args

import numpy as np

Split = Literal["train", "test", "shifted"]
SPLITS: tuple[Split, ...] = get_args(Split)

HELD_OUT = 8  # one prompt in this many is held out of the training split


@dataclass(frozen=True)
class Problem:
    """One problem: the text that the model gets, and the kind of problem."""

    prompt: str
    kind: str


@dataclass(frozen=True)
class Written:
    """A sample from the domain's own writer, with the strategy and correctness that it intended."""

    text: str
    strategy: str
    correct: bool


@dataclass(frozen=True)
class Reading:
    """The result of the verifier and the strategy reader for one sample.

    Attributes:
        correct: Whether every step that is checked holds and the answer is right.
        strategy: The strategy used; None if no strategy can be read (a degenerate sample).
        answer: The final answer in its normal form; None if there is no answer.
        reason: Why the sample is not correct, in words; empty when it is.
    """

    correct: bool
    strategy: str | None
    answer: str | None = None
    reason: str = ""


class Domain(Protocol):
    """A synthetic task with infinitely many problems and several ways to solve each."""

    @property
    def name(self) -> str:
        """The name that configs use."""

    @property
    def vocabulary(self) -> tuple[str, ...]:
        """Tokens that cover every prompt and sample; longer ones are matched first."""

    @property
    def max_new_tokens(self) -> int:
        """The largest length, in tokens, of the writer's samples."""

    def problems(self, split: Split, count: int, seed: int) -> list[Problem]:
        """`count` different problems of a split; the same seed gives the same problems."""

    def corpus_problem(self, rng: np.random.Generator) -> Problem:
        """One problem of the corpus that the base model learns from (never a held-out one)."""

    def write(self, problem: Problem, rng: np.random.Generator) -> Written:
        """One sample as a diverse and imperfect author would write it, correct or not."""

    def read(self, prompt: str, text: str) -> Reading:
        """Verify one sample and read the strategy that it used."""


def is_held_out(prompt: str) -> bool:
    """Whether a prompt belongs to the test splits: a fixed pseudo-random eighth of all prompts."""
    return zlib.crc32(prompt.encode()) % HELD_OUT == 0


def corpus(domain: Domain, count: int, seed: int) -> Iterator[tuple[Problem, Written]]:
    """`count` problems with one written sample each: what the base model is trained on."""
    rng = np.random.default_rng(seed)
    for _ in range(count):
        problem = domain.corpus_problem(rng)
        yield problem, domain.write(problem, rng)
