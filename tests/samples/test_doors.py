"""The table of values × doors: what an odd value becomes is the same at each door, or refused.

`python -m tests.samples.test_doors` writes docs/values.md, which the test holds to the table.
"""

import json
import math
import tempfile
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch

from setrl import DEGENERATE
from setrl.control.labels import numbers_of
from setrl.core.inputs import read_samples
from setrl.judges.base import judgement_by_names
from setrl.samples import FieldNames, LogOptions, open_log
from setrl.samples.rollouts import group_of_rollout
from setrl.samples.samples import READER_OF
from setrl.samples.values import read_answer, read_label, read_number, read_outcome
from setrl.support.errors import ConfigError, DataError, RunError
from setrl.train.gathering import functions
from setrl.train.gathering.credit import scored_groups

PAGE = Path(__file__).parents[2] / "docs" / "values.md"
REFUSED, NOT_HERE = "refused", "—"  # the second: a file of JSON cannot hold the value
COLUMNS = {"correct": "correct", "rewards": "reward", "answers": "answer", "strategies": "strategy"}

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
    "1.5": 1.5,
    '"1.5"': "1.5",
    "0.25": 0.25,
    "2**53": 2**53,
    "2**60": 2**60,
    "str(2**60)": str(2**60),
    "10**400": 10**400,
    "None": None,
    "math.nan": math.nan,
    "np.float64('nan')": np.float64("nan"),
    "math.inf": math.inf,
    '""': "",
    '"  "': "  ",
    '"null"': "null",
    '"factor"': "factor",
    '" factor "': " factor ",
    '"caf\\u00e9"': "café",
    '"cafe\\u0301"': "café",
    '"①"': "①",
    '"007"': "007",
    '"correct"': "correct",
    '"Wrong"': "Wrong",
    '"maybe"': "maybe",
    "1j": 1j,
    'b"1"': b"1",
    "[1]": [1],
}


def in_core(field: str, read: Callable[[Any], Any]) -> Callable[[Any], Any]:
    """What `set_advantages` makes of a value: equal to the value as read, or it is refused."""

    def door(value: Any) -> Any:
        column = np.empty((1, 2), dtype=object)
        column[0, 0], column[0, 1] = value, value
        if field == "rewards":
            samples = read_samples(column, ["rewards"], {})
            return samples.rewards[0, 0].item()
        samples = read_samples([[1, 1]], [field], {field: column})
        if not samples.mask[0, 0]:
            return None
        found = getattr(samples, field)[0, 0].item()
        if field == "correct" or found == DEGENERATE:
            return found
        known = read(value)
        column[0, 1] = known
        both = getattr(read_samples([[1, 1]], [field], {field: column}), field)[0]
        return known if both[0] == both[1] else "another"

    return door


def in_function(check: Callable[..., Any]) -> Callable[[Any], Any]:
    """What a trainer makes of a value that a user's function returns."""
    return lambda value: check(lambda **_: [value])(completions=["a"])[0]


def in_column(field: str) -> Callable[[Any], Any]:
    """What a trainer makes of a value in a column of the data."""
    if field == "correct":
        return lambda value: functions.outcome_column("x")(x=[value])[0]
    names = {"strategies": "families", "rewards": "second", "answers": "answers"}
    name = names[field]
    return lambda value: functions.functions_of({name: "x"})[name](x=[value])[0]


def in_log(field: str) -> Callable[[Any], Any]:
    """What a log of any program makes of a value in a row."""

    def door(value: Any) -> Any:
        named = COLUMNS[field]
        rows = [{"id": "p", "text": "t", "reward": 1, named: value},
                {"id": "p", "text": "u", "reward": 0, named: "1"}]  # fmt: skip
        needs = ["correct"] if field == "correct" else []
        fields = FieldNames(group=("id",), **({named: named} | {"reward": "reward"}))
        with tempfile.TemporaryDirectory() as folder:
            path = Path(folder) / "log.jsonl"
            path.write_text("".join(json.dumps(row) + "\n" for row in rows))
            [group] = open_log(path, LogOptions(fields), needs)
        return getattr(group.samples[0], named)

    return door


def in_rollout(field: str) -> Callable[[Any], Any]:
    """What a page makes of a value in the rollouts of our own runs."""

    def door(value: Any) -> Any:
        sample = {"text": "t", "reward": 1, COLUMNS[field]: value}
        sample = json.loads(json.dumps(sample))
        group = group_of_rollout({"prompt": "p", "samples": [sample]}, 1, "here")
        return getattr(group.samples[0], COLUMNS[field])

    return door


def in_judge(value: Any) -> Any:
    """What a judge's name of a strategy becomes."""
    judgement = judgement_by_names([value])
    assert judgement.labels_N is not None
    assert judgement.names_N is not None
    if judgement.labels_N[0] == DEGENERATE:
        return DEGENERATE
    return read_label(judgement.names_N[0])


def in_control(value: Any) -> Any:
    """What the label of a trajectory becomes."""
    found, same = numbers_of([value, read_label(value)])
    if math.isnan(found) or found == DEGENERATE:
        return None if math.isnan(found) else DEGENERATE
    return read_label(value) if found == same else "another"


DOORS: dict[str, tuple[Callable[[Any], Any], dict[str, Callable[[Any], Any]]]] = {
    "label": (read_label, {
        "core": in_core("strategies", read_label),
        "function": in_function(functions.checked_labels),
        "column": in_column("strategies"),
        "log": in_log("strategies"),
        "rollout": in_rollout("strategies"),
        "judge": in_judge,
        "verl": READER_OF["strategies"],
        "control": in_control,
    }),
    "outcome": (read_outcome, {
        "core": in_core("correct", read_outcome),
        "function": in_function(functions.checked_outcome),
        "column": in_column("correct"),
        "log": in_log("correct"),
        "rollout": in_rollout("correct"),
        "verl": READER_OF["correct"],
    }),
    "number": (read_number, {
        "core": in_core("rewards", read_number),
        "function": in_function(functions.checked_rewards),
        "column": in_column("rewards"),
        "log": in_log("rewards"),
        "rollout": in_rollout("rewards"),
        "verl": READER_OF["proxy"],
    }),
    "answer": (read_answer, {
        "core": in_core("answers", read_answer),
        "function": lambda value: functions.functions_of({"answers": lambda **_: [value]})[
            "answers"](completions=["a"])[0],
        "column": in_column("answers"),
        "log": in_log("answers"),
        "verl": READER_OF["answers"],
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
    except (ConfigError, DataError, RunError, ValueError) as error:
        return NOT_HERE if "not JSON serializable" in str(error) else REFUSED
    except TypeError as error:
        if "hashable" in str(error):
            return REFUSED
        if "not JSON serializable" in str(error):
            return NOT_HERE
        raise


def table() -> dict[str, dict[str, dict[str, str]]]:
    """Kind of value → value → door → what it becomes; "reader" is the reader itself."""
    return {
        kind: {
            name: {"reader": through(read, value)}
            | {door: through(make, value) for door, make in doors.items()}
            for name, value in VALUES.items()
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
    """But for a judge, which has a reason instead of a label that it does not know."""
    odd = {
        (kind, value, door)
        for kind, rows in found.items()
        for value, row in rows.items()
        for door, result in row.items()
        if result == REFUSED != row["reader"]
        and not (door == "judge" and row["reader"] == "unknown")
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

The doors are an argument of `set_advantages` (core), what a function of yours returns to a trainer
(function), a column of its data (column), a log of any program (log), the rollouts of our own runs
(rollout), a judge, verl's reward function (verl), and the label of a control task (control). A
judge refuses a label that is unknown: it has a reason instead.
"""
LONG = 40  # characters of a result that are shown


def page(found: dict[str, dict[str, dict[str, str]]]) -> str:
    """The page of the docs: what each value becomes as each kind, values that become equal once."""
    alike: dict[tuple[str, ...], list[str]] = {}
    for value in VALUES:
        results = [found[kind][value]["reader"] for kind in DOORS]
        short = (one if len(one) <= LONG else f"{one[:8]} …" for one in results)
        alike.setdefault(tuple(short), []).append(f"`{value}`")
    lines = [OPENING, *(f"- {kind}: {', '.join(DOORS[kind][1])}" for kind in DOORS), ""]
    lines += [f"| value | as {' | as '.join(DOORS)} |", "|---" * (len(DOORS) + 1) + "|"]
    lines += [f"| {', '.join(values)} | {' | '.join(row)} |" for row, values in alike.items()]
    return "\n".join(lines) + "\n"


def test_the_page_shows_the_table(found):
    assert PAGE.read_text() == page(found)


if __name__ == "__main__":
    PAGE.write_text(page(table()))
