"""The process that forks the workers: it has loaded math-verify, so a worker starts at once.

`python -m setrl.grading.zygote SOCKET CPU_SECONDS MEMORY_MB` is started by `workers.WorkerPool`,
and ends, with all its workers, when the other end of the socket is closed. It is a separate
program and not a `multiprocessing` child, because those run the trainer's script again.

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

from setrl.grading import math_verify
from setrl.grading.compare import Verdict, compare
from setrl.grading.expressions import equal_rational, read
from setrl.grading.letters import plain_letters
from setrl.grading.numeric import equal_numeric
from setrl.grading.shapes import read_shape, unnamed

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


def judged(job: dict[str, Any]) -> str:
    """Judge a job: "equal", "different", "unparsable gold" or "unparsable answer"."""
    try:
        if job["answer"] is None:
            return "equal" if _accepts_itself(job) else "different"
        return "equal" if _compared(job) else "different"
    except math_verify.ParseError as error:
        return str(error)


def _compared(job: dict[str, Any]) -> Verdict:
    tolerance = job["relative_tolerance"]

    def algebra(gold: str, answer: str) -> bool:
        verdict = _as_expressions(gold, answer, tolerance)
        if verdict is not None:
            return verdict
        gold, answer = plain_letters(_plain(gold), _plain(answer))
        for text, whose in ((gold, "gold"), (answer, "answer")):
            _parse(text, whose)
        return math_verify.equal(gold, answer, tolerance)

    return compare(
        job["gold"],
        job["answer"],
        relative_tolerance=tolerance,
        units=job["units"],
        algebra=algebra,
    )


def _as_expressions(gold: str, answer: str, tolerance: float) -> Verdict:
    """Compare by our own reading; return None if one side is not an expression that it knows."""
    one, other = read(_plain(gold)), read(_plain(answer))
    if one is None or other is None or gold.endswith("%") != answer.endswith("%"):
        return None
    verdict = equal_rational(one, other)
    return equal_numeric(one, other, tolerance) if verdict is None else verdict


def _accepts_itself(job: dict[str, Any]) -> bool:
    """Whether algebra finds a gold equal to itself, without comparing characters."""
    items = [_plain(unnamed(item)) for item in read_shape(job["gold"]).items]
    unread = [plain_letters(item, item)[0] for item in items if read(item) is None]
    for item in unread:
        _parse(item, "gold")
    return all(math_verify.equal(item, item, job["relative_tolerance"]) for item in unread)


def _parse(text: str, whose: str) -> None:
    try:
        math_verify.expression(_plain(text))
    except math_verify.ParseError:
        raise math_verify.ParseError(f"unparsable {whose}") from None


def _plain(text: str) -> str:
    return text.removesuffix("%")


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
