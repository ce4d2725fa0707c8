"""The keys under `task:` of a config."""

from __future__ import annotations

import os
import re
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from setrl.rewards.config import combine_of, terms_of
from setrl.support.errors import ConfigError
from setrl.support.files.sections import Count, Section, require
from setrl.tasks import tables

OUR_TEMPLATE_ARGUMENTS = {"conversation", "tokenize", "return_dict", "add_generation_prompt"}


@dataclass(frozen=True, kw_only=True)
class TaskSpec(Section):
    """Problems of a file, and what is done with them.

    Attributes:
        data: A file (.jsonl, .jsonl.gz, .json, .csv, .parquet), or the name or folder of a Hugging
            Face data set; not needed if `splits` names a file for each split.
        name: The name of the task in file names; by default the name of the data.
        subset: The part of a data set that has several, such as main.
        prompt: The field of the question, or a template with {field}; by default the first of
            problem, question and prompt that there is.
        gold: The field of the correct answer; by default the first of answer, gold, final_answer
            and target that there is.
        reward: math, number, choice, exact, {function: module:name}, a list of these with weights
            and gates, or {rewards: such a list, normalize: group}; see docs/rewards.md. By default
            math.
        correct: What says which samples are correct: the name of one of the rewards, whose values
            are 1 and 0, or module:name, a function that returns True or False; by default the only
            reward.
        strategy: final_answer, {function: module:name}, {judge: …}, or none; by default none.
        system: The system message of chat models.
        chat: Whether the prompt is a user's message; by default if the model has a chat template.
        template: Further arguments of the chat template, such as {enable_thinking: false}.
        splits: Split → a file, a split of the data set, a share, or a number of problems.
        skip_missing: Whether to leave out rows that lack the field of the prompt or of the gold.
        max_new_tokens: The length in tokens at which a sample is cut.
        folder: Where relative paths start, and where modules are looked for; the config's folder.
    """

    data: str | None = None
    name: str = ""
    subset: str | None = None
    prompt: str | None = None
    gold: str | None = None
    reward: Any = "math"
    correct: str | None = None
    strategy: Any = None
    system: str | None = None
    chat: bool | None = None
    template: Mapping[str, Any] | None = None
    splits: Mapping[str, Any] | None = None
    skip_missing: bool = False
    max_new_tokens: Count = 1024
    folder: str = "."

    def __post_init__(self) -> None:
        super().__post_init__()
        for key, value in vars(self).items():
            if value == "" and key != "name":
                raise ConfigError(f"task.{key} must not be empty: leave the key out")
        if reserved := OUR_TEMPLATE_ARGUMENTS & set(self.template or {}):
            raise ConfigError(f"task.template: {min(reserved)} is set by setrl: remove it")
        if self.chat is False and self.system is not None:
            raise ConfigError("task.system needs chat: a plain prompt has no system message")
        self._check_splits()
        combine_of(self.reward, self.correct)
        source = self.data or str(next(iter((self.splits or {}).values())))
        stem = Path(source).name.partition(".")[0]
        object.__setattr__(self, "name", re.sub(r"[^\w.-]+", "_", self.name or stem))

    def _check_splits(self) -> None:
        splits = self.splits
        require(splits is None or splits, "task.splits", "name a split", splits)
        for split, value in (splits or {}).items():
            fits = isinstance(split, str) and re.fullmatch(r"[\w.-]+", split)
            require(fits, "task.splits", "have names of letters, digits and ._-", split)
            is_share = isinstance(value, float) and 0 < value <= 1
            is_count = type(value) is int and value > 0
            requirement = "be a file, a split, a share in (0, 1] or a number of problems"
            is_known = isinstance(value, str) or is_share or is_count
            require(is_known, f"task.splits.{split}", requirement, value)
        if self.data is None and not (splits and all(map(tables.is_file, splits.values()))):
            raise ConfigError(
                "task needs `data`, or `splits` with a file for each: {train: train.jsonl, …}"
            )

    @property
    def needs_gold(self) -> bool:
        """Whether a reward compares samples with a gold answer."""
        return any(term.reward is not None for term in terms_of(self.reward))

    def path(self, name: str) -> Path:
        """Return a path that is relative to the folder of the config."""
        return Path(self.folder) / Path(name).expanduser()

    def file(self, name: str) -> Path:
        """Return the path of a file that must exist.

        Raises:
            ConfigError: If the file is missing, with the folder in which it was looked for.
        """
        path, given = self.path(name), Path(name).expanduser()
        if path.exists() or given.is_absolute():
            return path
        message = f"{path}: no such file: paths of a task start in the folder of the config"
        if given.exists():  # seen from where the command was started
            message += f"; from there this file is {os.path.relpath(given, self.folder)}"
        raise ConfigError(message)
