"""Problems, looked at before an hour is spent on them: what the model will read, what cannot be
graded, what is too long or there twice, and what one group of samples is worth.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING, Any

import numpy as np
from typing_extensions import override

from setrl.support.errors import ConfigError
from setrl.support.wording import count, table
from setrl.tasks import DomainTask, FileTask, Problem, Task
from setrl.tasks.base import TRAIN
from setrl.tasks.domains.check import check_domain
from setrl.tasks.splits import asked_before, place_of
from setrl.tasks.visible import escaped, from_here, shortened, visible
from setrl.train.lm.resolved import ResolvedConfig

if TYPE_CHECKING:
    from transformers import PreTrainedTokenizerBase

    from setrl.train.lm.preflight.group_check import GroupCheck

PROMPT_LENGTH = 1_500  # characters of a prompt that are shown
CHECKED = 1_000  # problems of a domain whose lengths are looked at


@dataclass(frozen=True)
class TaskCheck:
    """All that was found.

    Attributes:
        task: The name of the task.
        model: The name or folder of the model; None without one.
        unit: What lengths count: tokens, or characters without a model.
        context: The largest number of tokens that the model reads; None if it is not known.
        max_new_tokens: The length at which a sample is cut.
        splits: What was found in each split of a file: `problems`, golds `left_out`, problems that
            are there `twice` or `also_in_train`, and the `median`, `most_95` and `longest` of the
            lengths.
        prompts: Some prompts of training as the model reads them: `where`, `length` and `text`.
        group: One group of samples; None if none was drawn.
        problems: What must be put right, in sentences.
        warnings: What people should look at, in sentences.
    """

    task: str
    model: str | None
    unit: str
    context: int | None
    max_new_tokens: int
    splits: list[dict[str, Any]]
    prompts: list[dict[str, Any]]
    group: GroupCheck | None
    problems: list[str]
    warnings: list[str]


def check_task(
    task: FileTask | DomainTask,
    resolved: ResolvedConfig | None,
    *,
    prompts: int = 10,
    sample: bool = True,
) -> TaskCheck:
    """Look at all problems of a task, and draw one group of samples from the model.

    Of a domain, which makes its problems, the rules are checked, and the first problems of
    training.

    Args:
        task: The task.
        resolved: The comparison that it belongs to; None for a task without a model.
        prompts: How many prompts are shown.
        sample: Whether to draw a group.

    Raises:
        ConfigError: If the model, the task or an option of theirs is wrong.
        DataError: If a field is missing, or no problem of a split can be used.
    """
    if isinstance(task, DomainTask):
        return _DomainChecking(task, resolved).make_task_check(prompts, sample)
    return _FileChecking(task, resolved).make_task_check(prompts, sample)


class _TaskChecking(ABC):
    """What all parts of the check share, and the sentences that they add."""

    def __init__(self, task: Task, resolved: ResolvedConfig | None):
        self.task, self.resolved = task, resolved
        self.model = None if resolved is None else resolved.config.model
        self.problems, self.warnings = self.faults_and_remarks()
        self.warnings += [] if resolved is None else resolved.ignored_rewards
        self.tokenizer: PreTrainedTokenizerBase | None = None
        self.context: int | None = None
        self.form = task.form if resolved is None else resolved.form
        if self.model is not None:
            self._read_model(self.model)

    def _read_model(self, model: str) -> None:
        from setrl.models.local import load_tokenizer
        from setrl.train.lm.preflight.checks import check_model, context_length, prompts_too_long

        check_model(model)
        self.tokenizer, self.context = load_tokenizer(model), context_length(model)
        if not self.form.is_chat(self.tokenizer):
            self.warnings.append(
                "the model reads plain text and no messages, because "
                + ("chat is false" if self.tokenizer.chat_template else "it has no chat template")
            )
        assert self.resolved is not None
        self.problems += prompts_too_long(
            self.resolved, model, (problem.prompt for problem in self.problems_to_measure())
        )

    @abstractmethod
    def faults_and_remarks(self) -> tuple[list[str], list[str]]:
        """Return what is wrong with the task itself, and what people should look at."""

    @abstractmethod
    def problems_to_measure(self) -> Iterable[Problem]:
        """Return the problems whose lengths are checked."""

    @abstractmethod
    def splits(self) -> list[dict[str, Any]]:
        """Return what was found in each split."""

    @abstractmethod
    def first_of_training(self, number: int) -> Sequence[Problem]:
        """Return some problems of training."""

    def make_task_check(self, prompts: int, sample: bool) -> TaskCheck:
        group = self._draw_group() if sample else None
        tokens = self.task.max_new_tokens if self.resolved is None else self.resolved.sample_tokens
        return TaskCheck(
            task=self.task.name,
            model=self.model,
            unit="characters" if self.tokenizer is None else "tokens",
            context=self.context,
            max_new_tokens=tokens,
            splits=self.splits(),
            prompts=self._choose_shown_prompts(prompts),
            group=group,
            problems=self.problems,
            warnings=self.warnings,
        )

    def _measure_prompt(self, problem: Problem) -> int:
        if self.tokenizer is None:
            return len(problem.prompt)
        return len(self.form.token_ids(problem.prompt, self.tokenizer))

    def _choose_shown_prompts(self, number: int) -> list[dict[str, Any]]:
        """Return some prompts of training as the model reads them."""
        return [
            {
                "where": from_here(problem.where),
                "length": self._measure_prompt(problem),
                "text": self._show_prompt(problem),
            }
            for problem in self.first_of_training(number)
        ]

    def _show_prompt(self, problem: Problem) -> str:
        if self.tokenizer is None:
            return escaped(problem.prompt)
        return visible(self.form.token_ids(problem.prompt, self.tokenizer), self.tokenizer)

    def _draw_group(self) -> GroupCheck | None:
        if self.resolved is None or self.model is None:
            raise ConfigError(
                "the config has no model to draw samples from: add the key `model`, or give "
                "--no-sample"
            )
        from setrl.train.lm.preflight.group_check import check_group

        group = check_group(self.resolved)
        self.problems += group.problems
        self.warnings += group.warnings
        return group


class _FileChecking(_TaskChecking):
    """All problems of a file."""

    task: FileTask

    @override
    def faults_and_remarks(self) -> tuple[list[str], list[str]]:
        return self.task.faults(self.task.splits), self.task.remarks(self.task.splits)

    @override
    def problems_to_measure(self) -> Iterable[Problem]:
        return (problem for split in self.task.splits for problem in self.task.usable(split))

    @override
    def first_of_training(self, number: int) -> Sequence[Problem]:
        return sorted(self.task.usable(TRAIN), key=lambda item: place_of(item.prompt))[:number]

    @override
    def splits(self) -> list[dict[str, Any]]:
        return [self._measure_split(split) for split in self.task.splits]

    def _measure_split(self, split: str) -> dict[str, Any]:
        problems, usable = self.task.all_problems(split), self.task.usable(split)
        if split == TRAIN:
            self.task.check_columns(problems)
        elif self.resolved is None or split in self.resolved.eval_splits:
            self.task.check_evaluated()
        lengths = [self._measure_prompt(problem) for problem in usable]
        quantiles = np.quantile(lengths, [0.5, 0.95, 1], method="inverted_cdf")
        median, most_95, longest = map(int, quantiles)
        return {
            "split": split,
            "problems": len(problems),
            "left_out": len(problems) - len(usable),
            "twice": len(asked_before(problems)),
            "also_in_train": 0 if split == TRAIN else self.task.overlap(split),
            "median": median,
            "most_95": most_95,
            "longest": longest,
        }


class _DomainChecking(_TaskChecking):
    """The rules of a domain, and the first problems of training."""

    task: DomainTask

    @override
    def faults_and_remarks(self) -> tuple[list[str], list[str]]:
        return check_domain(self.task.domain), []

    @cached_property
    def drawn_problems(self) -> Sequence[Problem]:
        """The problems of training, as the first seed draws them."""
        if self.resolved is None:
            return self.task.training_problems(CHECKED, None, 0)
        return self.resolved.training_problems(self.resolved.config.seeds[0])

    @override
    def problems_to_measure(self) -> Iterable[Problem]:
        return self.drawn_problems[:CHECKED]

    @override
    def first_of_training(self, number: int) -> Sequence[Problem]:
        return self.drawn_problems[:number]

    @override
    def splits(self) -> list[dict[str, Any]]:
        return []


def task_check_text(found: TaskCheck) -> str:
    """Return what was found: prompts, splits, one group; problems and warnings come after it."""
    parts = [_format_prompts(found), _format_splits(found)]
    if found.group is not None:
        from setrl.train.lm.preflight.group_check import group_text

        parts.append(group_text(found.group))
    return "\n\n".join(part for part in parts if part)


def _format_prompts(check: TaskCheck) -> str:
    reader = "the model reads them" if check.model else "they are in the file"
    blocks = [f"{count(len(check.prompts), 'prompt')} of {check.task}, as {reader}"]
    for prompt in check.prompts:
        text = shortened(prompt["text"], PROMPT_LENGTH).replace("\n", "\n  │ ")
        where = f"{prompt['where']}, " if prompt["where"] else ""  # a domain's are in no file
        blocks.append(f"{where}{prompt['length']:,} {check.unit}\n  │ {text}")
    return "\n".join(blocks) if check.prompts else ""


def _format_splits(check: TaskCheck) -> str:
    head = ["split", "problems", "golds left out", "twice", "also in train"]
    rows: list[list[str]] = [[*head, f"{check.unit}: median", "95%", "longest"]]
    for split in check.splits:
        name, *numbers = split.values()
        rows.append([name, *(f"{number:,}" for number in numbers)])
    context = "not known" if check.context is None else f"{check.context:,} tokens"
    limit = f"max_new_tokens {check.max_new_tokens:,}; the model's context: {context}"
    return f"{table(rows)}\n{limit}" if check.splits else limit
