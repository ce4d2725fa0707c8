"""A check of a task as text for people."""

from __future__ import annotations

from setrl.support.wording import count, table
from setrl.tasks.visible import shortened
from setrl.train.lm.preflight.group_check_text import group_text
from setrl.train.lm.preflight.task_check import SplitCheck, TaskCheck

PROMPT_LENGTH = 1_500  # characters of a prompt that are shown


def task_check_text(found: TaskCheck) -> str:
    """Return what was found: prompts, splits, one group; problems and warnings come after it."""
    parts = [_prompts(found), _splits(found)]
    if found.group is not None:
        parts.append(group_text(found.group))
    return "\n\n".join(part for part in parts if part)


def _prompts(found: TaskCheck) -> str:
    reader = "the model reads them" if found.model else "they are in the file"
    shown = count(len(found.prompts), "prompt")
    blocks = [f"{shown} of {found.task}, as {reader}"]
    for one in found.prompts:
        text = shortened(one.text, PROMPT_LENGTH).replace("\n", "\n  │ ")
        blocks.append(f"{one.where}, {one.length:,} {found.unit}\n  │ {text}")
    return "\n".join(blocks) if found.prompts else ""


def _splits(found: TaskCheck) -> str:
    head = ["split", "problems", "golds left out", "twice", "also in train"]
    rows = [[*head, f"{found.unit}: median", "95%", "longest"]]
    rows += [_split(one) for one in found.splits]
    lines = [table(rows)]
    new = f"max_new_tokens {found.max_new_tokens:,}"
    if found.context is None:
        lines.append(f"{new}; the model's context is not known" if found.model else new)
    else:
        room = max(found.context - found.max_new_tokens, 0)
        lines.append(
            f"the model's context {found.context:,} − {new} = {room:,} tokens for a prompt"
        )
    return "\n".join(lines)


def _split(one: SplitCheck) -> list[str]:
    in_train = "—" if one.in_train is None else f"{one.in_train:,}"
    counts = [f"{one.problems:,}", f"{len(one.unfit):,}", f"{one.repeated:,}", in_train]
    return [one.split, *counts, f"{one.median:,g}", f"{one.most_95:,}", f"{one.longest:,}"]
