"""`python -m studies.judge_people measure DATA MINILM FOLDER`: embeddings against people's labels.

Two texts are *alike* by a score: the cosine of their embeddings (all-MiniLM-L6-v2), the share of
word bigrams that they have in common, whether they are equal, or whether they end in the same
answer. The scores of all pairs are written once, to FOLDER/scores.jsonl, and `samples EVALUATION
MINILM FOLDER SOURCE` adds pairs of samples of a model: `smollm2` are right ones of Countdown,
`svamp --wrong` and `svamp_line --wrong --line` equations of word problems. `python -m
studies.judge_people page FOLDER` makes FOLDER/README.md of them, and needs neither model nor data.
"""

from __future__ import annotations

import time
from collections.abc import Sequence
from pathlib import Path
from typing import Annotated, Any

import tyro

from recipes.smollm2.countdown import Countdown
from setrl.support import files
from setrl.tasks import domains
from studies.judge_people.page import page
from studies.judge_people.pairs import (
    PAIRS,
    SOLUTIONS,
    Pair,
    pairs_of_domain,
    pairs_of_people,
    pairs_of_samples,
    pairs_of_solutions,
)
from studies.judge_people.scores import Encode, scored

SHOWN = 160  # characters of an example
STEP_TEXTS = 128  # of 16 prompts × 8 samples
PROBLEMS, WRITTEN = 60, 8  # of a domain: its problems, and the author's samples of each


def measure(
    data: Annotated[Path, tyro.conf.Positional],
    minilm: Annotated[Path, tyro.conf.Positional],
    folder: Annotated[Path, tyro.conf.Positional],
) -> None:
    """Score all pairs, and write the scores, the examples and the time.

    Args:
        data: The folder with the two files of pairs and solutions.
        minilm: The folder of the model of embeddings.
        folder: Where to write.
    """
    from recipes.smollm2.minilm import LONGEST, MiniLM

    encode = MiniLM(minilm)
    pairs = [
        *pairs_of_people(data / PAIRS),
        *pairs_of_solutions(data / SOLUTIONS),
        *pairs_of_domain(domains.by_name("quadratic"), PROBLEMS, WRITTEN),
        *pairs_of_domain(Countdown(), PROBLEMS, WRITTEN),
    ]
    folder.mkdir(parents=True, exist_ok=True)
    records = scored(pairs, encode)
    files.write_lines(folder / "scores.jsonl", records)
    long, short = [pair.first for pair in pairs[:STEP_TEXTS]], ["3*7+12"] * STEP_TEXTS
    about = {
        "schema_version": 1,
        "tokens_read": LONGEST,
        "texts_a_step": STEP_TEXTS,
        "seconds_a_step": {"long": _seconds(encode, long), "short": _seconds(encode, short)},
        "examples": examples(pairs, records),
    }
    files.write_json(folder / "about.json", about)


def add_samples(
    evaluation: Annotated[Path, tyro.conf.Positional],
    minilm: Annotated[Path, tyro.conf.Positional],
    folder: Annotated[Path, tyro.conf.Positional],
    source: Annotated[str, tyro.conf.Positional],
    wrong: bool = False,
    line: bool = False,
) -> None:
    """Score pairs of a model's samples, in place of those of this source that are there.

    Args:
        evaluation: A file of samples whose strategies a program reads.
        minilm: The folder of the model of embeddings.
        folder: Where the other scores are.
        source: The name of what the model did.
        wrong: Take wrong samples too, if they have a strategy.
        line: Take the first line of each sample.
    """
    from recipes.smollm2.minilm import MiniLM

    pairs = [*pairs_of_samples(evaluation, source, wrong=wrong, line=line)]
    records = scored(pairs, MiniLM(minilm))
    kept = [one for one in files.read_lines(folder / "scores.jsonl") if one["source"] != source]
    files.write_lines(folder / "scores.jsonl", [*kept, *records])
    about = files.read_json(folder / "about.json")
    others = [one for one in about["examples"] if one["source"] != source]
    files.write_json(
        folder / "about.json", {**about, "examples": [*others, *examples(pairs, records)]}
    )


def _seconds(encode: Encode, texts: Sequence[str]) -> float:
    began = time.process_time()
    encode(texts)
    return round(time.process_time() - began, 2)


def examples(pairs: Sequence[Pair], records: Sequence[dict[str, Any]]) -> list[dict[str, Any]]:
    """Return, of each source, the pair that the embedding gets most wrong on each side."""
    found = []
    for source in dict.fromkeys(pair.source for pair in pairs):
        for same in (True, False):
            own = [i for i, one in enumerate(records) if one["source"] == source
                   and one["same"] == same]  # fmt: skip
            worst = (min if same else max)(own, key=lambda i: records[i]["embedding"])
            texts = [text[:SHOWN] for text in (pairs[worst].first, pairs[worst].second)]
            found.append({**records[worst], "texts": texts})
    return found


def write_page(folder: Annotated[Path, tyro.conf.Positional]) -> None:
    """Make README.md of the scores.

    Args:
        folder: Where they are.
    """
    (folder / "README.md").write_text(page(folder), encoding="utf-8")


if __name__ == "__main__":
    tyro.extras.subcommand_cli_from_dict(
        {"measure": measure, "samples": add_samples, "page": write_page}
    )
