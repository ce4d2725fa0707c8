"""One, two and four processes on the same samples: `python -m tests.distributed.run`.

Every setting of `training.SETTINGS` is trained by one process and, with `torchrun` and gloo, by
two and by four, whose groups straddle processes. The advantages must equal one process's to the
bit, and the weights up to rounding. The setting that is resumed goes on from the checkpoint of the
number of processes before it: 1 → 2 → 4 → 1.
"""

from __future__ import annotations

import os
import socket
import subprocess
import sys
import tempfile
import time
from pathlib import Path

import numpy as np
import torch

from tests import tiny_model
from tests.distributed import training
from tests.distributed.training import SETTINGS, Outcome

PROCESSES = (1, 2, 4)
CLOSE = 2e-6  # largest difference of a weight, for other orders of the same sums


def main() -> int:
    """Run everything and print one line a setting; 0 if all agree."""
    with tempfile.TemporaryDirectory() as made:
        folder = Path(made)
        tiny_model.make(folder / "base")
        for count in PROCESSES:
            start = time.perf_counter()
            launch(folder, count, "all")
            print(f"{count} processes: {time.perf_counter() - start:.0f} s", flush=True)
        for before, count in zip((1, 2, 4), (2, 4, 1), strict=True):
            launch(folder, count, f"resume:{before}")
        wrong = [line for line in comparisons(folder) if not line.endswith("same")]
    return 1 if wrong else 0


def launch(folder: Path, count: int, task: str) -> None:
    """Start the processes of a task and wait for them."""
    torchrun = [sys.executable, "-m", "torch.distributed.run", "--nproc_per_node", str(count)]
    command = [
        *torchrun,
        "--master_addr",
        "127.0.0.1",
        "--master_port",
        str(free_port()),
        "-m",
        "tests.distributed.run",
        str(folder),
        task,
    ]
    environment = {**os.environ, "OMP_NUM_THREADS": "1", "GLOO_SOCKET_IFNAME": "lo"}
    ended = subprocess.run(command, env=environment, capture_output=True, text=True, check=False)
    if ended.returncode:
        sys.exit(f"{count} processes, {task}: {ended.stderr[-9000:]}")


def free_port() -> int:
    """A port of this machine that nothing uses."""
    with socket.socket() as one:
        one.bind(("127.0.0.1", 0))
        return one.getsockname()[1]


def work(folder: Path, task: str) -> None:
    """What each process does."""
    torch.set_num_threads(1)
    count, rank = os.environ["WORLD_SIZE"], os.environ["RANK"]
    before = task.partition(":")[2]
    for name in ["resumed"] if before else SETTINGS:
        checkpoint = folder / f"resumed-{before}-" / "checkpoint-2" if before else None
        ours = f"{name}-{count}-{before}"
        found = training.train(SETTINGS[name], folder / "base", folder / ours, checkpoint)
        torch.save(found, folder / f"{ours}-{rank}.pt")
    if torch.distributed.is_initialized():
        torch.distributed.barrier()
        torch.distributed.destroy_process_group()


def comparisons(folder: Path) -> list[str]:
    """One line a setting and number of processes, printed."""
    lines = []
    for name in SETTINGS:
        alone = load(folder, 1, name)[0]
        for count in PROCESSES[1:]:
            lines.append(compare(f"{name}, {count} processes", alone, load(folder, count, name)))
    whole = load(folder, 1, "resumed")[0]
    rest = Outcome(whole.batches[2:], whole.entered[2 * training.ROWS :], whole.weights)
    for before, count in zip((1, 2, 4), (2, 4, 1), strict=True):
        ranks = load(folder, count, "resumed", str(before))
        lines.append(compare(f"resumed with {count} after {before} processes", rest, ranks))
    return lines


def load(folder: Path, count: int, name: str, before: str = "") -> list[Outcome]:
    paths = [folder / f"{name}-{count}-{before}-{rank}.pt" for rank in range(count)]
    return [torch.load(path, weights_only=False) for path in paths]


def compare(title: str, alone: Outcome, ranks: list[Outcome]) -> str:
    """Print and return how several processes differ from one."""
    try:
        distance = check(alone, ranks)
        line = f"{title}: weights within {distance:.1e}, advantages same"
    except AssertionError as error:
        line = f"{title}: DIFFERENT {error}"
    print(line, flush=True)
    return line


def check(alone: Outcome, ranks: list[Outcome]) -> float:
    """The largest difference of a weight, if all that must be equal is.

    Raises:
        AssertionError: Naming what differs.
    """
    for rank in ranks:
        assert len(rank.batches) == len(alone.batches) > 0, "the number of generations"
        for got, want in zip(rank.batches, alone.batches, strict=True):
            assert got[:2] == want[:2], "prompts or samples"
            for one, other in zip(got[2:], want[2:], strict=True):
                np.testing.assert_array_equal(one, other)
        assert torch.equal(rank.weights, ranks[0].weights), "weights of the processes"
    entered = sorted(row for rank in ranks for row in rank.entered)
    assert entered == sorted(alone.entered), "what entered the loss"
    distance = (ranks[0].weights - alone.weights).abs().max().item()
    assert distance <= CLOSE, f"weights, by {distance:.1e}"
    return distance


if __name__ == "__main__":
    if len(sys.argv) > 1:
        work(Path(sys.argv[1]), sys.argv[2])
    else:
        sys.exit(main())
