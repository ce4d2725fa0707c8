"""recipes/qwen3_4b_polaris in the released verl: every option is read by verl's own parser.

`make verl` runs it, in an environment of its own; elsewhere it is skipped.
"""

# ruff: noqa: E402  # nothing else is imported where verl is missing

from __future__ import annotations

import importlib.util
from pathlib import Path

import pytest

verl = pytest.importorskip("verl")  # it loads the plug-in

from datasets import Dataset
from hydra import compose, initialize_config_dir
from hydra.errors import ConfigCompositionException
from omegaconf import OmegaConf
from verl.trainer.ppo.reward import get_custom_reward_fn
from verl.trainer.ppo.utils import need_critic, need_reference_policy
from verl.trainer.ppo.v1 import get_trainer_cls
from verl.utils.config import omega_conf_to_dataclass, validate_config
from verl.utils.dataset.rl_dataset import RLHFDataset

from setrl import methods
from setrl.support.errors import ConfigError
from setrl.tasks import Problem
from setrl.train.verl import estimators as ours

RECIPE = Path(__file__).parents[3] / "recipes" / "qwen3_4b_polaris"
GRPO = ("algorithm.adv_estimator=setrl_dr_grpo", "~algorithm.setrl.set_size")


def script(name):
    """A script of the recipe as a module."""
    spec = importlib.util.spec_from_file_location(name, RECIPE / f"{name}.py")
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


@pytest.fixture(scope="module")
def model(tmp_path_factory):
    """The tiny model of the rehearsal."""
    return script("rehearse").make_model(tmp_path_factory.mktemp("rehearsal") / "model")


def composed(*overrides):
    """What verl's main function gets, with its own config below the recipe's."""
    with initialize_config_dir(str(RECIPE), version_base=None):
        return compose("verl", list(overrides))


def test_verl_accepts_the_whole_config():
    config = composed()
    validate_config(config, need_reference_policy(config), need_critic(config))
    actor = omega_conf_to_dataclass(config.actor_rollout_ref.actor)
    rollout = omega_conf_to_dataclass(config.actor_rollout_ref.rollout)
    assert (actor.optim.lr, actor.grad_clip, actor.ppo_epochs) == (1e-6, 0.3, 1)
    assert (actor.clip_ratio_low, actor.clip_ratio_high) == (0.2, 0.28)
    assert (actor.ppo_mini_batch_size, actor.loss_agg_mode) == (64, "seq-mean-token-sum-norm")
    assert (rollout.n, rollout.temperature, rollout.response_length) == (8, 1.0, 4096)
    assert (need_reference_policy(config), need_critic(config)) == (False, False)


def keys(config, above=""):
    """The dotted names of all values."""
    for key, value in config.items():
        if isinstance(value, dict) and value:
            yield from keys(value, f"{above}{key}.")
        else:
            yield f"{above}{key}"


def test_the_config_adds_no_key_that_verl_does_not_know():
    """What a config adds is accepted by Hydra in silence, so that a misspelt key has no effect."""
    theirs = Path(verl.__file__).parent / "trainer" / "config"
    with initialize_config_dir(str(theirs), version_base=None):
        known = compose("ppo_trainer")
    own = OmegaConf.to_container(OmegaConf.load(RECIPE / "verl.yaml"))
    for name in keys({key: own[key] for key in own if key not in ("hydra", "defaults")}):
        if not name.startswith("algorithm.setrl."):
            section, _, key = name.rpartition(".")
            assert key in list(OmegaConf.select(known, section) or ()), name


def test_verl_makes_the_trainer_of_setrl_from_it(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)  # below which the judge keeps its answers
    config = composed()
    trainer = get_trainer_cls(config.trainer.v1.trainer_mode)(config)
    assert isinstance(trainer, get_trainer_cls("sync"))
    assert type(trainer) is not get_trainer_cls("sync")
    found = ours.read_method(config.algorithm.adv_estimator, config.algorithm)
    assert found == methods.poly_epo(4)


def test_the_other_arm():
    config = composed(*GRPO)
    found = ours.read_method(config.algorithm.adv_estimator, config.algorithm)
    assert found == methods.dr_grpo()
    left = composed(GRPO[0]).algorithm
    with pytest.raises(ConfigError, match="set_size"):  # the README says to remove it
        ours.read_method(left.adv_estimator, left)


def test_the_tiny_model_is_read_by_the_same_config(model):
    config = composed(f"actor_rollout_ref.model.path={model}")
    found = omega_conf_to_dataclass(config.actor_rollout_ref.model)
    assert (found.hf_config.model_type, found.hf_config.num_hidden_layers) == ("qwen3", 2)
    assert found.tokenizer.chat_template


def test_a_key_that_verl_does_not_know_is_refused():
    with pytest.raises(ConfigCompositionException, match="clip_ratio_hi"):
        composed("actor_rollout_ref.actor.clip_ratio_hi=0.28")
    config = composed()
    OmegaConf.set_struct(config, False)
    config.actor_rollout_ref.actor.clip_ratio_hi = 0.28
    with pytest.raises(Exception, match="clip_ratio_hi"):
        omega_conf_to_dataclass(config.actor_rollout_ref.actor)


def test_verl_reads_the_problems_and_the_reward(model, tmp_path):
    problem = Problem("What is 6 × 7?", gold="42", where="here:1")
    path = tmp_path / "train.parquet"
    Dataset.from_list([script("verl_files").row(problem)] * 3).to_parquet(path)
    config = composed(f"actor_rollout_ref.model.path={model}")
    tokenizer = omega_conf_to_dataclass(config.actor_rollout_ref.model).tokenizer
    rows = RLHFDataset(str(path), tokenizer, config.data)
    assert len(rows) == 3
    assert rows[0]["raw_prompt"][0]["content"] == "What is 6 × 7?"
    score = get_custom_reward_fn(config)
    gold = rows[0]["reward_model"]["ground_truth"]
    for text, right in ((r"It is \boxed{42}.", 1.0), (r"It is \boxed{41}.", 0.0), ("42", 0.0)):
        found = score(data_source="polaris", solution_str=text, ground_truth=gold, extra_info={})
        assert found["score"] == right
