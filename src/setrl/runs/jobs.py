"""What each process of a run does: one arm with one seed, or what all arms start from."""

from __future__ import annotations

import os
import signal
import threading
import traceback
from collections.abc import Callable
from dataclasses import dataclass
from multiprocessing.connection import Connection
from pathlib import Path
from typing import Protocol

from setrl.files import write_text
from setrl.logs.run_folder import BASE, training_run, write_status
from setrl.runs.claim import explain

OnProgress = Callable[[float], None]  # told how much of the job's cost is done


@dataclass(frozen=True, kw_only=True)
class ArmJob:
    """Train an arm with a seed and evaluate it; with no arm, evaluate what all start from."""

    run_dir: Path
    arm: str | None = None
    seed: int = 0

    @property
    def name(self) -> str:
        """What people call it."""
        return BASE if self.arm is None else f"{self.arm}/{self.seed}"

    @property
    def folder(self) -> Path:
        """Where it is recorded."""
        if self.arm is None:
            return self.run_dir / BASE
        return training_run(self.run_dir, self.arm, self.seed).path


class Stop(Protocol):
    """What a process is asked to end through; it looks when its work is in a state to be kept."""

    def ask(self) -> object:
        """Ask for the end."""
        ...


def do_job(
    job: ArmJob, connection: Connection, stop: Stop, do: Callable[[OnProgress], object]
) -> None:
    """Do a job in this process; tell the other end ("done", how much) and ("failed", why).

    The other end may send anything to ask for the end of the work; if it closes, this process ends
    at once, so that none goes on writing after its parent was killed.
    """
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # Ctrl-C reaches us through the parent
    threading.Thread(target=_listen, args=(connection, stop), daemon=True).start()
    try:
        do(lambda done: connection.send(("done", done)))
    except BrokenPipeError:
        os._exit(1)
    except Exception as error:
        connection.send(("failed", explain(error)))
        write_text(job.folder / "traceback.txt", "".join(traceback.format_exception(error)))
        if job.arm is not None:
            write_status(job.folder, "failed", error=explain(error))
        raise SystemExit(1) from error


def _listen(connection: Connection, stop: Stop) -> None:
    try:
        connection.recv()
    except (EOFError, OSError):
        os._exit(1)
    stop.ask()
