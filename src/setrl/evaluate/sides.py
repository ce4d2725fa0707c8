"""A path → its evaluations, one for each training seed; one side of a comparison.

The path is an evaluation file, a log, the folder of a model (with evaluation/<split>.jsonl in it),
or the folder of an arm (with seed_*/evaluation/<split>.jsonl), whose seeds are averaged.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from pathlib import Path

from setrl.evaluate.loading import load_evaluation, load_samples
from setrl.evaluate.samples import Evaluation
from setrl.logs.importers.tools import tool_of
from setrl.logs.options import LogOptions
from setrl.logs.run import Arm, Run
from setrl.support.errors import ConfigError, DataError
from setrl.support.wording import first_of


@dataclass(frozen=True)
class Side:
    """The evaluations of a path, such as one side of a comparison.

    Attributes:
        name: Its path.
        split: Which evaluation file was read.
        evaluations: One for each training seed.
        reading: How the fields of a log were read, and what was noticed.
        seeds: The training seed of each evaluation; 0 outside the folder of an arm.
        is_log: Whether it is a log, and neither an evaluation file nor a folder of them.
    """

    name: str
    split: str
    evaluations: tuple[Evaluation, ...]
    reading: tuple[str, ...] = ()
    seeds: tuple[int, ...] = (0,)
    is_log: bool = False

    @property
    def n(self) -> int:
        """Samples that every problem has of each seed."""
        return min(evaluation.n for evaluation in self.evaluations)

    @property
    def most(self) -> int:
        """Samples of the problem with the most."""
        return max(evaluation.most for evaluation in self.evaluations)


def load_side(
    path: str | Path,
    split: str = "test",
    allow_damaged: bool = False,
    log: LogOptions | None = None,
) -> Side:
    """Read the evaluations of a path.

    Args:
        path: An evaluation file, a log, a model's folder or an arm's folder.
        split: Which evaluation file of a folder.
        allow_damaged: See `setrl.evaluate.load_evaluation`.
        log: How a log is read.

    Raises:
        ConfigError: When the path holds evaluations, and none of this split.
        DataError: When the path holds no samples, a file is not an evaluation, or the seeds do not
            match.
    """
    path = Path(path)
    if is_samples(path):
        options = replace(log or LogOptions(), allow_damaged=allow_damaged)
        loaded = load_samples(path, options, keep_bare=True)
        return Side(str(path), path.stem, (loaded,), loaded.reading, is_log=loaded.is_log)
    arm = Arm(path)
    files = {seed: model.evaluations.get(split) for seed, model in arm.seeds.items()}
    by_seed = {seed: load_evaluation(file, allow_damaged) for seed, file in files.items() if file}
    if not by_seed:
        raise _no_evaluation(arm, split)
    sizes = sorted({evaluation.n for evaluation in by_seed.values()})
    if len(sizes) > 1:
        raise DataError(f"{path}: all seeds must have the same n on {split}, got {sizes}")
    return Side(str(path), split, tuple(by_seed.values()), seeds=tuple(by_seed))


def common_split(*paths: Path) -> str:
    """Choose the split to read: a given file, "test", or the only split that all paths have."""
    for path in paths:
        if is_samples(path):
            return path.stem
    known = {path: _splits(Arm(path)) for path in paths}
    for path, splits in known.items():
        if not splits:
            raise _no_evaluation(Arm(path), "test")
    common = set.intersection(*known.values())
    if "test" in common or len(common) == 1:
        return "test" if "test" in common else common.pop()
    have = [f"{path} has evaluations of {', '.join(sorted(of))}" for path, of in known.items()]
    raise ConfigError(f"{'; '.join(have)}: choose one with --split")


def other_splits(split: str, *paths: Path) -> list[str]:
    """List the other splits on which all paths were evaluated; none of files of samples."""
    if any(is_samples(path) for path in paths):
        return []
    return sorted(set.intersection(*(_splits(Arm(path)) for path in paths)) - {split})


def is_samples(path: Path) -> bool:
    """Return whether a path holds samples, and is not the folder of a run, an arm or a model."""
    return (path.exists() and not path.is_dir()) or tool_of(path) is not None


def _splits(arm: Arm) -> set[str]:
    return {split for seed in arm.seeds.values() for split in seed.evaluations}


def _no_evaluation(arm: Arm, split: str) -> ConfigError | DataError:
    """Return the error for a path without samples, or without samples of this split."""
    path = arm.path
    if not path.exists():
        return DataError(f"{path}: no such file or folder; give samples, or a folder with them")
    if known := sorted(_splits(arm)):
        return ConfigError(f"{path} holds no evaluation of {split!r}, only of {', '.join(known)}")
    if arms := [name for name, other in Run(path).arms.items() if _splits(other)]:
        return DataError(f"{path} is a run with several arms: give one, {path / first_of(arms)}")
    return DataError(
        f"{path} is neither a file of samples, nor the folder of another tool's log, nor a folder "
        f"with evaluation/{split}.jsonl or seed_*/evaluation/{split}.jsonl in it"
    )
