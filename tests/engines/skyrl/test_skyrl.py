"""The block of docs/engines.md in SkyRL: with a stand-in here, with the package in `make skyrl`."""

from __future__ import annotations

import re
from pathlib import Path
from types import SimpleNamespace

import numpy as np
import pytest

from tests.engines.conformance.groups import CASES, DEFINITIONS
from tests.engines.skyrl import released

SKYRL = released.chosen()
DOCS = Path(__file__).parents[3] / "docs" / "engines.md"
# SkyRL keeps the samples of a prompt together, equally many of each; rewards are numbers of Python.
LACKS = {"any_order", "bf16", "ragged"}
HELD = [name for name, case in CASES.items() if not case.needs & LACKS]


@pytest.fixture
def block(monkeypatch):
    """What the block of the docs defines."""
    SKYRL.install(monkeypatch)
    blocks = re.findall(r"```python\n(.*?)```", DOCS.read_text(encoding="utf-8"), re.DOTALL)
    space = {}
    exec(next(one for one in blocks if "postprocess_generator_output" in one), space)
    return space


def generated(case, per_token=False):
    """The output of a generator, a row a turn, and the prompts of its rows."""
    rows = [(i, s, turn) for i, s in enumerate(case.samples) for turn in range(s.rows)]
    lengths = [1 + (i + turn) % 3 for i, _, turn in rows]
    last = [turn == s.rows - 1 for _, s, turn in rows]
    rewards = [s.reward if end else 0.125 for (_, s, _), end in zip(rows, last, strict=True)]
    output = {
        "prompt_token_ids": [[5, 6]] * len(rows),
        "response_ids": [[7] * length for length in lengths],
        "rewards": rewards,
        "loss_masks": [[1] * length for length in lengths],
        "stop_reasons": ["stop"] * len(rows),
        "rollout_metrics": None,
        "rollout_logprobs": None,
        # A turn before the last has no metrics yet.
        "env_metrics": [
            {"strategy": s.label} if end else {} for (_, s, _), end in zip(rows, last, strict=True)
        ],
    }
    if per_token:
        pairs = zip(rewards, lengths, strict=True)
        output["rewards"] = [[0.0] * (length - 1) + [reward] for reward, length in pairs]
    if "turns" in case.needs:
        named = [SimpleNamespace(instance_id=s.group, repetition_id=i) for i, s, _ in rows]
        output |= {"is_last_step": last, "trajectory_ids": named}
    return output, [s.group for _, s, _ in rows]


def trained_on(block, case, definition, **shape):
    block["METHOD"] = definition.method
    turns = {"generator.step_wise_trajectories": True} if "turns" in case.needs else {}
    trainer = SKYRL.make(block["SetTrainer"], turns)
    return SKYRL.trained_on(trainer, *generated(case, **shape), case.padding)


@pytest.mark.parametrize("case", HELD)
@pytest.mark.parametrize("per_token", [False, True])
def test_every_row_gets_the_advantage_of_its_sample(block, case, per_token):
    groups = CASES[case]
    for definition in DEFINITIONS.values():
        found = trained_on(block, groups, definition, per_token=per_token).numpy()
        wanted = zip(definition(groups), groups.samples, strict=True)
        values = [value for value, one in wanted for _ in range(one.rows)]
        lengths = [len(one) for one in generated(groups)[0]["response_ids"]]
        for row, value, length in zip(found, values, lengths, strict=False):
            np.testing.assert_allclose(row[row != 0] if value else row, value, atol=1e-6)
            assert not value or np.count_nonzero(row) == length


def test_an_experiment_makes_the_trainer(block):
    exp = object.__new__(block["SetExp"])
    block["SetTrainer"].__init__ = lambda self, **parts: vars(self).update(parts)
    assert isinstance(exp.get_trainer(cfg=1), block["SetTrainer"])


@pytest.mark.skipif(SKYRL is not released, reason="what only the released package can show")
class TestReleased:
    def test_merged_turns(self, block):
        """SkyRL can join the turns of a trajectory to one row, and drops what they returned."""
        block["METHOD"] = DEFINITIONS["poly_epo"].method
        case = CASES["turns of a trajectory"]
        options = {"generator.step_wise_trajectories": True}
        options |= {"generator.merge_stepwise_output": True}
        output, uids = generated(case)
        for row in range(1, len(uids)):
            if not output["is_last_step"][row - 1]:
                before = output["prompt_token_ids"][row - 1] + output["response_ids"][row - 1]
                output["prompt_token_ids"][row] = [*before, 9]
        trainer = SKYRL.make(block["SetTrainer"], options)
        found = SKYRL.trained_on(trainer, output, uids, 0).numpy()
        assert len(found) == len(case.samples)
        for row, value in zip(found, DEFINITIONS["poly_epo"](case), strict=True):
            np.testing.assert_allclose(row[row != 0] if value else row, value, atol=1e-6)

    def test_skyrl_accepts_the_name(self, block):
        from skyrl.train.config import SkyRLTrainConfig
        from skyrl.train.utils import utils

        def check(name):
            options = {"trainer.algorithm.advantage_estimator": name, "trainer.logger": "console"}
            utils.validate_cfg(SkyRLTrainConfig.from_cli_overrides(options))

        with pytest.raises(AssertionError, match="invalid advantage_estimator: setrll"):
            check("setrll")
        check("setrl")

    def test_the_registrys_actor_knows_it(self, block):
        """SkyRL trains in a task of Ray, which gets the estimator from an actor."""
        import ray
        from skyrl.backends.skyrl_train.utils import ppo_utils

        ray.init(num_cpus=2, include_dashboard=False, _node_ip_address="127.0.0.1")
        try:
            ppo_utils.sync_registries()
            assert ray.get(_remote().remote()) == [[0.0, 3.0], [0.0, -3.0]]
        finally:
            ray.shutdown()


def _remote():
    import ray

    @ray.remote(num_cpus=1)
    def estimate():
        import torch
        from skyrl.backends.skyrl_train.utils.ppo_utils import AdvantageEstimatorRegistry

        rewards = torch.tensor([[1.0, 2.0], [-3.0, 0.0]])
        mask = torch.tensor([[0, 1], [0, 1]])
        found, _ = AdvantageEstimatorRegistry.get("setrl")(
            token_level_rewards=rewards, response_mask=mask, index=["p", "p"]
        )
        return found.tolist()

    return estimate
