"""Sets of real numbers: intervals, unions and conditions, with rational ends."""

from __future__ import annotations

import re
from fractions import Fraction

from checker.reader import read_tokens
from checker.text import RELATIONS, TOKEN, TURNED, cut, plain
from checker.values import exact
from checker.verdicts import UnreadError


class Reals:
    """A set of real numbers with rational ends: intervals, unions, conditions on one letter."""

    def __init__(self, text: str):
        text = re.sub(r"\s*(?:\bor\b)\s*", r"\\cup ", plain(text))
        text = re.sub(
            r"\A\s*\\\{\s*(\w)\s*(?:\\in\s*\\mathbb\s*\{R\}\s*)?[|:](?=.*\1)(.*)\\\}\Z", r"\2", text
        )
        text = re.sub(r"\A\s*\w\s*\\in(?![a-z])", "", text)
        self.pieces = [
            self._piece(part[part[0] == r"\cup" :]) for part in cut(TOKEN.findall(text), (r"\cup",))
        ]
        self.ends = [end for low, high, *_ in self.pieces for end in (low, high) if end is not None]

    def holds(self, at: Fraction) -> bool:
        """Whether a number is in the set."""
        return any(
            (low is None or low < at or (left and low == at))
            and (high is None or at < high or (right and at == high))
            for low, high, left, right in self.pieces
        )

    def _piece(self, tokens: list[str]) -> tuple[Fraction | None, Fraction | None, bool, bool]:
        if "".join(tokens) == r"\mathbb{R}":
            return None, None, False, False
        inner = cut(tokens[1:-1], (",",))
        if tokens[0] in "([" and tokens[-1] in ")]" and len(inner) == 2:
            low, high = self._end(inner[0]), self._end(inner[1][1:])
            if low is not None and high is not None and low >= high:
                raise UnreadError
            return low, high, tokens[0] == "[", tokens[-1] == "]"
        parts = cut(tokens, RELATIONS)
        signs = [part[0] for part in parts[1:]]
        sides = [part[1:] if at else part for at, part in enumerate(parts)]
        if signs and all(sign in TURNED for sign in signs):
            signs, sides = [TURNED[sign] for sign in reversed(signs)], sides[::-1]
        if not signs or not all(sign in ("<", r"\le") for sign in signs):
            raise UnreadError
        names = [len(side) == 1 and side[0].isalpha() for side in sides]
        if sum(names) != 1 or len(sides) > 3 or (len(sides) == 3 and not names[1]):
            raise UnreadError
        at = names.index(True)
        low = self._end(sides[at - 1]) if at else None
        high = self._end(sides[at + 1]) if at + 1 < len(sides) else None
        closed = [sign == r"\le" for sign in signs]
        return low, high, bool(at) and closed[0], at + 1 < len(sides) and closed[-1]

    def _end(self, tokens: list[str]) -> Fraction | None:
        if tokens[-1:] == [r"\infty"] and len(tokens) <= 2:
            return None
        return exact(read_tokens(tokens, ""), {})
