"""What a comparison found: equal or not, by which rule, and what the rule found in the parts."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any, NamedTuple


class Finding(NamedTuple):
    """What one rule found about a gold and an answer, or about a part of each.

    Attributes:
        equal: Whether both are equal; None if this takes more than rational functions.
        rule: The rule that decided it; `why.SENTENCES` has them all.
        gold: The normal form of the gold's part.
        answer: The normal form of the answer's part.
        parts: What was found in their parts, if the rule has looked there.
        pairs: For members in any order: the place of each of the gold's members in the answer.
        detail: What the rule has seen: the missing member; the point and both values there.
    """

    equal: bool | None
    rule: str
    gold: str = ""
    answer: str = ""
    parts: tuple[Finding, ...] = ()
    pairs: tuple[int, ...] = ()
    detail: tuple[str, ...] = ()

    def decisive(self) -> Finding:
        """Return the innermost finding that made this one different, or the finding itself."""
        return self.parts[0].decisive() if self.parts and self.equal is False else self

    def record(self) -> dict[str, Any]:
        """Return the finding as JSON has it, without what is empty; the checker reads this."""
        found = self._asdict() | {"parts": [part.record() for part in self.parts]}
        return {name: value for name, value in found.items() if value not in ("", (), [])}


def every(rule: str, gold: str, answer: str, parts: Iterable[Finding]) -> Finding:
    """Return equal if all parts are equal, and different with the first part that differs."""
    found = tuple(parts)
    for at, part in enumerate(found):
        if part.equal is False:
            return Finding(False, rule, gold, answer, (part,), (at,))
    unknown = any(part.equal is None for part in found)
    return Finding(None if unknown else True, rule, gold, answer, found)


def matching(gold: str, answer: str, rows: Sequence[Sequence[Finding]]) -> Finding:
    """Return equal if each of the gold's members has a member of the answer for itself.

    Args:
        gold: All members of the gold.
        answer: All members of the answer.
        rows: For each of the gold's members, what was found for each of the answer's members.
    """
    for row in rows:
        if all(found.equal is False for found in row):
            return Finding(False, "member missing", gold, answer, detail=(row[0].gold,))
    free, pairs = list(range(len(rows))), []
    for row in rows:
        match = next((column for column in free if row[column].equal), None)
        if match is None:
            unknown = any(found.equal is None for each in rows for found in each)
            missing = (row[0].gold,)
            return Finding(
                None if unknown else False, "member missing", gold, answer, (), (), missing
            )
        free.remove(match)
        pairs.append(match)
    parts = tuple(row[at] for row, at in zip(rows, pairs, strict=True))
    return Finding(True, "members", gold, answer, parts, tuple(pairs))
