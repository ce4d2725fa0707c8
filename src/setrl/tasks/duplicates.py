"""Problems that are asked twice, within a split or in two of them."""

from __future__ import annotations

from collections.abc import Sequence

from setrl.rewards.grading import gold_answer
from setrl.tasks.domains import Problem

LikePair = tuple[Problem, Problem]


def same_prompt(prompt: str) -> str:
    """Return what prompts share that ask the same: case and white space do not count.

    >>> same_prompt("What is  2 + 2?") == same_prompt("what is 2 + 2?")
    True
    """
    return " ".join(prompt.casefold().split())


def repeated(problems: Sequence[Problem]) -> list[LikePair]:
    """Return each problem that was asked before, with the first problem that asks the same."""
    first: dict[str, Problem] = {}
    pairs = [(first.setdefault(same_prompt(one.prompt), one), one) for one in problems]
    return [(before, one) for before, one in pairs if before is not one]


def shared(problems: Sequence[Problem], others: Sequence[Problem]) -> list[LikePair]:
    """Return each problem that is also among others, with the first such problem."""
    known = {same_prompt(other.prompt): other for other in reversed(others)}  # the first counts
    found = ((known.get(same_prompt(one.prompt)), one) for one in problems)
    return [(other, one) for other, one in found if other is not None]


def contradicting(pairs: Sequence[LikePair]) -> list[LikePair]:
    """Return the pairs that ask the same and have different golds."""
    return [
        (one, two)
        for one, two in pairs
        if one.gold is not None
        and two.gold is not None
        and same_prompt(gold_answer(one.gold)) != same_prompt(gold_answer(two.gold))
    ]
