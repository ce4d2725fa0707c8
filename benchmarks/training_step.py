"""How long a step of training takes: ours against TRL's own GRPO step, and the credit's share.

    python benchmarks/training_step.py [steps [MODEL]]

Both train the same small model (the polynomial recipe's, taught for seconds) on one core, with
16 prompts × 16 samples, the same rewards and the same arguments; TRL samples with `model.generate`,
we with the compact sampler. With MODEL, a folder of `recipes.smollm2.model`, they train an adapter
of that model on Countdown, with 4 prompts × 8 samples; then all sample with `model.generate`. They
take turns in one run. "seconds" are clock time, "CPU" is the
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
from setrl.train.lm.resolved import ResolvedConfig, resolve
from setrl.train.lm.run import quiet_libraries
from setrl.train.lm.trl_arguments import grpo_config, peft_config, training_prompts
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


SMALL = {
    "domain": "polynomial",
    "base_corpus": 12_800,
}
PRETRAINED = {
    "task": {"function": "recipes.smollm2.countdown:Countdown"},
    "peft": {"r": 16, "lora_alpha": 32, "target_modules": "all-linear"},
    "prompts_per_step": 4,
    "samples_per_prompt": 8,
    "stop_rule": None,
}


def main(steps: int, given: str | None = None) -> None:
    quiet_libraries()
    warm_up, turns = (WARM_UP, TURNS) if given is None else (1, 1)
    config = ComparisonConfig(
        name="benchmark",
        arms={"poly_epo": {"method": "poly_epo", "set_size": 4}},
        steps=steps + warm_up,
        checkpoint_every=10**6,
        learning_rate=1e-9,  # all sample from one model: lengths of samples would differ else
        model=given,
        **(SMALL if given is None else PRETRAINED),
    )
    spent: dict[str, list[tuple[float, float]]] = defaultdict(list)
    parts: dict[str, list[float]] = defaultdict(list)

    def note(batch: ScoredBatch) -> None:
        for part, seconds in batch.seconds.items():
            parts[part].append(seconds)

    with tempfile.TemporaryDirectory() as folder:
        resolved = resolve(config)
        for _ in range(turns):
            for name, trainer in trainers(resolved, _model(resolved, Path(folder)), note):
                clock = Clock()
                trainer.add_callback(clock)
                trainer.remove_callback(PrinterCallback)
                trainer.train()
                spent[name] += clock.spent[warm_up:]
    report(spent, parts)


def _model(resolved: ResolvedConfig, folder: Path) -> Path:
    """Return a copy of the base, in a folder in which trainers may write."""
    if resolved.base is None:
        (folder / "model").unlink(missing_ok=True)
        (folder / "model").symlink_to(Path(str(resolved.config.model)).resolve())
        return folder / "model"
    return base_model(resolved.base, folder, show_progress=False)


def trainers(
    resolved: ResolvedConfig, model: Path, note: Callable[[ScoredBatch], None]
) -> Iterator[tuple[str, GRPOTrainer]]:
    assert isinstance(resolved.task, DomainTask)
    verifier, arm = Verifier(resolved.task.domain), resolved.arms["poly_epo"]
    args = grpo_config(resolved, arm, 0, model.parent / "out")
    args.logging_steps = 10**6
    prompts = training_prompts(resolved.task, resolved.training_problems(0))
    adapter = peft_config(resolved.config.peft)
    yield "TRL", GRPOTrainer(str(model), verifier.correct, args, prompts, peft_config=adapter)
    for name, draw in [("ours, generate", None), ("ours", sampler.sample_ids)]:
        yield (
            name,
            SetGRPOTrainer(
                str(model),
                verifier.correct,
                args,
                prompts,
                peft_config=adapter,
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
    main(int(sys.argv[1]) if len(sys.argv) > 1 else 20, *sys.argv[2:])
