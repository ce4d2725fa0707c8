"""`python -m studies bandits FOLDER`: run a study, and write its figures and numbers."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, Literal

import tyro

from studies import (
    bandits,
    bases,
    biased_maze,
    dynamics,
    predictions,
    recommendations,
    rollout_trees,
    theory_figures,
)

STUDIES = {
    "bandits": lambda folder: bandits.run(bandits.BanditsConfig(), folder),
    "bases": bases.run,
    "biased_maze": lambda folder: biased_maze.run(biased_maze.BiasedMazeConfig(), folder),
    "dynamics": dynamics.run,
    "predictions": predictions.run,
    "recommendations": recommendations.run,
    "rollout_trees": lambda folder: rollout_trees.run(rollout_trees.RolloutTreesConfig(), folder),
    "theory_figures": theory_figures.run,
}


def main(
    study: Annotated[
        Literal[
            "bandits",
            "bases",
            "biased_maze",
            "dynamics",
            "predictions",
            "recommendations",
            "rollout_trees",
            "theory_figures",
        ],
        tyro.conf.Positional,
    ],
    folder: Annotated[Path, tyro.conf.Positional],
) -> None:
    """Run a study. Each takes two minutes or less; `bases` must first make the base models.

    Args:
        study: Its name.
        folder: Where its figures and numbers are written; the folder is made if missing.
    """
    print(STUDIES[study](folder))


if __name__ == "__main__":
    tyro.cli(main, prog="python -m studies")
