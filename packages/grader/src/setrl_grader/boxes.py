r"""The boxed answer at the end of a sample: balanced braces, in one pass, without recursion."""

from __future__ import annotations

import re
from dataclasses import dataclass
from itertools import pairwise

_BARE = (  # \boxed 12, \boxed x
    r"(?P<bare>-?\d++(?:[.,]\d++)*+|(?<=\s)[a-zA-Z])(?!\w|\s*(?:[-+*/^_!%({\[=]|\\[a-zA-Z%]))"
)
_TOKEN = re.compile(rf"\\(?:boxed|fbox)\s*(?:\{{|{_BARE})|\\.|[{{}}]", re.DOTALL)
_BOX = re.compile(r"\\(?:boxed|fbox)\s*\Z")
_CONNECTING = re.compile(r"(?:[\s$.,;:&]|\\[()\[\],;!\\ ]|\\q?quad|\b(?:and|or)\b|\\text)*")
_LONGEST_GAP = 200
MAX_BOXES = 16


@dataclass(frozen=True)
class FinalBoxes:
    """The contents of the boxes at the end of a sample.

    Attributes:
        answers: Contents of the last outermost box, and of the boxes before it that belong to it:
            on the same line, or with only punctuation, "and" or "or" between; at most `MAX_BOXES`.
            Empty if there is no box.
        cut_off: Whether a later box was opened but never closed.
        joined: Whether only punctuation, "and" or "or" is between them, as in a list.
    """

    answers: tuple[str, ...]
    cut_off: bool
    joined: bool = False


def final_boxes(text: str) -> FinalBoxes:
    r"""Read the boxes at the end of a sample (`\boxed{…}`, `\boxed 5`); time linear in its length.

    Without braces a box holds a number or a letter, if nothing goes on behind it. A box within a
    box is part of the outer one. Escaped braces (`\{`) are text.

    >>> final_boxes(r"first \boxed{1}.\nThus \boxed{\frac{1}{2}}").answers
    ('1', '\\frac{1}{2}')
    >>> final_boxes("first \\boxed{1}.\nThus \\boxed{\\frac{1}{2}}").answers
    ('\\frac{1}{2}',)
    """
    closed, last_open = _scan(text)
    if not closed or last_open > closed[-1][1]:
        return FinalBoxes((), cut_off=last_open >= 0)
    first = len(closed) - 1
    earliest = max(len(closed) - MAX_BOXES, 0)
    while first > earliest and _belong_together(text, closed[first - 1][1], closed[first][0]):
        first -= 1
    found = closed[first:]
    joined = all(_is_joint(text, end, start) for (_, end), (start, _) in pairwise(found))
    return FinalBoxes(tuple(text[start:end] for start, end in found), cut_off=False, joined=joined)


def all_boxes(text: str) -> list[str]:
    """Return the contents of all outermost boxes that are closed."""
    return [text[start:end] for start, end in _scan(text)[0]]


def _scan(text: str) -> tuple[list[tuple[int, int]], int]:
    """Spans of the outermost closed boxes, and the start of the last box that is never closed."""
    begin = text.find("\\boxed"), text.find("\\fbox")
    begin_at = min((at for at in begin if at >= 0), default=len(text))
    while text[begin_at - 1 : begin_at] == "\\":  # backslashes before it, which may escape it
        begin_at -= 1
    open_at: list[int] = []  # where the contents begin; −1 for a brace that is not a box
    closed: list[tuple[int, int]] = []
    for token in _TOKEN.finditer(text, begin_at):
        what = token.group()
        if what == "{":
            open_at.append(-1)
        elif what == "}":
            start = open_at.pop() if open_at else -1
            if start >= 0:
                while closed and closed[-1][0] > start:
                    closed.pop()
                closed.append((start, token.start()))
        elif token["bare"]:
            closed.append(token.span("bare"))
        elif len(what) > 2:
            open_at.append(token.end())
    return closed, max(open_at, default=-1)


def _belong_together(text: str, end: int, start: int) -> bool:
    """Whether the box that ends at `end` and the next, whose contents begin at `start`, are one."""
    if text.find("\n", end, start) < 0:
        return True
    return _is_joint(text, end, start)


def _is_joint(text: str, end: int, start: int) -> bool:
    """Whether only punctuation, "and" or "or" is between two boxes."""
    if start - end > _LONGEST_GAP:
        return False
    gap = _BOX.sub("", text[end + 1 : start - 1])
    return _CONNECTING.fullmatch(gap) is not None
