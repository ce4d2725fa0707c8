"""`setrl check-task`."""

from __future__ import annotations

import dataclasses
import sys
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import tyro
from tyro.conf import Positional

from setrl.cli.output import Said
from setrl.cli.train import refuse_missing_model
from setrl.support.errors import ConfigError, usage_errors

if TYPE_CHECKING:
    from setrl.tasks import DomainTask, Task
    from setrl.train.lm.resolved import ResolvedConfig

PROBLEMS = 3  # the exit code if there are any


@dataclass(frozen=True, kw_only=True)
class CheckTask(Said):
    """Check problems before training; the exit code is 3 if something is wrong.

    Print prompts as the model reads them, golds that cannot be graded, lengths against the model's
    context, problems that appear twice or in two splits, and one group of samples with its
    rewards, strategies and advantages. Warnings do not change the exit code.

    For a domain, print which rules of a domain it breaks; with a model, also the first prompts of
    training and one group of samples.

    Attributes:
        config: The YAML file of a run with the key task, or a file with only that key.
        prompts: The number of prompts to show.
        sample: Draw a group from the model; use --no-sample before there is a model.
        set: Change one key of the config, KEY=VALUE; can be repeated.

    Json:
        task: The name of the task.
        model: The name or folder of the model.
        unit: What lengths count: tokens, or characters without a model.
        context: The largest number of tokens that the model reads.
        max_new_tokens: The length at which a sample is cut.
        splits: For each split: problems, golds that cannot be used, copies, lengths of prompts.
        prompts: Prompts as the model reads them.
        group: The group of samples with rewards, strategies and advantages.
        problems: What must be put right, in sentences; then the exit code is 3.
        warnings: What people should look at, in sentences.
    """

    config: Positional[Path]
    prompts: int = 10
    sample: bool = True
    set: Annotated[tuple[str, ...], tyro.conf.UseAppendAction] = ()

    def run(self) -> int:
        """Print what was found; problems go to stderr, a sentence each."""
        from setrl.tasks import DomainTask, FileTask
        from setrl.train.lm.preflight.task_check import check_task

        if self.prompts < 0:
            raise ConfigError(f"--prompts must be at least 0, got {self.prompts}")
        task, resolved = self._read_config()
        if not isinstance(task, FileTask | DomainTask):
            raise ConfigError(f"{self.config}: {task.name} is neither a domain nor a file")
        has_model = resolved is not None and resolved.config.model is not None
        if isinstance(task, DomainTask) and not has_model:
            return self._check_domain(task)
        if self.sample and not has_model:
            raise ConfigError(
                f"{self.config}: has no model to draw samples from: add the key `model`, or give "
                "--no-sample"
            )
        if self.sample and resolved is not None:
            refuse_missing_model(resolved)
        if isinstance(task, FileTask):
            for split in task.splits:  # a wrong file is refused before anything heavy is imported
                task.all_problems(split)
        if resolved is not None:
            from setrl.train.lm.run import quiet_libraries

            quiet_libraries()
        with usage_errors():
            checked = check_task(task, resolved, prompts=self.prompts, sample=self.sample)
        if not self.json:
            from setrl.train.lm.preflight.task_check import task_check_text

            print(task_check_text(checked))
        return self._print_problems(checked.problems, checked.warnings, dataclasses.asdict(checked))

    def _check_domain(self, task: DomainTask) -> int:
        """Check the rules of a domain whose config has no model."""
        from setrl.tasks.domains.check import check_domain

        broken_rules = check_domain(task.domain)
        if not self.json and not broken_rules:
            print(f"{task.name} keeps the rules of a domain")
        return self._print_problems(broken_rules, [], {"task": task.name})

    def _print_problems(
        self, problems: Sequence[str], warnings: Sequence[str], facts: Mapping[str, Any]
    ) -> int:
        """Print what is wrong, or everything as JSON, and return the exit code."""
        from setrl.train.lm.preflight.task_check import TaskCheck

        if self.json:
            keys = [field.name for field in dataclasses.fields(TaskCheck)]
            self.say_json(
                **{**dict.fromkeys(keys), **facts, "problems": problems, "warnings": warnings}
            )
        for kind, sentences in (("warning", warnings), ("problem", problems)):
            for sentence in sentences:
                print(f"{kind}: {sentence}", file=sys.stderr)
        return PROBLEMS if problems else 0

    def _read_config(self) -> tuple[Task, ResolvedConfig | None]:
        """Return the task of the config, and the whole config if it has a model."""
        from setrl.support.files import strict_yaml
        from setrl.tasks import read_config
        from setrl.train.lm.resolved import ResolvedConfig

        values, _ = strict_yaml.read(self.config)
        strict_yaml.override(values, self.set)
        resolved = ResolvedConfig.load(self.config, self.set) if "model" in values else None
        return (read_config(self.config) if resolved is None else resolved.task), resolved
