"""`setrl verl check`: whether verl loads the plug-in, and if not, why."""

from __future__ import annotations

import sys
from importlib import metadata

import pytest

from setrl import methods
from setrl.support.errors import ConfigError
from setrl.train.verl import check as verl_check
from tests.engines.verl import standin

ENTRY = metadata.EntryPoint("setrl", "setrl.train.verl.plugin", "verl.plugins")


@pytest.fixture(autouse=True)
def stand_in(monkeypatch):
    monkeypatch.delenv(verl_check.POLICY, raising=False)
    monkeypatch.setattr(
        metadata, "entry_points", lambda group: metadata.EntryPoints([ENTRY]).select(group=group)
    )
    standin.install(monkeypatch, standin.Store())
    monkeypatch.delattr("setrl.train.verl.plugin", raising=False)


def test_what_is_found_is_counted():
    [line] = verl_check.check_verl()
    count = len(methods.by_name) + 1  # one a method, and `setrl` for a method that a config names
    found = f"verl 0.9.1 has {count} estimators and 3 trainers of setrl: setrl_sync, "
    assert line.startswith(found)


def test_another_version_is_noted(monkeypatch):
    monkeypatch.setattr(sys.modules["verl"], "__version__", "0.10.0")
    assert "tested with verl 0.9.1" in verl_check.check_verl()[1]


def no_verl(monkeypatch):
    monkeypatch.setitem(sys.modules, "verl", None)


def old_metadata(monkeypatch):
    monkeypatch.setattr(metadata, "entry_points", lambda group: metadata.EntryPoints([]))


def switched_off(monkeypatch):
    monkeypatch.setenv(verl_check.POLICY, "none")


def others_alone(monkeypatch):
    monkeypatch.setenv(verl_check.POLICY, "mine, theirs")


def no_queue(monkeypatch):
    monkeypatch.setitem(sys.modules, "transfer_queue", None)


def name_taken(monkeypatch):
    def refuse(name):
        raise ValueError(f"Adv estimator {name} has already been registered")

    monkeypatch.setattr(sys.modules["verl.trainer.ppo.core_algos"], "register_adv_est", refuse)


def trainers_are_gone(monkeypatch):
    monkeypatch.setattr(
        sys.modules["verl.trainer.ppo.v1"], "register_trainer", lambda name: lambda made: made
    )


FAULTS = {
    no_verl: "verl cannot be imported here",
    old_metadata: "install it again in this environment",
    switched_off: "VERL_USE_EXTERNAL_PLUGINS='none' keeps setrl out",
    others_alone: "add setrl to its list",
    no_queue: "install TransferQueue",
    name_taken: "the plug-in fails: ValueError: Adv estimator setrl has already",
    trainers_are_gone: "verl's registry has no trainer setrl_sync",
}


@pytest.mark.parametrize("fault", FAULTS)
def test_the_reason_is_named(fault, monkeypatch):
    fault(monkeypatch)
    with pytest.raises(ConfigError, match=FAULTS[fault]):
        verl_check.check_verl()
