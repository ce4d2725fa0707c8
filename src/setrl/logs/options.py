"""How a log is read: what the user names, and what counts as correct."""

from __future__ import annotations

from collections.abc import Callable, Collection, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any, Literal

from setrl.logs.roles import FieldNames
from setrl.samples.values import read_score
from setrl.support.errors import ConfigError

LOSS = "left out: "  # is in each note about a loss
CONTRADICT = "contradict each other"  # is in the note about two fields that say what is correct
LOUD = (LOSS, CONTRADICT)  # what --quiet does not hide
Fate = Literal["left-out", "wrong"]  # what becomes of samples without a grade
Verify = Callable[[str, Sequence[str]], list[Any]]


@dataclass(frozen=True)
class VerdictWords:
    """What words mean that a log has for a verdict, beside those that every log may have.

    Attributes:
        right, wrong: Words for a correct and for a wrong sample.
        unknown: Words for a sample that has no verdict.
    """

    right: tuple[str, ...] = ()
    wrong: tuple[str, ...] = ()
    unknown: tuple[str, ...] = ()

    @cached_property
    def _meaning_of(self) -> dict[str, bool | None]:
        meant_words = ((self.right, True), (self.wrong, False), (self.unknown, None))
        meaning_of: dict[str, bool | None] = {}
        for words, meaning in meant_words:
            for word in map(_plain_word, words):
                if meaning_of.setdefault(word, meaning) is not meaning:
                    raise ConfigError(f"--right, --wrong and --unknown contradict each other: "
                                      f"{word!r} is in two of them")  # fmt: skip
        return meaning_of

    def __bool__(self) -> bool:
        return bool(self._meaning_of)

    def meant(self, value: Any) -> Any:
        """Return what a word means; any other value as it is, also in a list.

        >>> VerdictWords(wrong=("timeout",)).meant(["Timeout", "pass"])
        [False, 'pass']
        """
        if isinstance(value, list):
            return [self.meant(item) for item in value]
        return self._meaning_of.get(_plain_word(value), value) if isinstance(value, str) else value

    def read(self, value: Any) -> float | None:
        """Return a score, or what a verdict means as 1 or 0; None if it is unknown.

        Raises:
            ValueError: If it is neither.
        """
        try:
            return read_score(self.meant(value))
        except ValueError as error:
            raise ValueError(f"{error}{hint([value])}") from None


def hint(values: Collection[Any]) -> str:
    """Return the end of an error that says which options give a word a meaning."""
    words = [value for value in values if isinstance(value, str) and len(value.split()) == 1]
    if not words:
        return ""
    return f"; --wrong {words[0]} or --unknown {words[0]} says what this means"


def _plain_word(word: str) -> str:
    return word.strip().lower()


@dataclass(frozen=True)
class LogOptions:
    """How a log is read.

    Attributes:
        fields: The fields that the user names; the others are recognised.
        correct_above: Samples of a higher score are correct; without it scores must be 0 and 1.
        degenerate: The label that means no strategy, besides −1. A null is unknown, unless
            this is "null".
        verify: Gold and texts → readings, by which each answer, or else the text, is graded;
            `correct` is then ignored. `setrl.rewards.answers.MathVerifier` reads mathematics.
        allow_damaged: Leave out lines that cannot be read.
        ungraded: Whether samples without a score are left out of figures, or count as wrong.
        steps: First and last training step to read (trl, verl, tinker); only the last step by
            default.
        filter: The filter to read (lm-eval); the first one by default.
        words: What further words mean that say whether a sample is correct.
    """

    fields: FieldNames = field(default_factory=FieldNames)
    correct_above: float | None = None
    degenerate: str | None = None
    verify: Verify | None = None
    allow_damaged: bool = False
    ungraded: Fate = "left-out"
    steps: tuple[int, int] | None = None
    filter: str | None = None
    words: VerdictWords = field(default_factory=VerdictWords)
