"""The rows of a log as the user wrote them, with values of the samples added: the only writer."""

from __future__ import annotations

import json
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from contextlib import suppress
from pathlib import Path
from typing import Any, TypeGuard

from setrl.logs.log import Log, LogRow
from setrl.logs.paths import Record, value_at
from setrl.logs.recognition import SNIFFED
from setrl.support.errors import DataError
from setrl.support.files import json_lines, json_text
from setrl.support.wording import plural

CREDIT = "credit"  # the key of a row


def rows_with(
    log: Log,
    rows: Iterable[LogRow],
    columns: Mapping[str, Sequence[Any]],
    mark: str,
    about: Mapping[str, Any],
) -> Iterator[Record]:
    """Yield the rows of a group with values of its samples added.

    A value goes under its key where a sample has its own row or object, and in a list under the
    plural of the key where a row holds lists of its samples. Other fields and their order stay.

    Args:
        log: The log.
        rows: The rows of the group.
        columns: Key → a value for each sample.
        mark: The key for facts about the row itself; facts that the row has under this key stay.
        about: What is said there.
    """
    start, path, taken = 0, log.reader.list_path, _names_of(columns)
    for row, record, items in rows:
        if path is not None and len(items) < len(log.reader.items(record)):
            raise DataError(f"{log.rows.where(row)}: holds samples of several problems: write one "
                            "problem or one sample a row")  # fmt: skip
        objects = []
        for item in items:
            sample, size = _sample_object(item, path), log.reader.size(item)
            _refuse_taken_in_sample(log, sample, taken)
            objects.append(sample | _values_at(columns, start, size))
            start += 1 if size is None else size
        facts = record.get(mark)
        kept = facts if isinstance(facts, dict) else {}
        written = _row_with_objects(record, objects, path)
        written[mark] = {**kept, **about}
        yield written


def _values_at(
    columns: Mapping[str, Sequence[Any]], start: int, size: int | None
) -> dict[str, Any]:
    """Return the values of the sample of an object, or of as many as its lists hold."""
    if size is None:
        return {key: column[start] for key, column in columns.items()}
    return {plural(key): list(column[start : start + size]) for key, column in columns.items()}


def _names_of(keys: Iterable[str]) -> dict[str, str]:
    """Return the names that keys have in a row, also of lists → the key."""
    return {name: key for key in keys for name in (key, plural(key))}


def begins_as(path: Path, log: Log, apart: Collection[str]) -> Record | None:
    """Return the first row of a file if it is that of a log with something added; None if not.

    Args:
        path: The file.
        log: The log.
        apart: Keys that may differ, besides the list that holds the samples.
    """
    first = json_lines.first_record(path)
    row = json.loads(json_text(log.rows.record(log[0].rows[0])))
    apart = {*apart, (log.reader.list_path or "").partition(".")[0]}
    is_of_log = all(first.get(key, ...) == value for key, value in row.items() if key not in apart)
    return first if is_of_log and first else None


def refuse_taken(log: Log, keys: Collection[str]) -> None:
    """Refuse keys that the first rows of a log have already; later rows are checked when written.

    Raises:
        DataError: Naming the option that names another key.
    """
    for row in range(min(len(log.rows), SNIFFED)):
        for item in log.reader.items(log.rows.record(row)):
            sample = _sample_object(item, log.reader.list_path)
            _refuse_taken_in_sample(log, sample, _names_of(keys))


def _refuse_taken_in_sample(log: Log, sample: Record, key_of: Mapping[str, str]) -> None:
    for name, key in key_of.items():
        if name in sample and not _is_empty(sample[name]):
            raise DataError(f"{log.path} has {key!r} already: name another key with --into")


def _is_empty(value: Any) -> bool:
    """Return whether a field holds nothing: null, or a list of nulls as in evaluation files."""
    return value is None or (isinstance(value, list) and all(item is None for item in value))


def _sample_object(item: Record, path: str | None) -> Record:
    return item if path is None else item[path]


def _row_with_objects(record: Record, objects: Sequence[Record], path: str | None) -> Record:
    """Return a row whose list of objects is another one; without a list, the object itself."""
    if path is None:
        return objects[0]
    first, dot, rest = path.partition(".")
    if path in record or not dot:
        return {**record, path: list(objects)}
    return {**record, first: _row_with_objects(record[first], objects, rest)}


def credit_record(row: Mapping[str, Any], list_path: str | None = None) -> dict[str, Any]:
    """Return column of advantages → its method, its arguments, and whether the group was skipped.

    Earlier versions wrote one record for the whole row. It describes the column that they added
    last: advantage_METHOD if the samples have it, otherwise advantage.

    >>> said = {"method": "maxpo", "set_size": 4, "skipped": False}
    >>> [*credit_record({"advantage": 0.1, "credit": {"advantage": said}})]
    ['advantage']
    >>> [*credit_record({"advantage": 0.1, "advantage_maxpo": 0, "credit": said})]
    ['advantage_maxpo']

    Args:
        row: The row, or one object of its list.
        list_path: The field of the list of objects that are samples; None if the row has none.
    """
    credit = row.get(CREDIT)
    if not isinstance(credit, dict):
        return {}
    columns = {key: facts for key, facts in credit.items() if is_of_method(facts)}
    earlier = {key: facts for key, facts in credit.items() if key not in columns}
    if not is_of_method(earlier):
        return credit
    own_column = f"advantage_{earlier['method']}"
    is_own = own_column not in columns and bool(
        {own_column, plural(own_column)} & {*_first_sample(row, list_path)}
    )
    return {own_column if is_own else "advantage": earlier, **columns}


def is_of_method(facts: Any) -> TypeGuard[dict[str, Any]]:
    """Return whether `setrl credit` wrote it of one column."""
    return isinstance(facts, dict) and {"method", "skipped"} <= facts.keys()


def _first_sample(row: Mapping[str, Any], list_path: str | None) -> Mapping[str, Any]:
    """Return the first object of a row that holds a sample."""
    sample: Any = row
    with suppress(KeyError, IndexError):
        sample = row if list_path is None else value_at(row, list_path)
        sample = sample[0] if isinstance(sample, list) else sample
    return sample if isinstance(sample, dict) else {}
