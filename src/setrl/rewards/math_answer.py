r"""Whether the boxed answer of a sample equals the gold answer."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any

from setrl.errors import DataError
from setrl.grading.boxes import final_boxes
from setrl.grading.compare import compare, is_plain, refusal
from setrl.grading.expressions import quick_algebra
from setrl.grading.golds import gold_answer, gold_problem
from setrl.grading.grades import Grade, GradeCounts, Reason
from setrl.grading.normal_form import normal_form, spaceless
from setrl.grading.workers import CRASH, TIMEOUT, AlgebraJob, WorkerPool
from setrl.rewards.interface import Text, plain_text

_VERDICTS = {reason.value: reason for reason in Reason} | {
    TIMEOUT: Reason.TIMEOUT,
    CRASH: Reason.CRASH,
}


@dataclass(frozen=True)
class MathAnswer:
    r"""1 for samples whose last boxed answer is the gold answer, 0 for others.

    A reward function for TRL, and a grader of single samples (`grade`) and of batches (`grades`).
    Numbers and words are compared at once; other answers by math-verify, in processes that are
    killed at their limit. docs/rewards.md lists what is accepted and what is refused.

    Attributes:
        gold: The column that holds the gold answers.
        relative_tolerance: The largest relative error of a decimal that is accepted.
        units: Whether a unit may be missing on one side.
        workers: Processes for answers that need algebra.
        time_limit_s: Processor seconds per answer (ten times as many on the clock); then it is
        wrong.
        memory_mb: Memory of a worker in addition to what it has at its start.
        max_length: Characters of an answer; a longer answer is wrong.
        counts: The grades so far.

    >>> grader = MathAnswer()
    >>> grader(prompts=["3 / 4 ="], completions=[r"It is \boxed{\frac{3}{4}}."], answer=["0.75"])
    [1.0]
    >>> grader.grade("0.75, I think", "0.75").reason
    <Reason.NO_BOX: 'no box'>
    """

    gold: str = "answer"
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

    @property
    def __name__(self) -> str:
        return "math_answer"

    def __call__(
        self, *, prompts: Sequence[Text], completions: Sequence[Text], **columns: Any
    ) -> list[float | None]:
        """The reward of each sample; None if its gold is None or cannot be parsed.

        Raises:
            ValueError: If the column of golds is missing, or there is not one gold for each sample.
        """
        if self.gold not in columns:
            raise ValueError(
                f"the golds must be in the column {self.gold!r}, "
                f"but the columns are: {', '.join(columns) or 'none'}"
            )
        texts = [plain_text(completion) for completion in completions]
        return [grade.reward for grade in self.grades(texts, columns[self.gold])]

    def grade(self, text: str, gold: object) -> Grade:
        """The grade of one sample, a text with a box, against its gold."""
        return self.grades([text], [gold])[0]

    def grades(self, texts: Sequence[str], golds: Sequence[object]) -> list[Grade]:
        """The grades of a batch; answers that need algebra are shared among all workers."""
        if len(texts) != len(golds):
            raise ValueError(
                f"there must be one gold for each of {len(texts)} samples, got {len(golds)}"
            )
        first = [self._first(text, gold) for text, gold in zip(texts, golds, strict=True)]
        jobs = {_key(each): each for each in first if not isinstance(each, Grade)}
        verdicts = dict(zip(jobs, self.pool.run(list(jobs.values())), strict=True))
        grades = [
            each if isinstance(each, Grade)
            else Grade(_VERDICTS[verdicts[_key(each)]], each["answer"], fast=False)
            for each in first
        ]  # fmt: skip
        self.counts.add(grades)
        return grades

    def gold_problems(self, golds: Sequence[object]) -> list[str | None]:
        """Why each gold cannot be used for grading, or does not accept itself; None if it can.

        A gold can be used if its text shows no damage, math-verify can parse it (unless it is a
        number or words), and a sample that boxes it is graded correct.
        """
        answers = [gold_answer(gold) for gold in golds]
        problems = [
            "no answer" if gold is None else gold_problem(answer)
            for gold, answer in zip(golds, answers, strict=True)
        ]
        return self._after_parsing(answers, problems)

    def check_golds(self, golds: Sequence[object]) -> None:
        """Refuse golds that cannot be used for grading: call it when the data are loaded.

        Raises:
            DataError: With the first of them, and how many there are.
        """
        problems = self.gold_problems(golds)
        bad = [row for row, problem in enumerate(problems) if problem]
        if bad:
            first = bad[0]
            raise DataError(
                f"{len(bad)} of {len(golds)} golds cannot be used for grading; the first is row "
                f"{first}, {str(golds[first])[:80]!r}: {problems[first]}"
            )

    def close(self) -> None:
        """Stop the workers; they start again when an answer needs one."""
        self.pool.close()

    def _first(self, text: str, gold: object) -> Grade | AlgebraJob:
        try:
            return self._at_once(text, gold)
        except RecursionError:  # brackets too deep for what is left of the caller's stack
            return Grade(Reason.UNPARSABLE)

    def _at_once(self, text: str, gold: object) -> Grade | AlgebraJob:
        """The grade if no algebra is needed; else the job for a worker."""
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
            units=self.units,
            algebra=quick_algebra,
        )
        if verdict is not None:
            return Grade(Reason.EQUAL if verdict else Reason.DIFFERENT, answer)
        return self._job(gold_form, answer)

    def read(self, text: str) -> str | Reason:
        """The normal form of a sample's answer, or the reason why there is none."""
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

    def _job(self, gold: str, answer: str | None) -> AlgebraJob:
        return {
            "gold": gold,
            "answer": answer,
            "relative_tolerance": self.relative_tolerance,
            "units": self.units,
        }

    def _after_parsing(self, answers: list[str], problems: list[str | None]) -> list[str | None]:
        """The problems, with those added that only a parser or a grader finds."""
        rows = [row for row, problem in enumerate(problems) if problem is None]
        forms = {row: normal_form(answers[row]) for row in rows}
        parsed = [row for row in rows if not is_plain(forms[row])]
        verdicts = self.pool.run([self._job(forms[row], None) for row in parsed])
        for row, verdict in zip(parsed, verdicts, strict=True):
            if verdict not in (Reason.EQUAL, Reason.DIFFERENT):
                problems[row] = verdict
        for row in rows:
            grade = self._at_once(rf"\boxed{{{answers[row]}}}", answers[row])
            if problems[row] is None and not (isinstance(grade, Grade) and grade.correct):
                problems[row] = "does not accept itself"
        return problems


def _key(job: AlgebraJob) -> tuple[Any, ...]:
    return job["gold"], job["answer"]
