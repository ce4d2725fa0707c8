"""One call of a user's reward function, and what it returned as numbers; failures have a name."""

from __future__ import annotations

import inspect
from collections.abc import Callable, Iterable, Iterator
from typing import Any

from setrl.rewards.interface import own
from setrl.rewards.time_limit import TimeUp, call_within
from setrl.samples.conversation import plain_text
from setrl.samples.values import read_score
from setrl.support import wording

SHOWN = 120  # characters of a sample in a message


def values_of(
    function: Callable[..., Any], fields: dict[str, Any], count: int, timeout: float | None
) -> list[float | None]:
    """Call a function, and return one number or None for each sample.

    Raises:
        CallError: If the function does not return that in time.
    """
    try:
        values = call_within(timeout, _bound(function, own(fields)))
    except TimeUp:
        raise late(timeout) from None
    except (Exception, SystemExit) as error:
        kind = type(error).__name__
        raise CallError(kind, f"raised {kind}: {error}", error) from error
    return _numbers(values, count)


class CallError(Exception):
    """A call of a user's function failed.

    Attributes:
        kind: How, in a word, for counting.
        what: What it did, after the function's name.
        cause: The exception that it raised.
    """

    def __init__(self, kind: str, what: str, cause: BaseException | None = None):
        super().__init__(what)
        self.kind, self.what, self.cause = kind, what, cause


def _numbers(values: Any, count: int) -> list[float | None]:
    if not isinstance(values, Iterable) or isinstance(values, str | bytes | dict):
        raise CallError("wrong length", f"returned {shown(values)}, not one number for each sample")
    listed = list(values)
    if len(listed) != count:
        found = f"{wording.count(len(listed), 'value')} for {wording.count(count, 'sample')}"
        raise CallError("wrong length", f"returned {found}")
    try:
        return [read_score(value) for value in listed]
    except ValueError as error:
        raise CallError("no number", f"must return {error}") from None


def late(timeout: float | None) -> CallError:
    """Return the error of a call that took longer than its limit."""
    return CallError("timeout", f"took longer than its {timeout or 0:g} s")


def _bound(function: Callable[..., Any], fields: dict[str, Any]) -> Callable[[], Any]:
    """Return a call of the function with these fields."""
    if not _is_async(function):

        def call_now() -> Any:
            values = function(**fields)
            return list(values) if isinstance(values, Iterator) else values  # it may fail, too

        return call_now

    async def call() -> Any:
        return await function(**fields)

    return call


def _is_async(function: Callable[..., Any]) -> bool:
    call = type(function).__call__  # of an object; a function has another one
    return inspect.iscoroutinefunction(function) or inspect.iscoroutinefunction(call)


def shown(value: Any) -> str:
    """Quote a value; leave out the middle of a long one."""
    chat = isinstance(value, list) and value and all(isinstance(one, dict) for one in value)
    text = repr(plain_text(value) if chat else value)
    return text if len(text) <= SHOWN else f"{text[: SHOWN // 2]} … {text[-SHOWN // 2 :]}"
