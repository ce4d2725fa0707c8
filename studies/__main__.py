"""`python -m studies bandits FOLDER`: run a study, and write its figures and numbers."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, Literal

import tyro

from studies import bandits, biased_maze, dynamics, rollout_trees

STUDIES = {
    "bandits": lambda folder: bandits.run(bandits.BanditsConfig(), folder),
    "biased_maze": lambda folder: biased_maze.run(biased_maze.BiasedMazeConfig(), folder),
    "dynamics": dynamics.run,
    "rollout_trees": lambda folder: rollout_trees.run(rollout_trees.RolloutTreesConfig(), folder),
}


def main(
    study: Annotated[
        Literal["bandits", "biased_maze", "dynamics", "rollout_trees"], tyro.conf.Positional
    ],
    folder: Annotated[Path, tyro.conf.Positional],
) -> None:
    """Run a study on exactly known policies; each takes two minutes or less.

    Args:
        study: bandits, biased_maze, dynamics or rollout_trees.
        folder: Where its figures and numbers are written; the folder is made if missing.
    """
    print(STUDIES[study](folder))


if __name__ == "__main__":
    tyro.cli(main, prog="python -m studies")
