"""Policies are pretrained once, and every arm and seed starts from the same weights."""

from __future__ import annotations

import pytest
import torch

from setrl.control.sb3 import arm
from studies.triangles import Triangles
from tests.control.cloned import new_model, triangles


@pytest.fixture
def task():
    return triangles()


def test_a_warm_start_is_the_same_for_every_seed_and_made_once(task, tmp_path, monkeypatch):
    first, second = new_model(task, seed=0), new_model(task, seed=1)
    path = arm.warm_start(first, task, tmp_path)
    monkeypatch.setattr(arm, "_clone", lambda *_: pytest.fail("it is made once"))
    assert arm.warm_start(second, task, tmp_path) == path
    for name, weight in first.policy.state_dict().items():
        assert torch.equal(weight, second.policy.state_dict()[name])


def test_a_warm_start_does_not_depend_on_the_cache(task, tmp_path):
    first, second = new_model(task, seed=0), new_model(task, seed=1)
    for model, cache in ((first, "a"), (second, "b")):
        arm.warm_start(model, task, tmp_path / cache)
    for name, weight in first.policy.state_dict().items():
        assert torch.equal(weight, second.policy.state_dict()[name])


def test_another_task_is_another_start(task, tmp_path):
    other = Triangles(nodes=12, edge_probability=0.5, graph_seed=1, pretrain_epochs=3)
    folders = {arm.warm_start(new_model(one), one, tmp_path) for one in (task, other)}
    assert len(folders) == 2
