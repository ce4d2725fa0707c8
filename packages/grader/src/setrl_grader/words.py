"""The words around a box that change, deny or withdraw an answer, and the nouns that it may have.

All other words are free.
"""

from __future__ import annotations

import re
from collections.abc import Collection, Sequence
from fractions import Fraction
from functools import lru_cache
from itertools import pairwise

from setrl_grader.measures import PLURAL, counted_in, kind_of, may_be_each, units_of
from setrl_grader.problem import question_of
from setrl_grader.units import UNITS

TOKEN = re.compile(r"[^\W\d_]+(?:['’-][^\W\d_]+)*|\d(?:[\d.,]*\d)?|[-=]+>|\\[a-zA-Z]+|\\?\S")


def _set(text: str) -> frozenset[str]:
    return frozenset(text.split())


ROUGHLY = _set(r"≈ \approx \simeq about approximately approx roughly nearly around almost")
SIGNS = ROUGHLY | _set(r"""
    = : → ⇒ ⟹ ∴ … => -> --> \Rightarrow \rightarrow \Longrightarrow \longrightarrow \implies \iff
    \Leftrightarrow \to \therefore \equiv \ldots \dots \cdots \in \colon
    \ge \geq \geqslant ≥ \le \leq \leqslant ≤
""")
SO = _set(r"so thus hence therefore then consequently because ∴ \therefore")
LEADS_ON = {  # what may stand before "of", "to", "by" and "as"
    "of": _set("""
    total answer average value result distance length area volume speed cost price profit
    probability amount maximum minimum perimeter score weight height age
    """),
    "to": _set("""
    equal equals equivalent amounts amount comes come sums simplifies simplify reduces reduce
    evaluates evaluate corresponds leads factors expands round rounds rounded down
    """),
    "by": _set("given"),
    "as": _set("factors expressed written given simplified rounded known"),
}
OPERATIONS = _set("""
    half twice thrice double triple quadruple halved doubled tripled times plus minus negative over
    less fewer more than most least squared cubed factorial percent divided multiplied raised
""")
NUMBERS = OPERATIONS | _set("two three four five six seven eight nine ten")
LEADS_NOWHERE = NUMBERS | _set("of to by as from but between within under up or per and")
FUNCTIONS = _set(
    "square cube root logarithm log factorial reciprocal inverse opposite multiple negative"
)
STOPS = _set("""
    in on at for from after before during by with when if because since as so which that who
    where and or but is are was were not though although while to of than
""")
DENIES = _set("""
    not no never none nor neither nobody nothing nowhere cannot hardly barely scarcely except
    unless false wrong wrongly incorrect incorrectly mistake mistakes mistaken error untrue
    impossible doubt doubts doubtful unlikely ignore maybe perhaps possibly suppose supposing
    imagine pretend whether seem seems apparently probably likely reject rejected claim claims
    claimed joke decoy bound
""")
RETRACTS = DENIES | _set("""
    fails contradicts contradiction sorry nope hmm wait actually correction retract disregard
    scratch oops rather recheck strike slip slipped forgot reflection
""")
HEDGES = RETRACTS | _set("though although but")
_MODAL = _set("could may might let guess guessed estimate estimated anything different")
_NOT = re.compile(r"not|no|never|cannot|neither|nor|none|.*n['’]t")
_RELATIVE = _set("who that which those")
_TRUE = _set("right correct true answer it so")
_RATES = _set("per a an each every /")
_WHOLE = re.compile(r"[0-9][0-9,]{,20}(?:\.[0-9]{1,20})?")
_TIMES = _set("second minute hour day week month year")
_COMPARES = _set("more fewer less")
_LEFT = _set("left remaining remained leftover")
_HAVE = _LEFT | _set("remain remains still have has had now")


class Words:
    """The words of a problem, and what it asks for."""

    def __init__(self, problem: str):
        words = [each.lower() for each in TOKEN.findall(problem)]
        self.problem, self.words, self.pairs = problem, {*map(_stem, words)}, {*pairwise(words)}
        self.numbers = {Fraction(each.replace(",", "")) for each in words if _WHOLE.fullmatch(each)}
        question = question_of(problem)
        self.asked = {*TOKEN.findall(question.lower())}
        counted, units = counted_in(problem), units_of(problem)
        plural = {each for each in self.asked if PLURAL.fullmatch(each)} - STOPS
        self.rivals = plural - counted if any(map(PLURAL.fullmatch, counted)) else set[str]()
        paid = not units.isdisjoint("$€£¥₹")
        self._never = {"pair", "pairs"} if "pair" not in self.words else set[str]()
        self._never |= _LEFT if self.asked.isdisjoint(_HAVE) else set()
        compares = self.asked & _COMPARES
        self._never |= _COMPARES - compares if compares else set()
        self.measured = (paid or kind_of(problem) in ("time", "length")) and not counted

    def denial(
        self, words: Sequence[str], never: frozenset[str], near: Collection[int] | None = None
    ) -> str:
        """Return the first word that denies: not of what is counted, nor as in the problem.

        Args:
            words: Those of a sentence.
            never: The words that deny, besides "isn't" and the like.
            near: Where "not" is said of the answer, and not of a noun: "12 seats not in use".
        """
        low = ["", "", *map(str.lower, words), ""]
        for at, word in enumerate(low[2:-1], 2):
            negates = _NOT.fullmatch(word) is not None
            if not negates and word not in never:
                continue
            apart = negates and near is not None and at - 2 not in near
            of_noun = apart or not _RELATIVE.isdisjoint(low[at - 2 : at])
            of_noun = of_noun and _TRUE.isdisjoint(low[at + 1 : at + 5])
            if not (of_noun or (word, low[at + 1]) in self.pairs):
                return words[at - 2]
        return ""

    def noun(self, words: Sequence[str]) -> str:
        """Return the noun of an answer, if it is of something else, or a rate in an unknown time.

        >>> words = Words("Of 9 cats 4 ran off. How many more cats than dogs stayed?")
        >>> [words.noun(each.split()) for each in ("cats", "more dogs", "a day", "fewer cats")]
        ['', 'dogs', 'day', 'fewer']
        """
        words = words[: next((at for at, word in enumerate(words) if word in STOPS), None)]
        if not self.problem or not words:
            return ""
        word, *rest = words
        if rest and word in _COMPARES - self._never:
            word = rest[0]
        known = PLURAL.fullmatch(word) and _stem(word) in self.words and word not in UNITS
        other = word in self.rivals or (self.measured and known) or word in self._never
        return word if other else self._rate(words)

    def _rate(self, words: Sequence[str]) -> str:
        """Return the time of a rate, if the problem has none in it, or asks for another one."""
        rates = (each for one, each in pairwise(words) if one in _RATES and each in _TIMES)
        return next((each for each in rates if not may_be_each(each, self.problem)), "")

    def modal(self, words: Sequence[str]) -> str:
        """Return a word that says that it only may be so, before an answer."""
        return next((word for word in words[-3:] if word.lower() in _MODAL), "")

    def function(self, words: Sequence[str]) -> str:
        """Return a function of an answer: "logarithm", where the problem has none."""
        of = (one for one, two in pairwise(words) if two == "of" and one in FUNCTIONS)
        return next((word for word in of if _stem(word) not in self.words), "")


@lru_cache(maxsize=256)
def words_of(problem: str) -> Words:
    """Return the words of a problem."""
    return Words(problem)


def _stem(word: str) -> str:
    return re.sub(r"(?<=\w{3})(?:['’]s|ing|ies|ied|y|ed|es|s|e|d)\Z", "", word)
