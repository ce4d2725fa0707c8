r"""What a sample states as its answer: in a box, in tags, after "####" or "answer is", or last."""

from __future__ import annotations

import re
import unicodedata
from dataclasses import dataclass
from typing import Literal

from setrl_grader.boxes import final_boxes

Place = Literal["marked", "prose", "end"]

MAX_LEAD = 300  # characters before an answer that are read
_THINK_END = "</think>"
HOPE = re.compile(r"\bI hope it is correct\b")  # the end that Minerva's prompt asks for
_TAG = re.compile(r"<(/?)answer>", re.IGNORECASE)
_ANSWER_IS = re.compile(
    r"\b(?:answer|(?:correct|right|best) (?:option|choice))"
    r"(?:(?: is)?[ \t*]*:[*:\s]*| is[ \t*]*)(?=\S)",
    re.IGNORECASE,
)


_CLAUSES = re.compile(  # what ends before the clause that states an answer
    r"[.!?:;](?=\s)|\n|\b(?:so|thus|hence|therefore|then|because|conclude that)\b"
    r"|\b(?:which means|means that)\b|\bno,|\bwe (?:find|get|have|know|see|obtain) that\b"
    r"|\b(?:since|because|as|after|with|for|if)\b[^,\n]*,",
    re.IGNORECASE,
)
_OTHER_CLAUSE = re.compile(  # words that only another clause has, or a denial
    r"\b(?:absurd|barely|be|been|believe\w*|can|cannot|claim\w*|could|doubt\w*|except|false|from|guess"
    r"|had|hardly|has|have|if|incorrect|is|are|was|were|may|might|neither|never|no|nobody|none|nor|not"
    r"|nothing|once|say|says|said|seem\w*|should|suppose\w*|than|that|think\w*|to|too|unless|unlikely"
    r"|when|whether|who|without|would|wrong)\b|n't\b",
    re.IGNORECASE,
)
_NEXT = re.compile(r"^\W*(?:question|problem|exercise|q|user|human)\b[\s\d]*[:.]", re.I | re.M)
_NUMBERS = re.compile(r"\d+(?:[.,]\d+)*")


def is_asserted(before: str) -> bool:
    """Whether the words before an answer only lead to it: "So she has", not "I doubt that she has".

    >>> [is_asserted(text) for text in ("Hence the", "9 is odd, so the", "It is false that the")]
    [True, True, False]
    """
    clause = _CLAUSES.split(before)[-1]
    return _OTHER_CLAUSE.search(clause) is None


_DENIES = re.compile(  # right before a box
    r"(?:\b(?:not|cannot(?: be)?|never|ruled? out|(?:mistake|error) is(?: to (?:answer|say|get))?)"
    r"|n't(?: be)?)"
    r"[\s$*:({\\\[]*\\[a-z]*\Z",
    re.IGNORECASE,
)
_STATES = re.compile(
    r"\b(?:answer|value|result|total)\s+(?:is|must be|should be|equals)[\s:$*\\({\[]*"
    r"(-?\d[\d,./]*)",
    re.IGNORECASE,
)


def is_taken_back(text: str, answer: str) -> bool:
    r"""Whether a text denies its last box, or states another number as the answer behind it.

    >>> is_taken_back(r"It is not \boxed{5}.", "5"), is_taken_back(r"It is \boxed{5}.", "5")
    (True, False)
    """
    before, _, behind = text.rpartition(f"{{{answer}}}")
    later = [found.rstrip(".,/").replace(",", "") for found in _STATES.findall(behind)]
    said = {each.replace(",", "") for each in _NUMBERS.findall(answer)}
    is_other = later and not {later[-1], *later[-1].split("/")} <= said
    return bool(_DENIES.search(before[-MAX_LEAD:]) or is_other)


@dataclass(frozen=True)
class Stated:
    """What a sample states as its answer.

    Attributes:
        text: The answer, unchanged.
        behind: What follows it.
        place: `marked` in a box, in tags or after "####"; `prose` after "answer is" or "answer:";
            `end` where nothing says which it is: the last line.
    """

    text: str
    place: Place
    behind: str = ""

    @property
    def is_taken_back(self) -> bool:
        """Whether the text behind an answer ends with another number."""
        last, said = (_NUMBERS.findall(each) for each in (_NEXT.split(self.behind)[0], self.text))
        return bool(last) and last[-1].replace(",", "") not in {
            each.replace(",", "") for each in said
        }


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
        behind = after.rpartition(boxes.answers[-1])[2] if same else ""
        return Stated(boxes.answers[-1], "marked", behind) if same else None
    if (tagged := _last_tagged(after)) is not None:
        return Stated(tagged, "marked", after.rpartition("</")[2])
    if "####" in after:
        text, _, behind = after.rpartition("####")[2].strip().partition("\n")
        return Stated(text.rstrip(), "marked", behind)
    if phrases := list(_ANSWER_IS.finditer(after)):
        before, (text, _, behind) = (
            after[: phrases[-1].start()],
            after[phrases[-1].end() :].partition("\n"),
        )
        return Stated(text, "prose", behind) if is_asserted(before[-MAX_LEAD:]) else None
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
