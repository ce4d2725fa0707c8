"""What the repository keeps of the recipe's runs, and the page that is made of it."""

import json
import re
import shutil
from pathlib import Path

import pytest
import yaml

from recipes.smollm2 import results
from setrl.show.report import style
from setrl.support import files
from tests import fake_run

ROOT = Path(__file__).parents[2]


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    """A folder as cpu.sh leaves it, with made-up arms."""
    tmp_path = tmp_path_factory.mktemp("smollm2")
    (tmp_path / "warmup" / "model").mkdir(parents=True)
    lines = [{"step": n + 1, "loss": 2.0 - n / 10, "tokens": 400} for n in range(15)]
    files.write_lines(tmp_path / "warmup" / "metrics.jsonl", lines)
    look = {"step": 10, "pass@1": 0.34, "pass@32": 0.9, "right strategies in 32": 3.25}
    files.write_lines(tmp_path / "warmup" / "looks.jsonl", [{**look, "readable": 0.99}])
    run = fake_run.make(tmp_path / "runs" / "countdown", problems=8, n=64)
    config = yaml.safe_load((run / "config.yaml").read_text())
    arms = {**config["arms"], "concave_0": {"method": "concave_counts", "alpha": 0}}
    (run / "config.yaml").write_text(
        yaml.safe_dump(
            {**config, "learning_rate": 2e-4, "arms": arms, "model": str(tmp_path / "model")}
        )
    )
    for seed in run.glob("*/seed_*"):
        files.write_json(seed / "evaluation" / "summary.json", {})
        line = {"reward/mean": 0.5, "strategies/correct_per_prompt": 1.25}
        files.write_lines(seed / "metrics.jsonl", [{"step": n + 1, **line} for n in range(20)])
    heats = tmp_path / "runs" / "temperatures"
    heats.mkdir()
    shutil.copy(run / "base" / "evaluation" / "test.jsonl", heats / "base_0.5.jsonl")
    for seed in (0, 1):
        one = run / "grpo" / f"seed_{seed}" / "evaluation" / "test.jsonl"
        shutil.copy(one, heats / f"grpo_1.3_seed_{seed}.jsonl")
    words = tmp_path / "runs" / "svamp"
    words.mkdir()
    shutil.copy(heats / "base_0.5.jsonl", words / "base_0.7.jsonl")
    return tmp_path


@pytest.fixture(scope="module")
def kept(folder):
    """What the repository keeps of it, with coarse pictures."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(style, "DPI", 40)
        results.gather(folder, folder / "kept")
    return folder / "kept"


def test_the_page_is_made_from_the_committed_files():
    assert results.PAGE.read_text(encoding="utf-8") == results.page()


def test_the_table_of_the_readme_has_the_committed_numbers():
    summary = files.read_json(results.RESULTS / results.RUN / "summary.json")
    metrics = {name: arm["metrics"] for name, arm in summary["splits"]["test"]["arms"].items()}
    warm = files.read_json(results.RESULTS / results.HEATS)["models"]["base_0.5"]
    labels = {results.LABELS[arm]: found for arm, found in metrics.items()}
    readme = (
        (ROOT / "README.md").read_text(encoding="utf-8").partition("**A pretrained model.**")[2]
    )
    rows = dict(re.findall(r"^\| ([a-zA-Z].*?) \| (.*) \|$", readme.split("\n\n")[1], re.MULTILINE))
    assert rows.keys() == {*labels, "base, sampled at 0.5"}
    for name, row in rows.items():
        found = labels.get(name, warm)
        shares = [f"{100 * found[key]['value']:.1f}" for key in ("pass@1", "pass@8", "majority@32")]
        assert row.split(" | ") == [*shares, f"{found['correct_strategies@32']['value']:.2f}"], name


def test_what_is_kept_are_the_numbers_of_the_run(kept):
    warm = json.loads((kept / "warmup.json").read_text())
    assert (warm["done"], warm["updates"], warm["tokens"]) == (True, 15, 6000)
    assert warm["loss_of_ten_updates"] == [1.55, 0.8]
    heats = json.loads((kept / "temperatures.json").read_text())["models"]
    assert set(heats) == {"base_0.5", "grpo_1.3"}
    words = json.loads((kept / "svamp.json").read_text())["models"]["base_0.7"]
    assert words["pass@8"]["value"] == heats["base_0.5"]["pass@8"]["value"]
    assert set(words) == set(results.WORD_COLUMNS)
    arms = json.loads((kept / "countdown" / "summary.json").read_text())["splits"]["test"]["arms"]
    for heat, arm in {"base_0.5": "base", "grpo_1.3": "grpo"}.items():
        for metric, found in heats[heat].items():
            assert found["value"] == pytest.approx(arms[arm]["metrics"][metric]["value"])


def test_the_page_has_what_was_kept_and_says_what_was_not_run(folder, kept):
    page = results.page(kept)
    assert "| 10 | 34.0% | 90.0% | 3.2 | 99.0% |" in page
    assert "finished: 15 updates, 480 right expressions, 6,000 tokens" in page
    assert page.count(results.NOT_YET) == 1  # the sweep
    arms = json.loads((kept / "countdown" / "summary.json").read_text())["splits"]["test"]["arms"]
    value = arms["grpo"]["metrics"]["pass@1"]["value"]
    assert f"| GRPO | {100 * value:.1f} [" in page
    assert "| Poly-EPO, K = 4 − GRPO |" in page
    assert "- **Poly-EPO, K = 4 against GRPO**: pass@1 " in page
    assert "Not run yet: concave counts, α = 0." in page
    over = json.loads((kept / "countdown" / "steps.json").read_text())["arms"]
    assert over["grpo"]["strategies/correct_per_prompt"] == [1.25, 1.25]
    assert (kept / "countdown" / "steps.png").exists()
    for name in ("README.md", "config.yaml"):
        assert str(folder.parent) not in (kept / "countdown" / name).read_text()


def test_learning_rates_are_in_their_order_and_the_page_says_which_is_taken(tmp_path):
    found = {"0.0002": 0.34, "0.001": 0.365}
    for rate, pass_1 in [("1e-3", 0.365), ("2e-4", 0.34)]:
        run = tmp_path / "runs" / f"sweep_{rate}"
        run.mkdir(parents=True)
        (run / "config.yaml").write_text(f"learning_rate: {rate}\n")
        arms = {name: {"metrics": {"pass@1": {"value": 0.3 if name == "base" else pass_1}}}
                for name in ("base", "grpo", "poly_epo")}  # fmt: skip
        files.write_json(run / "summary.json", {"splits": {"validation": {"arms": arms}}})
    results.gather(tmp_path, tmp_path / "kept")
    kept = files.read_json(tmp_path / "kept" / "sweep.json")["pass@1"]
    assert {rate: arms["grpo"] for rate, arms in kept.items()} == found
    assert [*kept] == [*found]
    page = results.page(tmp_path / "kept")
    assert "| 0.001 | 30.0 | 36.5 | 36.5 |\n\nThe plan's rule takes 0.001" in page


def test_an_unfinished_folder_gives_a_page_without_results(folder, tmp_path):
    shutil.copytree(folder / "warmup", tmp_path / "warmup", ignore=shutil.ignore_patterns("model"))
    results.gather(tmp_path, tmp_path / "kept")
    page = results.page(tmp_path / "kept")
    assert "**not finished**: 15 updates" in page
    assert page.count(results.NOT_YET) == 4
