"""lm-evaluation-harness: what `--log_samples` writes, samples_<task>_<time>.jsonl.

A line is a problem under one filter: doc_id, doc, target, arguments, resps ([[text, …]]),
filtered_resps, filter, metrics, and a key for each metric. The metrics are of the problem: with
`repeats` above 1 they do not say which of its samples are right, and samples must be verified.
"""

from __future__ import annotations

import json
import re
from collections import Counter
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

from setrl.logs.field_values import text_of
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
from setrl.samples.values import read_answer
from setrl.support.errors import ConfigError, DataError
from setrl.support.files import json_lines

OPENING = re.compile(rb'\s*\{"doc_id":.*"(?:doc|target|arguments|resps)":', re.DOTALL)
NO_METRICS = ("doc_id", "doc", "target", "resps", "filter")  # of the keys before the metrics


def _read_groups(path: Path, options: LogOptions, notes: list[str]) -> Iterator[Group]:
    filters: dict[str, None] = {}  # in the order of the file
    times: Counter[str] = Counter()
    task = {"task": without_time(path).removeprefix("samples_")}
    for line, _, record in json_lines.read(path):
        filter_name = str(record.get("filter") or _number_of_filter(record, times))
        filters.setdefault(filter_name)
        if filter_name == (options.filter or next(iter(filters))):
            where = f"{path}:{line}"
            with reading(where):
                yield replace(_group_of_record(record, options, where), more=task)
    _check_filters(path, list(filters), options.filter, notes)


def _number_of_filter(record: dict[str, Any], times: Counter[str]) -> int:
    """Return the number of a filter in a file of a version that wrote no names, from 1.

    Each filter has a line for the same responses to a problem; other responses are other samples.
    """
    same = json.dumps([record.get("doc_id"), record.get("resps")])
    times[same] += 1
    return times[same]


def _check_filters(path: Path, filters: list[str], chosen: str | None, notes: list[str]) -> None:
    """Note which filter was read, of several; refuse one that the file does not have."""
    if not filters:
        raise DataError(f"{path}: holds no lines")
    if chosen is not None and chosen not in filters:
        raise ConfigError(f"{path} has no filter {chosen!r}; it has {', '.join(filters)}")
    if len(filters) > 1 and chosen is None:
        notes.append(
            f"{path.name}: filter {filters[0]} is read, of {', '.join(filters)}; "
            "`setrl import lm-eval --filter` reads another"
        )


def _group_of_record(record: dict[str, Any], options: LogOptions, where: str) -> Group:
    texts = _read_texts(field(record, "resps", where), where)
    answers = _read_answers(record.get("filtered_resps"), len(texts))
    score = None
    if not options.verify:
        if len(texts) > 1:
            raise DataError(f"{where}: has one score for {len(texts)} samples: give --verify to "
                            "compare each sample with the target")  # fmt: skip
        metrics = [name for name in record.get("metrics") or _metric_keys(record) if name in record]
        score = number(record[choose_score(metrics, options.fields.reward, where)], where)
    samples = tuple(
        Sample(text, reward=score, answer=answer)
        for text, answer in zip(texts, answers, strict=True)
    )
    key = options.fields.gold
    gold = text_of(record["doc"].get(key) if key else record.get("target"))
    return Group(str(field(record, "doc_id", where)), _read_prompt(record), samples, gold)


def _metric_keys(record: dict[str, Any]) -> list[str]:
    """Return the keys of the metrics in a log of a version that does not list them."""
    numbers = (key for key, value in record.items() if isinstance(value, bool | int | float))
    return [key for key in numbers if key not in NO_METRICS]


def _read_texts(resps: Any, where: str) -> list[str]:
    texts = resps[0] if len(resps) == 1 and isinstance(resps[0], list) else resps
    if not texts or not all(isinstance(text, str) for text in texts):
        raise DataError(f"{where}: resps holds no generated texts; tasks by log-likelihood have "
                        "no samples")  # fmt: skip
    return list(texts)


def _read_answers(filtered: Any, count: int) -> list[str | None]:
    """Return what the filter read from each sample; None where it kept fewer of them."""
    if isinstance(filtered, list) and len(filtered) == 1 and isinstance(filtered[0], list):
        filtered = filtered[0]
    if not isinstance(filtered, list) or len(filtered) != count:
        return [None] * count
    return [None if answer == "[invalid]" else read_answer(answer) for answer in filtered]


def _read_prompt(record: dict[str, Any]) -> str:
    """Return the prompt: newer versions hold a dict of dicts, older ones lists."""
    arguments = record.get("arguments")
    first = arguments.get("gen_args_0") if isinstance(arguments, dict) else arguments
    if isinstance(first, dict) and isinstance(first.get("arg_0"), str):
        return str(first["arg_0"])
    if isinstance(first, list) and first and isinstance(first[0], list | tuple):
        return str(first[0][0])
    return str(record.get("doc", ""))


READER = LogReader(
    ("**/samples_*.jsonl",),
    _read_groups,
    fields=("reward", "gold"),
    opens=lambda _, start: OPENING.match(start) is not None,
    source=without_time,
)
