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

from setrl.files import json_lines
from setrl.groups.fields import field, label, number, plain, reading
from setrl.groups.importers.importing import ImportOptions, LoggedSample, LogReader

SAMPLE_UID = re.compile(r"(.+)_\d+_\d+")


def _samples(path: Path, options: ImportOptions, notes: list[str]) -> Iterator[LoggedSample]:
    lines = list(json_lines.read(path))
    uids = [str(line.record.get("uid")) for line in lines]
    shared = len(set(uids)) < len(uids)  # one uid a prompt, not one a sample
    for number_of_line, _, record in lines:
        where = f"{path}:{number_of_line}"
        with reading(where):
            yield _sample(record, shared, options, where)


def _sample(
    record: dict[str, Any], shared_uids: bool, options: ImportOptions, where: str
) -> LoggedSample:
    prompt, step = plain(field(record, "input", where)), int(field(record, "step", where))
    uid = str(record.get("uid") or "")
    match = SAMPLE_UID.fullmatch(uid)
    group = uid if shared_uids and uid else match[1] if match else prompt
    return LoggedSample(
        group=f"step {step}: {group}",
        prompt=prompt,
        text=plain(field(record, "output", where)),
        score=number(field(record, options.reward or "score", where), where),
        answer=label(record.get(options.answer)) if options.answer else None,
        gold=label(record.get(options.gold or "gts")),
        strategy=label(record.get(options.strategy)) if options.strategy else None,
        step=step,
    )


READER = LogReader(("*.jsonl",), _samples, by_step=True)
