"""A domain: problems, an exact verifier, an exact reader of strategies, and a writer of samples.

The prompt holds everything about a problem, so a sample from any log can be verified:
``domain.read(prompt, text)`` needs nothing else.
"""

from __future__ import annotations

import zlib
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from typing import Literal, Protocol, TypeVar, get_args

import numpy as np

from setrl.rewards.problem import Problem, Reading

Split = Literal["train", "test", "shifted"]
"""The name of a part of a domain's problems; in the shifted part frequent strategies often fail."""

SPLITS: tuple[Split, ...] = get_args(Split)
"""The names of all parts of a domain's problems."""

HELD_OUT = 8  # one prompt in this many is held out of the training split

Value = TypeVar("Value")
HandT = TypeVar("HandT", bound="Hand")


@dataclass(frozen=True)
class Written:
    """A sample from the domain's own writer, with the strategy and correctness that it intended."""

    text: str
    strategy: str
    correct: bool


class Author(Protocol):
    """What a model that is made from scratch imitates: problems with a written sample each."""

    @property
    def name(self) -> str:
        """The name in file names."""

    @property
    def vocabulary(self) -> tuple[str, ...]:
        """Tokens that cover every prompt and sample; longer ones are matched first."""

    def corpus_problem(self, rng: np.random.Generator) -> Problem:
        """Draw one problem of the corpus that the base model learns from (never a held-out one)."""

    def write(self, problem: Problem, rng: np.random.Generator) -> Written:
        """Write one sample as a diverse and imperfect author would write it, correct or not."""

    def read(self, prompt: str, text: str) -> Reading:
        """Verify one sample and read the strategy that it used."""


class Domain(Author, Protocol):
    """A synthetic task with finitely many problems and several ways to solve each.

    The tests check that each domain keeps these rules:

    - The prompt contains everything that the verifier needs; another prompt is refused ("prompt
      must look like …").
    - The verifier accepts every right sample that the writer writes, refuses every wrong one with a
      reason, and names the strategy of both. Nearly all texts of random tokens have no strategy.
    - A text has the same strategy under every prompt, or none: a strategy depends only on the text.
    - No problem is in two splits, and the corpus has no problem of test and shifted.
      `draw_problems` and `draw_training_problem` keep this rule if the prompts of test and shifted
      differ.
    - There are at least 300 problems in train, and 100 each in test and shifted. In shifted,
      strategies that are frequent in the corpus often fail.
    """

    @property
    def max_new_tokens(self) -> int:
        """The largest length, in tokens, of the writer's samples."""

    @property
    def splits(self) -> tuple[str, ...]:
        """The names of the parts of the problems; train is trained on."""
        return SPLITS

    @property
    def chat(self) -> bool | None:
        """Whether a prompt is sent as a user's message; None: if the model has a chat template."""
        return None

    def problems(self, split: Split, count: int, seed: int) -> list[Problem]:
        """Return `count` different problems of a split; the same seed gives the same problems.

        Raises:
            ValueError: If the split is unknown, or has fewer problems; the message says how many.
        """


def is_held_out(prompt: str) -> bool:
    """Return whether a prompt is in the test splits: a pseudo-random eighth of all prompts."""
    return zlib.crc32(prompt.encode()) % HELD_OUT == 0


def corpus(author: Author, count: int, seed: int) -> Iterator[tuple[Problem, Written]]:
    """Yield `count` problems with one written sample each: the training data of the base model."""
    rng = np.random.default_rng(seed)
    for _ in range(count):
        problem = author.corpus_problem(rng)
        yield problem, author.write(problem, rng)


@dataclass
class Hand:
    """An author at work: exact, except for the step number `slip_at`.

    Attributes:
        rng: Decides how a step goes wrong.
        slip_at: The step that goes wrong, counted from 0; None for no error.
        count: How many steps have been written so far.
    """

    rng: np.random.Generator
    slip_at: int | None = None
    count: int = field(default=0, init=False)

    def slips(self) -> bool:
        """Count a step, and return whether this step goes wrong."""
        self.count += 1
        return self.count - 1 == self.slip_at


def with_a_slip(
    write: Callable[[HandT], str], make: Callable[..., HandT], rng: np.random.Generator
) -> str:
    """Write a draft with one random step wrong: one pass counts the steps, a second writes them."""
    rehearsal = make(rng)
    write(rehearsal)
    return write(make(rng, slip_at=int(rng.integers(rehearsal.count))))


def draw(rng: np.random.Generator, shares: Mapping[Value, float]) -> Value:
    """Draw one key with probability in proportion to its share (the sum need not be 1)."""
    point = rng.random() * sum(shares.values())
    for value, share in shares.items():
        point -= share
        if point < 0:
            return value
    return value  # reached only by rounding: the point equals the sum


def check_count(split: str, count: int, size: int) -> None:
    """Refuse an unknown split, and more problems than a split has."""
    if split not in SPLITS:
        raise ValueError(f"split must be one of {', '.join(SPLITS)}, got {split!r}")
    if not 0 <= count <= size:
        raise ValueError(f"count must be in [0, {size}] for the {split} split, got {count}")


def draw_problems(
    draw_problem: Callable[[np.random.Generator], Problem],
    prompts: Iterable[str],
    split: Split,
    count: int,
    seed: int,
) -> list[Problem]:
    """Draw `count` different problems of a split, held out or not as the split needs.

    A longer list with the same seed starts with the shorter one.

    Args:
        draw_problem: Draws a problem, from the generator that it receives.
        prompts: Prompts of all problems that `draw_problem` can draw, held out or not.
        split: The split.
        count: How many problems. To draw nearly all that exist takes long: the last ones are rare.
        seed: Decides which problems.

    Raises:
        ValueError: If the split is unknown, or has fewer than `count` different problems.
    """
    check_count(split, count, sum(is_held_out(one) == (split != "train") for one in prompts))
    rng = np.random.default_rng((seed, SPLITS.index(split)))
    problems: dict[str, Problem] = {}
    while len(problems) < count:
        problem = draw_problem(rng)
        if is_held_out(problem.prompt) == (split != "train"):
            problems.setdefault(problem.prompt, problem)
    return list(problems.values())


def draw_training_problem(
    draw_problem: Callable[[np.random.Generator], Problem], rng: np.random.Generator
) -> Problem:
    """Draw one problem that is not held out."""
    while True:
        problem = draw_problem(rng)
        if not is_held_out(problem.prompt):
            return problem
