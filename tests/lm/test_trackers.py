"""Trackers get a training run's metrics under its own name."""

from dataclasses import MISSING, fields
from typing import get_type_hints

import pytest
from transformers import TrainerCallback
from transformers.integrations import integration_utils as integrations
from trl import GRPOConfig

from setrl.logs.run import Seed
from setrl.support.errors import ConfigError
from setrl.support.files.sections import check_values
from setrl.train.lm.trl_arguments import check_trackers, check_trainer_options
from setrl.train.lm.trl_arm import make_trainer, train_arm
from setrl.train.runs.pool import Stop


class Fake(TrainerCallback):
    """What a tracker sees: the names when training begins, and each step's metrics."""

    runs: list = []  # noqa: RUF012

    def on_train_begin(self, args, state, control, **_):
        self.runs.append((args.project, args.run_name, []))

    def on_log(self, args, state, control, logs=None, **_):
        self.runs[-1][2].append(dict(logs))


class Board(integrations.TensorBoardCallback):
    """TensorBoard's callback, without its package."""

    def __init__(self):
        self.logging_dir = None


@pytest.fixture
def fake(monkeypatch):
    available = integrations.get_available_reporting_integrations
    monkeypatch.setitem(integrations.INTEGRATION_TO_CALLBACK, "trackio", Fake)
    monkeypatch.setitem(integrations.INTEGRATION_TO_CALLBACK, "tensorboard", Board)
    names = ["trackio", "tensorboard"]
    monkeypatch.setattr(
        integrations, "get_available_reporting_integrations", lambda: [*available(), *names]
    )
    monkeypatch.setattr(Fake, "runs", [])
    return Fake


def test_a_tracker_gets_our_metrics_with_one_name_an_arm_and_seed(
    make_resolved, base, tmp_path, fake
):
    resolved = make_resolved(steps=1, trainer={"report_to": "trackio"})
    check_trainer_options(resolved)
    for arm, seed in [("grpo", 0), ("poly_epo", 7)]:
        run = Seed(tmp_path / arm)
        train_arm(resolved, arm, seed, str(base), run, lambda _: None, Stop())
    (first, one, logs), (second, other, _) = fake.runs
    assert (first, one) == ("tiny", "tiny, grpo, seed 0")
    assert (second, other) == ("tiny", "tiny, poly_epo, seed 7")
    wanted = {"reward/pass@1", "strategies/per_prompt", "advantage/dead_groups", "time/credit"}
    assert wanted <= logs[0].keys()
    assert "completions/mean_length" in logs[0]  # and TRL's


def test_tensorboard_writes_into_the_training_run(make_resolved, base, tmp_path, fake, monkeypatch):
    def folder():
        resolved = make_resolved(trainer={"report_to": ["tensorboard"], "run_name": "mine"})
        trainer = make_trainer(resolved, "grpo", 0, str(base), Seed(tmp_path / "run"))
        assert trainer.args.run_name == "mine"
        [board] = [one for one in trainer.callback_handler.callbacks if isinstance(one, Board)]
        return board.logging_dir

    assert folder() == str(tmp_path / "run" / "tensorboard")
    monkeypatch.setenv("TENSORBOARD_LOGGING_DIR", "elsewhere")
    assert folder() is None  # TensorBoard reads the variable itself


def test_every_default_of_trl_has_the_type_that_trl_declares():
    """What TRL takes is not refused: values are checked against the types of its dataclass."""
    known = {one.name: one.default for one in fields(GRPOConfig) if one.default is not MISSING}
    values = {key: getattr(value, "value", value) for key, value in known.items()}
    assert len(values) > 100
    check_values(get_type_hints(GRPOConfig), values, "trainer")
    check_values(get_type_hints(GRPOConfig), {"optim": "sgd", "max_grad_norm": 1}, "trainer")


@pytest.mark.parametrize("report_to", [None, [], "none", "all", ["none"], "trackio"])
def test_what_there_is_is_accepted(fake, report_to):
    check_trackers(report_to)


@pytest.mark.parametrize(
    ("report_to", "message"),
    [
        ("tensorbord", "report_to: unknown tracker 'tensorbord'; did you mean 'tensorboard'"),
        (["swanlab"], "trainer: report_to: swanlab is not installed: pip install swanlab"),
    ],
)
def test_a_tracker_that_is_not_there_is_refused_at_once(make_resolved, report_to, message):
    with pytest.raises(ConfigError, match=message):
        check_trainer_options(make_resolved(trainer={"report_to": report_to}))
