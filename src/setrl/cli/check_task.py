"""`setrl check-task`."""

from __future__ import annotations

import dataclasses
import sys
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import tyro
from tyro.conf import Positional

from setrl.errors import ConfigError, usage_errors

if TYPE_CHECKING:
    from setrl.lm.resolved import ResolvedConfig
    from setrl.tasks import FileTask

PROBLEMS = 3  # the exit code if there are any


@dataclass(frozen=True, kw_only=True)
class CheckTask:
    """Check a file of problems before training; the exit code is 3 if something is wrong.

    Print prompts as the model reads them, golds that cannot be graded, lengths against the model's
    context, problems that appear twice or in two splits, and one group of samples with its
    rewards, strategies and advantages. Warnings do not change the exit code.

    Attributes:
        config: The YAML file of a run with the key task, or a file with only that key.
        prompts: The number of prompts to show.
        sample: Draw a group from the model; use --no-sample before there is a model.
        json: Print JSON instead of text.
        set: Change one key of the config, KEY=VALUE; can be repeated.
    """

    config: Positional[Path]
    prompts: int = 10
    sample: bool = True
    json: bool = False
    set: Annotated[tuple[str, ...], tyro.conf.UseAppendAction] = ()

    def run(self) -> None:
        """Print what was found; problems go to stderr, a sentence each."""
        from json import dumps

        from setrl.files import plain_json
        from setrl.lm.preflight.task_check import check_task

        if self.prompts < 0:
            raise ConfigError(f"--prompts must be at least 0, got {self.prompts}")
        task, resolved = self._read()
        if self.sample and (resolved is None or resolved.config.model is None):
            raise ConfigError(
                f"{self.config}: has no model to draw samples from: add the key `model`, or give "
                "--no-sample"
            )
        for split in task.splits:  # a wrong file is refused before anything heavy is imported
            task.all_problems(split)
        if resolved is not None:
            from setrl.lm.run import quiet

            quiet()
        with usage_errors():
            found = check_task(task, resolved, prompts=self.prompts, sample=self.sample)
        if self.json:
            print(dumps(plain_json(dataclasses.asdict(found)), indent=2, ensure_ascii=False))
        else:
            from setrl.lm.preflight.task_check_text import task_check_text

            print(task_check_text(found))
        for kind, sentences in (("warning", found.warnings), ("problem", found.problems)):
            for sentence in sentences:
                print(f"{kind}: {sentence}", file=sys.stderr)
        if found.problems:
            raise SystemExit(PROBLEMS)

    def _read(self) -> tuple[FileTask, ResolvedConfig | None]:
        """Return the task of the config, and the whole config if it has a model."""
        from setrl.files import strict_yaml
        from setrl.lm.resolved import ResolvedConfig
        from setrl.tasks import FileTask, read_config

        values, _ = strict_yaml.read(self.config)
        strict_yaml.override(values, self.set)
        resolved = ResolvedConfig.load(self.config, self.set) if "model" in values else None
        task = read_config(self.config) if resolved is None else resolved.task
        if not isinstance(task, FileTask):
            raise ConfigError(
                f"{self.config}: its problems are made by the domain {task.name}, and need no "
                "check; check-task is for the key `task`"
            )
        return task, resolved
