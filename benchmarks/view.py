"""How long the run explorer takes on many logged samples, and how much memory it needs.

Writes runs of made-up rollouts, groups of 16 samples of about 200 letters, and logs of another
program, one sample of about 600 bytes a row. Asks for what the page asks for, each number of
samples in a process of its own. The index of a run is built when all its groups are listed first; a
step's page reads that step alone. Of a long log the first problems come first.
"""

from __future__ import annotations

import json
import resource
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np

from setrl.logs.records import record_of

SAMPLES = (10_000, 100_000, 1_000_000)
LOGGED = (300_000, 1_000_000)  # samples of a log of another program
GROUP, STEPS = 16, 100
REPEATS = 20


def write_run(folder: Path, samples: int) -> int:
    """Write a run with so many logged samples; return its bytes."""
    rng = np.random.default_rng(0)
    rollouts = folder / "poly_epo" / "seed_0" / "rollouts"
    rollouts.mkdir(parents=True)
    about = {"schema_version": 1, "kind": "comparison", "name": "many"}
    (folder / "run.json").write_text(json.dumps(about))
    (rollouts.parent / "metrics.jsonl").write_text('{"step": 1}\n')
    groups = samples // GROUP // STEPS
    for step in range(1, STEPS + 1):
        with (rollouts / f"step_{step:06d}.jsonl").open("w") as file:
            for number in range(groups):
                file.write(json.dumps(_group(rng, step, number)) + "\n")
    return sum(path.stat().st_size for path in rollouts.iterdir())


def _group(rng: np.random.Generator, step: int, number: int) -> dict[str, Any]:
    correct, strategy = rng.random(GROUP) < 0.5, rng.integers(0, 6, GROUP)
    advantage = rng.standard_normal(GROUP)
    columns = {
        "text": [f"Step {i}: " + "let x be a number and " * 8 for i in range(GROUP)],
        "reward": correct.astype(float).tolist(),
        "strategy": [f"way {one}" for one in strategy],
        "advantage": advantage.tolist(),
    }
    return record_of(f"{step}/{number}", f"Problem {number}: find x.", columns, step=step)


def measure(root: Path) -> dict[str, float]:
    """Return processor seconds of each answer, and the memory of this process in MB."""
    from starlette.testclient import TestClient

    from setrl.show.lab.view.app import application
    from setrl.show.lab.view.catalogue import Catalogue

    client = TestClient(application(Catalogue(root)), base_url="http://localhost")
    run = client.get("/api/runs").json()["runs"][0]["id"]
    about = {"run": run, "arm": "poly_epo", "seed": 0}

    def ask(what: str, **query: Any) -> Any:
        answer = client.get(f"/api/{what}", params=about | query)
        assert answer.status_code == 200, answer.text
        return answer.json()

    before = _megabytes()
    step = _seconds(lambda: ask("groups", step=50, sort="surprise", desc=1))
    index = _seconds(lambda: ask("groups", sort="surprise", desc=1))
    rows = ask("groups", sort="surprise", desc=1)["rows"]
    places = [(row["step"], row["place"]) for row in rows[:REPEATS]]
    group = [_seconds(lambda s=s, p=p: ask("group", step=s, place=p)) for s, p in places]
    table = [_seconds(lambda: ask("groups", sort="surprise", desc=1)) for _ in range(5)]
    return {
        "step": step,
        "index": index,
        "table": float(np.median(table)),
        "group": float(np.median(group)),
        "memory": _megabytes() - before,
    }


def write_log(path: Path, samples: int) -> int:
    """Write a log of another program; return its bytes."""
    rng = np.random.default_rng(0)
    correct, way = rng.random(samples) < 0.5, rng.integers(0, 6, samples)
    with path.open("w") as file:
        for i in range(samples):
            row = {
                "problem_id": i // GROUP,
                "prompt": f"Problem {i // GROUP}: find x.",
                "response": f"Step {i}: " + "let x be a number and " * 18,
                "correct": bool(correct[i]),
                "answer": str(way[i]),
            }
            file.write(json.dumps(row) + "\n")
    return path.stat().st_size


def write_lm_eval(path: Path, samples: int) -> int:
    """Write a log of lm-eval, one problem with one sample a row; return its bytes."""
    correct = np.random.default_rng(0).random(samples) < 0.5
    with path.open("w") as file:
        for i in range(samples):
            row = {
                "doc_id": i,
                "doc": {"question": f"Problem {i}: find x."},
                "target": "1",
                "arguments": {"gen_args_0": {"arg_0": f"Problem {i}: find x.", "arg_1": {}}},
                "resps": [[f"Step {i}: " + "let x be a number and " * 12]],
                "filtered_resps": ["1"],
                "filter": "none",
                "metrics": ["exact_match"],
                "exact_match": float(correct[i]),
            }
            file.write(json.dumps(row) + "\n")
    return path.stat().st_size


def measure_log(path: Path) -> dict[str, float]:
    """Return processor seconds to the first problems, the index and answers; and memory."""
    from starlette.testclient import TestClient

    from setrl.show.lab.view.app import application
    from setrl.show.lab.view.catalogue import Catalogue
    from setrl.show.lab.view.serve import PATIENCE

    before, began = _megabytes(), time.process_time()
    app = application(Catalogue(path), patience=PATIENCE)
    client = TestClient(app, base_url="http://localhost")
    run = client.get("/api/runs").json()["runs"][0]
    sampled = run["samples"][0]
    arm = sampled["arms"][0]["name"]
    about = {"run": run["id"], "split": sampled["split"], "arm": arm, "seed": 0}

    def ask(what: str, **query: Any) -> Any:
        return client.get(f"/api/{what}", params=about | query).json()

    while not ask("groups")["rows"]:
        pass
    first = time.process_time() - began
    while ask("groups")["progress"]:
        pass
    index = time.process_time() - began
    return {
        "first": first,
        "index": index,
        "table": _seconds(lambda: ask("groups", sort="disagreement", desc=1)),
        "click": _seconds(lambda: ask("group", step=0, place=10_000)),
        "memory": _megabytes() - before,
    }


def _seconds(do: Callable[[], Any]) -> float:
    began = time.process_time()
    do()
    return time.process_time() - began


def _megabytes() -> float:
    """Return the largest memory of this process so far."""
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024


def main() -> None:
    """Print a row of the tables for each number of samples."""
    of_runs()
    of_logs("log.jsonl", write_log)
    of_logs("samples_task.jsonl", write_lm_eval)


def of_logs(name: str, write: Callable[[Path, int], int]) -> None:
    """Print what logs of another program take, by the name of their file."""
    print(f"{name}: samples | log MB | first problems s | index s | table s | "
          "one problem s | memory MB")  # fmt: skip
    for samples in LOGGED:
        with tempfile.TemporaryDirectory() as folder:
            path = Path(folder) / name
            size = write(path, samples)
            code = [sys.executable, __file__, str(path)]
            ended = subprocess.run(code, check=True, capture_output=True, text=True)
            found = json.loads(ended.stdout)
        rounded = " | ".join(f"{found[key]:.2f}" for key in found if key != "memory")
        print(f"{samples:,} | {size / 1e6:.0f} | {rounded} | {found['memory']:.0f}", flush=True)


def of_runs() -> None:
    """Print what a run of setrl takes."""
    print("samples | log MB | a step first s | index s | table s | one group s | memory MB")
    for samples in SAMPLES:
        with tempfile.TemporaryDirectory() as folder:
            size = write_run(Path(folder) / "many", samples)
            code = [sys.executable, __file__, folder]
            ended = subprocess.run(code, check=True, capture_output=True, text=True)
            found = json.loads(ended.stdout)
        print(
            f"{samples:,} | {size / 1e6:.0f} | {found['step']:.3f} | {found['index']:.2f} | "
            f"{found['table']:.3f} | {found['group']:.4f} | {found['memory']:.0f}",
            flush=True,
        )


if __name__ == "__main__":
    if len(sys.argv) > 1:
        given = Path(sys.argv[1])
        print(json.dumps(measure_log(given) if given.is_file() else measure(given)))
    else:
        main()
