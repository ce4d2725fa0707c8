"""One small run of each kind, through the command line and files, and what it gave."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
import tomllib
from collections.abc import Callable
from pathlib import Path
from typing import Any

from setrl.logs.log import open_log
from setrl.logs.records import COLUMN_OF
from tests.golden.digest import columns, lines, pack, policy, safetensors, sums

ROOT = Path(__file__).parents[2]
DATA = ROOT / "tests" / "data"
MATH = DATA / "generations_math_20x8.jsonl"
MATH_KEYS = ("--text", "end", "--prompt", "id")
MODEL = "model.safetensors"
TIMES = ("time/", "speed/", "judge/hidden")  # metrics that differ from run to run
TRAIN = """
name: golden
domain: polynomial
arms:
  grpo: {method: grpo}
  poly_epo: {method: poly_epo, set_size: 3, beta: 0.01}
  maxpo: {method: maxpo, set_size: 2, entropy_coef: 0.01}
  judged:
    method: poly_epo
    set_size: 3
    judge: {judge: studies.faulty:NoisyJudge, of: "oracle:polynomial", flips: 0.2}
seeds: [0, 1]
steps: 4
prompts_per_step: 6
samples_per_prompt: 6
lr_schedule: linear
base_corpus: 20_000
base_hidden_size: 64
base_mlp_size: 128
base_batch_size: 64
rollouts_every: 2
checkpoint_every: 2
eval_splits: [test]
eval_problems: 4
eval_samples: 8
workers: 1
"""
TRIANGLES = """
name: golden_triangles
task: {name: "studies.triangles:Triangles", nodes: 20, edge_probability: 0.4}
arms:
  reinforce: {algorithm: reinforce}
  ppo: {ent_coef: 0.01, kl_coef: 0.1, kl_anchor: start, ucb_coef: 0.1}
  poly: {algorithm: poly_ppo, set_size: 2, num_vines: 4, num_states: 1, window: null}
total_steps: 600
ppo: {n_envs: 4, n_steps: 32, batch_size: 64}
checkpoint_every: 300
workers: 1
"""
MULTI_GOAL = """
name: golden_multi_goal
task: multi_goal
arms:
  inner: {algorithm: poly_ppo, set_size: 2, num_vines: 3, num_states: 2, window: 5, where: inner}
  maxpo: {algorithm: poly_ppo, method: maxpo, set_size: 2, num_vines: 3, num_states: 1}
total_steps: 800
ppo: {n_envs: 2, n_steps: 64, batch_size: 64}
checkpoint_every: 400
workers: 1
"""


def entry_point() -> str:
    """Code that runs the command `setrl` of this checkout, wherever pyproject.toml says it is."""
    project = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]
    module, _, function = project["scripts"]["setrl"].partition(":")
    return f"import sys; from {module} import {function}; sys.exit({function}())"


def python(folder: Path, *arguments: object) -> str:
    """What a Python program of one thread that sees this checkout's code prints."""
    cache, path = str(folder / "cache"), os.pathsep.join((str(ROOT / "src"), str(ROOT)))
    variables = {"PYTHONPATH": path, "OMP_NUM_THREADS": "1", "SETRL_CACHE": cache}
    done = subprocess.run(
        [sys.executable, *map(str, arguments)],
        cwd=folder,
        env=os.environ | variables | {"HF_HUB_OFFLINE": "1", "PYTHONHASHSEED": "0"},
        capture_output=True,
        text=True,
        encoding="utf-8",
    )
    if done.returncode:
        raise SystemExit(f"{' '.join(map(str, arguments[2:]))} failed:\n{done.stderr[-4000:]}")
    return done.stdout


def setrl(folder: Path, *arguments: object) -> str:
    """What a command of setrl prints, run in a folder."""
    return python(folder, "-c", entry_point(), *arguments)


def written(path: Path, text: str) -> Path:
    """The file, with the text in it."""
    path.write_text(text, encoding="utf-8")
    return path


def train(folder: Path) -> dict[str, Any]:
    """Arms of a comparison, and one of them again from its checkpoint."""
    config = written(folder / "config.yaml", TRAIN)
    command = ("train", "--config", config, "--run-dir", folder / "run")
    setrl(folder, *command)
    runs = {str(path.parent.relative_to(folder / "run")): path.parent for path in _arms(folder)}
    found = {name: _training(path) for name, path in runs.items()}
    evaluated = {name: _summary(path) for name, path in runs.items()}
    _forget_second_half(runs["maxpo/seed_0"])
    setrl(folder, *command)
    base = safetensors(folder / "run" / "base" / MODEL)
    resumed = {"resumed maxpo/seed_0": safetensors(runs["maxpo/seed_0"] / "final" / MODEL)}
    summary = json.loads((folder / "run" / "summary.json").read_text())
    return {
        "exact": {"base": base, **found, **resumed},
        "close": {**evaluated, "summary": sums(summary)},
    }


def _arms(folder: Path) -> list[Path]:
    return sorted(folder.glob("run/*/seed_*/metrics.jsonl"))


def _training(path: Path) -> dict[str, Any]:
    return {
        "weights": safetensors(path / "final" / MODEL),
        "metrics": columns(lines(path / "metrics.jsonl"), without=TIMES),
        "samples": {file.stem: _rollout(file) for file in _steps(path)},
        "evaluation samples": columns(
            lines(path / "evaluation" / "test.jsonl"), without=("reader",)
        ),
    }


def _steps(path: Path) -> list[Path]:
    return sorted((path / "rollouts").glob("step_*.jsonl"))


def _rollout(path: Path) -> dict[str, Any]:
    groups = [*open_log(path)]
    keys = [key for key, name in COLUMN_OF.items() if name in lines(path)[0]]
    samples = [
        {key: sample.value(key) for key in (*keys, "counterfactual")}
        for group in groups
        for sample in group.samples
    ]
    return {"prompt": pack([group.prompt for group in groups]), **columns(samples)}


def _summary(path: Path) -> dict[str, Any]:
    """The value of each metric of an arm; its intervals are in the run's summary."""
    found = json.loads((path / "evaluation" / "summary.json").read_text())
    (arm,) = found["splits"]["test"]["arms"].values()
    return {name: metric["value"] for name, metric in arm["metrics"].items()}


def _rows(metrics: dict[str, dict[str, Any]]) -> dict[str, list[float | None]]:
    kept = ("value", "low", "high", "stderr")
    return {name: [found[key] for key in kept] for name, found in metrics.items()}


def _forget_second_half(path: Path) -> None:
    """Leave a training run as if it had been stopped after its first checkpoint."""
    shutil.rmtree(path / "final")
    shutil.rmtree(path / "checkpoints" / "checkpoint-4")
    (path / "run.json").unlink()


def control(folder: Path) -> dict[str, Any]:
    """PPO, REINFORCE and Poly-PPO on a graph, and with a memory in a room of goals."""
    exact, close = {}, {}
    for text in (TRIANGLES, MULTI_GOAL):
        config = written(folder / "config.yaml", text)
        run = folder / text.split()[1]
        setrl(folder, "control", "--config", config, "--run-dir", run)
        arms = {f"{run.name}/{path.parent.parent.name}": path.parent for path in _policies(run)}
        exact |= {name: _control_arm(path) for name, path in arms.items()}
        evaluated = sorted(run.rglob("evaluation.json"))
        close |= {str(file.parent.relative_to(folder)): _measured(file) for file in evaluated}
    return {"exact": exact, "close": close}


def _policies(run: Path) -> list[Path]:
    return sorted(run.glob("*/seed_*/metrics.jsonl"))


def _control_arm(path: Path) -> dict[str, Any]:
    return {
        "weights": policy(path / "final" / "model.zip"),
        "metrics": columns(lines(path / "metrics.jsonl"), without=TIMES),
    }


def _measured(path: Path) -> dict[str, Any]:
    metrics: dict[str, Any] = json.loads(path.read_text())["metrics"]
    return metrics


def evaluate(folder: Path) -> dict[str, Any]:
    """All metrics of logged samples, and two halves of them compared."""
    logged = lines(DATA / "generations_svamp_50x30.jsonl")
    for name, half in (("a", slice(0, 15)), ("b", slice(15, 30))):
        records = [json.dumps(_record(problem, half)) for problem in logged]
        written(folder / f"{name}.jsonl", "\n".join(records) + "\n")
    one = json.loads(setrl(folder, "evaluate", "a.jsonl", "--json"))
    metrics = ("pass", "majority", "correct_strategies", "best_of", "max")
    options = ("--metrics", *metrics, "--json")
    two = json.loads(setrl(folder, "compare", "a.jsonl", "b.jsonl", *options))
    compared = {part: sums({part: tree}) for part, tree in two.items()}
    metrics = _rows(one["metrics"])
    return {"close": {"metrics": metrics, "evaluate": sums(one), "compare": compared}}


def _record(problem: dict[str, Any], half: slice) -> dict[str, Any]:
    """A line of an evaluation file, with grades and a selector's scores that go by the place."""
    answers = problem["finals"][half]
    correct = [int(answer == problem["answer"]) for answer in answers]
    graded = {
        "rewards": [one - place % 3 / 4 for place, one in enumerate(correct)],
        "proxy": [len(str(answer)) + place % 5 for place, answer in enumerate(answers)],
    }
    lists = {"correct": correct, "strategies": answers, "answers": answers, **graded}
    about = {"schema_version": 1, "prompt": problem["id"], "split": "test", "temperature": 0.7}
    return about | {"n": len(answers)} | lists


def judge(folder: Path) -> dict[str, Any]:
    """Strategies by equal answers, and the same with noise."""
    return {"exact": {name: columns(_samples(_judged(folder, name))) for name in JUDGES}}


NOISY = "judge: studies.faulty:NoisyJudge\nof: exact\nflips: 0.3"
JUDGES = {"exact": "judge: exact", "noisy": NOISY}


def _judged(folder: Path, name: str) -> Path:
    """The MATH samples, labelled by a judge."""
    config, output = written(folder / f"{name}.yaml", JUDGES[name]), folder / f"{name}.jsonl"
    setrl(folder, "judge", MATH, *MATH_KEYS, "--config", config, "--output", output)
    return output


def _samples(path: Path) -> list[dict[str, Any]]:
    return [sample for group in lines(path) for sample in group["samples"]]


def judge_audit(folder: Path) -> dict[str, Any]:
    """A noisy judge against itself, pairs, and the exact judge's labels."""
    judged, config = _judged(folder, "exact"), written(folder / "j.yaml", JUDGES["noisy"])
    options = ("--strategy", "strategy", "--reward", "correct", "--pairs")
    files = ("--config", config, "--output", folder / "audit")
    setrl(folder, "judge-audit", judged, *MATH_KEYS, *files, *options)
    found = json.loads((folder / "audit" / "audit.json").read_text())
    shown = ("file", "by_group", "prompts", "examples")  # for the page; the figures are means of it
    return {"close": {key: value for key, value in found.items() if key not in shown}}


SIZED = ("poly_epo", "maxpo", "pkpo", "pass_k_training")
UNSIZED = ("grpo", "dr_grpo", "rloo", "grpo_div", "darling", "maxrl")


def credit(folder: Path) -> dict[str, Any]:
    """The advantages that methods give to logged samples."""
    log, found = _judged(folder, "noisy"), {}
    for method in (*SIZED, *UNSIZED):
        size = ("--set-size", 3) if method in SIZED else ()
        output = folder / f"{method}.jsonl"
        options = ("--method", method, *size, "--reward", "correct", "--output", output)
        setrl(folder, "credit", log, *options)
        found[method] = columns([_credited(row) for row in lines(output)])
    return {"exact": found}


def _credited(row: dict[str, Any]) -> dict[str, Any]:
    """The credit of a row, in the form in which it was recorded."""
    samples, credit = row["samples"], row["credit"]["advantage"]
    return {
        "schema_version": 1,
        "group": row["id"],
        "method": credit["method"],
        "set_size": credit["set_size"],
        "rewards": [float(one["correct"]) for one in samples],
        "strategies": [one["strategy"] for one in samples],
        "advantages": [one["advantage"] for one in samples],
        "skipped": credit["skipped"],
    }


def import_(folder: Path) -> dict[str, Any]:
    """TRL's log as an evaluation file, and its metrics."""
    options = ("--reward", "short", "--strategy", "strategy", "--steps", "1:3")
    setrl(folder, "import", "trl", DATA / "trl_completions", "--output", "trl.jsonl", *options)
    found = json.loads(setrl(folder, "evaluate", "trl.jsonl", "--json"))
    records = columns(lines(folder / "trl.jsonl"))
    return {"exact": records, "close": _rows(found["metrics"])}


def core(folder: Path) -> dict[str, Any]:
    """Advantages of every objective, estimator, baseline and method."""
    found: dict[str, Any] = json.loads(python(folder, "-m", "tests.golden.core"))
    return {"exact": found}


KINDS: dict[str, Callable[[Path], dict[str, Any]]] = {
    "core": core,
    "credit": credit,
    "judge": judge,
    "judge_audit": judge_audit,
    "import": import_,
    "evaluate": evaluate,
    "control": control,
    "train": train,
}
