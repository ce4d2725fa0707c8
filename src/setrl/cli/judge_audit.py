"""`setrl judge-audit`."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, Literal

import tyro


def judge_audit(
    file: Annotated[Path, tyro.conf.Positional],
    judge: str | None = None,
    config: Path | None = None,
    endpoint: str | None = None,
    model: str | None = None,
    style: str | None = None,
    threshold: float | None = None,
    cache: Path | None = None,
    orders: int = 5,
    seed: int = 0,
    pairs: Literal["none", "representatives", "all_pairs"] = "none",
    gold: str | None = None,
    set_size: int = 4,
    output: Path | None = None,
    text: str | None = None,
    prompt: str | None = None,
    group: str | None = None,
    reward: str | None = None,
) -> None:
    """Ask how far a judge can be trusted: in other orders, about pairs, and against gold labels.

    Writes audit.json, audit.md and audit.png, with what the disagreement does to the advantages
    of Poly-EPO where the samples have rewards.

    Args:
        file: JSON Lines: a group a line, or a sample a line.
        judge: exact, oracle:DOMAIN, embedding:MODEL, cross_encoder:MODEL or lm:MODEL.
        config: A YAML file with the judge's settings, the key judge among them.
        endpoint: Address of an OpenAI-compatible server, for lm: http://localhost:8000/v1.
        model: The name of the model.
        style: Instructions for lm: mathematics, code, free_text, compact, or a file of your own.
        threshold: Cosine distance for embedding; probability for cross_encoder.
        cache: SQLite file of lm's judgements; in the output folder by default.
        orders: How often each group is judged, its samples in another order each time.
        seed: Of the orders.
        pairs: Whether the judge is asked about pairs, too: each sample with one of each cluster,
            or all pairs.
        gold: The key of a sample's right label, where it is not gold or strategy.
        set_size: K of Poly-EPO, whose advantages are compared.
        output: A folder for the results; FILE.audit by default.
        text: The key of a sample's text, where it is not text, completion, response, ….
        prompt: The key of the prompt, where it is not prompt, problem or question.
        group: The key that the samples of a group share, for files of a sample a line.
        reward: The key of a sample's reward, where it is not reward, correct or score.
    """
    from setrl.cli.auditing import AuditOptions, audit_and_print
    from setrl.cli.judge_options import judge_settings
    from setrl.files import refuse_own_input
    from setrl.logs.judged_groups import TextKeys

    target = output or file.with_name(f"{file.stem}.audit")
    options = {"endpoint": endpoint, "model": model, "style": style, "threshold": threshold}
    settings = judge_settings(judge, config, options, cache or target / "judgements.sqlite")
    for written in ("audit.json", "audit.md", "audit.png"):
        refuse_own_input(target / written, file, config)
    keys = TextKeys(text=text, prompt=prompt, group=group)
    chosen = AuditOptions(orders, seed, pairs, gold, reward, set_size)
    audit_and_print(file, target, settings, keys, chosen)
