"""Golden runs: small runs of every kind, and the figures that they gave when they were recorded.

    python -m tests.golden.make [KIND ...]            # record <kind>.json next to this file
    python -m tests.golden.make --check [KIND ...]    # run again, compare, exit 1 on a difference

A refactoring must not change these figures: weights, samples and advantages must stay equal to
the bit, evaluation numbers to 1e-12. Everything goes through the command line, files on disk and
the top-level names of the package, so that modules can be renamed freely. Record again only after
a change of figures that was meant, and say so in its commit.
"""

from __future__ import annotations

import argparse
import json
import os
import platform
import sys
import tempfile
import time
from importlib.metadata import version
from pathlib import Path
from typing import Any

from tests.golden.compare import differences
from tests.golden.kinds import KINDS

HERE = Path(__file__).parent
PACKAGES = ("numpy", "torch", "transformers", "trl", "stable-baselines3")

RENAMED: dict[str, str] = {}
"""Key of a recorded file (a metric, a field, an objective) → its name now. Empty the map by
recording again once everything is renamed."""


def machine() -> dict[str, str]:
    """What the bits of a matrix product depend on."""
    packages = {name: version(name) for name in PACKAGES}
    return {"python": platform.python_version(), **packages, "processor": _processor()}


def _processor() -> str:
    info = Path("/proc/cpuinfo")
    lines = info.read_text().splitlines() if info.exists() else []
    names = [line.partition(":")[2].strip() for line in lines if line.startswith("model name")]
    return names[0] if names else platform.processor() or platform.machine()


def run(kind: str) -> dict[str, Any]:
    """The figures of a kind, run in a folder of its own."""
    with tempfile.TemporaryDirectory() as folder:
        found = KINDS[kind](Path(folder))
    plain: dict[str, Any] = json.loads(json.dumps(found))
    return plain


def record(kind: str) -> bool:
    """Write the file of a kind."""
    content = {"machine": machine(), **run(kind)}
    text = json.dumps(content, ensure_ascii=False, indent=1)
    (HERE / f"{kind}.json").write_text(_rows(text) + "\n", encoding="utf-8")
    return True


def _rows(text: str) -> str:
    """Indented JSON with everything below the third level in one line, for readable diffs."""
    kept: list[str] = []
    for line in text.splitlines():
        depth = len(line) - len(line.lstrip())
        closes = depth == 3 and line.strip()[0] in "]}"
        if depth > 3 or closes:
            kept[-1] += ("" if closes or kept[-1][-1] in "[{" else " ") + line.strip()
        else:
            kept.append(line)
    return "\n".join(kept)


def check(kind: str) -> bool:
    """Run a kind again and print each difference from its file; whether there is none."""
    recorded = json.loads((HERE / f"{kind}.json").read_text(encoding="utf-8"))
    then, now = recorded.pop("machine"), machine()
    others = [f"{key} {then.get(key)} → {now[key]}" for key in now if then.get(key) != now[key]]
    if others:
        print(f"{kind}: another machine ({', '.join(others)}): bits left out, numbers to 1e-3")
    found = list(differences(recorded, run(kind), RENAMED, same_machine=not others))
    for line in found:
        print(f"{kind}{line}")
    return not found


def main() -> None:
    """Record or check the kinds that are named, or all."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").partition("\n")[0])
    parser.add_argument("kinds", nargs="*", metavar="KIND", help=", ".join(KINDS))
    parser.add_argument("--check", action="store_true", help="compare with what was recorded")
    options = parser.parse_args()
    if unknown := [kind for kind in options.kinds if kind not in KINDS]:
        parser.error(f"KIND must be of {', '.join(KINDS)}, got {unknown[0]!r}")
    same = True
    for kind in options.kinds or KINDS:
        began = time.perf_counter()
        good = (check if options.check else record)(kind)
        done = ("same" if good else "DIFFERENT") if options.check else "recorded"
        print(f"{kind}: {done} ({time.perf_counter() - began:.0f} s)", flush=True)
        same &= good
    sys.exit(0 if same else 1)


if __name__ == "__main__":
    os.environ["OMP_NUM_THREADS"] = "1"
    main()
