"""tinker-cookbook's rollouts: iteration_<n>/<name>_rollout_summaries.jsonl, as 0.5.4 writes them.

A line is a trajectory: iteration, group_idx, traj_idx, tags, total_reward, trajectory_metrics, and
steps with the metrics and logs of the environment. It holds no prompts, and texts only of agents
that log their turns. (The texts of the first groups are in <name>_logtree.json next to it, which
does not say who wrote which; it is not read.)
"""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Iterator
from pathlib import Path

from setrl.logs.field_values import text_of
from setrl.logs.importers.importing import ALL_FIELDS, LogReader, field, number, reading, whole
from setrl.logs.options import LogOptions
from setrl.logs.paths import Record
from setrl.logs.strategies import strategy_of
from setrl.samples.types import Group, Sample
from setrl.samples.values import read_answer, read_tokens
from setrl.support.errors import ConfigError
from setrl.support.files import json_lines
from setrl.support.wording import count, have

SUMMARIES = "_rollout_summaries.jsonl"
TRAIN = f"train{SUMMARIES}"
ITERATION = re.compile(r"iteration_(\d+)")
TOTAL = "total_reward"
TURN_TEXT = "assistant_content"  # what the cookbook's agents write into the logs of each step


def iterations(folder: Path, name: str = TRAIN) -> dict[int, Path]:
    """Return iteration → its summaries of that name, of a log_path of tinker-cookbook."""
    path_of = {int(match[1]): path / name for path in folder.glob("iteration_*")
             if (match := ITERATION.fullmatch(path.name))}  # fmt: skip
    return {step: path for step, path in sorted(path_of.items()) if path.is_file()}


def evaluations(folder: Path) -> dict[str, dict[int, Path]]:
    """Name of a test set → iteration → summaries of its rollouts."""
    names = {path.name for path in folder.glob(f"iteration_*/eval_*{SUMMARIES}")}
    return {name.removesuffix(SUMMARIES): iterations(folder, name) for name in sorted(names)}


def _read_groups(path: Path, options: LogOptions, notes: list[str]) -> Iterator[Group]:
    groups: dict[int, list[tuple[str, Record]]] = defaultdict(list)
    for line_number, _, record in json_lines.read(path, "leave_out"):
        where = f"{path}:{line_number}"
        with reading(where):
            groups[whole(record, "group_idx", where)].append((where, record))
    for place, lines in sorted(groups.items()):
        for where, record in lines:
            with reading(where):
                yield _group_of_record(record, place, options, where)


def _group_of_record(record: Record, place: int, options: LogOptions, where: str) -> Group:
    step, logs = whole(record, "iteration", where), _last_step(record).get("logs") or {}
    tags = ", ".join(map(str, record.get("tags") or ()))
    split = str(record.get("split", "train"))
    # A test set has the same groups in every iteration; a batch of training has others.
    always = f"group {place} of {split}" if split != "train" else f"group {place} of step {step}"
    fields, key = options.fields, options.fields.strategy
    sample = Sample(
        _join_turns(record),
        reward=_read_score(record, fields.reward, where),
        answer=read_answer(field(logs, fields.answer, where)) if fields.answer else None,
        strategy=strategy_of(field(logs, key, where), options.degenerate) if key else None,
        tokens=_count_tokens(record),
    )
    gold = text_of(field(logs, fields.gold, where)) if fields.gold else None
    prompt = f"{always} ({tags}), whose prompt is not logged"
    return Group(f"{split}, step {step}: group {place}", prompt, (sample,), gold, step)


def _join_turns(record: Record) -> str:
    """Return what an agent has logged of its turns; "" if a turn is not logged."""
    turns = [(step.get("logs") or {}).get(TURN_TEXT) for step in record.get("steps") or ()]
    return "" if None in turns else "\n\n".join(map(str, turns))


def _count_tokens(record: Record) -> int | None:
    """Return how many tokens the policy wrote in all steps."""
    lengths = [read_tokens(step.get("ac_len")) for step in record.get("steps") or ()]
    known_lengths = [length for length in lengths if length is not None]
    return sum(known_lengths) if known_lengths and len(known_lengths) == len(lengths) else None


def _last_step(record: Record) -> Record:
    steps = record.get("steps") or [{}]
    return dict(steps[-1])


def _read_score(record: Record, name: str | None, where: str) -> float | None:
    """Return the total reward, or a metric of the environment or of the trajectory."""
    metrics = {
        **(record.get("trajectory_metrics") or {}),
        **(_last_step(record).get("metrics") or {}),
    }
    scores = {
        TOTAL: field(record, TOTAL, where),
        "final_reward": record.get("final_reward"),
        **metrics,
    }
    if name is not None and name not in scores:
        raise ConfigError(f"{where} has no score {name!r}; it has {', '.join(scores)}")
    return number(scores[name or TOTAL], where)


def _note_missing_texts(groups: list[Group]) -> list[str]:
    """Return a note on the samples whose text is not known."""
    samples = [sample for group in groups for sample in group.samples]
    missing = sum(not sample.text for sample in samples)
    if not missing:
        return []
    return [f"{missing} of {count(len(samples), 'sample')} {have(missing)} no text: the summaries "
            "hold only what agents log of their turns"]  # fmt: skip


READER = LogReader(
    (f"iteration_*/{TRAIN}", TRAIN),
    _read_groups,
    by_step=True,
    notice=_note_missing_texts,
    fields=ALL_FIELDS,
    shared_ids=True,
    known="",  # the folder of all iterations is recognised by `iterations`
)
