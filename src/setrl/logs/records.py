"""The one form of setrl's own files of samples: a group of samples a line, as columns.

    {"schema_version": 2, "id": "7", "prompt": "y=2x^2+3x+7, x!=4:", "split": "test", "n": 256,
     "temperature": 1.0, "correct": [1, 0, …], "strategies": ["x=2", -1, …],
     "answers": ["(2, 21)", null, …], "texts": [the first few samples]}

Evaluations and the rollouts of training have it. A column has an entry for each of the n samples,
which `setrl.samples.values` reads, and null is unknown. Columns are `correct`, `rewards`,
`strategies` (a name, or −1 for a sample of no strategy), `answers`, `proxy`, `second`, `families`,
`tokens`, `advantages` (what entered the loss), and `read` (the strategy that the task's own reader
finds). `counterfactual` has a column of advantages for each of some other methods. `texts` may hold
the first few texts only. A sample without a grade has null in `correct`: it is left out and
counted, or counts as wrong if `ungraded_are` is "wrong".

Version 1 is read, too. Its evaluations (up to 0.7) have no null in `correct`: `ungraded` is how
many samples of the problem were left out, and `as_wrong` has the places of those that count as
wrong. There −1 for all samples of a file also means that nobody read strategies. Its rollouts (up
to 0.8) have one object a sample, in the list `samples`.
"""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from itertools import chain, islice
from pathlib import Path
from typing import Any

from setrl.logs.field_table import ROLES
from setrl.logs.field_values import text_of
from setrl.logs.paths import ReadOnce, Record
from setrl.logs.settings import NAMES, count_settings
from setrl.samples.columns import KEYS
from setrl.samples.types import Group, SampleColumns, outcomes_of
from setrl.samples.values import DEGENERATE, Label, read_all, read_count, read_label, read_outcome
from setrl.support.errors import DataError
from setrl.support.files import json_lines
from setrl.support.wording import plural

SCHEMA_VERSION = 2
EARLIER = (1,)  # versions that are read, too
TEXTS_KEPT = 8  # samples of a problem whose text an evaluation keeps
COLUMN_OF = {
    **{key: name for name, key in KEYS.items()},
    **{"tokens": "tokens", "advantage": "advantages", "text": "texts", "read": "read"},
}
"""Key of one sample → the column of a record that holds it for all samples."""
READERS: Mapping[str, Callable[[Any], Any]] = {
    **{key: ROLES[key].read for key in COLUMN_OF if key in ROLES and key != "text"},
    "correct": read_outcome,
}
FURTHER = ("proxy", "second", "family", "read")
UNGRADED = ("ungraded", "ungraded_are", "as_wrong")  # what is said of samples without a grade
COUNTERFACTUAL = "counterfactual"
ALL_OR_NONE = ("rewards", "proxy", "second", "families")  # columns that only some lines cannot have
ONE_VALUE = (
    ("prompt", str | None, "text"),
    ("n", int, "a whole number"),
    ("temperature", int | float | None, "a number or null"),
    ("ungraded", int, "a whole number"),
    ("ungraded_are", str, "text"),
)


def read_records(path: Path) -> list[Record]:
    """Return the records of a file, without a last line that was cut off.

    Raises:
        DataError: When the file cannot be read, or a whole line is not a record.
    """
    lines = json_lines.read(path, "leave_out")
    return [checked(record, f"{path}:{number}") for number, _, record in lines]


def is_own_file(path: Path) -> bool:
    """Return whether the first line of a file is a record."""
    return is_record(json_lines.first_record(path))


def is_record(record: Mapping[str, Any]) -> bool:
    """Return whether an object is a line of our own files, of any version."""
    return {"schema_version", "prompt"} <= record.keys() and bool({"n", "samples"} & record.keys())


def problem_of(record: Mapping[str, Any]) -> str:
    """Return what names the problem of a record: its id, or its prompt if it has no id."""
    return str(record["prompt"] if record.get("id") is None else record["id"])


def checked(record: Record, where: str) -> Record:
    """Return a record of any version in today's form.

    Raises:
        DataError: Naming the key that is wrong, and the line.
    """
    if record.get("schema_version") not in (*EARLIER, SCHEMA_VERSION):
        raise DataError(f"{where}: must be an object with schema_version {SCHEMA_VERSION}")
    record = in_columns(record, where)
    for key in ("prompt", "n", *([] if "rewards" in record else ["correct"])):
        if key not in record:
            raise DataError(f"{where}: has no {key!r}")
    for key, kind, what in ONE_VALUE:
        if key in record and not isinstance(record[key], kind):
            raise DataError(f"{where}: {key!r} must be {what}, got {json.dumps(record[key])}")
    n = record["n"]
    if n < 1:
        raise DataError(f"{where}: n must be 1 or more, got {n}")
    for key in COLUMN_OF.values():
        if key in record and key != "texts":
            _check_column_length(key, record[key], n, where)
    if len(record.get("texts") or ()) > n:
        raise DataError(f"{where}: 'texts' must have at most n = {n} entries, got "
                        f"{len(record['texts'])}")  # fmt: skip
    return record


def _check_column_length(key: str, values: Any, n: int, where: str) -> None:
    if not isinstance(values, list) or len(values) != n:
        given = len(values) if isinstance(values, list) else json.dumps(values)
        raise DataError(f"{where}: {key!r} must have n = {n} entries, got {given}")


def in_columns(record: Record, where: str) -> Record:
    """Return a record as columns, also a line of rollouts up to 0.8, whose samples are objects.

    Raises:
        DataError: Naming the line that is not of this form.
    """
    if "samples" not in record:
        return record
    samples = record["samples"]
    if not isinstance(samples, list) or not all(isinstance(sample, dict) for sample in samples):
        raise DataError(f"{where}: 'samples' must be a list of objects")
    rest = {key: value for key, value in record.items() if key not in ("samples", "group")}
    place = record.get("group", record["prompt"])
    columns = {
        name: [sample.get(key) for sample in samples]
        for key, name in COLUMN_OF.items()
        if any(key in sample for sample in samples)
    }
    if "strategies" not in columns and "read" in columns:
        columns["strategies"] = columns["read"]
    counterfactuals = [sample.get(COUNTERFACTUAL) or {} for sample in samples]
    extra = {
        COUNTERFACTUAL: {
            name: [counterfactual.get(name) for counterfactual in counterfactuals]
            for name in counterfactuals[0]
        }
    }
    return {"id": f"{record.get('step')}/{place}", **rest, "n": len(samples), **columns, **extra}


def strategies_of(record: Mapping[str, Any]) -> str | None:
    """Return the column with the labels: those that `setrl judge` added, else its own."""
    judged = record.get("judged")
    key = plural(next(iter(judged), "strategy")) if isinstance(judged, dict) else "strategies"
    key = key if key in record else "strategies"
    return key if key in record else None


def group_of(record: Record, where: str) -> Group:
    """Return the group of a record that is checked.

    Raises:
        DataError: If a column holds what it must not; it names the file and line.
    """
    try:
        [group] = groups_of([record], _read_once, True, [()])
    except ValueError as error:
        raise DataError(f"{where}: {error}") from None
    return group


def groups_of(
    records: Sequence[Record],
    reader_of: Callable[[str, str], Callable[[list[Any]], list[Any]]],
    has_strategies: bool,
    rows: Sequence[tuple[int, ...]],
) -> list[Group]:
    """Return the groups of records that are checked; a column of all of them is read at once.

    Args:
        records: The records.
        reader_of: Key of a sample and name of its column → what reads such columns.
        has_strategies: Whether anybody has read strategies.
        rows: The numbers of the lines of each.

    Raises:
        ValueError: If a column holds what it must not.
    """
    each = _read_columns(records, reader_of)
    return [*map(_make_group, records, each, [has_strategies] * len(records), rows)]


def _read_once(key: str, name: str) -> ReadOnce:
    """Return what reads the columns of a key, and calls them by their name in errors."""
    return ReadOnce(READERS[key], name)


def _read_columns(
    records: Sequence[Record],
    reader_of: Callable[[str, str], Callable[[list[Any]], list[Any]]],
) -> list[dict[str, list[Any]]]:
    """Return the columns of each record, read: key of a sample → a value of each sample."""
    each: list[dict[str, list[Any]]] = [{} for _ in records]
    for key, name in COLUMN_OF.items():
        places_of: dict[str, list[int]] = {}  # name of the column → the records that have it
        for place, record in enumerate(records):
            source = (strategies_of(record) or name) if key == "strategy" else name
            if source in record and key != "text":
                places_of.setdefault(source, []).append(place)
        for source, places in places_of.items():
            values = [*chain.from_iterable(records[place][source] for place in places)]
            rest = iter(reader_of(key, source)(values) if key in READERS else values)
            for place in places:
                each[place][key] = [*islice(rest, records[place]["n"])]
    return each


def _make_group(
    record: Record, columns: dict[str, list[Any]], has_strategies: bool, rows: tuple[int, ...]
) -> Group:
    size, texts = record["n"], record.get("texts")
    why, gold, step = _why_unjudged(record), record.get("gold"), record.get("step")
    if not has_strategies or why:
        columns.pop("strategy", None)
    if texts:
        columns["text"] = [*texts, *[None] * (size - len(texts))]
    if "correct" not in columns:
        columns["correct"] = outcomes_of(columns["reward"])
    elif "reward" not in columns:
        correct = columns["correct"]
        columns["reward"] = [None if outcome is None else float(outcome) for outcome in correct]
    if more := _further_fields(columns, record):
        columns["more"] = more
    return Group(
        problem_of(record),
        str(record["prompt"]),
        SampleColumns(size, columns),
        None if gold is None else text_of(gold),
        None if step is None else _read_value("step", read_count, step),
        rows,
        notes=(f"The strategies are unknown: {why}.",) if why else (),
        more={key: record[key] for key in (*UNGRADED, "task") if key in record},
    )


def _further_fields(
    columns: Mapping[str, list[Any]], record: Mapping[str, Any]
) -> list[dict[str, Any]]:
    """Return the further fields of each sample; nothing where no sample has one."""
    further = {key: columns[key] for key in FURTHER if key in columns}
    counterfactuals = record.get(COUNTERFACTUAL) or {}
    return [
        {key: values[i] for key, values in further.items()}
        | {COUNTERFACTUAL: {name: values[i] for name, values in counterfactuals.items()}}
        for i in range(record["n"] if further or counterfactuals else 0)
    ]


def _why_unjudged(record: Mapping[str, Any]) -> Any:
    """Return why the judge gave no strategies; None if it gave some."""
    judged = record.get("judged")
    judged = judged.get("strategy") if isinstance(judged, dict) else None
    return judged.get("unknown") if isinstance(judged, dict) else None


def _has_labels(record: Record) -> bool:
    """Return whether somebody has read strategies of a group."""
    source = strategies_of(record)
    labels = {*read_each(source, read_label, record[source])} - {None} if source else set()
    # Until version 2, −1 was also written where nobody had read strategies.
    is_read = record["schema_version"] > 1 or "judged" in record or "read" in record
    return bool(labels if is_read else labels - {DEGENERATE})


def read_each(name: str, read: Callable[[Any], Any], values: Iterable[Any]) -> list[Any]:
    """Return the values of a column, read.

    Raises:
        ValueError: Naming the column, what it must hold, and the value.
    """
    return _read_value(name, lambda listed: read_all(read, listed), values)


def _read_value(name: str, read: Callable[[Any], Any], value: Any) -> Any:
    try:
        return read(value)
    except ValueError as error:
        raise ValueError(f"{name} must be {error}") from None


def record_of(
    name: str, prompt: str, columns: Mapping[str, Sequence[Any] | None], **more: Any
) -> Record:
    """Return the record of a group; what is None is left out.

    Args:
        name: What names the problem.
        prompt: What the model was given.
        columns: Key of a sample → a value for each sample; of `text` the first few suffice.
        more: Further keys.
    """
    size = next(len(column) for key, column in columns.items() if key != "text" and column)
    given = {key: column for key, column in columns.items() if column is not None}
    return {
        "schema_version": SCHEMA_VERSION,
        "id": name,
        "prompt": prompt,
        "n": size,
        **more,
        **{
            COLUMN_OF[key]: [_written_value(key, value) for value in column]
            for key, column in given.items()
        },
    }


def _written_value(key: str, value: Any) -> Any:
    if key == "correct":
        return None if value is None else int(value)
    return _written_label(value) if key in ("strategy", "family") else value


def _written_label(label: Label) -> Label:
    return label if label is None or label == DEGENERATE else str(label)


class OwnReader:
    """Reads the groups of evaluations and rollouts, which have one form.

    Args:
        path: The file.
        where: The file and line of a row, by its number.
        needs: What the command cannot do without.
    """

    list_path = None  # a row is the object

    def __init__(self, path: Path, where: Callable[[int], str], needs: Collection[str]):
        self._path, self._where, self._needs = path, where, needs
        self._has_strategies = False
        self._readers: dict[tuple[str, str], ReadOnce] = {}
        self._keys: set[str] | None = None
        self._settings_of: dict[tuple[str, ...], list[str]] = {}
        self.settings: dict[str, Counter[str]] = {}
        self.counted: Counter[str] = Counter()

    @property
    def columns(self) -> frozenset[str]:
        """What all samples have."""
        keys = self._keys or set()
        sample_keys = {key for key, name in COLUMN_OF.items() if name in keys and key != "text"}
        return frozenset(
            sample_keys - {"correct"} | ({"strategy"} if self._has_strategies else set())
        )

    @property
    def lacks(self) -> Mapping[str, str]:
        """What the file does not hold → what the user can do."""
        if self._has_strategies:
            return {}
        return {"strategy": "this file has no strategies: `setrl judge` adds them"}

    def items(self, record: Record) -> list[Record]:
        """Return the record itself, in today's form: a row is a problem."""
        return [in_columns(record, str(self._path))]

    def look(self, rows: Sequence[int], objects: Sequence[Record]) -> list[str]:
        """Look at the lines before any samples are made of them; return the names of problems.

        Raises:
            DataError, ValueError: If a line is not of our form.
        """
        records = [
            checked(record, self._where(row)) for row, record in zip(rows, objects, strict=True)
        ]
        keys_of = [*map(tuple, records)]  # which are the same in most lines
        for keys in keys_of:
            if keys not in self._settings_of:
                self._settings_of[keys] = self._note_keys(set(keys))
        count_settings(
            self.settings,
            ((key, record[key])
             for record, keys in zip(records, keys_of, strict=True)
             for key in self._settings_of[keys]),
        )  # fmt: skip
        self._has_strategies = self._has_strategies or any(map(_has_labels, records))
        return [*map(problem_of, records)]

    def _note_keys(self, keys: set[str]) -> list[str]:
        """Look at the keys that all lines or none must have; return the settings among them."""
        names = keys & set(COLUMN_OF.values()) - {"strategies"}
        self._keys = names if self._keys is None else self._keys
        if some := (names ^ self._keys) & set(ALL_OR_NONE):
            raise ValueError(f"only some lines have {min(some)!r}: all or none must")
        self._keys &= names
        return [key for key in NAMES if key in keys and not (key == "split" and "source" in keys)]

    def size(self, item: Record) -> int | None:
        """Return how many samples a problem has."""
        return int(item["n"])

    def groups(self, chunk: Sequence[Sequence[tuple[int, Record]]]) -> list[Group]:
        """Return the problems of some lines.

        Raises:
            DataError: If texts are needed, and the file has not kept all of them.
        """
        rows, records = zip(*(items[0] for items in chunk), strict=True)
        records = tuple(in_columns(record, str(self._path)) for record in records)
        for row, record in zip(rows, records, strict=True) if "text" in self._needs else ():
            self._refuse_few_texts(row, record)
        try:
            return groups_of(records, self._reader_of, self._has_strategies, [*zip(rows)])
        except ValueError as error:  # of one of them; the log then asks for them one by one
            raise DataError(f"{self._where(rows[0])}: {error}") from None

    def _reader_of(self, key: str, name: str) -> ReadOnce:
        return self._readers.setdefault((key, name), _read_once(key, name))

    def _refuse_few_texts(self, row: int, record: Record) -> None:
        texts = len(record.get("texts") or ())
        if texts < record["n"]:
            raise DataError(f"{self._where(row)}: holds the texts of {texts} of its {record['n']} "
                            "samples: give the log that it was made from")  # fmt: skip

    def notes(self) -> list[str]:
        """Return nothing: the file says all that it holds."""
        return []
