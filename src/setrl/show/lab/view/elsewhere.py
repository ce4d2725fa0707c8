"""The same problem in other logs: of other arms, seeds and runs, and at other steps."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from itertools import islice
from typing import Any

import numpy as np

from setrl.evaluate.looks import label
from setrl.logs.run import BASE
from setrl.samples.types import Group
from setrl.show.lab.view.catalogue import Entry, Found
from setrl.show.lab.view.index import LogIndex

MOST = 200  # places that one page lists
LOGS_READ = 24  # for one problem; the others are not looked into
SEPARATOR = "|"


@dataclass(frozen=True)
class Other:
    """The samples of one arm and seed of a run; the split of training is ""."""

    entry: Entry
    split: str
    arm: str
    seed: int
    index: LogIndex

    @property
    def key(self) -> str:
        """What clients call it."""
        return SEPARATOR.join((self.entry.id, self.split, self.arm, str(self.seed)))


def other_of(contents: Found, key: str) -> Other:
    """Return what a client names.

    Raises:
        LookupError: If there is no such log.
    """
    entry = contents.entries[key.partition(SEPARATOR)[0]]
    return {other.key: other for split in entry.splits for other in _others_of_entry(entry, split)}[
        key
    ]


def base_of(entry: Entry, split: str, arm: str) -> Other | None:
    """Return the base of a run, which trained arms are compared with, or None."""
    index = entry.logs.get((split, BASE, 0))
    return None if arm == BASE or index is None else Other(entry, split, BASE, 0, index)


def _others_of_entry(entry: Entry, split: str) -> list[Other]:
    logs = entry.of_split(split).items()
    return [Other(entry, split, arm, seed, index) for (arm, seed), index in logs]


def same_problem(
    contents: Found,
    split: str,
    group: Group,
    here: tuple[LogIndex, int, int],
    patience: float | None = None,
) -> dict[str, Any]:
    """Return where a problem was sampled, too.

    Args:
        contents: Everything in the folder.
        split: The split of the group; "" is training.
        group: The group.
        here: Its log, step and place, which are left out.
        patience: Seconds to wait for the index of each log; None waits until it is finished.

    Returns:
        The places, the same run first; and how many logs are still being read.
    """
    places: list[dict[str, Any]] = []
    unread = 0
    for other in islice(_logs_near_first(contents, split, here[0]), LOGS_READ):
        index, progress = other.index.of_all(patience)
        unread += progress is not None
        places += [
            _place_of_row(other, row)
            for row in _rows_of_problem(index.rows, split, group)
            if (other.index, int(row["step"]), int(row["place"])) != here
        ]
    return {"places": places[:MOST], "left_out": max(0, len(places) - MOST), "unread": unread}


def _logs_near_first(contents: Found, split: str, here: LogIndex) -> Iterator[Other]:
    """Yield the logs of a split, first the logs of the run that an index belongs to."""
    entries = sorted(contents.entries.values(), key=lambda entry: here not in entry.logs.values())
    for entry in entries:
        yield from _others_of_entry(entry, split)


def _rows_of_problem(rows: np.ndarray, split: str, group: Group) -> np.ndarray:
    """Return the rows of a problem: by its id or else its prompt; ids of training name the step."""
    same = rows["id"] == hash(group.id)
    if split == "" or not same.any():
        same = rows["asked"] == hash(group.prompt)
    return rows[np.flatnonzero(same)]


def _place_of_row(other: Other, row: np.void) -> dict[str, Any]:
    numbers = {name: row[name].item() for name in ("step", "place", "samples", "graded", "correct",
                                                   "strategies")}  # fmt: skip
    entry = other.entry
    about = {"run": entry.id, "name": entry.run.name, "arm": other.arm, "label": label(other.arm),
             "seed": other.seed}  # fmt: skip
    return {**about, **numbers, "by_step": other.index.log.by_step}
