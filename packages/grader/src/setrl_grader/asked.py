r"""What a problem says of its answer: what it asks for, in which order, and what letters stand for.

A name before a value, y = 5, is dropped only where the problem does not ask for another one, x.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from functools import lru_cache
from itertools import pairwise
from typing import NamedTuple

from setrl_grader.grammar import LETTERS_AS, ORDERS, parse
from setrl_grader.names import is_letter, is_name, is_named
from setrl_grader.normal_form import normal_form, spaceless
from setrl_grader.numbers import read_number
from setrl_grader.trees import Part
from setrl_grader.units import LENGTHS, UNITS, one_name, split_unit

MAX_LENGTH = 20_000  # characters of a problem: its end is read
MAX_FORMULAS = 100  # the last ones
_EXAMPLE = re.compile(
    r"^[\s#*]*(?:problem|question|exercise|task|input|q)\b[\s\d]*[*:.]",
    re.IGNORECASE | re.MULTILINE,
)
_ANSWERED = re.compile(  # which ends an example
    r"^[\s#*]*(?:(?:final\s+)?answer|solution|output|response|a)\b\s*[*:.]|####|\banswer is\b"
    r"|\\boxed\{.*\d",
    re.IGNORECASE | re.MULTILINE,
)
_OPTIONS = re.compile(
    r"(?<![\w)])\(A\)(?=.*\(B\)(?:.*\(C\)|(?:(?![.?]\s).)*\Z))|^\s*A[.):]\s(?=.*^\s*B[.):]\s)",
    re.MULTILINE | re.DOTALL,
)
_FONT_OF_OPTION = re.compile(r"\\(?:textbf|text|textrm|mathrm|mathbf)\s*\{\s*(\([A-J]\))\s*\}")
_OPTION = re.compile(
    r"(?<![\w)])\(([A-J])\)\s*|(?:^|(?<=\s))(?:\*\*)?([A-J])(?:[.:](?:\*\*)?\s+|\)\s*)",
    re.MULTILINE,
)
_BETWEEN = r"(?:\\q?quad|\\\\|\\[ ;,]|[~$\s])"
_AROUND = re.compile(rf"\A{_BETWEEN}+|{_BETWEEN}+\Z")
_CHOOSE = re.compile(
    r"\bwhich of\b(?! the following)[^.?!]{0,60}?[\d$\\][^?!]*\b(?:and|or)\b", re.IGNORECASE
)
_OPERAND = r"(?:[\w.^(){}\[\]√]|\\[a-zA-Z]+)+(?:\\?%)?"
_PLAIN = re.compile(  # a formula without dollar signs
    rf"[-+−]?{_OPERAND}(?:\s*(?:[-+−–±*/=<>·⋅×÷≤≥])\s*{_OPERAND})*"
)
_NO_FORMULA = re.compile(r"(?<!\\)[a-zA-Z]{4,}|\A[a-zA-Z]+\Z")
FORMULA = re.compile(
    r"\$\$((?:[^$]|\\\$)+)\$\$|\$((?:[^$\\]|\\.)+)\$|\\\((.+?)\\\)|\\\[(.+?)\\\]", re.DOTALL
)
_SIDES = re.compile(  # what is between the lines of a display
    r"\\\\|&|\\(?:tag|text|begin|end)\s*\{[^{}]*\}|\\q?quad"
)
_ENVIRONMENT = re.compile(r"\\(?:begin|end)\s*\{[a-z]+\*?\}")
_ASKS = (
    r"\b(?i:find|determine|compute|calculate|evaluate|solve\s+for|what(?:'s|\s+(?:is|are))?"
    r"|give|state|work\s+out|write\s+down|how\s+(?:large|big)\s+is|which\s+number\s+is"
    r"|range\s+of|for\s+which(?=\s+(?:real\s+)?(?:values?|numbers?)\b))\b"
)
_NOUN = (  # what may be said of a name that is asked for
    r"(?i:the|its|all|both|each|exact|possible|real|positive|negative|non-?negative|ordered|unordered"
    r"|smallest|largest|least|greatest|maximum|minimum|values?|numbers?|integers?|primes?|pairs?"
    r"|triples?|tuples?|points?|coordinates|solutions?|roots?|angles?|sides?|segments?|lengths?|measures?"
    r"|ranges?|ratios?|sums?|products?|functions?|parameters?|constants?|coefficients?"
    r"|unknowns?|with justification|of|and|or|(?<=values )for|(?<=range )for)"
)
_PIECE = re.compile(
    rf"(?P<ask>{_ASKS})|(?P<formula>{FORMULA.pattern})|\b(?P<name>(?!a\b|I\b)[a-zA-Z])\b(?!['-])"
    rf"|(?P<noun>{_NOUN}\b)|(?P<other>[\w.?!:;]+)",
    re.DOTALL,
)
_COMPLEX = re.compile(r"\bcomplex\b|\bmodul(?:us|i)\b|\bdeterminant|\bmatri(?:x|ces)\b")
_MATRICES = re.compile(r"\bmatri(?:x|ces)\b")
_NO_PRODUCT = re.compile(  # letters that stand in an order
    r"\babelian\b|\bdihedral group\b|\bfree group\b|\bpalindrome\b|\bwhich order\b"
    r"|\bcommut(?:ative|es?\b(?! to))",
    re.IGNORECASE,
)
_CONSTANT = re.compile(  # or e^x
    r"\bimaginary\b|\bcomplex\b|\beuler|\bnatural log|i\^\{?2\}?\s*=\s*-|i\s*=\s*\\sqrt"
    r"|2\.718|\be\^",
    re.IGNORECASE,
)
_INTERVAL = re.compile(
    r"\b(?:interval|inequalit|increas|decreas|concave|converg|solv|solution)|\b(?:range|domain|value"
    r"|set|real)s?\b|[<>≤≥]"
    r"|\\(?:[lg]e|[lg]eq|[lg]eqslant|[lg]t)(?![a-z])",
    re.IGNORECASE,
)
_ROUNDED = re.compile(  # asks for a decimal; a round of a game does not
    r"\bdecimals?\b(?! part)|\bto (?:the|its) nearest\b(?! (?:end|vert|point|side|edge))"
    r"|\bround(?:ed|ing)?\s+(?:to|off|up|down|your|it|the answer)\b|\bapprox"
    r"|\bsignificant (?:figure|digit)|\bestimat|\\approx|≈",
    re.IGNORECASE,
)
_EXACT = re.compile(
    r"\bexact\b|\bnot a decimal|\bin terms of \W*(?:\\pi|pi|π)|\bradical form|\bcommon fraction",
    re.IGNORECASE,
)
_FORM = re.compile(  # words that ask for the form of the gold
    r"\bsimplify\b|\bsimplest\b|\bsimplified form|\blowest terms|\bas far as|\blike terms|\bexpand"
    r"|\breduced? (?:the |your |to |fraction|form)|\b(?:common|single) (?:fraction|logarithm)"
    r"|\bas an? (?:polynomial|product)|\brational denominator|\brationali[sz]|\bradical form"
    r"|\bfactor(?:i[sz]e|i[sz]ed|ed)?\b(?=\s*[:$\\]| completely| form)|\bin (?:degrees|radians)\b"
    r"|\b(?:general|standard|vertex|slope-intercept|point-slope|intercept) form"
    r"|\bin the form\b|\b(?:relatively |co-?)prime\b|\bsquare-?free\b"
    r"|\bprime factori[sz]ation|\bas a power of\b",
    re.IGNORECASE,
)
_NOTATION = re.compile(
    r"\b(?:common|improper) fraction|\b(?:as|to) an? (?:fraction|decimal|percent)|\bmixed number"
    r"|\bscientific notation",
    re.IGNORECASE,
)
_RANGE = re.compile(  # asks for an interval, also where points are in the problem
    r"\b(?:intervals?|inequalit\w+|range|domain)\b|\bfor (?:what|which)\b"
    r"|\b(?:all|what|which|possible) (?:the )?(?:possible )?(?:real )?values\b"
    r"|\ball \W{0,3}\w\W{0,3} (?:such|so) that",
    re.IGNORECASE,
)
_OF_POINTS = re.compile(
    r"\b(?:points?|pairs?|coordinates|vertex|midpoint|system of equations|system \W)", re.IGNORECASE
)
_RATIO = re.compile(  # behind what asks
    r"\b(?:find|determine|compute|calculate|what|express|simplify|write|give|as an?)\b"
    r"[^.,?;]{0,80}?(?:\b(?:ratio|proportion)|[\w}]\s*:\s*[\w\\])",
    re.IGNORECASE,
)
_SOLVED = re.compile(
    r"\bsolve [^.]{0,80}\bfor\b|\bthe subject of\b|\bisolate\b|\bstands? alone\b"
    r"|\bin terms of\b|\bas a function of\b|\b(?:a|the) formula for\b",
    re.IGNORECASE,
)
_UNITS = re.compile(
    r"\b(?:[Ii]n|[Hh]ow many(?:\s+(?:more|fewer|less|total|extra))?)\s+\$?"
    r"((?:(?:square|cubic)\s+)?[a-z]+(?:\s+per\s+[a-z]+|/[a-z]+)?)(?![a-z])"
)
_SCALE = re.compile(r"\b(?:how many|in|number of)\s+(\w+)", re.IGNORECASE)
_ALONE = re.compile(r"(?<![\w'\\])(?<!\d\s)[b-hj-zA-HJ-Z](?![\w'])")
_MONEY = re.compile(
    r"\bhow much|\b(?:cost|pay|spend|spent|earn|money|price|save|profit|charge|owe)", re.IGNORECASE
)
_PURE = re.compile(  # quantities that have no unit
    r"\b(?:ratio|percent(?:age)?|fraction|probability|factor|slope)\b", re.I
)
_RATE = re.compile(r"\b(?:speed|velocity|rate|how fast)\b", re.IGNORECASE)
_TWO_LETTERS = re.compile(r"(?<![\\a-zA-Z])[a-zA-Z]{2,}")
_TIMES = {*("s", "min", "h", "day", "week", "month", "year")}
_KINDS = (  # what a unit must measure
    (r"\bhow (?:far|tall|high|wide)\b|\b(?:distance|height|width|perimeter)\b", LENGTHS),
    (r"\bhow long\b", _TIMES | LENGTHS),
    (r"\bhow long\b.*\btake|\bhow much (?:longer|time)\b", _TIMES),
    (r"\bhow much (?!longer|time)[a-z]+", UNITS - _TIMES - LENGTHS),
)
_NO_UNIT = frozenset(["unit", "person", "student", "way", "point", "degree", "$", "cent"])
_POWERS = (("area", "^2"), ("volume", "^3"))
_NOUNS = re.compile(r"([^a-zA-Z]*[\d})])\s+([a-zA-Z'-]+(?:\s+[a-zA-Z'-]+)*)\Z")
_PER = re.compile(r"\s+(?:per|an?|each|every)\s+(day|week|month|year|hour|minute)\Z")
_TAIL = ("left", "remaining", "remain", "altogether", "in", "total")
_NO_WORDS = {  # which change a number
    *("not", "no", "or", "and", "than", "less", "half", "double", "twice", "dozen", "hundred"),
    *(
        "each",
        "per",
        "thousand",
        "million",
        "billion",
        "trillion",
        "percent",
        "minus",
        "negative",
        "squared",
    ),
}
_BASE = re.compile(r"([0-9A-F]+)_\{?(\d+)\}?\Z")
_ASKED_BASE = re.compile(  # no base of a number that is given
    r"\b(?:to|in|into|as an?)\s+base[- $]*(\d+)"
    r"|\bbase[- $]*(\d+)\$?\s+(?:value|representation|form|expansion|equivalent)",
    re.IGNORECASE,
)
_SENTENCE = re.compile(r"(?<=[.?!])\s+")
_LETTER = re.compile(r"\\[a-zA-Z]+|[a-zA-Z](?:_(?:\{\w+\}|\w))?")
_RELATION = re.compile(r"[=<>]|\\(?:[lg]e|in)(?![a-z])")
_KIND = re.compile(
    r"\\angle|m(?=\\angle)|\\overline(?=\{?[A-Z]{2}\b)|\\widehat(?=\{?[A-Z]{3}\b)"
    r"|\|(?=[A-Z]{2}\|)|(?<=\|[A-Z]{2})\||[{}\s]"
)
_QUESTIONS = (
    re.compile(r"\b(?:find|determine|compute|calculate|evaluate|solve|what|how)\b", re.IGNORECASE),
    re.compile(r"\b(?:give|state|express|write|which|put|list|sort)\b", re.IGNORECASE),
)
_IN = re.compile(r"(?:in|to|as)\b[^,]{1,60},\s*\Z", re.IGNORECASE)
_GIVEN = re.compile(r",?\s+(?:if|given|when|where|knowing|such that|so that)\b.*", re.I | re.S)
_NO_NOUN = (
    r"is|are|do|does|did|has|have|had|can|could|will|would|must|should|was|were|in|of|with|to"
)
COUNT = re.compile(
    rf"\b(?:how many|number of)\s+((?:(?!(?:{_NO_NOUN})\b)[\w-]+\W*){{0,4}})", re.IGNORECASE
)
_MEASURE = re.compile(
    r"\bhow (?:long|far|tall|old|fast|high|wide)\b|\b(?:length|area|volume|perimeter|distance"
    r"|radius|diameter|height|side|segment|diagonal|hypotenuse)s?\b",
    re.IGNORECASE,
)
_SEGMENT = re.compile(r"[A-Z]{2}(?:\^\{?2\}?)?\Z")
_AMOUNT = re.compile(r"\\?\$?\d[\d.,]*\s*(?:\\?%|percent|\^\{?\\circ\}?|°|degrees|dollars)?")
_SIGNS = {  # how a problem says that one is meant
    "%": r"%|percent|\brate\b|\bprobab|\bchance|\blikel",
    "°": r"°|\\circ(?![a-z])|degree|(?<![a-z])(?:\\?(?:angle|(?:sin|cos|tan)(?:e|ine|gent)?"
    r"(?![a-z]))|arcs?\b|rotat|inclin)(?!.*\bradian)",
    "$": r"(?<![$\\])\\?\$\s?[\d,]*\.?\d+(?=[\s,.;:?!)/-]|\Z)|\A[^\\^=$]*\d\$|dollar|money|USD",
    "€": r"€|\beuros?\b|EUR",
    "£": r"£|\bpence\b|\b(?:cost|pa(?:y|id)|price|spen[dt]|earn).*\bpounds?\b"
    r"|\bpounds?\b.*\b(?:cost|pa(?:y|id)|price|spen[dt]|earn)",
    "¥": r"¥|\byen\b",
    "₹": r"₹|\brupees?\b",
}
_ANGLE = re.compile(  # a formula that may be an angle: a Greek letter, x, A, ABC
    r"\\(?:angle|arc|widehat|[a-z]+\Z)|∠|m\\angle|(?![nkm])[a-zA-Z]\Z|[A-Z]{3}\Z"
)
_OF_A_LETTER = ORDERS | {r"\in"}
_SAID_BY = (  # how a name is written, and the words that ask for it
    (r"[a-zA-Z]'+(?:\([a-z]\))?|\\frac\{d(?:\^2)?[a-z]\}\{d[a-z](?:\^2)?\}", r"deriv|differentiat"),
    (r"\|[^|]+\|", r"modul|magnitude|absolute value|norm\b|\blength"),
    (r"\[[A-Z]{3,}\]", r"\barea\b"),
    (r"\\gcd\(.*\)", r"\bg\.?c\.?[df]\b|(?:greatest|highest|largest) common"),
    (r"\\lcm\(.*\)", r"\bl\.?c\.?m\b|least common"),
)
_ALWAYS = frozenset(["answer", "ans", "total"])
_NAMED = (  # quantities that a problem asks for in words, in their order
    r"(?:mean|median|mode|quotient|remainder|slope|\$?[xy]\$?-intercept|amplitude|period|length|width|distance"
    r"|height|radius|area|perimeter|sum|product|cent(?:er|re))"
)
_IN_ORDER = re.compile(
    r"\bin (?:this|that|the(?: same)?|increasing|decreasing|ascending|descending) order\b"
    r"|\border from\b|\bnext \w+ terms\b|\A\w+ (?:are )?the first \w+ terms\b|\brespectively\W*\Z"
    r"|\bfrom (?:the )?(?:smallest|least|lowest|largest|greatest|highest)\b"
    r"|\bhow many\b.*\bhow many\b|\bhow many (?:of )?each\b|\bnumber of\b.*\bnumber of\b"
    rf"|\b{_NAMED}(?: of \w+| from the \w+)? and (?:the |its )?{_NAMED}",
    re.IGNORECASE,
)


_TWO = re.compile(
    r"\b(?:how (?:old|long|many|tall|much|far)|what|find|determine|compute|calculate|give|state)\b"
    r"[^,;]*\b(?!f\b)[a-z-]{2,}(?:'s \w+)? and (?:of )?"
    r"(?:the |its |an? |her |his )?(?!f\b|others?\b)[a-zA-Z]{3,}",
    re.IGNORECASE,
)
_OF_ONE_KIND = re.compile(
    r"\b(?:all|any|every|each|values?|solutions?|roots?|zeros?|possible|numbers|integers|primes"
    r"|points|pairs|such)\b",
    re.IGNORECASE,
)


class Said(NamedTuple):
    """What a problem says.

    Attributes:
        asked: The keys of the formulas that it asks for.
        orders: The names in the tuples that stand in it, and those it asks for, in their order.
        letters: Which of e and i are letters in it.
        ordered: "" where letters commute; "capitals" of matrices, "all" in a group.
        complex: Whether |z| may be the modulus of a complex number, or a determinant.
        points: Whether (1, 2) is a point, and no interval.
        in_order: Whether the members of a list are asked for in an order.
        ratio: Whether it is about a ratio, so that 2:4 is 1:2, and no score.
        units: The one name of each unit in which it asks for the answer.
        rounded: Whether it asks for a decimal, so that one may round the gold.
        solved: Whether it asks to solve for a letter.
        form: Whether words ask for the form of the gold, "in lowest terms".
        notation: Whether they ask for a kind of number, "as a decimal".
        interval: Whether it asks for an interval.
        first: The letters of its formulas, in the order in which they first occur.
    """

    asked: tuple[str, ...] = ()
    orders: tuple[tuple[str, ...], ...] = ()
    letters: frozenset[str] = frozenset()
    ordered: str = ""
    complex: bool = False
    points: bool = False
    in_order: bool = False
    first: tuple[str, ...] = ()
    ratio: bool = False
    units: frozenset[str] = frozenset()
    rounded: bool = False
    form: bool = False
    solved: bool = False
    notation: bool = False
    interval: bool = False


@lru_cache(maxsize=1024)
def said(problem: str) -> Said:
    """Return what a problem says; nothing if there is none.

    >>> found = said("If $x+y=8$, find $x$. Which point $(a,b)$ is it?")
    >>> found.asked, found.orders
    (('x',), (('x',), ('a', 'b')))
    """
    if not problem:
        return Said()
    formulas = [*map(normal_form, _marked(problem))]
    tuples = [*filter(None, map(_tuple_of, formulas))]
    asked, direct = _asked(problem)
    group = "all" * bool(_NO_PRODUCT.search(problem))
    question = question_of(problem)
    of_range = _RANGE.search(f"for {question}" if re.match(r"which \W", question) else question)
    is_range = _RANGE.search(problem) or (
        _INTERVAL.search(problem) and not _OF_POINTS.search(problem)
    )
    letters = {"e", "i"}.intersection(formulas) if not _CONSTANT.search(problem) else ()
    return Said(
        asked=asked,
        orders=(asked, *tuples),
        letters=frozenset(map(LETTERS_AS.__getitem__, letters)),
        ordered=group or "capitals" * bool(_MATRICES.search(problem)),
        complex=bool(_COMPLEX.search(problem)),
        points=direct or not is_range or bool(_OF_POINTS.search(question) and not of_range),
        in_order=bool(_IN_ORDER.search(question)) or _asks_for_two(question),
        ratio=bool(_RATIO.search(problem)),
        units=_units_of(problem),
        rounded=bool(_ROUNDED.search(problem)) and not _EXACT.search(problem),
        solved=bool(_SOLVED.search(problem)),
        form=bool(_FORM.search(problem)),
        notation=bool(_NOTATION.search(problem)),
        interval=re.search(r"\bintervals?\b", problem) is not None,
        first=tuple(dict.fromkeys(_LETTER.findall(" ".join(formulas)) + _ALONE.findall(problem))),
    )


def _asks_for_two(question: str) -> bool:
    """Whether a question asks for two unlike things: "the length and the width"."""
    text = re.split(r"[.?!]\s", FORMULA.sub(" f ", question))[0]
    return bool(_TWO.search(text)) and not _OF_ONE_KIND.search(text)


def without_base(gold: str, answer: str, problem: str) -> str:
    """Return a number with the base of the gold, or without, if the question names this base.

    >>> [without_base(gold, "204_5", "Convert 54 to base 5.") for gold in ("204", "204_5")]
    ['204', '204_5']
    >>> without_base("204_5", "204", "Convert 54 to base 5.")
    '204_5'
    """
    ours, theirs = (_BASE.match(text) for text in (gold, answer))
    one = ours if ours and not theirs else theirs if theirs and not ours else None
    asked = [each[1] or each[2] for each in _ASKED_BASE.finditer(question_of(problem))]
    if not one or one[2] not in asked:
        return answer
    return (
        answer + gold[ours.end(1) :] if ours and answer.isalnum() else one[1] if theirs else answer
    )


def asked_units(problem: str) -> frozenset[str]:
    """Return the units that a question names: "how many hours", "in cm"."""
    found = _UNITS.findall(question_of(problem))
    return frozenset(one_name(split_unit(f"1 {each}")[1]) for each in found) - {""}


def asked_scales(problem: str) -> str:
    """Return the words that may ask for a scale: "how many dozen", "in thousands"."""
    return " ".join(_SCALE.findall(question_of(problem)))


def _units_of(problem: str) -> frozenset[str]:
    """Return the units in which a problem asks; else the only one that it has, or its currency.

    >>> [*_units_of("It is 5 m. How many cm is it?")], [*_units_of("He ran 3 km twice. How far?")]
    (['cm'], ['km'])
    """
    question, asked = question_of(problem), asked_units(problem)
    if asked or COUNT.search(question) or _PURE.search(question):
        return asked
    paid = _MONEY.search(question)
    money = {"$"} if paid and re.search(r"\$\s?\d|dollar", problem) else set()
    found = UNITS.intersection(_TWO_LETTERS.findall(problem)) - {"in", "foot"}
    units = {*map(one_name, found)} - _NO_UNIT
    kinds = [kind for words, kind in _KINDS if re.search(words, question, re.IGNORECASE)]
    if _RATE.search(question) and not paid:
        return frozenset(f"{one}/{time}" for one in units for time in units & _TIMES - {one})
    units = units.intersection(*kinds) if kinds else units
    if money and paid and "much" not in paid[0].lower():
        return frozenset(money)
    power = next((power for noun, power in _POWERS if noun in question.lower()), "")
    units = units or {"unit"}
    return frozenset(money | ({unit + power for unit in units} if len(units) == 1 else set()))


def without_noun(gold: str, answer: str, problem: str) -> str:
    """Return a number without the words behind it, if all of them stand in the question.

    >>> problem = "Of 9 cats 4 ran. How many cats were left?"
    >>> [without_noun("5", text, problem) for text in ("5 cats", "5 cats left", "5 dogs")]
    ['5', '5', '5 dogs']
    """
    if re.search(r"\bhow old\b", problem, re.IGNORECASE):
        answer = re.sub(r"(?<=\d)\s+years?(?: old)?\Z", "", answer)
    question = question_of(problem)
    if (not problem and r"\pi" in gold) or re.search(
        r"\bangle|\bradian|\\(?:angle|alpha|beta|gamma|theta|phi)\b", question
    ):
        answer = re.sub(r"\s*(?<=[\d}i ])(?:radians?|rad)\Z", "", answer)
    each = _PER.search(answer)
    if each and re.search(rf"\b(?:per|an?|each|every|one)\W+{each[1]}\b", question):
        answer = answer[: each.start()]
    found, count = _NOUNS.match(answer), COUNT.search(question)
    if not found or not re.search(r"\bhow\b|number of", question, re.I) or not read_number(gold):
        return answer
    words, asked, nouns = (
        re.findall(r"[a-z'-]+", text.lower())
        for text in (found[2], question, count[1] if count and count[1] else question)
    )
    while len(words) > 1 and words[-1] in _TAIL and words[-1] in asked:
        words.pop()
    head = words[words.index("of") - 1] if "of" in words[1:] else words[-1]
    ends = head in {*nouns, *(noun.removesuffix("s") for noun in nouns)}
    return found[1] if ends and {*words[:-1]} <= {*asked} - _NO_WORDS - UNITS else answer


def _tuple_of(formula: str) -> tuple[str, ...]:
    """Return the names in (x, y); nothing if it is none."""
    part = parse(formula)
    names = part.kind == "()" and len(part.parts) > 1 and all(map(is_name, part.parts))
    return tuple(spaceless(each.text) for each in part.parts) if names else ()


def _asked(problem: str) -> tuple[tuple[str, ...], bool]:
    """Return the formulas behind "find" with only a noun between, and whether one is (x, y)."""
    found, asking = list[str](), False
    for piece in _PIECE.finditer(problem):
        ends = not re.match(r"-|\w", problem[piece.end() :])  # unlike the $n$-th
        if (piece["formula"] or piece["name"]) and ends:
            found += [normal_form(_inside((*piece.groups()[2:6], piece["name"])))] * asking
        elif not piece["noun"]:
            asking = bool(piece["ask"])
    parts = [parse(each) for each in found]
    many = [each.parts if each.kind in ("()", "list") else (each,) for each in parts]
    names = tuple(spaceless(each.text) for members in many for each in members)
    return names, any(map(_tuple_of, found))


NOTHING_SAID = Said()


@lru_cache(maxsize=1024)
def options_of(problem: str) -> dict[str, str]:
    r"""Return the normal form of each option of a problem.

    >>> options_of(r"Which? $\textbf{(A) }x=0\qquad \textbf{(B)}\ 1$")
    {'A': 'x=0', 'B': '1'}
    """
    text = _FONT_OF_OPTION.sub(r" \1 ", problem)
    found = [*_OPTION.finditer(text)]
    letters = "".join(each[1] or each[2] for each in found)
    at = letters.rfind("AB")
    if at < 0:
        return {}
    ends = [each.start() for each in found[at + 1 :]] + [len(text)]
    options = zip("ABCDEFGHIJ", letters[at:], found[at:], ends, strict=False)
    texts = (
        (letter, text[each.end() : end]) for name, letter, each, end in options if name == letter
    )
    return {
        letter: normal_form(_AROUND.sub("", _AROUND.sub("", behind).partition("\n")[0]))
        for letter, behind in texts
    }


def is_asked(name: Part, problem: str) -> bool:
    """Whether a problem asks for the left side of an equation."""
    return _bare(spaceless(name.text)) in map(_bare, said(problem).asked)


def is_said(name: str, problem: str) -> bool:
    """Whether a question asks in words for what a name says: f'(x) for a derivative, "Radius".

    >>> [is_said(name, "Find the radius.") for name in ("Radius", "f'(x)", "Area")]
    [True, False, False]
    """
    question = question_of(problem)
    if re.fullmatch(r"[A-Za-z]{3,}(?: [A-Za-z]+)*", name):
        known = {*re.findall("[a-z]+", FORMULA.sub(" ", question).lower())} | _ALWAYS
        return {*name.lower().split()} <= known
    key = spaceless(name)
    return any(
        re.fullmatch(written, key) and re.search(words, question, re.IGNORECASE)
        for written, words in _SAID_BY
    )


def names_another(gold: Part, answer: Part, problem: str, lone: bool = True) -> bool:
    """Whether an answer names what the gold does not, and the problem does not ask for.

    >>> problem = "If $x+y=8$ and $x-y=2$, find $x$."
    >>> [names_another(parse("5"), parse(text), problem) for text in ("y=5", "x=5", "x_1=5")]
    [True, False, False]
    """
    if is_named(gold) or gold.kind == "relation" or any(map(is_named, gold.parts)):
        return False
    if answer.kind == "relation" and not _OF_A_LETTER.isdisjoint(answer.marks.split()):
        letters = [each.text for each in answer.parts if is_letter(each.text)]
        asked = [each for each in said(problem).asked if is_letter(each)]
        known = (
            letters
            and not _is_of_the_other(letters[0], problem)
            and (letters[0] in asked if asked else _stands(letters[0], problem))
        )
        return bool(letters and problem and not known)
    if answer.kind in ("list", "()", "{}"):
        return any(names_another(gold, each, problem, lone=False) for each in answer.parts)
    return is_named(answer) and is_other_name(spaceless(answer.parts[0].text), problem, lone)


def _is_of_the_other(letter: str, problem: str) -> bool:
    """Whether a domain is said of y, or a range of x."""
    other = r"\bdomain\b" if letter == "y" else r"\brange of (?:the f|\$?[yf]\b)"
    return letter in ("x", "y") and re.search(other, question_of(problem)) is not None


def is_other_name(name: str, problem: str, lone: bool = True) -> bool:
    """Whether a problem asks for something else than a name says; a lone letter may be new.

    >>> problem = "Let $AB=5$. How large is the area?"
    >>> [is_other_name(name, problem) for name in ("AB", "perimeter", "area", "S")]
    [True, True, False, False]
    """
    question = question_of(problem)
    if len(name) > 2 and name.isalpha() and not name.isupper() and problem:
        return name.lower() not in _ALWAYS and name.lower() not in question.lower()
    wanted = said(problem).asked
    names = [each for each in wanted if is_name(parse(each))]
    if names or name in ("e", "i"):
        fresh = lone and is_letter(name) and name not in ("e", "i") and not _stands(name, problem)
        return not (fresh or any(_may_be(_bare(name), _bare(each)) for each in names))
    if _SEGMENT.match(name) and re.search(
        r"\b(?:area|volume|perimeter|how many)\b", question, re.I
    ):
        return True
    known = wanted and _stands(name, problem) and not any(map(_RELATION.search, wanted))
    return bool(known or _is_given(name, problem))


def leads_to_another(gold: Part, name: str, problem: str) -> bool:
    """Whether a known name before a box is not the one asked for: y = [5] to "find x"."""
    part = parse(f"{name}=0")
    known = problem and is_named(part) and (_stands(name, problem) or re.search(r"\(\d", name))
    return bool(known) and names_another(gold, part, problem)


def _is_given(name: str, problem: str) -> bool:
    """Whether a problem says which number a name is."""
    given = r"(?<![\w\\+*/^})-])" + _written(name) + r"\s*=\s*-?[\d.]"
    text = re.sub(r"(\\[a-z]+)\s+", r"\1", normal_form(problem))  # cos x = 1 gives no x
    return re.search(given, text) is not None


def _written(name: str) -> str:
    return re.sub(r"(?<=[a-z])(?=[A-Z])", r"\\s*", re.escape(name))


@lru_cache(maxsize=1024)
def question_of(problem: str) -> str:
    """Return what a problem asks, without conditions, and all that stands behind it.

    >>> question_of("If 20% of 50 are gone, how many are left? Give a number.")
    'how many are left? Give a number.'
    """
    sentences = _SENTENCE.split(problem.strip())
    numbered = [*enumerate(sentences)]
    for asks, order in zip(_QUESTIONS, (reversed(numbered), numbered), strict=True):
        for at, sentence in order:
            if found := asks.search(sentence):
                start = 0 if _IN.match(sentence[: found.start()]) else found.start()
                asked = _GIVEN.sub("", sentence[start:])
                return " ".join([asked, *sentences[at + 1 :]])
    return problem


def unsaid_mark(gold: str, answer: str, problem: str) -> str:
    r"""Return a sign that an answer has, and neither the gold nor the problem; or "".

    >>> [unsaid_mark("5", "5%", said) for said in ("How many?", "Which percentage?")]
    ['%', '']
    """
    signs = (sign for sign in _SIGNS if sign in answer and sign not in gold)
    return next((sign for sign in signs if not _asks_for_sign(sign, gold, problem)), "")


def _asks_for_sign(sign: str, gold: str, problem: str) -> bool:
    """Whether the gold says that a sign is meant, or the question asks for what it measures."""
    said_so, question = re.compile(_SIGNS[sign], re.DOTALL), question_of(problem)
    text = said_of_marks(problem)
    if said_so.search(gold):
        return True
    if sign == "°" and re.search(r"\b(?:ratio|fraction|percent|probability)", question):
        return False
    if sign == "%":
        return said_so.search(_AMOUNT.sub(" ", text)) is not None
    if sign != "°":
        return said_so.search(text) is not None and not _PURE.search(question)
    bare = re.sub(r"\\(?:sin|cos|tan)(?!\^\{?-)", " ", _AMOUNT.sub(" ", question))
    asked = said(problem).asked
    of_angles = all(map(_ANGLE.match, asked))
    return said_so.search(text if of_angles else bare) is not None


def said_of_marks(problem: str) -> str:
    """Return what in a problem may ask for a mark: a count has the marks of its noun only.

    >>> said_of_marks("20% of 50 are gone. How many apples are left?")
    'apples '
    """
    question = question_of(problem)
    if count := COUNT.search(question):
        return count[1]
    asked = said(problem).asked
    if _MEASURE.search(question) or (asked and all(map(_SEGMENT.match, asked))):
        return _AMOUNT.sub(" ", question)
    return problem


def _stands(name: str, problem: str) -> bool:
    found = rf"(?<![A-Za-z\\]){_written(name)}(?![A-Za-z(])"
    return re.search(found, normal_form(problem)) is not None


def _may_be(name: str, asked: str) -> bool:
    """Whether a name is one that is asked for: x_1 of x, f(x) of f, f(z) of f(x)."""
    sides = [re.split(r"(?=[(_])|\Z", each, maxsplit=1) for each in (name, asked)]
    (one, tail), (other, rest) = sides
    any_letter = re.fullmatch(r"\([a-z]\)|", tail) is not None
    return name == asked or (one == other and (any_letter or not rest))


def _bare(name: str) -> str:
    """Return a name without what says what it is: A of m∠A, AB of a segment BA."""
    bare = _KIND.sub("", name)
    return "".join(sorted(bare)) if re.fullmatch("[A-Z]{2}", bare) else bare


def problem_of(prompt: object) -> str:
    r"""Return the text of a problem: of the last message of a user, behind few-shot examples.

    >>> problem_of("Problem: 1+1\nSolution: 2\n\nProblem: 1+2\nSolution:").strip()
    '1+2\nSolution:'
    >>> problem_of([{"role": "user", "content": "1+2"}, {"role": "assistant", "content": "So"}])
    '1+2'
    """
    if isinstance(prompt, str):
        text = _without_examples(prompt)
        return text if len(text) <= MAX_LENGTH else text[-MAX_LENGTH:].partition("\n")[2]
    given = prompt if isinstance(prompt, list | tuple) else []
    asked: list[str] = []
    for each in given:
        if isinstance(each, Mapping):
            text, is_reply = text_of(each, "\n"), each.get("role") == "assistant"
            asked = [] if is_reply and _ANSWERED.search(text) else [*asked, text * (not is_reply)]
    return problem_of("\n".join(filter(None, asked)))


def text_of(message: object, joint: str = "") -> str:
    """Return plain text, or the text of a message without its other blocks."""
    content = message.get("content") if isinstance(message, Mapping) else message
    blocks = content if isinstance(content, list | tuple) else [content]
    texts = (_of_block(each) for each in blocks)
    return joint.join(each for each in texts if isinstance(each, str))


def _of_block(block: object) -> object:
    is_text = isinstance(block, Mapping) and block.get("type", "text") == "text"
    return block.get("text") if is_text else block  # type: ignore[attr-defined]


def _without_examples(prompt: str) -> str:
    """Return what is behind the last example, which has a heading and an answer."""
    found = list(_EXAMPLE.finditer(prompt))
    for one, other in reversed([*pairwise(found)]):
        if _ANSWERED.search(prompt[one.end() : other.start()]):
            return prompt[other.end() :]
    return prompt


def stem_of(problem: str) -> str:
    """Return what a problem gives: no options, and nothing if it asks "which of A and B"."""
    if _CHOOSE.search(problem):
        return ""
    return problem[: found.start()] if (found := _OPTIONS.search(problem)) else problem


@lru_cache(maxsize=1024)
def formulas_of(problem: str) -> tuple[Part, ...]:
    """Return the formulas of a problem, those in no dollar signs too, each also by its lines."""
    text = _ENVIRONMENT.sub(" ; ", FORMULA.sub(" ; ", problem))
    plain = [each.rstrip(".,:;?") for each in _PLAIN.findall(text)]
    found = [each for each in plain if not _NO_FORMULA.search(each)] + _marked(problem)
    found += [each.rstrip("=_? ") for each in found if each.rstrip("_? ").endswith("=")]
    pieces = dict.fromkeys(piece for each in found for piece in (each, *_SIDES.split(each)))
    return tuple(parse(normal_form(each)) for each in [*pieces][-MAX_FORMULAS:])


def _marked(problem: str) -> list[str]:
    """Return the formulas between dollar signs, or in LaTeX's brackets."""
    return [_inside(each.groups()) for each in FORMULA.finditer(problem)][-MAX_FORMULAS:]


def _inside(groups: Sequence[str | None]) -> str:
    return next(filter(None, groups), "")
