"""The words that may stand around a box: known ones, and those of the problem.

Without a problem all words are known, but those that deny, and those that change a number.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from functools import lru_cache
from itertools import pairwise

from setrl_grader.measures import COUNT, asks_for_each, is_counted, units_of
from setrl_grader.problem import question_of
from setrl_grader.units import one_name

TOKEN = re.compile(r"[^\W\d_]+(?:['’-][^\W\d_]+)*|\d(?:[\d.,]*\d)?|[-=]+>|\\[a-zA-Z]+|\\?\S")


def _set(text: str) -> frozenset[str]:
    return frozenset(text.split())


ROUGHLY = _set(r"≈ \approx \simeq about approximately approx roughly nearly around almost")
RELATIONS = ROUGHLY | _set(r"""
    = : → ⇒ ⟹ ∴ … => -> --> \Rightarrow \rightarrow \Longrightarrow \longrightarrow \implies \iff
    \Leftrightarrow \to \therefore \equiv \ldots \dots \cdots \in \colon
    \ge \geq \geqslant ≥ \le \leq \leqslant ≤
    is are was were be been equals gives give gave yields yield get gets got obtain obtains have
    has had find finds found see make makes made become becomes remain remains leaves need needs
    needed take takes took cost costs pay pays paid earn earns earned spend spends spent save saves
    saved means conclude results
""")
SO = _set(r"because so thus hence therefore then consequently ∴ \therefore")
INTRODUCES = _set("""
    since because using substituting solving simplifying adding subtracting multiplying
    dividing combining plugging applying evaluating comparing expanding factoring setting
    rounding
    calculating computing considering taking putting
""")
LEADS_ON = {  # what may stand before "of", "to", "by" and "as"
    "of": _set("""
    total answer average value result distance length area volume speed cost price profit
    probability amount maximum minimum perimeter score weight height age
    """),
    "to": _set("""
        factors expands
    equal equals equivalent amounts amount comes come sums simplifies simplify reduces reduce
    evaluates evaluate corresponds leads
    """),
    "by": _set("given"),
    "as": _set("factors expressed written given simplified rounded known"),
}
LEADS_NOWHERE = _set("""
    of to by as than from but between within over under up or per two three four five six
    seven eight nine ten
""")
STOPS = _set("""
    in on at for from after before during by with when if because since as so which that who
    where and or but is are was were not though although while to of than
""")
RATES = _set("per a an each every /")
_ADVERBS = _set("""
    each altogether total together now left remaining remained old long tall high wide deep
    apart away more over exactly only change worth average overall combined leftover
    longer farther faster older taller shorter heavier sooner
    all those them such different possible
""")
_KNOWN = (
    SO
    | RELATIONS
    | INTRODUCES
    | STOPS - {"or", "not", "than"}
    | _ADVERBS - {"more", "over"}
    | _set("""
    per a an the this these those it its he she they we you i his her their our them him us
    one what whom how between into among every all both any some other same such also still
    here there can will would do does did must should being just precisely simply namely equal
    note recall step part case final finally correct required desired wanted possible exact
    simplified following given requested way ways number numbers amount value values answer
    answers result solution solutions sum difference product quotient mean question problem
    equation expression formula function integer integers fraction decimal decimals percentage
    probability chance area volume perimeter length width height radius diameter distance
    speed time cost price money profit age angle measure side set point points coordinates
    maximum minimum compute determine calculate calculated obtained computed known summary
    conclusion many much year years hour hours minute minutes day days week weeks month months
    dollar dollars cent cents people unit units buys bought sells sold receives received uses
    used works worked drives drove runs ran eats ate scored won lost weighs walks walked
    collects collected originally initially letter letters option choice choose matches check
    boxed box different rounded form term randomly attained achieved reached far putting comes
    kind kinds type types size ratio rate sides full whole entire rest last put up out count
    pythagorean theorem radians degrees faces factorization divisible rule factors factor
    follows follow quantity outcome determined derived expressed simplest lowest terms reduced
    interval sequence series pair pairs triples line circle triangle polynomial constant
    variable parameter parameters everything ours
""")
)
_DENIES = _set("""
    not no never none nor neither nobody nothing nowhere cannot without except unless hardly
    barely scarcely false wrong wrongly incorrect incorrectly mistake mistakes mistaken error
    errors untrue impossible doubt doubts doubtful unlikely ignore guess guessed maybe perhaps
    possibly bound bounds estimate estimates estimated could may might suppose supposing
    imagine pretend whether seem seems apparently probably likely reject rejected claim claims
    claimed
""")
RETRACTS = _DENIES | _set("""
    fail fails failed contradicts contradiction sorry nope hmm wait actually correction
    retract disregard scratch oops instead rather recheck strike slip slipped forgot
""")
HEDGES = RETRACTS | _set("if though although but")
CHANGES = _set("""
    half twice thrice double triple halved doubled times plus minus negative less fewer more
    than most least or squared cubed factorial anything
""")
_GROUPS = tuple(
    _set(words)
    for words in (
        "smallest least minimum minimal lowest fewest min",
        "largest greatest maximum maximal highest most max",
        *("area", "volume", "perimeter", "radius", "diameter", "median", "mode", "slope"),
        "mean average",
    )
)
_ASKED = tuple(  # what a question may ask for
    _set(words)
    for words in (
        "cost costs pay pays paid spend spends spent price bill charge charges charged",
        "earn earns earned salary income revenue receive receives received",
        *("save saves saved", "owe owes owed", "sell sells sold", "buy buys bought"),
    )
)
_COMPARES = _set("more less fewer than difference longer farther faster older taller")
_LEFT = _set("left remaining remained leftover")
_HAVE = _set("remain remains still have has had now")
_EACH = _set("each apiece every per daily")
_COUNTS = re.compile(r"\b(?:how many|number of)\b", re.IGNORECASE)
_COUNTED = _set("times values solutions those")  # also where the problem has another noun


class Words:
    """The words of a problem, and what it asks for."""

    def __init__(self, problem: str):
        words = [each.lower() for each in TOKEN.findall(problem)]
        self.stems, self.pairs, self.any = {*map(_stem, words)}, {*pairwise(words)}, not problem
        self.problem, question = problem, question_of(problem)
        count = COUNT.search(question)
        self.asked = {*TOKEN.findall(question.lower())}
        self.counts = self.stems if _COUNTS.search(question) else set[str]()
        self.counted = {*map(_stem, TOKEN.findall(count[1].lower()))} if count else set[str]()

    def strange(
        self, words: Sequence[str], lenient: bool = False, never: frozenset[str] = _DENIES
    ) -> str:
        """Return the first word that is not known, or only the first that denies or changes."""
        for word, behind in pairwise([*words, ""]):
            low = word.lower()
            changes = low in CHANGES and not (lenient and self.any)
            if changes or low in never or low.endswith(("n't", "n’t")):
                if not self._may_compare(low) and (low, behind.lower()) not in self.pairs:
                    return word
            elif self._is_of_no_group(low) or not (lenient or self._has(word)):
                return word
        return ""

    def noun(self, words: Sequence[str]) -> str:
        """Return a noun that the problem does not count, or a rate in which it does not ask."""
        words = words[: next((at for at, word in enumerate(words) if word in STOPS), None)]
        if self.any:
            return ""
        rates = [behind for word, behind in pairwise(words) if word in RATES]
        if strange := next((each for each in rates if not asks_for_each(each, self.problem)), ""):
            return strange
        if not _LEFT.isdisjoint(words) and self.asked.isdisjoint(_LEFT | _HAVE):
            return "left"
        nouns = [each for each in words if each not in _ADVERBS | RATES and each not in rates]
        stems, units = {*map(_stem, nouns)}, {*map(one_name, nouns)}
        fits = is_counted(nouns, self.problem) if self.counted else self.counts >= stems
        fits = fits or units <= units_of(self.problem)
        fits = fits or bool(self.counts and {*nouns} <= _COUNTED)
        return "" if fits or not nouns else nouns[0]

    def rate(self, words: Sequence[str], first: bool) -> str:
        """Return "each" where the problem has no such word, or of what it is not asked."""
        said_so = self.any or not self.stems.isdisjoint(map(_stem, _EACH))
        pairs = pairwise(words if first else [])
        rates = (two for one, two in pairs if one in ("per", "each", "every") and two not in STOPS)
        strange = (each for each in rates if not (self.any or asks_for_each(each, self.problem)))
        each = next((word for word in words if word in _EACH), "") if not said_so else ""
        return each or next(strange, "")

    def each(self, words: Sequence[str]) -> str:
        """Return of what it is said for each one, where no question asks for that."""
        asks = self.any or not self.asked.isdisjoint(_EACH)
        rates = (two for one, two in pairwise(words) if one in _EACH and two not in STOPS)
        return "" if asks else next(rates, "")

    def has_pair(self, before: str, number: str, noun: str) -> bool:
        """Whether a number has the word before it, or its noun, that it has in the problem."""
        pairs = (before, number), (number, noun)
        return any(
            word.isalpha() and pair in self.pairs
            for word, pair in zip((before, noun), pairs, strict=True)
        )

    def verb(self, word: str) -> str:
        """Return a verb that says something else than the question: earned for "spend"."""
        asked = any(map(self.asked.intersection, _ASKED))
        others = (group for group in _ASKED if word in group and self.asked.isdisjoint(group))
        return word if asked and any(others) else ""

    def other(self, words: Sequence[str]) -> str:
        """Return an unknown word of which it is something: the logarithm of the answer."""
        pairs = pairwise([*words, ""])
        return next((one for one, behind in pairs if behind == "of" and not self._has(one)), "")

    def _may_compare(self, word: str) -> bool:
        compared = not _COMPARES.isdisjoint(self.asked) if word == "than" else word in self.asked
        return (word in _COMPARES and compared) or _stem(word) in self.counted

    def _is_of_no_group(self, word: str) -> bool:
        """Whether a word is one of several, of which the problem has none."""
        groups = [group for group in _GROUPS if word in group]
        return not self.any and any(self.stems.isdisjoint(map(_stem, group)) for group in groups)

    def _has(self, word: str) -> bool:
        low = word.lower()
        return self.any or len(word) == 1 or low in _KNOWN or _stem(low) in self.stems


@lru_cache(maxsize=256)
def words_of(problem: str) -> Words:
    """Return the words of a problem.

    >>> words = words_of("Of 9 cats 4 did not stay. How many cats were left?")
    >>> [words.noun(each.split()) for each in ("cats left", "dogs", "dozen cats", "a day")]
    ['', 'dogs', 'dozen', 'day']
    >>> [words.strange(each.split()) for each in ("cats did not stay", "not cats", "the log")]
    ['', 'not', 'log']
    """
    return Words(problem)


def _stem(word: str) -> str:
    return re.sub(r"(?<=\w{3})(?:['’]s|ing|ies|ied|y|ed|es|s|e|d)\Z", "", word)
