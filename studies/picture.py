"""`python -m studies.picture`: the animated picture of the README, from the run of `make demo`.

`collect` keeps what the picture needs of a run, in one small file; `draw` writes the picture.
While it moves, shares and pass@1 come from training samples; at the end, pass@1 comes from the
run's evaluation.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Annotated, Any

import numpy as np
import tyro

from setrl.show.report.over_steps import SHARE, share_fills
from setrl.show.report.run import ReportedRun
from setrl.show.report.style import OTHER_FILL, STRATEGY_FILLS
from setrl.support import files
from setrl.support.errors import RunError
from setrl.support.wording import in_a_row, percent
from studies.animation import Animation, at, text

ARMS = {"grpo": "GRPO", "concave_counts": "concave counts"}
ALT = "A model trained with GRPO ends with one way to answer; with concave counts it keeps many"
FOLDER = Path(__file__).parents[1] / "docs" / "results" / "demo"
SHARES, RESULTS, PICTURE = "shares.json", "summary.json", "collapse.svg"
PASS = "pass@1"
Splits = Mapping[str, Any]
LOGGED = "reward/pass@1"
FRAMES = 24  # before frames that end with the same step become one

WIDTH, HEIGHT, PANEL = 800, 484, 400
ROOT, ARC = (200, 296), 165  # where the ways begin in a panel, and how far they lead
BIGGEST, THICKEST = 54, 40  # radius of a disc and width of a line with a share of 1
SPREAD = 166  # degrees from the first way to the last
LEFT, TRACK, END = 32, 232, 372  # where a bar begins, the length of 100%, where its number ends


def frame_steps(last: int) -> list[int]:
    """Return the steps at which frames end: dense at the start, where shares change most.

    >>> frame_steps(200)[:8], frame_steps(200)[-2:]
    ([1, 3, 6, 9, 12, 17, 22, 28], [184, 200])
    """
    return sorted({max(1, round(last * (i / FRAMES) ** 2)) for i in range(1, FRAMES + 1)})


def collect(run_dir: Annotated[Path, tyro.conf.Positional], folder: Path = FOLDER) -> Path:
    """Keep shares of strategies and pass@1 of a run's training samples, means over seeds.

    Args:
        run_dir: Its folder.
        folder: Where the file goes.

    Raises:
        RunError: If the run lacks an arm of the picture, or one of its training runs is shorter.
    """
    run = ReportedRun(run_dir)
    lengths = {len(seed.metrics.get(LOGGED, ())) for arm in ARMS for seed in run.seeds(arm)}
    missing = [arm for arm in ARMS if arm not in run.arms]
    if missing or len(lengths) > 1:
        found = f"lacks {in_a_row(missing)}" if missing else "has training runs of unequal length"
        raise RunError(f"{run_dir} {found}; the picture needs finished runs of {in_a_row([*ARMS])}")
    ends = frame_steps(lengths.pop())
    kept = {"seeds": [str(seed.number) for seed in run.seeds(next(iter(ARMS)))], "steps": ends}
    arms = {arm: _frames(run, arm, ends) for arm in ARMS}
    files.write_json(folder / SHARES, {"schema_version": 1, **kept, "arms": arms})
    return folder / SHARES


def _frames(run: ReportedRun, arm: str, ends: Sequence[int]) -> dict[str, Any]:
    """Return pass@1 and shares at each frame; strategies without a fill are added up as "other"."""
    fills = share_fills(run)
    shares = {name: np.zeros(len(ends)) for name in [*fills, "other"]}
    for key in dict.fromkeys(key for seed in run.seeds(arm) for key in seed.metrics):
        if key.startswith(SHARE):
            name = key.removeprefix(SHARE)
            shares[name if name in fills else "other"] += _means(run, arm, key, ends)
    passes = _means(run, arm, LOGGED, ends)
    return {PASS: _rounded(passes), "shares": {n: _rounded(row) for n, row in shares.items()}}


def _means(run: ReportedRun, arm: str, key: str, ends: Sequence[int]) -> np.ndarray:
    """Return means over seeds and the steps since the last frame; 0 where nothing was logged."""
    absent = np.zeros(ends[-1])
    rows = [np.nan_to_num(seed.metrics.get(key, absent)) for seed in run.seeds(arm)]
    parts = np.split(np.mean(rows, axis=0), ends[:-1])
    return np.array([part.mean() for part in parts])


def _rounded(values: np.ndarray) -> list[float]:
    return np.round(values, 4).tolist()


def picture(shares: Mapping[str, Any], splits: Splits) -> str:
    """Draw the SVG from what `collect` kept and from the run's evaluated splits."""
    moving = Animation(len(shares["steps"]))
    body = [text("step", WIDTH // 2, 100, "middle", "muted")]
    body += [moving.counter([str(step) for step in shares["steps"]], WIDTH // 2, 132, "middle")]
    for place, (arm, label) in enumerate(ARMS.items()):
        parts = [text(label, PANEL // 2, 42, "middle", "strong")]
        parts += _fan(moving, shares["arms"][arm]["shares"])
        parts += _bars(moving, arm, shares["arms"][arm][PASS], splits)
        body.append(at(place * PANEL, 0, *parts))
    return moving.svg(WIDTH, HEIGHT, ALT, body)


def _fan(moving: Animation, shares: Mapping[str, Sequence[float]]) -> list[str]:
    """Draw a way to each strategy, as wide as its share, and a disc with this share as its area."""
    fills = dict(zip(shares, (*STRATEGY_FILLS, OTHER_FILL), strict=True))
    lost, ways, discs = [], [], []
    for name, (x, y) in _places(list(shares)).items():
        ends = f'x1="{ROOT[0]}" y1="{ROOT[1]}" x2="{x}" y2="{y}"'
        widths = moving.moves([f"stroke-width:{THICKEST * s:.1f}px" for s in shares[name]])
        scales = moving.moves([f"transform:scale({math.sqrt(s):.3f})" for s in shares[name]])
        lost.append(f'<path d="M{ROOT[0]} {ROOT[1]}L{x} {y}" class="outline"/>')
        lost.append(f'<circle cx="{x}" cy="{y}" r="6" class="outline"/>')
        ways.append(f'<line {ends} stroke="{fills[name]}" class="{widths}"/>')
        discs.append(at(x, y, f'<circle r="{BIGGEST}" fill="{fills[name]}" class="{scales}"/>'))
    x, y = ROOT
    root = [
        f'<circle cx="{x}" cy="{y}" r="24" class="ink"/>',
        text("?", x, y + 10, "middle", "paper"),
    ]
    return [*lost, *ways, *discs, *root]


def _places(names: Sequence[str]) -> dict[str, tuple[int, int]]:
    """Return places on an arc above the root, from the middle outwards."""
    places = {}
    for rank, name in enumerate(names):
        side = (rank + 1) // 2 * (1 if rank % 2 else -1)
        angle = math.pi / 2 - side * math.radians(SPREAD) / (len(names) - 1)
        x, y = ROOT[0] + ARC * math.cos(angle), ROOT[1] - ARC * math.sin(angle)
        places[name] = (round(x), round(y))
    return places


def value(splits: Splits, arm: str, metric: str, split: str = "test") -> float:
    """Return the mean of a metric over problems and seeds."""
    return float(splits[split]["arms"][arm]["metrics"][metric]["value"])


def _bars(moving: Animation, arm: str, passes: Sequence[float], splits: Splits) -> list[str]:
    """Draw pass@1 in training and on test problems, also without the most frequent choices."""
    test, shifted = (value(splits, arm, PASS, split) for split in ("test", "shifted"))
    scales = [f"transform:scaleX({value:.3f})" for value in (*passes, test)]
    numbers = [*(percent(value, 0) for value in passes), percent(test)]
    forbidden = [
        text("favourites forbidden", LEFT, 432), _bar(1, 444, "track"),
        _bar(shifted, 444, moving.grows()), text(percent(shifted), END, 463, "end", "number"),
    ]  # fmt: skip
    return [
        text("pass@1", LEFT, 360), _bar(1, 372, "track"), _bar(1, 372, moving.moves(scales)),
        moving.counter(numbers, END, 391, "end"),
        f'<g class="{moving.appears()}">{"".join(forbidden)}</g>',
    ]  # fmt: skip


def _bar(length: float, y: int, look: str) -> str:
    shape = f'<rect width="{TRACK * length:.1f}" height="22" class="ink {look}"/>'
    return at(LEFT, y, shape)


def draw(folder: Path = FOLDER) -> Path:
    """Write the picture from what was collected.

    Args:
        folder: Of the shares and of the run's evaluation.
    """
    shares = files.read_json(folder / SHARES)
    splits = files.read_json(folder / RESULTS)["splits"]
    files.write_text(folder / PICTURE, picture(shares, splits))
    return folder / PICTURE


def main() -> None:
    """Run the command line."""
    commands: dict[str, Any] = {"collect": collect, "draw": draw}
    print(tyro.extras.subcommand_cli_from_dict(commands, prog="python -m studies.picture"))


if __name__ == "__main__":
    main()
