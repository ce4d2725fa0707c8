"""A synthetic run directory in the format of real ones, for tests of whatever reads runs."""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np
import yaml

from setrl.logs.records import record_of

STRATEGIES = tuple(f"x={x}" for x in (0, 1, 2, -1, 3, -2, 10, -3, 4, 5, -4, -5))
BASE_SHARES = np.array([0.22, 0.2, 0.11, 0.1, 0.08, 0.07, 0.06, 0.05, 0.04, 0.03, 0.02, 0.02])
PROMPTS = ("y=2x^2+3x+7, x!=4: ", "y=-x^2+8, x!=5: ", "y=x-3, x!=-4: ", "y=3x^2+x, x!=0,1: ")

# Share of the base's diversity that is left after training, and accuracy.
KEPT = {"grpo": 0.0, "maxpo": 0.5, "poly_epo": 0.9, "grpo_div": 0.6}
ACCURACY = {"base": 0.7, "grpo": 0.97, "maxpo": 0.92, "poly_epo": 0.93, "grpo_div": 0.9}


def make(
    folder: Path,
    arms: tuple[str, ...] = ("grpo", "maxpo", "poly_epo"),
    seeds: tuple[int, ...] = (0, 1),
    steps: int = 40,
    problems: int = 12,
    n: int = 32,
    base: bool = True,
    evaluated: bool = True,
    text: str = "",
) -> Path:
    """Write a run of made-up arms; `text` is put into every sample's text."""
    folder.mkdir(parents=True)
    _write_run(folder, arms, seeds, steps, n)
    for arm in arms:
        for seed in seeds:
            _write_training(folder / arm / f"seed_{seed}", arm, seed, steps, text)
    if evaluated:
        models = [(folder / arm / f"seed_{s}", arm, s) for arm in arms for s in seeds]
        for where, arm, seed in models + ([(folder / "base", "base", 0)] if base else []):
            for split in ("test", "shifted"):
                path = where / "evaluation" / f"{split}.jsonl"
                _write_evaluation(path, arm, seed, problems, n, text)
    return folder


def shares(arm: str, progress: float, split: str = "test") -> np.ndarray:
    """How often each strategy is used after a share of the training."""
    kept = 1.0 if arm == "base" else KEPT.get(arm, 0.3)
    sharpness = 1 + (1 - kept) * 5 * progress
    powered = BASE_SHARES**sharpness
    return powered / powered.sum()


def accuracy(arm: str, progress: float) -> float:
    return ACCURACY["base"] + (ACCURACY.get(arm, 0.95) - ACCURACY["base"]) * min(1, 2 * progress)


def _write_run(folder, arms, seeds, steps, n):
    config = {
        "name": folder.name,
        "domain": "polynomial",
        "arms": {arm: {"method": arm} for arm in arms},
        "seeds": list(seeds),
        "steps": steps,
        "prompts_per_step": 4,
        "samples_per_prompt": 8,
        "temperature": 1.0,
        "eval_samples": n,
    }
    (folder / "config.yaml").write_text(yaml.safe_dump(config, sort_keys=False))
    run = {
        "schema_version": 1,
        "kind": "comparison",
        "name": folder.name,
        "created": "2026-01-05T10:00:00+00:00",
        "status": "finished",
        "versions": {"setrl": "0.2.0", "torch": "2.13.0", "trl": "1.16.0", "python": "3.11.2"},
        "git": {"commit": "0123456789abcdef0123456789abcdef01234567", "dirty": False},
        "command": "setrl train --config recipes/polynomial/config.yaml",
    }
    (folder / "run.json").write_text(json.dumps(run))


def _write_training(folder, arm, seed, steps, text):
    rng = np.random.default_rng([seed, sum(arm.encode())])
    (folder / "rollouts").mkdir(parents=True)
    (folder / "run.json").write_text(json.dumps({"schema_version": 1, "status": "finished"}))
    lines = []
    for step in range(1, steps + 1):
        groups = _groups(rng, arm, step, steps, text)
        lines.append(_metrics(rng, step, groups))
        if step == 1 or step % 10 == 0:
            path = folder / "rollouts" / f"step_{step:06d}.jsonl"
            path.write_text("".join(json.dumps(group) + "\n" for group in groups))
    (folder / "metrics.jsonl").write_text("".join(json.dumps(line) + "\n" for line in lines))


def _groups(rng, arm, step, steps, text):
    groups = []
    for group, prompt in enumerate(PROMPTS):
        columns = {key: [] for key in ("text", "reward", "strategy", "read", "advantage")}
        for strategy in rng.choice(len(STRATEGIES), size=8, p=shares(arm, step / steps)):
            reward = float(rng.random() < accuracy(arm, step / steps))
            degenerate = rng.random() < 0.05
            name = STRATEGIES[strategy]
            columns["text"].append(f" ({name[2:]}, {rng.integers(-9, 99)}){text}")
            columns["reward"].append(reward)
            columns["strategy"].append(-1 if degenerate else int(strategy))
            columns["read"].append(None if degenerate else name)
            columns["advantage"].append(round(float(rng.normal()) * 0.1, 4))
        groups.append(record_of(f"{step}/{group}", prompt, columns, step=step))
    return groups


def _metrics(rng, step, groups):
    rewards = [reward for group in groups for reward in group["rewards"]]
    names = [name for group in groups for name in group["read"] if name]

    def per_prompt(least):
        return float(np.mean([
            len({name for name, reward in zip(group["read"], group["rewards"], strict=True)
                 if name and reward >= least})
            for group in groups
        ]))  # fmt: skip

    shares = {f"strategies/share/{n}": names.count(n) / len(rewards) for n in sorted(set(names))}
    return {
        "step": step,
        "reward/mean": float(np.mean(rewards)),
        "reward/pass@1": float(np.mean(rewards)),
        "strategies/per_prompt": per_prompt(0),
        "strategies/correct_per_prompt": per_prompt(1),
        "strategies/top_share": max(map(names.count, names)) / len(names),
        **shares,
        "advantage/wrong_positive": 0.1,
        "advantage/correct_negative": 0.2,
        "advantage/dead_groups": 0.25,
        "policy/entropy": 1.0 - step / 100,
        "policy/kl": 0.01 * step,
        "length/mean": 6.5,
        "length/truncated": 0.0,
        "speed/tokens_per_second": 5000 + 100 * float(rng.normal()),
        "time/generation": 0.3,
        "time/verification": 0.02,
        "time/credit": 0.001,
        "time/update": 0.25,
        "time/step": 0.6,
    }


def _write_evaluation(path, arm, seed, problems, n, text):
    path.parent.mkdir(parents=True, exist_ok=True)
    split = path.stem
    rng = np.random.default_rng([seed, sum(arm.encode()), len(split)])
    difficulty = np.random.default_rng(len(split)).normal(size=problems)
    lines = []
    for place in range(problems):
        chance = accuracy(arm, 1.0) ** np.exp(0.8 * difficulty[place])
        drawn = rng.choice(len(STRATEGIES), size=n, p=shares(arm, 1.0))
        blocked = (split == "shifted") & (drawn < 2)
        correct = (rng.random(n) < chance) & ~blocked
        readable = rng.random(n) > 0.04
        lines.append({
            "schema_version": 1,
            "prompt": f"{PROMPTS[place % 4].strip()} #{place}",
            "kind": "quadratic",
            "split": split,
            "n": n,
            "seed": 0,
            "temperature": 1.0,
            "correct": [int(c) for c in correct],
            "strategies": np.where(readable, np.array(STRATEGIES, object)[drawn], -1).tolist(),
            "answers": [f"{STRATEGIES[d]}, {int(c)}" for d, c in zip(drawn, correct, strict=True)],
            "texts": [f" ({STRATEGIES[d][2:]}, 7){text}" for d in drawn[:8]],
        })  # fmt: skip
    path.write_text("".join(json.dumps(line) + "\n" for line in lines))
