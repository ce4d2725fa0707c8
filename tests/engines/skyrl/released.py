"""The released SkyRL behind the same functions as `standin`; no Ray, no model, no GPU."""

from __future__ import annotations

import importlib.util
import sys
from types import SimpleNamespace

from tests.engines.skyrl import standin


def install(monkeypatch):
    from skyrl.backends.skyrl_train.utils.ppo_utils import AdvantageEstimatorRegistry

    if "setrl" in AdvantageEstimatorRegistry.list_available():
        AdvantageEstimatorRegistry.unregister("setrl")


def make(kind, options):
    from skyrl.train.config import SkyRLTrainConfig

    made = object.__new__(kind)  # its __init__ wants datasets, engines and GPUs
    made.cfg = SkyRLTrainConfig.from_cli_overrides(
        {"trainer.algorithm.advantage_estimator": "setrl", **options}
    )
    made.all_metrics = {}
    made.tokenizer = SimpleNamespace(pad_token_id=0)
    return made


def trained_on(trainer, output, uids, padding):
    """The advantages of all rows, as the loss finds them."""
    prompts, own = len(set(uids)), trainer.cfg.trainer
    own.train_batch_size = own.policy_mini_batch_size = prompts
    trainer.cfg.generator.n_samples_per_prompt = len(uids) // prompts
    output, uids = trainer.postprocess_generator_output(output, uids)
    rows = len(output["rewards"]) + padding
    trainer.dispatch = SimpleNamespace(get_lcm_dp_size=lambda: rows)
    batch = trainer.convert_to_training_input(output, uids)
    batch["values"] = None
    batch = trainer.compute_advantages_and_returns(batch)
    assert batch.metadata["pad_size"] == padding
    return batch["advantages"] * batch["response_mask"]


def chosen():
    """This module where SkyRL is installed, else the stand-in."""
    found = importlib.util.find_spec("skyrl") is not None
    return sys.modules[__name__] if found else standin
