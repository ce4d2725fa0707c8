"""One side of a comparison: a path → its evaluations, one for each training seed.

A side is an evaluation file, a log, the folder of a model (with evaluation/<split>.jsonl in it), or
the folder of an arm (with seed_*/evaluation/<split>.jsonl), whose seeds are averaged.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from pathlib import Path

from setrl.errors import ConfigError, DataError
from setrl.evaluation.loading import load_evaluation, load_samples
from setrl.evaluation.samples import Evaluation
from setrl.files.run_folder import evaluation_files, seed_folders
from setrl.groups.importers.tools import tool_of
from setrl.groups.options import LogOptions


@dataclass(frozen=True)
class Side:
    """The evaluations of one side of a comparison.

    Attributes:
        name: Its path.
        split: Which evaluation file was read.
        evaluations: One for each training seed.
        reading: How the fields of a log were read, and what was noticed.
    """

    name: str
    split: str
    evaluations: tuple[Evaluation, ...]
    reading: tuple[str, ...] = ()

    @property
    def n(self) -> int:
        """Samples that every problem has of each seed."""
        return min(evaluation.n for evaluation in self.evaluations)

    @property
    def most(self) -> int:
        """Samples of the problem with the most."""
        return max(evaluation.most for evaluation in self.evaluations)

    def holding(self, evaluations: Sequence[Evaluation]) -> Side:
        """Return the same side with other evaluations."""
        return replace(self, evaluations=tuple(evaluations))


def load_side(
    path: str | Path,
    split: str = "test",
    allow_damaged: bool = False,
    log: LogOptions | None = None,
) -> Side:
    """Read one side of a comparison.

    Args:
        path: An evaluation file, a log, a model's folder or an arm's folder.
        split: Which evaluation file of a folder.
        allow_damaged: See `setrl.evaluation.load_evaluation`.
        log: How a log is read.

    Raises:
        ConfigError: When the path holds no evaluation of this split.
        DataError: When a file is not an evaluation, or seeds do not match.
    """
    path = Path(path)
    if is_samples(path):
        options = replace(log or LogOptions(), allow_damaged=allow_damaged)
        loaded = load_samples(path, options, keep_bare=True)
        return Side(str(path), path.stem, (loaded.evaluation,), loaded.reading)
    found = [files[split] for files in _files(path) if split in files]
    if not found:
        raise ConfigError(_no_evaluation(path, split))
    evaluations = tuple(load_evaluation(file, allow_damaged) for file in found)
    sizes = sorted({evaluation.n for evaluation in evaluations})
    if len(sizes) > 1:
        raise DataError(f"{path}: all seeds must have the same n on {split}, got {sizes}")
    return Side(str(path), split, evaluations)


def common_split(first: Path, second: Path) -> str:
    """Choose the split to compare: a given file, "test", or the only split that both paths have."""
    for path in (first, second):
        if is_samples(path):
            return path.stem
    of_first, of_second = ({s for files in _files(p) for s in files} for p in (first, second))
    for path, splits in ((first, of_first), (second, of_second)):
        if not splits:
            raise ConfigError(_no_evaluation(path, "test"))
    both = of_first & of_second
    if "test" in both or len(both) == 1:
        return "test" if "test" in both else both.pop()
    raise ConfigError(f"{first} has evaluations of {', '.join(sorted(of_first))}, {second} of "
                      f"{', '.join(sorted(of_second))}: choose one with --split")  # fmt: skip


def is_samples(path: Path) -> bool:
    """Return whether a path holds samples, and is not the folder of a run, an arm or a model."""
    return path.is_file() or tool_of(path) is not None


def _files(path: Path) -> list[dict[str, Path]]:
    """Split → evaluation file, of a model's folder, or of each seed of an arm's folder."""
    seeds = seed_folders(path)
    return [evaluation_files(folder) for folder in (seeds.values() if seeds else [path])]


def _no_evaluation(path: Path, split: str) -> str:
    if not path.exists():
        return f"{path}: no such file or folder"
    known = sorted({name for files in _files(path) for name in files})
    if known:
        return f"{path} holds no evaluation of {split!r}, only of {', '.join(known)}"
    return f"{path} is neither an evaluation file nor a folder with evaluation/{split}.jsonl or " \
           f"seed_*/evaluation/{split}.jsonl in it"  # fmt: skip
