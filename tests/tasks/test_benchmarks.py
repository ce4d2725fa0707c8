"""Benchmarks: what is read of a row, what is refused, and what is said without a network."""

import json
from pathlib import Path

import pytest

from setrl.support.errors import ConfigError, DataError
from setrl.tasks import benchmarks, tables

# One row of each set with the hub's fields; the problems are made up.
ROWS = {
    "aime_2024": ({"id": 60, "problem": "P", "answer": "073", "url": "u"}, "60", "073"),
    "aime_2025": ({"problem": "P", "answer": "70", "id": "0"}, "0", "70"),
    "amc_2023": ({"id": 0, "question": "P", "answer": 27.0, "url": "u"}, "0", "27"),
    "amc_2022_2023": ({"id": 0, "problem": "P", "answer": 142.0, "url": "u"}, "0", "142"),
    "math_500": (
        {"problem": "P", "solution": "S", "answer": "\\frac{1}{2}", "unique_id": "test/a/1.json"},
        "test/a/1.json",
        "\\frac{1}{2}",
    ),
    "minerva": ({"question": "P", "answer": "1.6e6"}, "0", "1.6e6"),
    "gsm8k": ({"question": "P", "answer": "<<2*600=1200>>\n#### 1,200"}, "0", "1200"),
    "olympiadbench": ({"id": 1606, "question": "P", "final_answer": ["$2$"]}, "1606", "2"),
}


def copies(row, count):
    """The same number of rows, each with the id of its row if it has one."""
    key = next((key for key in benchmarks.ID_KEYS if key in row), None)
    return [{**row, key: f"{row[key]}-{i}"} if key and i else row for i in range(count)]


def write(path, rows):
    path.write_text("".join(json.dumps(row) + "\n" for row in rows))
    return path


def test_every_benchmark_has_a_row_here_and_a_line_in_the_docs():
    assert set(ROWS) == set(benchmarks.BENCHMARKS)
    page = (Path(__file__).parents[2] / "docs" / "importing.md").read_text()
    for benchmark in benchmarks.BENCHMARKS.values():
        assert f"| `{benchmark.name}` | `{benchmark.hub}`" in page
        assert f"| {benchmark.problems:,} |" in page


@pytest.mark.parametrize("name", ROWS)
def test_a_row_of_the_hub_is_read(name, monkeypatch):
    datasets = pytest.importorskip("datasets")
    row, identity, gold = ROWS[name]
    benchmark, asked = benchmarks.by_name(name), []

    def load_dataset(*arguments, **options):
        asked.append(arguments)
        return {benchmark.split: copies(row, benchmark.problems)}

    monkeypatch.setattr(datasets, "load_dataset", load_dataset)
    tables.read_dataset.cache_clear()
    first = benchmarks.load(benchmark)[0]
    assert asked == [(benchmark.hub, benchmark.config)]
    assert (first.id, first.gold) == (f"{name}/{identity}", gold)
    assert first.prompt.startswith("P\n\n")
    assert first.prompt.endswith("put your final answer within \\boxed{}.")


@pytest.mark.parametrize("key", ["error", "error_tol"])
def test_olympiadbench_s_own_units_and_errors_are_read(tmp_path, key):
    benchmark = benchmarks.by_name("olympiadbench")
    rows = copies({"id": 1, "question": "P", "final_answer": ["4.2"]}, benchmark.problems)
    rows[0] |= {"unit": "km", key: "1e-1"}
    rows[1] |= {"unit": None, key: None}
    problems = benchmarks.load(benchmark, write(tmp_path / "o.jsonl", rows))
    read = [(problem.unit, problem.error) for problem in problems[:3]]
    assert read == [("km", 0.1), ("", 0.0), ("", 0.0)]
    rows[1][key] = "1e-1,1e-2"
    with pytest.raises(DataError, match=rf"o.jsonl:2: {key} must be a number, 0 or above, got '1e"):
        benchmarks.load(benchmark, write(tmp_path / "o.jsonl", rows))


def test_a_local_copy_is_read_instead(tmp_path):
    rows = [{"id": f"gsm8k/test/{i}", "problem": f"p{i}", "answer": "18"} for i in range(1319)]
    problems = benchmarks.load(benchmarks.by_name("gsm8k"), write(tmp_path / "g.jsonl", rows))
    assert (len(problems), problems[5].gold, problems[5].prompt[:3]) == (1319, "18", "p5\n")


def test_another_number_of_problems_is_refused(tmp_path):
    path = write(tmp_path / "amc.jsonl", copies(ROWS["amc_2022_2023"][0], 83))
    with pytest.raises(DataError, match="83 problems, but amc_2023 has 40"):
        benchmarks.load(benchmarks.by_name("amc_2023"), path)


def test_without_the_hub_a_local_copy_is_asked_for(monkeypatch):
    datasets = pytest.importorskip("datasets")

    def load_dataset(*_, **__):
        raise ConnectionError("no route to host")

    monkeypatch.setattr(datasets, "load_dataset", load_dataset)
    tables.read_dataset.cache_clear()
    with pytest.raises(ConfigError, match=r"cannot load the data set .* no route to host\)"):
        benchmarks.load(benchmarks.by_name("gsm8k"))


def test_an_unknown_benchmark_is_answered_with_the_near_miss():
    with pytest.raises(ConfigError, match="did you mean 'aime_2025'"):
        benchmarks.by_name("aime2025")


def test_a_file_of_one_s_own(tmp_path):
    rows = [
        {"question": "1+1 {problem}\u2028?", "gold": 2, "subject": "sums"},
        {"problem": "2+2?", "answer": "4"},
    ]
    path = tmp_path / "mine.jsonl"
    path.write_text("\n\n".join(json.dumps(row, ensure_ascii=False) for row in rows))
    first, second = benchmarks.load_file(path)
    assert (first.id, first.kind, first.gold) == ("mine/0", "sums", "2")
    assert first.prompt.startswith("1+1 {problem}\u2028?\n\nReason")
    assert (second.id, second.gold) == ("mine/1", "4")


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("", "mine.jsonl holds no problems"),
        ("[]", "mine.jsonl holds no problems"),
        ('{"problem": "p"}', "mine.jsonl:1: has none of the fields answer, gold"),
        ('{"answer": "p"}', "mine.jsonl:1: has none of the fields problem, question"),
        ('{"problem": "p", "answer": " "}', "mine.jsonl:1: the gold answer is empty"),
        ("\n[1]", "mine.jsonl, row 1: must be an object"),
        ("{", "mine.jsonl:1: is not JSON"),
        ('{"id": 1, "problem": "p", "answer": 1}\n' * 2, "1 problem with the id of another"),
    ],
)
def test_what_is_wrong_is_named(tmp_path, text, message):
    path = tmp_path / "mine.jsonl"
    path.write_text(text)
    with pytest.raises(DataError, match=message):
        benchmarks.load_file(path)


def test_a_file_that_is_not_there(tmp_path):
    with pytest.raises(ConfigError, match="no such file"):
        benchmarks.load_file(tmp_path / "none.jsonl")
