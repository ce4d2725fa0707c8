"""What every grader offers, whatever kind of answer it reads."""

from __future__ import annotations

import logging
from abc import ABC, abstractmethod
from collections.abc import Callable, Sequence
from functools import lru_cache
from typing import TypeVar

from setrl_grader.errors import GoldError
from setrl_grader.grades import Grade, Reason

T = TypeVar("T")

log = logging.getLogger(__name__)
SHOWN = 200  # letters of a text in a warning


class Grader(ABC):
    """A grader reads the answer that a sample states and compares it with a gold answer."""

    @abstractmethod
    def grades(
        self,
        texts: Sequence[str],
        golds: Sequence[object],
        *,
        prompts: Sequence[object] | None = None,
    ) -> list[Grade]:
        """Return the grade of each sample.

        Args:
            texts: The samples.
            golds: The gold of each sample.
            prompts: The problem of each sample, as text or messages, if copies of it are refused.
        """

    @abstractmethod
    def answer(self, text: str) -> str | None:
        """Return what a sample states; equal texts are equal answers; None if nothing is read."""

    @abstractmethod
    def gold_problems(self, golds: Sequence[object]) -> list[str | None]:
        """Return why each gold cannot be used for grading; None if it can."""

    def grade(self, text: str, gold: object, *, prompt: object = None) -> Grade:
        """Return the grade of one sample; `prompt` is its problem, as text or messages."""
        return self.grades([text], [gold], prompts=[prompt])[0]

    def check_golds(self, golds: Sequence[object]) -> None:
        """Refuse golds that cannot be used for grading: call it when the data are loaded.

        Raises:
            GoldError: With the first of them, and how many there are.
        """
        problems = self.gold_problems(golds)
        bad = [row for row, problem in enumerate(problems) if problem]
        if bad:
            first = bad[0]
            raise GoldError(
                f"{len(bad)} of {len(golds)} golds cannot be used for grading; the first is row "
                f"{first}, {str(golds[first])[:80]!r}: {problems[first]}"
            )


def guarded(text: object, gold: object, grade: Callable[[], T]) -> T | Grade:
    """Return what `grade` returns; where it raises, a grade that says so, and a warning.

    No answer ends a training run. The reading has no known fault; this is for those to come. What
    is no text states nothing.
    """
    if not isinstance(text, str):
        return Grade(Reason.NO_ANSWER)
    try:
        return grade()
    except RecursionError:  # brackets too deep for what is left of the caller's stack
        return Grade(Reason.UNPARSABLE)
    except Exception as error:
        _warn(
            f"{type(error).__name__}: {error}"[:SHOWN],
            repr(text)[-SHOWN:],
            ascii(gold)[:SHOWN] if isinstance(gold, str) else type(gold).__name__,
        )
        return Grade(Reason.FAULT)


@lru_cache(maxsize=1024)  # each fault once
def _warn(error: str, text: str, gold: str) -> None:
    log.warning("the grader failed (%s) on the sample %s with the gold %s: it counts as "
                "unreadable, and as wrong; please report it", error, text, gold)  # fmt: skip


def check_lengths(texts: Sequence[object], golds: Sequence[object], what: str = "gold") -> None:
    """Refuse a batch that does not have one gold, or one prompt, for each sample.

    Raises:
        ValueError: With both numbers.
    """
    several = hasattr(golds, "__len__") and not isinstance(golds, str)
    if not several or len(texts) != len(golds):
        raise ValueError(
            f"there must be one {what} for each of {len(texts)} samples, "
            f"got {len(golds) if several else type(golds).__name__}"
        )
