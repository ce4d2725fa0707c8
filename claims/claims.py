"""What a claim is, and how a check decides whether it holds.

A check measures, and does not know the verdict that is printed. It is called once for each case of
its claim, smallest case first, and yields trials, each of which says whether something held.
`examine` concludes only from the trials, and a claim is confirmed when the conclusion is the
verdict that it carries. A claim that fails, that depends on its reading or that holds up to scale
also carries its first counterexample, which the check must find again.

>>> from itertools import product
>>> @claim("sum", "A book", "p. 1", Verdict.FAILS, how="adding", counterexample="n=1, sum=1",
...        truth="n(n + 1)/2", cases=product(range(1, 4)))
... def sum_of_numbers(n):
...     '''1 + … + n = n²/2.'''
...     yield stated(2 * sum(range(n + 1)) == n**2, n=n, sum=sum(range(n + 1)))
...     yield corrected(2 * sum(range(n + 1)) == n * (n + 1), n=n)
>>> finding = examine(sum_of_numbers)
>>> finding.concluded.value, finding.confirmed
('fails', True)
"""

from __future__ import annotations

import time
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from enum import Enum
from itertools import chain
from typing import Any

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


# Verdicts whose statement, as it stands, has a counterexample.
REFUTED = (Verdict.UP_TO_SCALE, Verdict.READING, Verdict.FAILS)


class Part(Enum):
    """What a trial is about."""

    STATED = "stated"  # the statement as it stands
    SCALED = "scaled"  # the statement with the scale put in
    KIND = "kind"  # the kind reading of the statement
    CORRECTED = "corrected"  # the corrected statement
    REMARK = "remark"  # what else the row says; it must hold


@dataclass(frozen=True)
class Trial:
    """Whether one part of a row held in one case; `values` are the numbers of the case."""

    part: Part
    held: bool
    values: dict[str, Any]


Trials = Iterator[Trial]
Check = Callable[..., Iterable[Trial]]


def stated(held: bool, **values: Any) -> Trial:
    """Make a trial of the statement as it stands."""
    return Trial(Part.STATED, bool(held), values)


def scaled(held: bool, **values: Any) -> Trial:
    """Make a trial of the statement times its scale."""
    return Trial(Part.SCALED, bool(held), values)


def kind(held: bool, **values: Any) -> Trial:
    """Make a trial of the kind reading of the statement."""
    return Trial(Part.KIND, bool(held), values)


def corrected(held: bool, **values: Any) -> Trial:
    """Make a trial of the corrected statement."""
    return Trial(Part.CORRECTED, bool(held), values)


def remark(held: bool, **values: Any) -> Trial:
    """Make a trial of anything else that the row says; a definition has only these."""
    return Trial(Part.REMARK, bool(held), values)


@dataclass(frozen=True)
class Claim:
    """One row of the ledger.

    Attributes:
        id: Short name, unique in the ledger.
        document: The title of the document that makes the claim.
        where: Section, equation or number in the document.
        statement: The claim in our words.
        verdict: What the check must conclude.
        how: How it is checked.
        truth: What holds instead, the scale, or what can be added.
        kindly: The kind reading, which holds, of a statement that fails when read strictly.
        counterexample: The first case in which the statement, as it stands, does not hold, in the
            form of `write`.
        check: Yields the trials of one case.
        cases: The arguments of the check, smallest case first.
    """

    id: str
    document: str
    where: str
    statement: str
    verdict: Verdict
    how: str
    truth: str
    kindly: str
    counterexample: str
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


def claim(
    id: str,
    document: str,
    where: str,
    verdict: Verdict,
    *,
    how: str,
    truth: str = "",
    kindly: str = "",
    counterexample: str = "",
    cases: Iterable[tuple[Any, ...]] = ((),),
) -> Callable[[Check], Claim]:
    """Make a claim from the function below; its docstring is the statement."""
    listed = tuple(cases)

    def of(check: Check) -> Claim:
        statement = " ".join((check.__doc__ or "").split())
        return Claim(
            id,
            document,
            where,
            statement,
            verdict,
            how,
            truth,
            kindly,
            counterexample,
            check,
            listed,
        )

    return of


@dataclass(frozen=True)
class Tally:
    """How many trials of a part there were, and the first that failed."""

    trials: int = 0
    failures: int = 0
    first_failure: dict[str, Any] | None = None
    last: dict[str, Any] | None = None

    def add(self, trial: Trial) -> Tally:
        """Return the tally with one more trial."""
        failures = self.failures + (not trial.held)
        first = self.first_failure if trial.held or self.failures else trial.values
        return Tally(self.trials + 1, failures, first, trial.values)


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
    def confirmed(self) -> bool:
        """Whether the check reached the verdict, and the counterexample, that the row carries."""
        if self.concluded is not self.claim.verdict:
            return False
        return self.concluded not in REFUTED or self.counterexample == self.claim.counterexample

    @property
    def trials(self) -> int:
        """Number of trials of all parts."""
        return sum(tally.trials for tally in self.tallies.values())

    @property
    def counterexample(self) -> str:
        """The first case in which the statement as it stands failed; "" if there is none."""
        failure = self.tallies[Part.STATED].first_failure
        return "" if failure is None else write(failure)

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
        tallies[trial.part] = tallies[trial.part].add(trial)
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
