"""Jobs in separate processes, with one progress bar for all."""

from __future__ import annotations

import multiprocessing
import os
import pickle
import signal
import sys
import threading
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from multiprocessing import forkserver, resource_tracker
from multiprocessing.connection import Connection, wait
from multiprocessing.process import BaseProcess
from typing import Any

from setrl.support.errors import RunError, Terminated, explain
from setrl.support.files.progress import progress_bar

INTERRUPTS = {signal.SIGINT: KeyboardInterrupt, signal.SIGTERM: Terminated}
SAME_INTERRUPT = 1.0  # seconds within which a second signal counts as the first
BAR = "{desc} {percentage:3.0f}% |{bar}| {elapsed} so far, {remaining} left {postfix}"


OnProgress = Callable[[float], None]  # called with how much of the job's cost is done


class Stop:
    """Records that work was asked to end; the work looks at it where all it did can be kept."""

    def __init__(self) -> None:
        self.asked = False

    def ask(self, *_: Any) -> None:
        """Ask the work to end; takes what a signal handler is given."""
        self.asked = True


@dataclass(frozen=True)
class Job:
    """What one process does.

    Attributes:
        name: What people call it.
        cost: How long it takes, in the unit of its progress.
        do: Does all of it, or as much as can be kept once it is asked to stop; it can be pickled.
    """

    name: str
    cost: float
    do: Callable[[OnProgress, Stop], object]


def run_jobs(jobs: Sequence[Job], workers: int, show_progress: bool, preload: str) -> None:
    """Do all jobs, `workers` of them at a time, each in its own process.

    Args:
        jobs: What to do.
        workers: Processes at a time.
        show_progress: Whether to draw a progress bar.
        preload: The module that the jobs need, imported once for all processes.

    Raises:
        RunError: If jobs failed, naming them and why; the others were done all the same.
        KeyboardInterrupt: After Ctrl-C, and `Terminated` after SIGTERM, when the processes have
            written checkpoints and ended.
    """
    pool = _Pool(jobs, workers, show_progress, preload)
    with _ignore_doubled_interrupts():
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
        raise RunError(
            f"{len(pool.failures)} of {len(jobs)} jobs failed:\n{listed}\n"
            "what is done is kept: once this is fixed, the same command goes on from there (with "
            "--accept-changes, if you repair code that the config names)"
        )


def _do_job_here(do: bytes, connection: Connection) -> None:
    """Do a job in this process, and send how much is ("done", …), and last ("ended", …) or why not.

    The job arrives pickled: to make its values again may fail, and then the parent learns why. Code
    of a user may raise anything, `SystemExit` too, or leave without a word: only "ended" is a job
    that was done.

    Whatever the parent sends asks for the end of the work. If its end of the connection closes, the
    parent was killed: this process then ends at once, so that no orphan continues to write.
    """

    def send(kind: str, value: float | str) -> None:
        try:
            connection.send((kind, value))
        except BrokenPipeError:
            os._exit(1)

    stop = Stop()
    for number in INTERRUPTS:  # the parent handles them and asks us to stop
        signal.signal(number, signal.SIG_IGN)
    threading.Thread(target=_listen_for_stop, args=(connection, stop), daemon=True).start()
    try:
        pickle.loads(do)(lambda done: send("done", done), stop)
    except BaseException as error:
        send("failed", explain(error))
        raise SystemExit(1) from error
    send("ended", "")


def _listen_for_stop(connection: Connection, stop: Stop) -> None:
    try:
        connection.recv()
    except (EOFError, OSError):
        os._exit(1)
    stop.ask()


@contextmanager
def _ignore_doubled_interrupts() -> Iterator[None]:
    """Ignore a signal right after another: `timeout` signals us and then our group."""
    last = -SAME_INTERRUPT

    def interrupt(number: int, _: object) -> None:
        nonlocal last
        now = time.monotonic()
        if now - last >= SAME_INTERRUPT:
            last = now
            raise INTERRUPTS[signal.Signals(number)]

    if threading.current_thread() is not threading.main_thread():  # only it may handle signals
        yield
        return
    handlers = {number: signal.signal(number, interrupt) for number in INTERRUPTS}
    try:
        yield
    finally:
        for number, handler in handlers.items():
            signal.signal(number, handler)


class _Pool:
    """Jobs in processes, `workers` of them at a time, and one progress bar for all."""

    def __init__(self, jobs: Sequence[Job], workers: int, show_progress: bool, preload: str):
        self.waiting = list(jobs)
        self.workers = workers
        self.failures: dict[str, str] = {}
        self._running: dict[Connection, tuple[Job, BaseProcess]] = {}
        self._ended: set[str] = set()
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
            _start_forkserver([preload])

    def run(self) -> None:
        """Do all jobs; one that fails does not stop the others."""
        while self.waiting or self._running:
            while self.waiting and len(self._running) < self.workers:
                self._start_process(self.waiting.pop(0))
            self._receive_messages()

    def _start_process(self, job: Job) -> None:
        parent_end, child_end = self._context.Pipe()
        process = self._context.Process(target=_do_job_here, args=(pickle.dumps(job.do), child_end))
        process.start()
        child_end.close()
        self._running[parent_end] = job, process

    def _receive_messages(self) -> None:
        """Receive what the processes send, and remove those that ended."""
        for connection in wait(list(self._running)):
            assert isinstance(connection, Connection)
            job, process = self._running[connection]
            try:
                kind, value = connection.recv()
            except (EOFError, ConnectionResetError):
                process.join()
                del self._running[connection]
                if process.exitcode or job.name not in self._ended:
                    self.failures.setdefault(job.name, _explain_end(process.exitcode))
                continue
            if kind == "failed":
                self.failures[job.name] = value
            elif kind == "ended":
                self._ended.add(job.name)
            else:
                self._show_progress(job, value)

    def _show_progress(self, job: Job, done: float) -> None:
        before = self._done.get(job.name)
        if before is not None:
            self._bar.update(done - before)
        elif not self._bar.disable:  # done in an earlier run, so no measure of this one's speed
            self._bar.initial += done
            self._bar.n += done
            self._bar.last_print_n += done
        self._done[job.name] = done
        running = [peer for peer, _ in self._running.values() if peer.name in self._done]
        at = [f"{peer.name} {self._done[peer.name] / peer.cost:.0%}" for peer in running]
        self._bar.set_postfix_str(", ".join(at), refresh=False)

    def stop(self) -> None:
        """Ask the processes to write checkpoints and end, and wait until they have."""
        for connection in self._running:
            connection.send("stop")
        while self._running:
            self._receive_messages()

    def close(self) -> None:
        """End what still runs."""
        self._bar.close()
        for _, process in self._running.values():
            process.kill()
            process.join()


def _explain_end(code: int | None) -> str:
    """Say how a process ended that did not say that its job was done."""
    if code is not None and code < 0:
        name = signal.Signals(-code).name if -code in set(signal.Signals) else f"signal {-code}"
        out = ", perhaps because memory was used up" if name == "SIGKILL" else ""
        return f"its process was ended by {name}{out}"
    return f"its process ended with exit code {code} before its job was done"


def _start_forkserver(preload: list[str]) -> None:
    """Start the server that forks our processes, with both signals blocked in all it forks.

    Ctrl-C reaches the whole process group, as does a batch system's SIGTERM, but only the parent
    may act on it: it asks the others to stop. The resource tracker is started first, because Python
    unblocks the signals when it starts it.
    """
    multiprocessing.set_forkserver_preload(preload)
    resource_tracker.ensure_running()
    before = signal.pthread_sigmask(signal.SIG_BLOCK, set(INTERRUPTS))
    try:
        forkserver.ensure_running()
    finally:
        signal.pthread_sigmask(signal.SIG_SETMASK, before)


def _can_fork() -> bool:
    return sys.platform == "linux"
