"""TRL's interface of reward functions."""

from __future__ import annotations

import functools
import inspect
from collections.abc import Sequence
from typing import Any, Protocol

from setrl.samples.conversation import Text


class Reward(Protocol):
    """A reward function as TRL calls it: one reward per sample, None if it is unknown.

    `columns` holds the other columns of the data set, a list each, and TRL's `completion_ids`.
    """

    @property
    def __name__(self) -> str:  # under which TRL logs it
        ...

    def __call__(
        self, *, prompts: Sequence[Text], completions: Sequence[Text], **columns: Any
    ) -> list[float | None]:
        """Return the reward of each sample."""
        ...


def as_samples(texts: Sequence[str], chat: bool) -> list[Text]:
    """Return texts as functions receive them: unchanged, or as messages of an assistant."""
    return [[{"role": "assistant", "content": text}] if chat else text for text in texts]


def is_async(function: Any) -> bool:
    """Return whether a call of the function gives a coroutine, by TRL's rule."""
    function = unwrapped(function)
    return inspect.iscoroutinefunction(function) or inspect.iscoroutinefunction(function.__call__)


def unwrapped(function: Any) -> Any:
    """Return the function whose arguments `functools.partial` has bound."""
    while isinstance(function, functools.partial):
        function = function.func
    return function


def own(value: Any) -> Any:
    """Return the value in lists and mappings of its own, all the way down.

    A function of a user may change what it gets in place; the next one must not see it.

    >>> given = [{"content": "a"}]
    >>> own(given) == given, own(given)[0] is given[0]
    (True, False)
    """
    if type(value) is dict:
        return {key: own(item) for key, item in value.items()}
    if type(value) is not list:
        return value
    is_flat = {list, dict}.isdisjoint(map(type, value))  # such as the tokens of a sample
    return value.copy() if is_flat else [own(item) for item in value]
