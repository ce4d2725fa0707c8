r"""What samples and golds state as their answer, and why a gold cannot be used.

A sample states it in a box, in tags, after "####" or "answer is", or last. A gold is checked when
data are loaded, not in the middle of a run.
"""

from __future__ import annotations

import math
import re
import unicodedata
from dataclasses import dataclass
from decimal import Decimal
from functools import lru_cache
from itertools import pairwise
from numbers import Real
from typing import Literal, get_args

from setrl_grader.around import BOXED, MAX_BEHIND, MAX_LEAD, Around, around, is_bound
from setrl_grader.normal_form import normal_form
from setrl_grader.tokens import balanced

_BARE = (  # \boxed 12, \boxed x
    r"(?P<bare>-?\d++(?:[.,]\d++)*+|(?<=\s)[a-zA-Z])(?!\w|\s*(?:[-+*/^_!%({\[=]|\\[a-zA-Z%]))"
)
_TOKEN = re.compile(rf"\\(?:boxed|fbox)\s*(?:\{{|{_BARE})|\\.|[{{}}]", re.DOTALL)
_BOX = re.compile(r"\\(?:boxed|fbox)\s*\Z")
_CONNECTING = re.compile(
    r"(?:[\s$.,;:&]|\\[()\[\],;!\\ ]|\\q?quad|\b(?:and|or)\b"
    r"|\\text(?:\s*\{[\s,]*(?:and|or)?[\s,]*\})?)*"
    r"(?:[a-zA-Z]\w?(?:_\{?\w\}?|\(\w+\))?\s*=\s*)?"
)
_LEFT = re.compile(r"(?:\A|[$\n,;]|\\[(\[]|\band )\s*([^$\n,;=<>]{1,40}?)\s*=\s*\Z")
_LEADS = re.compile(r"\banswer\b[^\n\\]*\n?(?:\\\()?\\[a-z]+\s*\{?\Z", re.IGNORECASE)
_CORRECTS = re.compile(
    r"\b(?:wait|actually|wrong|incorrect|mistake|error|correct\w*|recheck|check|instead|no)\b",
    re.IGNORECASE,
)
_LONGEST_GAP = 200
MAX_BOXES = 16
Place = Literal["marked", "prose", "end"]
_THINK_END = "</think>"
HOPE = re.compile(r"\bI hope it is correct\b")  # the end that Minerva's prompt asks for
_TAG = re.compile(r"<(/?)answer>", re.IGNORECASE)
_ANSWER_IS = re.compile(
    r"\b(?:answer|(?:correct|right|best) (?:option|choice))"
    r"(?:(?: is)?[ \t*]*:[*:\s]*| is[ \t*]*)(?=\S)",
    re.IGNORECASE,
)
GoldType = Literal["number", "expression", "set", "tuple", "interval", "equation", "text"]
MAX_LENGTH = 2_000  # characters of a gold, and of an answer
MAX_WORDS = 5
_DAMAGE = {
    "an empty group": re.compile(r"\{\s*\}|\(\s*\)|\[\s*\]"),
    "an exponent or index of nothing": re.compile(
        r"(?:^|[-+*/=({\[,<>]|\\(?:le|ge|frac|cdot|times)(?![a-zA-Z]))\s*[\^_]"
    ),
    "a missing operand": re.compile(
        r"[-+*/=<>^_,(]\s*(?:$|[)\]])|[({\[]\s*[*/,=)]|\+\s*\+|,\s*,"
        r"|\\(?:le|ge|cdot|times|cup|ne|frac|sqrt)\s*$"
    ),
}
_COMMAND = re.compile(r"\\([a-zA-Z]+)")
_GLUED = re.compile(r"(?<![\\A-Za-z])(?=[A-Za-z]{9})[A-Za-z]*(?:[a-z][A-Z]|[A-Z]{2}[a-z])")
_SENTENCE = re.compile(r"(?<![\\a-zA-Z])[A-Za-z]{2,} ")
_WORD = re.compile(r"(?<![\\a-zA-Z])[A-Za-z]{3,}")
_COMMANDS = """
    frac sqrt pi alpha beta gamma delta epsilon varepsilon zeta eta theta vartheta iota kappa
    lambda mu nu xi rho varrho sigma tau upsilon phi varphi chi psi omega mho
    Gamma Delta Theta Lambda Xi Pi Sigma Upsilon Phi Psi Omega
    sin cos tan cot sec csc arcsin arccos arctan arccot sinh cosh tanh coth ln log lg exp
    max min gcd lcm deg det dim arg sup inf lim mod bmod pmod Re Im operatorname
    int iint iiint oint sum prod binom dbinom tbinom choose infty partial nabla ell hbar
    le ge ne lt gt ll gg leqslant geqslant approx equiv sim simeq cong propto prec succ
    times cdot div pm mp ast star circ bullet oplus otimes setminus
    cup cap bigcup bigcap subset subseteq supset supseteq in ni notin emptyset varnothing
    forall exists neg lnot land lor wedge vee implies iff to rightarrow leftarrow Rightarrow
    Leftarrow Leftrightarrow leftrightarrow longrightarrow mapsto uparrow downarrow
    mid nmid parallel nparallel perp angle triangle square prime ldots cdots dots vdots ddots
    lfloor rfloor lceil rceil langle rangle lvert rvert lVert rVert vert Vert
    overline underline bar vec hat tilde widehat overrightarrow overleftarrow overset underset
    mathbb mathbf mathcal mathfrak mathscr boldsymbol bm begin end therefore because stackrel
    big Big bigg Bigg not substack limits phantom colon dot ddot tr Tr Var Cov sgn erf rank circ
    ominus odot ltimes rtimes bigoplus bigotimes
"""
KNOWN_COMMANDS = frozenset(_COMMANDS.split())


@dataclass(frozen=True)
class FinalBoxes:
    """The contents of the boxes at the end of a sample.

    Attributes:
        answers: Contents of the last outermost box, and of the boxes before it that belong to it:
            on the same line, with only punctuation, "and" or "or" between, or each as "the
            answer"; at most `MAX_BOXES`. Empty if there is no box.
        cut_off: Whether a later box was opened but never closed.
        joined: Whether only punctuation, "and" or "or" is between them, as in a list.
        names: The left side of an equation whose right side is a box, for each.
        before: What is before the first of them, and between them.
        behind: What is behind the last.
    """

    answers: tuple[str, ...]
    cut_off: bool
    joined: bool = False
    names: tuple[str, ...] = ()
    before: str = ""
    behind: str = ""

    def around(self, problem: str = "") -> Around:
        """Return what stands around the last of them, and whether it may stand there."""
        return around(self.before, self.answers[-1], self.behind, problem)


def final_boxes(text: str) -> FinalBoxes:
    r"""Read the boxes at the end of a sample (`\boxed{…}`, `\boxed 5`); time linear in its length.

    Without braces a box holds a number or a letter, if nothing goes on behind it. A box within a
    box is part of the outer one, and a box to which a sign or a command belongs is no answer.
    Escaped braces (`\{`) are text.

    >>> final_boxes(r"first \boxed{1}. Thus \boxed{\frac{1}{2}}").answers
    ('1', '\\frac{1}{2}')
    >>> final_boxes("first \\boxed{1}.\nThus \\boxed{\\frac{1}{2}}").answers
    ('\\frac{1}{2}',)
    """
    closed, last_open = _scan(text)
    if not closed or last_open > closed[-1][1]:
        return FinalBoxes((), cut_off=last_open >= 0)
    first = len(closed) - 1
    earliest = max(len(closed) - MAX_BOXES, 0)
    while first > earliest and _belong_together(text, *closed[first - 1 : first + 1]):
        first -= 1
    found = closed[first:]
    joined = all(_is_joint(text, end, start) for (_, end), (start, _) in pairwise(found))
    sides = [_sides(text, *each) for each in found]
    if any(is_bound("" if joined and at else one, other) for at, (one, other) in enumerate(sides)):
        return FinalBoxes((), cut_off=False)
    answers = tuple(text[start:end] for start, end in found)
    left = (_LEFT.search(before) for before, _ in sides)
    names = tuple(each[1] if each else "" for each in left)
    between = (
        ""
        if joined
        else BOXED.sub(" ", text[_ends(text, *found[0])[1] : _ends(text, *found[-1])[0]])
    )
    before = sides[0][0] + between * (len(found) > 1)
    return FinalBoxes(answers, False, joined, names, before, sides[-1][1])


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


def _sides(text: str, start: int, end: int) -> tuple[str, str]:
    """Return what is before and behind a box whose content has this span."""
    begin, after = _ends(text, start, end)
    return text[max(begin - MAX_LEAD, 0) : begin], text[after:].rstrip()[: MAX_BEHIND + 1]


def _ends(text: str, start: int, end: int) -> tuple[int, int]:
    """Return where a box begins and ends whose content has this span."""
    return text.rfind("\\", 0, start), end + (text[end : end + 1] == "}")


def _belong_together(text: str, one: tuple[int, int], other: tuple[int, int]) -> bool:
    """Whether two boxes are one answer, or two rivals: each is led by "the answer is"."""
    end, start = one[1], other[0]
    if text.find("\n", end, start) < 0 or _is_joint(text, end, start):
        return True
    gap = text[end:start]
    if len(gap) > _LONGEST_GAP or not _LEADS.search(gap):
        return False
    first = _LEADS.search(text[max(one[0] - _LONGEST_GAP, 0) : one[0]])
    return bool(first) and not _CORRECTS.search(gap)


def _is_joint(text: str, end: int, start: int) -> bool:
    """Whether only punctuation, "and" or "or" is between two boxes."""
    if start - end > _LONGEST_GAP:
        return False
    gap = _BOX.sub("", text[end + 1 : start - 1])
    return _CONNECTING.fullmatch(gap) is not None


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
_NUMBER = re.compile(r"[0-9]{1,99}(?:,[0-9]{3}(?![0-9]))*(?:\.[0-9]{1,99})?")


def is_asserted(before: str) -> bool:
    """Whether the words before an answer only lead to it: "So she has", not "I doubt that she has".

    >>> [is_asserted(text) for text in ("Hence the", "9 is odd, so the", "It is false that the")]
    [True, True, False]
    """
    clause = _CLAUSES.split(before)[-1]
    return _OTHER_CLAUSE.search(clause) is None


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

    1. its last box (`final_boxes`); 2. its last `<answer>…</answer>`; 3. what follows its
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
        same = len(set(boxes.answers)) == 1 and not boxes.around().strange
        behind = after.rpartition(boxes.answers[-1] or "}")[2] if same else ""
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
    pairs = pairwise(_TAG.finditer(text))
    closed = [(one.end(), other.start()) for one, other in pairs if other[1] and not one[1]]
    return text[slice(*closed[-1])] if closed else None


def normal_text(text: str) -> str | None:
    r"""Remove differences of form: case, Unicode forms, white space, $…$, full stop.

    None if nothing is left.

    >>> normal_text("  $\\pi r^2$ . ")
    '\\pi r^2'
    """
    plain = " ".join(unicodedata.normalize("NFKC", text).casefold().split())
    return plain.rstrip(".").strip().strip("$").strip() or None


class GoldError(ValueError):
    """A gold cannot be used for grading: the message names it, and why."""


@dataclass(frozen=True)
class Gold:
    r"""A gold that declares its type, which settles what has two readings.

    Attributes:
        gold: The gold, as data sets write it.
        type: Of `GoldType`; None or "" declares nothing.

    >>> from setrl_grader import grade
    >>> [grade(r"\boxed{0.3}", gold).correct for gold in ("3e-1", Gold("3e-1", "number"))]
    [False, True]
    """

    gold: object
    type: str | None = None

    def __post_init__(self) -> None:
        if self.type and self.type not in get_args(GoldType):
            types = ", ".join(get_args(GoldType))
            raise ValueError(f"the type of a gold must be one of {types}, got {self.type!r}")


def type_of(gold: object) -> str:
    """Return the type that a gold declares; "" without one."""
    return (gold.type or "") if isinstance(gold, Gold) else ""


def gold_answer(gold: object) -> str:
    r"""Return the answer within a gold as data sets write it.

    It follows GSM8K's last "####", or is in the box that ends a worked solution; of several boxes
    with more than a comma between them none is the answer. A gold is text
    or a finite number; all else (None, True, NaN, a list, an array) has no answer, "".

    >>> gold_answer("She makes 9 * 2 dollars.\n#### 18"), gold_answer(18), gold_answer(["18"])
    ('18', '18', '')
    >>> gold_answer(r"So it is $\boxed{8}$."), gold_answer(r"\boxed{8}\text{ cm}")
    ('8', '\\boxed{8}\\text{ cm}')
    """
    gold = gold.gold if isinstance(gold, Gold) else gold
    text = gold if isinstance(gold, str) else _number(gold)
    boxes = final_boxes(text)
    if boxes.answers:
        before, _, after = text.rpartition(boxes.answers[-1])
        if _SENTENCE.search(before) and not re.search(r"\w", after):
            several = {*all_boxes(text)}
            if len(several) == 1:
                return boxes.answers[-1]
            return ", ".join(boxes.answers) if boxes.joined and several == {*boxes.answers} else ""
    return text.rpartition("####")[2].strip()


def _number(gold: object) -> str:
    """Write a finite number; "" for all else, and for more digits than Python writes."""
    try:
        if isinstance(gold, bool) or not isinstance(gold, Real | Decimal):
            return ""
        return str(gold) if bool(abs(gold) < math.inf) else ""  # type: ignore[operator]
    except (ArithmeticError, ValueError):
        return ""


@lru_cache(maxsize=4096)
def gold_problem(gold: str) -> str | None:
    r"""Return why a gold cannot be used for grading; None if its text shows no reason.

    It finds the usual damage of data sets: lost letters, commands without a space between, prose.

    >>> [gold_problem(gold) for gold in (r"\frac{}{2}", r"x\leyz", "2x+", "2x")]
    ['an empty group', 'no LaTeX command: \\leyz', 'a missing operand', None]
    """
    if len(gold) > MAX_LENGTH:
        return f"longer than {MAX_LENGTH:,} characters"
    text = normal_form(gold)
    if not text:
        return "empty"
    if re.search(r"(?<!\\)(?:\\\\)*\\$", gold):
        return "a lone backslash"
    prose = _GLUED.search(text) or len(_WORD.findall(text)) > MAX_WORDS
    return _unknown_command(text) or damage(text) or ("prose" if prose else None)


@lru_cache(maxsize=4096)
def damage(form: str) -> str | None:
    """Return what is missing in a normal form, gold or answer; None if nothing is.

    >>> damage("2x+"), damage("x^*")
    ('a missing operand', None)
    """
    text = re.sub(r"\^(?:[*+](?![\w({\\])|\{[*+-]\})", "", form)
    found = re.findall(r"\\.|[()\[\]{}]", text, re.DOTALL)
    if not (balanced(found) and balanced(found, "([", ")]")):  # half-open intervals mix brackets
        return "unbalanced brackets"
    return next((what for what, sign in _DAMAGE.items() if sign.search(text)), None)


def _unknown_command(text: str) -> str | None:
    r"""Name a command with letters that do not belong to it, \\leyz, or of one letter."""
    names = {found[1] for found in _COMMAND.finditer(text.replace("\\\\", "  "))} - KNOWN_COMMANDS
    for name in sorted(names):
        if len(name) == 1 or any(name[:end] in KNOWN_COMMANDS for end in range(1, len(name))):
            return f"no LaTeX command: \\{name}"
    return None
