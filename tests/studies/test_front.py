"""The rules of the front's study on made-up numbers, and what it keeps of a run."""

import json
import re

import numpy as np
import pytest

from setrl.evaluate.intervals import t_quantile
from setrl.evaluate.summary import summarise_run
from setrl.support.errors import RunError
from studies import front
from studies.front import PASS, RIGHT, WIDE, Run, chosen, collect, lead, ranked, verdict
from tests import fake_run


def made_up(arms, differences=None):
    """A run with these values of pass@1 and right strategies, and intervals of differences."""
    values = {
        arm: {PASS: {"value": one}, RIGHT: {"value": right}} for arm, (one, right) in arms.items()
    }
    intervals = {
        arm: {
            name: dict(zip(("low", "value", "high"), three, strict=True))
            for name, three in zip((PASS, RIGHT), both, strict=True)
        }
        for arm, both in (differences or {}).items()
    }
    return Run("made_up", {"seeds": [1, 2], "steps": 1}, {"test": values}, {"test": intervals})


def test_the_screen_chooses_the_best_arm_of_each_family():
    screen = made_up(
        {
            "base": (1.0, 10),
            "poly_epo_4": (0.99, 10),  # fixed, so it is not ranked
            "concave_0_penalty": (0.95, 9),
            "concave_0.5": (0.95, 8.9),  # of the same family
            "poly_epo_8": (0.9, 9),
            "ucpo": (0.9, 5),
        }
    )
    other = made_up({"sum_4": (0.92, 9)})
    assert [arm for _, _, arm in ranked([screen, other])] == [
        "concave_0_penalty", "concave_0.5", "sum_4", "poly_epo_8", "ucpo",
    ]  # fmt: skip
    assert chosen([screen, other]) == ["concave_0_penalty", "sum_4", "poly_epo_8"]
    assert front.score(screen, "concave_0_penalty") == pytest.approx(95 + 2 * 9)


LINE = {"poly_epo_2": (0.97, 6.0), "poly_epo_4": (0.94, 8.5), "poly_epo_8": (0.9, 9.5)}


def test_the_lead_is_over_the_line_through_the_sizes():
    run = made_up(LINE | {"mine": (0.955, 8.0), "right_of_it": (0.99, 6.5), "left": (0.5, 9.6)})
    assert lead(run, "mine") == pytest.approx(8.0 - (6.0 + 8.5) / 2)
    assert lead(run, "right_of_it") == pytest.approx(0.5)  # against K = 2
    assert lead(run, "left") == pytest.approx(0.1)  # against K = 8


@pytest.mark.parametrize(
    ("passes", "strategies", "at", "said"),
    [
        ((-0.01, 0.001, 0.01), (0.2, 0.5, 0.8), (0.941, 9.0), "confirmed"),
        ((0.01, 0.02, 0.03), (-0.3, -0.05, 0.2), (0.96, 8.45), "confirmed"),
        ((0.01, 0.02, 0.03), (-0.3, -0.15, 0.2), (0.96, 8.35), "undecided"),  # too few strategies
        ((0.01, 0.02, 0.03), (-0.3, -0.2, -0.1), (0.96, 8.3), "undecided"),  # a trade
        ((-0.03, -0.02, -0.01), (-0.3, 0.1, 0.3), (0.92, 8.6), "refuted"),
        ((-0.03, -0.002, 0.01), (0.1, 0.2, 0.3), (0.938, 8.5), "undecided"),  # below the line
    ],
)
def test_the_verdict_is_that_of_the_plan(passes, strategies, at, said):
    run = made_up(LINE | {"mine": at}, {"mine": (passes, strategies)})
    assert verdict(run, "mine") == said


def test_a_run_is_kept_and_shown(tmp_path):
    arms = ("grpo", "poly_epo_2", "poly_epo_4")
    run_dir = fake_run.make(tmp_path / "front_polynomial", arms, problems=4, n=32, steps=1)
    kept = collect(run_dir, tmp_path)
    assert kept.name == "polynomial.json"
    run, summary = Run.read(kept), summarise_run(run_dir).splits["shifted"]
    found = summary.arms["grpo"].metrics[WIDE].value
    assert run.value("grpo", WIDE, "shifted") == pytest.approx(found, abs=1e-5)
    assert set(run.differences["test"]) == {"grpo", "poly_epo_2"}
    page = front.tables(tmp_path).read_text()
    assert "## polynomial" in page
    assert "](front.svg)" in page
    found = {PASS: {"value": 0.05}, RIGHT: {"value": 9.0}, WIDE: {"value": 0.9}}
    imitation = {"splits": {split: {"base": {}, "mine": found} for split in ("test", "shifted")}}
    (tmp_path / "ceiling_polynomial.json").write_text(json.dumps(imitation))
    for ax, height in zip(front.draw([run], tmp_path).axes[:3], (9.0, 9.0, 0.9), strict=True):
        assert [line.get_xydata().tolist() for line in ax.lines if line.get_marker() == "*"] == [
            [[0.05, height]]
        ]
        assert ax.get_xlim()[0] < 0.05
    (run_dir / "grpo" / "seed_1" / "evaluation" / "shifted.jsonl").unlink()
    with pytest.raises(RunError, match="grpo with seed 1 has no evaluation on shifted"):
        collect(run_dir, tmp_path)


def test_arms_with_other_judges_are_compared_with_poly_epo_of_the_same_judge(tmp_path):
    arms = ("poly_epo_4_a", "poly_epo_4_b", "concave_0_a", "concave_0_b")
    run_dir = fake_run.make(tmp_path / "front_clusters", arms, problems=4, n=32, steps=1)
    run = Run.read(collect(run_dir, tmp_path))
    for split in ("test", "shifted"):
        assert set(run.differences[split]) == {"concave_0_a", "concave_0_b"}
        for judge in "ab":
            found = run.differences[split][f"concave_0_{judge}"][RIGHT]["value"]
            of = [run.value(f"{arm}_{judge}", RIGHT, split) for arm in ("concave_0", "poly_epo_4")]
            assert found == pytest.approx(of[0] - of[1], abs=2e-5)
    assert "| — |" in front.tables(tmp_path).read_text()


@pytest.mark.parametrize("name", [*front.FINALS, "polynomial_fresh", "multiplication_fresh"])
def test_collected_differences_are_no_shorter_than_t_over_the_seeds(name):
    run = Run.read(front.FOLDER / f"{name}.json")
    for split, by_arm in run.differences.items():
        for arm, metrics in by_arm.items():
            for metric, found in metrics.items():
                mine, other = (
                    run.arms[split][one][metric]["per_seed"] for one in (arm, front.REFERENCE)
                )
                gaps = np.subtract(mine, other)
                reach = t_quantile(len(gaps) - 1, 0.95) * gaps.std(ddof=1) / np.sqrt(len(gaps))
                inside = min(found["value"] + 1, reach) if metric in front.POINTS else reach
                assert found["value"] - found["low"] >= inside - 3e-4, (split, arm, metric)


def test_arms_with_the_same_samples_differ_by_exactly_zero():
    same = Run.read(front.FOLDER / "polynomial.json").differences["test"]["poly_epo_4_gate"]
    assert {tuple(one[key] for key in ("value", "low", "high")) for one in same.values()} == {
        (0, 0, 0)
    }


WITH_INTERVAL = re.compile(r"([+-]?[\d.]+) \[(-?[\d.]+), (-?[\d.]+)\]")


def intervals(text):
    """Every value with its interval, as numbers."""
    return {tuple(map(float, found)) for found in WITH_INTERVAL.findall(text.replace("−", "-"))}


@pytest.mark.parametrize(
    "page", ["docs/front.md", "docs/choosing.md", "README.md", "docs/judges.md"]
)
def test_pages_have_the_intervals_of_the_collected_runs(page):
    root = front.FOLDER.parents[2]
    collected = intervals((front.FOLDER / "README.md").read_text(encoding="utf-8"))
    swapped = {(-value, -high, -low) for value, low, high in collected}
    text = (root / page).read_text(encoding="utf-8")
    parts = re.sub("```.*?```", "", text, flags=re.DOTALL).split("\n\n")  # commands have other runs
    text = "\n\n".join(part for part in parts if not part.startswith("**A further domain**"))
    assert intervals(text) - collected - swapped == set()
