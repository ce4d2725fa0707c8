r"""Grade the boxed answer of a sample, by algebra where it is needed."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from fractions import Fraction
from functools import cache
from typing import Any

from typing_extensions import override

from setrl.grading.boxes import final_boxes
from setrl.grading.compare import compare, is_plain, number_of, refusal
from setrl.grading.expressions import quick_algebra
from setrl.grading.golds import gold_answer, gold_problem
from setrl.grading.grader import Grader, check_lengths
from setrl.grading.grades import Grade, GradeCounts, Reason
from setrl.grading.normal_form import normal_form, spaceless, split_unit
from setrl.grading.workers import CRASH, TIMEOUT, AlgebraJob, WorkerPool

_VERDICTS = {reason.value: reason for reason in Reason} | {
    TIMEOUT: Reason.TIMEOUT,
    CRASH: Reason.CRASH,
}


@dataclass(frozen=True)
class MathGrader(Grader):
    r"""A grader of the last boxed answer of a sample.

    Numbers and words are compared at once; other answers by math-verify, in processes that are
    killed at their limit. docs/rewards.md lists what is accepted and what is refused.

    Attributes:
        relative_tolerance: The largest relative error of a decimal that is accepted.
        units: Whether a unit may be missing on one side.
        workers: Processes for answers that need algebra.
        time_limit_s: Processor seconds per answer (ten times as many on the clock); an answer that
            needs more is graded wrong.
        memory_mb: Memory of a worker in addition to what it has at its start.
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
    workers: int = 2
    time_limit_s: float = 5.0
    memory_mb: int = 1024
    max_length: int = 2_000
    counts: GradeCounts = field(default_factory=GradeCounts, compare=False, repr=False)
    pool: WorkerPool = field(init=False, compare=False, repr=False)

    def __post_init__(self) -> None:
        for name in ("workers", "time_limit_s", "memory_mb", "max_length"):
            if not getattr(self, name) > 0:
                raise ValueError(f"{name} must be above 0, got {getattr(self, name)}")
        if not 0 <= self.relative_tolerance < 1:
            tolerance = self.relative_tolerance
            raise ValueError(f"relative_tolerance must be in [0, 1), got {tolerance}")
        pool = WorkerPool(self.workers, self.time_limit_s, self.memory_mb)
        object.__setattr__(self, "pool", pool)

    @override
    def grades(
        self,
        texts: Sequence[str],
        golds: Sequence[object],
        *,
        units: bool | None = None,
        error: float = 0.0,
    ) -> list[Grade]:
        """Return the grade of each sample; all workers share the answers that need algebra.

        Args:
            texts: The samples, each with its answer in a box.
            golds: The gold answer of each sample.
            units: Whether a unit may be missing on one side; None for the grader's own setting.
            error: The largest absolute error of a number that is accepted, in addition to the
                relative tolerance.

        Raises:
            ValueError: If there is not one gold for each sample.
        """
        check_lengths(texts, golds)
        units = self.units if units is None else units
        first = [self._first(text, gold, units) for text, gold in zip(texts, golds, strict=True)]
        jobs = {_key(each): each for each in first if not isinstance(each, Grade)}
        verdicts = dict(zip(jobs, self.pool.run(list(jobs.values())), strict=True))
        grades = [
            each if isinstance(each, Grade)
            else Grade(_VERDICTS[verdicts[_key(each)]], each["answer"], fast=False)
            for each in first
        ]  # fmt: skip
        if error:
            pairs = zip(grades, golds, strict=True)
            grades = [_within(grade, gold, units, error) for grade, gold in pairs]
        self.counts.add(grades)
        return grades

    @override
    def answer(self, text: str) -> str | None:
        found = self.read(text)
        return None if isinstance(found, Reason) else spaceless(found)

    @override
    def gold_problems(self, golds: Sequence[object]) -> list[str | None]:
        """Return why each gold cannot be used for grading, or does not accept itself; None if fit.

        A gold can be used if its text shows no damage, math-verify can parse it (unless it is a
        number or words), and a sample that boxes it is graded correct.
        """
        answers = [gold_answer(gold) for gold in golds]
        problems = [
            "no answer" if gold is None else gold_problem(answer)
            for gold, answer in zip(golds, answers, strict=True)
        ]
        return self._after_parsing(answers, problems)

    def close(self) -> None:
        """Stop the workers; they start again when an answer needs one."""
        self.pool.close()

    def _first(self, text: str, gold: object, units: bool) -> Grade | AlgebraJob:
        try:
            return self._at_once(text, gold, units)
        except RecursionError:  # brackets too deep for what is left of the caller's stack
            return Grade(Reason.UNPARSABLE)

    def _at_once(self, text: str, gold: object, units: bool) -> Grade | AlgebraJob:
        """Return the grade if no algebra is needed; else the job for a worker."""
        answer = self.read(text)
        if gold is None:
            return Grade(Reason.BAD_GOLD)
        if isinstance(answer, Reason):
            return Grade(answer)
        gold_form = normal_form(gold_answer(gold))
        if not gold_form:
            return Grade(Reason.BAD_GOLD, answer)
        if why := refusal(gold_form, answer):
            return Grade(Reason(why), answer)
        verdict = compare(
            gold_form,
            answer,
            relative_tolerance=self.relative_tolerance,
            units=units,
            algebra=quick_algebra,
        )
        if verdict is not None:
            return Grade(Reason.EQUAL if verdict else Reason.DIFFERENT, answer)
        return self._job(gold_form, answer, units)

    def read(self, text: str) -> str | Reason:
        """Return the normal form of a sample's answer, or the reason why it has no answer."""
        boxes = final_boxes(text)
        if not boxes.answers:
            return Reason.CUT_OFF if boxes.cut_off else Reason.NO_BOX
        different = set(boxes.answers)
        if max(map(len, different)) > self.max_length:
            return Reason.TOO_LONG
        forms = {spaceless(normal_form(answer)) for answer in different}
        if len(forms) > 1:
            return Reason.SEVERAL_BOXES
        return normal_form(boxes.answers[-1]) or Reason.NO_BOX

    def _job(self, gold: str, answer: str | None, units: bool) -> AlgebraJob:
        return {
            "gold": gold,
            "answer": answer,
            "relative_tolerance": self.relative_tolerance,
            "units": units,
        }

    def _after_parsing(self, answers: list[str], problems: list[str | None]) -> list[str | None]:
        """Return the problems, with those added that only a parser or a grader finds."""
        rows = [row for row, problem in enumerate(problems) if problem is None]
        forms = {row: normal_form(answers[row]) for row in rows}
        parsed = [row for row in rows if not is_plain(forms[row])]
        verdicts = self.pool.run([self._job(forms[row], None, self.units) for row in parsed])
        for row, verdict in zip(parsed, verdicts, strict=True):
            if verdict not in (Reason.EQUAL, Reason.DIFFERENT):
                problems[row] = verdict
        for row in rows:
            grade = self._at_once(rf"\boxed{{{answers[row]}}}", answers[row], self.units)
            if problems[row] is None and not (isinstance(grade, Grade) and grade.correct):
                problems[row] = "does not accept itself"
        return problems


def _key(job: AlgebraJob) -> tuple[Any, ...]:
    return job["gold"], job["answer"]


def _within(grade: Grade, gold: object, units: bool, error: float) -> Grade:
    """Return the grade, or a right one if the answer is a number within the accepted error.

    >>> _within(Grade(Reason.DIFFERENT, "4.3"), "4.2", units=False, error=0.1).correct
    True
    """
    if grade.reason != Reason.DIFFERENT or grade.answer is None:
        return grade
    forms = [grade.answer, normal_form(gold_answer(gold))]
    answer, right = (number_of(split_unit(form)[0] if units else form) for form in forms)
    if answer is None or right is None:
        return grade
    is_near = abs(answer.value - right.value) <= Fraction(str(error))
    return replace(grade, reason=Reason.EQUAL) if is_near else grade


def grade(text: str, gold: object) -> Grade:
    """Return the grade of one sample, by a `MathGrader` that all calls share."""
    return _shared().grade(text, gold)


@cache
def _shared() -> MathGrader:
    return MathGrader()
