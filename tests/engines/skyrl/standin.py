"""SkyRL 0.4.0 as far as set credit touches it: what is called, with which arguments and shapes.

`make skyrl` runs the same tests with the released package.
"""

from __future__ import annotations

import sys
from types import ModuleType, SimpleNamespace
from typing import ClassVar

import torch

NAMES = (
    "skyrl.backends.skyrl_train.utils.ppo_utils",
    "skyrl.train.entrypoints.main_base",
    "skyrl.train.trainer",
)


class RayPPOTrainer:
    registry: ClassVar[dict] = {}

    def postprocess_generator_output(self, generator_output, uids, **_):
        rewards = generator_output["rewards"]
        if not isinstance(rewards[0], list):
            responses = zip(rewards, generator_output["response_ids"], strict=True)
            generator_output["rewards"] = [[0.0] * (len(r) - 1) + [float(x)] for x, r in responses]
        return generator_output, uids

    def advantages(self, output, uids):
        """Values of each row, per token."""
        width = max(map(len, output["rewards"]))
        padded = [[*one, *[0.0] * (width - len(one))] for one in output["rewards"]]
        mask = torch.tensor([[i < len(one) for i in range(width)] for one in output["rewards"]])
        last = output.get("is_last_step") or [True] * len(uids)
        trajectory = torch.tensor([0, *last[:-1]]).cumsum(0)
        rows = torch.tensor(last)
        found, _ = self.registry["setrl"](
            token_level_rewards=torch.tensor(padded)[rows],
            response_mask=torch.ones(int(rows.sum()), width),
            index=[uid for uid, is_end in zip(uids, last, strict=True) if is_end],
            values=None,
            config=None,
        )
        return found[trajectory] * mask


def install(monkeypatch):
    def register(name):
        return lambda function: RayPPOTrainer.registry.__setitem__(name, function) or function

    contents = ({"register_advantage_estimator": register}, {"BasePPOExp": object})
    for path, content in zip(NAMES, (*contents, {"RayPPOTrainer": RayPPOTrainer}), strict=True):
        parts = path.split(".")
        for i in range(1, len(parts)):
            parent = ".".join(parts[:i])
            monkeypatch.setitem(sys.modules, parent, ModuleType(parent))
        module = ModuleType(path)
        vars(module).update(content)
        monkeypatch.setitem(sys.modules, path, module)


def make(kind, options):
    made = kind()
    made.cfg = SimpleNamespace(**options)
    return made


def trained_on(trainer, output, uids, padding):
    """The advantages of all rows, as the loss finds them; the stand-in adds no padding."""
    output, uids = trainer.postprocess_generator_output(output, uids)
    return trainer.advantages(output, uids)
