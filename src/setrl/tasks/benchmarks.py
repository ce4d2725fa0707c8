"""Benchmarks of mathematics by name: which problems they are, where, and which fields are read.

A name alone is ambiguous: there are two "AMC 2023" and several "AIME 2025" on the Hugging Face hub.
Each entry here states which one it is and how many problems it has; the number is checked when it
is loaded.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from setrl.rewards.grading import gold_answer
from setrl.support import names
from setrl.support.errors import DataError, usage_errors
from setrl.support.wording import count
from setrl.tasks import tables
from setrl.tasks.domains import Problem
from setrl.tasks.tables import ProblemTable

BOXED = "{problem}\n\nReason step by step, and put your final answer within \\boxed{}."
PROBLEM_KEYS = ("problem", "question", "prompt")
ANSWER_KEYS = ("answer", "gold", "final_answer", "target")
ID_KEYS = ("id", "unique_id", "problem_idx")


def plain_gold(value: Any) -> str:
    """Return a gold answer as text: a whole float loses its ".0", a list its brackets.

    >>> plain_gold(142.0), plain_gold(" 3 "), plain_gold(["$1$", "$2$"])
    ('142', '3', '1, 2')
    """
    if isinstance(value, list | tuple):
        return ", ".join(plain_gold(item) for item in value)
    if isinstance(value, float) and value.is_integer():
        return str(int(value))
    text = str(value).strip()
    whole = len(text) > 2 and text[0] == text[-1] == "$" and text.count("$") == 2
    return text[1:-1].strip() if whole else text


def own_id(row: Mapping[str, Any]) -> str | None:
    """Return the id that a row gives its problem; None if it gives none."""
    return next((str(row[key]) for key in ID_KEYS if row.get(key) is not None), None)


def kind_of(row: Mapping[str, Any]) -> str:
    """Return the kind of a row's problem: its subject or level."""
    return str(row.get("subject") or row.get("level") or "")


def after_hashes(value: Any) -> str:
    """GSM8K's gold: the text after "####" in the worked answer, without thousands separators.

    >>> after_hashes("She makes 9 * 2 = <<9*2=18>>18. #### 1,018")
    '1018'
    """
    return gold_answer(value).replace(",", "")


@dataclass(frozen=True)
class Benchmark:
    """A set of problems with gold answers.

    Attributes:
        name: Its name on the command line.
        hub: Its name on the Hugging Face hub.
        split: The split of it that holds the problems.
        problems: How many there must be.
        which: Which problems these are, in words.
        config: The hub's name for a part of the data set, if it has several parts.
        problem_key: The field of the problem.
        answer_key: The field of the gold answer.
        error_key: The field with the largest absolute error that is accepted.
        gold: The field of the gold answer → the answer as text.
    """

    name: str
    hub: str
    split: str
    problems: int
    which: str
    config: str | None = None
    problem_key: str = "problem"
    answer_key: str = "answer"
    error_key: str = "error_tol"
    gold: Callable[[Any], str] = plain_gold


BENCHMARKS: dict[str, Benchmark] = {
    benchmark.name: benchmark
    for benchmark in (
        Benchmark(
            "aime_2024", "HuggingFaceH4/aime_2024", "train", 30,
            "AIME I and II of 2024, 15 problems each",
        ),
        Benchmark(
            "aime_2025", "math-ai/aime25", "test", 30,
            "AIME I and II of 2025, 15 problems each",
        ),
        Benchmark(
            "amc_2023", "math-ai/amc23", "test", 40,
            "AMC 12 A and B of 2023, those whose answer is a number; "
            "not AI-MO's 83, which is amc_2022_2023",
            problem_key="question",
        ),
        Benchmark(
            "amc_2022_2023", "AI-MO/aimo-validation-amc", "train", 83,
            "AMC 12 A and B of 2022 and 2023, reworded so that the answer is a number; "
            'often reported as "AMC 2023"',
        ),
        Benchmark(
            "math_500", "HuggingFaceH4/MATH-500", "test", 500,
            "the 500 test problems of MATH that Lightman et al. (arXiv:2305.20050) held out",
        ),
        Benchmark(
            "minerva", "math-ai/minervamath", "test", 272,
            "OCWCourses of Minerva (arXiv:2206.14858): undergraduate science; "
            "not minerva_math of lm-eval, which is MATH in Minerva's prompt",
            problem_key="question",
        ),
        Benchmark(
            "gsm8k", "openai/gsm8k", "test", 1319,
            "the test problems of GSM8K (arXiv:2110.14168)",
            config="main", problem_key="question", gold=after_hashes,
        ),
        Benchmark(
            "olympiadbench", "Hothan/OlympiadBench", "train", 674,
            "OlympiadBench (arXiv:2402.14008), open-ended, text only, mathematics, English, "
            "competitions; the authors' own release holds 675",
            config="OE_TO_maths_en_COMP", problem_key="question", answer_key="final_answer",
            error_key="error",
        ),
    )
}  # fmt: skip


def by_name(name: str) -> Benchmark:
    """Return the benchmark of that name.

    Raises:
        ConfigError: With the nearest known name and all known names.
    """
    with usage_errors():
        return names.look_up("benchmark", name, BENCHMARKS)


def load(benchmark: Benchmark, path: Path | None = None) -> list[Problem]:
    """Return the problems of a benchmark, from the hub or from a local copy.

    Args:
        benchmark: The benchmark.
        path: A file with the hub's fields, or with "problem" and "answer".

    Raises:
        ConfigError: If the hub cannot be reached, or `datasets` is missing.
        DataError: If a field is missing, or there are more or fewer problems than in the benchmark.
    """
    table = (
        tables.read_dataset(benchmark.hub, benchmark.config)[benchmark.split]
        if path is None
        else tables.read_file(path)
    )
    problems = _make_problems(benchmark, table)
    if len(problems) != benchmark.problems:
        raise DataError(
            f"{table.where} has {len(problems)} problems, but {benchmark.name} has "
            f"{benchmark.problems} ({benchmark.which}): to use other problems, give only --data"
        )
    return problems


def load_file(path: Path) -> list[Problem]:
    """Return the problems of your file: one problem and its gold answer in each row.

    Raises:
        DataError: If the file has no problems, a field is missing, or two problems share an id.
    """
    benchmark = Benchmark(path.stem, str(path), "", 0, "")
    problems = _make_problems(benchmark, tables.read_file(path))
    if not problems:
        raise DataError(f"{path} holds no problems")
    ids = {problem.id for problem in problems}
    if len(ids) < len(problems):
        raise DataError(
            f"{path}: {count(len(problems) - len(ids), 'problem')} with the id of another"
        )
    return problems


def _make_problems(benchmark: Benchmark, table: ProblemTable) -> list[Problem]:
    return [_make_problem(benchmark, row, n, where) for n, (where, row) in enumerate(table.rows)]


def _make_problem(benchmark: Benchmark, row: Mapping[str, Any], place: int, where: str) -> Problem:
    problem = _find_field(row, (benchmark.problem_key, *PROBLEM_KEYS), where)
    # A local copy may hold only GSM8K's final answers, without "####".
    gold = benchmark.gold(_find_field(row, (benchmark.answer_key, *ANSWER_KEYS), where))
    if not gold:
        raise DataError(f"{where}: the gold answer is empty")
    name = own_id(row)
    return Problem(
        id=f"{benchmark.name}/{place if name is None else name}",
        prompt=BOXED.replace("{problem}", str(problem).strip()),
        kind=kind_of(row),
        gold=gold,
        unit=str(row.get("unit") or ""),
        error=_read_accepted_error(row, (benchmark.error_key, "error_tol"), where),
    )


def _read_accepted_error(row: Mapping[str, Any], keys: Iterable[str], where: str) -> float:
    """Return the largest absolute error that is accepted; 0 if the row does not state one."""
    key, value = next(((key, row[key]) for key in keys if row.get(key)), ("", 0.0))
    try:
        error = float(value)
    except (TypeError, ValueError):
        error = -1.0
    if not 0 <= error < float("inf"):
        raise DataError(f"{where}: {key} must be a number, 0 or above, got {value!r}")
    return error


def _find_field(row: Mapping[str, Any], keys: Iterable[str], where: str) -> Any:
    for key in keys:
        if row.get(key) is not None:
            return row[key]
    raise DataError(f"{where}: has none of the fields {', '.join(dict.fromkeys(keys))}; "
                    f"it has {', '.join(row)}")  # fmt: skip
