"""`setrl recommend`."""

from __future__ import annotations

import shlex
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Literal

from tyro.conf import Positional

from setrl.cli.output import Said
from setrl.cli.shared_options import EvaluatedFields, LogFields, as_options, given
from setrl.support.errors import ConfigError, DataError

if TYPE_CHECKING:
    from setrl.evaluate.recommend import TableRow
    from setrl.evaluate.samples import Evaluation


@dataclass(frozen=True, kw_only=True)
class Recommend(EvaluatedFields, Said):
    """Say which method to train with, from groups that were sampled and scored.

    Print which row of the table in docs/choosing.md holds, the command to run next, and what the
    groups show.

    Attributes:
        file: The groups: an evaluation file, a log, or the folder of another tool's log
            (docs/importing.md).
        goal: What counts: strategies (and pass@1); mostly-pass@1; only pass@1; or only pass@k.
        samples_per_prompt: The number N of samples per prompt in the planned training; by default
            the number in the file, at most 16.
        allow_damaged: Leave out lines that cannot be read or repeat a problem, and count them,
            instead of stopping.

    Json:
        goal: What counts.
        row: The number of the row that holds.
        holds: What holds, in the words of the row.
        do: What to do.
        methods: The methods to train, as keys of a config; none where training must wait.
        next: The command to run next.
        notes: What was noticed, in sentences.
        prompts: The number of prompts.
        samples: The smallest and the largest number of samples of a prompt.
        success: The mean share of right samples, with its interval.
        success_quantiles: This share at 10, 50 and 90% of the prompts.
        never_right: The number of prompts without a right sample.
        always_right: The number of prompts with only right samples.
        group_size: The number N of samples per prompt in the planned training.
        alike: The share of groups of N samples that would be all right or all wrong, over prompts
            with at least N samples; null without any.
        alike_prompts: The number of these prompts.
        effective_number: The effective number of strategies of a prompt; null without strategies.
        top_share: The share of the commonest strategy of a prompt; null without strategies.
        degenerate: The share of samples without a strategy.
        right_strategies: Number of strategies with a right sample → the number of prompts.
        are_answers: Whether the labels of strategies divide samples as their answers do.
    """

    file: Positional[Path]
    goal: Literal["strategies", "mostly-pass@1", "pass@1", "pass@k"] = "strategies"
    samples_per_prompt: int | None = None
    allow_damaged: bool = False

    def run(self) -> None:
        """Print the row, the next command and what the groups show; how they were read: stderr."""
        from setrl.evaluate.cautions import cautions_of_one
        from setrl.evaluate.problems import nearly_equal
        from setrl.evaluate.recommend import as_json, recommendation_text, row_of, shown

        if self.samples_per_prompt is not None and self.samples_per_prompt < 3:
            raise ConfigError(
                f"--samples-per-prompt must be at least 3, got {self.samples_per_prompt}: sets of "
                "two are compared with sets without a sample"
            )
        groups = self._read_samples()
        try:
            log = shown(groups, self.samples_per_prompt or min(groups.most, 16))
        except DataError as error:
            raise DataError(f"{self.file}: {error}") from None
        row, near = row_of(log, self.goal), nearly_equal(groups.ids)
        notes = [*cautions_of_one([groups]), *([near] if near else [])]
        if self.json:
            keys = as_json(log, row, self.goal)
            self.say_json(**keys, next=self._next_command(row), notes=notes)
            return
        print(recommendation_text(log, row, self._next_command(row), ", ".join(groups.labels)))
        for note in notes:
            print(f"note: {note}")

    def _next_command(self, row: TableRow) -> str:
        """Return the command that shows what a method would credit these samples with.

        Or, where labels come first, the command that makes them.
        """
        log = [str(self.file), *given(self, LogFields, but=("quiet",))]
        if row.needs_judge:
            return shlex.join(["setrl", "judge", *log, "--judge", "lm:MODEL", "--endpoint", "URL"])
        if not row.methods:
            return shlex.join(["setrl", "evaluate", *log, "--metrics", "pass"])
        output = f"{self.file.name.partition('.')[0]}.credited.jsonl"
        return shlex.join(["setrl", "credit", *log, *as_options(row.methods[0]),
                           "--output", output])  # fmt: skip

    def _read_samples(self) -> Evaluation:
        from setrl.evaluate.loading import load_samples

        if not self.file.exists():
            raise DataError(f"{self.file}: no such file; give the file of samples")
        loaded = load_samples(self.file, self.log_options)
        self.say(loaded.reading)
        return loaded
