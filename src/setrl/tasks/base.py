"""A task: problems to train on and to evaluate on, the reward of a sample, and its strategy."""

from __future__ import annotations

import hashlib
import inspect
import json
import math
import sys
from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, is_dataclass, replace
from pathlib import Path
from typing import Any, Final, Protocol

import numpy as np

from setrl.models.prompting import PromptForm
from setrl.rewards.answers import MathVerifier, typed_gold
from setrl.rewards.combine import Combine
from setrl.rewards.interface import Reward
from setrl.support.errors import DataError
from setrl.support.files.loading import code_of
from setrl.support.wording import are, count, first_of
from setrl.tasks import domains
from setrl.tasks.domains import Author, Domain, Problem, Reading

TRAIN: Final = "train"  # the split that is trained on; all others are for evaluation

Labels = Callable[..., Sequence[int | str | None]]
"""A function in the interface of TRL's reward functions: a name or an integer for each sample; −1
is degenerate, None unknown."""


@dataclass(frozen=True)
class ProblemSet:
    """The problems that a model is evaluated on.

    Attributes:
        name: Its name in file names.
        split: The split that is written to records.
        problems: The problems, in order.
        read: A problem and the texts of its samples → one reading for each text.
        max_tokens: Where a sample of a local model is cut.
        reader: What decides how `read` reads, in plain values. A change of it, or of the code of a
            function that it names, is another reader.
    """

    name: str
    split: str
    problems: tuple[Problem, ...]
    read: Callable[[Problem, Sequence[str]], list[Reading]]
    max_tokens: int = 1024
    reader: Any = None

    @property
    def digest(self) -> str:
        """A fingerprint of the prompts, by which files made from other problems are recognised."""
        text = "\0".join(f"{problem.id}\0{problem.prompt}" for problem in self.problems)
        return hashlib.sha256(text.encode()).hexdigest()[:16]

    def reader_of(self, problem: Problem) -> str:
        """Return a fingerprint of what reads the samples of a problem, and of its right answer."""
        right = (problem.gold, problem.unit, problem.error, dict(problem.columns))
        text = json.dumps([self.reader, code_of(self.reader), right], sort_keys=True, default=str)
        return hashlib.sha256(text.encode()).hexdigest()[:16]


def drawn_problems(domain: Domain, split: str, count: int, seed: int) -> tuple[Problem, ...]:
    """Return `count` problems of a domain's split, with ids."""
    drawn = domain.problems(split, count, seed)  # type: ignore[arg-type]  # of a user: any name
    return tuple(
        replace(problem, id=f"{domain.name}/{split}/{place}") for place, problem in enumerate(drawn)
    )


def domain_problems(domain: Domain, split: str, count: int, seed: int) -> ProblemSet:
    """`count` problems of a domain's split, read by the domain."""
    return ProblemSet(
        name=f"{domain.name}_{split}",
        split=split,
        problems=drawn_problems(domain, split, count, seed),
        read=lambda problem, texts: [domain.read(problem.prompt, text) for text in texts],
        max_tokens=domain.max_new_tokens,
        reader=_reader_of_domain(domain),
    )


def _reader_of_domain(domain: Domain) -> list[str]:
    """Return the options of a domain, and a hash of its source unless a session has defined it."""
    parts = [repr(domain) if is_dataclass(domain) else type(domain).__qualname__]
    with suppress(TypeError, OSError):
        parts.append(source_hash(domain))
    return parts


def source_hash(author: Author) -> str:
    """Return a hash of the source files that decide what an author writes and reads.

    Our domains share files. Domains of a user may use ours, and other modules next to their own.
    """
    author_file, domains_folder = Path(inspect.getfile(type(author))), Path(domains.__file__).parent
    sources = sorted(domains_folder.rglob("*.py"))
    if not author_file.is_relative_to(domains_folder):
        is_user = not author_file.is_relative_to(domains_folder.parent)
        sources = [*sources, *sorted(author_file.parent.glob("*.py"))] if is_user else [author_file]
    return hashlib.sha256(b"\0".join(path.read_bytes() for path in sources)).hexdigest()[:12]


def say_unfit(unfit: Sequence[str], whole: str) -> str:
    """Say which problems of a whole, such as "30 problems of test", their golds leave out."""
    return (
        f"{len(unfit)} of {whole} {are(len(unfit))} left out, because a gold cannot be used for "
        f"grading: {first_of(unfit)}"
    )


def math_problems(name: str, problems: Sequence[Problem]) -> ProblemSet:
    """Return the problems with gold answers; print and leave out those whose gold is unusable.

    A gold can be used if it accepts itself. A metric over a problem where no sample can be correct
    would measure the gold and not the model.

    Raises:
        DataError: If no gold can be used.
    """
    verifier = MathVerifier()
    why = verifier.grader.gold_problems([typed_gold(problem) for problem in problems])
    unfit = [f"{p.id} ({reason})" for p, reason in zip(problems, why, strict=True) if reason]
    fit = [problem for problem, reason in zip(problems, why, strict=True) if not reason]
    if not fit:
        raise DataError(f"{name}: no gold answer can be used for grading; the first: {unfit[0]}")
    if unfit:
        print(f"{name}: {say_unfit(unfit, count(len(problems), 'problem'))}", file=sys.stderr)
    return ProblemSet(name=name, split=name, problems=tuple(fit), read=verifier.read,
                      reader="math")  # fmt: skip


@dataclass(frozen=True)
class Strategy:
    """What names the strategy of a sample: a function, or a judge, or nothing.

    Attributes:
        function: Names the strategy of each sample, in the interface of TRL's reward functions.
        judge: Or the settings of a judge (`setrl.judges.config.from_config`).
        name_of: (prompt, text) → the strategy's name for people to read, where the task has a
            reader that is independent of the function and the judge.
    """

    function: Labels | None = None
    judge: str | Mapping[str, Any] | None = None
    name_of: Callable[[str, str], str | None] | None = None

    @property
    def is_known(self) -> bool:
        """Whether a method that reads strategies can be trained."""
        return self.function is not None or self.judge is not None


class Task(Protocol):
    """Problems, rewards and strategies, wherever they come from."""

    @property
    def name(self) -> str:
        """The name of the task in file names: only letters, digits and ._-."""

    @property
    def form(self) -> PromptForm:
        """How a model sees a prompt."""

    @property
    def splits(self) -> tuple[str, ...]:
        """The names of the splits."""

    @property
    def max_new_tokens(self) -> int:
        """The length in tokens at which a sample is cut, unless the config says otherwise."""

    @property
    def rewards(self) -> tuple[Reward, ...]:
        """Reward functions in TRL's interface."""

    @property
    def combine(self) -> Combine:
        """How the values of the reward functions become one reward."""

    @property
    def correct(self) -> Reward | None:
        """A function that says which samples are right; None if the outcome of `combine` does."""
        return None

    @property
    def strategy(self) -> Strategy:
        """What names the strategy of a sample."""

    @property
    def answers(self) -> Labels | None:
        """Reads the final answer of each sample, for objectives that vote; None if none is read."""

    @property
    def author(self) -> Author | None:
        """What a model that is made from scratch imitates; None if the config must name a model."""
        return None

    def notes(self, splits: Sequence[str]) -> list[str]:
        """Return what people should know about these splits before they are used, in sentences."""
        return []

    def digest(self, split: str) -> str:
        """Return a fingerprint of a split's problems; empty if only the config decides them."""
        return ""

    def training_problems(self, count: int, different: int | None, seed: int) -> list[Problem]:
        """Return `count` problems of the training split, in the order of training.

        Args:
            count: How many.
            different: How many different ones, which come again and again; None: as many as there
                are.
            seed: Decides the order.

        Raises:
            ConfigError: If the task has fewer different problems.
        """

    def problems(self, split: str, count: int | None, seed: int, chat: bool = False) -> ProblemSet:
        """Return `count` problems of a split for evaluation, and what reads samples of them.

        Args:
            split: One of `splits`.
            count: How many; of a file that has fewer, all. None: all of a file.
            seed: Decides which.
            chat: Whether functions of a user receive messages, as they do in training with a chat
                template.
        """


def in_rounds(different: int, count: int, seed: int) -> list[int]:
    """Return the places of `count` problems: all different ones in a new order, repeatedly.

    >>> in_rounds(3, 7, seed=0)
    [2, 0, 1, 2, 1, 0, 2]
    """
    rng = np.random.default_rng(seed)
    rounds = [rng.permutation(different) for _ in range(math.ceil(count / different))]
    return [int(place) for place in np.concatenate(rounds)[:count]]
