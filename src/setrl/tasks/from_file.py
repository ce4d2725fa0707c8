"""A file of problems, or the problems of a generator, as a task."""

from __future__ import annotations

import dataclasses
import hashlib
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any

from typing_extensions import override

from setrl.models.prompting import PromptForm
from setrl.rewards.answers import MathAnswer, typed_gold
from setrl.rewards.combine import Combine
from setrl.rewards.config import RewardSet, combine_of, rewards_from_config
from setrl.rewards.grading import gold_answer, gold_problem
from setrl.rewards.guarded import GuardedReward
from setrl.rewards.interface import Reward
from setrl.support.errors import ConfigError, DataError
from setrl.support.files import json_text
from setrl.support.files.loading import load_function
from setrl.support.wording import are, count, first_of
from setrl.tasks import problems as problems_of_file
from setrl.tasks import splits, strategies, tables
from setrl.tasks.base import TRAIN, Labels, ProblemSet, Strategy, Task, in_rounds, say_unfit
from setrl.tasks.domains import Problem, Reading
from setrl.tasks.spec import TaskSpec
from setrl.tasks.splits import asked_before, shared_with_others, with_other_golds
from setrl.tasks.tables import ProblemTable

SHOWN = 3  # problems listed in a message


@dataclass(frozen=True)
class FileTask(Task):
    """Problems of a file, a data set or a generator, graded by the rewards that its keys name.

    Nothing is read until a problem is asked for.
    """

    spec: TaskSpec

    @property
    @override
    def name(self) -> str:
        return self.spec.name

    @property
    @override
    def form(self) -> PromptForm:
        return PromptForm(self.spec.system, self.spec.chat, dict(self.spec.template or {}))

    @property
    def splits(self) -> tuple[str, ...]:
        """The key `splits`; without it, train and test of one table, or a data set's splits."""
        if self.spec.splits is not None:
            sizes = any(not isinstance(value, str) for value in self.spec.splits.values())
            return tuple(dict.fromkeys((TRAIN, *self.spec.splits) if sizes else self.spec.splits))
        return (
            tuple(self._complete_tables)
            if len(self._complete_tables) > 1
            else (TRAIN, *splits.USUAL)
        )

    @property
    @override
    def max_new_tokens(self) -> int:
        return self.spec.max_new_tokens

    @property
    @override
    def rewards(self) -> tuple[Reward, ...]:
        return self.reward_set.functions

    @property
    @override
    def combine(self) -> Combine:
        return combine_of(self.spec.reward, self.spec.correct)

    @property
    @override
    def correct(self) -> Reward | None:
        return self.reward_set.correct

    @cached_property
    def reward_set(self) -> RewardSet:
        """The rewards, and what reads samples in evaluation."""
        return rewards_from_config(
            self.spec.reward, self._gold, self.spec.folder, self.spec.correct
        )

    @cached_property
    @override
    def strategy(self) -> Strategy:
        return strategies.strategy_of_config(self.spec.strategy, self._load_function, self.answers)

    @property
    def _naming_function(self) -> Any:
        """What names strategies in an evaluation, loaded so that its code is known; or None."""
        return None if self.strategy.function is None else self.spec.strategy

    def check_columns(self, found: Sequence[Problem]) -> None:
        """Refuse functions that take what no problem has."""
        columns = list(dict.fromkeys(key for problem in found for key in problem.columns))
        if missing := self.reward_set.missing_columns(columns):
            raise ConfigError(
                f"{missing[0]}, which is not a field of {found[0].where}; it has "
                f"{', '.join(columns) or 'none'}"
            )

    def check_evaluated(self) -> None:
        """Refuse an outcome that takes what only a trainer gives: evaluation would fail, too late.

        Raises:
            ConfigError: Naming the function and the parameter.
        """
        outcome = self.reward_set.outcome
        if isinstance(outcome, GuardedReward) and outcome.of_trainers:
            name = outcome.of_trainers[0]
            raise ConfigError(
                f"{outcome.where} takes {name!r}, which an evaluation cannot give: write "
                f"{name}=None among its parameters, or set eval_splits: []"
            )

    def _load_function(self, reference: str) -> Labels:
        return load_function(reference, self.spec.folder).value

    @cached_property
    @override
    def answers(self) -> Labels:
        """The final answers, read as the outcome reads them."""
        return strategies.final_answers(lambda: self.reward_set)

    @cached_property
    def _gold(self) -> str | None:
        return problems_of_file.gold_field(next(iter(self._complete_tables.values())), self.spec)

    @cached_property
    def _files_of_splits(self) -> dict[str, str]:
        """Split → file, where `splits` names files."""
        named = dict(self.spec.splits or {})
        files = {split: value for split, value in named.items() if tables.is_file(value)}
        if files and len(files) < len(named):
            raise ConfigError(f"task.splits must all be files or none, got {named}")
        return files

    @cached_property
    def _complete_tables(self) -> dict[str, ProblemTable]:
        """The stored tables, without rows that are to be skipped."""
        return {
            split: problems_of_file.without_incomplete_rows(table, self.spec)
            for split, table in self._stored_tables.items()
        }

    @cached_property
    def _stored_tables(self) -> dict[str, ProblemTable]:
        """Split → table; a single file is one table, under ""."""
        spec = self.spec
        if self._files_of_splits:
            return {
                split: tables.read_file(spec.file(file))
                for split, file in self._files_of_splits.items()
            }
        assert spec.data is not None
        if tables.is_file(spec.data):
            return {"": tables.read_file(spec.file(spec.data))}
        folder = spec.path(spec.data)
        tables.refuse_other_file(folder)
        return tables.read_dataset(str(folder) if folder.is_dir() else spec.data, spec.subset)

    @cached_property
    def _tables(self) -> dict[str, ProblemTable]:
        """Split → table, with each problem in one of them."""
        whole, division = self._complete_tables, self.spec.splits
        if self._files_of_splits or (division is None and len(whole) > 1):
            return whole
        if any(isinstance(value, str) for value in (division or {}).values()):
            return self._choose_tables(whole, division or {})
        return self._divide_table(whole, division or splits.USUAL)

    def _choose_tables(
        self, whole: Mapping[str, ProblemTable], names: Mapping[str, Any]
    ) -> dict[str, ProblemTable]:
        for split, name in names.items():
            if name not in whole:
                splits_text = ", ".join(whole) if "" not in whole else "one file without splits"
                raise ConfigError(
                    f"task.splits.{split}: {name!r} is neither a file (.jsonl, .json, .csv, …) "
                    f"nor a split of the data, which has {splits_text}"
                )
        return {split: whole[name] for split, name in names.items()}

    def _divide_table(
        self, whole: Mapping[str, ProblemTable], sizes: Mapping[str, Any]
    ) -> dict[str, ProblemTable]:
        """Return one table divided; of a data set with several splits, its table of train."""
        table = whole.get(TRAIN) or next(iter(whole.values()))
        prompts = [problem.prompt for problem in problems_of_file.read_problems(table, self.spec)]
        return {
            split: dataclasses.replace(table, rows=tuple(table.rows[place] for place in places))
            for split, places in splits.divide_by_sizes(prompts, sizes).items()
        }

    @cached_property
    def _known_problems(self) -> dict[str, list[Problem]]:
        return {}

    def all_problems(self, split: str) -> list[Problem]:
        """Return the problems of a split in the order of the file, also those with unusable golds.

        Raises:
            ConfigError: If there is no such split, or it is empty.
            DataError: If a field is missing, or no gold can be used.
        """
        if split not in self._tables:
            raise ConfigError(
                f"task {self.name} has no split {split!r}, but {', '.join(self._tables)}"
            )
        if split not in self._known_problems:
            table = self._tables[split]
            if not table.rows:
                raise ConfigError(f"the split {split!r} of {table.where} is empty")
            problems = problems_of_file.read_problems(table, self.spec)
            named = problems_of_file.with_ids(problems, f"{self.name}/{split}")
            self._known_problems[split] = self._mark_unfit(named)
        return self._known_problems[split]

    def _mark_unfit(self, problems: list[Problem]) -> list[Problem]:
        """Return the problems with why their golds cannot be used.

        Golds of mathematics are not parsed here: to parse thousands takes minutes.
        """
        if not self.spec.needs_gold:
            return problems
        golds = [typed_gold(problem) for problem in problems]
        why = (
            ["no answer" if g.gold is None else gold_problem(gold_answer(g)) for g in golds]
            if isinstance(self.reward_set.outcome, MathAnswer)
            else self.reward_set.gold_problems(golds)
        )
        pairs = zip(problems, why, strict=True)
        return [dataclasses.replace(problem, unfit=reason) for problem, reason in pairs]

    def usable(self, split: str) -> list[Problem]:
        """Return the problems of a split whose gold can be used for grading.

        Raises:
            DataError: If no gold can be used.
        """
        problems = self.all_problems(split)
        usable = [problem for problem in problems if problem.unfit is None]
        if not usable:
            first = problems[0]
            raise DataError(
                f"no gold of the split {split!r} can be used for grading; the first: "
                f"{first.where}, {str(first.gold)[:80]!r}: {first.unfit}"
            )
        return usable

    @override
    def notes(self, used: Sequence[str]) -> list[str]:
        return [*self.remarks(used), *self.faults(used)]

    def faults(self, used: Sequence[str]) -> list[str]:
        """Return what makes the numbers of these splits wrong, in sentences."""
        faults = [sentence for split in used for sentence in self._say_contradictions(split)]
        for split in used:
            if split != TRAIN and TRAIN in used and (same := self.overlap(split)):
                faults.append(
                    f"{same} of {count(len(self.usable(split)), 'problem')} of {split} {are(same)} "
                    f"also in {TRAIN}: the evaluation on {split} is not on new problems"
                )
        return faults

    def remarks(self, used: Sequence[str]) -> list[str]:
        """Return what was left out of these splits, in sentences."""
        notes = []
        whole = zip(self._stored_tables.values(), self._complete_tables.values(), strict=True)
        if skipped := sum(len(stored.rows) - len(complete.rows) for stored, complete in whole):
            notes.append(f"left out: {count(skipped, 'row')} without a problem (task.skip_missing)")
        fields = {field for table in self._complete_tables.values() for field in table.fields}
        if pictures := sorted(fields & set(problems_of_file.PICTURES)):
            notes.append(
                f"the field {pictures[0]!r} is left out, because models read only text here: a "
                "script with SetGRPOTrainer passes pictures to TRL as they are"
            )
        for split in used:
            every = self.all_problems(split)
            if unfit := [
                f"{problem.where} ({problem.unfit})"
                for problem in every
                if problem.unfit is not None
            ]:
                notes.append(say_unfit(unfit, f"{count(len(every), 'problem')} of {split}"))
        return notes

    def _say_contradictions(self, split: str) -> list[str]:
        """Say which problems contradict each other."""
        if not self.spec.needs_gold:  # a function may accept several answers
            return []
        pairs = with_other_golds(asked_before(self.usable(split)))
        if not pairs:
            return []
        shown = [f"{later.where} and {earlier.where}" for earlier, later in pairs]
        return [
            f"{len(pairs)} of the problems of {split} ask what another asks, with another gold, "
            f"and at most one of both can be right: {first_of(shown, SHOWN)}"
        ]

    @override
    def digest(self, split: str) -> str:
        digest = hashlib.sha256()
        for problem in self.all_problems(split):
            row = {"prompt": problem.prompt, "gold": problem.gold, "columns": problem.columns}
            digest.update(json_text(row).encode())
        return digest.hexdigest()[:16]

    def overlap(self, split: str) -> int:
        """Return how many problems of a split have the prompt of one of training.

        Upper and lower case and white space do not count.
        """
        return len(shared_with_others(self.usable(split), self.usable(TRAIN)))

    @override
    def training_problems(self, count: int, different: int | None, seed: int) -> list[Problem]:
        problems = self.usable(TRAIN)
        if different is not None and different > len(problems):
            raise ConfigError(
                f"train_problems must be at most {len(problems)}, the problems of the split "
                f"{TRAIN!r} of {self.name}, got {different}"
            )
        self.check_columns(problems)
        chosen = _choose_some(problems, different, seed=0)
        return [chosen[place] for place in in_rounds(len(chosen), count, seed)]

    @override
    def problems(self, split: str, count: int | None, seed: int, chat: bool = False) -> ProblemSet:
        self.check_evaluated()
        chosen = _choose_some(self.usable(split), count, seed)
        unfit = self.reward_set.gold_problems([typed_gold(problem) for problem in chosen])
        chosen = [problem for problem, why in zip(chosen, unfit, strict=True) if why is None]
        if not chosen:
            raise DataError(f"no gold of the split {split!r} can be used for grading: {unfit[0]}")
        return ProblemSet(
            name=f"{self.name}_{split}",
            split=split,
            problems=tuple(chosen),
            read=lambda problem, texts: self.read(problem, texts, chat),
            max_tokens=self.max_new_tokens,
            reader=[self.spec.reward, self.spec.correct, self._naming_function, chat],
        )

    def read(self, problem: Problem, texts: Sequence[str], chat: bool = False) -> list[Reading]:
        """Return whether samples of a problem are correct, their answers, and their strategies.

        Functions receive messages with `chat`, as in training with a chat template.
        """
        readings = self.reward_set.read(problem, texts, chat=chat)
        function = self.strategy.function
        if function is None:
            return readings
        labels = strategies.strategies_in_evaluation(function, problem, texts, self.form, chat)
        return [
            dataclasses.replace(reading, strategy=label)
            for reading, label in zip(readings, labels, strict=True)
        ]


def _choose_some(problems: list[Problem], count: int | None, seed: int) -> list[Problem]:
    """Return `count` problems, by their prompts and the seed, in the order of the file; or all."""
    if count is None or count >= len(problems):
        return problems
    order = sorted(
        range(len(problems)), key=lambda i: (splits.place_of(problems[i].prompt, seed), i)
    )
    return [problems[place] for place in sorted(order[:count])]
