"""An event loop in its own thread, so that synchronous code can have many requests open."""

from __future__ import annotations

import asyncio
import threading
from collections.abc import Awaitable, Callable, Coroutine
from concurrent.futures import Future
from typing import Any, TypeVar

T = TypeVar("T")


class BackgroundLoop:
    """Runs coroutines in one thread. Closing it cancels them and leaves nothing behind.

    Args:
        at_close: Awaited in the thread when all coroutines have ended.
    """

    def __init__(self, at_close: Callable[[], Awaitable[None]]):
        self._at_close = at_close
        self._loop = asyncio.new_event_loop()
        # A daemon, so that a process whose client nobody closed can still end.
        self._thread = threading.Thread(target=self._run_loop, name="setrl-client", daemon=True)
        # Work that is submitted while another thread closes the loop is either cancelled or
        # refused: without the lock it might wait for ever in a loop that has ended.
        self._lock = threading.Lock()
        self._closed = False

    def submit(self, work: Callable[[], Coroutine[Any, Any, T]]) -> Future[T]:
        """Run `work()` in the thread, which starts with the first call.

        Raises:
            RuntimeError: If the loop is closed.
        """
        with self._lock:
            if self._closed:
                raise RuntimeError("no request can be sent: the client is closed")
            if not self._thread.ident:
                self._thread.start()
            return asyncio.run_coroutine_threadsafe(work(), self._loop)

    def close(self) -> None:
        """Cancel all running work, and wait until the thread has ended."""
        with self._lock:
            was_closed, self._closed = self._closed, True
        if not self._thread.ident:
            self._loop.close()
            return
        if not was_closed:
            self._loop.call_soon_threadsafe(self._loop.stop)
        # A finalizer may run in any thread, also in this loop's own, which cannot join itself.
        if threading.current_thread() is not self._thread:
            self._thread.join()

    def _run_loop(self) -> None:
        with asyncio.Runner(loop_factory=lambda: self._loop) as runner:
            runner.get_loop().run_forever()
            runner.run(self._cancel_tasks())

    async def _cancel_tasks(self) -> None:
        tasks = asyncio.all_tasks() - {asyncio.current_task()}
        for task in tasks:
            task.cancel()
        await asyncio.gather(*tasks, return_exceptions=True)
        await self._at_close()
