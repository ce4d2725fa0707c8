"""Samples on disk: JSON Lines that may be cut at any byte and then continued.

    {"schema_version": 1, "settings": {"task": "aime_2024", "model": "…", "n": 64, "seed": 0, …}}
    {"id": "aime_2024/60/3", "problem": 0, "sample": 3, "text": "…", "finish": "stop"}

The first line says what the samples were drawn with; each further line is one sample, in order of
arrival. A sample's id, the problem's id and its number, stays the same however often a call was
interrupted.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Any

from setrl.models.generators import Completion
from setrl.support import files
from setrl.support.errors import DataError
from setrl.support.files import json_lines
from setrl.support.files.locks import locked

SCHEMA_VERSION = 1
WEIGHTS = "weights"  # the fingerprint of the model; files up to version 0.11 lack it


def path_of_samples(evaluation: Path) -> Path:
    """Return where the samples of an evaluation file are."""
    return evaluation.parent / "samples" / evaluation.name


@contextmanager
def locked_samples(path: Path) -> Iterator[None]:
    """Hold a file of samples for only this process: two would draw each sample twice.

    Raises:
        OSError: When the file cannot be written, which is known before samples are.
        RunError: When another process holds it.
    """
    path.parent.mkdir(parents=True, exist_ok=True)
    with locked(path.resolve(), "draws samples into it: wait for it, or give another output"):
        yield


class SampleFile:
    """The samples of one task that have been drawn so far.

    Only the place of each sample in the file is kept in memory.

    Args:
        path: The file, in a folder that is there; made at the first sample.
        problem_ids: The ids of the task's problems.
        settings: What the samples are drawn with; a file of other settings is refused.

    Raises:
        ConfigError: When the file was made with other settings.
        DataError: When a whole line is not a sample.
    """

    def __init__(self, path: Path, problem_ids: Sequence[str], settings: dict[str, Any]) -> None:
        self.path = path
        self._ids = tuple(problem_ids)
        self._settings = settings
        self._offsets: dict[int, dict[int, int]] = {}
        self.is_of_unknown_model = False
        if path.exists():
            self._index_samples()

    @property
    def count(self) -> int:
        """Samples in the file."""
        return sum(map(len, self._offsets.values()))

    def missing(self, problem: int, n: int) -> tuple[int, ...]:
        """Return the numbers of the missing samples of a problem."""
        offsets = self._offsets.get(problem, {})
        return tuple(number for number in range(n) if number not in offsets)

    def append(self, sample: Completion) -> None:
        """Add a sample, unless the file has it already."""
        offsets = self._offsets.setdefault(sample.problem, {})
        if sample.number in offsets:
            return
        if not self.path.exists() or not self.path.stat().st_size:
            files.append_line(self.path, self._header)
        offset = self.path.stat().st_size
        record = {
            "id": f"{self._ids[sample.problem]}/{sample.number}",
            "problem": sample.problem,
            "sample": sample.number,
            "text": sample.text,
            "finish": sample.finish,
        }
        files.append_line(self.path, record)
        offsets[sample.number] = offset

    def samples(self, problem: int) -> list[Completion]:
        """Return the samples of one problem, by number."""
        offsets = sorted(self._offsets.get(problem, {}).items())
        if not offsets:
            return []
        with self.path.open("rb") as file:
            samples = [_read_sample(file, offset) for _, offset in offsets]
        places = [(problem, number) for number, _ in offsets]
        if [(sample.problem, sample.number) for sample in samples] != places:
            raise DataError(
                f"{self.path} was changed while it was read: run the same command again"
            )
        return samples

    def _index_samples(self) -> None:
        self._check_first_line()  # before a torn line is cut off: the file may be of somebody
        for number, offset, record in json_lines.read(self.path, torn="cut"):
            if number == 1:
                continue
            try:
                problem, sample = int(record["problem"]), int(record["sample"])
                known_id = f"{self._ids[problem]}/{sample}"
            except (KeyError, TypeError, ValueError, IndexError):
                raise DataError(f"{self.path}:{number}: is not a sample of this task") from None
            if record.get("id") != known_id:
                raise DataError(f"{self.path}:{number}: is sample {record.get('id')}, "
                                f"not {known_id} of this task")  # fmt: skip
            self._offsets.setdefault(problem, {}).setdefault(sample, offset)

    @property
    def _header(self) -> dict[str, Any]:
        return {"schema_version": SCHEMA_VERSION, "settings": self._settings}

    def _check_first_line(self) -> None:
        """Refuse a file that does not begin as this one, or as the part of it that a kill left."""
        with self.path.open("rb") as file:
            first = file.readline()
        is_whole = first.endswith(b"\n")
        if not is_whole and files.json_text(self._header).encode().startswith(first):
            return
        header: dict[str, Any] = {}
        with suppress(ValueError):
            header = json_lines.parse(first) if is_whole else {}
        self._check_settings(header)

    def _check_settings(self, header: dict[str, Any]) -> None:
        settings = header.get("settings")
        if not isinstance(settings, dict):
            raise DataError(f"{self.path}:1: is not the first line of a file of samples")
        expected = self._settings
        if None in (expected.get(WEIGHTS), settings.get(WEIGHTS)):  # it is not known to be another
            self.is_of_unknown_model = expected.get(WEIGHTS) is not None
            expected = {**expected, WEIGHTS: settings.get(WEIGHTS)}
        repair = "give another path or remove the file"
        files.refuse_other_settings(self.path, settings, expected, repair)


def _read_sample(file: Any, offset: int) -> Completion:
    file.seek(offset)
    record = json_lines.parse(file.readline())
    return Completion(record["problem"], record["sample"], record["text"], record["finish"])
