"""The built wheels in empty environments: `python -m tests.release.install base cli --python 3.12`.

For each Python and each extra: a new environment in a temporary folder, the wheel from `dist/` with
the versions of constraints.txt, and a command of that extra, away from the source. `setrl doctor`
must find nothing missing for the extra. One line a case; the exit code is 1 if one fails.
"""

from __future__ import annotations

import argparse
import json
import os
import shutil
import subprocess
import sys
import tempfile
import time
from pathlib import Path

from tests.release.contents import ROOT, built, version

PYTHONS = ("3.11", "3.12", "3.13")
TORCH = "torch==2.13.0"  # by this version: any other request may pull gigabytes of GPU packages
GROUP = {
    "prompt": "1 + 1",
    "rewards": [1, 0, 1],
    "strategies": [0, 1, 2],
    "texts": ["2", "3", "two"],
}
PROBLEM = {"problem": "1 / 2", "answer": r"\frac{1}{2}"}
VIEW = """
import subprocess, sys, urllib.request
command = [sys.argv[1], "view", "groups.jsonl", "--no-open", "--port", "0"]
server = subprocess.Popen(command, stdout=subprocess.PIPE, text=True)
page = urllib.request.urlopen(server.stdout.readline().strip(), timeout=60).read()
server.terminate()
sys.exit(0 if b"<title>" in page and server.wait(60) in (0, 143) else 1)
"""

CREDIT = ("setrl", "credit", "groups.jsonl", "--method", "poly_epo", "--set-size", "2")
JUDGE = ("setrl", "judge", "groups.jsonl", "--judge", "exact", "--into", "exact")
DRY_RUN = ("setrl", "train", "--config", "train.yaml", "--dry-run")
# Extra → the extras that are installed, and the commands; "setrl" and "python" are those installed.
CASES: dict[str, tuple[str, tuple[tuple[str, ...], ...]]] = {
    "base": ("", (("setrl", "--version"), ("setrl", "doctor"), ("setrl", "--help"))),
    "cli": (
        "cli",
        (
            CREDIT,
            ("setrl", "grade", r"\sqrt{8}", r"2\sqrt{2}"),
            ("setrl", "playground", "--no-open"),
        ),
    ),
    "plot": ("cli,plot", (("setrl", "report", "groups.jsonl", "--output", "report"),)),
    "train": ("train", (DRY_RUN,)),
    "peft": ("peft", (DRY_RUN, ("python", "-c", "from peft import LoraConfig"))),
    "tensorboard": (
        "tensorboard",
        (("python", "-c", "import tensorboard, setrl.train.lm.trl_arguments"),),
    ),
    "tinker": ("tinker", (("python", "-c", "import setrl.train.tinker.client"),)),
    "judge": ("judge", (JUDGE,)),
    "lab": ("lab", (("setrl", "view", "--help"), ("python", "-c", VIEW, "setrl"))),
    "serve": ("serve", (("python", "-c", "import fastapi, openai, uvicorn"),)),
    "gym": ("gym", (("setrl", "control", "--help"), ("python", "-c", "import setrl.control.run"))),
    "mujoco": ("mujoco", (("python", "-c", "import mujoco, setrl.control.envs.adapters"),)),
    "atari": ("atari", (("python", "-c", "import ale_py, setrl.control.run"),)),
    "jax": ("jax", (("python", "-c", "import setrl.core.jax"),)),
}
WITH_TORCH = ("train", "peft", "tensorboard", "tinker", "serve", "gym", "mujoco", "atari")


def main() -> int:
    """Install and run the cases that the arguments name."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("extras", nargs="*", help=f"of {', '.join(CASES)}; by default all")
    parser.add_argument("--python", action="append", help=f"by default {', '.join(PYTHONS)}")
    given = parser.parse_args()
    if unknown := set(given.extras) - set(CASES):
        parser.error(f"unknown: {', '.join(unknown)}")
    failed = 0
    for number in given.python or PYTHONS:
        python = interpreter(number)
        if python is None:
            print(f"Python {number}: not on this machine, not tested", flush=True)
            continue
        failed += sum(not holds(python, number, extra) for extra in given.extras or CASES)
    return 1 if failed else 0


def interpreter(number: str) -> str | None:
    """A Python of this version: on the path, or one of pyenv's."""
    root = Path(os.environ.get("PYENV_ROOT") or Path.home() / ".pyenv")
    on_path = shutil.which(f"python{number}")
    for one in filter(None, [on_path, *map(str, root.glob(f"versions/{number}.*/bin/python"))]):
        if (
            subprocess.run([one, "-c", "import venv, ensurepip"], capture_output=True).returncode
            == 0
        ):
            return one
    return None


def holds(python: str, number: str, extra: str) -> bool:
    """Whether the wheel with an extra can be installed and does what the extra is for."""
    start = time.perf_counter()
    with tempfile.TemporaryDirectory() as made:
        try:
            check(python, extra, Path(made))
        except subprocess.CalledProcessError as error:
            said = (error.stdout or "")[-2000:]
            print(f"Python {number}, {extra}: FAILED: {error.cmd}\n{said}", flush=True)
            return False
    print(f"Python {number}, {extra}: well, {time.perf_counter() - start:.0f} s", flush=True)
    return True


def check(python: str, extra: str, folder: Path) -> None:
    """Install the wheel into a new environment, and run the commands of the extra."""
    extras, commands = CASES[extra]
    asked([python, "-m", "venv", "env"], folder)
    pip = [
        "env/bin/pip",
        "install",
        "--disable-pip-version-check",
        "-c",
        str(ROOT / "constraints.txt"),
    ]
    if extra in WITH_TORCH:
        asked([*pip, TORCH], folder)
    wheel = built()[0]
    pip += ["--find-links", str(wheel.parent)]  # the grader's wheel
    asked([*pip, f"{wheel}[{extras}]" if extras else str(wheel)], folder)
    write_inputs(folder)
    for command in commands:
        asked([f"env/bin/{one}" if one in ("setrl", "python") else one for one in command], folder)
    found = json.loads(asked(["env/bin/setrl", "doctor", "--json"], folder))
    missing = found["extras"].get(extra, {}).get("missing", [])
    if found["setrl"] != version() or found["metadata"] != version() or missing:
        raise subprocess.CalledProcessError(1, "setrl doctor", json.dumps(found, indent=2))


def write_inputs(folder: Path) -> None:
    """A group of samples, a problem, and the demo's config."""
    (folder / "groups.jsonl").write_text(json.dumps(GROUP) + "\n")
    (folder / "problems.jsonl").write_text(json.dumps(PROBLEM) + "\n")
    shutil.copy(ROOT / "recipes/demo/config.yaml", folder / "train.yaml")


def asked(command: list[str], folder: Path) -> str:
    """What a command prints, without the source or caches of this machine in its way."""
    hidden = ("PYTHONPATH", "VIRTUAL_ENV")
    variables = {name: value for name, value in os.environ.items() if name not in hidden}
    variables["SETRL_CACHE"] = str(folder / "cache")
    ended = subprocess.run(
        command,
        cwd=folder,
        env=variables,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT if command[-1] != "--json" else None,
        text=True,
    )
    ended.check_returncode()
    return ended.stdout


if __name__ == "__main__":
    sys.exit(main())
