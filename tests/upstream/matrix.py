"""Set credit in several versions of TRL: `python -m tests.upstream.matrix 1.9.2 1.16.0`.

Each version gets an environment of its own, with the versions of its file beside this one; TRL's
newest version has the project's constraints.txt, and a version that has no file is tried with
those, except its own. There tests/engines and TRL's own tests of GRPO run. One line a version; the
exit code is 1 if anything fails.
"""

from __future__ import annotations

import argparse
import os
import re
import subprocess
import sys
from pathlib import Path

from tests.release.install import interpreter

HERE = Path(__file__).parent
ROOT = HERE.parents[1]
NEWEST = "1.16.0"
SETS = {"1.9.2": "3.11", "1.12.0": "3.11", "1.14.2": "3.11", NEWEST: "3.11"}  # TRL → Python
TORCH = "torch==2.13.0"  # first and by this version: any other request may pull gigabytes
TESTS = ("pytest", "pytest-xdist", "hypothesis", "jmespath", "psutil", "requests")
SHOWN = ("trl", "transformers", "torch", "numpy", "accelerate", "datasets", "peft")
ENGINES = ("--ignore=tests/engines/verl", "--ignore=tests/engines/skyrl", "tests/engines")
HEAD = ("Python", *SHOWN, "tests/engines", "TRL's own tests")


def main() -> int:
    """Test the versions that the arguments name, and print the table."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("versions", nargs="*", help=f"by default {', '.join(SETS)}")
    parser.add_argument("--folder", type=Path, default=ROOT / ".venv-trl", help="of environments")
    parser.add_argument("--source", help="a clone of TRL, or its address")
    given = parser.parse_args()
    rows, failed = [], False
    for trl in given.versions or SETS:
        python = environment(given.folder / trl, trl)
        engines = asked([python, "-m", "pytest", *ENGINES])
        own = asked([python, "-m", "tests.upstream.run", "trl", *source(given.source)])
        for name, ended in (("engines", engines), ("own", own)):
            (given.folder / f"{trl}-{name}.log").write_text(ended.stdout)
        failed |= bool(engines.returncode or own.returncode)
        rows.append([*versions(python), counts(engines.stdout), own.stdout.splitlines()[-1]])
        print(" | ".join(rows[-1]), flush=True)
    print("\n".join(table(rows)))
    return 1 if failed else 0


def source(given: str | None) -> list[str]:
    """The argument that names where TRL's tests are."""
    return ["--source", given] if given else []


def environment(folder: Path, trl: str) -> str:
    """Make the environment of a version, if it is missing, and return its Python."""
    python = str(folder / "bin" / "python")
    if not (folder / "ready").exists():
        number = SETS.get(trl, f"{sys.version_info[0]}.{sys.version_info[1]}")
        subprocess.run([interpreter(number) or sys.executable, "-m", "venv", folder], check=True)
        pip = [python, "-m", "pip", "install", "-q", "-c", str(constraints(folder, trl))]
        subprocess.run([*pip, TORCH], check=True)
        subprocess.run([*pip, "-e", f"{ROOT}[train,peft,judge,tinker]", *TESTS], check=True)
        (folder / "ready").touch()
    return python


def constraints(folder: Path, trl: str) -> Path:
    """The file of a version; for one that has none, the project's, with this version of TRL."""
    own, ours = HERE / f"trl-{trl}.txt", ROOT / "constraints.txt"
    if own.exists() or trl == NEWEST:
        return own if own.exists() else ours
    changed = folder / "constraints.txt"
    changed.write_text(re.sub(r"(?m)^trl==.*$", f"trl=={trl}", ours.read_text()))
    return changed


def versions(python: str) -> list[str]:
    """The versions of Python and of the packages that the table shows."""
    code = (
        "import sys, importlib.metadata as m\nprint(sys.version.split()[0])\n"
        f"for one in {SHOWN}: print(m.version(one))"
    )
    return asked([python, "-c", code]).stdout.split()


def asked(command: list[str]) -> subprocess.CompletedProcess[str]:
    """Run a command at the root of the repository, and keep what it says."""
    settings = {"OMP_NUM_THREADS": "1", "PYTHONPATH": f"{ROOT / 'src'}{os.pathsep}{ROOT}"}
    return subprocess.run(
        command,
        cwd=ROOT,
        env={**os.environ, **settings},
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
        check=False,
    )


def counts(said: str) -> str:
    """What pytest counted, such as "3 failed, 400 passed"."""
    return ", ".join(re.findall(r"\d+ (?:failed|passed|skipped|error)", said.splitlines()[-1]))


def table(rows: list[list[str]]) -> list[str]:
    """The rows in Markdown."""
    lines = [HEAD, ["---"] * len(HEAD), *rows]
    return [f"| {' | '.join(line)} |" for line in lines]


if __name__ == "__main__":
    sys.exit(main())
