"""The report of a control run."""

from __future__ import annotations

import json
import math
import re
from pathlib import Path

import numpy as np
import pytest
import yaml

from setrl.evaluate.looks import looks
from setrl.logs.run import Run
from setrl.show.report import publish_report, write_report
from setrl.show.report.page import charts, facts, render
from setrl.show.report.run import ReportedRun
from setrl.show.report.run_state import env_steps_in_words, warnings_of
from setrl.show.report.style import LIGHT, numbers
from setrl.show.report.tables import tables
from setrl.support import files
from setrl.support.wording import MISSING

ARMS = {
    "base": (0.4, 5.0),
    "ppo_ent_0.5": (0.99, 1.2),
    "ppo_ent_0.8": (0.95, 3.0),
    "poly_n8_k4": (0.99, 4.5),
}


@pytest.fixture
def run_dir(tmp_path: Path) -> Path:
    folder = tmp_path / "run"
    for arm, (success, goals) in ARMS.items():
        seeds = [folder / arm] if arm == "base" else [folder / arm / f"seed_{s}" for s in range(3)]
        for seed, place in enumerate(seeds):
            metrics = {
                "success": success,
                "effective_goals": goals + 0.1 * seed,
                "hidden_pass@32": goals / 5,
                "path_length": None if seed == 1 else 4.0,
            }
            write(place / "evaluation.json", {"schema_version": 1, "metrics": metrics})
            if arm != "base":
                lines = [{"step": s, "rollout/ep_rew_mean": s / 90} for s in range(10, 100, 10)]
                (place / "metrics.jsonl").write_text("".join(f"{json.dumps(x)}\n" for x in lines))
                trunk = {"reset_seed": 1, "return": 0.0, "actions": [0], "states": []}
                write(place / "rollouts" / "step_000010.jsonl", trunk)
    task = {"name": "goals", "limit": 9, "kinds": "two"}
    config = {"name": "try", "task": task, "total_steps": 90, "seeds": [0, 1, 2]}
    config["arms"] = {arm: {} for arm in ARMS if arm != "base"}
    (folder / "config.yaml").write_text(yaml.safe_dump(config, sort_keys=False))
    run = {"schema_version": 1, "kind": "control", "name": "try <b>", "command": "setrl control"}
    write(folder / "run.json", run)
    return folder


def write(path: Path, value: dict[str, object]) -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(json.dumps(value))


def test_means_and_standard_errors_are_over_seeds(run_dir: Path) -> None:
    data = ReportedRun(run_dir)
    found = data.outcome("poly_n8_k4", "effective_goals")
    assert found.value == pytest.approx(4.6)
    assert found.stderr == pytest.approx(np.std([0, 0.1, 0.2], ddof=1) / math.sqrt(3))
    assert data.outcome("poly_n8_k4", "path_length").value == 4.0
    assert math.isnan(data.outcome("base", "effective_goals").stderr)
    assert math.isnan(data.outcome("base", "nothing").value)


def test_the_table_has_what_arms_cost_in_steps_and_in_resets(run_dir: Path) -> None:
    seed = Run(run_dir).seed("poly_n8_k4", 0)
    rows = [
        {**row, "rollout/resets": row["step"] // 10} for row in files.read_lines(seed.metrics_file)
    ]
    files.write_lines(seed.metrics_file, rows)
    [table] = tables(ReportedRun(run_dir))
    place = table.columns.index("steps")
    assert table.columns[place : place + 2] == ("steps", "resets")
    cost = {name: [cell.text for cell in cells[place : place + 2]] for name, cells in table.rows}
    assert cost[ReportedRun(run_dir).looks["poly_n8_k4"].label] == ["90", "9"]
    assert cost[ReportedRun(run_dir).looks["ppo_ent_0.5"].label] == ["90", MISSING]


def test_success_is_held_against_the_measures_of_diversity(run_dir: Path) -> None:
    frontier = charts(ReportedRun(run_dir))[0]
    left, right = frontier.draw(LIGHT).axes
    assert left.get_xlabel() == right.get_xlabel() == "success"
    titles = [ax.get_title(loc="left") for ax in (left, right)]
    assert titles == ["effective goals", "hidden pass@32"]


def test_the_page_asks_the_network_nothing_and_escapes_what_it_shows(run_dir: Path) -> None:
    page = write_report(run_dir).read_text()
    assert "try &lt;b&gt;" in page
    assert "try <b>" not in page
    assert "default-src &#39;none&#39;; script-src &#39;sha256-" in page
    before_the_script = page[: page.index('<script type="application/json"')]
    assert "http" not in before_the_script.replace("http-equiv", "")
    assert not re.search(r"<(?:link|img|iframe)\b|src=", before_the_script)
    assert "4.600" in page
    assert "± 0.058" in page


def test_the_script_reads_the_outcomes_and_one_grid_of_steps(run_dir: Path) -> None:
    page = write_report(run_dir).read_text()
    text = page.split('id="data">')[1].split("</script>")[0]
    found = json.loads(text)
    arms = {one["arm"]: one["metrics"] for one in found["outcomes"]["arms"]}
    assert arms["poly_n8_k4"]["effective_goals"]["value"] == pytest.approx(4.6)
    assert arms["poly_n8_k4"]["effective_goals"]["seeds"] == pytest.approx([4.5, 4.6, 4.7])
    assert arms["poly_n8_k4"]["path_length"]["seeds"] == [4.0, None, 4.0]
    assert found["outcomes"]["quality"] == "success"
    [panel] = found["training"]
    steps = [curve["steps"] for curve in panel["curves"].values()]
    assert steps[0] == steps[1] == steps[2]
    assert found["verdict"][0] == "ppo ent 0.5 and poly n8 k4 have the highest success: 0.99."
    assert found["time"][0]["seconds"] is None  # nothing was logged, and nothing is guessed


def test_a_published_page_has_every_arm_and_its_figures(run_dir: Path, tmp_path: Path) -> None:
    page = publish_report(run_dir, tmp_path / "out")
    text = page.read_text()
    for name in ("frontier.png", "summary.json", "config.yaml"):
        assert (page.parent / name).exists()
    assert "| poly n8 k4 | 0.990<br>± 0.000 | 4.600<br>± 0.058 |" in text


def test_lines_join_the_arms_of_a_sweep_in_order(run_dir: Path) -> None:
    figure = charts(ReportedRun(run_dir))[0].draw(LIGHT)
    lines = [line for line in figure.axes[0].lines if len(line.get_xdata()) == 2]
    assert len(lines) == 1
    np.testing.assert_allclose(lines[0].get_xdata(), [0.99, 0.95])


def test_every_arm_is_a_point_with_its_bars(run_dir: Path) -> None:
    axes = charts(ReportedRun(run_dir))[0].draw(LIGHT).axes[0]
    points = {
        tuple(np.round(line.get_xydata()[0], 3))
        for line in axes.lines
        if line.get_marker() != "None"
    }
    assert points == {(0.4, 5.0), (0.99, 1.3), (0.95, 3.1), (0.99, 4.6)}


def test_an_unfinished_run_has_a_page(tmp_path: Path) -> None:
    run = {"schema_version": 1, "kind": "control", "name": "started"}
    write(tmp_path / "run" / "run.json", run)
    assert "Nothing has been evaluated yet" in write_report(tmp_path / "run").read_text()


def test_sweeps_and_their_looks() -> None:
    assert numbers("poly_n64_k32") == (64.0, 32.0)
    arms = ["ppo_ent_0", "ppo_ent_0.1", "poly_p3_w5", "poly_whole", "mine", "yours"]
    found = looks(arms)
    assert found["ppo_ent_0"].hue == found["ppo_ent_0.1"].hue
    assert drawn_as(found["ppo_ent_0"]) != drawn_as(found["ppo_ent_0.1"])
    assert found["poly_p3_w5"].hue == found["poly_whole"].hue
    assert found["poly_p3_w5"].marker != found["poly_whole"].marker
    assert found["mine"].hue != found["yours"].hue


def drawn_as(look):
    return look.hue, look.line, look.marker


def test_facts_are_in_words(run_dir: Path) -> None:
    found = facts(ReportedRun(run_dir))
    assert found["task"] == "goals (limit 9, kinds two)"
    assert (found["seeds"], found["command"]) == ("0, 1, 2", "setrl control")


def logged(run_dir: Path, arm: str, last: int, **values: object) -> None:
    """Log one update of each seed of an arm, after so many steps."""
    for path in run_dir.glob(f"{arm}/seed_*/metrics.jsonl"):
        write(path, {"step": last, **values})


def test_steps_are_as_they_were_counted(run_dir: Path) -> None:
    logged(run_dir, "poly_n8_k4", 93)
    data = ReportedRun(run_dir)
    sentence = "Every arm had about the same number of environment steps (90 to 93)"
    assert env_steps_in_words(data).startswith(sentence)
    assert sentence in charts(data)[0].note
    assert warnings_of(data) == []


def test_arms_with_different_numbers_of_steps_are_not_called_equal(run_dir: Path) -> None:
    logged(run_dir, "poly_n8_k4", 4168)
    data = ReportedRun(run_dir)
    [warned] = warnings_of(data)
    counts = "ppo ent 0.5 had 90, ppo ent 0.8 had 90 and poly n8 k4 had 4,168"
    assert counts in warned
    assert "same number of environment steps (" not in render(data)


def test_credit_that_was_never_given_is_warned_of(run_dir: Path) -> None:
    logged(run_dir, "poly_n8_k4", 90, **{"vines/advantage_size": None})
    found = warnings_of(ReportedRun(run_dir))
    assert len(found) == 3
    assert found[0].startswith("poly n8 k4, seed 0, learned as PPO does: no step")
    logged(run_dir, "poly_n8_k4", 90, **{"vines/advantage_size": 0.1})
    assert warnings_of(ReportedRun(run_dir)) == []
