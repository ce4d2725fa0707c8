"""Published estimators as formulas, with what their released code was found to be.

    python -m tests.lab.published     # write web/src/playground and web/tests/published.json again

The playground shows them beside a formula of one's own. Its tests check that a formula has the same
objective as the released code, which `docs/results/estimators` has audited.
"""

from __future__ import annotations

import json
from collections.abc import Iterable
from pathlib import Path
from typing import Any, NamedTuple

ROOT = Path(__file__).parents[2]
SHOWN = ROOT / "web" / "src" / "playground" / "published.json"
FOUND = ROOT / "web" / "tests" / "published.json"
AUDITED = ROOT / "docs" / "results" / "estimators" / "estimators.json"


class Published(NamedTuple):
    """An estimator of a package, by its row in the audited table, and what it shows."""

    package: str
    name: str
    shows: str
    formula: str


GRPO = "(r - mean(r)) / (std(r) + 1e-4)"
PUBLISHED = (
    Published("trl", "grpo", "Divided by the spread: hard and easy prompts weigh more", GRPO),
    Published(
        "trl", "grpo, scale_rewards=none", "Minus the mean (Dr. GRPO): unbiased", "r - mean(r)"
    ),
    Published(
        "verl", "rloo", "Minus the mean of the others: unbiased", "r - (sum(r) - r) / (N - 1)"
    ),
    Published(
        "skyrl",
        "maxrl",
        "Divided by the mean (MaxRL): the log of success, cut off",
        "(r - mean(r)) / max(mean(r), eps)",
    ),
    Published(
        "verl",
        "grpo_passk",
        "Only the best sample is paid: pass@N",
        "where(r == max(r), r - nth(r, 2), 0) / (std(r) + 1e-6)",
    ),
    Published(
        "setrl",
        "pkpo, set_size=2",
        "What a sample adds to others (PKPO, K = 2): pass@2",
        "r * (N - sum(r)) / (N - 1)",
    ),
    Published(
        "setrl",
        "grpo_div",
        "A bonus for rare strategies: wrong samples are paid",
        "centred(r + (N / size - 1) / (N - 1))",
    ),
    Published(
        "setrl",
        "uarl",
        "Divided by the strategy's size: no objective at all",
        f"{GRPO} / size",
    ),
    Published(
        "setrl",
        "concave_counts, alpha=0",
        "One unit for each right strategy: all are kept",
        "where(r > 0, 1 / m, 0)",
    ),
    Published(
        "setrl",
        "poly_epo, set_size=2",
        "Success times variety (Poly-EPO, K = 2): all are kept",
        "centred(r * (N - 1 - size / 2) - m / 2) / (N - 1) / 2",
    ),
)


def rows() -> list[tuple[dict[str, str], dict[str, Any]]]:
    """Return of each formula what the page shows, and what the released code was found to be."""
    packages = json.loads(AUDITED.read_text("utf-8"))["packages"]
    audited = {(one["package"], row["name"]): (one, row) for one in packages for row in one["rows"]}
    return [_row(one, *audited[one.package, one.name]) for one in PUBLISHED]


def _row(
    one: Published, package: dict[str, Any], row: dict[str, Any]
) -> tuple[dict[str, str], dict[str, Any]]:
    release = f"{package['title']} {package['version'][:12]}, {row['name']}"
    line = f"{Path(row['path']).name}:{row['line']}"
    place = f"setrl, {row['name']}" if one.package == "setrl" else f"{release} ({line})"
    found = {"is": row["nearest"]["is"], "off": row["nearest"]["off"], "paid": row["paid"]}
    return {"shows": one.shows, "formula": one.formula, "place": place}, found


def texts() -> dict[Path, str]:
    """Return the content of both files: one estimator a line."""
    shown, found = zip(*rows(), strict=True)
    return {SHOWN: _lines(shown), FOUND: _lines(found)}


def _lines(values: Iterable[dict[str, Any]]) -> str:
    return "[\n" + ",\n".join(json.dumps(one, ensure_ascii=False) for one in values) + "\n]\n"


if __name__ == "__main__":
    for path, text in texts().items():
        path.write_text(text, "utf-8")
        print(path)
