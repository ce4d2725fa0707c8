r"""What a sample states as its answer: in a box, in tags, after "####" or "answer is", or last."""

from __future__ import annotations

import re
import unicodedata
from dataclasses import dataclass
from typing import Literal

from setrl_grader.boxes import final_boxes

Place = Literal["marked", "prose", "end"]

_THINK_END = "</think>"
HOPE = re.compile(r"\bI hope it is correct\b")  # the end that Minerva's prompt asks for
_TAG = re.compile(r"<(/?)answer>", re.IGNORECASE)
_ANSWER_IS = re.compile(
    r"\b(?:answer|(?:correct|right|best) (?:option|choice))"
    r"(?:(?: is)?[ \t*]*:[*:\s]*| is[ \t*]*)(?=\S)",
    re.IGNORECASE,
)


@dataclass(frozen=True)
class Stated:
    """What a sample states as its answer.

    Attributes:
        text: The answer, unchanged.
        place: `marked` in a box, in tags or after "####"; `prose` after "answer is" or "answer:";
            `end` where nothing says which it is: the last line.
    """

    text: str
    place: Place


def stated_answer(text: str) -> Stated | None:
    r"""Return the answer of a sample, from the first of these places that it has, or None.

    1. its last box (`setrl_grader.boxes`); 2. its last `<answer>…</answer>`; 3. what follows its
    last "####"; 4. what follows its last "answer is" or "answer:", to the end of the line; 5. its
    last line. Only what follows `</think>` counts. A sample whose thinking or whose last box is
    never closed, or whose boxes differ, states nothing.

    >>> stated_answer("9 * 2 = 18\n#### 18").text, stated_answer("So the answer is **B**.").text
    ('18', 'B**.')
    """
    after = after_thinking(text)
    if after is None:
        return None
    boxes = final_boxes(after)
    if boxes.answers or boxes.cut_off:
        same = len(set(boxes.answers)) == 1
        return Stated(boxes.answers[-1], "marked") if same else None
    if (tagged := _last_tagged(after)) is not None:
        return Stated(tagged, "marked")
    if "####" in after:
        return Stated(after.rpartition("####")[2].strip().partition("\n")[0].rstrip(), "marked")
    if phrases := list(_ANSWER_IS.finditer(after)):
        return Stated(after[phrases[-1].end() :].partition("\n")[0], "prose")
    lines = [line for line in after.splitlines() if line.strip()]
    return Stated(lines[-1], "end") if lines else None


def after_thinking(text: str) -> str | None:
    """Return what follows the thinking; None if the thinking is never closed.

    >>> after_thinking("<think>5</think>6"), after_thinking("<think>5")
    ('6', None)
    """
    _, _, after = text.rpartition(_THINK_END)
    return None if "<think>" in after else after


def _last_tagged(text: str) -> str | None:
    """Return the text of the last closed tag, in linear time, also with a million tags."""
    start, found = None, None
    for tag in _TAG.finditer(text):
        if not tag[1]:
            start = tag.end()
        elif start is not None:
            start, found = None, (start, tag.start())
    return None if found is None else text[slice(*found)]


def normal_text(text: str) -> str | None:
    r"""Remove differences of form: case, Unicode forms, white space, $…$, full stop.

    None if nothing is left.

    >>> normal_text("  $\\pi r^2$ . ")
    '\\pi r^2'
    """
    plain = " ".join(unicodedata.normalize("NFKC", text).casefold().split())
    return plain.rstrip(".").strip().strip("$").strip() or None
