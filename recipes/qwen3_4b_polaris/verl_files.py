"""The problems of trl.yaml as the files that verl reads: the same problems, prompts and splits.

    python recipes/qwen3_4b_polaris/verl_files.py FOLDER [KEY=VALUE …]

It writes FOLDER/train.parquet and FOLDER/test.parquet. KEY=VALUE changes a key of trl.yaml, such as
task.data=polaris_2000.jsonl.gz.
"""

from __future__ import annotations

import sys
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from datasets import Dataset

from setrl.support.errors import ConfigError
from setrl.tasks import FileTask, Problem
from setrl.train.lm.resolved import ResolvedConfig

RECIPE = Path(__file__).parent / "trl.yaml"


def row(problem: Problem) -> dict[str, Any]:
    """Return a problem in verl's columns."""
    return {
        "data_source": "polaris",
        "prompt": [{"role": "user", "content": problem.prompt}],
        "ability": "math",
        "reward_model": {"style": "rule", "ground_truth": str(problem.gold)},
        "extra_info": {"where": problem.where},
    }


def gradable(task: FileTask, split: str) -> list[Problem]:
    """Return the problems whose golds accept themselves; parsing all golds takes minutes."""
    found = task.usable(split)
    why = task.reward_set.gold_problems([problem.gold for problem in found])
    return [problem for problem, reason in zip(found, why, strict=True) if reason is None]


def write(folder: Path, overrides: Sequence[str] = ()) -> list[Path]:
    """Write a file a split, without the golds that cannot be graded: the reward refuses them."""
    task = ResolvedConfig.load(RECIPE, overrides).task
    assert isinstance(task, FileTask)
    found = {folder / f"{split}.parquet": gradable(task, split) for split in task.splits}
    if there := [path for path in found if path.exists()]:
        raise ConfigError(f"{there[0]} exists: give another folder, or remove it")
    folder.mkdir(parents=True, exist_ok=True)
    for path, problems in found.items():
        Dataset.from_list([row(problem) for problem in problems]).to_parquet(path)
    return list(found)


if __name__ == "__main__":
    if len(sys.argv) < 2:
        sys.exit(__doc__)
    for written in write(Path(sys.argv[1]), sys.argv[2:]):
        print(written)
