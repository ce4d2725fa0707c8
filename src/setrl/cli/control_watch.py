"""`setrl control watch`."""

from __future__ import annotations

from dataclasses import astuple, dataclass
from pathlib import Path

from tyro.conf import Positional


@dataclass(frozen=True)
class Watch:
    """Render rollouts of a finished arm side by side, one for each way that it takes.

    Attributes:
        run_dir: The folder of a control run.
        arm: One of its arms; by default the last.
        seed: One of its seeds; by default the first.
        output: The film, .gif or .mp4; by default in RUN/figures. A contact sheet is put beside it.
        strategies: Show at most this many ways, the most frequent first.
        episodes: Episodes that are sampled to find them.
        frames_per_second: Of the film.
    """

    run_dir: Positional[Path]
    arm: str | None = None
    seed: int | None = None
    output: Path | None = None
    strategies: int = 6
    episodes: int = 128
    frames_per_second: float = 8.0

    def run(self) -> None:
        """Write the film and print where it is."""
        from setrl.control.watch import watch

        film, sheet = watch(*astuple(self))
        print(f"film: {film}\nsheet: {sheet}")
