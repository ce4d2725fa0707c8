"""`setrl evaluate`."""

from __future__ import annotations

from pathlib import Path


def evaluate(
    checkpoint: Path,
    domain: str,
    split: str = "test",
    problems: int = 100,
    samples: int = 256,
    seed: int = 0,
    output: Path | None = None,
) -> None:
    """Sample a checkpoint and print unbiased pass@k, majority@k and strategies@k.

    Args:
        checkpoint: The folder of a model and its tokenizer.
        domain: polynomial, multiplication or quadratic.
        split: train, test or shifted.
        problems: How many problems.
        samples: How many samples of each, which is the largest k.
        seed: Of the problems and the samples.
        output: Where the samples go (JSONL); <checkpoint>/evaluation/<split>.jsonl by default.
    """
    from setrl.evaluation.command import evaluate_and_print

    path = output or checkpoint / "evaluation" / f"{split}.jsonl"
    evaluate_and_print(checkpoint, domain, split, problems, samples, seed, path)
