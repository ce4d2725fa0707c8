"""How much of a judge's time passes while samples are still drawn, in training on one machine.

    python -m benchmarks.judge_overlap [--latencies 0.5 1 2] [--parts 1 2 4] [--steps 3]

Training is `SetGRPOTrainer(judge=LMJudge(…))` on a tiny model; the judge is a server in another
process (tests/judges/server.py) that answers every request after the same time, asked about all
prompts at once or about four at a time. Drawing takes `--drawing` seconds a step, spread evenly
over the prompts: what is left after the tiny model has drawn is slept, as a trainer that waits for
its GPU does. So times are known, and what is measured is what the trainer makes of them.
"""

from __future__ import annotations

import argparse
import tempfile
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np
from datasets import Dataset
from transformers import PrinterCallback, TrainerCallback

from benchmarks.judge_client import serving
from benchmarks.tiny_run import arguments
from setrl import methods
from setrl.judges import Endpoint, Limits, LMJudge
from setrl.models.small import sampler
from setrl.tasks import domains
from setrl.train.scoring import ScoredBatch
from setrl.train.scoring.batch import JudgingTimes
from setrl.train.trl import SetGRPOTrainer
from tests import tiny_model

PROMPTS, SAMPLES = 16, 8
WARM_UP = 1  # steps that are not counted


@dataclass
class Watch(TrainerCallback):
    """Seconds of each step, and what judging cost in it."""

    steps_s: list[float] = field(default_factory=list)
    batches: list[ScoredBatch] = field(default_factory=list)

    def on_step_begin(self, *_: Any, **__: Any) -> None:
        """Note the start of a step, with its drawing."""
        self._began = time.perf_counter()

    def on_step_end(self, *_: Any, **__: Any) -> None:
        """Note the end of a step, with its update."""
        self.steps_s.append(time.perf_counter() - self._began)

    def judging(self, of: Callable[[JudgingTimes], float]) -> float:
        """Return the mean over the steps that count."""
        times = [batch.judging for batch in self.batches[WARM_UP:]]
        return float(np.mean([of(one) for one in times if one is not None]))


def main() -> None:
    options = parsed()
    with tempfile.TemporaryDirectory() as folder:
        model = tiny_model.make(Path(folder) / "model")
        train(model, None, 1, options)  # what is done once a process is not measured
        alone_s = np.mean(train(model, None, 1, options).steps_s[WARM_UP:])
        print(f"{PROMPTS} prompts of {SAMPLES} samples, drawn in {options.drawing:g} s;", end=" ")
        print(f"a step without a judge takes {alone_s:.2f} s\n")
        print("| asked at a time | latency | parts | waited | hidden | the step is longer by |")
        print("|---|---|---|---|---|---|")
        for at_once in options.at_once:
            for latency_s in options.latencies:
                for parts in options.parts:
                    with judge_of(latency_s, at_once) as judge:
                        watch = train(model, judge, parts, options)
                    longer_s = np.mean(watch.steps_s[WARM_UP:]) - alone_s
                    waited_s = watch.judging(lambda times: times.waited_s)
                    hidden = watch.judging(lambda times: times.hidden)
                    row = at_once, f"{latency_s:g} s", parts, f"{waited_s:.2f} s", f"{hidden:.0%}"
                    print(f"| {' | '.join(map(str, row))} | {longer_s:.2f} s |", flush=True)


def parsed() -> argparse.Namespace:
    parser = argparse.ArgumentParser()
    parser.add_argument("--latencies", type=float, nargs="+", default=[0.5, 1.0, 2.0])
    parser.add_argument("--parts", type=int, nargs="+", default=[1, 2, 4])
    parser.add_argument("--at-once", type=int, nargs="+", default=[16, 4])
    parser.add_argument("--drawing", type=float, default=4.0)
    parser.add_argument("--steps", type=int, default=3)
    return parser.parse_args()


@contextmanager
def judge_of(latency_s: float, at_once: int) -> Iterator[LMJudge]:
    """Make a judge who answers after `latency_s`, asked about so many prompts at a time."""
    with serving({}, latency_s) as server:
        server.send("url")
        endpoint = Endpoint(server.recv(), "a-judge", limits=Limits(concurrency=at_once))
        with LMJudge(endpoint) as judge:
            yield judge


def train(model: Path, judge: LMJudge | None, parts: int, options: argparse.Namespace) -> Watch:
    """Train for a few steps, watched."""
    watch = Watch()
    with tempfile.TemporaryDirectory() as folder:
        trainer = SetGRPOTrainer(
            str(model),
            lengths,
            arguments(
                Path(folder),
                options.steps + WARM_UP,
                PROMPTS * SAMPLES,
                SAMPLES,
                max_completion_length=12,
                loss_type="dr_grpo",
            ),
            Dataset.from_dict({"prompt": prompts(PROMPTS * (options.steps + WARM_UP))}),
            method=methods.poly_epo(4) if judge else methods.grpo(),
            judge=judge,
            judge_parts=parts,
            sampler=at_a_pace(options.drawing / PROMPTS),
            on_batch=watch.batches.append,
        )
        trainer.add_callback(watch)
        trainer.remove_callback(PrinterCallback)
        trainer.train()
    return watch


def prompts(count: int) -> list[str]:
    domain = domains.by_name("polynomial")
    return [problem.prompt for problem in domain.problems("train", count, seed=0)]


def lengths(completions: list[str], **_: Any) -> list[float]:
    """Return rewards that differ between the samples of any model."""
    return [len(text) / 8 for text in completions]


def at_a_pace(seconds_a_prompt: float) -> Callable[..., list[list[list[int]]]]:
    """Return the usual sampler, slowed down."""

    def draw(model: Any, prompt_ids: list[list[int]], *more: Any, **named: Any) -> Any:
        end = time.perf_counter() + seconds_a_prompt * len(prompt_ids)
        groups = sampler.sample_ids(model, prompt_ids, *more, **named)
        time.sleep(max(end - time.perf_counter(), 0.0))
        return groups

    return draw


if __name__ == "__main__":
    main()
