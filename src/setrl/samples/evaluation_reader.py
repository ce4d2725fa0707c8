"""An evaluation file → its groups."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Collection, Mapping, Sequence
from pathlib import Path
from typing import Any

from setrl.samples.records import GRADED, checked, problem_of
from setrl.samples.settings import NAMES, count_settings
from setrl.samples.strategies import DEGENERATE, strategy_of
from setrl.samples.types import Group, Sample
from setrl.samples.values import Label, read_answer
from setrl.support.errors import DataError
from setrl.support.wording import plural

UNGRADED = ("ungraded", "ungraded_are", "as_wrong")  # keys of samples without a grade


class EvaluationReader:
    """Reads the groups of an evaluation file.

    Args:
        path: The file.
        where: The file and line of a row, by its number.
        needs: What the command cannot do without.
    """

    def __init__(self, path: Path, where: Callable[[int], str], needs: Collection[str]):
        self._path, self._where, self._needs = path, where, needs
        self._has_strategies = False
        self._keys: set[str] | None = None
        self.settings: dict[str, Counter[str]] = {}

    @property
    def list_path(self) -> str | None:
        """None: the row is the object."""
        return None

    @property
    def columns(self) -> frozenset[str]:
        """What samples have."""
        keys = self._keys or set()
        has = {"proxy": "proxy" in keys, "reward": "rewards" in keys,
               "strategy": self._has_strategies}  # fmt: skip
        return frozenset({"answer"} | {name for name, is_there in has.items() if is_there})

    @property
    def lacks(self) -> Mapping[str, str]:
        """What the file does not hold → what the user can do."""
        if self._has_strategies:
            return {}
        return {"strategy": "this evaluation file has no strategies: `setrl judge` adds them"}

    def items(self, record: dict[str, Any]) -> list[dict[str, Any]]:
        """Return the record itself: a row is a problem."""
        return [record]

    def name(self, item: dict[str, Any], row: int) -> str:
        """Return what names the problem: the id, or the prompt if there is no id."""
        return problem_of(checked(item, self._where(row)))

    def check(self, item: dict[str, Any]) -> None:
        """Look at the keys that all lines or none must have, and for strategies.

        Raises:
            ValueError: If only some lines have rewards or a selector's scores.
        """
        keys = item.keys() & set(GRADED)
        self._keys = keys if self._keys is None else self._keys
        if keys != self._keys:
            some = min(keys ^ self._keys)
            raise ValueError(f"only some lines have {some!r}: all or none must")
        named = (key for key in NAMES if not (key == "split" and "source" in item))
        count_settings(self.settings, ((key, item[key]) for key in named if key in item))
        if not self._has_strategies:
            self._has_strategies = any(one not in (None, DEGENERATE) for one in strategies_of(item))

    def size(self, item: dict[str, Any]) -> int | None:
        """Return how many samples a problem has."""
        return int(item["n"])

    def group(self, items: Sequence[tuple[int, dict[str, Any]]]) -> Group:
        """Return the samples of a problem.

        Raises:
            DataError: If texts are needed, and the file has not kept all of them.
        """
        row, record = items[0]
        texts = [text for text in record.get("texts") or () if isinstance(text, str)]
        if "text" in self._needs and len(texts) < record["n"]:
            raise DataError(
                f"{self._where(row)}: holds the texts of {len(texts)} of its {record['n']} samples:"
                " give the log that it was made from"
            )
        strategies = strategies_of(record) if self._has_strategies else [None] * record["n"]
        rewards, proxies = record.get("rewards") or record["correct"], record.get("proxy")
        samples = tuple(
            Sample(
                texts[i] if i < len(texts) else "",
                bool(record["correct"][i]),
                None if rewards[i] is None else float(rewards[i]),
                strategies[i],
                read_answer(record["answers"][i]),
                more={"proxy": proxies[i]} if proxies else None,
            )
            for i in range(record["n"])
        )
        return Group(
            problem_of(record),
            record["prompt"],
            samples,
            record.get("gold"),
            record.get("step"),
            (row,),
            more={"texts": tuple(texts)} | {k: record[k] for k in UNGRADED if k in record},
        )

    def notes(self) -> list[str]:
        """Return nothing: the file says all that it holds."""
        return []


def strategies_of(record: Mapping[str, Any]) -> list[Label]:
    """Return the strategies of a record: the labels that `setrl judge` added, else its own."""
    judged = record.get("judged")
    key = next(iter(judged), None) if isinstance(judged, dict) else None
    own = record["strategies"]
    return [strategy_of(one) for one in (own if key is None else record.get(plural(key), own))]
