"""TRL's completions: what `log_completions=True` writes, completions/completions_<step>.parquet.

Columns (TRL 1.16.0): step, prompt, completion, one for each reward function, one for each call of
`log_extra`, advantage. Groups have no column: the samples of a prompt in a step are a group. Where
trainers of setrl sampled the evaluation data, the advantage is NaN: these rows are left out.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from itertools import groupby
from pathlib import Path
from typing import Any

from setrl.grading.conversation import prompt_text
from setrl.groups import parquet
from setrl.groups.field_names import TOKENS_OF_TRAINERS
from setrl.groups.field_values import plain_name, tokens_in
from setrl.groups.fields import choose_score, field, label, number, reading
from setrl.groups.importers.importing import ALL_FIELDS, LogReader
from setrl.groups.options import LogOptions
from setrl.groups.strategies import strategy_of
from setrl.groups.types import Group, Sample, Strategy
from setrl.wording import count

COMPLETIONS = "completions_*.parquet"
LABEL_COLUMN = "cluster"  # in which setrl's trainers write the strategies
FIXED = ("step", "prompt", "completion", "advantage", LABEL_COLUMN)
NO_STRATEGY = "degenerate"  # and what they write there for a sample without one


def completions_folder(folder: Path) -> Path | None:
    """Where a trainer of TRL has logged its completions: the folder itself, or one in it."""
    for found in (folder, folder / "completions"):
        if found.is_dir() and any(found.glob(COMPLETIONS)):
            return found
    return None


def _groups(path: Path, options: LogOptions, notes: list[str]) -> Iterator[Group]:
    columns, rows = parquet.rows(path)
    fields = options.fields
    named = [fields.strategy, fields.answer, fields.gold]
    scores = [c for c in columns if c not in (*FIXED, *named) and _is_numeric(rows, c)
              and plain_name(c) not in TOKENS_OF_TRAINERS]  # fmt: skip
    reward = None if options.verify else choose_score(scores, fields.reward, str(path))
    if left_out := sum(map(_is_evaluation, rows)):
        notes.append(f"{path.name}: left out: {count(left_out, 'sample')} of the evaluation data")
    for place, row in enumerate(rows):
        if _is_evaluation(row):
            continue
        where = f"{path}, row {place}"
        with reading(where):
            yield _sample(row, reward, options, where)


def _is_evaluation(row: dict[str, Any]) -> bool:
    value = row.get("advantage", 0.0)
    return value is None or value != value


def _is_numeric(rows: list[dict[str, Any]], column: str) -> bool:
    return all(row[column] is None or isinstance(row[column], int | float) for row in rows)


def _sample(row: dict[str, Any], reward: str | None, options: LogOptions, where: str) -> Group:
    step, prompt = int(field(row, "step", where)), prompt_text(field(row, "prompt", where))

    def named(key: str | None) -> Any:
        return field(row, key, where) if key else None

    sample = Sample.of(
        field(row, "completion", where),
        reward=number(row[reward], where) if reward else None,
        strategy=_strategy(row, options, where),
        answer=label(named(options.fields.answer)),
        advantage=number(row.get("advantage"), where),
        tokens=tokens_in(row, TOKENS_OF_TRAINERS),
    )
    gold = label(named(options.fields.gold))
    return Group(f"step {step}: {prompt}", prompt, (sample,), gold, step)


def _strategy(row: dict[str, Any], options: LogOptions, where: str) -> Strategy:
    """Return the strategy of a row; None without a column."""
    column = options.fields.strategy or (LABEL_COLUMN if LABEL_COLUMN in row else None)
    if column is None:
        return None
    degenerate = NO_STRATEGY if column == LABEL_COLUMN else options.degenerate
    return strategy_of(field(row, column, where), degenerate)


def _shared_prompts(samples: list[Group]) -> list[str]:
    """Return a note if two rows of the data set seem to have one prompt, as one large group.

    TRL writes the samples of a row one after another: a prompt that comes again later in a step,
    or that has a multiple of the samples of the others, is two rows.
    """
    runs = [(name, len(list(run))) for name, run in groupby(samples, key=lambda one: one.id)]
    usual = Counter(size for _, size in runs).most_common(1)[0][0]
    again = Counter(name for name, _ in runs)
    shared = {name for name, size in runs if again[name] > 1 or size >= 2 * usual}
    if not shared:
        return []
    return [f"several rows of the data set seem to share {count(len(shared), 'prompt')}: the log "
            "does not separate their samples, which count as one group"]  # fmt: skip


READER = LogReader(
    (COMPLETIONS,),
    _groups,
    by_step=True,
    notice=_shared_prompts,
    fields=ALL_FIELDS,
    shared_ids=True,
    known=r"completions_(\d+)\.parquet",
)
