"""`python -m studies bandits`: run a study, and write its figures and numbers."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, Literal

import tyro

from studies import bandits, biased_maze, rollout_trees

STUDIES = {
    "bandits": lambda output: bandits.run(bandits.BanditsConfig(), output),
    "biased_maze": lambda output: biased_maze.run(biased_maze.BiasedMazeConfig(), output),
    "rollout_trees": lambda output: rollout_trees.run(rollout_trees.RolloutTreesConfig(), output),
}


def main(
    study: Annotated[Literal["bandits", "biased_maze", "rollout_trees"], tyro.conf.Positional],
    output: Annotated[Path, tyro.conf.Positional],
) -> None:
    """Run a study on exactly known policies; two minutes or less each.

    Args:
        study: bandits, biased_maze or rollout_trees.
        output: The folder for its figures and numbers, such as docs/results.
    """
    print(STUDIES[study](output))


if __name__ == "__main__":
    tyro.cli(main, prog="python -m studies")
