"""Words of a log that say whether a sample is correct, where a user says what they mean."""

from __future__ import annotations

from collections.abc import Collection
from dataclasses import dataclass
from functools import cached_property
from typing import Any

from setrl.samples.values import read_score
from setrl.support.errors import ConfigError


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
    def _meaning(self) -> dict[str, bool | None]:
        said = ((self.right, True), (self.wrong, False), (self.unknown, None))
        found: dict[str, bool | None] = {}
        for words, meaning in said:
            for word in map(_plain, words):
                if found.setdefault(word, meaning) is not meaning:
                    raise ConfigError(f"--right, --wrong and --unknown contradict each other: "
                                      f"{word!r} is in two of them")  # fmt: skip
        return found

    def __bool__(self) -> bool:
        return bool(self._meaning)

    def meant(self, value: Any) -> Any:
        """Return what a word means; any other value as it is, also in a list.

        >>> VerdictWords(wrong=("timeout",)).meant(["Timeout", "pass"])
        [False, 'pass']
        """
        if isinstance(value, list):
            return [self.meant(one) for one in value]
        return self._meaning.get(_plain(value), value) if isinstance(value, str) else value

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


def _plain(word: str) -> str:
    return word.strip().lower()
