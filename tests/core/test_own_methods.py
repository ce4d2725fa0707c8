"""Methods and objectives that a config names `module:name`."""

import numpy as np
import pytest

from setrl import methods, objectives
from setrl.support.errors import ConfigError
from setrl.train.method_config import from_config, with_folder

SOURCE = """
from setrl import methods, objectives
from setrl.train import method_config

def second_opinion(rewards, strategies):
    return 1.0 * (rewards.max(-1) - rewards.min(-1))

def only_right(correct):
    return correct.any(-1) * 1.0

best = objectives.max() - objectives.mean()

def power(exponent=1):
    return objectives.from_function(lambda rewards: rewards.max(-1) ** exponent)

fixed = methods.rloo()

def mine(set_size, objective=None):
    return methods.set_rl(objective or objectives.max(), set_size=set_size)

number = 3
"""


@pytest.fixture
def folder(tmp_path):
    (tmp_path / "mine.py").write_text(SOURCE)
    return str(tmp_path)


def made(folder, **config):
    return from_config(with_folder(config, folder))


def test_an_objective_is_a_value_a_function_of_fields_or_what_a_function_returns(folder):
    size = {"method": "set_rl", "set_size": 2}
    rewards = np.array([[0.0, 1.0, 2.0, 3.0]])
    best = made(folder, **size, objective="mine:best")
    assert best.objective == objectives.max() - objectives.mean()
    own = made(folder, **size, objective="mine:second_opinion")
    assert own.reads == ("rewards", "strategies")
    assert made(folder, **size, objective="mine:only_right").reads == ("correct",)
    power = made(folder, **size, objective={"objective": "mine:power", "exponent": 2})
    wanted = methods.set_rl(objectives.from_function(lambda rewards: rewards.max(-1) ** 2), 2)
    found = power.advantages(rewards, rng=0).values_BN
    np.testing.assert_array_equal(found, wanted.advantages(rewards, rng=0).values_BN)
    parts = {"objective": "sum", "of": ["mine:best", {"objective": "mine:best", "weight": 0.5}]}
    assert made(folder, **size, objective=parts).reads == ("rewards",)


def test_a_method_is_a_value_or_what_a_function_returns(folder):
    assert made(folder, method="mine:fixed") == methods.rloo()
    own = made(folder, method="mine:mine", set_size=3, objective="mine:best", gate=True)
    assert (own.set_size, own.adjustment is not None) == (3, True)
    assert own.objective == objectives.max() - objectives.mean()
    first, last = (
        from_config(with_folder({"method": "mine:mine", "set_size": size}, folder), progress)
        for size in [{"schedule": "linear", "first": 4, "last": 2}]
        for progress in (0.0, 1.0)
    )
    assert (first.set_size, last.set_size) == (4, 2)
    of = [{"method": "mine:fixed", "weight": 0.5}, {"method": "grpo"}]
    assert made(folder, method="sum", of=of).name == "0.5 rloo + 1 grpo"


@pytest.mark.parametrize(
    ("config", "message"),
    [
        ({"method": "mine:number"}, "mine:number must be a method, or a function that returns one"),
        ({"method": "mine:best"}, "mine:best must be a method"),
        ({"method": "mine:mine"}, "mine:mine needs the option 'set_size'"),
        ({"method": "mine:mine", "set_size": 2, "k": 1}, "unknown option of mine:mine 'k'"),
        ({"method": "mine:fixed", "set_size": 2}, "is a value already: it takes no 'set_size'"),
        ({"method": "mine:fixd"}, "has no function 'fixd'"),
        (
            {"method": "set_rl", "set_size": 2, "objective": "mine:number"},
            "must be an objective, a",
        ),
        ({"method": "set_rl", "set_size": 2, "objective": "other:best"}, "no module 'other'"),
    ],
)
def test_what_is_no_method_is_named(folder, config, message):
    with pytest.raises((ValueError, ConfigError), match=message):
        made(folder, **config)


def test_the_path_is_said_before_the_code_runs(tmp_path, capfd):
    (tmp_path / "loud.py").write_text("import sys\nprint('runs', file=sys.stderr)\nm = None\n")
    with pytest.raises(ValueError, match="loud:m must be a method"):
        made(str(tmp_path), method="loud:m")
    first, second, *_ = capfd.readouterr().err.splitlines()
    assert first == f"this runs your code: loud:m, loaded from {tmp_path / 'loud.py'}"
    assert second == "runs"
