"""`setrl judge`."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import tyro


def judge(
    file: Annotated[Path, tyro.conf.Positional],
    judge: str | None = None,
    config: Path | None = None,
    endpoint: str | None = None,
    model: str | None = None,
    style: str | None = None,
    threshold: float | None = None,
    cache: Path | None = None,
    output: Path | None = None,
    into: str = "cluster",
    text: str | None = None,
    prompt: str | None = None,
    group: str | None = None,
    max_unknown: float = 0.1,
) -> None:
    """Label logged samples with the cluster of their strategy; goes on where it was stopped.

    Exit code 3 if more groups than --max-unknown are without clusters at the end.

    Args:
        file: JSON Lines: a group a line, or a sample a line.
        judge: exact, oracle:DOMAIN, embedding:MODEL, cross_encoder:MODEL or lm:MODEL.
        config: A YAML file with the judge's settings, the key judge among them.
        endpoint: Address of an OpenAI-compatible server, for lm: http://localhost:8000/v1.
        model: The name of the model.
        style: Instructions for lm: mathematics, code, free_text, compact, or a file of your own.
        threshold: Cosine distance for embedding; probability for cross_encoder.
        cache: SQLite file of lm's judgements; beside the output by default.
        output: Where the lines go; FILE.judged.jsonl by default.
        into: The key of a sample's label.
        text: The key of a sample's text, where it is not text, completion, response, ….
        prompt: The key of the prompt, where it is not prompt, problem or question.
        group: The key that the samples of a group share, for files of a sample a line.
        max_unknown: Share of groups that may stay without clusters, in [0, 1].
    """
    from setrl.cli.judge_options import judge_settings, label_and_print
    from setrl.files import refuse_own_input
    from setrl.logs.judged_groups import TextKeys

    target = output or file.with_name(f"{file.stem}.judged.jsonl")
    options = {"endpoint": endpoint, "model": model, "style": style, "threshold": threshold}
    settings = judge_settings(judge, config, options, cache or target.with_suffix(".sqlite"))
    refuse_own_input(target, file, config)
    keys = TextKeys(text=text, prompt=prompt, group=group)
    label_and_print(file, target, settings, keys, into, max_unknown)
