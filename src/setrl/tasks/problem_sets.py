"""What a model is evaluated on: problems with stable ids, and a reader of their samples."""

from __future__ import annotations

import hashlib
import sys
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace

from setrl.rewards.verifier import MathVerifier, typed_gold
from setrl.support.errors import DataError
from setrl.support.wording import are, count
from setrl.tasks.domains import Domain, Problem, Reading

SHOWN = 5  # problems that a message lists


@dataclass(frozen=True)
class ProblemSet:
    """The problems that a model is evaluated on.

    Attributes:
        name: Its name in file names.
        split: The split that is written to records.
        problems: The problems, in order.
        read: A problem and the texts of its samples → one reading for each text.
        max_tokens: Where a sample of a local model is cut.
    """

    name: str
    split: str
    problems: tuple[Problem, ...]
    read: Callable[[Problem, Sequence[str]], list[Reading]]
    max_tokens: int = 1024

    @property
    def digest(self) -> str:
        """A fingerprint of the prompts, by which files made from other problems are recognised."""
        text = "\0".join(f"{problem.id}\0{problem.prompt}" for problem in self.problems)
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
        print(
            f"{name}: {len(unfit)} of {count(len(problems), 'problem')} {are(len(unfit))} left "
            f"out, because a gold cannot be used for grading: {', '.join(unfit[:SHOWN])}"
            f"{', …' if len(unfit) > SHOWN else ''}",
            file=sys.stderr,
        )
    return ProblemSet(name=name, split=name, problems=tuple(fit), read=verifier.read)
