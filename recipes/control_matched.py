"""Set methods against the best rival of at least the same success, from a published summary.json.

    python recipes/control_matched.py SUMMARY.json success effective_goals

A rival matches an arm if its mean quality is at least the arm's quality less one standard error of
the difference. The best of all matching rivals is taken after the fact, which favours the rivals.
"""

from __future__ import annotations

import json
import sys
from pathlib import Path
from typing import Any

SET_METHODS = ("poly", "maxpo", "pass_k")


def main(paths: list[str], quality: str, diversity: str) -> None:
    """Print the comparison as a table in Markdown."""
    arms: dict[str, Any] = {}
    for path in paths:
        arms |= json.loads(Path(path).read_text())["arms"]
    rivals = [name for name in arms if not name.startswith((*SET_METHODS, "base"))]
    print(f"| arm | {quality} | {diversity} | best matching rival | {quality} | {diversity} |")
    print("|---|---|---|---|---|---|")
    for name, arm in arms.items():
        if not name.startswith(SET_METHODS):
            continue
        found = [rival for rival in rivals if matches(arms[rival][quality], arm[quality])]
        best = max(found, key=lambda rival: arms[rival][diversity]["mean"], default=None)
        theirs = [best, *map(shown, (arms[best][quality], arms[best][diversity]))] if best else []
        cells = [name, shown(arm[quality]), shown(arm[diversity]), *(theirs or ["none", "", ""])]
        print("| " + " | ".join(cells) + " |")


def matches(rival: dict[str, Any], arm: dict[str, Any]) -> bool:
    """Return whether the rival is at most one standard error worse than the arm."""
    error = ((rival["stderr"] or 0) ** 2 + (arm["stderr"] or 0) ** 2) ** 0.5
    return bool(rival["mean"] >= arm["mean"] - error)


def shown(outcome: dict[str, Any]) -> str:
    """Return mean ± standard error."""
    digits = 3 if outcome["mean"] < 10 else 0
    return f"{outcome['mean']:.{digits}f} ± {outcome['stderr'] or 0:.{digits}f}"


if __name__ == "__main__":
    *files, first, second = sys.argv[1:]
    main(files, first, second)
