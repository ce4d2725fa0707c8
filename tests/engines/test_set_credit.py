"""Set credit in TRL's other trainers, and in subclasses of one's own."""

import os

os.environ.setdefault("TRL_EXPERIMENTAL_SILENCE", "1")

import numpy as np
import pytest
import torch
from trl import DPOTrainer, GRPOConfig, GRPOTrainer, RLOOConfig, RLOOTrainer
from trl.experimental.gmpo import GMPOConfig, GMPOTrainer

from setrl.core import methods
from setrl.models.small import sampler
from setrl.train.trl import SetCredit, SetGRPOTrainer, set_credit
from tests.engines.chat import LABELS, REWARDS, fixed_labels, fixed_rewards


class Halved(GRPOTrainer):
    """A subclass of a user, with an argument, an override and a loss of its own."""

    def __init__(self, model, reward_funcs, args=None, *, part=0.5, **others):
        super().__init__(model, reward_funcs, args, **others)
        self.part = part

    def _calculate_rewards(self, *scored):
        return 2 * super()._calculate_rewards(*scored)

    def _compute_loss(self, model, inputs):
        return self.part * super()._compute_loss(model, inputs)


KINDS = [
    (GMPOTrainer, {"config": GMPOConfig}, 1),
    (RLOOTrainer, {"config": RLOOConfig, "beta": 0.0}, 1),
    (Halved, {}, 2),
]


def entering(trainer_class, entered):
    """The class, with a record of the advantages that enter its loss."""

    class Losses(trainer_class):
        def _compute_loss(self, model, inputs):
            entered.append(inputs["advantages"].clone())
            return super()._compute_loss(model, inputs)

    return Losses


@pytest.mark.parametrize(("kind", "args", "factor"), KINDS, ids=["GMPO", "RLOO", "own"])
def test_the_losses_of_other_trainers_get_the_methods_advantages(
    make_chat, kind, args, factor, recwarn
):
    entered, batches = [], []
    method = methods.poly_epo(3)
    trainer = make_chat(
        method,
        kind=entering(set_credit(kind), entered),
        args={**args, "max_steps": 2},
        strategy_func=fixed_labels,
        on_batch=batches.append,
    )
    assert not [one for one in recwarn if "set credit" in str(one.message)]  # it was tried
    trainer.train()
    rewards_BN, strategies_BN = np.reshape(REWARDS, (2, 4)) * factor, np.reshape(LABELS, (2, 4))
    expected = method.advantages(rewards_BN, strategies=strategies_BN).values_BN
    assert np.ptp(expected) > 0
    assert len(entered) == len(batches) == 2
    for advantages, batch in zip(entered, batches, strict=True):  # TRL shuffles the rows
        np.testing.assert_array_equal(batch.advantages.values_BN, expected)
        assert sorted(advantages.tolist()) == sorted(np.float32(expected).ravel().tolist())
    assert batches[0].samples.texts != batches[1].samples.texts
    assert trainer.state.log_history[0]["strategies/per_prompt"] == 4


@pytest.mark.parametrize(
    ("kind", "args", "method"),
    [
        (GMPOTrainer, {"config": GMPOConfig}, methods.grpo()),
        (RLOOTrainer, {"config": RLOOConfig, "beta": 0.0}, methods.rloo()),
        (Halved, {}, methods.grpo()),
    ],
    ids=["GMPO", "RLOO", "own"],
)
def test_with_its_own_method_a_trainer_stays_what_it_is(make_chat, kind, args, method):
    def trained(one):
        args_of_step = {**args, "max_steps": 2, "optim": "sgd", "learning_rate": 1.0}
        trainer = make_chat(method, fixed_rewards, kind=one, args=args_of_step)
        before = weights(trainer)
        trainer.train()
        assert not torch.equal(weights(trainer), before)
        return weights(trainer)

    torch.testing.assert_close(trained(set_credit(kind)), trained(kind), rtol=0, atol=1e-5)


def weights(trainer):
    return torch.cat([weight.detach().flatten().clone() for weight in trainer.model.parameters()])


def test_the_class_says_what_it_is():
    made = set_credit(GMPOTrainer)
    assert made.__name__ == "SetGMPOTrainer"
    assert issubclass(made, SetCredit)
    assert issubclass(made, GMPOTrainer)
    assert set_credit(GMPOTrainer) is made
    assert set_credit(made) is made
    assert set_credit(SetGRPOTrainer) is SetGRPOTrainer


@pytest.mark.parametrize("wrong", [DPOTrainer, GRPOConfig, "GRPOTrainer", fixed_rewards])
def test_other_classes_are_refused(wrong):
    with pytest.raises(TypeError, match="set_credit takes TRL's GRPOTrainer, RLOOTrainer or"):
        set_credit(wrong)


@pytest.mark.parametrize(
    ("args", "others", "message"),
    [
        ({}, {}, r"RLOO puts its KL penalty into the rewards.* got beta=0.05"),
        ({"beta": 0.0, "normalize_advantages": True}, {}, "set normalize_advantages=False"),
        ({"beta": 0.0, "reward_clip_range": (-1.0, 1.0)}, {}, "set reward_clip_range=None"),
        ({"beta": 0.0}, {"sampler": sampler.sample_ids}, "RLOO takes no sampler"),
    ],
)
def test_what_rloo_does_to_rewards_is_refused(make_chat, args, others, message):
    with pytest.raises(ValueError, match=message):
        make_chat(kind=set_credit(RLOOTrainer), args={"config": RLOOConfig, **args}, **others)
