"""A task: problems with stable ids, and a reader that says what each sample is worth."""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Protocol

from setrl.domains import Domain, Reading, Split


@dataclass(frozen=True)
class TaskProblem:
    """One problem of a task.

    Attributes:
        id: Names it in files; stays the same whatever the order or number of problems.
        prompt: The text that the model is given, before any chat template.
        kind: What kind of problem it is; empty where nobody says.
        gold: The right answer, where there is one.
    """

    id: str
    prompt: str
    kind: str = ""
    gold: str | None = None


class Verifier(Protocol):
    """Says of samples whether they reach a gold answer, and which answer they give."""

    def __call__(self, gold: str, texts: Sequence[str]) -> list[Reading]:
        """One reading a text, in order; a text without an answer has `answer` None."""


@dataclass(frozen=True)
class Task:
    """What a model is evaluated on.

    Attributes:
        name: Names its files.
        split: The split that the records name.
        problems: The problems, in order.
        read: A problem and the texts of its samples → one reading a text.
    """

    name: str
    split: str
    problems: tuple[TaskProblem, ...]
    read: Callable[[TaskProblem, Sequence[str]], list[Reading]]

    @property
    def digest(self) -> str:
        """A fingerprint of the prompts: files of other problems are told by it."""
        text = "\0".join(f"{problem.id}\0{problem.prompt}" for problem in self.problems)
        return hashlib.sha256(text.encode()).hexdigest()[:16]


def domain_task(domain: Domain, split: Split, count: int, seed: int) -> Task:
    """`count` problems of a domain's split, read by the domain."""
    problems = tuple(
        TaskProblem(f"{domain.name}/{split}/{place}", problem.prompt, problem.kind)
        for place, problem in enumerate(domain.problems(split, count, seed))
    )
    return Task(
        name=f"{domain.name}_{split}",
        split=split,
        problems=problems,
        read=lambda problem, texts: [domain.read(problem.prompt, text) for text in texts],
    )


def gold_task(name: str, problems: Sequence[TaskProblem], verifier: Verifier) -> Task:
    """Problems whose samples a verifier holds against a gold answer."""

    def read(problem: TaskProblem, texts: Sequence[str]) -> list[Reading]:
        assert problem.gold is not None
        return verifier(problem.gold, texts)

    return Task(name=name, split=name, problems=tuple(problems), read=read)
