"""verl's rollouts: what `trainer.rollout_data_dir` and `validation_data_dir` write, <step>.jsonl.

A line is a sample: input, output, gts, score, step, and what the reward function returned besides
(as acc). Newer versions add uid, "<sample>_<rollout>_<output>"; older ones may hold a uid that the
samples of a prompt share. Without one the samples of an input in a step are one group.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from setrl.logs.field_table import TOKENS_OF_TRAINERS
from setrl.logs.field_values import text_of, tokens_in
from setrl.logs.importers.importing import ALL_FIELDS, LogReader, field, number, reading, whole
from setrl.logs.options import LogOptions
from setrl.logs.strategies import strategy_of
from setrl.samples.conversation import prompt_text
from setrl.samples.types import Group, Sample
from setrl.samples.values import read_answer
from setrl.support.errors import ConfigError
from setrl.support.files import json_lines

SAMPLE_UID = re.compile(r"(.+)_\d+_\d+")


def _read_groups(path: Path, options: LogOptions, notes: list[str]) -> Iterator[Group]:
    lines = list(json_lines.read(path))
    uids = [str(line.record.get("uid")) for line in lines]
    shared = len(set(uids)) < len(uids)  # one uid a prompt, not one a sample
    name = options.fields.strategy
    if name and not any(name in line.record for line in lines):
        raise ConfigError(f"{path}: --strategy: there is no field {name!r}; the lines have "
                          f"{', '.join(lines[0].record if lines else ())}")  # fmt: skip
    for number_of_line, _, record in lines:
        where = f"{path}:{number_of_line}"
        with reading(where):
            yield _group_of_record(record, shared, options, where)


def _group_of_record(
    record: dict[str, Any], shared_uids: bool, options: LogOptions, where: str
) -> Group:
    prompt, step = prompt_text(field(record, "input", where)), whole(record, "step", where)
    uid = str(record.get("uid") or "")
    match = SAMPLE_UID.fullmatch(uid)
    group = uid if shared_uids and uid else match[1] if match else prompt
    fields, key = options.fields, options.fields.strategy
    sample = Sample.of(
        field(record, "output", where),
        reward=number(field(record, fields.reward or "score", where), where),
        answer=None if fields.answer is None else read_answer(record.get(fields.answer)),
        strategy=None if key is None else strategy_of(record.get(key), options.degenerate),
        tokens=tokens_in(record, TOKENS_OF_TRAINERS),
    )
    gold = text_of(record.get(fields.gold or "gts"))
    return Group(f"step {step}: {group}", prompt, (sample,), gold, step)


READER = LogReader(
    ("*.jsonl",),
    _read_groups,
    by_step=True,
    fields=ALL_FIELDS,
    shared_ids=True,
    known=r"(\d+)\.jsonl",
)
