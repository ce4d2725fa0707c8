"""One call of a user's reward function, within its time: numbers, or a failure with a name."""

from __future__ import annotations

import asyncio
import inspect
import math
import signal
import threading
import time
from collections.abc import Callable, Iterable, Iterator
from typing import Any, TypeVar

from setrl.rewards.interface import is_async, own
from setrl.samples.conversation import plain_text
from setrl.samples.values import read_score
from setrl.support import wording

T = TypeVar("T")

AGAIN_S = 0.1  # until a call that swallowed the interruption is interrupted again

SHOWN = 120  # characters of a sample in a message


class TimeUp(BaseException):
    """The time of a call is up; no `Exception`, so that `except Exception` does not swallow it."""


def call_within(seconds: float | None, call: Callable[[], T]) -> T:
    """Call, and return the result unless it takes longer; await what a coroutine function returns.

    In the main thread a signal interrupts the call, also while it sleeps or waits for a server, and
    inside code in C that looks for signals, as `re` does. In other threads, where Python handles no
    signals, and for coroutines, the call runs in a thread that nobody waits for when its time is
    up. Code in C that holds the interpreter and looks for no signal ends when it ends: only a
    process of its own can be ended (`OwnProcess`).

    Args:
        seconds: The limit; None for none.
        call: What to call.

    Raises:
        TimeUp: When the time is up.
    """
    in_main = threading.current_thread() is threading.main_thread()
    if inspect.iscoroutinefunction(call):
        patience = None if seconds is None else seconds + AGAIN_S  # should it block its own loop
        return _call_in_thread(patience, lambda: asyncio.run(_await_within(seconds, call)))
    if seconds is None:
        return call()
    if in_main and hasattr(signal, "setitimer"):
        return _call_with_interrupts(seconds, call)
    return _call_in_thread(seconds, call)


def _call_with_interrupts(seconds: float, call: Callable[[], T]) -> T:
    done, end = threading.Event(), math.inf  # until the call begins, no signal counts

    def left_s() -> float:
        return math.inf if done.is_set() else end - time.monotonic()

    def on_signal(*_: Any) -> None:
        if left_s() <= 0:
            raise TimeUp

    # Not SIGALRM: functions of users set their own alarms.
    previous = signal.signal(signal.SIGVTALRM, on_signal)
    given = (done, seconds, left_s, threading.get_ident())
    watchdog = threading.Thread(target=_interrupt_until_done, args=given, daemon=True)
    watchdog.start()
    timer = _set_kernel_timer(seconds)
    try:
        try:
            end = time.monotonic() + seconds
            return call()
        finally:
            done.set()
    finally:
        done.set()  # once more, as the signal may have come just before the first one
        watchdog.join()
        _set_kernel_timer(*timer)
        signal.signal(signal.SIGVTALRM, previous)


def _set_kernel_timer(seconds: float, again: float = AGAIN_S) -> tuple[float, float]:
    """Let the kernel signal, too, once that much processor time was used; return the timer before.

    Code in C that holds the interpreter, as `re` does, stops the watchdog, but not the kernel.
    """
    return signal.setitimer(signal.ITIMER_VIRTUAL, seconds, again)


def _interrupt_until_done(
    done: threading.Event, seconds: float, left_s: Callable[[], float], thread: int
) -> None:
    """Interrupt a thread when no time is left, again and again until it is done."""
    wait_s = seconds
    while not done.wait(wait_s):
        wait_s = min(left_s(), AGAIN_S)
        if wait_s <= 0:
            signal.pthread_kill(thread, signal.SIGVTALRM)
            wait_s = AGAIN_S


async def _await_within(seconds: float | None, call: Callable[[], Any]) -> Any:
    try:
        async with asyncio.timeout(seconds) as limit:
            return await call()
    except TimeoutError:
        if limit.expired():
            raise TimeUp from None
        raise


def _call_in_thread(seconds: float | None, call: Callable[[], T]) -> T:
    result: list[T] = []
    failure: list[BaseException] = []

    def run() -> None:
        try:
            result.append(call())
        except BaseException as error:
            failure.append(error)

    thread = threading.Thread(target=run, daemon=True)
    thread.start()
    thread.join(seconds)
    if thread.is_alive():
        raise TimeUp
    if failure:
        raise failure[0]
    return result[0]


def values_of(
    function: Callable[..., Any], fields: dict[str, Any], count: int, timeout: float | None
) -> list[float | None]:
    """Call a function, and return one number or None for each sample.

    Raises:
        CallError: If the function does not return that in time.
    """
    try:
        values = call_within(timeout, _call_with_fields(function, own(fields)))
    except TimeUp:
        raise timeout_error(timeout) from None
    except (Exception, SystemExit) as error:
        kind = type(error).__name__
        raise CallError(kind, f"raised {kind}: {error}", error) from error
    return _read_numbers(values, count)


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


def _read_numbers(values: Any, count: int) -> list[float | None]:
    if not isinstance(values, Iterable) or isinstance(values, str | bytes | dict):
        raise CallError(
            "wrong length", f"returned {quoted(values)}, not one number for each sample"
        )
    listed = list(values)
    if len(listed) != count:
        sizes = f"{wording.count(len(listed), 'value')} for {wording.count(count, 'sample')}"
        raise CallError("wrong length", f"returned {sizes}")
    try:
        return [read_score(value) for value in listed]
    except ValueError as error:
        raise CallError("no number", f"must return {error}") from None


def timeout_error(timeout: float | None) -> CallError:
    """Return the error of a call that took longer than its limit."""
    return CallError("timeout", f"took longer than its {timeout or 0:g} s")


def _call_with_fields(function: Callable[..., Any], fields: dict[str, Any]) -> Callable[[], Any]:
    """Return a call of the function with these fields."""
    if not is_async(function):

        def call_now() -> Any:
            values = function(**fields)
            return list(values) if isinstance(values, Iterator) else values  # it may fail, too

        return call_now

    async def call() -> Any:
        return await function(**fields)

    return call


def quoted(value: Any) -> str:
    """Quote a value; leave out the middle of a long one."""
    chat = isinstance(value, list) and value and all(isinstance(message, dict) for message in value)
    text = repr(plain_text(value) if chat else value)
    return text if len(text) <= SHOWN else f"{text[: SHOWN // 2]} … {text[-SHOWN // 2 :]}"
