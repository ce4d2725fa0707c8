"""The same problem in other logs: of other arms, seeds and runs, and at other steps."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from itertools import islice
from typing import Any

import numpy as np

from setrl.evaluate.looks import label
from setrl.samples.types import Group
from setrl.show.lab.view.catalogue import CatalogueEntry, Found
from setrl.show.lab.view.index import LogIndex
from setrl.support.files.run_folder import BASE

MOST = 200  # places that one page lists
LOGS_READ = 24  # for one problem; the others are not looked into
SEPARATOR = "|"


@dataclass(frozen=True)
class Other:
    """The samples of one arm and seed of a run.

    Attributes:
        run: Its id.
        name: The name of the run.
        split: The split; "" is training.
    """

    run: str
    name: str
    split: str
    arm: str
    seed: int
    index: LogIndex

    @property
    def key(self) -> str:
        """What clients call it."""
        return SEPARATOR.join((self.run, self.split, self.arm, str(self.seed)))


def other_of(found: Found, key: str) -> Other:
    """Return what a client names.

    Raises:
        LookupError: If there is no such log.
    """
    run, split, *arm, seed = key.split(SEPARATOR)
    others = _of_entry(found.entries[run], split)
    named = SEPARATOR.join(arm)
    for one in others:
        if (one.arm, str(one.seed)) == (named, seed):
            return one
    raise LookupError(key)


def base_of(entry: CatalogueEntry, split: str, arm: str) -> Other | None:
    """Return the base of a run, which trained arms are compared with, or None."""
    found = (one for one in _of_entry(entry, split) if one.arm == BASE)
    return None if arm == BASE else next(found, None)


def _of_entry(entry: CatalogueEntry, split: str) -> Iterator[Other]:
    for (arm, seed), index in entry.indexes(split).items():
        yield Other(entry.id, entry.name, split, arm, seed, index)


def same_problem(
    found: Found,
    split: str,
    group: Group,
    here: tuple[LogIndex, int, int],
    patience: float | None = None,
) -> dict[str, Any]:
    """Return where a problem was sampled, too.

    Args:
        found: Everything in the folder.
        split: The split of the group; "" is training.
        group: The group.
        here: Its log, step and place, which are left out.
        patience: Seconds to wait for the index of each log; None waits until it is finished.

    Returns:
        The places, the same run first; and how many logs are still being read.
    """
    places: list[dict[str, Any]] = []
    unread = 0
    for other in islice(_near_first(found, split, here[0]), LOGS_READ):
        index, progress = other.index.of_all(patience)
        unread += progress is not None
        places += [
            _place(other, row)
            for row in _of_problem(index.rows, split, group)
            if (other.index, int(row["step"]), int(row["place"])) != here
        ]
    return {"places": places[:MOST], "left_out": max(0, len(places) - MOST), "unread": unread}


def _near_first(found: Found, split: str, here: LogIndex) -> Iterator[Other]:
    """Yield the logs of a split, first the logs of the run that an index belongs to."""
    every = [list(_of_entry(entry, split)) for entry in found.entries.values()]
    for others in sorted(every, key=lambda others: here not in [one.index for one in others]):
        yield from others


def _of_problem(rows: np.ndarray, split: str, group: Group) -> np.ndarray:
    """Return the rows of a problem: by its id or else its prompt; ids of training name the step."""
    same = rows["id"] == hash(group.id)
    if split == "" or not same.any():
        same = rows["asked"] == hash(group.prompt)
    return rows[np.flatnonzero(same)]


def _place(other: Other, row: np.void) -> dict[str, Any]:
    numbers = {name: row[name].item() for name in ("step", "place", "samples", "graded", "correct",
                                                   "strategies")}  # fmt: skip
    about = {"run": other.run, "name": other.name, "arm": other.arm, "label": label(other.arm),
             "seed": other.seed}  # fmt: skip
    return {**about, **numbers, "by_step": other.index.log.by_step}
