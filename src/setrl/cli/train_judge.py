"""`setrl train-judge`."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import tyro


def train_judge(
    output: Annotated[Path, tyro.conf.Positional],
    domain: str = "polynomial",
    samples: int = 16,
    groups: int = 50_000,
    hidden_size: int = 128,
    layers: int = 3,
    seed: int = 0,
) -> None:
    """Make a small judge from scratch: it learns a domain's own reader of strategies.

    Serve it with `transformers serve OUTPUT`, and name it in a config as the judge
    {judge: lm, style: compact, endpoint: http://localhost:8000/v1, model: OUTPUT}.

    Args:
        output: The folder of the model; it must not exist yet.
        domain: polynomial, multiplication or quadratic.
        samples: The samples of the largest group that it will judge.
        groups: Groups that it learns from.
        hidden_size: Width of the model, a multiple of 64.
        layers: Its layers.
        seed: Of the groups and of the first weights.
    """
    from setrl import domains
    from setrl.errors import ConfigError
    from setrl.lm.judge_model import JudgeModelConfig, train_judge

    try:
        config = JudgeModelConfig(
            domains.by_name(domain), samples, groups, hidden_size, layers, seed=seed
        )
    except ValueError as error:
        raise ConfigError(str(error)) from error
    print(train_judge(config, output))
