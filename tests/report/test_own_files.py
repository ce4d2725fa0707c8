"""Reports of evaluation files, your logs and TRL's folder, without a run."""

import json
import re
from pathlib import Path

import pytest

from setrl.logs.options import LogOptions
from setrl.show.lab.view.index import LogIndex
from setrl.show.lab.view.logs import FileLog
from setrl.show.lab.view.table import PageTable

pytest.importorskip("matplotlib")

pytestmark = pytest.mark.usefixtures("unsaved_figures")
DATA = Path(__file__).parents[1] / "data"


def log(path, rates, problems=6):
    rows = [{"qid": p, "correct": i < rate} for p, rate in zip(range(problems), rates, strict=True)
            for i in range(4)]  # fmt: skip
    path.write_text("".join(json.dumps(row) + "\n" for row in rows))
    return path


def shown_verdict(page):
    data = page.partition('id="data">')[2].partition("</script>")[0]
    return json.loads(data)["verdict"]


def test_two_logs_are_compared_on_one_page(setrl, tmp_path):
    first = log(tmp_path / "first.jsonl", [0, 1, 1, 2, 3, 4])
    second = log(tmp_path / "second.jsonl", [1, 1, 2, 2, 4], problems=5)
    folder = tmp_path / "report"
    code, out, err = setrl("report", first, second, "--output", folder, "--k", 1, 3)
    assert (code, out) == (0, f"{folder / 'report.html'}\n")
    assert "correct  correct  its name; true or false" in err
    assert "note: 1 problem of first left out, such as '5': not all have it" in err
    numbers = json.loads((folder / "summary.json").read_text())["splits"]["given"]
    assert numbers["arms"]["first"]["metrics"]["pass@1"]["value"] == pytest.approx(7 / 20)
    [difference] = numbers["differences"]
    assert (difference["arm"], difference["against"]) == ("second", "first")
    assert difference["metrics"]["pass@1"]["value"] == pytest.approx((10 - 7) / 20)
    assert difference["band"]["ks"] == [1, 2, 3, 4]
    assert set(difference["metrics"]) >= {"pass@1", "pass@3"}
    page = (folder / "report.html").read_text()
    assert "first, second: 5 problems" in page
    assert "1 problem of first left out, such as" in page
    assert shown_verdict(page)[-1] == "1 problem of first left out, such as '5': not all have it."
    shown = json.loads(page.partition('id="data">')[2].partition("</script>")[0])
    names = [metric["name"] for metric in shown["splits"][0]["metrics"]]
    assert names == ["pass"]  # the logs hold no answers and no strategies
    assert (folder / "figures" / "pass_at_k_given.png").exists()
    assert setrl("report", first, "--output", folder)[0] == 0  # over an earlier report of files


def words(page):
    return page.partition("<body>")[2].partition('<script type="application/json"')[0]


def test_a_report_of_logs_shows_questions_and_says_where_the_rest_is(setrl, tmp_path):
    ids = [{"qid": p, "correct": p < 3} for p in range(4) for _ in range(2)]
    full = [
        {"qid": p, "prompt": f"What is {p}?", "correct": p == 3, "response": "so " * 300}
        for p in range(4)
        for _ in range(2)
    ]
    paths = [tmp_path / "ids.jsonl", tmp_path / "full.jsonl"]
    for path, rows in zip(paths, (ids, full), strict=True):
        path.write_text("".join(json.dumps(row) + "\n" for row in rows))
    folder = tmp_path / "report"
    assert setrl("report", *paths, "--output", folder, "--quiet")[0] == 0
    page = (folder / "report.html").read_text()
    data = json.loads(page.partition('id="data">')[2].partition("</script>")[0])
    assert data["views"] == [f"setrl view {path}" for path in paths]
    examples = {one["prompt"]: one for one in data["solved"][0]["examples"]}
    assert set(examples) == {f"What is {p}?" for p in range(4)}
    assert examples["What is 0?"]["samples"] == []  # the log that solves it has no texts
    [sample] = examples["What is 3?"]["samples"]
    assert sample["text"].endswith("… (400 more letters)")
    shown = words(page)
    assert "Paired differences with intervals" in shown
    for absent in ("majority@2", "correct strategies", "raining", "first arm"):
        assert absent not in shown, absent
    assert shown.count(f"setrl report {paths[0]}") == 1


def test_trl_s_folder_of_completions_is_a_report(setrl, tmp_path):
    pytest.importorskip("pyarrow")
    code, out, err = setrl(
        "report", DATA / "trl_completions", "--output", tmp_path / "r", "--reward", "brevity",
        "--correct-above", 0.03,
    )  # fmt: skip
    assert code == 0
    assert "left out: all steps but 3" in err
    page = Path(out.strip()).read_text()
    assert "trl_completions: left out: all steps but 3, of 1 to 3" in page


def test_nothing_of_others_is_overwritten(setrl, tmp_path):
    first = log(tmp_path / "first.jsonl", [0, 1, 1, 2, 3, 4])
    code, _, err = setrl("report", first, "--output", tmp_path)
    assert (code, "holds other files" in err) == (2, True)
    assert [path.name for path in tmp_path.iterdir()] == ["first.jsonl"]
    for arguments, message in (
        ((first, first), "each file must be given once"),
        ((first, tmp_path), "is neither a run of setrl, an evaluation file or a log"),
        ((first, "--publish", tmp_path / "p"), "--publish needs the folder of a run"),
        ((tmp_path / "none", "--k", 2), "--output and --k are for a report of files"),
    ):
        code, _, err = setrl("report", *arguments)
        assert (code, message in err) == (2, True), err
    other = tmp_path / "other.jsonl"
    other.write_text(json.dumps({"qid": "x", "correct": 1}) + "\n")
    code, _, err = setrl("report", first, other, "--output", tmp_path / "new")
    assert (code, "first and other must have common problems" in err) == (3, True)
    assert not (tmp_path / "new").exists()


def test_means_over_other_problems_stand_on_no_frontier(setrl, tmp_path):
    """Strategies of one right sample are unknown in one log, whose mean is over one problem."""
    rows = [
        {"qid": p, "correct": i < 2, "strategy": f"way {i % 2}"} for p in "ab" for i in range(4)
    ]
    lacking = [{**row, "strategy": None} if row["qid"] == "a" else row for row in rows]
    for name, log_rows in (("first", rows), ("second", lacking), ("third", rows)):
        path = tmp_path / f"{name}.jsonl"
        path.write_text("".join(json.dumps(row) + "\n" for row in log_rows))
    shown = {}
    for name in ("second", "third"):
        paths = tmp_path / "first.jsonl", tmp_path / f"{name}.jsonl"
        assert setrl("report", *paths, "--output", tmp_path / name)[0] == 0
        page = (tmp_path / name / "report.html").read_text()
        data = json.loads(page.partition('id="data">')[2].partition("</script>")[0])
        shown[name] = set(data["frontiers"][0]["points"]["first"])
    assert "correct_strategies@4" in shown["third"]
    assert shown["second"] == shown["third"] - {"correct_strategies@4"}


def test_tasks_are_the_same_in_a_report_a_comparison_and_the_explorer(setrl, tmp_path):
    rows = [{"task": task, "qid": p, "correct": i < p + first} for first, task in enumerate("xy")
            for p in range(4) for i in range(4)]  # fmt: skip
    better = [{**row, "correct": row["correct"] or row["task"] == "y"} for row in rows]
    paths = [tmp_path / "first.jsonl", tmp_path / "second.jsonl"]
    for path, found in zip(paths, (rows, better), strict=True):
        path.write_text("".join(json.dumps(row) + "\n" for row in found))
    setrl("report", *paths, "--output", tmp_path / "report")
    page = words((tmp_path / "report" / "report.html").read_text())
    compared = setrl("compare", *paths, "--metrics", "pass")[1]
    evaluated = setrl("evaluate", paths[0], "--metrics", "pass")[1]
    explored = PageTable.of(LogIndex(FileLog(paths[0], LogOptions())).of_all()[0]).by_task()
    assert [row[:2] for row in explored["rows"]] == [["x", "4"], ["y", "4"], ["macro average", "8"]]
    for task, problems, cell in explored["rows"]:
        assert f"{task:13}  {problems:>8}  {cell}" in evaluated
        value, ends = cell.split(" ", 1)
        assert f'{task}: first</th><td data-value="{problems}">{problems}</td>' in page
        assert f">{value}<small>{ends}</small>" in page
    gap = re.search(r"^y +4  (\S+) points (\[.*?\])", compared, re.MULTILINE)
    row = page.partition("y: second − first</th>")[2].partition("</tr>")[0]
    assert f"{gap[1]}<small>{gap[2]}</small>" in row
