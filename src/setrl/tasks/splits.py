"""Which problems are for training and which for evaluation, by their text and never by their order;
and which are asked twice, within a split or in two of them.
"""

from __future__ import annotations

import hashlib
from collections.abc import Mapping, Sequence
from itertools import accumulate, pairwise
from typing import Any

from setrl.rewards.grading import gold_answer
from setrl.support.errors import ConfigError
from setrl.tasks.base import TRAIN
from setrl.tasks.domains import Problem

USUAL: Mapping[str, float] = {"test": 0.1}  # of a file whose config names no splits
WHOLE = 2**64

LikePair = tuple[Problem, Problem]


def place_of(prompt: str, seed: int = 0) -> float:
    """Return a pseudo-random number in [0, 1) that only the prompt and the seed decide.

    >>> round(place_of("1 + 1 ="), 6), place_of("1 + 1 =") == place_of("1 + 1 =", seed=1)
    (0.961487, False)
    """
    text = f"{seed}\0{prompt}".encode()
    return int.from_bytes(hashlib.blake2b(text, digest_size=8).digest(), "big") / WHOLE


def divide_by_sizes(prompts: Sequence[str], sizes: Mapping[str, Any]) -> dict[str, list[int]]:
    """Return the places of the prompts of each split, in order.

    Equal prompts are always in the same split. With shares, a prompt stays in its split when
    others are added; only the one problem that a share gets at least may leave it then. Training
    gets the rest, unless its own size is given.

    Args:
        prompts: All prompts.
        sizes: Split → its share of the prompts in (0, 1], or its number of different prompts.

    Raises:
        ConfigError: If the sizes are not of one kind, or more than there is.
    """
    shares = {split for split, size in sizes.items() if isinstance(size, float)}
    if shares and shares != set(sizes):
        raise ConfigError(
            f"splits must all be shares or all be numbers of problems, got {dict(sizes)}"
        )
    different = sorted(dict.fromkeys(prompts), key=place_of)
    order = sorted(sizes, key=lambda split: split == TRAIN)  # the others first
    starts = (
        _divide_by_share(different, sizes, order)
        if shares
        else _divide_by_number(different, sizes, order)
    )
    split_of = dict.fromkeys(different, TRAIN if TRAIN not in sizes else "")
    for split, (start, stop) in starts.items():
        split_of.update(dict.fromkeys(different[start:stop], split))
    places_of: dict[str, list[int]] = {split: [] for split in (TRAIN, *sizes)}
    for place, prompt in enumerate(prompts):
        if split_of[prompt]:
            places_of[split_of[prompt]].append(place)
    return places_of


def _divide_by_number(
    different: list[str], sizes: Mapping[str, int], order: list[str]
) -> dict[str, tuple[int, int]]:
    if sum(sizes.values()) > len(different):
        raise ConfigError(
            f"splits need {sum(sizes.values())} different problems, but there are {len(different)}"
        )
    ends = accumulate((sizes[split] for split in order), initial=0)
    return dict(zip(order, pairwise(ends), strict=True))


def _divide_by_share(
    different: list[str], sizes: Mapping[str, float], order: list[str]
) -> dict[str, tuple[int, int]]:
    if sum(sizes.values()) > 1 + 1e-9:
        raise ConfigError(f"the shares of splits must add up to 1 at most, got {dict(sizes)}")
    places = [place_of(prompt) for prompt in different]
    starts, share, start = {}, 0.0, 0
    rest = TRAIN not in sizes and sum(sizes.values()) < 1 - 1e-9
    for later, split in zip(reversed(range(rest, len(order) + rest)), order, strict=True):
        share += sizes[split]
        stop = sum(place < share or share > 1 - 1e-9 for place in places)
        stop = max(start, min(max(stop, start + 1), len(places) - later))  # one problem at least
        starts[split] = start, stop
        start = stop
    return starts


def same_prompt(prompt: str) -> str:
    """Return what prompts share that ask the same: case and white space do not count.

    >>> same_prompt("What is  2 + 2?") == same_prompt("what is 2 + 2?")
    True
    """
    return " ".join(prompt.casefold().split())


def asked_before(problems: Sequence[Problem]) -> list[LikePair]:
    """Return each problem that was asked before, with the first problem that asks the same."""
    first: dict[str, Problem] = {}
    pairs = [
        (first.setdefault(same_prompt(problem.prompt), problem), problem) for problem in problems
    ]
    return [(before, problem) for before, problem in pairs if before is not problem]


def shared_with_others(problems: Sequence[Problem], others: Sequence[Problem]) -> list[LikePair]:
    """Return each problem that is also among others, with the first such problem."""
    firsts = {same_prompt(other.prompt): other for other in reversed(others)}  # the first counts
    pairs = ((firsts.get(same_prompt(problem.prompt)), problem) for problem in problems)
    return [(other, problem) for other, problem in pairs if other is not None]


def with_other_golds(pairs: Sequence[LikePair]) -> list[LikePair]:
    """Return the pairs that ask the same and have different golds."""
    return [
        (first, second)
        for first, second in pairs
        if first.gold is not None
        and second.gold is not None
        and same_prompt(gold_answer(first.gold)) != same_prompt(gold_answer(second.gold))
    ]
