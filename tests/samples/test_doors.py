"""The table of values × doors: what an odd value becomes is the same at each door, or refused.

`python -m tests.samples.test_doors` writes docs/values.md, which the test holds to the table.
"""

import csv
import datetime
import json
import math
import tempfile
from collections.abc import Callable, Sequence
from contextlib import suppress
from decimal import Decimal
from fractions import Fraction
from itertools import count
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import numpy as np
import pandas
import pytest
import torch

from setrl import DEGENERATE, Samples, methods, objectives
from setrl.control.labels import numbers_of
from setrl.core.inputs import read_samples
from setrl.judges.base import judgement_by_names
from setrl.logs import FieldNames, LogOptions, open_log
from setrl.logs.importers.tools import READERS
from setrl.logs.records import COLUMN_OF, checked, group_of
from setrl.samples.columns import KEYS, LABELS
from setrl.samples.values import (
    NUMBERS,
    TIMES,
    read_answer,
    read_label,
    read_number,
    read_outcome,
    read_pairs,
    read_tokens,
    was_cut,
)
from setrl.support.errors import ConfigError, DataError, RunError
from setrl.train.gathering import functions
from setrl.train.gathering.judging import with_judgements
from setrl.train.scoring import samples_of, score
from setrl.train.scoring.credit import scored_groups
from setrl.train.trl.columns import end_tokens
from setrl.train.verl.estimators import VerlRows, make_estimator, rows_known
from setrl.train.verl.trainer import trainer_with_credit

PAGE = Path(__file__).parents[2] / "docs" / "values.md"
REFUSED, NOT_HERE = "refused", "—"  # the second: a file of JSON cannot hold the value
COLUMNS = {"correct": "correct", "rewards": "reward", "answers": "answer",
           "strategies": "strategy", "tokens": "tokens"}  # fmt: skip

VALUES = {
    "True": True,
    "1": 1,
    '"1"': "1",
    "1.0": 1.0,
    '"1.0"': "1.0",
    "np.int64(1)": np.int64(1),
    "np.float32(1)": np.float32(1),
    "np.array([1])": np.array([1]),
    "torch.tensor(1)": torch.tensor(1),
    "torch.tensor(1.0, dtype=torch.bfloat16)": torch.tensor(1.0, dtype=torch.bfloat16),
    "0": 0,
    "False": False,
    "-1": -1,
    '"-1"': "-1",
    '"−1"': "−1",
    "-2": -2,
    '"-2"': "-2",
    '"+1"': "+1",
    '"1_0"': "1_0",
    '"1e3"': "1e3",
    '"１"': "１",
    "1.5": 1.5,
    '"1.5"': "1.5",
    "0.25": 0.25,
    "2**53": 2**53,
    "2**60": 2**60,
    "str(2**60)": str(2**60),
    "str(10**16 - 1)": str(10**16 - 1),
    "10**400": 10**400,
    "1e300": 1e300,
    "Decimal(1)": Decimal(1),
    'Decimal("0.25")': Decimal("0.25"),
    "Fraction(1, 4)": Fraction(1, 4),
    "Fraction(10**400)": Fraction(10**400),
    'Decimal("sNaN")': Decimal("sNaN"),
    "pandas.NA": pandas.NA,
    "np.ma.masked": np.ma.masked,
    "np.datetime64(1, 'ns')": np.datetime64(1, "ns"),
    "np.timedelta64(1, 'ns')": np.timedelta64(1, "ns"),
    "datetime.date(2026, 1, 1)": datetime.date(2026, 1, 1),
    "None": None,
    "math.nan": math.nan,
    "np.float64('nan')": np.float64("nan"),
    "math.inf": math.inf,
    '""': "",
    '"  "': "  ",
    '"null"': "null",
    '"nan"': "nan",
    '"None"': "None",
    '"N/A"': "N/A",
    '"inf"': "inf",
    '"factor"': "factor",
    '" factor "': " factor ",
    '"caf\\u00e9"': "caf\u00e9",
    '"cafe\\u0301"': "cafe\u0301",
    '"①"': "①",
    '"007"': "007",
    '"correct"': "correct",
    '"Wrong"': "Wrong",
    '"maybe"': "maybe",
    '"error"': "error",
    "1j": 1j,
    'b"1"': b"1",
    "[1]": [1],
}


PAIRS = {
    "[[0, 1], [1, 0]]": [[0, 1], [1, 0]],
    '[["wrong", True], ["1", 0.0]]': [["wrong", True], ["1", 0.0]],
    "np.ones((2, 2))": np.ones((2, 2)),
    "torch.ones(2, 2, dtype=torch.bfloat16)": torch.ones(2, 2, dtype=torch.bfloat16),
    "None": None,
    "[[math.nan, 1], [1, 0]]": [[math.nan, 1], [1, 0]],
    "[[None, 1], [1, 0]]": [[None, 1], [1, 0]],
    "[[0, None], [None, 0]]": [[0, None], [None, 0]],
    "np.ma.masked_greater([[2, 1], [1, 0]], 1)": np.ma.masked_greater([[2, 1], [1, 0]], 1),
    "[[0, 1], [2, 0]]": [[0, 1], [2, 0]],
    "[[0, math.inf], [math.inf, 0]]": [[0, math.inf], [math.inf, 0]],
    "[[0, 10**400], [10**400, 0]]": [[0, 10**400], [10**400, 0]],
    "[[0, 1], [1]]": [[0, 1], [1]],
    "np.ones((3, 3))": np.ones((3, 3)),
    '"ab"': "ab",
    "np.ones((2, 2), 'm8[ns]')": np.ones((2, 2), "m8[ns]"),
}
END, PAD = 2, 0
IDS = {
    "[]": [],
    "[5]": [5],
    "[5, END]": [5, END],
    "[5, END, PAD]": [5, END, PAD],
    "[END, 5]": [END, 5],
    "torch.tensor([5, END])": torch.tensor([5, END]),
}


VALUES_OF = {"pairs": PAIRS, "cut": IDS}  # kinds with values of their own


class NotHereError(Exception):
    """A value that cannot come in by a door."""


def beside(read: Callable[[Any], Any]) -> list[Any]:
    """All that the values of the table become, apart from unknown and degenerate.

    A door that gives only which values are equal shows by them what a value becomes.
    """
    found = {}
    for value in VALUES.values():
        with suppress(ValueError):
            found[read(value)] = None
    return [one for one in found if one is not None and one == one and one != DEGENERATE]


def the_same(first: Any, codes: Any, others: Sequence[Any]) -> Any:
    """Return the one of the others that has the code of the first, or what is wrong."""
    same = [one for one, code in zip(others, codes, strict=True) if code == first]
    return same[0] if len(same) == 1 else f"the same as {same}"


def in_core(field: str, read: Callable[[Any], Any]) -> Callable[[Any], Any]:
    """What `set_advantages` makes of a value in an array of objects."""

    def door(value: Any) -> Any:
        others = beside(read) if field in LABELS else []
        column = np.empty((1, 1 + len(others)), dtype=object)
        column[0, 0], column[0, 1:] = value, others
        return first_of(column, field, others)

    return door


def typed(value: Any) -> np.ndarray:
    """An array of numbers or times that holds a value alone."""
    if np.ma.is_masked(value):  # NumPy forgets the mask
        raise NotHereError
    try:
        array = np.array([value])
    except (TypeError, ValueError):  # of a tensor that NumPy cannot read, or of unequal rows
        raise NotHereError from None
    if array.dtype.kind not in NUMBERS + TIMES:
        raise NotHereError
    return array


# Number → what it becomes: typed arrays of labels and answers hold them beside a value.
TYPED = {
    "strategies": {0: 0, 1: 1},
    "answers": {-2: "-2", -1: "-1", 0: "0", 0.25: "0.25", 1: "1", 1.5: "1.5", 2**53: str(2**53),
                2**60: str(2**60), 1e300: "1e+300"},
}  # fmt: skip


def in_array(field: str, make: Callable[[Any], Any]) -> Callable[[Any], Any]:
    """What `set_advantages` makes of a value in an array of numbers or times."""

    def door(value: Any) -> Any:
        one = typed(value)
        if one.shape != (1,):
            raise NotHereError
        known = TYPED.get(field, {}) if one.dtype.kind in NUMBERS else {}
        # Large numbers stand beside large ones only: the others take the quick way.
        fitting = [x for x in known if abs(x) <= max(2, abs(value)) and one.dtype.type(x) == x]
        column = make(np.array([[value, *fitting]]).astype(one.dtype))
        return first_of(column, field, [known[x] for x in fitting])

    return door


def as_tensor(array: np.ndarray) -> torch.Tensor:
    if array.dtype.kind in TIMES:
        raise NotHereError
    return torch.from_numpy(array)


def first_of(column: Any, field: str, others: Sequence[Any]) -> Any:
    """What the core makes of the first sample of a prompt; of a label by the others."""
    if field == "rewards":
        return read_samples(column, ["rewards"], {}).rewards[0, 0].item()
    samples = read_samples(np.ones(column.shape), [field], {field: column})
    found = getattr(samples, field)[0]
    if not samples.mask[0, 0] or field not in LABELS:
        return found[0].item() if samples.mask[0, 0] else None
    if field != "answers" and found[0] == DEGENERATE:
        return DEGENERATE
    return the_same(found[0], found[1:], others)


def scored(field: str, values: Any) -> Any:
    """What scoring makes of the first value of a column."""
    named = {field: values} if field in ("correct", "strategies") else {"fields": {field: values}}
    samples = samples_of([values if field == "rewards" else [0, 1]], 2,
                         **({} if field == "rewards" else named))  # fmt: skip
    return first(score(samples, methods.dr_grpo()).samples, field)


def first(samples: Samples, field: str) -> Any:
    """What the first sample of a batch has in a column."""
    if field in LABELS:
        return samples.labels(field)[0][0]
    found = getattr(samples, field)[0, 0].item()
    return found if field != "correct" or math.isnan(found) else found == 1


def in_function(field: str, check: Callable[..., Any]) -> Callable[[Any], Any]:
    """What a trainer makes of a value that a user's function returns."""
    return lambda value: scored(field, check(lambda **_: [value] * 2)(completions=["a", "b"]))


def in_column(field: str) -> Callable[[Any], Any]:
    """What a trainer makes of a value in a column of the data."""
    if field == "correct":
        return lambda value: scored(field, functions.outcome_column("x")(x=[value] * 2))
    name = {"strategies": "families", "rewards": "second", "answers": "answers"}[field]
    return lambda value: scored(name, functions.functions_of({name: "x"})[name](x=[value] * 2))


def in_verl(field: str) -> Callable[[Any], Any]:
    """What verl's trainers make of a value that its reward function returns."""
    objective = objectives.from_function(eval(f"lambda {field}: 0 * {field}.sum(-1)"))
    method = methods.set_rl(objective, 1)

    def door(value: Any) -> Any:
        extra = {"reward_extra_info": {KEYS[field]: value}}
        trainer = object.__new__(trainer_with_credit(object, "sync", SimpleNamespace(
            kv_batch_get=lambda **_: {"extra_fields": [extra, extra]})))  # fmt: skip
        trainer.judging, trainer.config = None, SimpleNamespace(algorithm={})
        batch = SimpleNamespace(keys=["u_0_0", "u_1_0"], partition_id="train")
        fields = trainer._read_fields(batch, method, [False] * 2)
        rows = VerlRows.of(method, ["u"] * 2, ["u_0", "u_1"], [0, 0], fields)
        with rows_known(rows):
            ones = torch.ones(2, 1)
            make_estimator("setrl")(ones, ones, {}, ["u", "u"])
        return first(rows.batch.samples, field)

    return door


FOLDER = tempfile.TemporaryDirectory()  # one for all: to make and remove 2,000 takes seconds
SERIAL = count()


def new_file(name: str) -> Path:
    """A path where nothing is yet."""
    return Path(FOLDER.name) / f"{next(SERIAL)}{name}"


def as_lines(path: Path, rows: list[dict[str, Any]]) -> None:
    path.write_text("".join(json.dumps(row) + "\n" for row in rows))


def as_table(path: Path, rows: list[dict[str, Any]]) -> None:
    """CSV, which holds texts only."""
    if not all(isinstance(cell, str) for row in rows for cell in row.values()):
        raise NotHereError
    with path.open("w", newline="") as file:
        writer = csv.DictWriter(file, rows[0])
        writer.writeheader()
        writer.writerows(rows)


def as_parquet(path: Path, rows: list[dict[str, Any]]) -> None:
    pyarrow, parquet = pytest.importorskip("pyarrow"), pytest.importorskip("pyarrow.parquet")
    try:
        table = pyarrow.Table.from_pylist(rows)
    except (pyarrow.ArrowException, OverflowError):
        raise NotHereError from None
    if any(getattr(cell, "shape", ()) or cell == [1] for row in rows for cell in row.values()):
        raise NotHereError  # lists are those of the samples of a problem
    parquet.write_table(table, path)


def in_log(field: str, write: Callable[[Path, Any], None] = as_lines) -> Callable[[Any], Any]:
    """What a log of any program makes of a value in a row."""

    def door(value: Any) -> Any:
        named = COLUMNS[field]
        other = value if write is as_parquet else "1"  # there a column has one type
        rows = [{"id": "p", "text": "t", "reward": "1", named: value},
                {"id": "p", "text": "u", "reward": "0", named: other}]  # fmt: skip
        needs = ["correct"] if field == "correct" else []
        fields = FieldNames(group=("id",), **({named: named} | {"reward": "reward"}))
        write(path := new_file("log"), rows)
        [group] = open_log(path, LogOptions(fields), needs)
        return getattr(group.samples[0], named)

    return door


def in_evaluation(field: str) -> Callable[[Any], Any]:
    """What an evaluation file makes of a value."""

    def door(value: Any) -> Any:
        row = {"schema_version": 1, "prompt": "p", "split": "test", "n": 2, "correct": [1, 0],
               "strategies": ["a", "b"], "answers": ["1", "2"]}  # fmt: skip
        row[field] = [value, "1"]
        as_lines(path := new_file("log.jsonl"), [row])
        [group] = open_log(path)
        return getattr(group.samples[0], COLUMNS[field])

    return door


def in_tool(tool: str, field: str) -> Callable[[Any], Any]:
    """What the log of a tool makes of a value."""

    def door(value: Any) -> Any:
        one = {"reward": 1, "strategy": "a", "answer": "b", "tokens": 1, COLUMNS[field]: value}
        fields = {} if tool == "inspect" else {"strategy": "strategy", "answer": "answer"}
        fields |= {"reward": "reward"} if tool == "trl" else {}
        path = new_file("1.json")
        (as_parquet if tool == "trl" else as_lines)(path, [IN_TOOL[tool](one)])
        [group] = READERS[tool].groups(path, LogOptions(FieldNames(**fields)), [])
        return getattr(group.samples[0], COLUMNS[field])

    return door


IN_TOOL: dict[str, Callable[[dict[str, Any]], dict[str, Any]]] = {
    "verl": lambda one: {"input": "p", "output": "t", "gts": "7", "score": one["reward"],
                         "step": 1, "num_tokens": one["tokens"], **one},
    "trl": lambda one: {"prompt": "p", "completion": "t", "step": 1, "advantage": 0.5,
                        "num_tokens": one.pop("tokens"), **one},
    "tinker": lambda one: {"iteration": 1, "group_idx": 0, "total_reward": one["reward"],
                           "steps": [{"ac_len": one["tokens"], "logs": one}]},
    "inspect": lambda one: {"version": 2, "samples": [{
        "id": 1, "input": "p", "target": "7",
        "output": {"completion": "t", "usage": {"output_tokens": one["tokens"]}},
        "scores": {"match": {"value": one["reward"], "answer": one["answer"]}}}]},
}  # fmt: skip


def in_rollout(field: str) -> Callable[[Any], Any]:
    """What a page makes of a value in the rollouts of our own runs."""

    def door(value: Any) -> Any:
        columns = {"rewards": [1], COLUMN_OF[COLUMNS[field]]: [value]}
        record = {"schema_version": 2, "prompt": "p", "n": 1, "texts": ["t"], **columns}
        group = group_of(checked(json.loads(json.dumps(record)), "here"), "here")
        return getattr(group.samples[0], COLUMNS[field])

    return door


def in_judge(value: Any) -> Any:
    """What a judge's name of a strategy becomes."""
    samples, _ = with_judgements(samples_of([[0, 1]], 2), [judgement_by_names([value] * 2)])
    return first(samples, "strategies")


def in_control(value: Any) -> Any:
    """What the label of a trajectory becomes."""
    others = beside(read_label)
    found, *codes = numbers_of([value, *others])
    if math.isnan(found) or found == DEGENERATE:
        return None if math.isnan(found) else DEGENERATE
    return the_same(found, codes, others)


def in_arrays(field: str, read: Callable[[Any], Any]) -> dict[str, Callable[[Any], Any]]:
    """The doors of `set_advantages`."""
    return {
        "core": in_core(field, read),
        "array": in_array(field, np.asarray),
        "tensor": in_array(field, as_tensor),
    }


def read_matrix(value: Any) -> Any:
    return rows_of(read_pairs(value, 2))


def rows_of(matrix: np.ndarray) -> Any:
    """The rows of a matrix, in which None is unknown; None if all is."""
    rows = [[None if one != one else one for one in row] for row in matrix.tolist()]
    return rows if rows != [[None] * len(rows)] * len(rows) else None


def in_core_pairs(value: Any, make: Callable[[Any], Any] = lambda value: [value]) -> Any:
    """What `set_advantages` makes of a prompt's matrix."""
    samples = read_samples([[1, 1]], ["pairs"], {"pairs": make(value)})
    known = samples.mask[0]
    return rows_of(np.where(known & known[:, None], samples.pairs[0], np.nan))


def in_pairs_function(value: Any) -> Any:
    """What a trainer makes of a matrix that a user's function returns."""
    function = functions.functions_of({"pairs": lambda **_: value})["pairs"]
    columns = {"pairs": [function(completions=["a", "b"])]}
    samples = samples_of([[1, 0]], 2, fields=columns)
    return rows_of(score(samples, methods.dr_grpo()).samples.pairs[0])


def cut_with(**owner: Any) -> Callable[[Any], Any]:
    """What TRL's trainers and workers make of the tokens of a sample."""
    last = end_tokens(SimpleNamespace(**owner), SimpleNamespace(eos_token_id=END, pad_token_id=PAD))
    return lambda ids: cut_or_whole(ids, last)


def cut_or_whole(ids: Any, last: Any = (END, PAD)) -> str:
    return "cut" if was_cut(ids, last) else "whole"


def answers_of(function: Callable[..., Any]) -> Callable[..., Any]:
    return functions.functions_of({"answers": function})["answers"]


DOORS: dict[str, tuple[Callable[[Any], Any], dict[str, Callable[[Any], Any]]]] = {
    "label": (read_label, {
        **in_arrays("strategies", read_label),
        "function": in_function("strategies", functions.checked_labels),
        "column": in_column("strategies"),
        "log": in_log("strategies"),
        "CSV": in_log("strategies", as_table),
        "Parquet": in_log("strategies", as_parquet),
        "evaluation": in_evaluation("strategies"),
        "import trl": in_tool("trl", "strategies"),
        "import verl": in_tool("verl", "strategies"),
        "import tinker": in_tool("tinker", "strategies"),
        "rollout": in_rollout("strategies"),
        "judge": in_judge,
        "verl": in_verl("strategies"),
        "control": in_control,
    }),
    "outcome": (read_outcome, {
        **in_arrays("correct", read_outcome),
        "function": in_function("correct", functions.checked_outcome),
        "column": in_column("correct"),
        "log": in_log("correct"),
        "CSV": in_log("correct", as_table),
        "Parquet": in_log("correct", as_parquet),
        "evaluation": in_evaluation("correct"),
        "rollout": in_rollout("correct"),
        "verl": in_verl("correct"),
    }),
    "number": (read_number, {
        **in_arrays("rewards", read_number),
        "function": in_function("rewards", functions.checked_rewards),
        "column": in_column("rewards"),
        "log": in_log("rewards"),
        "CSV": in_log("rewards", as_table),
        "Parquet": in_log("rewards", as_parquet),
        "evaluation": in_evaluation("rewards"),
        "import trl": in_tool("trl", "rewards"),
        "import verl": in_tool("verl", "rewards"),
        "import tinker": in_tool("tinker", "rewards"),
        "import inspect": in_tool("inspect", "rewards"),
        "rollout": in_rollout("rewards"),
        "verl": in_verl("proxy"),
    }),
    "answer": (read_answer, {
        **in_arrays("answers", read_answer),
        "function": in_function("answers", answers_of),
        "column": in_column("answers"),
        "log": in_log("answers"),
        "CSV": in_log("answers", as_table),
        "Parquet": in_log("answers", as_parquet),
        "evaluation": in_evaluation("answers"),
        "import trl": in_tool("trl", "answers"),
        "import verl": in_tool("verl", "answers"),
        "import tinker": in_tool("tinker", "answers"),
        "import inspect": in_tool("inspect", "answers"),
        "verl": in_verl("answers"),
    }),
    "pairs": (read_matrix, {
        "core": in_core_pairs,
        "array": lambda value: in_core_pairs(value, typed),
        "function": in_pairs_function,
    }),
    "cut": (cut_or_whole, {
        "TRL": cut_with(eos_token_ids=[END]),
        "TRL before 1.14": cut_with(),
    }),
    "tokens": (read_tokens, {
        "log": in_log("tokens"),
        "CSV": in_log("tokens", as_table),
        "Parquet": in_log("tokens", as_parquet),
        "rollout": in_rollout("tokens"),
        "import trl": in_tool("trl", "tokens"),
        "import verl": in_tool("verl", "tokens"),
        "import tinker": in_tool("tinker", "tokens"),
        "import inspect": in_tool("inspect", "tokens"),
    }),
}  # fmt: skip


def shown(value: Any) -> str:
    """A result as the page shows it."""
    if value is None or value != value:
        return "unknown"
    if isinstance(value, bool | np.bool_):
        return "right" if value else "wrong"
    if value == DEGENERATE and isinstance(value, int):
        return "degenerate"
    return f"{value:.6g}" if isinstance(value, float) else repr(value)


def through(door: Callable[[Any], Any], value: Any) -> str:
    """What a door makes of a value: a result, "refused", or "—" where it cannot come in."""
    try:
        return shown(door(value))
    except NotHereError:
        return NOT_HERE
    except (ConfigError, DataError, RunError, ValueError) as error:
        return NOT_HERE if "not JSON serializable" in str(error) else REFUSED
    except TypeError as error:
        if "not JSON serializable" in str(error):
            return NOT_HERE
        raise


def table() -> dict[str, dict[str, dict[str, str]]]:
    """Kind of value → value → door → what it becomes; "reader" is the reader itself."""
    return {
        kind: {
            name: {"reader": through(read, value)}
            | {door: through(make, value) for door, make in doors.items()}
            for name, value in VALUES_OF.get(kind, VALUES).items()
        }
        for kind, (read, doors) in DOORS.items()
    }


@pytest.fixture(scope="module")
def found():
    return table()


@pytest.mark.parametrize("kind", DOORS)
def test_no_door_disagrees(found, kind):
    odd = {
        (value, door): (result, row["reader"])
        for value, row in found[kind].items()
        for door, result in row.items()
        if result not in (NOT_HERE, REFUSED, row["reader"])
    }
    assert not odd


def test_what_a_reader_takes_is_refused_by_no_door(found):
    odd = {
        (kind, value, door)
        for kind, rows in found.items()
        for value, row in rows.items()
        for door, result in row.items()
        if result == REFUSED != row["reader"]
    }
    assert not odd


def test_credit_of_a_log_reads_its_labels_as_training_does(tmp_path):
    from setrl import methods
    from setrl.samples import Group, Sample

    labels = (" factor", "factor", 3, "3")
    samples = tuple(Sample("t", True, float(i % 2), label) for i, label in enumerate(labels))
    method = methods.poly_epo(2)
    found = scored_groups([Group("p", "p", samples)], method).advantages.values_BN
    want = method.advantages([[0.0, 1, 0, 1]], strategies=[[0, 0, 1, 1]]).values_BN
    np.testing.assert_array_equal(found, want)


OPENING = """# What odd values become

Every value goes through every door by which it can enter setrl: each calls one reader
(`setrl.samples.values`), so that it becomes the same everywhere, or is refused with an error that
shows it. [Unknown values](unknown.md) says what happens then. A test makes this page (`python -m
tests.samples.test_doors`).

The doors are an argument of `set_advantages`, as objects (core), an array of numbers (array) or a
tensor (tensor), what a function of yours returns to a trainer (function), a column of its data
(column), a log of any program (log; CSV, Parquet), an evaluation file (evaluation), the logs of
other tools (import TOOL), the rollouts of our own runs (rollout), a judge, verl's reward function
(verl), and the label of a control task (control). CSV holds texts
only.
"""
LONG = 40  # characters of a result that are shown


def page(found: dict[str, dict[str, dict[str, str]]]) -> str:
    """The page of the docs: what each value becomes as each kind, values that become equal once."""
    lines = [OPENING, *(f"- {kind}: {', '.join(DOORS[kind][1])}" for kind in DOORS), ""]
    lines += rows_of_page(found, "value", VALUES, [kind for kind in DOORS if kind not in VALUES_OF])
    lines += ["", "What two samples of a prompt have as pairs, and whether tokens were cut:"]
    for kind, values in VALUES_OF.items():
        lines += ["", *rows_of_page(found, "value", values, [kind])]
    return "\n".join(lines) + "\n"


def rows_of_page(
    found: dict[str, dict[str, dict[str, str]]], head: str, values: Any, kinds: Sequence[str]
) -> list[str]:
    """A table of values as some kinds."""
    alike: dict[tuple[str, ...], list[str]] = {}
    for value in values:
        results = [found[kind][value]["reader"] for kind in kinds]
        short = (one if len(one) <= LONG else f"{one[:8]} …" for one in results)
        alike.setdefault(tuple(short), []).append(f"`{value}`")
    lines = [f"| {head} | as {' | as '.join(kinds)} |", "|---" * (len(kinds) + 1) + "|"]
    return lines + [f"| {', '.join(names)} | {' | '.join(row)} |" for row, names in alike.items()]


def test_the_page_shows_the_table(found):
    assert PAGE.read_text() == page(found)


if __name__ == "__main__":
    PAGE.write_text(page(table()))
