"""The process that forks the workers: it has loaded mpmath, so a worker starts at once.

`python -m setrl_grader.zygote SOCKET CPU_SECONDS MEMORY_MB` is started by `workers.WorkerPool`,
and ends, with all its workers, when the other end of the socket is closed. It is a separate
program and not a `multiprocessing` child, because those run the trainer's script again. It has one
thread, so its forks are safe; the trainer's process, which may have many, never forks.

A worker reads one job per line and answers with one line. The kernel kills it when a job takes more
than its seconds of processor time, even in a computation that never returns to Python.
"""

from __future__ import annotations

import gc
import json
import os
import resource
import signal
import socket
import sys
from typing import Any

from setrl_grader.algebra import same_statement
from setrl_grader.compare import compare
from setrl_grader.findings import Finding
from setrl_grader.modular import equal_rational
from setrl_grader.numeric import equal_numeric, separating_point
from setrl_grader.trees import Tree
from setrl_grader.why import with_point

_PAGE = resource.getpagesize()


def main(control_fd: int, cpu_seconds: float, memory_mb: int) -> None:
    """Fork a worker for every socket that comes through the control socket."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # Ctrl-C is for the trainer
    signal.signal(signal.SIGCHLD, signal.SIG_IGN)  # ended workers leave no zombies
    control = socket.socket(fileno=control_fd)
    gc.freeze()
    while True:
        message, fds, _, _ = socket.recv_fds(control, 1, 1)
        if not message:
            os.killpg(0, signal.SIGKILL)
        if os.fork() == 0:
            control.close()
            _serve(socket.socket(fileno=fds[0]), cpu_seconds, memory_mb)
            os._exit(0)
        os.close(fds[0])


def _serve(connection: socket.socket, cpu_seconds: float, memory_mb: int) -> None:
    _limit_memory(memory_mb)
    connection.sendall(_line({"pid": os.getpid()}))
    for line in connection.makefile("rb"):
        signal.setitimer(signal.ITIMER_PROF, cpu_seconds)  # SIGPROF ends the process
        try:
            reply: dict[str, Any] = {"verdict": judged(json.loads(line))}
        except Exception:  # too deep or too large: this process must end
            reply = {"verdict": "crash", "ends": True}
        signal.setitimer(signal.ITIMER_PROF, 0)
        connection.sendall(_line(reply))


def judged(job: dict[str, Any]) -> dict[str, Any]:
    """Judge a job: the record of what was found, with a point where both differ."""
    tolerance = job["relative_tolerance"]

    def equal(one: Tree, other: Tree) -> bool | None:
        verdict = equal_rational(one, other)
        return equal_numeric(one, other, tolerance) if verdict is None else verdict

    found = compare(
        job["gold"],
        job["answer"],
        relative_tolerance=tolerance,
        units=job["units"],
        algebra=lambda gold, answer: same_statement(gold, answer, equal),
    )
    if found.equal is None:
        found = Finding(False, "undecided", job["gold"], job["answer"])
    return with_point(found, separating_point).record()


def _limit_memory(memory_mb: int) -> None:
    """Limit the worker's memory to its present size plus `memory_mb`, if the size is known."""
    resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
    try:
        with open("/proc/self/statm") as file:
            now = int(file.read().split()[0]) * _PAGE
    except OSError:
        return
    limit = now + memory_mb * 2**20
    resource.setrlimit(resource.RLIMIT_AS, (limit, limit))


def _line(record: dict[str, Any]) -> bytes:
    return json.dumps(record).encode() + b"\n"


if __name__ == "__main__":
    main(int(sys.argv[1]), float(sys.argv[2]), int(sys.argv[3]))
