"""`setrl sample`: draw samples of a model on problems, into a file that `setrl evaluate` reads."""

from __future__ import annotations

import dataclasses
import re
import sys
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any, get_args

from setrl.cli.evaluate import Evaluate
from setrl.cli.output import Said
from setrl.support.errors import ConfigError, RunError, usage_errors
from setrl.support.files import refuse_own_input
from setrl.support.wording import count

if TYPE_CHECKING:
    from setrl.evaluate.collecting import Drawn
    from setrl.models.generators import Generator
    from setrl.tasks import Task
    from setrl.tasks.base import ProblemSet

DOMAIN_PROBLEMS = 100  # a domain has as many problems as one wants
AGAIN = "run the same command again to finish them"


@dataclass(frozen=True, kw_only=True)
class SampleModel(Said):
    """Draw samples of a model, write an evaluation file and print its usual metrics.

    Samples are kept as they arrive: run the same command again to resume. The exit code is 1 if
    problems are unfinished. `setrl evaluate FILE` prints other metrics of the file.

    Attributes:
        checkpoint: The folder of a model and its tokenizer.
        endpoint: Instead: an OpenAI-compatible server, such as http://localhost:8000/v1.
        model: The name of the model on the server.
        domain: A domain that makes the problems: {domains}.
        task: Instead of a domain: a YAML file with the key task, whose problems are graded by the
            rewards of the task.
        split: The split of the domain or task. A domain has train, test and shifted.
        benchmark: Instead of a domain: a benchmark: {benchmarks}. docs/importing.md describes them.
        data: Instead of a domain: a JSON Lines file with "problem" and "answer" in each line. With
            --benchmark, a local copy of the benchmark.
        problems: The number of problems: 100 of a domain, all of a benchmark, task or file by
            default.
        samples: The number of samples of each problem, which is the largest k.
        temperature: The number that divides the logits.
        top_p: The share of the probability that samples are drawn from (endpoints only).
        max_tokens: The length at which a sample is cut. By default the limit of the domain or task,
            1,024 tokens for other problems and a checkpoint, or the server's limit.
        chat: Send prompts as messages of a user, or as plain text (endpoints only).
        concurrency: The number of requests that an endpoint gets at once.
        extra_body: Further keys of each request, such as "{top_k: 20, temperature: null}", which
            leaves the temperature out (endpoints only).
        seed: The seed of the problems and the samples.
        output: The evaluation file to write (JSONL); <checkpoint>/evaluation/<task>.jsonl or
            evaluations/<model>/evaluation/<task>.jsonl by default. The samples go into
            the folder samples in the same place.

    Json:
        output: The evaluation file.
        problems: The number of problems in it.
        unfinished: The number of problems that lack samples; then the exit code is 1.
        cut: The number of samples that ended at the limit of tokens.
        notes: What was noticed, in sentences.
    """

    checkpoint: Path | None = None
    endpoint: str | None = None
    model: str | None = None
    domain: str | None = None
    task: Path | None = None
    split: str = "test"
    benchmark: str | None = None
    data: Path | None = None
    problems: int | None = None
    samples: int = 256
    temperature: float = 1.0
    top_p: float = 1.0
    max_tokens: int | None = None
    chat: bool = True
    concurrency: int = 32
    extra_body: str | None = None
    seed: int = 0
    output: Path | None = None

    resumes = True

    def run(self) -> None:
        """Draw the missing samples, and print the metrics of the file.

        Raises:
            ConfigError: When options are missing, contradict each other, or are out of range.
            DataError: When a file does not hold what it should.
            RunError: When problems are unfinished, after the metrics of the others.
        """
        self._check_options()
        drawn = self._draw_samples()
        if not drawn.path.exists():
            may = "; --extra-body changes what a request holds" * ("refused" in drawn.failures)
            raise RunError(f"no problem was finished: {drawn.why}{may}; {AGAIN}")
        Evaluate(file=drawn.path, quiet=True).run()
        notes = list(self._drawn_notes(drawn))
        for note in notes:
            print(f"note: {note}", file=sys.stderr)
        if self.json:
            counts = {name: getattr(drawn, name) for name in ("problems", "unfinished", "cut")}
            self.say_json(output=str(drawn.path), **counts, notes=notes)
        if drawn.unfinished:
            raise RunError(
                f"unfinished and not in these figures: {count(drawn.unfinished, 'problem')} "
                f"({drawn.why}); {AGAIN}"
            )

    def _check_options(self) -> None:
        from setrl.models.folder import refuse_missing
        from setrl.tasks.domains import Split

        _refuse_unless_one(
            {"--checkpoint": self.checkpoint, "--endpoint": self.endpoint}, "the model"
        )
        _refuse_unless_one(
            {
                "--domain": self.domain,
                "--task": self.task,
                "--benchmark or --data": self.benchmark or self.data,
            },
            "the problems",
        )
        if (self.endpoint is None) != (self.model is None):
            raise ConfigError("--endpoint and --model go together")
        if self.task is None and self.split not in get_args(Split):
            splits = ", ".join(get_args(Split))
            raise ConfigError(f"split must be one of {splits}, got {self.split!r}")
        if self.samples < 1 or (self.problems is not None and self.problems < 1):
            raise ConfigError("problems and samples must be at least 1, "
                              f"got {self.problems} and {self.samples}")  # fmt: skip
        if self.checkpoint is not None:
            refuse_missing(self.checkpoint)
        if self.endpoint is None and self.extra_body is not None:
            raise ConfigError("--extra-body needs --endpoint")
        if self.checkpoint is not None and self.top_p != 1:
            raise ConfigError("--top-p needs --endpoint: a checkpoint samples from the whole "
                              f"distribution, got {self.top_p:g}")  # fmt: skip

    def _draw_samples(self) -> Drawn:
        from setrl.evaluate.collecting import draw_and_read
        from setrl.models.sample_file import path_of_samples

        task = self._read_task()
        generator = self._make_generator(task)
        problems = self._choose_problems(task, generator)
        _warn_of_few(len(problems.problems))
        path = self.output or self._default_output_path(problems)
        for written in (path, path_of_samples(path)):
            refuse_own_input(written, self.data, self.task)
        return draw_and_read(problems, generator, self.samples, self.seed, path)

    def _read_task(self) -> Task | None:
        from setrl import tasks

        if self.task is None:
            return None
        task = tasks.read_config(self.task)
        for note in task.notes([self.split]):
            print(f"note: {note}", file=sys.stderr)
        return task

    def _choose_problems(self, task: Task | None, generator: Generator) -> ProblemSet:
        from setrl.tasks import benchmarks, domains
        from setrl.tasks.base import domain_problems, math_problems

        if task is not None:
            chat = self.chat if self.checkpoint is None else generator.is_chat  # type: ignore[attr-defined]
            return task.problems(self.split, self.problems, self.seed, chat)
        if self.domain is not None:
            with usage_errors():
                domain = domains.by_name(self.domain)
            return domain_problems(domain, self.split, self.problems or DOMAIN_PROBLEMS, self.seed)
        if self.benchmark is not None:
            name = self.benchmark
            problems = benchmarks.load(benchmarks.by_name(name), self.data)
        else:
            assert self.data is not None
            name, problems = self.data.stem, benchmarks.load_file(self.data)
        return math_problems(name, problems[: self.problems])

    def _make_generator(self, task: Task | None) -> Generator:
        max_tokens = self.max_tokens or (None if task is None else task.max_new_tokens)
        if self.checkpoint is not None:
            return self._open_local_model(self.checkpoint, task, max_tokens)
        from setrl.models.served.endpoint import Endpoint
        from setrl.models.served.served_model import PATIENT, ServedModel

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
                extra_body=self._read_extra_body(),
                limits=dataclasses.replace(PATIENT, concurrency=self.concurrency),
            ),
            system=None if task is None else task.form.system,
        )

    def _read_extra_body(self) -> dict[str, Any]:
        from setrl.support.files import strict_yaml

        return strict_yaml.mapping(self.extra_body or "{}", "--extra-body")

    def _open_local_model(self, path: Path, task: Task | None, max_tokens: int | None) -> Generator:
        from setrl.models.local import AS_THE_MODEL_TAKES_IT, LocalModel, refuse_missing_model

        refuse_missing_model(path)
        form = AS_THE_MODEL_TAKES_IT if task is None else task.form
        return LocalModel(path, self.temperature, max_tokens or self._default_max_tokens(), form)

    def _default_max_tokens(self) -> int:
        """Return the length at which samples of a checkpoint are cut without a task."""
        from setrl.tasks import domains
        from setrl.tasks.base import ProblemSet

        if self.domain is None:
            return ProblemSet.max_tokens
        with usage_errors():
            return domains.by_name(self.domain).max_new_tokens

    def _default_output_path(self, problems: ProblemSet) -> Path:
        if self.checkpoint is not None:
            return self.checkpoint / "evaluation" / f"{problems.split}.jsonl"
        model = re.sub(r"[^\w.-]+", "_", str(self.model))
        return Path("evaluations") / model / "evaluation" / f"{problems.name}.jsonl"

    def _drawn_notes(self, drawn: Drawn) -> Iterator[str]:
        from setrl.evaluate.collecting import REASONED_NOTE

        if drawn.is_of_unknown_model:
            yield "it is not known which model drew the samples that were there already"
        if drawn.read_again:
            yield (
                f"{count(drawn.read_again, 'problem')} had been graded by another reward or with "
                "another answer: the samples were read again"
            )
        if drawn.cut:
            yield f"{count(drawn.cut, 'sample')} ended at the limit of tokens"
        if drawn.bare:
            yield f"{count(drawn.bare, 'sample')} without an answer: {REASONED_NOTE}"
        if self.temperature > 0 and self.samples != 1 and drawn.alike == drawn.problems > 0:
            yield (
                "all samples of each problem have the same text: the model does not sample, "
                "whatever the temperature (transformers serve does so unless the model's "
                "generation config has do_sample)"
            )


def _warn_of_few(problems: int) -> None:
    """Say before the work that so few problems answer few questions."""
    from setrl.evaluate.recommend import FEWEST

    if problems < FEWEST:
        print(
            f"note: {count(problems, 'problem')}: `setrl recommend` needs {FEWEST}, better 50, and "
            "a comparison on so few problems shows only large differences",
            file=sys.stderr,
        )


def _refuse_unless_one(options: Mapping[str, Any], what: str) -> None:
    given = " and ".join(name for name, value in options.items() if value is not None)
    if given not in options:
        raise ConfigError(f"{what}: give {' or '.join(options)}, got {given or 'neither'}")
