"""The scores of a file: whether they say which samples are correct, and whether rewards agree."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from math import inf

from setrl.logs.options import CONTRADICT
from setrl.logs.roles import Recognised
from setrl.samples.values import is_outcome
from setrl.support.errors import ConfigError
from setrl.support.wording import count

Scores = Sequence[float | None]


class Grades:
    """What the scores of all rows have in common.

    Args:
        recognised: The roles of the fields.
        above: The score above which samples are correct; without it scores must be 0 and 1.

    Attributes:
        has_grades: Whether there are scores other than 0 and 1.
        has_rewards: Whether there are rewards other than 0 and 1.
    """

    def __init__(self, recognised: Recognised, above: float | None):
        self.has_grades = self.has_rewards = False
        self._fields = recognised.fields
        self._is_named = recognised.is_named("correct")
        self._above = above
        self._low, self._high = inf, -inf
        self._some_scores: set[float] = set()  # three of them are many
        self._compared = self._opposite = 0

    @property
    def is_graded(self) -> bool:
        """Whether scores are other than 0 and 1, and no threshold says what is correct."""
        return self._above is None and self.has_grades

    def add_scores(self, scores: Scores) -> None:
        """Look at scores that say which samples are correct."""
        distinct = {score for score in scores if score is not None}
        self._low, self._high = min((self._low, *distinct)), max((self._high, *distinct))
        self.has_grades = self.has_grades or not all(map(is_outcome, distinct))
        if len(self._some_scores) < 3:
            self._some_scores |= distinct

    def add_rewards(self, rewards: Scores) -> None:
        """Look at rewards."""
        distinct = {reward for reward in rewards if reward is not None}
        self.has_rewards = self.has_rewards or not all(map(is_outcome, distinct))

    def compare(self, scores: Iterable[float | None], rewards: Iterable[float | None]) -> None:
        """Count where a reward of 0 or 1 says the opposite of what is correct."""
        pairs = [pair for pair in zip(scores, rewards, strict=True) if None not in pair]
        self._compared += len(pairs)
        self._opposite += pairs.count((0, 1)) + pairs.count((1, 0))

    def refuse_opposite(self) -> None:
        """Raise an error if rewards contradict in all samples what is correct.

        Raises:
            ConfigError: Naming the option that decides.
        """
        if self._opposite and self._opposite == self._compared and not self._is_named:
            raise ConfigError(
                f"{self._fields.correct} and {self._fields.reward} say the opposite of each other "
                f"in every sample: choose the one that says what is correct with --correct"
            )

    def refuse_graded(self) -> None:
        """Raise an error if it is not known which samples are correct.

        Raises:
            ConfigError: Naming the option that says it.
        """
        if not self.is_graded:
            return
        field = (self._fields.correct or "the score").removeprefix("samples.")
        above, says = "X", "which samples are correct"
        if len(self._some_scores) == 2:  # such as ±1, or 0 and 100
            above = f"{(self._low + self._high) / 2:g}"
            says = f"that {self._high:g}, the larger of its two values, is correct"
        raise ConfigError(
            f"{field} is graded ({self._low:g} to {self._high:g}): --correct-above {above} "
            f"says {says}; the scores are kept as rewards"
        )

    def note(self) -> str:
        """Return where rewards contradict what is correct, in a sentence; empty if nowhere."""
        if not self._opposite or self.has_rewards:
            return ""
        correct = self._fields.correct
        return (f"{correct} and {self._fields.reward} {CONTRADICT} in {self._opposite:,} of "
                f"{count(self._compared, 'sample')}: {correct} says what is correct")  # fmt: skip
