"""`setrl experiments`."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, Literal

import tyro


def experiments(
    study: Annotated[Literal["bandits", "biased_maze", "rollout_trees"], tyro.conf.Positional],
    output: Path = Path("docs/results"),
) -> None:
    """Run a study on exactly known policies, and write its figures and numbers.

    Args:
        study: bandits, biased_maze or rollout_trees; two minutes or less each.
        output: The folder for them.
    """
    from setrl.experiments import bandits, biased_maze, rollout_trees

    if study == "bandits":
        print(bandits.run(bandits.BanditsConfig(), output))
    elif study == "biased_maze":
        print(biased_maze.run(biased_maze.BiasedMazeConfig(), output))
    else:
        print(rollout_trees.run(rollout_trees.RolloutTreesConfig(), output))
