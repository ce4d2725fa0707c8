r"""Grade the boxed answer of a sample, by algebra where it is needed."""

from __future__ import annotations

import math
import re
from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from fractions import Fraction
from functools import cache, lru_cache
from itertools import combinations

from setrl_grader.algebra import same_statement
from setrl_grader.asked import (
    NOTHING_SAID,
    Said,
    is_asked,
    is_said,
    leads_to_another,
    names_another,
    said,
)
from setrl_grader.budget import STEPS, BudgetError, budget
from setrl_grader.compare import compare, refusal
from setrl_grader.findings import Finding
from setrl_grader.forms import (
    in_other_forms,
    in_same_notation,
    is_another_form,
    is_another_notation,
    is_copied,
)
from setrl_grader.grades import Grade, GradeCounts, Grader, Reason, check_lengths, guarded
from setrl_grader.grammar import open_readings, parse, parse_with, readings, told
from setrl_grader.marks import NUMERALS, choice_of, is_value
from setrl_grader.measures import (
    asked_scales,
    asked_units,
    asks_for_share,
    in_degrees,
    in_one_time,
    unsaid_mark,
    without_base,
    without_noun,
)
from setrl_grader.modular import equal_rational
from setrl_grader.names import are_points, is_letter, is_name, is_named, turned, value_of
from setrl_grader.normal_form import normal_form, same_text, spaceless
from setrl_grader.numbers import Number, read_number
from setrl_grader.numeric import equal_numeric
from setrl_grader.problem import options_of, problem_of, question_of, stem_of
from setrl_grader.stated import (
    FinalBoxes,
    Gold,
    after_thinking,
    damage,
    final_boxes,
    gold_answer,
    gold_problem,
    type_of,
)
from setrl_grader.trees import Part, Tree, exact_value, has, has_modulus, letters_of
from setrl_grader.units import (
    one_name,
    split_currency,
    split_money,
    split_unit,
)

STEPS_OF_PROBLEM = STEPS // 8  # to compare its formulas with the gold
LEAST_PLACES = 0.01  # how far a number may be from its rounded form, in the places that this has
_REMARK = re.compile(  # which takes nothing back
    r"\s*,?\s+(?:\(?(?:double|repeated) (?P<root>root)\)?|only"
    r"|(?:for|where) (?:all|every|any|each) ?(?P<domain>(?!\s)(?:(?!\b(?:and|or)\b)[^,])*?))"
    r"(?=\Z|\s*,\s*[a-zA-Z(]|\s+(?:and|or)\b)"
)
_LETTER = re.compile(r"(?<![a-zA-Z\\])[a-zA-Z](?![a-zA-Z])")
_DOMAIN = re.compile(
    r"(?P<words>[a-z\s-]*?)(?:\s*\b[a-zA-Z](?P<of>\s*(?:\\in|\\[gl]e|[<>]).*)?)?\Z", re.DOTALL
)
_WIDE = {"real", "complex", "number", "numbers", "values"}
_SAID_OF = {"Z": "integer", "N": "natural positive integer", "Q": "rational"}
_FOR_ALL = re.compile(
    r"\b(?:for (?:all|every|any|each)|set of|(?:from|on|over|of) the|defined on|functions? on)"
    r"((?:\W+\w+){1,4})",
    re.IGNORECASE,
)
_DENIES = re.compile(r"no|not|false|never|none|cannot|impossible|nor|neither|nobody|nothing|.*n't")
_BARE_WORDS = re.compile(
    r"it|its|they|he|she|we|this|that|these|those|there|such|so|always|is|are|was|were|do"
    r"|does|did|can|could|will|would|must|should|may|has|have|be|exist|exists|true"
    r"|possible|in|general|the|a|an|any|need|necessarily"
)
_WIDE_CLAIMS = {"always", "any", "general", "necessarily"}  # more than what may be
_POSSIBLE = {"can", "could", "exist", "exists", "possible"}
_NUMBER = re.compile(r"\d+")
_DOUBTS = re.compile(
    r"\b(?:if|unless|except|only|but|maybe|perhaps|or|yes|although|while)\b", re.IGNORECASE
)
_FROM_ZERO = re.compile(r"(?:>0|\\ge1)\Z")
_POSITIVE = re.compile(r"positive|natural|>0|R\^\+|\\mathbbN|\\ge1")
_IDENTICAL = re.compile(r"(?:\A|(?<=\s))([f-hF-HP-Q](?:\([a-z]\))?)\s*\\equiv(?!.*mod)")
_BOUND = re.compile(r"(?:(\\ge|≥)|\\le|≤)(?:q|qslant)?\s*\Z")
_EXTREMES = (  # that have such a bound
    re.compile(r"min|least|small|low|range|inequal", re.I),
    re.compile(r"max|most|greatest|larg|high|range|inequal", re.I),
)
_LABEL = re.compile(r"\A(?:the )?(?:final |correct )?answer(?: is|:| is:) +(?=\S)|\Aeither ", re.I)
_IS = re.compile(r"\A([a-zA-Z]) (?:is|equals) (?=[-\d\\])")
_DOLLARS = re.compile(r"\AUS(?:D *|(?=\\?\$))(?:\\?\$)? *(?=\d)")
_CONSTANTS = re.compile(r"(?<![a-zA-Z\\])[EI](?![a-zA-Z])")  # of Python, as letters in LaTeX


@dataclass(frozen=True)
class MathGrader(Grader):
    r"""A grader of the last boxed answer of a sample.

    A comparison has a budget of steps; an answer that needs more is graded wrong, on any machine.
    docs/rewards.md lists what is accepted and what is refused.

    Attributes:
        relative_tolerance: The largest relative error of a decimal that is accepted.
        units: Whether a unit may be missing on one side.
        unevaluated: Whether an operation may be left to do: `2^5 \cdot 3` for 96, `\sin 30^\circ`
            for a half, `2x+3<7` for `x<2`, `2+3` for 5.
        max_length: Characters of an answer; a longer answer is graded wrong.
        counts: The grades so far.

    >>> grader = MathGrader()
    >>> grader.grade(r"It is \boxed{\frac{3}{4}}.", "0.75").correct
    True
    >>> grader.grade("0.75, I think", "0.75").reason
    <Reason.NO_BOX: 'no box'>
    """

    relative_tolerance: float = 1e-6
    units: bool = False
    unevaluated: bool = False
    max_length: int = 2_000
    counts: GradeCounts = field(default_factory=GradeCounts, compare=False, repr=False)

    def __post_init__(self) -> None:
        if not self.max_length > 0:
            raise ValueError(f"max_length must be above 0, got {self.max_length}")
        if not 0 <= self.relative_tolerance < 1:
            tolerance = self.relative_tolerance
            raise ValueError(f"relative_tolerance must be in [0, 1), got {tolerance}")

    def grades(
        self,
        texts: Sequence[str],
        golds: Sequence[object],
        *,
        prompts: Sequence[object] | None = None,
        units: bool | None = None,
        error: float = 0.0,
    ) -> list[Grade]:
        """Return the grade of each sample.

        Args:
            texts: The samples, each with its answer in a box.
            golds: The gold answer of each sample.
            prompts: The problem of each sample, as text or messages. An answer that copies a
                formula of it is wrong, unless the gold stands there, too, and so is one that lacks
                the form that it asks for and that the gold has: factored, expanded, solved.
            units: Whether a unit may be missing on one side; None for the grader's own setting.
            error: The largest absolute error of a number that is accepted, in addition to the
                relative tolerance.

        Raises:
            ValueError: If there is not one gold, or not one prompt, for each sample, or if `error`
                is not finite.
        """
        check_lengths(texts, golds)
        if not 0 <= error < math.inf:
            raise ValueError(f"error must be finite, and 0 or more, got {error}")
        units = self.units if units is None else units
        if prompts is not None:
            check_lengths(texts, prompts, "prompt")
        rows = zip(texts, golds, prompts or [None] * len(texts), strict=True)
        grades = [self._guarded(text, gold, units, prompt) for text, gold, prompt in rows]
        if error:
            found = zip(grades, golds, strict=True)
            grades = [_within(grade, gold, units, error) for grade, gold in found]
        self.counts.add(grades)
        return grades

    def answer(self, text: str) -> str | None:
        """Return the normal form of what a sample states; None if it has no readable answer."""
        found = guarded(text, None, lambda: self.read(text))
        return None if isinstance(found, Reason | Grade) else spaceless(found)

    def gold_problems(self, golds: Sequence[object]) -> list[str | None]:
        """Return why each gold cannot be used for grading, or does not accept itself; None if fit.

        A gold can be used if its text shows no damage, a sample that boxes it is graded correct,
        and a sample that boxes a changed copy is graded wrong within the budget. Numbers and
        brackets of a gold without a declared type must have one reading.
        """
        return [self._problem(gold) for gold in golds]

    def _problem(self, gold: object) -> str | None:
        answer = gold_answer(gold)
        bare = gold.gold if isinstance(gold, Gold) else gold
        if not answer and not isinstance(bare, str):
            return f"neither text nor a number, but {type(bare).__name__}"
        if len(answer) > self.max_length:
            return f"longer than max_length, {self.max_length}"
        kind = type_of(gold)
        found = guarded(answer, gold, lambda: gold_problem(answer) or _open(answer, kind))
        if isinstance(found, Grade):
            return str(found.reason)
        return found or self._after_grading(answer, kind)

    def _guarded(self, text: str, gold: object, units: bool, prompt: object = None) -> Grade:
        return guarded(text, gold, lambda: self._graded(text, gold, units, problem_of(prompt)))

    def _graded(self, text: str, gold: object, units: bool, problem: str = "") -> Grade:
        stated, kind = gold_answer(gold), type_of(gold)
        if gold_problem(stated) or len(stated) > self.max_length:
            answer = self.read(text, kind=kind)
            return Grade(Reason.BAD_GOLD, None if isinstance(answer, Reason) else answer)
        written = turned(normal_form(stated), kind)
        gold_form = turned(_exact(written, kind, problem=problem), kind)
        letters, unit = "".join(_CONSTANTS.findall(gold_form)), split_unit(gold_form)[1]
        answer = self.read(text, letters, kind, problem, with_unit=bool(problem or unit))
        boxes = final_boxes(after_thinking(text) or "")
        if answer == Reason.SEVERAL_BOXES:
            answer = _listed(boxes, gold_form) or answer
        if answer == Reason.NO_ANSWER:
            strange = boxes.around(problem).strange
            found = Finding(False, "around", gold_form, detail=(strange,))
            return Grade(Reason.NO_ANSWER, finding=found)
        if isinstance(answer, Reason):
            return Grade(answer)
        if why := _said_around(gold_form, answer, boxes, problem):
            return Grade(Reason.DIFFERENT, answer, Finding(False, why, gold_form, answer))
        answer = _without_scale(gold_form, answer, problem)
        if same_text(answer, written):
            found = Finding(True, "same text", gold_form, answer)
            return Grade(Reason.EQUAL, answer, found)
        if damage(answer) and not choice_of(answer):
            return Grade(Reason.UNPARSABLE, answer)
        answer = _one_value(
            gold_form, _exact(answer, kind, about=False, problem=problem, gold=gold_form), problem
        )
        answer = _without_sum(gold_form, answer, problem)
        chosen = _chosen(gold_form, answer, problem)
        if chosen is None:
            return Grade(Reason.DIFFERENT, answer, Finding(False, "choice", gold_form, answer))
        chosen = in_one_time(gold_form, chosen, problem)
        answer = _first_word(gold_form, without_noun(gold_form, chosen, problem), problem)
        answer = without_base(gold_form, answer, problem)
        answer = (
            NUMERALS.get(answer.lower(), answer) if problem and read_number(gold_form) else answer
        )
        gold_form = in_degrees(gold_form, answer, problem)
        if why := refusal(gold_form, answer):
            return Grade(Reason(why), answer)
        about = said(problem)
        if names_another(parse(gold_form), parse(answer, gold_form), problem):
            return Grade(Reason.DIFFERENT, answer, Finding(False, "names", gold_form, answer))
        settings = self.relative_tolerance, units, self.unevaluated
        found = judged(gold_form, answer, *settings, kind, about)
        reason = _reason(found)
        if problem and reason == Reason.EQUAL and self._has_mark(written, answer, problem):
            return Grade(Reason.DIFFERENT, answer, Finding(False, "unit", gold_form, answer))
        if problem and reason == Reason.EQUAL and not (about.rounded or "." in gold_form):
            exact = judged(gold_form, answer, 0, *settings[1:], kind, about)
            reason = Reason.EQUAL if exact.equal else Reason.UNEVALUATED
        if problem and reason in (Reason.EQUAL, Reason.UNEVALUATED):
            reason = self._of_problem(reason, gold_form, answer, stem_of(problem), kind, about)
        return Grade(reason, answer, None if reason == Reason.COPIED else found)

    def _has_mark(self, gold: str, answer: str, problem: str) -> bool:
        """Whether an answer has a mark that nobody asked for; 50% of a share may be 0.5."""
        mark = unsaid_mark(gold, answer, problem)
        one, other = (read_number(value_of(parse(text)).text) for text in (gold, answer))
        if not one or not other or one.percent == other.percent:
            return bool(mark)
        bare, marked = (other, one) if one.percent else (one, other)
        asked = "%" in gold or not mark
        if not (asked or asks_for_share(problem)):
            return True
        if abs(bare.value) < 1 or (bare.value == 1 and not asked):
            return marked.value != 100 * bare.value
        return not (asked and bare.value == marked.value)

    def _of_problem(
        self, reason: Reason, gold: str, answer: str, problem: str, kind: str, about: Said
    ) -> Reason:
        """Return the reason why what is equal to the gold answers the problem, or does not."""
        parts = parse(gold), parse(answer, gold)
        if is_copied(*parts, problem):
            return Reason.COPIED
        if about.solved and is_named(parts[0]) and not _is_solved(*parts):
            return Reason.UNEVALUATED
        if reason == Reason.UNEVALUATED or choice_of(gold) or choice_of(answer):
            return reason
        bare = [parse(split_unit(split_currency(text)[0])[0]) for text in (gold, answer)]
        form, notation = is_another_form(*bare), is_another_notation(*bare)
        if not (form or notation):
            return Reason.EQUAL
        asked = about.notation or (form and about.form)
        asked = asked or (form and _asks_for_form(gold, problem, self.relative_tolerance, kind))
        return Reason.UNEVALUATED if asked else Reason.EQUAL

    def read(
        self,
        text: str,
        letters: str = "",
        kind: str = "",
        problem: str = "",
        with_unit: bool = False,
    ) -> str | Reason:
        """Return the normal form of a sample's answer, or the reason why it has no answer.

        In the syntax of Python, I and E are constants unless they are among `letters`. The type
        that a gold declares, `kind`, settles how numbers are read. A unit behind the box is part
        of the answer where somebody can know which one is right.
        """
        thought = after_thinking(text)
        if thought is None:
            return Reason.CUT_OFF
        boxes = final_boxes(thought)
        if not boxes.answers:
            return Reason.CUT_OFF if boxes.cut_off else Reason.NO_BOX
        if max(map(len, boxes.answers)) > self.max_length:
            return Reason.TOO_LONG
        around = boxes.around(problem)
        if around.strange:
            return Reason.NO_ANSWER
        forms = {spaceless(turned(normal_form(each, letters), kind)) for each in boxes.answers}
        if len(forms) > 1:
            return Reason.SEVERAL_BOXES
        whole = f"{around.before}{boxes.answers[-1]}{around.behind}{around.unit * with_unit}"
        stated = _LABEL.sub("", _DOLLARS.sub("$", normal_form(whole, letters)))
        stated = _IS.sub(r"\1=", stated)
        return turned(stated, kind) or Reason.NO_BOX

    def _after_grading(self, answer: str, kind: str) -> str | None:
        """Return why a gold cannot be used, as far as only grading finds it."""
        gold = Gold(answer, kind)
        if not self._guarded(rf"\boxed{{{answer}}}", gold, self.units).correct:
            return "does not accept itself"
        copies = _changed(normal_form(answer))
        others = [self._guarded(rf"\boxed{{{copy}}}", gold, self.units) for copy in copies]
        if others and all(other.correct for other in others):
            return f"accepts another answer: {copies[0]}"
        too_large = any(other.reason == Reason.TOO_LARGE for other in others)
        return str(Reason.TOO_LARGE) if too_large else None


@lru_cache(maxsize=4096)
def judged(
    gold: str,
    answer: str,
    relative_tolerance: float,
    units: bool,
    unevaluated: bool = False,
    kind: str = "",
    about: Said = NOTHING_SAID,
) -> Finding:
    """Return what is found about two normal forms within the budget."""

    def equal(one: Tree, other: Tree) -> bool | None:
        if letters_of(one) and _has_unit(one) != _has_unit(other):
            return False  # i may be an index or a current
        if any(has_modulus(tree, about.complex) for tree in (one, other)):
            roots = any(has(tree, {"root"}) for tree in (one, other))
            return None if roots else equal_rational(one, other)
        verdict = equal_rational(one, other)
        return equal_numeric(one, other, relative_tolerance) if verdict is None else verdict

    def read(reading: frozenset[str]) -> Finding:
        return compare(
            gold,
            answer,
            relative_tolerance=relative_tolerance,
            units=units,
            unevaluated=unevaluated,
            reading=reading | about.letters,
            kind=kind,
            about=about,
            algebra=lambda one, other: same_statement(one, other, equal, about.ordered),
        )

    first, *others = _different(gold, answer, kind)
    try:
        with budget(STEPS):
            found = read(first)
            for each in others:
                if bool(read(each).equal) != bool(found.equal):
                    ways = told(first ^ each)
                    return Finding(False, "two readings", gold, answer, detail=(ways,))
    except BudgetError:
        return Finding(False, "budget", gold, answer)
    return Finding(False, "undecided", gold, answer) if found.equal is None else found


@lru_cache(maxsize=1024)
def _asks_for_form(gold: str, problem: str, relative_tolerance: float, kind: str) -> bool:
    """Whether a formula of a problem is equal to the gold, and has another form."""
    settings = relative_tolerance, False, True, kind
    with budget(STEPS_OF_PROBLEM):  # no cached finding, which has a budget of its own
        return any(
            judged.__wrapped__(gold, each.text, *settings).equal
            for each in in_other_forms(parse(gold), problem)
        )


def _open(gold: str, kind: str) -> str | None:
    found = open_readings(turned(normal_form(gold), kind), kind)
    return f"two readings, {found}: declare its type" if found else None


def _different(gold: str, answer: str, kind: str) -> list[frozenset[str]]:
    """Return the readings in which a gold and an answer say different things."""
    found: dict[tuple[Part, Part], frozenset[str]] = {}
    for each in readings(gold, answer, kind):
        found.setdefault((parse_with(gold, each), parse_with(answer, each)), each)
    return [*found.values()]


def _has_unit(tree: Tree) -> bool:
    """Whether i occurs outside of a power of e."""
    if tree.op == "constant":
        return tree.text == "i"
    return (tree.op != "^" or tree.parts[0].text != "e") and any(map(_has_unit, tree.parts))


def _reason(found: Finding) -> Reason:
    if found.rule == "budget":
        return Reason.TOO_LARGE
    if found.decisive().rule == "unevaluated":
        return Reason.UNEVALUATED
    return Reason.EQUAL if found.equal else Reason.DIFFERENT


def _without_sum(gold: str, answer: str, problem: str) -> str:
    """Return the value of what the problem asks for, or the number of m + n = 113.

    Without a problem, u + v names no number, and a sum of other letters does.
    """
    part = parse(answer)
    if (part.kind, part.marks) != ("relation", "=") or parse(gold).kind == "relation":
        return answer
    name, value = part.parts
    asked = is_asked(name, problem) and not is_name(name)
    if asked or (problem and is_said(name.text, problem)):
        return value.text
    is_sum = not problem and re.match(r"[a-s](?:\+[a-s]){1,4}\Z", spaceless(name.text))
    return value.text if is_sum and read_number(gold) and read_number(value.text) else answer


def _one_value(gold: str, answer: str, problem: str = "") -> str:
    r"""Return one of several constants that are all equal: in the gold's notation, or the last.

    >>> _one_value("145", r"x=\frac{290}{2}=145"), _one_value("2", "1+1=3")
    ('x=145', '1+1=3')
    """
    part, right = parse(answer, gold), parse(gold)
    chain = part.kind == "relation" and {*part.marks.split()} == {"="}
    named = chain and (is_name(part.parts[0]) or is_asked(part.parts[0], problem))
    sides = part.parts[named:] if chain or (part.kind, part.marks) == ("list", "or") else ()
    trees = [each.parts[0].tree if each.kind == "percent" else each.tree for each in sides]
    constants = all(
        tree and not (letters_of(tree) or has(tree, {"apply", "word"})) for tree in trees
    )
    letters, last = part.parts[:-1], part.parts[-1:]
    if (
        chain
        and len(letters) > 1
        and right.kind == "()"
        and all(is_letter(each.text) for each in letters)
    ):
        return ", ".join(f"{each.text}={last[0].text}" for each in letters)
    if len(sides) < 2 or not constants or value_of(right).kind in ("relation", "list", "text"):
        return answer
    values = {each.tree and exact_value(each.tree, {}) for each in sides}  # 15·23 may be a size
    pairs = ((one.text, other.text, 0, False, True) for one, other in combinations(sides, 2))
    if (len(values) > 1 or None in values) and not all(judged(*each).equal for each in pairs):
        return answer
    alike = (each for each in reversed(sides) if in_same_notation(right, each))
    value = next(alike, sides[-1]).text
    return f"{part.parts[0].text}={value}" if named else value


def _is_solved(gold: Part, answer: Part) -> bool:
    """Whether an equation has the gold's name alone on one side; all else needs no name."""
    name = spaceless(gold.parts[0].text)
    return answer.marks != "=" or name in (spaceless(each.text) for each in answer.parts)


def _chosen(gold: str, answer: str, problem: str) -> str | None:
    """Return the letter of a choice or of a value, or the option if the gold has no letter.

    It is None if a value behind the letter is another option's, or the letter is no option's.

    >>> problem = "How many? (A) 45 (B) 66 (C) 72"
    >>> [_chosen("B", text, problem) for text in ("B. 66", "66", "B. 45")]
    ['B', 'B', None]
    >>> _chosen("66", "B", problem), _chosen("66", "B: 66", "How many $B$?")
    ('66', None)
    """
    options = options_of(problem)
    letter, text = choice_of(answer) or ("", "")
    option = options.get(letter)
    right = choice_of(gold)
    if right and same_text(options.get(right[0], ""), answer):
        return right[0]
    if option is None or (right and right[1]):
        return None if problem and text and not right else answer
    if text and not (same_text(option, text) or judged(option, text, 0.0, False).equal):
        return None if is_value(text) else answer
    return letter if right else option


def _first_word(gold: str, answer: str, problem: str = "") -> str:
    """Return the yes or no before its reason, or before the words of the question.

    >>> [_first_word("No", text) for text in ("No, it cannot", "No, but yes", "No, it can")]
    ['No', 'No, but yes', 'No, it can']
    """
    found = re.match(rf"{re.escape(gold)}\s*[,.;:]?\s(.*)\Z", answer, re.IGNORECASE | re.DOTALL)
    if not found or gold.lower() not in ("yes", "no", "true", "false"):
        return answer
    words, known = (re.findall("[a-z']+", text.lower()) for text in (found[1], problem))
    known = [ending for word in known for ending in (word, f"{word}s")] if problem else words
    if reason := re.match(r"(?:because|since|as)\s(.*)", found[1], re.DOTALL):
        about = not problem or {*_NUMBER.findall(reason[1])} & {*_NUMBER.findall(problem)}
        return gold if about and _is_true(parse(reason[1])) else answer
    left = [word for word in words if not (word in known or _BARE_WORDS.fullmatch(word))]
    denials = sum(_DENIES.fullmatch(word) is not None for word in words)
    same = denials == (gold.lower() in ("no", "false")) and not _NUMBER.search(found[1])
    wide = not denials and {*words} & _WIDE_CLAIMS - {*known} and {*known} & _POSSIBLE
    left = [word for word in left if not _DENIES.fullmatch(word)]
    return gold if words and same and not (wide or left or _DOUBTS.search(found[1])) else answer


def _is_true(reason: Part) -> bool:
    """Whether a reason is an equation between numbers, and true; what words say is not judged."""
    sides = [each.text for each in reason.parts]
    equation = (reason.kind, reason.marks, len(sides)) == ("relation", "=", 2)
    return equation and bool(judged(*sides, 0, False, True).equal)


def _changed(form: str) -> list[str]:
    r"""Return a gold with other numbers or another letter in it, which are wrong answers.

    One of them may be right: \binom{5}{2} is \binom{5}{3}.

    >>> _changed(r"\frac{1}{2}x"), _changed("x")
    (['\\frac{1}{3}x', '\\frac{1}{4}x'], ['w'])
    """
    numbers = list(re.finditer(r"(?<![\d.])\d{1,300}(?!\d)", form))
    if numbers:
        last = numbers[-1]
        more = (int(last[0]) + step for step in (1, 2))
        return [f"{form[: last.start()]}{number}{form[last.end() :]}" for number in more]
    letters = list(re.finditer(r"(?<![\\a-zA-Z])[a-zA-Z](?![a-zA-Z])", form))
    if not letters:
        return []
    free = next(letter for letter in "wzqj" if letter not in form)
    return [f"{form[: letters[-1].start()]}{free}{form[letters[-1].end() :]}"]


def _said_around(gold: str, answer: str, boxes: FinalBoxes, problem: str) -> str | None:
    """Return the rule by which the name or the sign before a box, or the unit, is another one."""
    name = spaceless(normal_form(boxes.names[0])) if len(boxes.answers) == 1 else ""
    if name and leads_to_another(parse(gold), name, problem):
        return "names"
    own, unit = (
        one_name(split_currency(text)[1] or split_unit(text)[1]) for text in (gold, answer)
    )
    asked = asked_units(problem)
    if unit and asked and not own and {unit, unit.partition("/")[0]}.isdisjoint(asked):
        return "unit"
    bound = _BOUND.search(boxes.before)
    extremes = _EXTREMES[bound[1] is None] if bound and problem else None
    return "relation" if extremes and not extremes.search(problem) else None


def _without_scale(gold: str, answer: str, problem: str) -> str:
    """Return a number without the scale in which the problem asks for it.

    >>> _without_scale("4", "4 million", "How many millions?")
    '4'
    """
    found = re.match(r"(.*\d)\s+((?:dozen|hundred|thousand|[bmtr]+illion)s?)\b(.*)", answer)
    scale = found[2].removesuffix("s") if found else ""
    asked = found and scale in asked_scales(problem) and scale not in gold
    return f"{found[1]}{found[3]}" if found and asked else answer


def _listed(boxes: FinalBoxes, gold: str) -> str | None:
    """Return several boxes as one list, if only commas are between them and the gold is a list."""
    part = parse(gold)
    members = value_of(part).parts if value_of(part).kind in ("list", "{}", "()") else ()
    if not boxes.joined or len(members) != len(boxes.answers):
        return None
    named = all(boxes.names) and all(is_name(parse(normal_form(each))) for each in boxes.names)
    boxed = zip(boxes.names, boxes.answers, strict=True)
    return normal_form(", ".join(f"{name}={box}" if named else box for name, box in boxed))


def _is_refused(remark: re.Match[str], problem: str, of_gold: bool) -> bool:
    """Whether an answer's remark is about a root, or a letter's values, and the problem is not."""
    if of_gold or not problem:
        return _is_narrower(remark["domain"], problem)
    if remark["root"]:
        return re.search("(?i)root|solv|solution|zero", question_of(problem)) is None
    known = _LETTER.search(remark.string[: remark.start()])
    known = known or re.search(r"\bfunction|[a-z]\s*\([a-z]\)", problem)
    return _is_narrower(remark["domain"], problem) or bool(remark["domain"] and not known)


def _is_narrower(domain: str | None, problem: str) -> bool:
    r"""Whether "for all natural x" says of which x, and the problem does not.

    >>> problem = r"Find all $f: \mathbb{R}^+ \to \mathbb{R}^+$."
    >>> [_is_narrower(text, problem) for text in ("x", r"x\in \mathbb{R}^+", "x>0", "natural x")]
    [False, False, False, True]
    """
    found = _DOMAIN.match(domain or "")
    if not found:
        return True
    text = re.sub(r"[{}\s]", "", normal_form(problem))
    limits = re.sub(r"[{}\s]|\\in(?![a-z])", "", found["of"] or "")
    of_function = re.search(r":\\mathbb(\w)(\^\+|_\+|_>0)?\\(?:to|rightarrow)", text)
    if _FROM_ZERO.match(limits):
        positive = of_function and (of_function[2] or of_function[1] == "N")
        return not (positive if of_function else _POSITIVE.search(text))
    words = {*re.findall("[a-z]{3,}", found["words"])} - _WIDE
    known = " ".join(_FOR_ALL.findall(problem))
    if of_function:
        known = _SAID_OF.get(of_function[1], "") + " positive" * bool(of_function[2])
    return limits not in text or not all(word.removesuffix("s") in known for word in words)


def _exact(stated: str, kind: str, about: bool = True, problem: str = "", gold: str = "") -> str:
    """Return what is stated before it says how much that is about; x ≈ 2.35 is x = 2.35.

    Where the gold is a decimal, that is what is said of it.

    If the gold declares a value, AB = CD names the value CD.
    """
    stated = _IDENTICAL.sub(lambda found: _function(found[1], problem), stated)
    stated = _REMARK.sub(lambda found: found[0] * _is_refused(found, problem, about), stated)
    part = parse(stated)
    if (part.kind, part.marks) == ("relation", r"= \approx") and is_name(part.parts[0]):
        name, *sides = (each.text for each in part.parts)
        chain = r" \approx ".join(sides)
        value = _exact(chain, kind, about, problem, gold)
        return stated if value == chain else f"{name}={value}"
    if (part.kind, part.marks) == ("relation", r"\approx"):
        exact, rounded = (each.text for each in part.parts)
        if not exact or is_name(part.parts[0]):
            named = f"{exact}={rounded}" if exact else rounded
            return named if about or "." in rounded else stated  # about 30 is not 30
        if about:
            return exact
        is_rounded = read_number(rounded) and judged(exact, rounded, LEAST_PLACES, False).equal
        right = read_number(gold)
        if said(problem).rounded and _rounds_to_whole(exact, rounded):
            return rounded
        return (rounded if right and right.decimal else exact) if is_rounded else stated
    names = kind not in ("", "equation", "text") and are_points(part)
    return part.parts[1].text if names else stated


def _function(name: str, problem: str) -> str:
    """Return the name before an identity; a function's letter, f of f(x), is none."""
    is_function = re.search(rf"(?<![a-zA-Z]){name}\s*(?:\\left)?[(:]", problem)
    return "" if len(name) == 1 and (is_function or not problem) else f"{name}="


def _rounds_to_whole(exact: str, rounded: str) -> bool:
    """Whether a number is rounded to a whole one."""
    one, other = read_number(exact), read_number(rounded)
    if not one or not other or one.percent != other.percent:
        return False
    return math.floor(one.value + Fraction(1, 2)) == other.value


def _within(grade: Grade, gold: object, units: bool, error: float) -> Grade:
    """Return the grade, or a right one if the answer is a number within the accepted error.

    >>> _within(Grade(Reason.DIFFERENT, "4.3"), "4.2", units=False, error=0.1).correct
    True
    """
    if grade.reason != Reason.DIFFERENT or grade.answer is None:
        return grade
    forms = [grade.answer, normal_form(gold_answer(gold))]
    bare = [value_of(parse(form)).text for form in forms]
    answer, right = (read_number(split_unit(text)[0] if units else text) for text in bare)
    marks = [one_name(split_money(text)[1] or split_unit(text)[1]) for text in bare]
    if answer is None or right is None or (all(marks) and marks[0] != marks[1]):
        return grade
    if answer.percent != right.percent and not units:  # else the sign is the unit
        answer, right = _unmarked(answer), _unmarked(right)
    is_near = abs(answer.value - right.value) <= Fraction(str(error))
    found = Finding(True, "within the error", forms[1], forms[0])
    return replace(grade, reason=Reason.EQUAL, finding=found) if is_near else grade


def _unmarked(number: Number) -> Number:
    """Return a number without its percent sign, which means a hundredth."""
    return replace(number.times(Fraction(1, 100)), percent=False) if number.percent else number


def grade(text: str, gold: object, *, prompt: object = None) -> Grade:
    r"""Return the grade of one sample, by a `MathGrader` that all calls share.

    >>> grade(r"\boxed{x^4+64}", "(x^2-4x+8)(x^2+4x+8)", prompt="Factor $x^4+64$.").reason
    <Reason.COPIED: 'copied'>
    """
    return shared().grade(text, gold, prompt=prompt)


@cache
def shared() -> MathGrader:
    """Return the grader of all calls that name none."""
    return MathGrader()
