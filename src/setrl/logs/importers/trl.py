"""TRL's completions: what `log_completions=True` writes, completions/completions_<step>.parquet.

Columns (TRL 1.16.0): step, prompt, completion, one for each reward function, one for each call of
`log_extra`, advantage; `credited_reward` of setrl's trainers where it is not the sum of the
functions. Groups have no column: the samples of a prompt in a step are a group. Where
trainers of setrl sampled the evaluation data, the advantage is NaN: these rows are left out.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from itertools import groupby
from pathlib import Path
from typing import Any

from setrl.logs import parquet
from setrl.logs.field_table import TOKENS_OF_TRAINERS
from setrl.logs.field_values import plain_name, text_of, tokens_in
from setrl.logs.importers.importing import (
    ALL_FIELDS,
    LogReader,
    choose_score,
    field,
    number,
    reading,
    whole,
)
from setrl.logs.options import LogOptions
from setrl.logs.roles import FieldNames
from setrl.logs.strategies import strategy_of
from setrl.samples.conversation import prompt_text
from setrl.samples.types import Group, Sample
from setrl.samples.values import Label, is_outcome, read_answer
from setrl.support.errors import ConfigError
from setrl.support.wording import count

COMPLETIONS = "completions_*.parquet"
LABEL_COLUMN = "strategy"  # in which setrl's trainers write the strategies
CREDITED_COLUMN = "credited_reward"  # what they credit, where it is no sum of the scores
LABEL_COLUMNS = (LABEL_COLUMN, "cluster")  # and other tools
FIXED = ("step", "prompt", "completion", "advantage", *LABEL_COLUMNS)


def completions_folder(folder: Path) -> Path | None:
    """Where a trainer of TRL has logged its completions: the folder itself, or one in it."""
    both = (folder, folder / "completions")
    return next((path for path in both if path.is_dir() and any(path.glob(COMPLETIONS))), None)


def _read_groups(path: Path, options: LogOptions, notes: list[str]) -> Iterator[Group]:
    rows = list(parquet.each_row(path))
    columns = parquet.columns(path)
    fields = options.fields
    named = [fields.strategy, fields.answer, fields.gold]
    named_scores = fields.reward, fields.correct
    scores = [c for c in columns if c in named_scores or (c not in (*FIXED, *named) and (
              _is_numeric(rows, c)) and plain_name(c) not in TOKENS_OF_TRAINERS)]  # fmt: skip
    reward = {} if options.verify else _score_weights(scores, fields, columns, str(path))
    if fields.correct is not None and fields.correct not in scores:
        choose_score(scores, fields.correct, str(path))
    if left_out := sum(map(_is_evaluation_row, rows)):
        notes.append(f"{path.name}: left out: {count(left_out, 'sample')} of the evaluation data")
    for place, row in enumerate(rows):
        if _is_evaluation_row(row):
            continue
        where = f"{path}, row {place}"
        with reading(where):
            yield _group_of_row(row, reward, options, where)


def _score_weights(
    scores: list[str], fields: FieldNames, columns: list[str], where: str
) -> dict[str, float]:
    """Return score → weight in the reward; --reward names a score, or a sum such as a+0.5*b.

    Raises:
        ConfigError: If there are several scores and none is named, or a named one is not there.
    """
    reward = fields.reward or (CREDITED_COLUMN if CREDITED_COLUMN in scores else fields.correct)
    if reward is None and len(scores) > 1:
        others = [c for c in columns if c not in (*FIXED, *scores)]
        has_labels = fields.strategy or not {*LABEL_COLUMNS}.isdisjoint(columns)
        labels = f"; --strategy names a column of strategies ({', '.join(others)})"
        raise ConfigError(
            f"{where} has the scores {', '.join(scores)}: name one with --reward, or their sum: "
            f"--reward {'+'.join(scores)} --correct {scores[0]}"
            + (labels if others and not has_labels else "")
        )
    if reward is None or reward in scores:
        return {choose_score(scores, reward, where): 1.0}
    terms = [term.strip().rpartition("*") for term in reward.split("+")]
    return {
        choose_score(scores, name.strip(), where): _read_weight(weight) for weight, _, name in terms
    }


def _read_weight(text: str) -> float:
    try:
        return float(text or 1)
    except ValueError:
        raise ConfigError(f"--reward: a sum of scores is a+0.5*b; {text!r} is no weight") from None


def _is_evaluation_row(row: dict[str, Any]) -> bool:
    value = row.get("advantage", 0.0)
    return value is None or value != value


def _is_numeric(rows: list[dict[str, Any]], column: str) -> bool:
    return all(row[column] is None or isinstance(row[column], int | float) for row in rows)


def _group_of_row(
    row: dict[str, Any], reward: dict[str, float], options: LogOptions, where: str
) -> Group:
    step, prompt = whole(row, "step", where), prompt_text(field(row, "prompt", where))

    def named(key: str | None) -> Any:
        return field(row, key, where) if key else None

    sample = Sample.of(
        field(row, "completion", where),
        correct=_read_correct(row, options, where),
        reward=_weighted_reward(row, reward, where),
        strategy=_read_strategy(row, options, where),
        answer=read_answer(named(options.fields.answer)),
        advantage=number(row.get("advantage"), where),
        tokens=tokens_in(row, TOKENS_OF_TRAINERS),
    )
    gold = text_of(named(options.fields.gold))
    return Group(f"step {step}: {prompt}", prompt, (sample,), gold, step)


def _weighted_reward(row: dict[str, Any], weights: dict[str, float], where: str) -> float | None:
    """Return the weighted sum of the scores of a row, as TRL adds them; None if all are unknown."""
    weighted_scores = [(weight, number(row[name], where)) for name, weight in weights.items()]
    terms = [weight * value for weight, value in weighted_scores if value is not None]
    return sum(terms) if terms else None


def _read_correct(row: dict[str, Any], options: LogOptions, where: str) -> bool | None:
    """Return what --correct says; None without it, and where it is unknown."""
    key = options.fields.correct
    value = None if key is None else number(row[key], where)
    if value is None:
        return None
    if not is_outcome(value) and options.correct_above is None:
        raise ConfigError(f"{where}: {key} is graded: --correct-above X says what is correct")
    return value > (0.5 if options.correct_above is None else options.correct_above)


def _read_strategy(row: dict[str, Any], options: LogOptions, where: str) -> Label:
    """Return the strategy of a row; None without a column."""
    column = options.fields.strategy or next(filter(row.__contains__, LABEL_COLUMNS), None)
    if column is None:
        return None
    return strategy_of(field(row, column, where), options.degenerate)


def _note_shared_prompts(samples: list[Group]) -> list[str]:
    """Return a note if two rows of the data set seem to have one prompt, as one large group.

    TRL writes the samples of a row one after another: a prompt that comes again later in a step,
    or that has a multiple of the samples of the others, is two rows.
    """
    runs = [(name, len(list(run))) for name, run in groupby(samples, key=lambda group: group.id)]
    usual = Counter(size for _, size in runs).most_common(1)[0][0]
    again = Counter(name for name, _ in runs)
    shared = {name for name, size in runs if again[name] > 1 or size >= 2 * usual}
    if not shared:
        return []
    return [f"several rows of the data set seem to share {count(len(shared), 'prompt')}: the log "
            "does not separate their samples, which count as one group"]  # fmt: skip


READER = LogReader(
    (COMPLETIONS,),
    _read_groups,
    by_step=True,
    notice=_note_shared_prompts,
    fields=(*ALL_FIELDS, "correct"),
    shared_ids=True,
    known=r"completions_(\d+)\.parquet",
)
