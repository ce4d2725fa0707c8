"""What a claim is, and how a check decides whether it holds.

A claim compares a quantity: two sides, the relation between them, and the number or the formula if
a side is one. Its check measures the sides, and knows neither the relation nor the verdict:
`examine` applies the relation to what the check found, evaluates formulas, and concludes. So a row
with another relation, another number or another formula is not confirmed.

The texts of a row hold the quantity where they say "$q", and numbers where they say "$name": what
the check found or tried under this name. No other number stands in a text. Digits between ⟦ and ⟧
are a formula in words, or words of the source. **No check reads these, nor the other words**: a
sentence that says "smaller" for "larger" beside its quantity is found out only by a reader.

A check is called once for each case of its claim, smallest case first, and yields trials. A claim
is confirmed when the conclusion is the verdict that it carries, and when the check finds again what
the row pins: how many trials of each part there were and how many failed, the first counterexample,
and how near the trials come to the number of the row.

>>> from itertools import product
>>> @claim("sum", "A book", "p. 1", Verdict.FAILS, compares=("1 + … + n", "=", Formula("n²/2")),
...        how="adding, n = $n", counterexample="n=1, sum=1", tried="3 of 3 stated, 3 corrected",
...        nearest="1/2",
...        truth=f"{Formula('n(n + 1)/2')}", cases=product(range(1, 4)))
... def sum_of_numbers(n):
...     '''$q.'''
...     yield stated(sum(range(n + 1)), n=n, sum=sum(range(n + 1)))
...     yield corrected(sum(range(n + 1)) == Formula("n(n + 1)/2")(n=n), n=n)
>>> finding = examine(sum_of_numbers)
>>> finding.statement, finding.concluded.value, finding.confirmed
('1 + … + n = n²/2.', 'fails', True)
>>> finding.say(sum_of_numbers.how)
'adding, n = 1, 2, 3'
"""

from __future__ import annotations

import operator
import re
import time
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from enum import Enum
from fractions import Fraction
from inspect import signature
from itertools import chain
from math import lcm
from typing import Any

from claims.formulas import Formula
from setrl.support import names

# The documents whose claims are checked, in the order of the page.
NOTE = "Set RL note (Hamid, Orney, Sadigh, Finn, Goodman)"
TUTORIAL = "Poly-EPO tutorial"
SUMMARIES = "Poly-EPO summaries"
MAXPO = "MaxPO review (arXiv:2606.06080)"
BEYOND = "Beyond the sources (docs/theory.md)"  # our own results, checked in the same way
DOCUMENTS = (NOTE, TUTORIAL, SUMMARIES, MAXPO, BEYOND)


class Verdict(Enum):
    """The result for a statement."""

    HOLDS = "holds"
    UP_TO_SCALE = "holds up to scale"
    READING = "reading"  # read strictly it fails; read kindly it holds
    FAILS = "fails"
    DEFINITION = "definition"
    INCONCLUSIVE = "inconclusive"


# What a row may be called instead of its verdict: true without a check, or false in another way
# than by what its author means.
WORDS = {
    Verdict.HOLDS: ("holds by construction",),
    Verdict.FAILS: ("inconsistent", "misprint", "analogy", "pseudocode"),
}

# Verdicts whose statement, as it stands, has a counterexample.
REFUTED = (Verdict.UP_TO_SCALE, Verdict.READING, Verdict.FAILS)


class Part(Enum):
    """What a trial is about."""

    STATED = "stated"  # the statement as it stands
    SCALED = "scaled"  # the statement with the scale put in
    KIND = "kind"  # the kind reading of the statement
    CORRECTED = "corrected"  # the corrected statement
    CONTROL = "control"  # the relation of the statement, where it must hold
    REMARK = "remark"  # what else the row says; it must hold


# Parts whose trials measure sides, to which the relation of the row is applied.
COMPARING = (Part.STATED, Part.SCALED, Part.CONTROL)


def rounds_to(found: Any, printed: float, digits: int) -> bool:
    """Return whether a printed number is the found one, up to half a unit of its last digit."""
    return abs(float(found) - printed) <= 0.5 * 10.0**-digits + 1e-12


def _rounds_to_printed(found: Sequence[Any], printed: Sequence[str]) -> bool:
    """Return whether the numbers round to the printed ones."""
    return len(found) == len(printed) and all(
        rounds_to(number, float(text.replace("−", "-")), len(text.partition(".")[2]))
        for number, text in zip(found, printed, strict=True)
    )


def _are_printed(side: Any) -> bool:
    return isinstance(side, tuple) and all(isinstance(one, str) for one in side)


RELATIONS: dict[str, Callable[[Any, Any], bool]] = {
    "=": operator.eq,
    "≠": operator.ne,
    "<": operator.lt,
    "≤": operator.le,
    ">": operator.gt,
    "≥": operator.ge,
    "≈": _rounds_to_printed,
    "exactly if": operator.is_,
    "always": lambda left, _: left,
    "never": lambda left, _: not left,
}
OF_ONE_SIDE = ("always", "never")
OF_TRUTHS = ("exactly if", *OF_ONE_SIDE)
OF_NUMBERS = ("<", "≤", ">", "≥")

Number = int | float | Fraction


def _is_number(side: Any) -> bool:
    return isinstance(side, Number) and not isinstance(side, bool)


@dataclass(frozen=True)
class Quantity:
    """What a claim compares.

    Attributes:
        left: The side that a check measures, in words; or the formula that it is.
        relation: A name of `RELATIONS`; "always" and "never" are only about the left side.
        right: The other side, in words; or the number, the printed numbers, or the formula.
    """

    left: str | Formula
    relation: str
    right: Any = None

    def __post_init__(self) -> None:
        names.look_up("relation", self.relation, RELATIONS)
        if (self.right is None) is not (self.relation in OF_ONE_SIDE):
            raise ValueError(f"{self.relation!r} needs another number of sides")

    def sides(self, measured: tuple[Any, ...], values: Mapping[str, Any]) -> tuple[Any, Any]:
        """Return both sides: formulas for these letters, the number of the row, or the measured."""
        found = iter(measured)
        left = self.left(**values) if isinstance(self.left, Formula) else next(found)
        if isinstance(self.right, Formula):
            return left, self.right(**values)
        return left, next(found, self.right)

    def holds(self, measured: tuple[Any, ...], values: Mapping[str, Any]) -> bool:
        """Apply the relation to the sides, which must be what it can compare."""
        sides = self.sides(measured, values)
        asked = sides[: 1 if self.relation in OF_ONE_SIDE else 2]
        truths = [isinstance(side, bool) for side in asked]
        if self.relation in OF_TRUTHS and not all(truths):
            raise TypeError(f"{self.relation!r} compares what is true or not, not {asked}")
        if self.relation not in OF_TRUTHS and any(truths):
            raise TypeError(f"{self.relation!r} does not compare what is true or not: {asked}")
        if self.relation in OF_NUMBERS and not all(map(_is_number, asked)):
            raise TypeError(f"{self.relation!r} orders numbers, not {asked}")
        if (self.relation == "≈") is not _are_printed(asked[-1]):
            raise TypeError(f"'≈', and nothing else, compares with printed numbers, not {asked}")
        return RELATIONS[self.relation](*sides)

    def gap(self, measured: tuple[Any, ...], values: Mapping[str, Any]) -> Any:
        """Return how far a trial lies from the number or formula of the row, if it has one."""
        if not (_is_number(self.right) or isinstance(self.right, Formula)):
            return None
        left, right = self.sides(measured, values)
        return abs(left - right)

    def __str__(self) -> str:
        """Write both sides, as the sentence of the claim has them."""
        if self.right is None:
            return f"{self.left}: {self.relation}"
        right = self.right
        if not isinstance(right, str | Formula):
            right = ", ".join(right) if isinstance(right, tuple) else _in_text(right)
        return f"{self.left} {self.relation} {right}"


@dataclass(frozen=True)
class Trial:
    """One case of one part of a row.

    Attributes:
        part: The part.
        sides: Of parts in `COMPARING`: the sides that were measured. Of the others: whether it
            held.
        values: The numbers of the case.
    """

    part: Part
    sides: tuple[Any, ...]
    values: dict[str, Any]


@dataclass(frozen=True)
class Shown:
    """Numbers and words for the texts of a row, by name."""

    values: dict[str, Any]


Trials = Iterator[Trial | Shown]
Check = Callable[..., Iterable[Trial | Shown]]


def stated(*sides: Any, **values: Any) -> Trial:
    """Make a trial of the statement as it stands, from the sides that are measured."""
    return Trial(Part.STATED, sides, values)


def control(*sides: Any, **values: Any) -> Trial:
    """Make a trial that shows the relation of a statement where it holds."""
    return Trial(Part.CONTROL, sides, values)


def shown(**values: Any) -> Shown:
    """Give the texts of the row what they say as "$name"."""
    return Shown(values)


def scaled(*sides: Any, **values: Any) -> Trial:
    """Make a trial of the statement with its scale put into one of the sides."""
    return Trial(Part.SCALED, sides, values)


def kind(held: bool, **values: Any) -> Trial:
    """Make a trial of the kind reading of the statement."""
    return Trial(Part.KIND, (held,), values)


def corrected(held: bool, **values: Any) -> Trial:
    """Make a trial of the corrected statement."""
    return Trial(Part.CORRECTED, (held,), values)


def remark(held: bool, **values: Any) -> Trial:
    """Make a trial of anything else that the row says; a definition has only these."""
    return Trial(Part.REMARK, (held,), values)


@dataclass(frozen=True)
class Claim:
    """One row of the ledger.

    In its texts "$name" stands for what the check shows, tries or is given under this name;
    "$name.most", "$name.least" and "$name.number" for the largest value, the smallest and how many
    there are, "$name.denominator" for the largest denominator. ⟦ and ⟧ enclose what no check reads.

    Attributes:
        id: Short name, unique in the ledger.
        document: The title of the document that makes the claim.
        where: Section, equation or number in the document.
        text: The claim in our words; "$q" stands for the quantity, which else comes at the end.
        quantity: What is compared; None for a definition.
        verdict: What the check must conclude.
        word: One of `WORDS`, to call the verdict by; "" for its own name.
        how: How it is checked.
        truth: What holds instead, the scale, or what can be added.
        kindly: The kind reading, which holds, of a statement that fails when read strictly.
        counterexample: The first case in which the statement, as it stands, does not hold, in the
            form of `write`.
        tried: How many trials of each part there were, such as "3 of 12 stated, 7 remark" if 3
            trials of the statement did not hold.
        nearest: How near the trials come to the number or formula of the row; "" if one is equal.
        check: Yields the trials of one case.
        cases: The arguments of the check, smallest case first.
    """

    id: str
    document: str
    where: str
    text: str
    quantity: Quantity | None
    verdict: Verdict
    word: str
    how: str
    truth: str
    kindly: str
    counterexample: str
    tried: str
    nearest: str
    check: Check
    cases: Sequence[tuple[Any, ...]]

    def __post_init__(self) -> None:
        needs_truth = self.verdict in (Verdict.FAILS, Verdict.UP_TO_SCALE)
        if needs_truth and not self.truth:
            raise ValueError(f"claim {self.id!r} {self.verdict.value}: give `truth`")
        if self.counterexample and self.verdict not in REFUTED:
            raise ValueError(f"claim {self.id!r} {self.verdict.value}: give `counterexample`")
        if bool(self.kindly) is not (self.verdict is Verdict.READING):
            raise ValueError(f"claim {self.id!r}: give `kindly` if and only if it is a reading")
        if self.word and self.word not in WORDS.get(self.verdict, ()):
            raise ValueError(f"claim {self.id!r} {self.verdict.value}: it cannot be {self.word!r}")

    @property
    def sentence(self) -> str:
        """The text with the quantity; its other names are not replaced yet."""
        if self.quantity is None:
            return self.text
        if re.search(r"\$q\b", self.text):
            return re.sub(r"\$q\b", lambda _: str(self.quantity), self.text)
        return f"{self.text.removesuffix('.')} ({self.quantity})."

    @property
    def name(self) -> str:
        """What the verdict is called."""
        return self.word or self.verdict.value

    def held(self, trial: Trial) -> bool:
        """Return whether a trial held."""
        if trial.part not in COMPARING:
            return bool(trial.sides[0])
        if self.quantity is None:
            raise ValueError(f"claim {self.id!r} states something: give `compares`")
        return self.quantity.holds(trial.sides, trial.values)

    def gap(self, trial: Trial) -> Any:
        """Return how far a trial of the statement lies from the number of the row."""
        if self.quantity is None or trial.part is not Part.STATED:
            return None
        return self.quantity.gap(trial.sides, trial.values)


def claim(
    id: str,
    document: str,
    where: str,
    verdict: Verdict,
    *,
    compares: tuple[Any, ...] = (),
    word: str = "",
    how: str,
    truth: str = "",
    kindly: str = "",
    counterexample: str = "",
    tried: str = "",
    nearest: str = "",
    cases: Iterable[tuple[Any, ...]] = ((),),
) -> Callable[[Check], Claim]:
    """Make a claim from the function below; its docstring is the statement."""
    listed = tuple(cases)

    def of(check: Check) -> Claim:
        return Claim(
            id=id,
            document=document,
            where=where,
            text=" ".join((check.__doc__ or "").split()),
            quantity=Quantity(*compares) if compares else None,
            verdict=verdict,
            word=word,
            how=how,
            truth=truth,
            kindly=kindly,
            counterexample=counterexample,
            tried=tried,
            nearest=nearest,
            check=check,
            cases=listed,
        )

    return of


@dataclass(frozen=True)
class Tally:
    """How many trials of a part there were, and the first that failed."""

    trials: int = 0
    failures: int = 0
    first_failure: dict[str, Any] | None = None
    last: dict[str, Any] | None = None

    def add(self, held: bool, values: dict[str, Any]) -> Tally:
        """Return the tally with one more trial."""
        first = self.first_failure if held or self.failures else values
        return Tally(self.trials + 1, self.failures + (not held), first, values)


@dataclass(frozen=True)
class Finding:
    """The result of a check.

    Attributes:
        claim: The row.
        tallies: The trials of each part.
        gap: The smallest distance of a trial from the number of the row.
        words: What the texts of the row may name.
        concluded: What the trials say.
        seconds: How long the check took.
    """

    claim: Claim
    tallies: dict[Part, Tally]
    gap: Any
    words: Mapping[str, Any]
    concluded: Verdict
    seconds: float

    def say(self, text: str) -> str:
        """Put what was found and tried into a text of the row."""
        return fill(text, self.words)

    @property
    def statement(self) -> str:
        """The sentence of the claim."""
        return self.say(self.claim.sentence)

    @property
    def name(self) -> str:
        """What the conclusion is called: the word of the row, if it is the row's verdict."""
        row = self.claim
        return row.name if self.concluded is row.verdict else self.concluded.value

    @property
    def confirmed(self) -> bool:
        """Whether the check reached the verdict, and found again what the row pins."""
        found = self.concluded, self.counterexample, self.tried, self.nearest
        row = self.claim
        return found == (row.verdict, row.counterexample, row.tried, row.nearest)

    @property
    def trials(self) -> int:
        """Number of trials of all parts."""
        return sum(tally.trials for tally in self.tallies.values())

    @property
    def counterexample(self) -> str:
        """The first case in which the unchanged statement failed; "" if it held."""
        failure = self.tallies[Part.STATED].first_failure
        return "" if failure is None else write(failure)

    @property
    def refuted(self) -> str:
        """How many trials of the statement as it stands did not hold."""
        tally = self.tallies[Part.STATED]
        return f"{tally.failures} of {tally.trials}" if tally.failures else ""

    @property
    def tried(self) -> str:
        """How many trials of each part there were, and how many of them did not hold."""
        return ", ".join(
            f"{tally.failures} of {tally.trials} {part.value}"
            if tally.failures
            else f"{tally.trials} {part.value}"
            for part, tally in self.tallies.items()
            if tally.trials
        )

    @property
    def nearest(self) -> str:
        """How near the trials come to the number of the row."""
        return _word(self.gap) if self.gap else ""

    @property
    def evidence(self) -> str:
        """The counterexample, or else the numbers of the last case."""
        shown = self.tallies[Part.STATED].last or self.tallies[Part.REMARK].last or {}
        return self.counterexample or write(shown)


def examine(row: Claim) -> Finding:
    """Run a row's check and conclude from its trials."""
    start = time.perf_counter()
    found = run(row)
    return judge(row, found, time.perf_counter() - start)


def run(row: Claim) -> list[Trial | Shown]:
    """Return what a row's check yields."""
    return list(chain.from_iterable(row.check(*case) for case in row.cases))


def judge(row: Claim, found: Sequence[Trial | Shown], seconds: float = 0) -> Finding:
    """Conclude from what a row's check yielded."""
    tallies = {part: Tally() for part in Part}
    trials = [one for one in found if isinstance(one, Trial)]
    for trial in trials:
        tallies[trial.part] = tallies[trial.part].add(row.held(trial), trial.values)
    gap = min((g for g in map(row.gap, trials) if g is not None), default=None)
    return Finding(row, tallies, gap, _words(row, found), conclude(tallies), seconds)


def _words(row: Claim, found: Sequence[Trial | Shown]) -> dict[str, Any]:
    """Collect what texts may name: what is shown, and all values of a name in trials or cases."""
    tried: dict[str, list[Any]] = {}
    said: dict[str, Any] = {}
    for name, *values in zip(signature(row.check).parameters, *row.cases, strict=False):
        tried[name] = values
    for one in found:
        for name, value in one.values.items():
            if isinstance(one, Trial):
                tried.setdefault(name, []).append(value)
            elif said.setdefault(name, value) != value:
                raise ValueError(f"${name} is both {_in_text(said[name])} and {_in_text(value)}")
    return {**{name: Tried(tuple(values)) for name, values in tried.items()}, **said}


def conclude(tallies: dict[Part, Tally]) -> Verdict:
    """Return the verdict that the trials support.

    A statement fails only if its correction was tried too and held in every case; it depends on the
    reading only if the kind reading held in every case. Nothing is concluded if a scale, a kind
    reading, a correction, a control or a remark failed.
    """
    others = [tallies[part] for part in Part if part is not Part.STATED]
    if any(tally.failures for tally in others):
        return Verdict.INCONCLUSIVE
    if not tallies[Part.STATED].trials:
        return Verdict.DEFINITION if tallies[Part.REMARK].trials else Verdict.INCONCLUSIVE
    if not tallies[Part.STATED].failures:
        return Verdict.HOLDS
    if tallies[Part.SCALED].trials:
        return Verdict.UP_TO_SCALE
    if tallies[Part.KIND].trials:
        return Verdict.READING
    return Verdict.FAILS if tallies[Part.CORRECTED].trials else Verdict.INCONCLUSIVE


@dataclass(frozen=True)
class Tried:
    """The values of one name in the trials of a row."""

    values: tuple[Any, ...]

    def __str__(self) -> str:
        """Write the different values, ascending; three dots within a run of numbers.

        >>> str(Tried((3, 2, 3, 4, 6))), str(Tried((2, 3, 4, 5)))
        ('2, 3, 4, 6', '2…5')
        """
        listed = sorted(set(self.values))
        whole = all(isinstance(one, int) for one in listed)
        if whole and len(listed) > 3 and listed == list(range(listed[0], listed[-1] + 1)):
            return f"{_in_text(listed[0])}…{_in_text(listed[-1])}"
        return ", ".join(map(_in_text, listed))

    @property
    def most(self) -> Any:
        """The largest value."""
        return max(self.values)

    @property
    def least(self) -> Any:
        """The smallest value."""
        return min(self.values)

    @property
    def number(self) -> int:
        """How many different values there are."""
        return len(set(self.values))

    @property
    def denominator(self) -> int:
        """The largest denominator of a number, or of a policy's probabilities together."""
        policies = (one if isinstance(one, tuple) else (one,) for one in self.values)
        return max(lcm(*(Fraction(q).denominator for q in p)) for p in policies)


_NAME = re.compile(r"\$\{?(\w+)(?:\.(most|least|number|denominator))?\}?")


def fill(text: str, words: Mapping[str, Any]) -> str:
    """Replace the names of a text by what they stand for, and remove the marks.

    >>> fill("$half of ⟦1/n⟧, n ≤ $n.most", {"half": Fraction(-1, 2), "n": Tried((2, 3))})
    '−1/2 of 1/n, n ≤ 3'
    """

    def word(match: re.Match[str]) -> str:
        value = words[match[1]]
        return _in_text(getattr(value, match[2]) if match[2] else value)

    return _NAME.sub(word, text).replace("⟦", "").replace("⟧", "")


def _in_text(value: Any) -> str:
    if isinstance(value, Number):
        text = f"{value:,}" if isinstance(value, int) else _word(value)
        return text.replace("-", "−")
    if isinstance(value, list):
        return ", ".join(map(_in_text, value))
    return "(" + ", ".join(map(_in_text, value)) + ")" if isinstance(value, tuple) else str(value)


def rounded(value: Any, digits: int) -> str:
    """Write a number for a text, rounded to this many digits.

    >>> rounded(Fraction(-2, 3), 2)
    '−0.67'
    """
    return f"{float(value):.{digits}f}".replace("-", "−")


def percent(share: Any) -> str:
    """Write a share in per cent.

    >>> percent(Fraction(1, 5))
    '20 %'
    """
    return f"{float(100 * share):g} %"


def write(values: dict[str, Any]) -> str:
    """Write the numbers of a case: fractions as fractions, floats to four digits.

    >>> from fractions import Fraction
    >>> write({"π": (Fraction(1, 3), Fraction(2, 3)), "A": -0.12345})
    'π=(1/3, 2/3), A=-0.1235'
    """
    return ", ".join(f"{name}={_word(value)}" for name, value in values.items())


def _word(value: Any) -> str:
    if isinstance(value, tuple | list):
        return "(" + ", ".join(map(_word, value)) + ")"
    if isinstance(value, float):
        return f"{value:.4g}"
    return str(value)
