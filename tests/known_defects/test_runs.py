"""Damaged files of runs."""

import json
import re

import pytest
from safetensors import SafetensorError

from setrl.lm.arm import train_arm
from setrl.lm.callbacks import StopInOrder
from setrl.lm.run import run_comparison
from setrl.logs.run_folder import TrainingRun
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
    stop = StopInOrder(config.num_iterations)

    def train(on_step):
        return train_arm(config, "poly_epo", 3, str(base), run, on_step, stop)

    train(lambda step: stop.ask() if step == 4 else None)
    stop.asked = False
    spoil(run.last_checkpoint() / file)
    assert train(lambda step: None)


@pytest.mark.xfail(strict=True, raises=AssertionError, reason="it is written before the run ends")
def test_the_report_of_a_finished_run_calls_it_finished(make_config, tmp_path):
    config = make_config(steps=1, arms={"grpo": {"method": "grpo"}}, seeds=[0])
    page = run_comparison(config, tmp_path / "run", cache=tmp_path, show_progress=False).read_text()
    assert "finished" in page
    assert not re.search(r"status[^<]*(<[^>]*>\s*)+running", page)
