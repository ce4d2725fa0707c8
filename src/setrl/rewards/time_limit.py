"""A call that ends after some seconds, even if what it calls never returns."""

from __future__ import annotations

import asyncio
import inspect
import signal
import threading
import time
from collections.abc import Callable
from typing import Any, TypeVar

T = TypeVar("T")

AGAIN_S = 0.1  # until a call that swallowed the interruption is interrupted again


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
        return _in_thread(patience, lambda: asyncio.run(_awaited(seconds, call)))
    if seconds is None:
        return call()
    if in_main and hasattr(signal, "setitimer"):
        return _interrupted(seconds, call)
    return _in_thread(seconds, call)


def _interrupted(seconds: float, call: Callable[[], T]) -> T:
    done = threading.Event()
    end = time.monotonic() + seconds

    def on_signal(*_: Any) -> None:
        if not done.is_set() and time.monotonic() >= end:
            raise TimeUp

    # Not SIGALRM: functions of users set their own alarms.
    previous = signal.signal(signal.SIGVTALRM, on_signal)
    main = threading.get_ident()
    watchdog = threading.Thread(target=_watch, args=(done, end, main), daemon=True)
    watchdog.start()
    timer = _kernel_timer(seconds)
    try:
        try:
            return call()
        finally:
            done.set()
    finally:
        done.set()  # once more, as the signal may have come just before the first one
        watchdog.join()
        _kernel_timer(*timer)
        signal.signal(signal.SIGVTALRM, previous)


def _kernel_timer(seconds: float, again: float = AGAIN_S) -> tuple[float, float]:
    """Let the kernel signal, too, once that much processor time was used; return the timer before.

    Code in C that holds the interpreter, as `re` does, stops the watchdog, but not the kernel.
    """
    return signal.setitimer(signal.ITIMER_VIRTUAL, seconds, again)


def _watch(done: threading.Event, end: float, thread: int) -> None:
    """Interrupt a thread when the time is up, again and again until it is done."""
    if not done.wait(end - time.monotonic()):
        while not done.is_set():
            signal.pthread_kill(thread, signal.SIGVTALRM)
            done.wait(AGAIN_S)


async def _awaited(seconds: float | None, call: Callable[[], Any]) -> Any:
    try:
        async with asyncio.timeout(seconds) as limit:
            return await call()
    except TimeoutError:
        if limit.expired():
            raise TimeUp from None
        raise


def _in_thread(seconds: float | None, call: Callable[[], T]) -> T:
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
