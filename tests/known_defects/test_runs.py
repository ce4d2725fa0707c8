"""Damaged files of runs."""

import json

import pytest
from safetensors import SafetensorError

from setrl.lm.arm import train_arm
from setrl.logs.run_folder import TrainingRun
from setrl.runs.pool import Stop
from tests.tiny import base, make_config, one_thread

__all__ = ["base", "make_config", "one_thread"]


def cut(path):
    path.write_bytes(path.read_bytes()[: path.stat().st_size // 2])


def zeros(path):
    path.write_bytes(bytes(path.stat().st_size))


@pytest.mark.xfail(
    strict=True,
    raises=(SafetensorError, json.JSONDecodeError),
    reason="the run is stuck on the error of the file's reader",
)
@pytest.mark.parametrize("spoil", [cut, zeros])
@pytest.mark.parametrize("file", ["model.safetensors", "trainer_state.json"])
def test_a_run_goes_on_from_the_checkpoint_before_a_broken_one(
    make_config, base, tmp_path, spoil, file
):
    config, run = make_config(steps=6, checkpoint_every=2), TrainingRun(tmp_path / "run")
    stop = Stop()

    def train(on_step):
        return train_arm(config, "poly_epo", 3, str(base), run, on_step, stop)

    train(lambda step: stop.ask() if step == 4 else None)
    stop.asked = False
    spoil(run.last_checkpoint() / file)
    assert train(lambda step: None)
