"""The grades of a log against its own right answers, as texts and numbers: which do not agree?"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from math import isnan

from setrl.evaluate.samples import VERIFY
from setrl.logs.recording import Graded
from setrl.samples.values import is_same, written_number
from setrl.support.wording import are, count

MOST = 1_000  # different answers that are compared: an evaluation must stay quick


class Disputes:
    """Compares grades with right answers while groups pass by.

    An answer that is the text or number of the right one, and is marked wrong, disagrees; so does
    another number that is marked right. Anything else needs a grader, which `--verify` asks for.
    """

    def __init__(self) -> None:
        self._compared = self._disputed = 0
        self._first = ""

    def watch(self, groups: Iterable[Graded]) -> Iterator[Graded]:
        """Yield the same groups, and compare the first answers."""
        for one in groups:
            if one.group.gold is not None and self._compared < MOST:
                self._compare(one, one.group.gold)
            yield one

    def note(self) -> str:
        """Say how many grades are disputed, with the first; empty for 0."""
        if not self._disputed:
            return ""
        of = "of the first" if self._compared >= MOST else "of"
        return (
            f"{self._disputed:,} {of} {count(self._compared, 'different answer')} "
            f"{are(self._disputed)} graded otherwise than the right answer says, the first: "
            f"{self._first}; pass@k and majority@k follow the log; {VERIFY}"
        )

    def _compare(self, one: Graded, gold: str) -> None:
        graded = {(s.answer, s.correct) for s in one.samples if s.answer and s.correct is not None}
        for answer, right in sorted(graded):
            self._compared += 1
            if is_same(answer, gold) != right and (not right or _are_numbers(answer, gold)):
                self._disputed += 1
                self._first = self._first or (
                    f"{answer[:60]!r} of {one.group.id[:60]!r} is marked "
                    f"{'right' if right else 'wrong'}, and the right answer is {gold[-60:]!r}"
                )


def _are_numbers(*texts: str) -> bool:
    return not any(map(isnan, map(written_number, texts)))
