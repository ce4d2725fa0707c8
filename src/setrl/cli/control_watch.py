"""`setrl control watch`."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import tyro


def watch(
    run_dir: Annotated[Path, tyro.conf.Positional],
    arm: str | None = None,
    seed: int | None = None,
    output: Path | None = None,
    strategies: int = 6,
    episodes: int = 128,
    frames_per_second: float = 8.0,
) -> None:
    """Render rollouts of a finished arm side by side, one for each way that it takes.

    Args:
        run_dir: The folder of a control run.
        arm: One of its arms; by default the last.
        seed: One of its seeds; by default the first.
        output: The film, .gif or .mp4; by default in RUN/figures. A contact sheet is put beside.
        strategies: At most so many ways are shown, the commonest first.
        episodes: Episodes that are sampled to find them.
        frames_per_second: Of the film.
    """
    from setrl.control import watch as control

    film, sheet = control.watch(run_dir, arm, seed, output, strategies, episodes, frames_per_second)
    print(f"film: {film}\nsheet: {sheet}")
