"""The released verl behind the same functions as `standin`: only TransferQueue is in memory."""

from __future__ import annotations

import copy
import functools
import importlib.util
import sys
from pathlib import Path

from tests.engines.verl import standin


class Store(standin.Store):
    """The same rows, as TransferQueue returns them: a TensorDict with nested tensors."""

    def kv_batch_get(self, *, keys, partition_id, select_fields):
        from verl.utils.tensordict_utils import list_of_dict_to_tensordict

        rows = [self.rows[key] for key in keys]
        known = [name for name in select_fields if all(name in row for row in rows)]
        return list_of_dict_to_tensordict([{name: row[name] for name in known} for row in rows])

    def kv_batch_put(self, *, keys, partition_id, fields):
        super().kv_batch_put(keys=keys, partition_id=partition_id, fields=dict(fields.items()))
        return standin.batch_of(keys, None)


def install(monkeypatch, store):
    import transfer_queue
    import verl  # noqa: F401  # loads the plug-in

    for name in ("kv_batch_get", "kv_batch_put", "kv_list"):
        monkeypatch.setattr(transfer_queue, name, getattr(store, name))


def make(mode, changes):
    from omegaconf import OmegaConf, open_dict
    from verl.trainer.ppo.v1 import get_trainer_cls

    config = copy.deepcopy(_defaults())
    with open_dict(config):
        config.trainer.v1.trainer_mode = f"setrl_{mode}"
        config.actor_rollout_ref.rollout.n = 4
        if mode == "separate_async":  # it asks for them
            config.actor_rollout_ref.rollout.nnodes = 1
            config.actor_rollout_ref.rollout.checkpoint_engine.backend = "nccl"
        algorithm = {"norm_adv_by_std_in_grpo": False, **changes}
        config.algorithm = OmegaConf.merge(config.algorithm, algorithm)
    return get_trainer_cls(f"setrl_{mode}")(config)


@functools.cache
def _defaults():
    """The config of `python -m verl.trainer.main_ppo`, composed once."""
    import verl
    from hydra import compose, initialize_config_dir

    folder = Path(verl.__file__).parent / "trainer" / "config"
    with initialize_config_dir(str(folder), version_base=None):
        return compose("ppo_trainer")


def batch_of(keys, tags):
    from transfer_queue import KVBatchMeta

    return KVBatchMeta(keys=keys, tags=tags, partition_id="train")


def chosen():
    """This module where verl is installed, else the stand-in."""
    found = importlib.util.find_spec("verl") is not None
    return sys.modules[__name__] if found else standin
