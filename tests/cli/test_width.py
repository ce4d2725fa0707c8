"""What `setrl evaluate` and `setrl compare` print fits a terminal of 80 columns."""

import json

import pytest

from setrl.support.wording import WIDTH
from tests.sessions import printed

pytest.importorskip("tyro")

TASKS = ("competition_math_counting_and_probability", "natural_questions", "arithmetic")


def log(path, least):
    """Three tasks of six problems and eight samples, with answers and strategies."""
    rows = [
        {"task": task, "id": problem, "answer": str(i % 3), "strategy": f"way {i * least % 5}",
         "correct": int(i >= least + problem % 2)}
        for task in TASKS for problem in range(6) for i in range(8)
    ]  # fmt: skip
    path.write_text("".join(json.dumps(row) + "\n" for row in rows))
    return path


@pytest.fixture
def logs(tmp_path):
    folder = tmp_path / "another_folder_with_a_long_name"
    folder.mkdir()
    return log(folder / "before.jsonl", 5), log(folder / "after_training.jsonl", 1)


KINDS = {
    "a comparison": "all k at once",
    "details": "detectable",
    "of all metrics": "majority@8",
    "problems": "lost by A again",
    "by task": "B − A by task",
}


@pytest.mark.parametrize("options", ["", "--metrics all", "--metrics all --details --support"])
def test_a_comparison_fits(logs, capsys, monkeypatch, options):
    monkeypatch.chdir(logs[0].parent)
    a, b = (path.name for path in logs)
    text = printed(capsys, f"compare {a} {b} --quiet {options}")
    fits(text)
    shown = list(KINDS.values()) if "support" in options else ["all k at once", "B − A by task"]
    assert all(kind in text for kind in shown)
    assert text.count("arithmetic  ") > 1  # a table that is too wide is broken into several


@pytest.mark.parametrize("options", ["", "--metrics all"])
def test_an_evaluation_fits(logs, capsys, monkeypatch, options):
    monkeypatch.chdir(logs[0].parent)
    text = printed(capsys, f"evaluate {logs[1].name} --quiet {options}")
    fits(text)
    assert "by task" in text
    assert "k  pass@k" in text


def fits(text):
    """No line is too long, and no interval is on two lines."""
    assert max(map(len, text.splitlines())) <= WIDTH
    assert all(line.count("[") == line.count("]") for line in text.splitlines())
