"""`setrl recommend`."""

from __future__ import annotations

import shlex
import sys
from collections.abc import Iterable
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, Literal

from tyro.conf import Positional

from setrl.cli.log_fields import EvaluatedFields, LogFields, given
from setrl.cli.method_options import as_options
from setrl.cli.said import Said
from setrl.samples.roles import UNREAD
from setrl.support.errors import ConfigError, DataError, usage_errors

if TYPE_CHECKING:
    from setrl.evaluate.loading import Loaded
    from setrl.evaluate.samples import Evaluation
    from setrl.recommend.choice import Recommendation
    from setrl.recommend.forecasts import Miniature


@dataclass(frozen=True, kw_only=True)
class Recommend(EvaluatedFields, Said):
    """Say which method and K to train with, from groups that were sampled and scored.

    Print the choice, the command to run next, and a forecast for each candidate.
    docs/recommend.md explains the numbers.

    Attributes:
        file: The groups: an evaluation file, or a log in JSON Lines, a JSON array or Parquet, whose
            fields are recognised and shown; or the folder of another tool's log.
        goal: strategies: the most right strategies in 32 samples, with pass@1 at most --within
            points below GRPO's. pass@1: only the highest pass@1. A number: how many points of
            pass@1 one more right strategy is worth, such as 2.
        within: The points of pass@1 that the goal strategies may lose.
        steps: The number of steps of the planned training.
        prompts_per_step: The number of prompts in each step of the planned training.
        samples_per_prompt: The number N of samples per prompt in the planned training; by default
            the number in the file, at most 16.
        labels: shared if a label is the same strategy in all prompts; by_prompt if each prompt
            numbers its strategies anew. The default, auto, is by_prompt if all labels are whole
            numbers, or if fewer than half of the right samples have a label that is also right in
            another prompt; the output says which.
        judge_noise: The share of labels that the judge gets wrong in training.
        second_strategy: The field of another judge's labels; the share of labels on which the
            judges differ is used as --judge-noise.
        resamples: The number of resamples of the prompts, for the intervals and the column wins.
        allow_damaged: Leave out lines that cannot be read or repeat a problem, and count them,
            instead of stopping.
        details: Also print the strategies with their shares and success rates, the reasons, and how
            sure the choice is.

    Json:
        choice: The method to train with, a key of candidates.
        near: Candidates that the errors of forecasts do not tell from the best or the choice.
        pilot: Two candidates to train for a part of the steps, where forecasts may be far off.
        candidates: Name → the keys of a config, and the forecast with its interval.
        goal: The goal, in words.
        prompts: The number of prompts.
        samples: The smallest and the largest number of samples of a prompt.
        success: The mean share of right samples, with its interval.
        success_quantiles: This share at 10, 50 and 90% of the prompts.
        never_right: The number of prompts without a right sample.
        always_right: The number of prompts with only right samples.
        alike: The share of groups of N samples that would be all right or all wrong, over prompts
            with at least N samples; null without any.
        alike_prompts: The number of these prompts.
        degenerate: The share of samples without a strategy.
        is_shared: Whether labels mean the same in all prompts.
        why_ranks: Why labels are counted anew for each prompt; empty if they are not.
        strategies: The strategies with at least 1% of the samples.
        right_strategies: Number of strategies with a right sample → the number of prompts.
        wrong_have_strategies: Whether wrong samples have strategies, too.
        quiet_set_size: The K of pass@K with the least noise.
        training: The planned training.
        at_other_speeds: Speed of learning, relative to the fitted one → the choice then.
        resamples: The number of resamples.
        within: The share of pass@1 that the goal lets a method lose; null without such a limit.
        next: The command to run next.
    """

    file: Positional[Path]
    goal: str = "strategies"
    within: float = 5.0
    steps: int = 200
    prompts_per_step: int = 16
    samples_per_prompt: int | None = None
    labels: Literal["auto", "shared", "by_prompt"] = "auto"
    judge_noise: float | None = None
    second_strategy: str | None = None
    resamples: int = 32
    allow_damaged: bool = False
    details: bool = False

    def run(self) -> None:
        """Print the recommendation; how the file was read goes to stderr."""
        from setrl.recommend.choice import Goal, candidates, recommend
        from setrl.recommend.counts import Logged
        from setrl.recommend.text import recommendation_text
        from setrl.support.files.progress import progress_bar

        with usage_errors():
            goal = Goal.parse(self.goal, self.within / 100)
        if self.resamples < 1:
            raise ConfigError(f"--resamples must be at least 1, got {self.resamples}")
        loaded = self._read()
        found = loaded.evaluation
        try:
            log = Logged.of(found, self.labels)
        except DataError as error:
            raise DataError(f"{self.file}: {error}") from None
        training = self._training(found)
        total = len(candidates(log.rate_P.mean(), training.num_samples)) if log.labels else 0
        with progress_bar(total > 0, desc="forecast", unit="method", total=total) as bar:
            advice = recommend(log, goal, training, self.resamples, bar.update)
        if self.json:
            self.say_json(**advice.to_json(), next=self._next(advice))
        else:
            unread = _unread(loaded.reading)
            print(recommendation_text(advice, self._next(advice), self.details, unread))

    def _next(self, advice: Recommendation) -> str:
        """Return the command that shows what the choice would credit these samples with."""
        log = [str(self.file), *given(self, LogFields, but=("quiet",))]
        if advice.choice is None:
            return shlex.join(["setrl", "judge", *log, "--judge", "lm:MODEL", "--endpoint", "URL"])
        config = advice.candidates[advice.choice].config
        output = f"{self.file.name.partition('.')[0]}.credited.jsonl"
        return shlex.join(["setrl", "credit", *log, *as_options(config), "--output", output])

    def _read(self) -> Loaded:
        from setrl.evaluate.loading import load_samples

        if not self.file.exists():
            raise DataError(f"{self.file}: no such file; give the file of samples")
        loaded = load_samples(self.file, self.log_options)
        self.say(loaded.reading)
        return loaded

    def _training(self, found: Evaluation) -> Miniature:
        from setrl.recommend.forecasts import Miniature

        size = min(found.most, 16) if self.samples_per_prompt is None else self.samples_per_prompt
        if size < 3:
            raise ConfigError(
                f"--samples-per-prompt must be at least 3, got {size}: sets of two are compared "
                "with sets without a sample"
            )
        with usage_errors():
            return Miniature(
                steps=self.steps,
                prompts=self.prompts_per_step,
                num_samples=size,
                label_noise=self._noise(found),
            )

    def _noise(self, found: Evaluation) -> float:
        """Return the noise that is given, or how far two judges disagree."""
        given = self.judge_noise or 0.0
        if not 0 <= given <= 1:
            raise ConfigError(f"--judge-noise must be a share from 0 to 1, got {given:g}")
        if self.second_strategy is None:
            return given
        if self.judge_noise is not None:
            raise ConfigError("give --judge-noise or --second-strategy, not both")
        from setrl.evaluate.loading import load_samples
        from setrl.recommend.counts import disagreement
        from setrl.samples.records import is_evaluation_file

        if is_evaluation_file(self.file):
            raise ConfigError(
                "an evaluation file has one label a sample: --second-strategy is for another "
                "program's log"
            )
        how = self.log_options
        other = replace(how, fields=replace(how.fields, strategy=self.second_strategy))
        noise = disagreement(found, load_samples(self.file, other).evaluation)
        print(f"note: the two judges disagree on {noise:.1%} of the samples", file=sys.stderr)
        return noise


def _unread(reading: Iterable[str]) -> str:
    """Return the fields of a log that have no role, from the lines that say how it was read."""
    lines = (line for text in reading for line in text.splitlines())
    return next((line[len(UNREAD) :] for line in lines if line.startswith(UNREAD)), "")
