"""How a step of training scales: one process and two, and the credit by its sizes.

    python -m benchmarks.scaling measure [steps [turns]]   one process and two, on two cores
    python -m benchmarks.scaling credit                    the exact credit, by prompts, N and K

`measure` trains the tiny model of benchmarks/overhead.py with TRL's GRPO step and Poly-EPO, K = 4,
N = 64. All cases take turns, so that what else the machine does falls on each of them; the cases
are one process, two that share the same samples, two that have as many each, and two that are
strangers, as the workers of `setrl train` are. What two strangers lose is the machine's.
"""

from __future__ import annotations

import os
import sys
import tempfile
import time
import timeit
import warnings
from collections import defaultdict
from pathlib import Path
from typing import Any

os.environ["OMP_NUM_THREADS"] = "1"
os.environ["HF_HUB_OFFLINE"] = "1"

import numpy as np

from setrl import methods

SAMPLES, PROMPTS, WARM_UP = 64, 2, 2
CASES = {  # name → processes, samples a process, groups of processes that know of each other
    "one process": (1, SAMPLES * PROMPTS, 1),
    "two, the same samples": (2, SAMPLES * PROMPTS // 2, 1),
    "two, as many each": (2, SAMPLES * PROMPTS, 1),
    "two strangers, as many each": (1, SAMPLES * PROMPTS, 2),
}
SHAPES = ((64, 8, 4), (128, 8, 4), (1024, 8, 4), (128, 64, 8), (1024, 64, 8), (128, 1024, 32))


def measure(steps: int = 12, turns: int = 5) -> None:
    """Print the seconds of a step and the CPU seconds of a sample in each case."""
    from benchmarks.tiny_run import make_model

    found: dict[str, list[np.ndarray]] = defaultdict(list)
    with tempfile.TemporaryDirectory() as made:
        make_model(Path(made) / "base")
        for _ in range(turns):
            for name, case in CASES.items():
                found[name].append(run_case(case, steps, Path(made)))
    one = np.median(found["one process"], axis=0)
    print(f"{'':<28}{'step, s':>9}{'samples/s':>11}{'× one':>7}{'CPU ms/sample':>15}{'× one':>7}")
    for name, measured in found.items():
        step, cpu = np.median(measured, axis=0)
        total = CASES[name][0] * CASES[name][1] * CASES[name][2]
        rate, rate_of_one = total / step, CASES["one process"][1] / one[0]
        print(
            f"{name:<28}{step:>9.3f}{rate:>11.0f}{rate / rate_of_one:>7.2f}"
            f"{1000 * cpu:>15.2f}{cpu / one[1]:>7.2f}"
        )


def run_case(case: tuple[int, int, int], steps: int, made: Path) -> np.ndarray:
    """Return the median seconds of a step, and the CPU seconds of a sample, of a case."""
    from benchmarks.tiny_run import start

    processes, samples, strangers = case
    started = [
        start("benchmarks.scaling", processes, "work", made, steps, samples)
        for _ in range(strangers)
    ]
    outputs = [process.communicate() for process in started]
    lines = [line for out, _ in outputs for line in out.splitlines() if line.startswith("step ")]
    if len(lines) != processes * strangers:
        raise SystemExit(outputs[0][1][-3000:])
    return np.mean([[float(word) for word in line.split()[1:]] for line in lines], axis=0)


def work(folder: Path, steps: int, samples: int) -> None:
    """Train on this process, and print the seconds of a step and the CPU seconds of a sample."""
    warnings.simplefilter("ignore")
    import torch
    from datasets import Dataset
    from transformers import PrinterCallback, TrainerCallback

    from benchmarks.tiny_run import arguments, leave
    from setrl.train.trl import SetGRPOTrainer

    spent: list[tuple[float, float]] = []

    class Clock(TrainerCallback):
        def on_step_begin(self, *_: Any, **__: Any) -> None:
            spent.append((time.perf_counter(), time.process_time()))

    torch.set_num_threads(1)
    count = steps + WARM_UP + 1
    rank = os.environ.get("RANK", "0")
    out = Path(tempfile.mkdtemp(dir=folder, prefix=f"out-{rank}-"))
    args = arguments(out, count, samples, SAMPLES)
    prompts = [f"y={a}x, x!=1: " for a in range(2, 2 + PROMPTS)] * (4 * count)
    trainer = SetGRPOTrainer(
        str(folder / "base"),
        lambda completions, **_: [len(text) / 8 for text in completions],
        args,
        Dataset.from_dict({"prompt": prompts}),
        callbacks=[Clock()],
        method=methods.poly_epo(4),
        strategy_func=lambda completions, **_: [text[:1] for text in completions],
    )
    trainer.remove_callback(PrinterCallback)
    trainer.train()
    step, cpu = np.median(np.diff(np.array(spent[WARM_UP:]), axis=0), axis=0)
    print(f"step {step} {cpu / samples}")
    leave()


def credit() -> None:
    """Print the milliseconds of a core that the exact credit takes."""
    print("| prompts | N | K | Poly-EPO, ms | GRPO, ms |\n|---|---|---|---|---|")
    for shape in SHAPES:
        mine, grpo = (credit_ms(shape, name) for name in ("poly_epo", "dr_grpo"))
        print(f"| {shape[0]:,} | {shape[1]:,} | {shape[2]} | {mine:.2f} | {grpo:.2f} |")


def credit_ms(shape: tuple[int, int, int], name: str) -> float:
    """Return the shortest CPU time of several repetitions: other programs disturb it least."""
    prompts, n, set_size = shape
    rng = np.random.default_rng(0)
    rewards_BN = (rng.random((prompts, n)) < 0.5).astype(float)
    strategies_BN = rng.integers(0, max(n // 4, 2), (prompts, n))
    method = methods.poly_epo(set_size) if name == "poly_epo" else methods.dr_grpo()
    credited = timeit.Timer(
        lambda: method.advantages(rewards_BN, strategies=strategies_BN), timer=time.process_time
    )
    return 1000 * min(credited.repeat(40, 5)) / 5


if __name__ == "__main__":
    what, *given = sys.argv[1:] or ["none"]
    if what == "work":
        work(Path(given[0]), int(given[1]), int(given[2]))
    elif what == "measure":
        measure(*map(int, given))
    elif what == "credit":
        credit()
    else:
        sys.exit(__doc__)
