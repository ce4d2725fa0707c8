"""`setrl plan`."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import Annotated

import tyro
from tyro.conf import Positional


@dataclass(frozen=True, kw_only=True)
class Plan:
    """What a run would take from its first step: tokens, a judge's requests, disk, memory, hours.

    Nothing is written, and no server is asked. `setrl train --dry-run` does all checks of a run,
    and says what of it is there already.

    Attributes:
        config: The YAML file of the run.
        sample_tokens: Tokens of a sample on average; by default the limit, or those of --like.
        like: The folder of a run of this config or of one like it, such as a few steps of it, whose
            lengths and speeds are to hold.
        model_sizes: A config.json of the model, if that is not on this machine.
        judge_sizes: A config.json of the judge, for its GPU hours.
        judge_bytes: Bytes of text in a token of the judge; by default as in --like, or 3.
        judge_reply_tokens: Tokens of a judge's reply; by default as in --like, or those of the JSON
            object without thoughts.
        judge_prices: What a million tokens that the judge reads, and that it writes, cost.
        sample_price: What an engine takes for a million tokens that it samples.
        train_price: What it takes for a million that it trains on.
        prompt_price: What it takes for a million of prompts.
        gpu_price: What a GPU costs in an hour.
        gpus: GPUs that sample and train.
        tflops: 10¹² operations of one in a second, at most; by default those of an H100 in bf16.
        bandwidth: 10¹² bytes that one reads from its memory in a second, at most.
        sampling_utilisation: The share of tflops that sampling reaches; an assumption.
        training_utilisation: The share of tflops that training reaches; an assumption.
        json: Print JSON instead of a table.
        set: KEY=VALUE, changes one key of the config; can be repeated.
    """

    config: Positional[Path]
    sample_tokens: float | None = None
    like: Path | None = None
    model_sizes: Path | None = None
    judge_sizes: Path | None = None
    judge_bytes: float | None = None
    judge_reply_tokens: float | None = None
    judge_prices: tuple[float, float] | None = None
    sample_price: float = 0.0
    train_price: float = 0.0
    prompt_price: float = 0.0
    gpu_price: float = 0.0
    gpus: int = 1
    tflops: float = 989.0
    bandwidth: float = 3.35
    sampling_utilisation: float = 0.1
    training_utilisation: float = 0.3
    json: bool = False
    set: Annotated[tuple[str, ...], tyro.conf.UseAppendAction] = ()

    def run(self) -> None:
        """Print the table, or all numbers as JSON."""
        import dataclasses
        from json import dumps

        from setrl.files import plain_json
        from setrl.lm.config import ComparisonConfig
        from setrl.lm.costs import Assumptions, as_json, costs
        from setrl.lm.costs_text import costs_text
        from setrl.lm.run import quiet

        known = [one.name for one in dataclasses.fields(Assumptions)]
        assumptions = Assumptions(**{name: getattr(self, name) for name in known})
        config = ComparisonConfig.load(self.config, self.set)
        quiet()
        found = costs(config, assumptions)
        if self.json:
            print(dumps(plain_json(as_json(found)), indent=2, ensure_ascii=False))
        else:
            print(costs_text(found))
