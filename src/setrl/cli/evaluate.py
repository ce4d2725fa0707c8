"""`setrl evaluate`."""

from __future__ import annotations

from pathlib import Path


def evaluate(
    checkpoint: Path | None = None,
    endpoint: str | None = None,
    model: str | None = None,
    domain: str | None = None,
    split: str = "test",
    benchmark: str | None = None,
    data: Path | None = None,
    problems: int | None = None,
    samples: int | Path = 256,
    temperature: float = 1.0,
    top_p: float = 1.0,
    max_tokens: int | None = None,
    chat: bool = True,
    concurrency: int = 32,
    seed: int = 0,
    output: Path | None = None,
    metrics: tuple[str, ...] = (),
    json: bool = False,
) -> None:
    """Sample a model and print unbiased pass@k, majority@k and strategies@k.

    Samples are kept as they arrive: the same command goes on where it was stopped. Leaves with 1
    when problems were left unfinished.

    Args:
        checkpoint: The folder of a model and its tokenizer.
        endpoint: Or the address of an OpenAI-compatible server, as http://localhost:8000/v1.
        model: The name that the server knows the model by.
        domain: Problems of a domain: polynomial, multiplication or quadratic.
        split: Of the domain: train, test or shifted.
        benchmark: Or those of a benchmark: aime_2024, aime_2025, amc_2023, amc_2022_2023,
            math_500, minerva, gsm8k or olympiadbench. docs/importing.md says which sets these are.
        data: Or those of a JSON Lines file, with "problem" and "answer" in each line; with
            --benchmark a local copy of it.
        problems: How many problems: 100 of a domain, all of a benchmark or file by default.
        samples: How many samples of each, which is the largest k; or an evaluation file that
            holds samples already, from `setrl import` or an earlier call.
        temperature: Divides the logits.
        top_p: Share of the probability that is drawn from; of an endpoint.
        max_tokens: Where a sample is cut. By default the domain's own limit, 1,024 tokens of a
            checkpoint, or the server's limit.
        chat: Whether an endpoint gets the prompt as a user's message, or as plain text.
        concurrency: Requests under way at an endpoint at once.
        seed: Of the problems and the samples.
        output: Where the records go (JSONL); <checkpoint>/evaluation/<task>.jsonl or
            evaluations/<model>/evaluation/<task>.jsonl by default. Samples go beside it.
        metrics: Which to print: pass, max, best_of, majority, vote_share, strategies,
            correct_strategies, g_pass_0.5, g_pass_0.75, g_pass_1, g_pass_mean, cover, branches,
            effective_number, top_share, degenerate, shared_prefix, or all; the usual ones by
            default. docs/metrics.md has their formulas.
        json: Print one JSON object, with all metrics.
    """
    from setrl.cli.evaluation import EvaluateOptions, evaluate_and_print

    options = EvaluateOptions(
        checkpoint=checkpoint,
        endpoint=endpoint,
        model=model,
        domain=domain,
        split=split,
        benchmark=benchmark,
        data=data,
        problems=problems,
        samples=samples,
        temperature=temperature,
        top_p=top_p,
        max_tokens=max_tokens,
        chat=chat,
        concurrency=concurrency,
        seed=seed,
        output=output,
        metrics=metrics,
    )
    evaluate_and_print(options, as_json=json)
