"""Two runs on the same problems: every metric side by side, paired differences, what can be seen.

A run is an evaluation file, the folder of a model (with evaluation/<split>.jsonl in it), or the
folder of an arm (with seed_*/evaluation/<split>.jsonl), whose seeds are averaged.
"""

from __future__ import annotations

import dataclasses
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from setrl.errors import ConfigError, DataError
from setrl.evaluation.estimators import Floats
from setrl.evaluation.intervals import (
    ROUNDING,
    Difference,
    Estimate,
    IntervalConfig,
    mean_over_problems,
    paired_difference,
)
from setrl.evaluation.power import detectable_difference
from setrl.evaluation.records import Evaluation, load_evaluation
from setrl.evaluation.runs import evaluation_files, seed_folders
from setrl.evaluation.summary import metric_values, plain_json
from setrl.names import look_up

SCHEMA_VERSION = 1
POWER, LEVEL = 0.8, 0.05
DEFAULT_METRICS = ("pass", "majority", "correct_strategies")


@dataclass(frozen=True)
class Run:
    """The evaluations of one side of a comparison.

    Attributes:
        name: What it is called: its path.
        split: Which evaluation file was read.
        evaluations: One for each training seed, all of the same problems in the same order.
    """

    name: str
    split: str
    evaluations: tuple[Evaluation, ...]

    @property
    def n(self) -> int:
        """Samples a problem."""
        return self.evaluations[0].n

    @property
    def prompts(self) -> tuple[str, ...]:
        """The problems."""
        return self.evaluations[0].prompts

    def on(self, prompts: Sequence[str]) -> Run:
        """The same on some of the problems, in this order."""
        place = {prompt: row for row, prompt in enumerate(self.prompts)}
        rows = [place[prompt] for prompt in prompts]
        return dataclasses.replace(
            self, evaluations=tuple(e.choose(rows) for e in self.evaluations)
        )


@dataclass(frozen=True)
class Row:
    """One metric at one k.

    Attributes:
        metric: "pass", "majority", ….
        k: Samples.
        first, second: The runs' values.
        difference: First minus second, paired over problems.
        detectable: The true difference that would be found in 4 of 5 such comparisons (80% power,
            5% level); NaN where all problems differ alike, so that nothing is known of the spread.
    """

    metric: str
    k: int
    first: Estimate
    second: Estimate
    difference: Difference
    detectable: float


@dataclass(frozen=True)
class Comparison:
    """Two runs, compared.

    Attributes:
        first, second: Their names.
        split: Which evaluation was compared.
        problems: Problems that both have.
        seeds, samples, temperatures: Of the first and the second.
        intervals: How intervals were made.
        rows: A row for each metric and k = 1, 2, 4, … up to the smaller n.
    """

    first: str
    second: str
    split: str
    problems: int
    seeds: tuple[int, int]
    samples: tuple[int, int]
    temperatures: tuple[float, float]
    intervals: IntervalConfig
    rows: tuple[Row, ...]

    def of(self, metric: str) -> list[Row]:
        """The rows of one metric, by k."""
        return [row for row in self.rows if row.metric == metric]

    def to_json(self) -> dict[str, Any]:
        """Plain objects, lists and numbers; undefined numbers (NaN) are null."""
        return {
            "schema_version": SCHEMA_VERSION,
            "power": POWER,
            "level": LEVEL,
            **plain_json(dataclasses.asdict(self)),
        }


def compare_paths(
    first: Path,
    second: Path,
    split: str | None = None,
    metrics: Sequence[str] = DEFAULT_METRICS,
    common: bool = False,
    intervals: IntervalConfig | None = None,
) -> Comparison:
    """Compare two runs by their paths.

    Args:
        first: An evaluation file, a model's folder or an arm's folder.
        second: The run that it is compared with.
        split: Name of the evaluation file in folders; by default "test" where both have it, or
            the only one that both have.
        metrics: Which metrics, as in the glossary, without "@k".
        common: Compare the problems that both have, where the problems are not the same.
        intervals: How intervals are made.

    Raises:
        ConfigError: When there is no such run, split or metric.
        DataError: When a file is not an evaluation, or the problems do not match.
    """
    chosen = split or _common_split(first, second)
    return compare(load_run(first, chosen), load_run(second, chosen), metrics, common, intervals)


def load_run(path: Path, split: str = "test") -> Run:
    """Read one side of a comparison.

    Raises:
        ConfigError: When the path holds no evaluation of this split.
        DataError: When a file is not an evaluation, holds a prompt twice, or seeds do not match.
    """
    if path.is_file():
        return Run(str(path), path.stem, (_read(path),))
    found = [files[split] for files in _files(path) if split in files]
    if not found:
        raise ConfigError(_no_evaluation(path, split))
    evaluations = [_read(file) for file in found]
    _check_seeds(path, split, evaluations)
    prompts = evaluations[0].prompts
    run = Run(str(path), split, tuple(evaluations))
    if all(evaluation.prompts == prompts for evaluation in evaluations):
        return run
    rows = [[e.prompts.index(prompt) for prompt in prompts] for e in evaluations]
    return dataclasses.replace(
        run, evaluations=tuple(e.choose(r) for e, r in zip(evaluations, rows, strict=True))
    )


def compare(
    first: Run,
    second: Run,
    metrics: Sequence[str] = DEFAULT_METRICS,
    common: bool = False,
    intervals: IntervalConfig | None = None,
) -> Comparison:
    """Compare two runs; problems are matched by their prompts.

    Raises:
        ConfigError: When a metric is unknown.
        DataError: When the runs have different problems and `common` is not set, or share none.
    """
    intervals = intervals or IntervalConfig()
    prompts = _matched(first, second, common)
    first, second = first.on(prompts), second.on(prompts)
    of_first, of_second = _values(first), _values(second)
    rows = [
        _row(name, of_first[name], of_second[name], intervals)
        for name in _chosen([name for name in of_first if name in of_second], metrics)
    ]
    return Comparison(
        first=first.name,
        second=second.name,
        split=first.split,
        problems=len(prompts),
        seeds=(len(first.evaluations), len(second.evaluations)),
        samples=(first.n, second.n),
        temperatures=(first.evaluations[0].temperature, second.evaluations[0].temperature),
        intervals=intervals,
        rows=tuple(rows),
    )


def _row(name: str, first_SP: Floats, second_SP: Floats, intervals: IntervalConfig) -> Row:
    metric, _, k = name.partition("@")
    difference = paired_difference(first_SP, second_SP, intervals)
    spread = difference.stderr if difference.stderr > ROUNDING else float("nan")
    return Row(
        metric=metric,
        k=int(k),
        first=mean_over_problems(first_SP, intervals),
        second=mean_over_problems(second_SP, intervals),
        difference=difference,
        detectable=detectable_difference(spread, POWER, LEVEL),
    )


def _values(run: Run) -> dict[str, Floats]:
    """Every metric at k of a run on each problem, one row a seed."""
    by_seed = [metric_values(evaluation) for evaluation in run.evaluations]
    return {name: np.stack([v[name] for v in by_seed]) for name in by_seed[0] if "@" in name}


def _chosen(names: Sequence[str], metrics: Sequence[str]) -> list[str]:
    """The names metric@k of the metrics that are asked for, in their order."""
    known: dict[str, list[str]] = {}
    for name in names:
        known.setdefault(name.partition("@")[0], []).append(name)
    try:
        return [name for metric in metrics for name in look_up("metric", metric, known)]
    except ValueError as error:
        raise ConfigError(f"{error} (those that both runs have)") from error


def _matched(first: Run, second: Run, common: bool) -> list[str]:
    """The prompts that both have, in the first one's order."""
    shared = [prompt for prompt in first.prompts if prompt in set(second.prompts)]
    alone = [
        [prompt for prompt in run.prompts if prompt not in set(shared)] for run in (first, second)
    ]
    if not shared:
        raise DataError(f"{first.name} and {second.name} share no problem: the first has "
                        f"{first.prompts[0]!r}, the second {second.prompts[0]!r}")  # fmt: skip
    if any(alone) and not common:
        parts = [
            f"{len(prompts)} of {run.name} are not in the other, such as {prompts[0]!r}"
            for run, prompts in zip((first, second), alone, strict=True)
            if prompts
        ]
        raise DataError(f"the runs have different problems: {'; '.join(parts)}. "
                        f"--common compares the {len(shared)} that both have")  # fmt: skip
    return shared


def _common_split(first: Path, second: Path) -> str:
    """The split to compare: of the file that is given, "test", or the only one of both."""
    for path in (first, second):
        if path.is_file():
            return path.stem
    of_first, of_second = ({s for files in _files(p) for s in files} for p in (first, second))
    for path, splits in ((first, of_first), (second, of_second)):
        if not splits:
            raise ConfigError(_no_evaluation(path, "test"))
    both = of_first & of_second
    if "test" in both or len(both) == 1:
        return "test" if "test" in both else both.pop()
    raise ConfigError(f"{first} has evaluations of {', '.join(sorted(of_first))}, {second} of "
                      f"{', '.join(sorted(of_second))}: choose one of both by --split")  # fmt: skip


def _files(path: Path) -> list[dict[str, Path]]:
    """Split → evaluation file, of a model's folder, or of each seed of an arm's folder."""
    seeds = seed_folders(path)
    return [evaluation_files(folder) for folder in (seeds.values() if seeds else [path])]


def _no_evaluation(path: Path, split: str) -> str:
    if not path.exists():
        return f"{path}: there is no such file or folder"
    known = sorted({name for files in _files(path) for name in files})
    if known:
        return f"{path} has no evaluation of {split!r}: it has {', '.join(known)}"
    return f"{path} is neither an evaluation file nor a folder with evaluation/{split}.jsonl or " \
           f"seed_*/evaluation/{split}.jsonl in it"  # fmt: skip


def _read(path: Path) -> Evaluation:
    evaluation = load_evaluation(path)
    prompt, times = Counter(evaluation.prompts).most_common(1)[0]
    if times > 1:
        raise DataError(f"{path}: problems are matched by their prompts, but {prompt!r} is there "
                        f"{times} times")  # fmt: skip
    return evaluation


def _check_seeds(path: Path, split: str, evaluations: Sequence[Evaluation]) -> None:
    sizes = sorted({evaluation.n for evaluation in evaluations})
    if len(sizes) > 1:
        raise DataError(f"{path}: all seeds must have the same n on {split}, got {sizes}")
    if len({frozenset(evaluation.prompts) for evaluation in evaluations}) > 1:
        raise DataError(f"{path}: the seeds were evaluated on different problems of {split}")
