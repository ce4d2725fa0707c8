"""A reader's stars, labels and notes on samples, in a file next to the log.

The file has one JSON object for each sample that is marked. The log itself is never changed.
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from pathlib import Path
from threading import Lock
from typing import Any

from setrl.samples.types import Group
from setrl.support import files
from setrl.support.errors import ConfigError, DataError
from setrl.support.files import json_lines

NAME = "notes.jsonl"
PLACE = ("split", "arm", "seed", "step", "problem", "sample")
OWN = {"star": bool, "strategy": str, "note": str}
LONGEST = 10_000  # letters of a note


class Marks:
    """The marks on the samples of one run or log.

    Args:
        path: The file that holds them; it is written with the first mark.
    """

    def __init__(self, path: Path) -> None:
        self.path = path
        self._lock = Lock()

    @classmethod
    def beside(cls, log: Path) -> Marks:
        """Return the marks of a log: in the folder of a run, or next to a file."""
        return cls(log / NAME if log.is_dir() else log.with_name(f"{log.name}.{NAME}"))

    def of_group(self, place: Mapping[str, Any], group: Group) -> dict[int, dict[str, Any]]:
        """Return sample → what it is marked with.

        Args:
            place: The split, arm, seed and step of the group.
            group: The group.
        """
        wanted = {**place, "problem": group.id}
        found = (one for one in self._all() if all(one.get(k) == v for k, v in wanted.items()))
        return {one["sample"]: {key: one[key] for key in OWN if key in one} for one in found}

    def mark(self, place: Mapping[str, Any], group: Group, sample: int, own: Any) -> None:
        """Write what a sample is marked with; nothing takes its marks away.

        Args:
            place: The split, arm, seed and step of the group.
            group: The group.
            sample: The number of the sample.
            own: star (true or false), strategy (a label of one's own), note; in any number.

        Raises:
            ConfigError: If a mark is not one of these.
            DataError: If the file cannot be written.
        """
        known = _checked(own)
        one = group.samples[sample]
        about = {**place, "problem": group.id, "sample": sample}
        record = {"schema_version": 1, **about, **known, "id": f"{place['step']}/{group.id}",
                  "prompt": group.prompt, "text": one.text, "correct": one.correct}  # fmt: skip
        with self._lock:
            kept = [r for r in self._all() if any(r.get(key) != about[key] for key in PLACE)]
            lines = [json.dumps(r) + "\n" for r in (*kept, *([record] if known else []))]
            try:
                files.write_text(self.path, "".join(lines))
            except OSError as error:
                raise DataError(f"{self.path}: the mark is not saved: {error.strerror}") from None

    def labels(self) -> str:
        """Return the labelled samples as JSON Lines, which `setrl judge-audit` reads."""
        keys = ("id", "prompt", "text", "strategy", "correct", "note")
        return "".join(
            json.dumps({key: one[key] for key in keys if one.get(key) is not None}) + "\n"
            for one in self._all() if one.get("strategy")
        )  # fmt: skip

    def _all(self) -> Iterator[dict[str, Any]]:
        if self.path.is_file():
            for _, _, record in json_lines.read(self.path, "leave_out"):
                yield record


def _checked(own: Any) -> dict[str, Any]:
    """Return the marks that say something."""
    if not isinstance(own, dict) or not own.keys() <= OWN.keys():
        raise ConfigError(f"a mark is an object with {', '.join(OWN)}, got {str(own)[:80]}")
    for key, value in own.items():
        if not isinstance(value, OWN[key]):
            kind = "true or false" if OWN[key] is bool else "text"
            raise ConfigError(f"{key} must be {kind}, got {str(value)[:40]!r}")
    if any(len(str(value)) > LONGEST for value in own.values()):
        raise ConfigError(f"a note has at most {LONGEST:,} letters")
    return {key: value for key, value in own.items() if value}
