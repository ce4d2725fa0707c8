"""The table of the field: functions out of sources, what is found in them, and its page."""

from __future__ import annotations

import json
from dataclasses import replace
from hashlib import sha256
from pathlib import Path

import numpy as np
import pytest

from setrl.support.errors import DataError
from studies.estimators import page, registry, run
from studies.estimators.source import Package

DOCS = Path(__file__).parents[2] / "docs"

CORE = '''
import numpy as np
from absent import register, Base
from .tools import centred
import lib.tools as tools

SCALE = tools.TWO / 2

@register("mean")
def minus_mean(rewards, group_size: absent.Size = SCALE):
    """Reward minus the mean, of one group."""
    from absent.logging import logger
    logger.info("called")
    return SCALE * centred(np.array(rewards))

class Estimator(Base):
    @register("twice")
    def compute(self, rewards, group_size):
        return self.factor * centred(np.array(rewards))

class Made(Estimator):
    def __init__(self, factor=3):
        self.factor = factor

class Trainer:
    def generate(self, inputs):
        rewards = self.model(inputs)
        mean = sum(rewards) / len(rewards)
        if self.scaled:
            mean = mean / 2
        advantages = [reward - mean for reward in rewards]
        self.log(advantages)
        outputs = None
'''
TOOLS = "TWO = 2\n\ndef centred(rewards):\n    return rewards - rewards.mean()\n"
REWARDS = [1.0, 0.0, 0.0, 1.0]


@pytest.fixture
def package(tmp_path: Path) -> Package:
    folder = tmp_path / "thing-1.0"
    (folder / "lib").mkdir(parents=True)
    (folder / "lib" / "core.py").write_text(CORE)
    (folder / "lib" / "tools.py").write_text(TOOLS)
    return Package(folder)


def test_a_function_is_loaded_without_what_its_package_imports(package):
    loaded = package.load("lib/core.py:minus_mean")
    assert loaded.function(REWARDS).tolist() == [0.5, -0.5, -0.5, 0.5]
    assert CORE.splitlines()[loaded.line - 1].startswith("def minus_mean")
    assert loaded.sha256 == sha256(CORE.encode()).hexdigest()


def test_a_method_is_a_function_and_a_class_can_be_made(package):
    compute = package.load("lib/core.py:Estimator.compute").function
    assert compute(registry.TrainerSettings(factor=2), REWARDS, 4).tolist() == [1, -1, -1, 1]
    made = package.load("lib/core.py:Made").function()
    assert made.compute(REWARDS, 4).tolist() == [1.5, -1.5, -1.5, 1.5]


def test_a_part_of_a_function_reads_what_was_made_before(package):
    part = package.load_part(
        "lib/core.py:Trainer.generate", "mean", "outputs", "self, rewards", "advantages"
    )
    logged: list = []
    me = registry.TrainerSettings(scaled=True, log=logged.append)
    assert part.function(me, [1.0, 0.0]) == [0.75, -0.25]
    assert logged == [[0.75, -0.25]]


@pytest.mark.parametrize(
    ("where", "message"),
    [
        ("lib/gone.py:f", "no such file; is .* the right version"),
        ("lib/core.py:gone", "defines no gone; is it the right version"),
        ("lib/core.py:Estimator.gone", "defines no Estimator.gone"),
    ],
)
def test_what_is_not_there_is_named(package, where, message):
    with pytest.raises(DataError, match=message):
        package.load(where)


def test_a_stub_decides_nothing(package):
    stub = package.imported("absent.config", "DEBUG")
    with pytest.raises(
        DataError, match=r"depends on absent\.config\.DEBUG, which is not installed"
    ):
        bool(stub)


def test_a_row_says_what_the_page_shows(package, monkeypatch):
    monkeypatch.setattr(run, "SIZES", (2, 4))
    release = registry.Release("thing", "Thing", "1.0")
    row = registry.Row(release, "mean", "lib/core.py:minus_mean", "minus the mean", "pass@2")
    found = run.examine(row, row.load(package.folder.parent))
    assert found["is"] == "3·∇pass@1"
    assert found["off"] == {"2": 0, "4": 0}
    assert found["squares"] == found["variance"]["ratio"] == 1
    assert not found["claim"]["holds"]
    assert found["paid"] == {"right": [0, 0.75, 0.5, 0.25, 0], "wrong": [0, -0.25, -0.5, -0.75, 0]}
    # Beside one right sample, pass@2 needs no difference between right and wrong.
    shown = found["counterexample"]
    assert (shown["size"], shown["others"], shown["needed"]) == (2, [1.0], 0)
    assert shown["paid"] == 0.5
    block = page.written(
        [{"title": "Thing", "package": "thing", "version": "1", "home": "", "rows": [found]}]
    )
    assert (
        "; it is 3·∇pass@1. In groups of 2, beside a right sample, a right" in block["differences"]
    )
    assert block["table"].endswith("| Thing: mean |")


def test_the_registry_can_be_read_and_is_what_was_run():
    result = json.loads((DOCS / "results/estimators/estimators.json").read_text())
    was = [(one["package"], row["name"]) for one in result["packages"] for row in one["rows"]]
    now = [(row.release.name, row.name) for row in registry.rows()]
    assert was == now
    assert len(set(now)) == len(now)
    known = {**registry.TRAINERS, **registry.INSIDE, "": None}
    assert all(row.trainer in known for row in registry.rows())


def test_the_page_is_that_of_the_result(tmp_path):
    copy = tmp_path / "estimators.md"
    copy.write_text((DOCS / "estimators.md").read_text())
    page.write(DOCS / "results/estimators/estimators.json", copy)
    assert copy.read_text() == (DOCS / "estimators.md").read_text()
    copy.write_text("# No blocks\n")
    with pytest.raises(DataError, match="has no block from <!-- summary --> to <!-- end -->"):
        page.write(DOCS / "results/estimators/estimators.json", copy)


@pytest.fixture(scope="module")
def found() -> dict:
    result = json.loads((DOCS / "results/estimators/estimators.json").read_text())
    return {(one["package"], row["name"]): row for one in result["packages"] for row in one["rows"]}


@pytest.mark.parametrize(
    ("package_name", "name", "objective"),
    [
        ("verl", "grpo_passk", "2·∇pass@4"),
        ("verl", "rloo", "4·∇pass@1"),
        ("verl", "opo, equal lengths", "3·∇pass@1"),
        ("verl", "grpo", None),
        ("verl", "gpg", "4·∇(Σ pass@k/k for k ≤ 3)"),
        ("setrl", "poly_epo, set_size=2", "∇polychromic@2"),
    ],
)
def test_what_is_known_of_an_estimator_was_found(found, package_name, name, objective):
    assert found[package_name, name]["is"] == objective


def test_a_deviation_is_harmless_in_groups_of_three_and_not_in_groups_of_four(found):
    """GRPO by the definition: (r − mean)/std pays beside m right of the N − 1 others."""

    def gains(size: int) -> np.ndarray:
        def paid(right: int, is_right: bool) -> float:
            rewards = np.arange(size) < right
            std = rewards.std(ddof=1) or 1.0
            return (is_right - rewards.mean()) / std

        return np.array([paid(m + 1, True) - paid(m, False) for m in range(size)])

    assert np.ptp(gains(3)) < 1e-12 < np.ptp(gains(4))
    off = found["verl", "grpo"]["off"]
    assert off["3"] < 1e-4 < off["4"] < off["8"]


def test_our_own_claims_hold(found):
    ours = [row for (name, _), row in found.items() if name == "setrl" and row["claims"]]
    assert len(ours) >= 5
    assert all(row["claim"]["holds"] for row in ours)


def test_our_methods_are_rows_with_their_own_words():
    row = next(row for row in registry.rows() if row.release.is_ours and row.name == "rloo")
    ready = row.load(Path("no-sources"))
    assert ready.function.name == "rloo"
    assert ready.says
    text = (DOCS.parent / ready.path).read_text().splitlines()
    assert text[ready.line - 1].startswith("def rloo")
    with pytest.raises(ValueError, match="unknown method 'rlo'; did you mean 'rloo'"):
        replace(row, where="rlo").load(Path("no-sources"))
