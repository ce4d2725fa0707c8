"""A trial of a grader: how many near misses it accepts, and how many right answers it refuses."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field

from adversary.checked import Checked
from adversary.golds import golds, latex
from adversary.near_misses import near_misses
from adversary.progress import told
from adversary.real_golds import real_golds, real_near_misses, real_rewrites
from adversary.rewrites import rewrites
from adversary.source import source_near_misses
from setrl_grader import Grade, MathGrader

# answers, golds, whether a unit may be missing → accepted? Or the grades, which can be checked.
Grader = Callable[[Sequence[str], Sequence[str], Sequence[bool]], Sequence[bool | Grade]]

REAL_GOLDS = 1_052
LEAST_REWRITES = 0.98  # share of the rewrites that must be accepted
MOST_REFUSED = 0.02  # share of the golds that may not accept themselves
AT_ONCE = 200  # answers that are graded by one call


@dataclass
class Row:
    """One kind of change.

    Attributes:
        tried: How many answers.
        accepted: How many of them the grader accepted.
        examples: (answer, gold) of the mistakes.
    """

    tried: int = 0
    accepted: int = 0
    examples: list[tuple[str, str]] = field(default_factory=list)


@dataclass
class Result:
    """What a grader did: rows by kind of change, of rewrite, and of gold."""

    near_misses: dict[str, Row]
    rewrites: dict[str, Row]
    golds: dict[str, Row]
    checked: Checked = field(default_factory=Checked)

    @property
    def accepted_near_misses(self) -> int:
        """Wrong answers that were accepted."""
        return sum(row.accepted for row in self.near_misses.values())

    @property
    def good(self) -> bool:
        """Whether it keeps all three limits."""
        return (
            self.accepted_near_misses == 0
            and share(self.rewrites) >= LEAST_REWRITES
            and share(self.golds) >= 1 - MOST_REFUSED
        )


def share(rows: dict[str, Row]) -> float:
    """The share of answers that were accepted."""
    return sum(row.accepted for row in rows.values()) / sum(row.tried for row in rows.values())


def trial(grade: Grader, per_kind: int, seed: int = 0, name: str = "setrl") -> Result:
    """Grade all near misses and rewrites of so many golds of each kind; `name` is the grader's."""
    cases = list(_cases(per_kind, seed))
    accepted = list[bool | Grade]()
    for at in told(range(0, len(cases), AT_ONCE), f"{AT_ONCE} answers at once to {name}"):
        _, _, texts, right, kinds = zip(*cases[at : at + AT_ONCE], strict=True)
        accepted += grade(texts, right, [kind == "loose unit" for kind in kinds])
    result = Result(*(defaultdict(Row) for _ in range(3)))
    for (part, name, text, gold, _), verdict in zip(cases, accepted, strict=True):
        is_accepted = verdict.correct is True if isinstance(verdict, Grade) else verdict
        if isinstance(verdict, Grade):
            result.checked.judge(gold, text, verdict)
        row = getattr(result, part)[name]
        row.tried += 1
        row.accepted += is_accepted
        if is_accepted == (part == "near_misses"):
            row.examples.append((text, gold))
    return result


def _cases(per_kind: int, seed: int) -> Iterator[tuple[str, str, str, str, str]]:
    """Part, kind of change, answer, gold and its kind; ten real golds for each gold of a kind."""
    for at, (kind, answer) in enumerate(golds(per_kind, seed)):
        gold = latex(answer)
        yield "golds", kind, gold, gold, kind
        for miss in near_misses(answer, seed=at):
            yield "near_misses", miss.change, miss.text, gold, kind
        for rewrite in rewrites(answer):
            yield "rewrites", rewrite.way, rewrite.text, gold, kind
    for name, text, gold in source_near_misses(max(1, per_kind // 4), seed):
        yield "near_misses", f"source: {name}", text, gold, "source"
    for gold in real_golds()[:: max(1, REAL_GOLDS // (10 * per_kind))]:
        yield "golds", "real", gold, gold, "real"
        for miss in real_near_misses(gold):
            yield "near_misses", miss.change, miss.text, gold, "real"
        for rewrite in real_rewrites(gold):
            yield "rewrites", rewrite.way, rewrite.text, gold, "real"


def ours(answers: Sequence[str], golds: Sequence[str], loose: Sequence[bool]) -> list[Grade]:
    """`MathGrader`, with units=True where a unit may be missing."""
    found: dict[int, Grade] = {}
    for units in (False, True):
        rows = [row for row, each in enumerate(loose) if each == units]
        grader = MathGrader(units=units)
        texts = [rf"\boxed{{{answers[row]}}}" for row in rows]
        grades = grader.grades(texts, [golds[row] for row in rows])
        found |= dict(zip(rows, grades, strict=True))
    return [found[row] for row in range(len(answers))]


def plain_math_verify(
    answers: Sequence[str], golds: Sequence[str], _loose: Sequence[bool]
) -> list[bool]:
    """math-verify as its own README calls it: parse and verify, gold and answer in a box."""
    from math_verify import parse, verify

    accepted = []
    for answer, gold in zip(answers, golds, strict=True):
        sides = [parse(rf"$\boxed{{{text}}}$") for text in (gold, answer)]
        accepted.append(bool(verify(*sides)))
    return accepted


def table(results: dict[str, Result], show: int) -> str:
    """The results side by side, a line for each change; then examples of what went wrong."""
    lines = []
    for part, title in (
        ("near_misses", "near misses accepted"),
        ("rewrites", "rewrites refused"),
        ("golds", "golds that do not accept themselves"),
    ):
        lines += ["", f"{title:34}{'tried':>7}" + "".join(f"{name:>13}" for name in results)]
        names = next(iter(getattr(result, part) for result in results.values()))
        for name in names:
            lines.append(
                _line(name, [getattr(result, part)[name] for result in results.values()], part)
            )
        lines.append(
            _line("all", [_sum(getattr(result, part)) for result in results.values()], part)
        )
    for part in ("near_misses", "rewrites", "golds"):
        for name, row in getattr(results["setrl"], part).items():
            lines += [
                f"  {part} / {name}: {text!r} for {gold!r}" for text, gold in row.examples[:show]
            ]
    return "\n".join(lines)


def _sum(rows: dict[str, Row]) -> Row:
    values = rows.values()
    return Row(sum(row.tried for row in values), sum(row.accepted for row in values))


def _line(name: str, rows: list[Row], part: str) -> str:
    wrong = [row.accepted if part == "near_misses" else row.tried - row.accepted for row in rows]
    return f"  {name:32}{rows[0].tried:7}" + "".join(f"{count:13}" for count in wrong)
