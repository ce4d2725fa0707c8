"""The curves of a training run while it trains: a dozen metrics, sent from a byte on."""

from __future__ import annotations

import asyncio
import json
from collections.abc import AsyncIterator, Callable
from pathlib import Path
from typing import Any

from setrl.support import files
from setrl.support.files import json_lines

CURATED = (
    "reward/mean",
    "strategies/correct_per_prompt",
    "strategies/per_prompt",
    "strategies/top_share",
    "strategies/degenerate",
    "advantage/dead_groups",
    "advantage/wrong_positive",
    "advantage/correct_negative",
    "policy/entropy",
    "policy/kl",
    "length/mean",
    "time/step",
    # tinker-cookbook's names
    "env/all/reward/total",
    "env/all/correct",
    "env/all/by_group/frac_mixed",
    "env/all/by_group/frac_all_good",
    "env/all/by_group/frac_all_bad",
    "env/all/ac_tokens_per_turn",
    "optim/entropy",
    "optim/kl_sample_train_v2",
    "time/total",
)
"""The metrics that are worth a look at every run, in the order of the page."""

FEW = 12
PART = 1 << 20  # bytes that are read at once
EVERY = 0.5  # seconds between two looks at a file that may grow


def read_from(path: Path, cursor: int) -> tuple[list[dict[str, Any]], int, int]:
    """Whole lines, at most about 1 MB of them, the byte where they begin, and the byte after them.

    Args:
        path: A file that may be written to.
        cursor: Where they should begin; a file in which no line begins there is read from its
            beginning, as one that has become shorter.
    """
    with path.open("rb") as file:
        start = cursor if _begins_line(file, cursor) else 0
        file.seek(start)
        part = file.read(PART)
        if b"\n" not in part:
            part += file.readline()
    whole = part[: part.rfind(b"\n") + 1]
    records = [record for line in whole.split(b"\n") if (record := _parse_line(line))]
    return records, start, start + len(whole)


def _begins_line(file: Any, cursor: int) -> bool:
    if cursor <= 0:
        return cursor == 0
    file.seek(cursor - 1)
    return bool(file.read(1) == b"\n")


def _parse_line(line: bytes) -> dict[str, Any]:
    """Return the object of a line; nothing for a line that is damaged, which a curve can lack."""
    try:
        return json_lines.parse(line)
    except ValueError:
        return {}


def chosen(record: dict[str, Any]) -> list[str]:
    """Return the metrics of a run that its page shows, by one of its steps.

    The curated ones; of a run that has hardly any of them, such as one of control, its evaluation
    and then the first others.
    """
    curated = [key for key in CURATED if key in record]
    if len(curated) >= 3:
        return curated
    keys = sorted(key for key, value in record.items() if key != "step" and _is_number(value))
    return sorted(keys, key=lambda key: not key.startswith("evaluation/"))[:FEW]


def _is_number(value: Any) -> bool:
    return isinstance(value, int | float) and not isinstance(value, bool)


async def events(
    path: Path,
    cursor: int,
    follow: bool,
    is_gone: Callable[[], Any],
    every: float = EVERY,
) -> AsyncIterator[str]:
    """Server-sent events: `restart` with all keys, then `steps` with new steps, without end.

    The id of an event is the byte from which the next one goes on, so a reader that lost its
    connection (Last-Event-ID) misses nothing and gets nothing twice.

    Args:
        path: metrics.jsonl.
        cursor: The byte after the last line that the reader has.
        follow: Whether to wait for more; otherwise `end` follows the last step.
        is_gone: Whether the reader has left.
        every: Seconds between two looks.
    """
    keys: list[str] = []
    while not await is_gone():
        records, start, after = await asyncio.to_thread(read_from, path, cursor)
        if records and (not keys or start != cursor):
            keys = await asyncio.to_thread(_keys_of_first_steps, path)
            if start == 0:
                yield event("restart", {"keys": keys}, 0)
        cursor = after
        if records:
            steps = [{key: record.get(key) for key in ("step", *keys)} for record in records]
            yield event("steps", steps, cursor)
        elif follow:
            yield ": still here\n\n"
            await asyncio.sleep(every)
        else:
            yield event("end", {}, cursor)
            return


def _keys_of_first_steps(path: Path) -> list[str]:
    """Return the chosen metrics, by the first steps: some are not logged at every step."""
    records, _, _ = read_from(path, 0)
    merged: dict[str, Any] = {}
    for record in records:
        merged |= record
    return chosen(merged)


def event(kind: str, data: Any, cursor: int) -> str:
    """One server-sent event; JSON has no line breaks, so its text cannot end the event."""
    text = json.dumps(files.plain_json(data), allow_nan=False)
    return f"id: {cursor}\nevent: {kind}\ndata: {text}\n\n"
