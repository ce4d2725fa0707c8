"""A reward function in a process of its own, which can be ended whatever the function does."""

from __future__ import annotations

import math
import os
import pickle
import signal
import socket
import subprocess
import sys
import threading
import time
import weakref
from contextlib import suppress
from multiprocessing.connection import Connection
from pathlib import Path
from typing import Any

from setrl.rewards.calling import CallError, timeout_error, values_of
from setrl.support.errors import ConfigError, RunError
from setrl.support.files.loading import load_function

NOT_SENT = ("trainer_state", "environments", "log_extra", "log_metric")  # of the trainer's process
GRACE_S = 1.0  # after the time limit, in which the process may still end the call itself
SERVE = "import sys; from setrl.rewards.own_process import serve; serve(*sys.argv[1:])"


class OwnProcess:
    """The process of one function; it starts at the first call, and again after it was ended.

    The function shares no memory with the run: its caches and counts are those of its process.

    Args:
        reference: The function, `module:name`.
        folder: The folder where the module is looked up first.
    """

    def __init__(self, reference: str, folder: str | Path) -> None:
        self.reference, self.folder = reference, str(folder)
        self._lock = threading.Lock()
        self._finalizer: weakref.finalize[..., Any] | None = None

    def __reduce__(self) -> tuple[Any, ...]:
        return OwnProcess, (self.reference, self.folder)

    def values(
        self, fields: dict[str, Any], count: int, timeout: float | None
    ) -> list[float | None]:
        """Let the process call the function, and return one number or None for each sample.

        Raises:
            CallError: If the function does not return that in time, or its process ends.
            RunError: If the process cannot load the function, or a field cannot be sent to it.
        """
        sent = {name: value for name, value in fields.items() if name not in NOT_SENT}
        with self._lock:
            try:
                return self._ask_process(_pickle_call(sent, count, timeout), timeout)
            except (EOFError, ConnectionError):
                what = f"ended its process with exit code {self._wait_for_exit_code()}"
                raise CallError("process ended", what) from None
            except CallError as error:
                if error.kind == "timeout":
                    self._stop_process()
                raise
            except BaseException:  # its answer may still come, and would be taken for the next one
                self._stop_process()
                raise

    def _ask_process(self, question: bytes, timeout: float | None) -> list[float | None]:
        if self._finalizer is None:
            self._start_process()
        self._connection.send_bytes(question)
        if not self._connection.poll(None if timeout is None else timeout + GRACE_S):
            raise timeout_error(timeout)
        answer, kind, what = pickle.loads(self._connection.recv_bytes())
        if kind:
            raise CallError(kind, what)
        values: list[float | None] = answer
        return values

    def _start_process(self) -> None:
        ours, theirs = socket.socketpair()
        with theirs:
            self._process = subprocess.Popen(
                [sys.executable, "-c", SERVE, str(theirs.fileno()), self.reference, self.folder],
                pass_fds=[theirs.fileno()],
                stdin=subprocess.DEVNULL,
                stdout=2,  # what it prints is no answer of a command
                env={**os.environ, "PYTHONPATH": os.pathsep.join(filter(None, sys.path))},
            )
        self._connection = Connection(ours.detach())
        self._finalizer = weakref.finalize(self, _end_process, self._process, self._connection)
        if refusal := self._connection.recv():
            raise RunError(refusal)

    def _stop_process(self) -> None:
        if self._finalizer is not None:
            self._finalizer()
            self._finalizer = None

    def _wait_for_exit_code(self) -> int | None:
        """Return how the process ended that has closed its connection."""
        with suppress(subprocess.TimeoutExpired):
            self._process.wait(timeout=10)
        self._stop_process()
        return self._process.returncode


def _end_process(process: subprocess.Popen[bytes], connection: Connection) -> None:
    connection.close()
    process.kill()
    process.wait()


def _pickle_call(sent: dict[str, Any], count: int, timeout: float | None) -> bytes:
    try:
        return pickle.dumps((sent, count, timeout))
    except Exception as error:  # each class raises its own kind of error
        raise RunError(
            f"a reward with own_process gets columns that can be sent: {error}"
        ) from error


def serve(number: str, reference: str, folder: str) -> None:
    """Answer the questions on a connection, in the process of a function, until it is closed.

    Args:
        number: Of the file that the process got for its connection.
        reference: The function, `module:name`.
        folder: The folder where the module is looked up first.
    """
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # the run handles it, and ends this process
    connection = Connection(int(number))
    try:
        function = load_function(reference, folder).value
    except ConfigError as error:
        connection.send(str(error))
        return
    connection.send("")
    with suppress(EOFError, ConnectionError):
        while True:
            fields, count, timeout = pickle.loads(connection.recv_bytes())
            _limit_processor_time(timeout)
            try:
                answer = values_of(function, fields, count, timeout), "", ""
            except CallError as error:
                answer = [], error.kind, error.what
            connection.send_bytes(pickle.dumps(answer))


def _limit_processor_time(seconds: float | None) -> None:
    """Let the kernel end this process if nobody is left to do it when the time is up."""
    import resource

    hard = resource.getrlimit(resource.RLIMIT_CPU)[1]
    most = resource.RLIM_INFINITY
    if seconds is not None:
        most = math.ceil(time.process_time() + (seconds + 2 * GRACE_S) * (os.cpu_count() or 1))
    within = most if hard == resource.RLIM_INFINITY or most < hard else hard
    resource.setrlimit(resource.RLIMIT_CPU, (within, hard))
