"""Policies are pretrained once, and every arm and seed starts from the same weights."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest

from setrl.control.config import ControlConfig
from setrl.control.resolved import resolve
from setrl.control.sb3.arm import Learner
from setrl.logs.run import Seed

TASK = {"name": "studies.triangles:Triangles", "nodes": 12, "edge_probability": 0.5}


def weights(cache: Path, seed: int = 0, **changes: Any) -> dict[str, np.ndarray]:
    """Return the weights with which an arm of a task with demonstrations starts."""
    task = {**TASK, "pretrain_epochs": 3, **changes}
    config = ControlConfig(name="test", task=task, arms={"ppo": {}})
    return dict(Learner(resolve(config), "ppo", seed, cache, Seed(cache)).weights())


def test_a_warm_start_is_the_same_for_every_seed_and_made_once(tmp_path, monkeypatch):
    first, elsewhere = weights(tmp_path / "a"), weights(tmp_path / "b", seed=1)
    monkeypatch.setattr(Learner, "clone", lambda *_: pytest.fail("it is made once"))
    second = weights(tmp_path / "a", seed=1)
    for name, weight in first.items():
        np.testing.assert_array_equal(weight, second[name])
        np.testing.assert_array_equal(weight, elsewhere[name])


def test_another_task_is_another_start(tmp_path):
    weights(tmp_path)
    weights(tmp_path, graph_seed=1)
    assert len(list(tmp_path.glob("policy-*"))) == 2
