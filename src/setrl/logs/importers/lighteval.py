"""lighteval: what `--save-details` writes, details_<task>_<time>.parquet.

A row is a problem: doc (query, choices, gold_index, id, task_name), model_response (text: one for
each sample), metric (name → value); up to 0.12 the columns have double underscores, and before 0.11
there were other columns. The metrics are of the problem: with several samples they do not say which
are right, and samples must be verified.
"""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

from setrl.logs import parquet
from setrl.logs.field_values import is_verdict, text_of
from setrl.logs.importers.importing import (
    LogReader,
    choose_score,
    field,
    number,
    reading,
    without_time,
)
from setrl.logs.options import LogOptions
from setrl.samples.types import Group, Sample
from setrl.samples.values import read_tokens
from setrl.support.errors import DataError

COLUMNS = {"doc", "model_response", "metric"}


def _read_groups(path: Path, options: LogOptions, notes: list[str]) -> Iterator[Group]:
    for place, row in enumerate(parquet.each_row(path)):
        where = f"{path}, row {place}"
        with reading(where):
            yield _group_of_row(row, path.stem, place, options, where)


def _group_of_row(
    row: dict[str, Any], file: str, place: int, options: LogOptions, where: str
) -> Group:
    doc, response, metric = (
        _read_column(row, name, where) for name in ("doc", "model_response", "metric")
    )
    texts = field(response, "text", where)
    score = None
    if not options.verify:
        if len(texts) > 1:
            raise DataError(f"{where}: has one score for {len(texts)} samples: give --verify to "
                            "compare each sample with the gold")  # fmt: skip
        verdicts = [name for name, value in metric.items() if is_verdict(value)]
        score = number(metric[choose_score(verdicts, options.fields.reward, where)], where)
    name = f"{doc.get('task_name') or file}/{doc.get('id') or place}"
    tokens = [read_tokens(ids) or None for ids in response.get("output_tokens") or ()]
    tokens = tokens if len(tokens) == len(texts) else [None] * len(texts)  # it may be left out
    samples = tuple(
        Sample(None if text is None else str(text), reward=score, tokens=count)
        for text, count in zip(texts, tokens, strict=True)
    )
    prompt = str(field(doc, "query", where))
    return Group(name, prompt, samples, _gold_of_doc(doc), more={"task": name.rpartition("/")[0]})


def _read_column(row: dict[str, Any], name: str, where: str) -> dict[str, Any]:
    value = row.get(name, row.get(f"__{name}__"))
    if not isinstance(value, dict) and {"full_prompt", "predictions"} <= row.keys():
        raise DataError(f"{where}: is of lighteval before 0.11, whose details have other columns: "
                        "evaluate again with a later version")  # fmt: skip
    if not isinstance(value, dict):
        raise DataError(f"{where}: has no column {name!r}; it has {', '.join(row)}")
    return value


def _gold_of_doc(doc: dict[str, Any]) -> str | None:
    choices, index = doc.get("choices"), doc.get("gold_index")
    index = index[0] if isinstance(index, list) and index else index
    return text_of(choices[index]) if choices and isinstance(index, int) else None


def _is_lighteval_file(path: Path, start: bytes) -> bool:
    return start.startswith(b"PAR1") and {c.strip("_") for c in parquet.columns(path)} >= COLUMNS


READER = LogReader(
    ("**/details_*.parquet",),
    _read_groups,
    shared_ids=True,
    opens=_is_lighteval_file,
    source=without_time,
)
