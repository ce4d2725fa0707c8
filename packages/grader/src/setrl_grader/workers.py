"""Worker processes that may be killed: every job has an outcome within its time limit."""

from __future__ import annotations

import importlib.util
import json
import os
import selectors
import signal
import socket
import subprocess
import sys
import threading
import time
import weakref
from collections import deque
from collections.abc import Sequence
from contextlib import suppress
from dataclasses import dataclass, field
from typing import Any

from setrl_grader.errors import WorkersError

TIMEOUT = "timeout"
CRASH = "crash"

CLOCK_FACTOR = 10  # seconds on the clock for each processor second, for a busy machine
START_SECONDS = 120.0  # to load mpmath on a busy machine
JOBS_A_WORKER = 500  # then a new worker replaces it, which frees what mpmath has cached

AlgebraJob = dict[str, Any]
Verdict = str | dict[str, Any]  # TIMEOUT, CRASH, or the record of what was found


@dataclass
class _Worker:
    connection: socket.socket
    deadline: float
    pid: int | None = None  # None until its first message arrives
    job: int | None = None
    started: float = 0.0
    served: int = 0
    received: bytes = field(default=b"", repr=False)


class WorkerPool:
    """Processes that do jobs, each within limits that the kernel enforces.

    Nothing starts before the first job. Batches of several threads share the processes; a forked
    child starts its own. They end when the pool is collected, the program ends, or is killed.

    Args:
        workers: The number of processes.
        time_limit_s: Processor seconds per job; at most ten times as many on the clock.
        memory_mb: Memory of a worker in addition to what it has at its start.
    """

    idle: list[_Worker]
    _lock: threading.Lock
    _process: subprocess.Popen[bytes] | None
    _control: socket.socket | None
    _end: weakref.finalize | None

    def __init__(self, workers: int, time_limit_s: float, memory_mb: int):
        self.workers = workers
        self.time_limit_s = time_limit_s
        self.memory_mb = memory_mb
        self._forget()
        _POOLS.add(self)

    def __reduce__(self) -> tuple[Any, ...]:
        return WorkerPool, (self.workers, self.time_limit_s, self.memory_mb)

    def run(self, jobs: Sequence[AlgebraJob]) -> list[Verdict]:
        """Return the verdict on each job, TIMEOUT, or CRASH after an error or two dead workers.

        Raises:
            ImportError: If mpmath is not installed.
            WorkersError: If no worker can be started.
        """
        size = self._lease(len(jobs)) if jobs else 0
        try:
            return _Batch(self, jobs, size).run()
        finally:
            for _ in range(size):
                self._free.release()

    def close(self) -> None:
        """Stop all processes; the next job starts new ones."""
        with self._lock:
            if self._end:
                self._end()
            self.idle, self._process = [], None

    def take(self, most: int) -> list[_Worker]:
        """Return up to so many idle workers, which are then the caller's."""
        with self._lock:
            return [self.idle.pop() for _ in range(min(most, len(self.idle)))]

    def give_back(self, workers: list[_Worker]) -> None:
        """Take back workers that are idle."""
        with self._lock:
            self.idle += workers

    def _lease(self, most: int) -> int:
        """Wait for the right to use one process, and take those to others that nobody uses."""
        self._free.acquire()
        size = 1
        while size < most and self._free.acquire(blocking=False):
            size += 1
        return size

    def start_worker(self) -> _Worker:
        """Start a worker; its first message says that it can take a job."""
        ours, theirs = socket.socketpair()
        with self._lock, theirs:
            if self._process is None or self._process.poll() is not None:
                self._start_zygote()
            assert self._control is not None
            with suppress(BrokenPipeError):  # then `ours` is closed, which `_receive` notices
                socket.send_fds(self._control, [b"w"], [theirs.fileno()])
        return _Worker(ours, deadline=time.monotonic() + START_SECONDS)

    def _start_zygote(self) -> None:
        if importlib.util.find_spec("mpmath") is None:
            raise ImportError("this answer needs mpmath: pip install 'mpmath>=1.3'")
        if not hasattr(os, "fork"):
            raise WorkersError(
                "this answer needs algebra in forked processes, which this system lacks: use Linux "
                "or macOS; on Windows, WSL"
            )
        ours, theirs = socket.socketpair()
        limits = [str(theirs.fileno()), str(self.time_limit_s), str(self.memory_mb)]
        with theirs:
            process = subprocess.Popen(
                [sys.executable, "-P", "-m", "setrl_grader.zygote", *limits],
                pass_fds=[theirs.fileno()],
                stdin=subprocess.DEVNULL,
                stdout=subprocess.DEVNULL,
                env=_environment(),
                start_new_session=True,
            )
        self._process, self._control = process, ours
        self._end = weakref.finalize(self, _end_all, process, ours, os.getpid())

    def _forget(self) -> None:
        """Begin without processes: in a forked child they, and the held locks, are the parent's."""
        self.idle = []
        self._lock, self._free = threading.Lock(), threading.Semaphore(self.workers)
        self._process = self._control = self._end = None


_POOLS: weakref.WeakSet[WorkerPool] = weakref.WeakSet()


def _forget_all() -> None:
    for pool in _POOLS:
        pool._forget()


if hasattr(os, "register_at_fork"):  # not on Windows, where `_start_zygote` refuses
    os.register_at_fork(after_in_child=_forget_all)


class _Batch:
    """One call of `run`: waiting jobs, and up to `size` workers with a job."""

    def __init__(self, pool: WorkerPool, jobs: Sequence[AlgebraJob], size: int):
        self.pool = pool
        self.size = size
        self.jobs = jobs
        self.verdicts: list[Verdict | None] = [None] * len(jobs)
        self.waiting = deque(range(len(jobs)))
        self.tried: set[int] = set()
        self.failed_starts = 0
        self.selector = selectors.DefaultSelector()

    def run(self) -> list[Verdict]:
        for worker in self.pool.take(self.size):
            self.selector.register(worker.connection, selectors.EVENT_READ, worker)
        try:
            while None in self.verdicts or self._busy():
                self._step()
        except BaseException:
            for worker in self._all():
                self._drop(worker, kill=True)
            raise
        self.pool.give_back(self._all())
        self.selector.close()
        return [verdict or CRASH for verdict in self.verdicts]

    def _step(self) -> None:
        for worker in self._all():
            if worker.pid is None or worker.job is not None or not self.waiting:
                continue
            if _has_ended(worker):  # while it was idle, so no job caused it
                self._drop(worker, kill=False)
            else:
                self._give(worker, self.waiting.popleft())
        starting = sum(worker.pid is None for worker in self._all())
        while len(self._all()) < self.size and starting < len(self.waiting):
            worker = self.pool.start_worker()
            self.selector.register(worker.connection, selectors.EVENT_READ, worker)
            starting += 1
        now = time.monotonic()
        deadlines = [worker.deadline for worker in self._all() if self._is_due(worker)]
        for key, _ in self.selector.select(max(0.0, min(deadlines) - now) if deadlines else 0):
            self._receive(key.data)
        for worker in self._all():
            if self._is_due(worker) and time.monotonic() > worker.deadline:
                self._end_job(worker, TIMEOUT)

    def _is_due(self, worker: _Worker) -> bool:
        return worker.pid is None or worker.job is not None

    def _give(self, worker: _Worker, job: int) -> None:
        worker.job, worker.started = job, time.monotonic()
        worker.deadline = worker.started + CLOCK_FACTOR * self.pool.time_limit_s
        try:
            worker.connection.sendall(json.dumps(self.jobs[job]).encode() + b"\n")
        except OSError:
            self._end_job(worker, CRASH)

    def _receive(self, worker: _Worker) -> None:
        try:
            received = worker.connection.recv(4096)
        except ConnectionError:
            received = b""
        if not received:
            late = time.monotonic() - worker.started >= self.pool.time_limit_s
            self._end_job(worker, TIMEOUT if late and worker.job is not None else CRASH)
            return
        worker.received += received
        if not worker.received.endswith(b"\n"):
            return
        reply, worker.received = json.loads(worker.received), b""
        if worker.pid is None:
            worker.pid, self.failed_starts = reply["pid"], 0
            return
        self._settle(worker, reply)

    def _settle(self, worker: _Worker, reply: dict[str, Any]) -> None:
        assert worker.job is not None
        self.verdicts[worker.job], worker.job = reply["verdict"], None
        worker.served += 1
        if worker.served >= JOBS_A_WORKER or "ends" in reply:
            self._drop(worker, kill=False)

    def _end_job(self, worker: _Worker, why: str) -> None:
        """End the job of a dead or late worker; a job that was not late is tried once more."""
        job = worker.job
        self._drop(worker, kill=True)
        if worker.pid is None:
            self._failed_start()
        elif job is not None and (why == TIMEOUT or job in self.tried):
            self.verdicts[job] = why
        elif job is not None:
            self.tried.add(job)
            self.waiting.appendleft(job)

    def _failed_start(self) -> None:
        self.failed_starts += 1
        if self.failed_starts > self.size:
            raise WorkersError("the workers of the grader cannot be started; to see why, run: "
                           "python -m setrl_grader.zygote 0 1 1024")  # fmt: skip

    def _drop(self, worker: _Worker, kill: bool) -> None:
        self.selector.unregister(worker.connection)
        if kill and worker.pid is not None and not _has_ended(worker):
            os.kill(worker.pid, signal.SIGKILL)
        worker.connection.close()

    def _all(self) -> list[_Worker]:
        return [key.data for key in self.selector.get_map().values()]

    def _busy(self) -> bool:
        return any(worker.job is not None for worker in self._all())


def _has_ended(worker: _Worker) -> bool:
    """Whether a worker's end of the socket is closed; its pid may then be another process's."""
    try:
        return worker.connection.recv(1, socket.MSG_PEEK | socket.MSG_DONTWAIT) == b""
    except BlockingIOError:
        return False
    except OSError:
        return True


def _environment() -> dict[str, str]:
    path = os.pathsep.join(each for each in sys.path if each)
    return {**os.environ, "PYTHONPATH": path, "OMP_NUM_THREADS": "1", "OPENBLAS_NUM_THREADS": "1"}


def _end_all(process: subprocess.Popen[bytes], control: socket.socket, owner: int) -> None:
    control.close()
    if os.getpid() == owner and process.poll() is None:
        os.killpg(process.pid, signal.SIGKILL)
        process.wait()
