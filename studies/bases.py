"""`python -m studies bases`: what the base models of the recipes do before any training.

For each problem of a recipe's test split: how many samples use each strategy, and how many of those
are right.
"""

from __future__ import annotations

import json
from collections import Counter
from pathlib import Path
from typing import Any

from setrl.models.generators import problem_seed
from setrl.models.local import LocalModel
from setrl.samples.values import DEGENERATE, Label
from setrl.tasks import DomainTask
from setrl.train.lm.base_model import base_model
from setrl.train.lm.resolved import ResolvedConfig
from setrl.train.lm.run import EVALUATION_SEED
from setrl.train.runs.run import cache_folder

RECIPES = Path(__file__).parents[1] / "recipes"
DOMAINS = ("polynomial", "multiplication", "quadratic")
SAMPLES = 256


def measure(recipe: ResolvedConfig, samples: int = SAMPLES) -> list[dict[str, list[int]]]:
    """For each problem: strategy → [right samples, wrong samples]; "" where none can be read."""
    assert recipe.base is not None
    assert isinstance(recipe.task, DomainTask)
    config, domain = recipe.config, recipe.task.domain
    folder = base_model(recipe.base, cache_folder(None))
    model = LocalModel(folder, config.temperature, recipe.sample_tokens)
    counted = []
    problems = domain.problems("test", recipe.eval_problems("test"), EVALUATION_SEED)
    for place, problem in enumerate(problems):
        texts = model.texts(problem.prompt, samples, problem_seed(EVALUATION_SEED, place))
        readings = [domain.read(problem.prompt, text) for text in texts]
        read = [(_name(reading.strategy), reading.correct) for reading in readings]
        found = Counter(read)
        names = sorted({name for name, _ in found})
        counted.append({name: [found[name, True], found[name, False]] for name in names})
    return counted


def _name(strategy: Label) -> str:
    return "" if strategy == DEGENERATE else str(strategy)


def write(path: Path, counted: list[dict[str, list[int]]], samples: int) -> Path:
    """Write one line for each problem."""
    lines = ",\n".join(f"  {json.dumps(problem, ensure_ascii=False)}" for problem in counted)
    path.parent.mkdir(parents=True, exist_ok=True)
    head = f'{{"schema_version": 1, "samples": {samples}, "problems": [\n'
    path.write_text(f"{head}{lines}\n]}}\n", encoding="utf-8")
    return path


def read(path: Path) -> dict[str, Any]:
    """Read a file that `write` wrote."""
    found: dict[str, Any] = json.loads(path.read_text(encoding="utf-8"))
    return found


def run(out_dir: Path | str) -> Path:
    """Make or load the base model of each recipe, and write bases/<domain>.json.

    Returns:
        Their folder.
    """
    folder = Path(out_dir) / "bases"
    for name in DOMAINS:
        recipe = ResolvedConfig.load(RECIPES / name / "config.yaml")
        write(folder / f"{name}.json", measure(recipe), SAMPLES)
    return folder
