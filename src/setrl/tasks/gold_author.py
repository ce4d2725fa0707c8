"""What a small model can imitate where there is no author: gold answers of training problems."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from functools import cached_property

import numpy as np

from setrl.support.errors import ConfigError
from setrl.tasks.domains import Problem, Reading, Written

ROOM = 1000  # characters of a prompt and its gold that a model from scratch reads


@dataclass(frozen=True)
class GoldAuthor:
    """An author who answers each training problem with its gold, one token for each character.

    Attributes:
        name: The name of the task.
        digest: The fingerprint of the training problems, which decides the model.
        problems: The training problems.
        prompts: All prompts, also those of other splits, which the model must be able to read.
        grade: A problem and samples of it → one reading for each.

    Raises:
        ConfigError: If no problem has a gold, or a prompt is too long for a small model.
    """

    name: str
    digest: str
    problems: Sequence[Problem] = field(repr=False)
    prompts: Sequence[str] = field(repr=False)
    grade: Callable[[Problem, Sequence[str]], list[Reading]] = field(repr=False)

    def __post_init__(self) -> None:
        if not self._answered:
            raise ConfigError(
                f"{self.name} has no gold answers, which a model from scratch imitates: name a "
                "model of transformers with the key model"
            )
        longest = max(len(one.prompt) + len(str(one.gold)) for one in self._answered)
        if max(longest, *map(len, self.prompts)) > ROOM:
            raise ConfigError(
                f"a model from scratch reads {ROOM:,} characters, and {self.name} has a longer "
                "prompt: write a shorter template under task.prompt, or name a model of "
                "transformers with the key model"
            )

    @cached_property
    def _answered(self) -> list[Problem]:
        return [one for one in self.problems if one.gold]

    @cached_property
    def vocabulary(self) -> tuple[str, ...]:
        """Every character of the prompts and golds."""
        texts = [*self.prompts, *(str(one.gold) for one in self._answered)]
        return tuple(sorted(set().union(*texts)))

    def corpus_problem(self, rng: np.random.Generator) -> Problem:
        """Draw a training problem that has a gold."""
        return self._answered[int(rng.integers(len(self._answered)))]

    def write(self, problem: Problem, rng: np.random.Generator) -> Written:
        """Return the gold, which is correct."""
        return Written(str(problem.gold), "", True)

    @cached_property
    def _by_prompt(self) -> dict[str, Problem]:
        return {one.prompt: one for one in self.problems}

    def read(self, prompt: str, text: str) -> Reading:
        """Grade a sample of a training problem as the task does."""
        return self.grade(self._by_prompt[prompt], [text])[0]
