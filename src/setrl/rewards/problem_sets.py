"""A task: problems with stable ids, and a reader that says what each sample is worth."""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Sequence
from dataclasses import dataclass

from setrl.domains import Domain, Reading, Split


@dataclass(frozen=True)
class NamedProblem:
    """One problem of a task.

    Attributes:
        id: Names it in files; stays the same whatever the order or number of problems.
        prompt: The text that the model is given, before any chat template.
        kind: What kind of problem it is; empty where nobody says.
        gold: The right answer, where there is one.
        unit: The unit of the right answer, which a sample may give or leave out.
        error: How far a number may be off, absolutely.
    """

    id: str
    prompt: str
    kind: str = ""
    gold: str | None = None
    unit: str = ""
    error: float = 0.0


@dataclass(frozen=True)
class ProblemSet:
    """What a model is evaluated on.

    Attributes:
        name: Names its files.
        split: The split that the records name.
        problems: The problems, in order.
        read: A problem and the texts of its samples → one reading a text.
    """

    name: str
    split: str
    problems: tuple[NamedProblem, ...]
    read: Callable[[NamedProblem, Sequence[str]], list[Reading]]

    @property
    def digest(self) -> str:
        """A fingerprint of the prompts: files of other problems are told by it."""
        text = "\0".join(f"{problem.id}\0{problem.prompt}" for problem in self.problems)
        return hashlib.sha256(text.encode()).hexdigest()[:16]


def domain_problems(domain: Domain, split: Split, count: int, seed: int) -> ProblemSet:
    """`count` problems of a domain's split, read by the domain."""
    problems = tuple(
        NamedProblem(f"{domain.name}/{split}/{place}", problem.prompt, problem.kind)
        for place, problem in enumerate(domain.problems(split, count, seed))
    )
    return ProblemSet(
        name=f"{domain.name}_{split}",
        split=split,
        problems=problems,
        read=lambda problem, texts: [domain.read(problem.prompt, text) for text in texts],
    )
