"""Start every benchmark until its first row, and resolve every recipe of control: none may rot.

    python -m benchmarks.check [NAME ...]

Times are not judged. Recipes of language models are read by tests/lm/test_recipes.py.

A benchmark that needs what is not here says so, and is skipped by name. The exit code is 1 if one
fails.
"""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import tempfile
import time
from itertools import islice
from pathlib import Path

from setrl.support.errors import ConfigError

HERE = Path(__file__).parent
RECIPES = HERE.parent / "recipes"
LIMIT = 120.0  # seconds: a benchmark that still works then has started
LINES = 2  # the names of the columns, and a row
NO_BENCHMARK = {"check", "tiny_run"}
ARGUMENTS = {
    "control_step": ["600"],
    "training_step": ["1"],
    "overhead": ["1"],
    "scaling": ["credit"],
}  # the fewest steps
NEEDS = {
    "graders": "a clone of HardVerify",
    "judge_pairs": "a file of pairs that people labelled",
    "judge_flips": "the files of a run",
    "judge_client": "minutes, and it writes docs/results: `python -m benchmarks.judge_client`",
}


def first_row(name: str) -> tuple[str, str]:
    """Start a benchmark; return "row" and the line, "running", "skipped", or "failed" and why."""
    command = [sys.executable, "-u", "-m", f"benchmarks.{name}", *ARGUMENTS.get(name, [])]
    with tempfile.TemporaryFile("w+") as errors:
        process = subprocess.Popen(
            command,
            stdout=subprocess.PIPE,
            stderr=errors,
            text=True,
            cwd=HERE.parent,
            start_new_session=True,
            env={**os.environ, "PYTHONUNBUFFERED": "1", "HF_HUB_OFFLINE": "1"},
        )
        assert process.stdout is not None
        alarm = signal.signal(signal.SIGALRM, lambda *_: os.killpg(process.pid, signal.SIGKILL))
        signal.setitimer(signal.ITIMER_REAL, LIMIT)
        rows = list(islice((one.strip() for one in process.stdout if one.strip()), LINES))
        signal.setitimer(signal.ITIMER_REAL, 0)
        signal.signal(signal.SIGALRM, alarm)
        if len(rows) == LINES:
            os.killpg(process.pid, signal.SIGKILL)
        code = process.wait()
        if len(rows) == LINES or code == 0:
            return "row", rows[-1] if rows else "none, but it ended well"
        if code == -signal.SIGKILL:
            return "running", f"no row in {LIMIT:.0f} s"
        errors.seek(0)
        said = errors.read().strip().splitlines() or [f"exit code {code}"]
        return ("skipped" if "pip install" in said[-1] else "failed"), said[-1]


def resolved(path: Path) -> tuple[str, str]:
    """Resolve a recipe of control; return "resolved", "skipped" or "failed", and what was said."""
    from setrl.control.resolved import ResolvedControl

    try:
        arms = ResolvedControl.load(path).config.arms
    except ConfigError as error:
        return ("skipped" if "pip install" in str(error) else "failed"), str(error)
    return "resolved", f"{len(arms)} arms"


def main(names: list[str]) -> None:
    """Start the benchmarks one after another, and print what each gave; then the recipes."""
    known = sorted(path.stem for path in HERE.glob("*.py") if path.stem not in NO_BENCHMARK)
    failed = False
    for name in names or known:
        began = time.perf_counter()
        what, said = ("skipped", NEEDS[name]) if name in NEEDS else first_row(name)
        failed |= what == "failed"
        print(f"{name}: {what} after {time.perf_counter() - began:.0f} s: {said}", flush=True)
    for path in [] if names else sorted(RECIPES.glob("control_*/*.yaml")):
        what, said = resolved(path)
        failed |= what == "failed"
        print(f"{path.relative_to(RECIPES)}: {what}: {said}", flush=True)
    raise SystemExit(failed)


if __name__ == "__main__":
    main(sys.argv[1:])
