"""An event loop in a thread of its own, so that synchronous code can have many requests open."""

from __future__ import annotations

import asyncio
import threading
from collections.abc import Awaitable, Callable, Coroutine
from concurrent.futures import Future
from typing import Any, TypeVar

T = TypeVar("T")


class BackgroundLoop:
    """Runs coroutines in one thread; closing it cancels them and leaves nothing behind.

    Args:
        at_close: Awaited in the thread when all coroutines have ended.
    """

    def __init__(self, at_close: Callable[[], Awaitable[None]]):
        self._at_close = at_close
        self._lock = threading.Lock()
        self._ready = threading.Event()
        self._thread: threading.Thread | None = None
        self._closed = False

    def submit(self, work: Callable[[], Coroutine[Any, Any, T]]) -> Future[T]:
        """Run `work()` in the thread, which starts with the first call.

        Raises:
            RuntimeError: If the loop is closed.
        """
        with self._lock:
            if self._closed:
                raise RuntimeError("the judge is closed")
            if self._thread is None:
                self._thread = threading.Thread(target=self._run, name="setrl-judge", daemon=True)
                self._thread.start()
            self._ready.wait()
            return asyncio.run_coroutine_threadsafe(work(), self._loop)

    def close(self) -> None:
        """Cancel what is under way, and wait until the thread has ended."""
        with self._lock:
            was_closed, self._closed = self._closed, True
        if self._thread is None:
            return
        if not was_closed:
            self._loop.call_soon_threadsafe(self._stop.set)
        if threading.current_thread() is not self._thread:
            self._thread.join()

    def _run(self) -> None:
        asyncio.run(self._until_closed())

    async def _until_closed(self) -> None:
        self._loop, self._stop = asyncio.get_running_loop(), asyncio.Event()
        self._ready.set()
        await self._stop.wait()
        tasks = asyncio.all_tasks() - {asyncio.current_task()}
        for task in tasks:
            task.cancel()
        await asyncio.gather(*tasks, return_exceptions=True)
        await self._at_close()
