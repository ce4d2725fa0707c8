r"""What a problem asks for, in which order, and what letters stand for.

A name before a value, y = 5, is dropped only where the problem does not ask for another one, x.
"""

from __future__ import annotations

import re
from functools import lru_cache
from typing import NamedTuple

from setrl_grader.grammar import LETTERS_AS, ORDERS, parse
from setrl_grader.marks import NUMERALS
from setrl_grader.measures import asks_for_part, kind_of, quantity_of, units_of
from setrl_grader.names import is_letter, is_name, is_named
from setrl_grader.normal_form import normal_form, spaceless
from setrl_grader.problem import ENVIRONMENT, FORMULA, asked_formulas, marked_in, question_of
from setrl_grader.trees import Part

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
_TO_INTERVAL = re.compile(r"\bintervals?\b|(?:\||\\lvert\b)[^$|]*[a-z][^$|]*(?:\||\\rvert\b)")
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
_ALONE = re.compile(r"(?<![\w'\\])(?<!\d\s)[b-hj-zA-HJ-Z](?![\w'])")
_LETTER = re.compile(r"\\[a-zA-Z]+|[a-zA-Z](?:_(?:\{\w+\}|\w))?")
_RELATION = re.compile(r"[=<>]|\\(?:[lg]e|in)(?![a-z])")
_KIND = re.compile(
    r"\\angle|m(?=\\angle)|\\overline(?=\{?[A-Z]{2}\b)|\\widehat(?=\{?[A-Z]{3}\b)"
    r"|\|(?=[A-Z]{2}\|)|(?<=\|[A-Z]{2})\||[{}\s]"
)
_OF_A_LETTER = ORDERS | {r"\in"}
_SAID_BY = (  # how a name is written, and the words that ask for it
    (r"[a-zA-Z]'+(?:\([a-z]\))?|\\frac\{d(?:\^2)?[a-z]\}\{d[a-z](?:\^2)?\}", r"deriv|differentiat"),
    (r"\|[^|]+\|", r"modul|magnitude|absolute value|norm\b|\blength"),
    (r"\[[A-Z]{3,}\]", r"\barea\b"),
    (r"\\gcd\(.*\)", r"\bg\.?c\.?[df]\b|(?:greatest|highest|largest) common"),
    (r"\\lcm\(.*\)", r"\bl\.?c\.?m\b|least common"),
)
_COUNTS = re.compile(r"how (?:many|much)\b|[\w ]{1,20}\bnumber of\b", re.IGNORECASE)
_ALWAYS = frozenset(["answer", "ans"])
_EXTREME_WORDS = {"maximum", "minimum", "largest", "smallest", "greatest", "least"}
_SEGMENT = re.compile(r"[A-Z]{2}(?:\^\{?2\}?)?\Z")
_OF_POINTS_NAMED = re.compile(r"(?:\[|_\{?|\\triangle|(\\angle))([A-Z]{3,})[\]}]?\Z")
_SELF = (  # what is the value of a name, and no property
    "values?|measures?|sizes?|lengths?|magnitudes?|ranges?|sets?|choices?|cases?|coordinates"
    "|positions?|expressions?|formulas?|equations?|forms?|solutions?|terms|kinds?|out"
)
_HEAD = re.compile(
    r"(?:what(?:'s|\s+(?:is|are|was|were|will be))?|which|how many|how much|\w+)\s+"
    r"([a-z' -]*?)\s*(?:\b(?:of|in|for|from|when|if|that|which|than|on|at|with|by|to|do|does|did"
    r"|has|have|is|are|was|were|will|can)\b|[^a-z' -]|\Z)",
    re.IGNORECASE,
)
_OF_SEGMENTS = re.compile(r"how far|(?:length|distance|side|segment|diagonal|chord|edge)s?\Z")
_LEAST, _MOST = r"\b(?:small|low|least|min)\w*", r"\b(?:larg|great|high|max)\w*"
_EXTREMES = re.compile(
    rf"(?P<up>{_LEAST}[^.;]*\band\b[^.;]*{_MOST})|{_MOST}[^.;]*\band\b[^.;]*{_LEAST}"
)
_OF_A_ROW = re.compile(r"\b(?:permutation|arrangement|sequence|ordering|order)s?\b")
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
        interval: Whether it asks for an interval, or has bars to solve: |x| < 2 may not stay.
        rises: Whether it asks for the smallest before the largest, or after it.
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
    rises: bool | None = None


@lru_cache(maxsize=1024)
def said(problem: str) -> Said:
    """Return what a problem says; nothing if there is none.

    >>> found = said("If $x+y=8$, find $x$. Which point $(a,b)$ is it?")
    >>> found.asked, found.orders
    (('x',), (('x',), ('a', 'b')))
    """
    if not problem:
        return Said()
    question = question_of(problem)
    formulas = [*map(normal_form, marked_in(problem))]
    tuples = [*filter(None, map(_tuple_of, map(parse, formulas)))]
    parts = [*map(parse, asked_formulas(problem))]
    found = [each.parts[0] if is_named(each) else each for each in parts]
    many = [each.parts if each.kind in ("()", "list") else (each,) for each in found]
    asked = tuple(spaceless(each.text) for members in many for each in members)
    if not asked and re.search(r"\bsystem\b", question) and not quantity_of(problem):
        letters_in = _LETTER.findall(ENVIRONMENT.sub(" ", " ".join(formulas)))
        asked = tuple(sorted({each for each in letters_in if len(each) == 1}))  # all of them
    group = "all" * bool(_NO_PRODUCT.search(problem))
    of_range = _RANGE.search(f"for {question}" if re.match(r"which \W", question) else question)
    of_points = bool(_OF_POINTS.search(question) or len({*asked}) > 1)
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
        points=any(map(_tuple_of, found)) or not is_range or (of_points and not of_range),
        in_order=_asks_for_order(question),
        rises=_rises(question),
        ratio=bool(_RATIO.search(problem)) and kind_of(problem) != "percent",
        units=units_of(problem),
        rounded=bool(_ROUNDED.search(problem)) and not _EXACT.search(problem),
        solved=bool(_SOLVED.search(problem)),
        form=bool(_FORM.search(problem)),
        notation=bool(_NOTATION.search(problem)),
        interval=_TO_INTERVAL.search(problem) is not None,
        first=tuple(dict.fromkeys(_LETTER.findall(" ".join(formulas)) + _ALONE.findall(problem))),
    )


def _rises(question: str) -> bool | None:
    """Whether the smallest is asked for before the largest, or None."""
    found = _EXTREMES.search(question)
    return found["up"] is not None if found else None


def _asks_for_order(question: str) -> bool:
    """Whether the members of a list are asked for in an order, or as a permutation."""
    row = _OF_A_ROW.search(_head(question))
    return bool(row or _IN_ORDER.search(question)) or _asks_for_two(question)


def _asks_for_two(question: str) -> bool:
    """Whether a question asks for two unlike things: "the length and the width"."""
    text = re.split(r"[.?!]\s", FORMULA.sub(" f ", question))[0]
    return bool(_TWO.search(text)) and not _OF_ONE_KIND.search(text)


def _tuple_of(part: Part) -> tuple[str, ...]:
    """Return the names in (x, y); nothing if it is none."""
    names = part.kind == "()" and len(part.parts) > 1 and all(map(is_name, part.parts))
    return tuple(spaceless(each.text) for each in part.parts) if names else ()


NOTHING_SAID = Said()


def is_asked(name: Part, problem: str) -> bool:
    """Whether a problem asks for the left side of an equation."""
    return _bare(spaceless(name.text)) in map(_bare, said(problem).asked)


def is_said(name: str, problem: str) -> bool:
    """Whether a question asks in words for what a name says: f'(x) for a derivative, "Radius".

    >>> problem = "Find the radius of the circle."
    >>> [is_said(name, problem) for name in ("Radius", "f'(x)", "Circle")]
    [True, False, False]
    """
    question, key = question_of(problem), spaceless(name)
    if not re.fullmatch(r"[A-Za-z]{3,}(?: [A-Za-z]+)*", name):
        asked = any(
            re.fullmatch(written, key) and re.search(words, question, re.IGNORECASE)
            for written, words in _SAID_BY
        )
        ours, given = ({*re.findall(r"\d+", text)} for text in (key, problem))
        return asked and ours <= given and not _is_of_other_points(key, problem)
    words, head = name.lower().split(), _head(question).split()
    ends = {*head[-1:], quantity_of(problem) or kind_of(problem)} | _EXTREME_WORDS & {*head}
    differs = {"more", "fewer", "less"} & {*head} <= {*words}
    always = _ALWAYS | ({"total"} if not asks_for_part(problem) else set())
    known = {*words} <= {*head} | ends | always
    return {*words} <= always or (known and differs and words[-1] in ends)


def _head(question: str) -> str:
    """Return the words between what asks and a preposition: "radius" of "Find the radius of"."""
    found = _HEAD.match(question)
    return found[1].lower() if found else ""


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
    if _gives_all_to_one(gold, answer, {*said(problem).asked}):
        return True
    if answer.kind == "{}" != gold.kind and _COUNTS.match(question_of(problem)):
        return True
    if answer.kind in ("list", "()", "{}"):
        return any(names_another(gold, each, problem, lone=False) for each in answer.parts)
    return is_named(answer) and is_other_name(spaceless(answer.parts[0].text), problem, lone)


def _gives_all_to_one(gold: Part, answer: Part, asked: set[str]) -> bool:
    """Whether one of several letters has all values: x = 1, 2 or x = (1, 2) for x and y."""
    first, *others = answer.parts if answer.kind == "list" else (answer,)
    if not is_named(first) or any(map(is_named, others)):
        return False
    name, value = first.parts[:2]
    whole = len(asked) == len(gold.parts) > 1 and (others or value.kind == "()")
    return bool(whole) and spaceless(name.text) in asked


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
    if _is_word(name) and problem:
        return not is_said(name, problem)
    if _is_other_extreme(name, question_of(problem)):
        return True
    wanted = said(problem).asked
    names = [each for each in wanted if is_name(parse(each))]
    if names or name in ("e", "i"):
        fresh = lone and is_letter(name) and name not in ("e", "i") and not _stands(name, problem)
        vertex = re.sub(r"m?\\angle[A-Z]([A-Z])[A-Z]", r"\1", name)  # ∠ABC is ∠B
        ours = (_bare(name), vertex)
        return not (fresh or any(_may_be(one, _bare(each)) for one in ours for each in names))
    if problem and (_is_of_other_points(name, problem) or _is_of_other(name, problem)):
        return True
    quantity = quantity_of(problem)
    if quantity and _SEGMENT.match(name) and not _OF_SEGMENTS.match(quantity):
        return all(re.search(rf"(?<![a-z]){point}(?![a-z])", problem) for point in name[:2])
    known = quantity or (wanted and not _is_relation(wanted[-1]))
    base = name.partition("_")[0]
    stands = _stands(base, problem) and not (quantity and _is_called(base, quantity, problem))
    return bool((known and stands) or _is_given(name, problem))


def _is_word(name: str) -> bool:
    """Whether a name is a word, and no letters of points."""
    return len(name) > 2 and name.isalpha() and not name.isupper()


def _is_other_extreme(name: str, question: str) -> bool:
    """Whether a name is n_min, and a question asks for the largest n."""
    index = re.sub(r"[\W_]+", " ", name.partition("_")[2])
    named, asked = (
        [re.search(words, text) is not None for words in (_LEAST, _MOST)]
        for text in (index, question)
    )
    return True in named and asked == named[::-1]


def _is_of_other_points(name: str, problem: str) -> bool:
    """Whether the area of a triangle, or an angle, is one that a problem does not ask for."""
    found = _OF_POINTS_NAMED.search(name)
    if not found or (found[1] and not all(map(problem.count, found[2]))):  # of a new point
        return False
    for text in (question_of(problem), problem):
        runs = re.findall(r"(?<!\d )[A-Z]{3,}", re.sub(r"(?<=[A-Z])\s+(?=[A-Z])", "", text))
        if runs:
            return sorted(found[2]) not in map(sorted, runs)
    return False


def _is_of_other(name: str, problem: str) -> bool:
    """Whether a question asks for something of a name, its digit, or for another event."""
    question = normal_form(question_of(problem))
    thing = rf"\b(?!(?:{_SELF})\b)[a-z]+ of (?:the [a-z]+ )?\W{{0,4}}{_written(name)}(?![\w(])"
    words = re.findall(r"[a-z]+|\d+", question.lower())
    known = {(NUMERALS | {"no": "0", "none": "0"}).get(each, each) for each in words}
    event = {*re.findall(r"\d+", name)} if re.match(r"Pr?\(", name) else set()
    return bool(event - known or re.search(thing, question))


def _is_relation(formula: str) -> bool:
    """Whether a formula is an equation, and not only the index of a sum."""
    return _RELATION.search(re.sub(r"\{[^{}]*\}", "", formula)) is not None


def _is_called(name: str, quantity: str, problem: str) -> bool:
    """Whether a problem says that a name is the quantity that it asks for: "the radius $r$"."""
    letter = rf"(?<![\w\\]){_written(name)}(?![\w(])"
    said_of = rf"{letter}\W{{0,4}}(?:be|denotes?|is|represents?)\s+(?:the|an?)\s+(?:\w+\s+)?"
    called = f"{said_of}{re.escape(quantity)}"
    if quantity != "number":
        called += rf"|\b{re.escape(quantity)}\W{{1,4}}{letter}"
    return re.search(called, problem, re.IGNORECASE) is not None


def leads_to_another(gold: Part, name: str, problem: str) -> bool:
    """Whether a known name before a box is not the one asked for: y = [5] to "find x"."""
    if _is_word(name):
        stands = re.search(rf"\b{name}\b", problem, re.IGNORECASE)
        return bool(stands) and kind_of(name) != kind_of(problem) and not is_said(name, problem)
    part = parse(f"{name}=0")
    known = _stands(name, problem) or re.search(r"\(\d", name) or _SEGMENT.match(name)
    return bool(problem and is_named(part) and known) and names_another(gold, part, problem)


def _is_given(name: str, problem: str) -> bool:
    """Whether a problem says which number a name is."""
    given = r"(?<![\w\\+*/^})-])" + _written(name) + r"\s*=\s*-?[\d.]"
    text = re.sub(r"(\\[a-z]+)\s+", r"\1", normal_form(problem))  # cos x = 1 gives no x
    return re.search(given, text) is not None


def _written(name: str) -> str:
    if re.fullmatch("[A-Z]{2}", name):
        return f"(?:{name}|{name[::-1]})"  # a segment
    return re.sub(r"(?<=[a-z])(?=[A-Z])", r"\\s*", re.escape(name))


def _stands(name: str, problem: str) -> bool:
    found = rf"(?<![A-Za-z\\]){_written(name)}(?![A-Za-z])"
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
