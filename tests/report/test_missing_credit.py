"""The first line of a report: runs that stopped, and arms that lack much of their credit."""

import json
import re
from pathlib import Path

import pytest

from setrl.logs.run import Run
from setrl.show.report import page, publish_report, write_report
from setrl.show.report.run import ReportedRun
from setrl.show.report.run_state import warnings_of
from setrl.support import files
from setrl.train.runs.resume import end_run, write_status
from tests import fake_run


@pytest.fixture
def without_pictures(monkeypatch):
    """The words of a page need no pictures, which take most of the time."""
    monkeypatch.setattr(page, "_write_picture", lambda *_: None)


@pytest.fixture
def run_dir(tmp_path):
    return fake_run.make(tmp_path / "run", arms=("grpo", "poly_epo"), seeds=(0, 1), steps=10)


def log(run_dir, arm, seed, **values):
    """Add metrics to each logged step."""
    path = Run(run_dir).seed(arm, seed).metrics_file
    records = [{**record, **values} for record in files.read_lines(path)]
    files.write_lines(path, records)


@pytest.mark.usefixtures("without_pictures")
def test_a_run_without_faults_warns_of_nothing(run_dir):
    log(run_dir, "poly_epo", 0, **{"advantage/skipped": 0.09, "advantage/left_out": 0.3})
    assert warnings_of(ReportedRun(run_dir)) == []
    assert 'role="alert"' not in write_report(run_dir).read_text()


@pytest.mark.parametrize("spoil", [Path.unlink, lambda path: path.write_text("{}")])
def test_a_log_of_samples_that_is_not_what_the_run_wrote_is_named(run_dir, spoil):
    seed = Run(run_dir).seed("grpo", 1)
    end_run(seed, True, 10)
    assert warnings_of(ReportedRun(run_dir)) == []
    step, path = next(iter(seed.rollouts.items()))
    spoil(path)
    assert warnings_of(ReportedRun(run_dir)) == [
        f"Missing, or not what the run wrote: grpo/seed_1/rollouts/step_{step:06d}.jsonl."
    ]


@pytest.mark.usefixtures("without_pictures")
def test_a_tenth_without_credit_is_the_first_line(run_dir):
    log(run_dir, "poly_epo", 1, **{"advantage/skipped": 0.125})
    [sentence] = warnings_of(ReportedRun(run_dir))
    assert sentence.startswith(
        "Poly-EPO had no credit for 12.5% of its training prompts in its worst seed"
    )
    html = write_report(run_dir).read_text()
    first = re.search(r"<main>\s*<p role=\"alert\" style=\"background:#B3261E[^>]*>(.*?)</p>", html)
    assert sentence in re.sub(r"<[^>]*>", "", first[1])


def test_a_run_without_any_signal_is_named(run_dir):
    log(run_dir, "grpo", 0, **{"advantage/dead_groups": 1.0})
    log(run_dir, "grpo", 1, **{"advantage/dead_groups": 1.0, "reward/pass@1": 1.0})
    log(run_dir, "poly_epo", 0, **{"advantage/dead_groups": 0.9})
    assert warnings_of(ReportedRun(run_dir)) == [
        "GRPO, seed 0, learned nothing: all its advantages are 0."
    ]


@pytest.mark.usefixtures("without_pictures")
def test_a_run_that_stopped_is_the_first_line_also_in_markdown(run_dir, tmp_path):
    folder = run_dir / "poly_epo" / "seed_1"
    write_status(folder, "failed", error="the credit is <missing> for 20 of the last 32 prompts")
    html = write_report(run_dir).read_text()
    start = html[html.index("<main>") : html.index('<div id="page">')]
    assert "Poly-EPO, seed 1, failed after 10 steps" in start
    assert "the credit is &lt;missing&gt; for 20 of the last 32 prompts" in start
    published = publish_report(run_dir, tmp_path / "published").read_text()
    assert published.split("\n\n")[1].startswith("> **Warning:** Poly-EPO, seed 1, failed")
    write_status(folder, "finished")
    assert warnings_of(ReportedRun(run_dir)) == []


@pytest.mark.usefixtures("without_pictures")
def test_arms_that_were_never_judged_have_no_numbers_of_strategies(run_dir):
    for path in run_dir.rglob("evaluation/*.jsonl"):
        records = files.read_lines(path)
        files.write_lines(path, [{**one, "strategies": [None] * one["n"]} for one in records])
    for seed in (0, 1):
        keys = ("per_prompt", "correct_per_prompt", "top_share", "degenerate")
        log(run_dir, "poly_epo", seed, **{f"strategies/{key}": None for key in keys})
    write_report(run_dir)
    summary = json.loads((run_dir / "summary.json").read_text())
    for arm in summary["splits"]["test"]["arms"].values():
        known = {name.partition("@")[0] for name in arm["metrics"]}
        assert not known & {"strategies", "correct_strategies", "top_share", "degenerate"}
        assert "pass" in known
    published = publish_report(run_dir, run_dir.parent / "published").read_text()
    tables = [line for line in published.splitlines() if line.startswith("| Poly-EPO |")]
    evaluated, trained = tables[0].split(" | "), tables[-1].split(" | ")
    assert "0.00" not in tables[0]
    assert evaluated[-3:] == ["—", "—", "— |"]
    assert trained[2:5] == ["—", "—", "—"]
    assert "nan" not in published
