"""Raw values of a log's objects: one at a path, a column of them, and each value read once."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from contextlib import suppress
from typing import Any, Final

from setrl.samples.values import read_all

Record = dict[str, Any]
MISSING: Final = object()  # in a column: the object has no such field
KEY = "key"  # of a row in a mapping of lists: what the mapping calls it
NUMBERS = frozenset((bool, int, float))  # of which True, 1 and 1.0 are equal, and read apart
MOST_KNOWN = 10_000  # values that a reader remembers: a column of texts would fill the memory


def value_at(record: Any, path: str) -> Any:
    """Return the value of a path like metrics.acc; a key that contains the dot itself comes first.

    >>> value_at({"eval": {}, "eval.rows": {"acc": 1}}, "eval.rows.acc")
    1

    Raises:
        KeyError: Where there is no value.
    """
    if isinstance(record, dict):
        if path in record:
            return record[path]
        for key, rest in _cuts_at_dots(path):
            if key in record:
                with suppress(KeyError):
                    return value_at(record[key], rest)
    raise KeyError(path)


def _cuts_at_dots(path: str) -> Iterator[tuple[str, str]]:
    """Yield the ways to cut a path at a dot, the longest key first."""
    key = path
    while (dot := key.rfind(".")) > 0:
        key, rest = path[:dot], path[dot + 1 :]
        yield key, rest


def column(objects: Sequence[Any], path: str) -> list[Any]:
    """Return the value of a path in each object, MISSING where there is none.

    >>> column([{"score": {"acc": 1}}, {"score.acc": 0}], "score.acc")
    [1, 0]
    """
    try:
        return [record[path] for record in objects]
    except (KeyError, TypeError):
        pass
    for key, rest in _cuts_at_dots(path):
        if any(isinstance(record, dict) and (path in record or key in record)
               for record in objects):  # fmt: skip
            if all(isinstance(record, dict) and key in record and path not in record
                   for record in objects):  # fmt: skip
                values = column([record[key] for record in objects], rest)
                if MISSING not in values:
                    return values
            break
    return [_value_or_missing(record, path) for record in objects]


def kinds_of(values: Sequence[Any]) -> frozenset[type]:
    """Return the types of values."""
    return frozenset(map(type, values))


def whole_column(objects: Sequence[Any], path: str) -> list[Any]:
    """Return the value of a path in each object.

    Raises:
        KeyError: Where an object has none.
    """
    values = column(objects, path)
    if MISSING in values:
        value_at(objects[values.index(MISSING)], path)
    return values


def unrolled(record: Record, rows: str | None) -> list[Record]:
    """Return a row, or the objects of its list, each with the other fields of the row.

    Raises:
        KeyError, TypeError: Where there is no such list.
    """
    if rows is None:
        return [record]
    items = rows_at(record, rows)
    outer = _without_path(record, rows)
    return [{**outer, rows: item} for item in items]


def rows_at(record: Record, rows: str) -> list[Record]:
    """Return the objects at a path: of a list, or of all lists of a mapping such as task → samples.

    Raises:
        KeyError, TypeError: Where there are no such objects.
    """
    items = value_at(record, rows)
    if is_mapping_of_rows(items):
        each = [(key, item) for key, of_key in items.items() for item in of_key]
        return [item if key in item.values() else {KEY: key, **item} for key, item in each]
    if not isinstance(items, list) or not all(isinstance(item, dict) for item in items):
        raise TypeError(f"{rows!r} must be a list of objects")
    return items


def is_mapping_of_rows(value: Any) -> bool:
    """Return whether a value is an object all of whose values are lists of objects."""
    return (
        isinstance(value, dict)
        and bool(value)
        and all(isinstance(rows, list) and rows and all(isinstance(item, dict) for item in rows)
                for rows in value.values())
    )  # fmt: skip


def _without_path(record: Record, path: str) -> Record:
    """Return an object without the value of a path, and without what is empty then."""
    if path in record:
        return {key: value for key, value in record.items() if key != path}
    top, rest = next((key, rest) for key, rest in _cuts_at_dots(path) if key in record)
    left = {top: _without_path(record[top], rest)}
    others = {key: value for key, value in record.items() if key != top}
    return {**others, **left} if left[top] else others


class ReadOnce:
    """Reads columns, and each different value once; a missing one is unknown.

    >>> ReadOnce(str)([1, True, 1, MISSING])
    ['1', 'True', '1', None]

    Args:
        read: Reads one value.
        path: The field, which an error then names.
    """

    def __init__(self, read: Callable[[Any], Any], path: str | None = None):
        self._read, self._path = read, path
        self._readings: dict[frozenset[type], dict[Any, Any]] = {}

    def __call__(self, values: Sequence[Any]) -> list[Any]:
        """Return what each value is read as.

        Raises:
            ValueError: If the reader refuses a value.
        """
        kinds = kinds_of(values)
        if len(kinds & NUMBERS) > 1 or list in kinds or dict in kinds:
            return read_all(self._read_one, values)
        reading_of = self._readings.setdefault(kinds, {})
        try:
            return [reading_of[value] for value in values]
        except KeyError:
            if len(reading_of) > MOST_KNOWN:
                reading_of.clear()
            new = (value for value in dict.fromkeys(values) if value not in reading_of)
            reading_of.update([(value, self._read_one(value)) for value in new])
        return [reading_of[value] for value in values]

    def _read_one(self, value: Any) -> Any:
        if value is MISSING:
            return None
        try:
            return self._read(value)
        except ValueError as error:
            if self._path is None:
                raise
            raise ValueError(f"{self._path} must be {error}") from None


def _value_or_missing(record: Any, path: str) -> Any:
    try:
        return value_at(record, path)
    except KeyError:
        return MISSING
