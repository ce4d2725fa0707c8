"""Jobs in processes of their own, with one progress bar for all."""

from __future__ import annotations

import multiprocessing
import signal
import sys
import threading
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from multiprocessing import forkserver, resource_tracker
from multiprocessing.connection import Connection, wait
from multiprocessing.process import BaseProcess
from typing import Any, Protocol

from setrl.errors import RunError
from setrl.files.progress import progress_bar

SAME_INTERRUPT = 1.0  # seconds within which a second SIGINT counts as the first
BAR = "{desc} {percentage:3.0f}% |{bar}| {elapsed} so far, {remaining} left {postfix}"


class Job(Protocol):
    """What a process of its own does."""

    @property
    def name(self) -> str:
        """What people call it."""
        ...

    @property
    def cost(self) -> float:
        """How long it takes, in the unit in which it tells how far it is."""
        ...


Work = Callable[[Any, Connection], None]  # sends ("done", how much) and ("failed", why)


def run_jobs(jobs: Sequence[Job], work: Work, workers: int, show_progress: bool) -> None:
    """Do all jobs, `workers` of them at a time, each by a call of `work` in a process of its own.

    Raises:
        RunError: If jobs failed, naming them and why; the others were done all the same.
        KeyboardInterrupt: After Ctrl-C, when the processes have written checkpoints and ended.
    """
    pool = _Pool(jobs, work, workers, show_progress)
    with _doubled_interrupts_as_one():
        try:
            pool.run()
        except KeyboardInterrupt:
            print("\nwriting checkpoints; Ctrl-C again to stop at once", file=sys.stderr)
            pool.stop()
            raise
        finally:
            pool.close()
    if pool.failures:
        listed = "\n".join(f"  {name}: {why}" for name, why in pool.failures.items())
        raise RunError(f"{len(pool.failures)} of {len(jobs)} jobs failed:\n{listed}")


@contextmanager
def _doubled_interrupts_as_one() -> Iterator[None]:
    """Let a SIGINT right after another pass: `timeout -s INT` sends it to us and to our group."""
    heard = -SAME_INTERRUPT

    def interrupt(*_: object) -> None:
        nonlocal heard
        now = time.monotonic()
        if now - heard >= SAME_INTERRUPT:
            heard = now
            raise KeyboardInterrupt

    if threading.current_thread() is not threading.main_thread():  # it alone may handle signals
        yield
        return
    usual = signal.signal(signal.SIGINT, interrupt)
    try:
        yield
    finally:
        signal.signal(signal.SIGINT, usual)


class _Pool:
    """Jobs in processes, `workers` of them at a time, and one progress bar for all."""

    def __init__(self, jobs: Sequence[Job], work: Work, workers: int, show_progress: bool):
        self.work = work
        self.waiting = list(jobs)
        self.workers = workers
        self.failures: dict[str, str] = {}
        self._running: dict[Connection, tuple[Job, BaseProcess]] = {}
        self._done: dict[str, float] = {}
        self._bar = progress_bar(
            show_progress,
            total=sum(job.cost for job in jobs),
            desc="training",
            bar_format=BAR,
        )
        # A forked process starts in milliseconds with everything imported; others import it anew.
        self._context: Any = multiprocessing.get_context("forkserver" if _can_fork() else "spawn")
        if _can_fork():
            _start_forkserver([work.__module__])

    def run(self) -> None:
        """Do all jobs; one that fails does not stop the others."""
        while self.waiting or self._running:
            while self.waiting and len(self._running) < self.workers:
                self._start(self.waiting.pop(0))
            self._hear()

    def _start(self, job: Job) -> None:
        ours, theirs = self._context.Pipe()
        process = self._context.Process(target=self.work, args=(job, theirs))
        process.start()
        theirs.close()
        self._running[ours] = job, process

    def _hear(self) -> None:
        """Take in what the processes tell; those that ended leave."""
        for connection in wait(list(self._running)):
            assert isinstance(connection, Connection)
            job, process = self._running[connection]
            try:
                what, value = connection.recv()
            except (EOFError, ConnectionResetError):
                process.join()
                del self._running[connection]
                if process.exitcode:
                    reason = f"its process ended with exit code {process.exitcode}"
                    self.failures.setdefault(job.name, reason)
                continue
            if what == "failed":
                self.failures[job.name] = value
            else:
                self._show(job, value)

    def _show(self, job: Job, done: float) -> None:
        before = self._done.get(job.name)
        if before is not None:
            self._bar.update(done - before)
        elif not self._bar.disable:  # done in an earlier run: it says nothing of this one's speed
            self._bar.initial += done
            self._bar.n += done
        self._done[job.name] = done
        running = [other for other, _ in self._running.values() if other.name in self._done]
        at = [f"{other.name} {self._done[other.name] / other.cost:.0%}" for other in running]
        self._bar.set_postfix_str(", ".join(at), refresh=False)

    def stop(self) -> None:
        """Ask the processes to write checkpoints and end, and wait until they have."""
        for connection in self._running:
            connection.send("stop")
        while self._running:
            self._hear()

    def close(self) -> None:
        """End what still runs."""
        self._bar.close()
        for _, process in self._running.values():
            process.kill()
            process.join()


def _start_forkserver(preload: list[str]) -> None:
    """Start what forks our processes, deaf to SIGINT as all that it forks: it is ours to stop them.

    The resource tracker comes first, as Python lets interrupts through again when it starts that.
    """
    multiprocessing.set_forkserver_preload(preload)
    resource_tracker.ensure_running()
    before = signal.pthread_sigmask(signal.SIG_BLOCK, {signal.SIGINT})
    try:
        forkserver.ensure_running()
    finally:
        signal.pthread_sigmask(signal.SIG_SETMASK, before)


def _can_fork() -> bool:
    return sys.platform == "linux"
