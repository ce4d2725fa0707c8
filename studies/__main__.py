"""`python -m studies bandits FOLDER`: run a study, and write its numbers."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Annotated

import tyro

from setrl.support.names import look_up
from studies import (
    bandits,
    bases,
    biased_maze,
    coverage_law,
    grader_attack,
    least_variance,
    rare_strategies,
    refinement,
    rollout_trees,
    small_groups,
)

STUDIES: dict[str, Callable[[Path], Path | str]] = {
    "bandits": lambda folder: bandits.run(bandits.BanditsConfig(), folder),
    "bases": bases.run,
    "biased_maze": lambda folder: biased_maze.run(biased_maze.BiasedMazeConfig(), folder),
    "coverage_law": lambda folder: coverage_law.run(coverage_law.CoverageLawConfig(), folder),
    "grader_attack": grader_attack.run,
    "least_variance": least_variance.run,
    "rare_strategies": lambda folder: rare_strategies.run(rare_strategies.RareConfig(), folder),
    "refinement": lambda folder: refinement.run(refinement.RefinementConfig(), folder),
    "rollout_trees": lambda folder: rollout_trees.run(rollout_trees.RolloutTreesConfig(), folder),
    "small_groups": small_groups.run,
}


def main(
    study: Annotated[str, tyro.conf.Positional], folder: Annotated[Path, tyro.conf.Positional]
) -> None:
    """Run a study. Each takes three minutes or less; `bases` must first make the base models.

    Args:
        study: bandits, bases, biased_maze, coverage_law, grader_attack, least_variance,
            rare_strategies, refinement, rollout_trees or small_groups.
        folder: The folder for its numbers, which is made if it is missing.
    """
    print(look_up("study", study, STUDIES)(folder))


if __name__ == "__main__":
    try:
        tyro.cli(main)
    except ValueError as error:
        raise SystemExit(f"studies: {error}") from None
