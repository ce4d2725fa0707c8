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
_FONTS = r"(?:text|math)[a-z]*|bf|it|rm|color|underline|displaystyle|left|right|big+[lr]?"
_BINDS_BEFORE = re.compile(  # a sign, an exponent, the argument of a command
    r"(?:[\d\s=$(){}\[\]]-|\A-|[=\d)}]\s*[-+*/]\s*|[\^_]\s*\{?\s*|\\(?:cdot|times|div|pm|mp)\s*"
    rf"|\\(?!{_FONTS})[a-zA-Z]+\s*(?:\[[^\]]*\]\s*)?(?:\{{[^{{}}]*\}}\s*)?\{{\s*)\Z"
)
_BINDS_BEHIND = re.compile(
    r"\s*(?:[\^_!]|[+/]\s*[\w\\(]|-\s*[\d\\(]|\*\s*[\d\\(]"
    r"|\\(?:times|cdot|div|pm|mp|sqrt|frac|pi|sin|cos|tan|ln|log)(?![a-zA-Z]))"
)
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
    box is part of the outer one, and a box to which a sign or a command belongs is no answer.
    Escaped braces (`\{`) are text.

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
    if any(_is_bound(text, *each) for each in found):
        return FinalBoxes((), cut_off=False)
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


def _is_bound(text: str, start: int, end: int) -> bool:
    r"""Whether a box is a part of an answer, as something binds it: -\boxed5, \sqrt{\boxed9}."""
    begin = text.rfind("\\", 0, start)
    before = text[max(begin - _LONGEST_GAP, 0) : begin]
    behind = text[end + (text[end : end + 1] == "}") : end + _LONGEST_GAP]
    return bool(_BINDS_BEFORE.search(before) or _BINDS_BEHIND.match(behind))


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
