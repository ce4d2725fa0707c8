"""`setrl train-judge`."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

from tyro.conf import Positional

from setrl.cli.said import Said
from setrl.support.errors import usage_errors


@dataclass(frozen=True)
class TrainJudge(Said):
    """Train a small judge from scratch, which learns to read strategies as a domain does.

    Serve it with `transformers serve OUTPUT`, and name it in a config as the judge
    {judge: lm, style: compact, endpoint: http://localhost:8000/v1, model: OUTPUT}.

    Attributes:
        output: The folder of the model; it must not exist yet.
        domain: The domain: {domains}.
        samples: The number of samples in the largest group to judge.
        groups: The number of groups to learn from.
        hidden_size: The width of the model, a multiple of 64.
        layers: The number of layers.
        seed: The seed of the groups and the first weights.

    Json:
        model: The folder of the judge.
    """

    output: Positional[Path]
    domain: str = "polynomial"
    samples: int = 16
    groups: int = 50_000
    hidden_size: int = 128
    layers: int = 3
    seed: int = 0

    def run(self) -> None:
        """Train the judge and print where it is."""
        from setrl.tasks import domains
        from setrl.train.lm.judge_model import JudgeModelConfig, train_judge

        sizes = (self.samples, self.groups, self.hidden_size, self.layers)
        with usage_errors():
            config = JudgeModelConfig(domains.by_name(self.domain), *sizes, seed=self.seed)
        folder = str(train_judge(config, self.output))
        self.tell(folder, model=folder)
