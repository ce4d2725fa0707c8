"""verl 0.9.1 as far as set credit touches it: what it calls, with which arguments and shapes.

`make verl` runs the same tests with the released package and compares the two
(`test_the_stand_in_calls_as_verl_does`).
"""

from __future__ import annotations

import sys
from types import ModuleType, SimpleNamespace
from typing import ClassVar

import torch

NAMES = (
    "verl",
    "verl.trainer",
    "verl.trainer.ppo",
    "verl.trainer.ppo.core_algos",
    "verl.trainer.ppo.v1",
    "transfer_queue",
)
FETCHED = ["uid", "response_mask", "rm_scores", "old_log_probs", "ref_log_prob", "values"]


class Section(dict):
    """A config with attributes, as omegaconf's."""

    __getattr__ = dict.__getitem__
    __setattr__ = dict.__setitem__


def section(value):
    if not isinstance(value, dict):
        return value
    return Section({key: section(one) for key, one in value.items()})


class Trainer:
    """The part of `PPOTrainer` that runs around an estimator."""

    registry: ClassVar[dict] = {}

    def __init__(self, config):
        self.config = config
        self.trainer_mode = config.trainer.v1.trainer_mode
        self.settings = config.trainer.v1.get(self.trainer_mode, {})
        self.replay_buffer = self._build_replay_buffer()

    def _build_replay_buffer(self):
        return Buffer(self.trainer_mode)

    def _compute_advantage(self, batch, metrics):
        data = sys.modules["transfer_queue"].kv_batch_get(
            keys=batch.keys, partition_id=batch.partition_id, select_fields=FETCHED
        )
        estimate = self.registry[self.config.algorithm.adv_estimator]
        advantages, returns = estimate(
            token_level_rewards=data["rm_scores"],
            response_mask=data["response_mask"],
            config=self.config.algorithm,
            index=data["uid"],
        )
        sys.modules["transfer_queue"].kv_batch_put(
            keys=batch.keys,
            partition_id=batch.partition_id,
            fields={"advantages": advantages, "returns": returns},
        )
        return batch


class Buffer:
    """What a replay buffer knows after it has looked."""

    def __init__(self, trainer_mode):
        self.trainer_mode = trainer_mode
        self.finished_keys, self.partitions = {}, {}

    def _sync_metadata_from_transfer_queue(self):
        tags = sys.modules["transfer_queue"].kv_list()["train"]
        self.finished_keys["train"] = {
            key for key, tag in tags.items() if tag.get("is_prompt") and tag["status"] == "finished"
        }
        self.partitions["train"] = {k: t for k, t in tags.items() if not t.get("is_prompt")}


def install(monkeypatch, store):
    """Put the stand-in where `import verl` looks."""
    estimators, trainers = {}, {mode: type(mode, (Trainer,), {}) for mode in MODES}
    modules = {name: ModuleType(name) for name in NAMES}
    modules["verl"].__version__ = "0.9.1"
    algos, v1 = modules["verl.trainer.ppo.core_algos"], modules["verl.trainer.ppo.v1"]
    algos.ADV_ESTIMATOR_REGISTRY = Trainer.registry = estimators
    algos.register_adv_est = lambda name: lambda made: estimators.setdefault(name, made)
    v1.register_trainer = lambda name: lambda made: trainers.setdefault(name, made)
    v1.get_trainer_cls = trainers.__getitem__
    for name in ("kv_batch_get", "kv_batch_put", "kv_list"):
        setattr(modules["transfer_queue"], name, getattr(store, name))
    for name, module in modules.items():
        monkeypatch.setitem(sys.modules, name, module)
    # Set, so that it is removed again afterwards: the released verl loads a plug-in of its own.
    monkeypatch.setitem(sys.modules, "setrl.train.verl.plugin", None)
    del sys.modules["setrl.train.verl.plugin"]


MODES = ("sync", "colocate_async", "separate_async")


class Store:
    """TransferQueue in memory: padded rows, one tensor a field."""

    def __init__(self):
        self.rows, self.tags = {}, {}

    def kv_batch_get(self, *, keys, partition_id, select_fields):
        rows = [self.rows[key] for key in keys]
        return {
            name: padded([row[name] for row in rows])
            for name in select_fields
            if all(name in row for row in rows)
        }

    def kv_batch_put(self, *, keys, partition_id, fields):
        for name, values in fields.items():
            for key, value in zip(keys, values, strict=True):
                self.rows[key][name] = value

    def kv_list(self, partition_id=None):
        return {"train": self.tags}


def padded(values):
    if not isinstance(values[0], torch.Tensor):
        return values
    return torch.nn.utils.rnn.pad_sequence(values, batch_first=True)


def make(mode, changes):
    """A trainer of setrl for a mode, with a config of verl's."""
    from verl.trainer.ppo.v1 import get_trainer_cls

    algorithm = {"norm_adv_by_std_in_grpo": False, "use_kl_in_reward": False, **changes}
    config = {
        "algorithm": algorithm,
        "actor_rollout_ref": {"rollout": {"n": 4}},
        "trainer": {
            "v1": {"trainer_mode": f"setrl_{mode}", mode: {"num_warmup_batches": 1}},
            "default_local_dir": "checkpoints/verl_examples/gsm8k",
        },
    }
    return get_trainer_cls(f"setrl_{mode}")(section(config))


def batch_of(keys, tags):
    return SimpleNamespace(keys=keys, tags=tags, partition_id="train")
