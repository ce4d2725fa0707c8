"""tinker-cookbook's rollouts: iteration_<n>/<name>_rollout_summaries.jsonl, as 0.5.4 writes them.

A line is a trajectory: iteration, group_idx, traj_idx, tags, total_reward, trajectory_metrics, and
steps with the metrics and logs of the environment. It holds no texts. The texts of the first groups
(`num_groups_to_log`) are in <name>_logtree.json next to it, in the order in which the samples
ended, not in the order of traj_idx. So a sample gets texts only where the log leaves no choice.
"""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any, NamedTuple

from setrl.samples.conversation import plain_text
from setrl.samples.fields import field, number, reading, text_of
from setrl.samples.importers.importing import ALL_FIELDS, LogReader
from setrl.samples.options import LogOptions
from setrl.samples.records import Record
from setrl.samples.strategies import strategy_of
from setrl.samples.types import Group, Sample
from setrl.samples.values import read_answer
from setrl.support import files
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
    found = {int(match[1]): path / name for path in folder.glob("iteration_*")
             if (match := ITERATION.fullmatch(path.name))}  # fmt: skip
    return {step: path for step, path in sorted(found.items()) if path.is_file()}


def evaluations(folder: Path) -> dict[str, dict[int, Path]]:
    """Name of a test set → iteration → summaries of its rollouts."""
    names = {path.name for path in folder.glob(f"iteration_*/eval_*{SUMMARIES}")}
    return {name.removesuffix(SUMMARIES): iterations(folder, name) for name in sorted(names)}


class _Attempt(NamedTuple):
    """What the tree holds of one sample: what it wrote, and the reward of its step as text."""

    text: str
    reward: str


class _Section(NamedTuple):
    """What the tree holds of one group.

    Attributes:
        prompt: What the model was given; None if the environment did not log it.
        attempts: The attempts in the order in which they ended.
        steps: The numbers of the steps of each trajectory, which identify its group.
    """

    prompt: str | None
    attempts: tuple[_Attempt, ...]
    steps: tuple[tuple[tuple[str, ...], ...], ...]


def _groups(path: Path, options: LogOptions, notes: list[str]) -> Iterator[Group]:
    groups: dict[int, list[tuple[str, Record]]] = defaultdict(list)
    for line_number, _, record in json_lines.read(path, "leave_out"):
        where = f"{path}:{line_number}"
        with reading(where):
            groups[int(field(record, "group_idx", where))].append((where, record))
    sections = _sections(path)
    for place, lines in sorted(groups.items()):
        with reading(lines[0][0]):
            found = _next_section(sections, [record for _, record in lines])
            texts = _texts([record for _, record in lines], found, options)
        for (where, record), text in zip(lines, texts, strict=True):
            with reading(where):
                yield _sample(record, place, found, text, options, where)


def _sample(
    record: Record,
    place: int,
    section: _Section | None,
    text: str | None,
    options: LogOptions,
    where: str,
) -> Group:
    step, last = int(field(record, "iteration", where)), _last_step(record)
    tags = ", ".join(map(str, record.get("tags") or ()))
    split = str(record.get("split", "train"))
    # A test set has the same groups in every iteration; a batch of training has others.
    always = f"group {place} of {split}" if split != "train" else f"group {place} of step {step}"
    prompt = section.prompt if section else None
    logs = last.get("logs") or {}
    fields, key = options.fields, options.fields.strategy
    strategy = strategy_of(field(logs, key, where), options.degenerate) if key else None
    sample = Sample(
        text or "",
        reward=_score(record, fields.reward, where),
        answer=read_answer(field(logs, fields.answer, where)) if fields.answer else None,
        strategy=strategy,
        tokens=_tokens(record),
    )
    gold = text_of(field(logs, fields.gold, where)) if fields.gold else None
    prompt = f"{always} ({tags}), whose prompt is not logged" if prompt is None else prompt
    return Group(f"{split}, step {step}: group {place}", prompt, (sample,), gold, step)


def _tokens(record: Record) -> int | None:
    """Return how many tokens the policy wrote in all steps."""
    lengths = [step.get("ac_len") for step in record.get("steps") or ()]
    return sum(lengths) if lengths and None not in lengths else None


def _last_step(record: Record) -> Record:
    steps = record.get("steps") or [{}]
    return dict(steps[-1])


def _score(record: Record, wanted: str | None, where: str) -> float | None:
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
    if wanted is not None and wanted not in scores:
        raise ConfigError(f"{where} has no score {wanted!r}; it has {', '.join(scores)}")
    return number(scores[wanted or TOTAL], where)


def _texts(
    records: Sequence[Record], section: _Section | None, options: LogOptions
) -> list[str | None]:
    """Return what each sample wrote; None where the log does not tell.

    Samples of one reward whose records are alike in all that is read may change places; so may
    equal texts.
    """
    own = [_logged_text(record) for record in records]
    if section is None or any(text is not None for text in own):
        return own
    attempts: dict[str, list[str]] = defaultdict(list)
    for attempt in section.attempts:
        attempts[attempt.reward].append(attempt.text)
    alike: dict[str, list[int]] = defaultdict(list)
    for place, record in enumerate(records):
        alike[_reward(record)].append(place)
    if {k: len(v) for k, v in attempts.items()} != {k: len(v) for k, v in alike.items()}:
        return own
    for reward, places in alike.items():
        texts = attempts[reward]
        kinds = {_read_of(records[place], options) for place in places}
        if len(kinds) == 1 or len(set(texts)) == 1:
            for place, text in zip(places, texts, strict=True):
                own[place] = text
    return own


def _logged_text(record: Record) -> str | None:
    turns = [(step.get("logs") or {}).get(TURN_TEXT) for step in record.get("steps") or ()]
    return "\n\n".join(map(str, turns)) if turns and None not in turns else None


def _reward(record: Record) -> str:
    """Return the reward of the only step, as the tree writes it; "" for several steps."""
    steps: list[Record] = record.get("steps") or []
    return f"{steps[0]['reward']:.3f}" if len(steps) == 1 else ""


def _read_of(record: Record, options: LogOptions) -> str:
    """Everything that is read from a record except its text."""
    logs = _last_step(record).get("logs") or {}
    fields = options.fields
    named = [logs.get(key) for key in (fields.strategy, fields.answer, fields.gold) if key]
    return repr([_score(record, fields.reward, ""), *named])


def _sections(path: Path) -> list[_Section]:
    """Return the groups of the tree next to a file of summaries, in order."""
    tree = path.with_name(path.name.removesuffix(SUMMARIES) + "_logtree.json")
    if not tree.is_file():
        return []
    with reading(str(tree)):
        root = files.read_json(tree).get("root")
        return [_section(node) for node in _headed(root, "Group Rollout")]


def _section(node: Record) -> _Section:
    prompts = {text for one in _headed(node, "Prompt") if (text := _conversation(one)) is not None}
    answers = [_conversation(one) for one in _headed(node, "Policy Response")]
    rewards = [_table(one).get("reward") for one in _headed(node, "Reward")]
    attempts = [
        _Attempt(text, reward)
        for text, reward in zip(answers, rewards, strict=False)
        if text is not None and reward is not None
    ]
    is_whole = len(attempts) == len(answers) == len(rewards)
    details = _headed(node, "Trajectory Details")
    trajectories = _children_headed(details[0]) if details else []
    return _Section(
        prompts.pop() if len(prompts) == 1 else None,
        tuple(attempts) if is_whole else (),
        tuple(_steps_of(one) for one in trajectories),
    )


def _steps_of(trajectory: Record) -> tuple[tuple[str, ...], ...]:
    turns = [node for node in _all_sections(trajectory) if _title(node).startswith("Turn ")]
    keys = ("ob_len", "ac_len", "step_reward")
    return tuple(tuple(table.get(key, "") for key in keys) for table in map(_table, turns))


def _next_section(sections: list[_Section], records: Sequence[Record]) -> _Section | None:
    """Return the section of a group, which is taken from the list.

    Only the tree has sections of groups that failed, and only the summaries have groups beyond the
    logged ones. The lengths and rewards of all steps say which belong together.
    """
    wanted = tuple(
        tuple((str(s["ob_len"]), str(s["ac_len"]), f"{s['reward']:.3f}") for s in record["steps"])
        for record in sorted(records, key=lambda one: int(one["traj_idx"]))
    )
    for place, section in enumerate(sections):
        if section.steps == wanted:
            del sections[: place + 1]
            return section
    return None


def _all_sections(node: Any) -> Iterator[Record]:
    """Yield the sections below a node, also inside other sections."""
    for child in node.get("children") or () if isinstance(node, dict) else ():
        if isinstance(child, dict):
            if child.get("tag") == "section":
                yield child
            yield from _all_sections(child)


def _headed(node: Any, title: str) -> list[Record]:
    return [one for one in _all_sections(node) if _title(one) == title]


def _children_headed(node: Record) -> list[Record]:
    return [one for one in _all_sections(node) if _title(one).startswith("Trajectory ")]


def _title(section: Record) -> str:
    """Return the heading of a section: its first child's text."""
    children = section.get("children") or [{}]
    inside = children[0].get("children") if isinstance(children[0], dict) else None
    return str(inside[0]) if inside else ""


def _conversation(section: Record) -> str | None:
    """Return the last message of the conversation in a section."""
    for node in _nodes(section):
        data = node.get("data")
        if isinstance(data, dict) and data.get("type") == "conversation" and data.get("messages"):
            return plain_text(data["messages"])
    return None


def _table(section: Record) -> dict[str, str]:
    """Return the first table of keys and values in a section."""
    for node in _nodes(section):
        if node.get("tag") == "tbody":
            rows = [
                [
                    "".join(map(str, cell.get("children") or ()))
                    for cell in row.get("children") or ()
                ]
                for row in node.get("children") or ()
                if isinstance(row, dict)
            ]
            return {row[0]: row[1] for row in rows if len(row) == 2}
    return {}


def _nodes(node: Any) -> Iterator[Record]:
    """Yield a node and all nodes below it."""
    if isinstance(node, dict):
        yield node
        for child in node.get("children") or ():
            yield from _nodes(child)


def _without_text(groups: list[Group]) -> list[str]:
    """Return a note on the samples whose text is not known."""
    samples = [sample for group in groups for sample in group.samples]
    missing = sum(not sample.text for sample in samples)
    if not missing:
        return []
    return [f"{missing} of {count(len(samples), 'sample')} {have(missing)} no text: the log holds "
            "texts of only the first groups (num_groups_to_log), and not always who wrote "
            "which"]  # fmt: skip


READER = LogReader(
    (f"iteration_*/{TRAIN}", TRAIN),
    _groups,
    by_step=True,
    notice=_without_text,
    fields=ALL_FIELDS,
    shared_ids=True,
    known="",  # the folder of all iterations is recognised by `iterations`
)
