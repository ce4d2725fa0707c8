"""`setrl train --dry-run`: all checks of a run, what it takes, and what is still to be done."""

from __future__ import annotations

import dataclasses
import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from setrl.judges.config import Config, spelled_out
from setrl.logs.run import BASE, Run, Seed
from setrl.models.local import refuse_damaged_weights
from setrl.support.errors import RunError
from setrl.support.wording import count, size, table
from setrl.train.lm.base_model import MADE_AGAIN, SAVED_AGAIN, run_inputs
from setrl.train.lm.config import ComparisonConfig
from setrl.train.lm.preflight.checks import check_before_training
from setrl.train.lm.resolved import ResolvedConfig
from setrl.train.runs.claim import is_claimed, refuse_other_run
from setrl.train.runs.provenance import check_inputs
from setrl.train.runs.resume import last_checkpoint
from setrl.train.runs.run import cache_folder


@dataclass(frozen=True)
class Planned:
    """One arm with one seed, or the base.

    Attributes:
        arm: The name of the arm.
        seed: The seed; None for the base.
        step: The number of steps that are done and kept.
        missing: The splits without an evaluation; twice without one at `cold_base`, too.
    """

    arm: str
    seed: int | None
    step: int
    missing: tuple[str, ...]


@dataclass(frozen=True)
class Plan:
    """What a comparison takes, and which part is still to be done.

    Attributes:
        resolved: The comparison.
        run_dir: The folder of the run.
        base: Where the base model comes from, in words.
        runs: The base, if it is evaluated, and every arm with every seed.
        problems: Evaluated split → the number of its problems.
        costs: What the whole run takes, from its first step: see `costs`.
        notes: What people should know about the problems and the arms.
        step_s: The median seconds of the steps that are done; None before the first step.
    """

    resolved: ResolvedConfig
    run_dir: Path
    base: str
    runs: tuple[Planned, ...]
    problems: dict[str, int]
    costs: dict[str, int]
    notes: tuple[str, ...]
    step_s: float | None = None

    @property
    def config(self) -> ComparisonConfig:
        """The keys of the comparison."""
        return self.resolved.config

    @property
    def new_steps(self) -> int:
        """Return the number of steps that are still to be done in all training runs."""
        return sum(self.config.steps - run.step for run in self.runs if run.seed is not None)

    @property
    def samples(self) -> int:
        """Return the number of samples of one training run."""
        return self.resolved.batches * self.resolved.samples_per_step

    @property
    def new_samples(self) -> int:
        """Return the number of samples of the new steps."""
        return math.ceil(self.samples * self.new_steps / self.config.steps)

    @property
    def new_evaluation_samples(self) -> int:
        """Return the number of samples of all evaluations that are still to be done."""
        return sum(
            self.problems[split] * self.config.eval_samples
            for run in self.runs
            for split in run.missing
        )


def plan(
    resolved: ResolvedConfig,
    run_dir: Path,
    *,
    overwrite: bool = False,
    accept_changes: bool = False,
) -> Plan:
    """Do all checks of `run_comparison`, and return what it would do; nothing is written.

    Raises:
        ConfigError: If the config asks for what cannot be made, or the folder holds another run.
        DataError: If the problems or the files of the model are damaged.
        RunError: If another process is running it, or a judge cannot be reached.
    """
    config, task = resolved.config, resolved.task
    check_before_training(resolved)
    refuse_other_run(run_dir, config, overwrite)
    if is_claimed(run_dir):
        raise RunError(f"{run_dir}: another process is running it: wait for it")
    if not overwrite:
        check_inputs(run_dir, run_inputs(resolved, run_dir), accept=accept_changes)
    problems = {
        split: len(task.problems(split, resolved.eval_problems(split), 0).problems)
        for split in resolved.eval_splits
    }
    return Plan(
        resolved,
        run_dir,
        _locate_base(resolved, run_dir, cache_folder(None), overwrite),
        _plan_runs(resolved, run_dir, overwrite),
        problems,
        costs(resolved, problems),
        tuple(resolved.notes),
        None if overwrite else _measure_step(resolved, run_dir),
    )


def costs(resolved: ResolvedConfig, problems: Mapping[str, int]) -> dict[str, int]:
    """Return what a comparison takes from its first step, with every sample at the limit.

    Args:
        resolved: The comparison.
        problems: Evaluated split → the number of its problems.
    """
    config, limit = resolved.config, resolved.sample_tokens
    seeds, arms = len(config.seeds), resolved.arms.values()
    prompts = seeds * resolved.batches * config.prompts_per_step
    samples = len(arms) * prompts * config.samples_per_prompt
    models = (len(arms) * seeds + 1) * (1 if config.cold_base is None else 2)  # and the base
    evaluated = models * sum(problems.values()) * config.eval_samples
    requests = sum(requests_of_judge(arm.judge, config.samples_per_prompt) for arm in arms)
    return {
        "prompts": len(arms) * prompts,
        "samples": samples,
        "sampled_tokens": samples * limit,
        "evaluated_samples": evaluated,
        "evaluated_tokens": evaluated * limit,
        "judge_requests": requests * prompts,
    }


def requests_of_judge(judge: Config | None, samples: int) -> int:
    """Return how often the language models behind a judge are asked about a group, at most."""
    settings = spelled_out(judge) if isinstance(judge, str) else judge or {}
    if settings.get("judge") == "lm":
        return 1
    pairs = samples * (samples - 1) // 2 if settings.get("judge") == "pairwise" else 1
    return pairs * requests_of_judge(settings["of"], samples) if "of" in settings else 0


def _measure_step(resolved: ResolvedConfig, run_dir: Path) -> float | None:
    """Return the median time of all steps that the folder holds."""
    seeds = (Run(run_dir).seed(arm, s) for arm in resolved.arms for s in resolved.config.seeds)
    times = np.concatenate([seed.metrics.get("time/step", np.zeros(0)) for seed in seeds])
    return float(np.nanmedian(times)) if np.isfinite(times).any() else None


def _locate_base(resolved: ResolvedConfig, run_dir: Path, cache: Path, overwrite: bool) -> str:
    """Return where the base model comes from; check that weights which exist are whole."""
    if resolved.base is None:
        model = str(resolved.config.model)
        refuse_damaged_weights(Path(model), SAVED_AGAIN)
        return model
    cached = resolved.base.folder(cache)
    for folder in (run_dir / BASE, cached):
        if (folder / "config.json").exists() and not (overwrite and folder != cached):
            refuse_damaged_weights(folder, MADE_AGAIN)
            return str(folder)
    return f"a model made from scratch first, and kept in {cached}"


def _plan_runs(resolved: ResolvedConfig, run_dir: Path, overwrite: bool) -> tuple[Planned, ...]:
    config, splits, run = resolved.config, resolved.eval_splits, Run(run_dir)

    def missing(seed: Seed) -> tuple[str, ...]:
        evaluations = {} if overwrite else seed.evaluations
        return tuple(split for split in splits if split not in evaluations)

    def done(seed: Seed) -> int:
        if overwrite:
            return 0
        return config.steps if seed.final.exists() else last_checkpoint(seed) or 0

    def missing_with_cold(seed: Seed) -> tuple[str, ...]:
        cold = config.cold_base
        return missing(seed) + (() if cold is None else missing(seed.cold(cold)))

    planned = [Planned(BASE, None, 0, missing_with_cold(run.base))] if splits else []
    for number in config.seeds:
        seeds = {arm: run.seed(arm, number) for arm in config.arms}
        planned += [Planned(arm, number, done(s), missing_with_cold(s)) for arm, s in seeds.items()]
    return tuple(planned)


def plan_json(plan: Plan) -> dict[str, Any]:
    """Return the plan as plain data."""
    return {
        "base": plan.base,
        "runs": [dataclasses.asdict(run) for run in plan.runs],
        "problems": plan.problems,
        "costs": plan.costs,
        "new_steps": plan.new_steps,
        "new_samples": plan.new_samples,
        "new_evaluation_samples": plan.new_evaluation_samples,
    }


def plan_text(plan: Plan) -> str:
    """Return the plan as text for people."""
    config = plan.config
    lines = [
        f"{config.name}: {count(len(config.arms), 'arm')} × {count(len(config.seeds), 'seed')}, "
        f"from {plan.base}",
        f"each training run: {count(config.steps, 'step')}; "
        f"{size(config.prompts_per_step, 'prompt', *(config.samples_per_prompt,) * 2)} per step = "
        f"{count(plan.samples, 'sample')} of at most {plan.resolved.sample_tokens:,} tokens",
    ]
    for split, number in plan.problems.items():
        drawn = size(number, "problem", *(config.eval_samples,) * 2)
        lines.append(f"an evaluation on {split}: {drawn} = {number * config.eval_samples:,}")
    counts = [[k.replace("_", " "), f"{n:,}"] for k, n in plan.costs.items() if n]
    head = ["from the first step, with every sample at the limit", "all arms"]
    lines += ["", table([head, *counts]), "", _format_states(plan), ""]
    all_samples = plan.new_samples + plan.new_evaluation_samples
    all_tokens = all_samples * plan.resolved.sample_tokens
    lines += [
        f"to do: {count(plan.new_steps, 'step')} with {plan.new_samples:,} samples, and "
        f"{plan.new_evaluation_samples:,} samples of evaluations; {all_tokens:,} tokens at most",
        _describe_time(plan),
        f"it goes into {plan.run_dir}: a folder for each arm with seed_<n> in it (metrics.jsonl, "
        "rollouts, checkpoints, final, evaluation), and report.html",
        "nothing was written; the same command without --dry-run does it",
    ]
    return "\n".join(lines)


def _describe_time(plan: Plan) -> str:
    """Return how long the new steps take at the pace of the steps that are done."""
    if plan.step_s is None:
        return "time: unknown before the first steps; give --dry-run again once some are done"
    steps_left = [plan.config.steps - run.step for run in plan.runs if run.seed is not None]
    steps_left = [steps for steps in steps_left if steps]
    side_by_side = max(1, min(plan.config.workers, len(steps_left)))
    minutes = round(steps_in_turn(steps_left, side_by_side) * plan.step_s / 60)
    duration = f"about {count(minutes, 'minute')}" if minutes else "less than a minute"
    return (
        f"time: the median step took {plan.step_s:.2f} s, so the new steps take {duration}, "
        f"{side_by_side} side by side; evaluations come on top"
    )


def steps_in_turn(steps: Sequence[int], workers: int) -> int:
    """Return after how many steps all runs are done; the steps of one run follow each other.

    >>> steps_in_turn([100], workers=4), steps_in_turn([10, 10, 10], workers=2)
    (100, 20)
    """
    ends = [0] * workers
    for num_steps in steps:
        ends[ends.index(min(ends))] += num_steps
    return max(ends)


def _format_states(plan: Plan) -> str:
    rows = [["arm", "seed", "training", "evaluation"]]
    for run in plan.runs:
        seed = "" if run.seed is None else str(run.seed)
        rows.append(
            [run.arm, seed, _describe_training(run, plan.config), _describe_evaluation(run, plan)]
        )
    return table(rows, left=(0, 2, 3))


def _describe_training(run: Planned, config: ComparisonConfig) -> str:
    if run.seed is None:
        return ""
    if run.step >= config.steps:
        return "done"
    return f"goes on after step {run.step:,}" if run.step else "new"


def _describe_evaluation(run: Planned, plan: Plan) -> str:
    if not plan.problems:
        return ""
    return f"new: {', '.join(dict.fromkeys(run.missing))}" if run.missing else "done"
