"""`setrl evaluate`: draw the samples that are missing, then print their metrics."""

from __future__ import annotations

import dataclasses
import json
import re
import sys
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, get_args

from setrl import domains, names
from setrl.domains import Split
from setrl.errors import ConfigError, DataError, RunError
from setrl.evaluation.collecting import Drawn, draw_and_read
from setrl.evaluation.metric_table import metric_table
from setrl.evaluation.metrics import METRICS
from setrl.evaluation.summary import summarise, write_checkpoint_summary
from setrl.files import refuse_own_input
from setrl.logs.records import load_evaluation
from setrl.rewards import benchmarks
from setrl.rewards.problem_sets import ProblemSet, domain_problems
from setrl.rewards.verifier import math_problems
from setrl.serving.generators import Generator

DOMAIN_PROBLEMS = 100  # a domain has as many problems as one wants
DEFAULT_MAX_TOKENS = 1024


@dataclass(frozen=True)
class EvaluateOptions:
    """What `setrl evaluate` was asked for; its options are described there.

    Raises:
        ConfigError: When options are missing, contradict each other, or are out of range.
    """

    checkpoint: Path | None = None
    endpoint: str | None = None
    model: str | None = None
    domain: str | None = None
    split: str = "test"
    benchmark: str | None = None
    data: Path | None = None
    problems: int | None = None
    samples: int | Path = 256
    temperature: float = 1.0
    top_p: float = 1.0
    max_tokens: int | None = None
    chat: bool = True
    concurrency: int = 32
    seed: int = 0
    output: Path | None = None
    metrics: tuple[str, ...] = ()

    def __post_init__(self) -> None:
        _check_metrics(self.metrics)
        sources = {"--checkpoint": self.checkpoint, "--endpoint": self.endpoint}
        tasks = {"--domain": self.domain, "--benchmark or --data": self.benchmark or self.data}
        if isinstance(self.samples, Path):
            _none_of({**sources, **tasks}, "a file of samples is evaluated as it is")
            return
        _one_of(sources, "what draws the samples")
        _one_of(tasks, "what the problems are")
        if (self.endpoint is None) != (self.model is None):
            raise ConfigError("--endpoint and --model go together")
        if self.split not in get_args(Split):
            raise ConfigError(
                f"split must be one of {', '.join(get_args(Split))}, got {self.split!r}"
            )
        if self.samples < 1 or (self.problems is not None and self.problems < 1):
            raise ConfigError("problems and samples must be at least 1, "
                              f"got {self.problems} and {self.samples}")  # fmt: skip
        if self.checkpoint is not None and self.top_p != 1:
            raise ConfigError("--top-p needs --endpoint: a checkpoint draws from the whole "
                              f"distribution, got {self.top_p:g}")  # fmt: skip


@dataclass(frozen=True)
class _Outcome:
    """An evaluation file, and what its making came to."""

    path: Path
    title: str
    unfinished: int = 0
    failures: Mapping[str, int] = field(default_factory=dict)
    notes: tuple[str, ...] = ()


def evaluate_and_print(options: EvaluateOptions, as_json: bool = False) -> None:
    """Draw what is missing of an evaluation file, print its metrics, and summarise its folder.

    Raises:
        ConfigError: When an option is wrong.
        DataError: When a file does not hold what it should.
        RunError: When problems were left unfinished, after the metrics of the others.
    """
    outcome = _outcome(options)
    if not outcome.path.exists():
        raise RunError(f"no problem was finished: {_counts(outcome.failures)}; "
                       "the same command goes on")  # fmt: skip
    summary = summarise({"all": {"model": {0: load_evaluation(outcome.path)}}}, reference=None)
    if as_json:
        arm = summary.to_json()["splits"]["all"]["arms"]["model"]
        told = {**dataclasses.asdict(outcome), "path": str(outcome.path), **arm}
        print(json.dumps({"schema_version": 1, **told}))
    else:
        print(outcome.title)
        arm = summary.splits["all"].arms["model"]
        print(metric_table(arm, options.metrics, of_domain=options.domain is not None))
    for note in outcome.notes:
        print(f"note: {note}", file=sys.stderr)
    if outcome.path.parent.name == "evaluation":
        write_checkpoint_summary(outcome.path.parent)
    if outcome.unfinished:
        raise RunError(
            f"{outcome.unfinished} problems are unfinished and not in these figures "
            f"({_counts(outcome.failures)}); the same command goes on with them"
        )


def _outcome(options: EvaluateOptions) -> _Outcome:
    if isinstance(options.samples, Path):
        if not options.samples.is_file():
            what = "is a folder" if options.samples.is_dir() else "no such file"
            raise DataError(f"{options.samples}: {what}; give the evaluation file")
        return _Outcome(options.samples, str(options.samples))
    if options.checkpoint is not None and options.domain is not None:
        return _checkpoint_on_domain(options, options.checkpoint, options.samples)
    task = _task(options)
    path = options.output or _folder(options) / f"{task.name}.jsonl"
    for written in (path, path.parent / "samples" / path.name):
        refuse_own_input(written, options.data)
    drawn: Drawn = draw_and_read(task, _generator(options), options.samples, options.seed, path)
    title = f"{options.model or options.checkpoint} on {task.name}"
    return _Outcome(path, title, drawn.unfinished, drawn.failures, _notes(drawn, options))


def _notes(drawn: Drawn, options: EvaluateOptions) -> tuple[str, ...]:
    notes = []
    if drawn.cut:
        notes.append(f"{drawn.cut} samples ended at the limit of tokens")
    if options.temperature > 0 and options.samples != 1 and drawn.alike == drawn.problems > 0:
        notes.append(
            "all samples of each problem are one text: the model does not sample, whatever the "
            "temperature (transformers serve does so unless the model's generation config has "
            "do_sample)"
        )
    return tuple(notes)


def _checkpoint_on_domain(options: EvaluateOptions, checkpoint: Path, n: int) -> _Outcome:
    """As `setrl train` evaluates its arms: the same file, record for record."""
    from setrl.evaluation.sampling import evaluate_checkpoint

    assert options.domain is not None
    path = options.output or checkpoint / "evaluation" / f"{options.split}.jsonl"
    evaluate_checkpoint(
        checkpoint,
        _domain(options.domain),
        options.split,  # type: ignore[arg-type]
        options.problems or DOMAIN_PROBLEMS,
        n,
        options.seed,
        path,
        temperature=options.temperature,
        max_new_tokens=options.max_tokens,
    )
    return _Outcome(path, f"{checkpoint} on {options.domain}, {options.split} split")


def _generator(options: EvaluateOptions) -> Generator:
    if options.checkpoint is not None:
        from setrl.evaluation.sampling import LocalModel

        limit = options.max_tokens or DEFAULT_MAX_TOKENS
        return LocalModel(options.checkpoint, options.temperature, limit)
    try:
        from setrl.serving.sampling_endpoint import Endpoint
    except ImportError as error:
        raise ConfigError(str(error)) from error
    assert options.endpoint is not None
    assert options.model is not None
    return Endpoint(
        options.endpoint,
        options.model,
        temperature=options.temperature,
        top_p=options.top_p,
        max_tokens=options.max_tokens,
        chat=options.chat,
        concurrency=options.concurrency,
    )


def _task(options: EvaluateOptions) -> ProblemSet:
    if options.domain is not None:
        count = options.problems or DOMAIN_PROBLEMS
        return domain_problems(_domain(options.domain), options.split, count, options.seed)  # type: ignore[arg-type]
    if options.benchmark is not None:
        name = options.benchmark
        problems = benchmarks.load(benchmarks.by_name(name), options.data)
    else:
        assert options.data is not None
        name, problems = options.data.stem, benchmarks.load_file(options.data)
    return math_problems(name, problems[: options.problems])


def _folder(options: EvaluateOptions) -> Path:
    if options.checkpoint is not None:
        return options.checkpoint / "evaluation"
    return Path("evaluations") / re.sub(r"[^\w.-]+", "_", str(options.model)) / "evaluation"


def _domain(name: str) -> domains.Domain:
    try:
        return domains.by_name(name)
    except ValueError as error:
        raise ConfigError(str(error)) from error


def _check_metrics(metrics: Sequence[str]) -> None:
    try:
        for metric in metrics:
            names.look_up("metric", metric, {**METRICS, "all": None})
    except ValueError as error:
        raise ConfigError(str(error)) from error


def _counts(failures: Mapping[str, int]) -> str:
    return ", ".join(f"{reason}: {count} samples" for reason, count in sorted(failures.items()))


def _one_of(options: dict[str, Any], what: str) -> None:
    given = [name for name, value in options.items() if value is not None]
    if len(given) != 1:
        found = f"got {' and '.join(given)}" if given else "got neither"
        raise ConfigError(f"{what}: give {' or '.join(options)}, {found}")


def _none_of(options: dict[str, Any], why: str) -> None:
    given = [name for name, value in options.items() if value is not None]
    if given:
        raise ConfigError(f"{why}: it does not go with {' and '.join(given)}")
