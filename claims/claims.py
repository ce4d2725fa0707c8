"""What a claim is, and how a check decides whether it holds.

A claim compares a quantity: two sides in words, the relation between them, and the number if a side
is one. Its sentence is made from these words. Its check measures the sides, and knows neither the
relation nor the verdict: `examine` applies the relation to what the check found, and concludes. So
a sentence with another relation, or another number, has another verdict.

A check is called once for each case of its claim, smallest case first, and yields trials. A claim
is confirmed when the conclusion is the verdict that it carries. A claim that fails, that depends on
its reading or that holds up to scale also carries its first counterexample and how many of its
trials are counterexamples; the check must find both again.

>>> from itertools import product
>>> @claim("sum", "A book", "p. 1", Verdict.FAILS, compares=("1 + … + n", "=", "n²/2"),
...        how="adding", counterexample="n=1, sum=1", refuted="3 of 3", truth="n(n + 1)/2",
...        cases=product(range(1, 4)))
... def sum_of_numbers(n):
...     '''$q.'''
...     yield stated(sum(range(n + 1)), n**2 / 2, n=n, sum=sum(range(n + 1)))
...     yield corrected(2 * sum(range(n + 1)) == n * (n + 1), n=n)
>>> finding = examine(sum_of_numbers)
>>> sum_of_numbers.statement, finding.concluded.value, finding.confirmed
('1 + … + n = n²/2.', 'fails', True)
"""

from __future__ import annotations

import operator
import time
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from enum import Enum
from itertools import chain
from typing import Any

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
    REMARK = "remark"  # what else the row says; it must hold


def rounds_to(found: Any, printed: float, digits: int) -> bool:
    """Return whether a printed number is the found one, up to half a unit of its last digit."""
    return abs(float(found) - printed) <= 0.5 * 10.0**-digits + 1e-12


def _is_printed(found: Sequence[Any], printed: Sequence[str]) -> bool:
    """Return whether the numbers round to the printed ones."""
    return len(found) == len(printed) and all(
        rounds_to(number, float(text.replace("−", "-")), len(text.partition(".")[2]))
        for number, text in zip(found, printed, strict=True)
    )


RELATIONS: dict[str, Callable[[Any, Any], bool]] = {
    "=": operator.eq,
    "≠": operator.ne,
    "<": operator.lt,
    "≤": operator.le,
    ">": operator.gt,
    "≥": operator.ge,
    "≈": _is_printed,
    "exactly if": lambda left, right: bool(left) is bool(right),
    "always": lambda left, _: bool(left),
    "never": lambda left, _: not left,
}


@dataclass(frozen=True)
class Quantity:
    """What a claim compares.

    Attributes:
        left: The side that a check measures, in words.
        relation: A name of `RELATIONS`; "always" and "never" are only about the left side.
        right: The other side, in words; or the number, or the printed numbers, that it is.
    """

    left: str
    relation: str
    right: Any = None

    def __post_init__(self) -> None:
        names.look_up("relation", self.relation, RELATIONS)

    def holds(self, left: Any, *right: Any) -> bool:
        """Apply the relation; without a measured right side, to the number of the row."""
        return RELATIONS[self.relation](left, *(right or (self.right,)))

    def __str__(self) -> str:
        """Write both sides, as the sentence of the claim has them."""
        if self.right is None:
            return f"{self.left}: {self.relation}"
        right = self.right
        if not isinstance(right, str):
            right = ", ".join(right) if isinstance(right, tuple) else f"{right:,}"
        return f"{self.left} {self.relation} {right}"


@dataclass(frozen=True)
class Trial:
    """One case of one part of a row.

    Attributes:
        part: The part.
        sides: Of the statement: the two sides that were found, or the left one. Of other parts:
            whether it held.
        values: The numbers of the case.
    """

    part: Part
    sides: tuple[Any, ...]
    values: dict[str, Any]


Trials = Iterator[Trial]
Check = Callable[..., Iterable[Trial]]


def stated(left: Any, /, *right: Any, **values: Any) -> Trial:
    """Make a trial of the statement as it stands, from the sides that its quantity compares."""
    return Trial(Part.STATED, (left, *right), values)


def scaled(held: bool, **values: Any) -> Trial:
    """Make a trial of the statement times its scale."""
    return Trial(Part.SCALED, (held,), values)


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
        refuted: How many trials of the statement did not hold, such as "3 of 12".
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
    refuted: str
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
    def statement(self) -> str:
        """The sentence, made from the text and the quantity."""
        if self.quantity is None:
            return self.text
        if "$q" in self.text:
            return self.text.replace("$q", str(self.quantity))
        return f"{self.text.removesuffix('.')} ({self.quantity})."

    @property
    def name(self) -> str:
        """What the verdict is called."""
        return self.word or self.verdict.value

    def held(self, trial: Trial) -> bool:
        """Return whether a trial held."""
        if trial.part is not Part.STATED:
            return bool(trial.sides[0])
        if self.quantity is None:
            raise ValueError(f"claim {self.id!r} states something: give `compares`")
        return self.quantity.holds(*trial.sides)


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
    refuted: str = "",
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
            refuted=refuted,
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
        concluded: What the trials say.
        seconds: How long the check took.
    """

    claim: Claim
    tallies: dict[Part, Tally]
    concluded: Verdict
    seconds: float

    @property
    def name(self) -> str:
        """What the conclusion is called: the word of the row, if it is the row's verdict."""
        row = self.claim
        return row.name if self.concluded is row.verdict else self.concluded.value

    @property
    def confirmed(self) -> bool:
        """Whether the check reached the verdict, and the counterexample, that the row carries."""
        if self.concluded is not self.claim.verdict:
            return False
        found = self.counterexample, self.refuted
        pinned = self.claim.counterexample, self.claim.refuted
        return self.concluded not in REFUTED or found == pinned

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
    def evidence(self) -> str:
        """The counterexample, or else the numbers of the last case."""
        shown = self.tallies[Part.STATED].last or self.tallies[Part.REMARK].last or {}
        return self.counterexample or write(shown)


def examine(row: Claim) -> Finding:
    """Run a row's check and conclude from its trials."""
    tallies = {part: Tally() for part in Part}
    start = time.perf_counter()
    for trial in chain.from_iterable(row.check(*case) for case in row.cases):
        tallies[trial.part] = tallies[trial.part].add(row.held(trial), trial.values)
    return Finding(row, tallies, conclude(tallies), time.perf_counter() - start)


def conclude(tallies: dict[Part, Tally]) -> Verdict:
    """Return the verdict that the trials support.

    A statement fails only if its correction was tried too and held in every case; it depends on the
    reading only if the kind reading held in every case. Nothing is concluded if a scale, a kind
    reading, a correction or a remark failed.
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
