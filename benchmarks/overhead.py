"""What set credit adds to a training step, at N = 8, 64 and 512 samples of a prompt.

    python -m benchmarks.overhead [steps]

A tiny model (the recipes': two layers of width 128) writes 32 tokens a sample and is trained with
TRL's GRPO step and Poly-EPO, K = 4, two prompts a step. All that our class does around TRL's
methods counts as added: asking for the labels and gathering them over the processes, the texts, the
advantages and their metrics. It is measured by a class above ours and one below it, alone and with
two processes, each of which has half of the samples. Ratios in one run.
"""

from __future__ import annotations

import os
import sys
import tempfile
import time
import warnings
from pathlib import Path
from typing import Any

os.environ["OMP_NUM_THREADS"] = "1"
os.environ["HF_HUB_OFFLINE"] = "1"

import numpy as np
import torch
from datasets import Dataset
from transformers import PrinterCallback
from trl import GRPOTrainer

from benchmarks.tiny_run import arguments, leave, make_model, start
from setrl import methods
from setrl.train.trl import set_credit

PROMPTS = [f"y={a}x, x!=1: " for a in (2, 3)]
SAMPLES = (8, 64, 512)
WARM_UP = 2


class Below(GRPOTrainer):
    """TRL's trainer, which takes the time of the methods that ours extends."""

    def _calculate_rewards(self, *scored: Any) -> Any:
        start = time.perf_counter()
        found = super()._calculate_rewards(*scored)
        self.theirs += time.perf_counter() - start
        return found

    def _generate_and_score_completions(self, inputs: Any) -> Any:
        start = time.perf_counter()
        found = super()._generate_and_score_completions(inputs)
        self.theirs += time.perf_counter() - start
        return found


class Above(set_credit(Below)):  # type: ignore[misc]
    """Ours, with the same methods timed again; a step is what passes between two of them."""

    def _calculate_rewards(self, *scored: Any) -> Any:
        start = time.perf_counter()
        found = super()._calculate_rewards(*scored)
        self.whole += time.perf_counter() - start
        return found

    def _generate_and_score_completions(self, inputs: Any) -> Any:
        start = time.perf_counter()
        self.theirs = self.whole = 0.0
        found = super()._generate_and_score_completions(inputs)
        end = time.perf_counter()
        self.times.append((start, self.whole + end - start - self.theirs))
        return found


def length(completions: list[str], **_: Any) -> list[float]:
    return [len(text) / 8 for text in completions]


def kind(completions: list[str], **_: Any) -> list[str]:
    return [text[:1] for text in completions]


def work(folder: Path, steps: int) -> None:
    """Train at each N on this process, and print a line on the first one."""
    warnings.simplefilter("ignore")
    torch.set_num_threads(1)
    processes, rank = (int(os.environ.get(key, default)) for key, default in ENVIRONMENT)
    for samples in SAMPLES:
        args = arguments(
            folder / "out",
            steps + WARM_UP + 1,
            len(PROMPTS) * samples // processes,
            samples,
        )
        trainer = Above(
            str(folder / "base"),
            length,
            args,
            Dataset.from_dict({"prompt": PROMPTS * (steps + WARM_UP + 1)}),
            method=methods.poly_epo(4),
            strategy_func=kind,
        )
        trainer.times = []
        trainer.remove_callback(PrinterCallback)
        trainer.train()
        starts, added = np.array(trainer.times[WARM_UP:]).T
        step, mine = np.median(np.diff(starts)), np.median(added[:-1])
        if rank == 0:
            print(f"{processes:>9}{samples:>6}{step:>10.3f}{1000 * mine:>12.2f}{mine / step:>9.2%}")
    leave()


ENVIRONMENT = (("WORLD_SIZE", "1"), ("RANK", "0"))


def main(steps: int) -> None:
    print(f"{'processes':>9}{'N':>6}{'step, s':>10}{'added, ms':>12}{'share':>9}   (medians)")
    with tempfile.TemporaryDirectory() as made:
        make_model(Path(made) / "base")
        for processes in (1, 2):
            out, errors = start("benchmarks.overhead", processes, steps, made).communicate()
            lines = [line for line in out.splitlines() if line.endswith("%")]
            print("\n".join(lines) or errors[-3000:], flush=True)


if __name__ == "__main__":
    steps = int(sys.argv[1]) if len(sys.argv) > 1 else 10
    if len(sys.argv) > 2:
        work(Path(sys.argv[2]), steps)
    else:
        main(steps)
