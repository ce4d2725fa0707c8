"""What a plan assumes, because no config says it."""

from __future__ import annotations

import math
from dataclasses import dataclass, fields
from pathlib import Path

from setrl.errors import ConfigError


@dataclass(frozen=True, kw_only=True)
class Assumptions:
    """What no config says.

    Attributes:
        sample_tokens: Tokens of a sample on average; by default the limit, or those of --like.
        like: The folder of a run of this config or of one like it, such as a few steps of it, whose
            lengths and speeds are to hold.
        model_sizes: A config.json of the model, if that is not on this machine.
        judge_sizes: A config.json of the judge, for its GPU hours.
        judge_bytes: Bytes of text in a token of the judge; by default as in --like, or 3.
        judge_reply_tokens: Tokens of a judge's reply; by default as in --like, or those of the JSON
            object without thoughts.
        judge_prices: What a million tokens that the judge reads, and that it writes, cost; by
            default as in the judge's config.
        sample_price: What an engine takes for a million tokens that it samples.
        train_price: What it takes for a million that it trains on.
        prompt_price: What it takes for a million of prompts.
        gpu_price: What a GPU costs in an hour.
        gpus: GPUs that sample and train; those of a judge are not among them.
        tflops: 10¹² operations of one in a second, at most; by default those of an H100 in bf16.
        bandwidth: 10¹² bytes that one reads from its memory in a second, at most.
        sampling_utilisation: The share of tflops that sampling reaches; an assumption.
        training_utilisation: The share of tflops that training reaches; an assumption.
    """

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

    def __post_init__(self) -> None:
        given = {one.name: getattr(self, one.name) for one in fields(Assumptions)}
        numbers = {key: v for key, v in given.items() if isinstance(v, int | float)}
        for key, value in numbers.items():
            if not key.endswith("_price") and not 0 < value < math.inf:
                raise ConfigError(f"{_flag(key)} must be a number above 0, got {value:g}")
        for key in ("sampling_utilisation", "training_utilisation"):
            if getattr(self, key) > 1:
                raise ConfigError(f"{_flag(key)} is a share, at most 1, got {getattr(self, key):g}")
        prices = {key: value for key, value in given.items() if key.endswith("_price")}
        prices["judge_prices"] = min(self.judge_prices or (0.0,))
        for key, price in prices.items():
            if not 0 <= price < math.inf:
                raise ConfigError(f"{_flag(key)} must be at least 0, got {price:g}")


def _flag(key: str) -> str:
    return f"--{key.replace('_', '-')}"
