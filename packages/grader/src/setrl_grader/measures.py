r"""What a problem measures: the units, the marks and the nouns that may stand at its answer.

Only those that it asks for may: the first quantity behind what asks says the kind, and the problem
has the unit. All else is refused.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from functools import lru_cache

from setrl_grader.numbers import read_number
from setrl_grader.problem import FORMULA, asked_formulas, question_of
from setrl_grader.units import LENGTHS, UNITS, one_name, split_unit

_LENGTHS = frozenset(map(one_name, LENGTHS))
_TIMES = frozenset(["s", "min", "h", "day", "week", "month", "year"])
_MASSES = frozenset(["g", "kg", "mg", "ton", "tonnes", "lb", "oz"])
_LIQUIDS = frozenset(["l", "ml", "gallon", "quart", "pint", "cup"])
_CURRENCIES = {  # how a problem says that it has one
    "€": r"€|\beuros?\b|\bEUR\b",
    "£": r"£|\bpence\b|\bsterling\b",
    "¥": r"¥|\byen\b",
    "₹": r"₹|\brupees?\b",
    "ruble": r"\br(?:o?u)bles?\b",
    "peso": r"\bpesos?\b",
}
_LATEX = re.compile(  # a formula, which has no words and no amount behind its end
    r"(?<!\\)\$(?:[^$a-zA-Z]|\\[a-zA-Z]+|(?<![a-zA-Z])[a-zA-Z](?![a-zA-Z]))*(?<!\\)\$(?!\d)"
)
_DOLLARS = re.compile(r"\$\s?[\d.]|\d\s?\$|\bdollars?\b|\bUSD\b|\bmoney\b")
_MONEY = (
    r"\b(?:dollar|cost|pay|paid|spend|spent|earn|money|price|sav(?:e|ings)\b|profit|charge|owe|salary"
    r"|income|revenue|bill\b|budget|debt|worth\b|tip\b|tax|interest\b|change\b|sell for|sold for"
    r"|wage|fee\b|loss\b|lose\b|pension"
    r"|how much (?:do|does|did|will|would|can) [\w ]{1,20}\bmake\b)"
)
_PAID = re.compile(rf"{_MONEY}|\\?\$\s?\d", re.IGNORECASE)
_AMOUNT_OF_MONEY = re.compile(r"\b(?:amount|value|total)\b", re.IGNORECASE)
_KINDS = {  # the words for a kind of quantity
    "pure": r"\bhow many\b|\b(?:(?:co)?sine|(?:co)?tangent|ratio|fraction|factor|slope|proportion"
    r"|integer|number|digit|prime|polynomial|function|remainder|exponent|coefficient|product|quotient"
    r"|divisor|multiple|equation|expression|solution|root|term|score|grade)s?\b",
    "percent": r"%|\bpercent|\bprobab|\bchance|\blikel|\bodds\b"
    r"|\b(?:pass|success|interest|tax|growth|failure|error|discount|profit|loss|price|cost)\w*"
    r" (?:rate|percent)",
    "speed": r"\b(?:speed|velocity|how fast|rate)\b",
    "temperature": r"\btemperature\b",
    "angle": r"\bangle|\\m?angle|∠|\\widehat|\bdegree measure|\barcs?\b(?! length)|\binclin"
    r"|\bbearing\b|\bradian",
    "area": r"\barea\b|(?-i:\[[A-Z]{3,}\])",
    "volume": r"\b(?:volume|capacity)\b",
    "length": r"\bhow (?:far|tall|high|wide|deep)\b|\b(?:length|distance|height|width|depth"
    r"|thickness|perimeter|(?:in|circum)?radius|diameter|circumference|side|edge|diagonal|hypotenuse"
    r"|altitude|segment|chord)s?\b|\b(?:farther|further|taller|higher|wider|deeper|shorter)\b",
    "time": r"\bhow old\b|\bages?\b|\btime (?:it|does|did|do|they|he|she|that)\b|\bit take\b"
    r"|\b(?:how much|total|average|amount of|(?:is|was|calculate|find|compute) the) time\b"
    r"|\bhow long (?:do|does|did|will|would|can|should|has|have|had|until)\b(?![^.?]* be\b)"
    r"|\bhow long\b.*\btake"
    r"|\bhow much longer\b.*\btake|\b(?:earlier|later|sooner)\b",
    "extent": r"\bhow (?:long|much longer)\b",
    "weight": r"\b(?:weigh|heav|mass\b)",
    "money": _MONEY,
}
_NO_LETTER = re.compile(  # what a letter of the problem does not stand for
    r"\b(?:how many|number of|expression|sum|product|ratio|remainder|difference|average|mean"
    r"|coefficient|slope|divisor|multiple|fraction|probability)\b",
    re.IGNORECASE,
)
_MUCH = re.compile(r"\bhow much\b|\bamount of\b", re.IGNORECASE)
_OF_KIND = {
    "length": _LENGTHS,
    "time": _TIMES,
    "extent": _TIMES | _LENGTHS,
    "weight": _MASSES,
    "much": _MASSES | _LIQUIDS,
}
_POWERS = {"length": "", "area": "^2", "volume": "^3"}
_KIND = re.compile(
    "|".join(f"(?P<{kind}>{words})" for kind, words in _KINDS.items()), re.IGNORECASE | re.DOTALL
)
_SEGMENTS = re.compile(r"(?:[A-Z]{2}|\\overline\{[A-Z]{2}\}|\|[A-Z]{2}\|)(?:[+-](?:[A-Z]{2}))*\Z")
_ANGLES = re.compile(
    r"(?:(?:m?\\angle|\\arc|\\widehat|∠|\\(?:alpha|beta|gamma|theta|phi)\Z)\W*\w*[+-]?)+"
)
_CIRCLE = r"(?:\^\s*\{?\s*\\circ|°)"
_AMOUNT = re.compile(r"\\?\$?\d[\d.,]*\s*(?:\\?%|percent|\^\{?\\circ\}?|°|degrees|dollars)?")
_TWO_LETTERS = re.compile(r"(?<![\\a-zA-Z])[a-zA-Z]{2,}")
_OF_NUMBER = re.compile(
    r"(?:\d|\b(?:one|two|three|four|five|six|seven|eight|nine|ten|twelve|twenty|half an?|per|an?))"
    r"(?:[\s~-]|\\(?:mathrm|text)\{)*(?:square |cubic )?([a-zA-Z]{2,})"
)
_UNITS = re.compile(
    r"\b(?:[Ii]n|[Hh]ow many(?:\s+(?:more|fewer|less|total|extra))?|[Nn]umber of)\s+"
    r"(?:\$|\\mathrm\{~?)?"
    r"((?:(?:square|cubic)\s+)?[a-zA-Z]+(?:\^\{?[23]\}?)?(?:\s+per\s+[a-z]+|/[a-z]+)?)(?![a-z])"
)
_SHARE = re.compile(
    r"%|\b(?:percent|probab|chance|likel|odds|fraction|ratio|proportion|portion"
    r"|what part|how much of)",
    re.IGNORECASE,
)
_SCALE = re.compile(r"\b(?:how many|in|number of)\s+(\w+)", re.IGNORECASE)
_NO_NOUN = (  # what ends the noun behind "how many"
    r"is|are|do|does|did|has|have|had|can|could|will|would|must|should|was|were|in|of|with|to|than|that"
    r"|which|such|there|on|at|from|for|if|he|she|it|they|we|you|I"
)
COUNT = re.compile(
    r"\b(?:how many|number of|how (?:big|large) is (?:each|one|a) \w+ of)\s+(?:of\s+)?"
    r"(?:(?:the|these|those|its|his|her|their|all)\s+)*"
    rf"((?:(?!(?:{_NO_NOUN})\b)[\w'-]+(?:\s+|(?=\W|\Z))){{1,6}})",
    re.IGNORECASE,
)
PLURAL = re.compile(
    r"people|children|men|women|feet|teeth|mice|geese|.*fish|sheep|deer|[^']*(?:[^siu']|ie)s"
)
_NO_WORDS = re.compile(  # which stand for nothing that is counted
    r"\b(?:is|are|was|were|will|be|been|there|do|does|did|have|has|had|can|could|would)\b"
)
_COUNTED = re.compile(r"([^a-zA-Z]*[\d})])\s+([a-zA-Z'-]+(?:\s+[a-zA-Z'-]+)*)\Z")
_PER = re.compile(
    r"(?:(?<=[a-z])\s*/\s*|\s+(?:per|an?|each|every)\s+)(day|week|month|year|hour|minute)\Z"
)
_RATE = re.compile(r"\d[\d.,]*(?:\s+\w+)?\s+(?:per|an?|each|every)\s+\w+")  # that is given
_ASKED_RATE = re.compile(r"\b(?:per|an?|each|every|one)\W+(?:day|week|month|year|hour|minute)\b")
_NOUNS = re.compile(r"\d\s+([a-z]+s)\b")  # behind the numbers of a problem
_ONE_LETTER = re.compile(r"(.*\d) ([a-zA-Z])")
_OF = re.compile(r"(.*(?:\d%|\d [a-zA-Z]+)) of ([a-z ]+)")
_SECONDS = {"s": 1, "min": 60, "h": 3600}
_TIME_PIECE = re.compile(r"(\d{1,9})\s*(h|hrs?|hours?|mins?|minutes?|s|secs?|seconds?)(?![a-z])")
_TIME = re.compile(rf"{_TIME_PIECE.pattern}(?:,?\s*(?:and\s+)?{_TIME_PIECE.pattern})*")
_WHOLE = re.compile(r"\s+(?:in total|altogether|total)\Z")
_PART = re.compile(
    r"\b(?:more|fewer|less|left|remain|each|average|every|per|difference|rest|remainder|mean)\b",
    re.IGNORECASE,
)
_LEFT = re.compile(r"\s+(?:left|remaining)\Z")
_RADIANS = re.compile(r"\s*(?<=[\d}i ])(?:radians?|rad)\Z")
_BASE = re.compile(r"([0-9A-F]+)_\{?(\d+)\}?\Z")
_ASKED_BASE = re.compile(  # no base of a number that is given
    r"\b(?:to|in|into|as an?)\s+base[- $]*(\d+)"
    r"|\bbase[- $]*(\d+)\$?\s+(?:value|representation|form|expansion|equivalent)",
    re.IGNORECASE,
)


def asked_units(problem: str) -> frozenset[str]:
    """Return the units that a question names: "how many hours", "in cm"."""
    found = _UNITS.findall(question_of(problem))
    return frozenset(one_name(split_unit(f"1 {each}")[1]) for each in found) - {""}


def asked_scales(problem: str) -> list[str]:
    """Return the words that may ask for a scale: "how many dozen", "in thousands"."""
    return [each.removesuffix("s") for each in _SCALE.findall(question_of(problem))]


def asks_for_part(problem: str) -> bool:
    """Whether a question asks for a part, a mean or a difference, and for no total."""
    return _PART.search(question_of(problem)) is not None


def asks_for_share(problem: str) -> bool:
    """Whether a question asks for a part of a whole, which may be said in percent."""
    return _SHARE.search(question_of(problem)) is not None


@lru_cache(maxsize=1024)
def units_of(problem: str) -> frozenset[str]:
    """Return the units and marks in which a problem asks: those that it has of this kind.

    >>> [*units_of("It is 5 m. How many cm is it?")], [*units_of("He ran 3 km twice. How far?")]
    (['cm'], ['km'])
    >>> [*units_of("A has 3 km. Find $m+n$.")], [*units_of("How large is angle $A$?")]
    ([], ['°'])
    """
    asked = asked_units(problem)
    if asked:
        return asked | ({"°"} if "degree" in asked else set())
    kind = kind_of(problem)
    if kind == "percent":
        return frozenset("%")
    if kind in ("angle", "temperature"):
        return frozenset("°" * _has_degrees(kind, problem))
    units = _units_in(problem)
    if kind == "speed":
        times = units & {"h", "min", "s"} or units & _TIMES
        return frozenset(f"{one}/{time}" for one in units - _TIMES for time in times)
    if kind in ("money", "much") and (money := _currency(problem)):
        return money
    if kind in _POWERS:
        found = units & _LENGTHS or {"unit"}
        liquids = units & _LIQUIDS if kind == "volume" else set()
        return frozenset({unit + _POWERS[kind] for unit in found} | liquids)
    found = units & _OF_KIND.get(kind, frozenset())
    if kind == "time":
        return found or _TIMES
    return found or units & _LENGTHS if kind == "much" else found  # yards of fabric


def _units_in(problem: str) -> frozenset[str]:
    """Return the units behind the numbers of a problem, or all of it if no number has one."""
    of_numbers, words = _OF_NUMBER.findall(problem), _TWO_LETTERS.findall(problem)
    known = UNITS.intersection(of_numbers) or UNITS.intersection(words) - {"in", "foot"}
    names = [one_name(each) for each in known]
    return frozenset([*names, *(part for name in names for part in name.split("/"))])


def _has_degrees(kind: str, problem: str) -> bool:
    said = re.search(rf"{_CIRCLE}|\bdegree", problem) is not None
    return said or (kind == "angle" and "radian" not in problem)


def _only(units: frozenset[str] | set[str]) -> frozenset[str]:
    return frozenset(units) if len(units) == 1 else frozenset()


def _currency(problem: str) -> frozenset[str]:
    """Return the only currency of a problem; pounds are a weight where there is another one."""
    found = {sign for sign, said in _CURRENCIES.items() if re.search(said, problem)}
    found = found or {*"$" * bool(_DOLLARS.search(_LATEX.sub(" ", problem)))}
    in_pounds = found == {"£"} or (not found and _PAID.search(problem))
    if in_pounds and re.search(r"£|\bpounds\b|\bpence\b", problem):
        return frozenset(["£", "lb"])
    return _only(found)


def kind_of(problem: str) -> str:
    """Return the kind of the quantity that a problem asks for, or "" if that is not known.

    >>> kind_of("What is the side of a square that has the area 9?"), kind_of("Find $x+y$.")
    ('length', '')
    """
    question, asked = question_of(problem), asked_formulas(problem)
    if asked:
        if all(map(_SEGMENTS.match, asked)):
            return "length"
        if all(_ANGLES.fullmatch(each) or _is_angle(each, problem) for each in asked):
            return "angle"
        first = FORMULA.search(question)
        question = question[: first.start()] if first else ""
    found = _KIND.search(_AMOUNT.sub(" ", question))
    if found:
        return str(found.lastgroup)
    text = _LATEX.sub(" ", problem)
    is_paid = not asked and _AMOUNT_OF_MONEY.search(question) and _PAID.search(text)
    return "money" if is_paid else "much" if _MUCH.search(question) else ""


def quantity_of(problem: str) -> str:
    """Return the word for what a question asks for, if that is no letter's value.

    >>> [quantity_of(text) for text in ("How many $n$?", "Find the radius.", "Find all roots.")]
    ['number', 'radius', '']
    """
    question = question_of(problem)
    found = _NO_LETTER.search(question)
    if found:
        return "number" if found[0].lower() in ("how many", "number of") else found[0].lower()
    kind = _KIND.search(_AMOUNT.sub(" ", question))
    return "" if kind is None or kind.lastgroup == "pure" else kind[0].lower()


def _is_angle(letter: str, problem: str) -> bool:
    """Whether a problem has a degree mark, and says of a letter that it is an angle."""
    if not re.fullmatch(r"[a-zA-Z]|[A-Z]{3}", letter) or not re.search(_CIRCLE, problem):
        return False
    if len(letter) > 1:
        return True
    function = r"(?:\\(?:sin|cos|tan|cot|sec|csc|angle)|\bangles?|∠)[\s$({\\]*"
    below = rf"(?<!\w){letter}\s*(?:{_CIRCLE}|(?:\\le|<)[^$]{{0,9}}?{_CIRCLE})"
    return re.search(rf"{function}{letter}(?![a-zA-Z])|{below}", problem) is not None


def unsaid_mark(gold: str, answer: str, problem: str) -> str:
    r"""Return a sign that an answer has, and neither the gold nor the problem; or "".

    >>> [unsaid_mark("5", "5%", said) for said in ("How many?", "Which percentage?")]
    ['%', '']
    """
    signs = (sign for sign in "%°$€£¥₹" if sign in answer and sign not in gold)
    return next((sign for sign in signs if sign not in units_of(problem)), "")


def in_degrees(gold: str, answer: str, problem: str) -> str:
    r"""Return a bare gold with its degree mark, if an answer has the angle in radians.

    >>> in_degrees("90", r"\frac{\pi}{2}", "Find the angle."), in_degrees("90", "90", "Find $x$.")
    ('90°', '90')
    """
    radians = (
        r"\pi" in answer and read_number(gold) and gold[-1] != "°" and kind_of(problem) == "angle"
    )
    asked = "radian" in problem or "degree" in question_of(problem)
    return f"{gold}°" if radians and not asked else gold


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


def in_one_time(gold: str, answer: str, problem: str) -> str:
    """Return the gold if an answer is this time in other units, and the problem asks for none.

    >>> problem = "It takes 20 minutes and more. How long does it take?"
    >>> [in_one_time("160", text, problem) for text in ("2 h 40 min", "160 h")]
    ['160', '160 h']
    """
    number = read_number(gold)
    if not number or not _TIME.fullmatch(answer) or asked_units(problem):
        return answer
    pieces = [(int(each), one_name(unit)) for each, unit in _TIME_PIECE.findall(answer)]
    seconds = sum(each * _SECONDS[unit] for each, unit in pieces)
    units = units_of(problem) & {*_SECONDS}
    same = any(seconds == number.value * _SECONDS[unit] for unit in units)
    return gold if same else answer


def without_noun(gold: str, answer: str, problem: str) -> str:
    """Return a number without the noun behind it that the question counts.

    >>> problem = "Of 9 cats 4 ran to dogs. How many more cats than dogs were left?"
    >>> [without_noun("5", f"5 {noun}", problem) for noun in ("cats left", "more dogs")]
    ['5', '5 more dogs']
    """
    question = question_of(problem)
    kind = kind_of(problem) if problem else "angle"
    in_radians = r"\pi" in gold or "radian" in problem
    trigonometric = kind == "" and re.search(r"\\(?:sin|cos|tan)", problem)
    if in_radians and (kind == "angle" or trigonometric):
        answer = _RADIANS.sub("", answer)
    if re.search(r"\b(?:how old|ages?)\b", question, re.IGNORECASE):
        answer = re.sub(r"(?<=\d)\s+(?:years?|yrs?)(?: old)?\Z", "", answer)
    letter, of = _ONE_LETTER.fullmatch(answer), _OF.fullmatch(answer)
    if letter and read_number(gold) and one_name(letter[2]) in units_of(problem):
        return letter[1]
    known = of and (of[1].endswith("%") or split_unit(of[1])[1])
    if of and known and {*of[2].split()} <= {*re.findall("[a-z]+", question.lower())} | {"the"}:
        answer = of[1]
    each = _PER.search(answer)
    if each and kind != "speed" and may_be_each(each[1], problem):
        answer = answer[: each.start()]
    if problem and not asks_for_part(problem):
        answer = _WHOLE.sub("", answer)
    if re.search(r"\b(?:left|remain)", question):
        answer = _LEFT.sub("", answer)
    found, count = _COUNTED.match(answer), COUNT.search(question)
    if found and not count and re.match("how many", question, re.IGNORECASE):
        return found[1] if {found[2]} == {*_NOUNS.findall(problem)} else answer
    counted = found and count and read_number(gold) and _is_counted(found[2].lower(), count)
    return found[1] if found and counted else answer


def asks_for_each(word: str, problem: str) -> bool:
    """Whether a question asks for an amount per day, and does not only give one: $5 an hour."""
    asked = _RATE.sub(" ", question_of(problem))
    return re.search(rf"(?<!after )\b(?:per|an?|each|every|one)\W+{word}\b", asked) is not None


def may_be_each(word: str, problem: str) -> bool:
    """Whether an answer may be one per day: the problem says "day", and asks for no other rate.

    >>> problem = "He earns $5 an hour for 8 hours a day. How much is it?"
    >>> [may_be_each(word, problem) for word in ("day", "week")]
    [True, False]
    """
    other = _ASKED_RATE.search(_RATE.sub(" ", question_of(problem)))
    said = re.search(rf"\b{word}\b", problem) is not None
    return asks_for_each(word, problem) or (said and not other)


def _is_counted(said: str, count: re.Match[str]) -> bool:
    """Whether words say what a question counts, and perhaps more words of it behind."""
    words, (head, before, known) = said.split(), _counted(count)
    if re.fullmatch(r"values? of [a-z]", said):
        return re.match(rf"\W*{said[-1]}\b", count.string[count.end() :]) is not None
    if words[-1] in ("more", "fewer", "less") and words[-1] in before:
        words.pop()
    at = _place_of(head, words)
    rest = [head, *words[at + 1 :]]
    return at >= 0 and _fits(words[:at], before, known) and known[: len(rest)] == rest


def counted_in(problem: str) -> set[str]:
    """Return the noun that a question counts, with the words before it.

    >>> sorted(counted_in("How many more black cats than dogs are here?"))
    ['black', 'cats', 'more']
    """
    count = COUNT.search(question_of(problem))
    head, before, _ = _counted(count) if count else ("", [], [])
    return {head, *before} - {""}


def _counted(count: re.Match[str]) -> tuple[str, list[str], list[str]]:
    """Return the noun that is counted, the words before it, and those from it on."""
    phrase = count[1].lower().split()
    ends = [at for at, word in enumerate(phrase) if PLURAL.fullmatch(word)] or [0]
    joined = {"and", "or"} & {*phrase[: ends[-1]]}
    end = ends[-1] if joined else next(at for at in ends if at + 1 not in ends)
    text = _NO_WORDS.sub(" ", " ".join([*phrase[end:], count.string[count.end() :].lower()]))
    return phrase[end], phrase[:end], re.findall(r"[\w'-]+", text)


def _place_of(head: str, words: Sequence[str]) -> int:
    return next((at for at, word in enumerate(words) if word in (head, head.removesuffix("s"))), -1)


def _fits(words: Sequence[str], before: list[str], known: list[str]) -> bool:
    """Whether words before a noun stand there, or behind "are": good apples that are good."""
    if not {"and", "or"}.isdisjoint(before):
        return [*words] == before
    return {*words} <= {*before, *known[1:2]}
