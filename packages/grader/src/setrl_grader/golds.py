r"""Why a gold answer cannot be used: found when data are loaded, not in the middle of a run."""

from __future__ import annotations

import math
import re
from dataclasses import dataclass
from decimal import Decimal
from functools import lru_cache
from numbers import Real
from typing import Literal, get_args

from setrl_grader.boxes import all_boxes, final_boxes
from setrl_grader.normal_form import normal_form

GoldType = Literal["number", "expression", "set", "tuple", "interval", "equation", "text"]
MAX_LENGTH = 2_000  # characters of a gold, and of an answer
MAX_WORDS = 5

_EMPTY_GROUP = re.compile(r"\{\s*\}|\(\s*\)|\[\s*\]")
_NO_BASE = re.compile(r"(?:^|[-+*/=({\[,<>]|\\(?:le|ge|frac|cdot|times)(?![a-zA-Z]))\s*[\^_]")
_NO_OPERAND = re.compile(r"[-+*/=<>^_,(]\s*(?:$|[)\]])|[({\[]\s*[*/,=)]|\+\s*\+|,\s*,")
_OPEN_RIGHT = re.compile(r"\\(?:le|ge|cdot|times|cup|ne|frac|sqrt)\s*$")
_COMMAND = re.compile(r"\\([a-zA-Z]+|\d)")
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
    if unknown := _unknown_command(text):
        return f"no LaTeX command: {unknown}"
    if found := damage(text):
        return found
    if _GLUED.search(text) or len(_WORD.findall(text)) > MAX_WORDS:
        return "prose"
    return None


@lru_cache(maxsize=4096)
def damage(form: str) -> str | None:
    """Return what is missing in a normal form, gold or answer; None if nothing is.

    >>> damage("2x+"), damage("x^*")
    ('a missing operand', None)
    """
    text = re.sub(r"\^(?:[*+](?![\w({\\])|\{[*+-]\})", "", form)
    if _unbalanced(text):
        return "unbalanced brackets"
    if _EMPTY_GROUP.search(text):
        return "an empty group"
    if _NO_BASE.search(text):
        return "an exponent or index of nothing"
    if _NO_OPERAND.search(text) or _OPEN_RIGHT.search(text):
        return "a missing operand"
    return None


def _unknown_command(text: str) -> str | None:
    r"""Return a command with letters that do not belong to it, \\leyz, or of one letter."""
    names = {found[1] for found in _COMMAND.finditer(text.replace("\\\\", "  "))} - KNOWN_COMMANDS
    glued = (name for name in names if len(name) == 1 or _begins_with_a_command(name))
    return next((f"\\{name}" for name in sorted(glued)), None)


def _begins_with_a_command(name: str) -> bool:
    return any(name[:end] in KNOWN_COMMANDS for end in range(1, len(name)))


def _unbalanced(text: str) -> bool:
    """Whether brackets are not in pairs; half-open intervals may mix kinds of brackets."""
    round_or_square = brace = 0
    for token in re.findall(r"\\.|[()\[\]{}]", text, re.DOTALL):
        round_or_square += (token in "([") - (token in ")]")
        brace += (token == "{") - (token == "}")
        if min(round_or_square, brace) < 0:
            return True
    return round_or_square != 0 or brace != 0
