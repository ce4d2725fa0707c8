"""The problems of a task's file: prompts, golds and columns are read and checked."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any

from setrl.support.errors import DataError
from setrl.support.wording import count, first_of, have
from setrl.tasks import tables
from setrl.tasks.benchmarks import ANSWER_KEYS, PROBLEM_KEYS, kind_of, own_id, plain_gold
from setrl.tasks.domains import Problem
from setrl.tasks.spec import TaskSpec
from setrl.tasks.splits import place_of
from setrl.tasks.tables import ProblemTable

SHOWN = 30  # rows that a message lists

# TRL uses these names for what it passes to functions, and for pictures in prompts.
PICTURES = ("image", "images")
RESERVED = frozenset({
    "prompt", "prompts", "completion", "completions", "completion_ids", *PICTURES,
    "trainer_state", "log_extra", "log_metric", "environments",
})  # fmt: skip


def read_problems(table: ProblemTable, spec: TaskSpec) -> list[Problem]:
    """Return the problems of a table; this does not check whether their golds can be used.

    Raises:
        DataError: If a field is missing, or a prompt is not text; the error names row and fields.
    """
    prompt, gold = prompt_field(table, spec), gold_field(table, spec)
    named = tables.template_fields(prompt)
    if gold is not None and gold in named:
        raise DataError(
            f"task.prompt names the field of the gold, {gold!r}: the model would read the answer"
        )
    problems = []
    for where, row in table.rows:
        text = _read_prompt((where, row), prompt)
        value = None if gold is None else tables.find_field(row, gold, where)
        problems.append(_make_problem(where, text, value, gold, row, spec.needs_gold))
    return _unify_column_types(problems)


def without_incomplete_rows(table: ProblemTable, spec: TaskSpec) -> ProblemTable:
    """Return the rows that can be problems; others are skipped if asked to.

    Raises:
        DataError: Naming all rows that lack the prompt or the gold, unless they are to be skipped.
    """
    if not table.rows:
        return table
    prompt, gold = prompt_field(table, spec), gold_field(table, spec)
    texts = tables.template_fields(prompt) or [prompt]
    for field in filter(None, (*texts, gold)):
        if not any(tables.has_field(row, field) for _, row in table.rows):
            tables.find_field(table.rows[0][1], field, table.rows[0][0])  # which says what it has
    if all(_find_row_fault(row, texts, None) for _, row in table.rows):
        _read_prompt(table.rows[0], prompt)  # which says what the first prompt is
    faults: dict[str, list[str]] = {}
    rows = []
    for where, row in table.rows:
        if fault := _find_row_fault(row, texts, gold):
            faults.setdefault(fault, []).append(where.removeprefix(table.where).lstrip(":, "))
        else:
            rows.append((where, row))
    if faults and not spec.skip_missing:
        text = "; ".join(
            f"{len(places)} of {count(len(table.rows), 'row')} {have(len(places))} {fault} "
            f"(at {first_of(places, SHOWN)})"
            for fault, places in faults.items()
        )
        raise DataError(
            f"{table.where}: {text}: complete them, or leave them out with task.skip_missing: true"
        )
    return replace(table, rows=tuple(rows))


def _read_prompt(placed: tuple[str, Mapping[str, Any]], prompt: str) -> str:
    """Return the prompt of a row: a filled template, or a field."""
    where, row = placed
    if tables.template_fields(prompt):
        return tables.fill_template(prompt, row, where)
    return tables.as_prompt(tables.find_field(row, prompt, where), prompt, where)


def _find_row_fault(row: Mapping[str, Any], texts: Sequence[str], gold: str | None) -> str | None:
    """Return what is wrong with the prompt or the gold of a row."""
    for field in (*texts, *([gold] if gold else [])):
        if not tables.has_field(row, field):
            return f"no field {field!r}"
    for field in texts:
        value = tables.find_field(row, field, "")
        if not tables.is_numbers(value) and (why := tables.why_no_prompt(value)):
            return f"a prompt in {field!r} that {why}"
    return None


def prompt_field(table: ProblemTable, spec: TaskSpec) -> str:
    """Return the field of the prompt, or its template.

    Raises:
        DataError: If no usual field is there.
    """
    field = spec.prompt or tables.first_known(table.fields, PROBLEM_KEYS)
    if field is None:
        raise _missing_field_error(table, "prompt", PROBLEM_KEYS)
    return field


def gold_field(table: ProblemTable, spec: TaskSpec) -> str | None:
    """Return the field of the gold; None if no field holds it and no reward needs it.

    Raises:
        DataError: If a reward needs it.
    """
    field = spec.gold or tables.first_known(table.fields, ANSWER_KEYS)
    if field is None and spec.needs_gold:
        raise _missing_field_error(table, "gold", ANSWER_KEYS)
    return field


def _missing_field_error(table: ProblemTable, key: str, names: Sequence[str]) -> DataError:
    return DataError(
        f"{table.where}: has none of the fields {', '.join(names)}; it has "
        f"{', '.join(table.fields) or 'none'}: name the right one under task.{key}"
    )


def _make_problem(
    where: str, prompt: str, value: Any, gold: str | None, row: Mapping[str, Any], graded: bool
) -> Problem:
    columns = {key: value for key, value in row.items() if key not in RESERVED}
    if gold is None:
        return Problem(prompt, columns=columns, where=where)
    text = _to_column_text(value) if graded else value  # a function reads the value of the file
    return Problem(
        prompt, gold=_to_column_text(value), columns={**columns, gold: text}, where=where
    )


def _unify_column_types(problems: list[Problem]) -> list[Problem]:
    """Turn columns of numbers and strings into strings: a data set's column has one type."""
    kinds: dict[str, set[type]] = {}
    for problem in problems:
        for key, value in problem.columns.items():
            if value is not None:
                kinds.setdefault(key, set()).add(type(value))
    scalars = {str, int, float, bool}
    mixed = {key for key, types in kinds.items() if len(types) > 1 and types <= scalars}
    if not mixed:
        return problems
    columns = (
        {
            key: _to_column_text(value) if key in mixed else value
            for key, value in problem.columns.items()
        }
        for problem in problems
    )
    return [replace(problem, columns=row) for problem, row in zip(problems, columns, strict=True)]


def _to_column_text(value: Any) -> str | None:
    return None if value is None else plain_gold(value)


def with_ids(problems: Sequence[Problem], prefix: str) -> list[Problem]:
    """Return the problems of a split with ids and kinds.

    The ids are the file's own if those are all different, or else hashes of the prompts.
    """
    identities = [own_id(problem.columns) for problem in problems]
    if None in identities or len(set(identities)) < len(identities):
        identities = [f"{int(place_of(problem.prompt) * 2**48):012x}" for problem in problems]
    counts: Counter[str | None] = Counter()
    identified = []
    for identity, problem in zip(identities, problems, strict=True):
        counts[identity] += 1
        again = f"-{counts[identity]}" if counts[identity] > 1 else ""
        kind = kind_of(problem.columns)
        identified.append(replace(problem, id=f"{prefix}/{identity}{again}", kind=kind))
    return identified
