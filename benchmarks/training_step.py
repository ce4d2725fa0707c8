"""How long a step of training takes: ours against TRL's own GRPO step, and the credit's share.

    python benchmarks/training_step.py [steps]

Both train the same small model (the polynomial recipe's, taught for seconds) on one core, with
16 prompts × 16 samples, the same rewards and the same arguments; TRL samples with `model.generate`,
we with the compact sampler. They take turns in one run. "seconds" are clock time, "CPU" is the
process's CPU time: on a busy machine, compare the CPU time.
"""

from __future__ import annotations

import os
import sys
import tempfile
import time
from collections import defaultdict
from collections.abc import Callable, Iterator
from pathlib import Path

os.environ["OMP_NUM_THREADS"] = "1"

import numpy as np
from transformers import PrinterCallback, TrainerCallback
from trl import GRPOTrainer

from setrl.models.small import sampler
from setrl.tasks import DomainTask
from setrl.tasks.domains.verifier import Verifier
from setrl.train.lm.base_model import base_model
from setrl.train.lm.config import ComparisonConfig
from setrl.train.lm.prompts import training_prompts
from setrl.train.lm.resolved import ResolvedConfig, resolve
from setrl.train.lm.run import quiet
from setrl.train.lm.trl_arguments import grpo_config
from setrl.train.scoring import ScoredBatch
from setrl.train.trl import SetGRPOTrainer

WARM_UP = 5
TURNS = 3


class Clock(TrainerCallback):
    """Seconds and CPU seconds of each step."""

    def __init__(self) -> None:
        self.spent: list[tuple[float, float]] = []

    def on_step_begin(self, *_: object, **__: object) -> None:
        """Note the time."""
        self.began = time.perf_counter(), time.process_time()

    def on_step_end(self, *_: object, **__: object) -> None:
        """Note what was spent."""
        now = time.perf_counter(), time.process_time()
        self.spent.append((now[0] - self.began[0], now[1] - self.began[1]))


def main(steps: int) -> None:
    quiet()
    config = ComparisonConfig(
        name="benchmark",
        domain="polynomial",
        arms={"poly_epo": {"method": "poly_epo", "set_size": 4}},
        steps=steps + WARM_UP,
        checkpoint_every=10**6,
        base_corpus=12_800,
        learning_rate=1e-9,  # all sample from one model: lengths of samples would differ else
    )
    spent: dict[str, list[tuple[float, float]]] = defaultdict(list)
    parts: dict[str, list[float]] = defaultdict(list)

    def note(batch: ScoredBatch) -> None:
        for part, seconds in batch.seconds.items():
            parts[part].append(seconds)

    with tempfile.TemporaryDirectory() as folder:
        resolved = resolve(config)
        assert resolved.base is not None
        model = base_model(resolved.base, Path(folder), show_progress=False)
        for _ in range(TURNS):
            for name, trainer in trainers(resolved, model, note):
                clock = Clock()
                trainer.add_callback(clock)
                trainer.remove_callback(PrinterCallback)
                trainer.train()
                spent[name] += clock.spent[WARM_UP:]
    report(spent, parts)


def trainers(
    resolved: ResolvedConfig, model: Path, note: Callable[[ScoredBatch], None]
) -> Iterator[tuple[str, GRPOTrainer]]:
    assert isinstance(resolved.task, DomainTask)
    verifier, arm = Verifier(resolved.task.domain), resolved.arms["poly_epo"]
    args = grpo_config(resolved, arm, 0, model.parent / "out")
    args.logging_steps = 10**6
    prompts = training_prompts(resolved.task, resolved.training_problems(0))
    yield "TRL", GRPOTrainer(str(model), verifier.correct, args, prompts)
    for name, draw in [("ours, generate", None), ("ours", sampler.sample_ids)]:
        yield (
            name,
            SetGRPOTrainer(
                str(model),
                verifier.correct,
                args,
                prompts,
                method=arm.method,
                strategy_func=verifier.strategy,
                sampler=draw,
                on_batch=note if draw else None,
            ),
        )


def report(spent: dict[str, list[tuple[float, float]]], parts: dict[str, list[float]]) -> None:
    medians = {name: np.median(times, axis=0) for name, times in spent.items()}
    print(f"{'step':<16}{'seconds':>10}{'CPU':>10}{'of TRL':>10}   (medians)")
    for name, (seconds, cpu) in medians.items():
        print(f"{name:<16}{seconds:>10.3f}{cpu:>10.3f}{cpu / medians['TRL'][1]:>10.2f}")
    print(f"\n{'part of our step':<16}{'seconds':>10}{'share':>10}")
    step = medians["ours"][0]
    for part, times in parts.items():
        print(f"{part:<16}{np.median(times):>10.4f}{np.median(times) / step:>10.2%}")


if __name__ == "__main__":
    main(int(sys.argv[1]) if len(sys.argv) > 1 else 20)
