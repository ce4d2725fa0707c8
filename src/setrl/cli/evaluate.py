"""`setrl evaluate`: sample what is missing, then print the metrics."""

from __future__ import annotations

import dataclasses
import json
import re
import sys
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any, get_args

from tyro.conf import Positional

from setrl import names
from setrl.cli.log_fields import ShownFields, own_log
from setrl.errors import ConfigError, DataError, RunError, usage_errors
from setrl.files import refuse_own_input

if TYPE_CHECKING:
    from setrl.evaluation.collecting import Drawn
    from setrl.groups.records import Evaluation
    from setrl.rewards.problem_sets import ProblemSet
    from setrl.serving.generators import Generator
    from setrl.tasks import Task

DOMAIN_PROBLEMS = 100  # a domain has as many problems as one wants
AGAIN = "run the same command again to finish them"


@dataclass(frozen=True, kw_only=True)
class Evaluate(ShownFields):
    """Print unbiased pass@k, majority@k and strategies@k of a file of samples, or sample a model.

    `setrl evaluate FILE` reads an evaluation file or a log of your own. Samples of a model are
    kept as they arrive: run the same command again to resume. The exit code is 1 if problems are
    unfinished.

    Attributes:
        file: A file that holds the samples: an evaluation file, or a log of your own in JSON
            Lines, a JSON array or Parquet, whose fields are recognised and shown.
        k: Where curves over k are computed, as --k 1 5 30; 1, 2, 4, … by default, up to the
            number of samples that every problem has. Problems with fewer samples than the largest
            k are left out of all figures, and counted.
        checkpoint: The folder of a model and its tokenizer.
        endpoint: Or the address of an OpenAI-compatible server, as http://localhost:8000/v1.
        model: The name that the server knows the model by.
        domain: Problems of a domain: {domains}.
        task: Or those of a config's task, graded by its rewards: a YAML file with the key task.
        split: Of the domain or task: train, test or shifted of a domain.
        benchmark: Or those of a benchmark: {benchmarks}. docs/importing.md says which sets these
            are.
        data: Or those of a JSON Lines file, with "problem" and "answer" in each line; with
            --benchmark a local copy of it.
        problems: How many problems: 100 of a domain, all of a benchmark, task or file by default.
        samples: How many samples of each, which is the largest k; or an evaluation file that
            holds samples already, from `setrl import` or an earlier call.
        temperature: Divides the logits.
        top_p: Share of the probability that is drawn from; of an endpoint.
        max_tokens: Where a sample is cut. By default the limit of the domain or task, 1,024 tokens
            of a checkpoint, or the server's limit.
        chat: Whether an endpoint gets the prompt as a user's message, or as plain text.
        concurrency: Requests under way at an endpoint at once.
        seed: Of the problems and the samples.
        output: Where the records go (JSONL); <checkpoint>/evaluation/<task>.jsonl or
            evaluations/<model>/evaluation/<task>.jsonl by default. Samples go beside it.
        allow_damaged: Leave out lines of evaluation files that were cut off or hold a problem
            again, rather than stop.
        metrics: Which to print: {metrics}, or all; the usual ones by default. docs/metrics.md has
            their formulas.
        json: Print one JSON object, with all metrics.
    """

    file: Positional[Path | None] = None
    k: tuple[int, ...] = ()
    checkpoint: Path | None = None
    endpoint: str | None = None
    model: str | None = None
    domain: str | None = None
    task: Path | None = None
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
    allow_damaged: bool = False
    metrics: tuple[str, ...] = ()
    json: bool = False

    @property
    def resumes(self) -> bool:
        """Whether samples are drawn, which are kept after an interruption."""
        return self._file is None

    def run(self) -> None:
        """Sample what is missing of an evaluation file, print its metrics, summarise its folder.

        Raises:
            ConfigError: When options are missing, contradict each other, or are out of range.
            DataError: When a file does not hold what it should.
            RunError: When problems are unfinished, after the metrics of the others.
        """
        self._check()
        outcome = self._outcome()
        if not outcome.path.exists():
            raise RunError(f"no problem was finished: {outcome.why}; {AGAIN}")
        is_log = self._print(outcome)
        for note in outcome.notes:
            print(f"note: {note}", file=sys.stderr)
        if outcome.path.parent.name == "evaluation" and not is_log:
            from setrl.evaluation.summary import write_checkpoint_summary

            write_checkpoint_summary(outcome.path.parent, allow_damaged=self.allow_damaged)
        if outcome.unfinished:
            raise RunError(
                f"{outcome.unfinished} problems are unfinished and not in these figures "
                f"({outcome.why}); {AGAIN}"
            )

    def _check(self) -> None:
        from setrl.domains import Split
        from setrl.evaluation.metrics import METRICS

        with usage_errors():
            for metric in self.metrics:
                names.look_up("metric", metric, {**METRICS, "all": None})
        sources = {"--checkpoint": self.checkpoint, "--endpoint": self.endpoint}
        tasks = {
            "--domain": self.domain,
            "--task": self.task,
            "--benchmark or --data": self.benchmark or self.data,
        }
        if min(self.k, default=1) < 1:
            raise ConfigError(f"each --k must be at least 1, got {min(self.k)}")
        if self._file is not None:
            if given := _given({**sources, **tasks}):
                raise ConfigError("a file of samples is evaluated as it is: "
                                  f"it does not go with {given}")  # fmt: skip
            if self.file is not None and isinstance(self.samples, Path):
                raise ConfigError(f"give one file of samples, not {self.file} and {self.samples}")
            return
        if named := own_log(self).fields.named():
            option = next(iter(named)).replace("_", "-")
            raise ConfigError(f"--{option} is of a log of your own: give its file")
        _one_of(sources, "what generates the samples")
        _one_of(tasks, "what the problems are")
        if (self.endpoint is None) != (self.model is None):
            raise ConfigError("--endpoint and --model go together")
        if self.task is None and self.split not in get_args(Split):
            raise ConfigError(
                f"split must be one of {', '.join(get_args(Split))}, got {self.split!r}"
            )
        assert isinstance(self.samples, int)
        if self.samples < 1 or (self.problems is not None and self.problems < 1):
            raise ConfigError("problems and samples must be at least 1, "
                              f"got {self.problems} and {self.samples}")  # fmt: skip
        if self.checkpoint is not None and self.top_p != 1:
            raise ConfigError("--top-p needs --endpoint: a checkpoint samples from the whole "
                              f"distribution, got {self.top_p:g}")  # fmt: skip

    @property
    def _file(self) -> Path | None:
        """The file that holds the samples, if one was given."""
        return self.samples if isinstance(self.samples, Path) else self.file

    def _outcome(self) -> _Outcome:
        if self._file is None:
            assert isinstance(self.samples, int)
            return self._sampled(self.samples)
        if not self._file.is_file():
            if self._file.is_dir():
                raise DataError(
                    f"{self._file}: is a folder; give one file of samples (`setrl import` makes "
                    "one of a folder of another tool, `setrl report` reads runs)"
                )
            raise DataError(f"{self._file}: no such file; give the file of samples")
        return _Outcome(self._file, str(self._file))

    def _sampled(self, n: int) -> _Outcome:
        from setrl.evaluation.collecting import draw_and_read

        task = self._task()
        generator = self._generator(task)
        problems = self._problems(task, generator)
        path = self.output or self._default_output(problems)
        for written in (path, path.parent / "samples" / path.name):
            refuse_own_input(written, self.data, self.task)
        drawn = draw_and_read(problems, generator, n, self.seed, path)
        title = f"{self.model or self.checkpoint} on {problems.name}"
        return _Outcome(
            path, title, drawn.unfinished, drawn.failures, self._notes(drawn), drawn.details
        )

    def _task(self) -> Task | None:
        from setrl import tasks

        if self.task is None:
            return None
        task = tasks.read_config(self.task)
        for note in task.notes([self.split]):
            print(f"note: {note}", file=sys.stderr)
        return task

    def _problems(self, task: Task | None, generator: Generator) -> ProblemSet:
        from setrl import domains
        from setrl.rewards import benchmarks
        from setrl.rewards.problem_sets import domain_problems
        from setrl.rewards.verifier import math_problems

        if task is not None:
            chat = self.chat if self.checkpoint is None else generator.is_chat  # type: ignore[attr-defined]
            return task.problems(self.split, self.problems, self.seed, chat)
        if self.domain is not None:
            with usage_errors():
                domain = domains.by_name(self.domain)
            return domain_problems(domain, self.split, self.problems or DOMAIN_PROBLEMS, self.seed)  # type: ignore[arg-type]
        if self.benchmark is not None:
            name = self.benchmark
            problems = benchmarks.load(benchmarks.by_name(name), self.data)
        else:
            assert self.data is not None
            name, problems = self.data.stem, benchmarks.load_file(self.data)
        return math_problems(name, problems[: self.problems])

    def _generator(self, task: Task | None) -> Generator:
        max_tokens = self.max_tokens or (None if task is None else task.max_new_tokens)
        if self.checkpoint is not None:
            return self._local(task, max_tokens)
        from setrl.serving.endpoint import Endpoint
        from setrl.serving.served_model import PATIENT, ServedModel

        assert self.endpoint is not None
        assert self.model is not None
        return ServedModel(
            Endpoint(
                self.endpoint,
                self.model,
                temperature=self.temperature,
                top_p=self.top_p,
                max_reply_tokens=max_tokens,
                chat=self.chat,
                limits=dataclasses.replace(PATIENT, concurrency=self.concurrency),
            ),
            system=None if task is None else task.form.system,
        )

    def _local(self, task: Task | None, max_tokens: int | None) -> Generator:
        from setrl.evaluation.sampling import (
            AS_THE_MODEL_TAKES_IT,
            LocalModel,
            refuse_missing_model,
        )

        assert self.checkpoint is not None
        if not self.checkpoint.is_dir() and len(self.checkpoint.parts) != 2:  # no OWNER/NAME
            raise ConfigError(f"{self.checkpoint} is not a model's folder or name")
        refuse_missing_model(self.checkpoint)
        form = AS_THE_MODEL_TAKES_IT if task is None else task.form
        return LocalModel(
            self.checkpoint, self.temperature, max_tokens or self._usual_length(), form
        )

    def _usual_length(self) -> int:
        """Where samples of a checkpoint are cut without a task."""
        from setrl import domains
        from setrl.rewards.problem_sets import ProblemSet

        if self.domain is None:
            return ProblemSet.max_tokens
        with usage_errors():
            return domains.by_name(self.domain).max_new_tokens

    def _default_output(self, problems: ProblemSet) -> Path:
        if self.checkpoint is not None:
            return self.checkpoint / "evaluation" / f"{problems.split}.jsonl"
        folder = Path("evaluations") / re.sub(r"[^\w.-]+", "_", str(self.model)) / "evaluation"
        return folder / f"{problems.name}.jsonl"

    def _notes(self, drawn: Drawn) -> tuple[str, ...]:
        notes = []
        if drawn.cut:
            notes.append(f"{drawn.cut} samples ended at the limit of tokens")
        if self.temperature > 0 and self.samples != 1 and drawn.alike == drawn.problems > 0:
            notes.append(
                "all samples of each problem are one text: the model does not sample, whatever "
                "the temperature (transformers serve does so unless the model's generation config "
                "has do_sample)"
            )
        return tuple(notes)

    def _print(self, outcome: _Outcome) -> bool:
        """Print the metrics; returns whether the samples are those of a log of one's own."""
        from setrl.evaluation.summary import summarise
        from setrl.evaluation.text import metric_table
        from setrl.groups.jsonl import load_samples

        loaded = load_samples(outcome.path, own_log(self))
        self.say(loaded.reading)
        evaluation = loaded.evaluation.with_samples(max(self.k, default=1))
        summary = summarise({"all": {"model": {0: evaluation}}}, reference=None, ks=self.k)
        arm = summary.splits["all"].arms["model"]
        notes = _ragged(loaded.evaluation, evaluation, self.k)
        notes += [arm.ungraded.sentence(outcome.path.name)] if arm.ungraded else []
        for note in notes:
            print(f"note: {note}", file=sys.stderr)
        if self.json:
            metrics = summary.to_json()["splits"]["all"]["arms"]["model"]
            about = {**dataclasses.asdict(outcome), "path": str(outcome.path)}
            about["notes"] = [*notes, *outcome.notes]
            del about["details"]
            print(json.dumps({"schema_version": 1, **about, **metrics}))
        else:
            print(outcome.title)
            print(metric_table(arm, self.metrics, of_domain=self.domain is not None))
        return loaded.is_log


@dataclass(frozen=True)
class _Outcome:
    """An evaluation file, and how making it went."""

    path: Path
    title: str
    unfinished: int = 0
    failures: Mapping[str, int] = field(default_factory=dict)
    notes: tuple[str, ...] = ()
    details: Mapping[str, str] = field(default_factory=dict)

    @property
    def why(self) -> str:
        """How many samples failed for which reason, with what the server answered."""
        return ", ".join(
            f"{reason}: {count} samples" + (f", the first: {detail}" if detail else "")
            for reason, count in sorted(self.failures.items())
            for detail in [self.details.get(reason)]
        )


def _ragged(given: Evaluation, kept: Evaluation, ks: tuple[int, ...]) -> list[str]:
    """What becomes of problems with fewer samples than others."""
    left_out = len(given.prompts) - len(kept.prompts)
    if left_out:
        of_all = f"{left_out:,} of {len(given.prompts):,} problems"
        return [f"{of_all} have fewer than {max(ks)} samples and are in no figure, so that every k "
                "is of the same problems"]  # fmt: skip
    if not ks and given.n < given.most:
        return [f"problems have {given.n:,} to {given.most:,} samples: k ends at {given.n:,}, "
                "which every problem has; a larger --k leaves out those with fewer"]  # fmt: skip
    return []


def _given(options: Mapping[str, Any]) -> str:
    """The names of the options that have a value."""
    return " and ".join(name for name, value in options.items() if value is not None)


def _one_of(options: Mapping[str, Any], what: str) -> None:
    given = _given(options)
    if given not in options:
        raise ConfigError(f"{what}: give {' or '.join(options)}, got {given or 'neither'}")
