"""Groups that leave the loss, and ratios to the policy that drew the samples."""

import math

import numpy as np
import pytest
import torch
from trl import GRPOTrainer

from setrl.core import methods
from setrl.models.small import sampler
from setrl.train.trl import set_credit
from tests.engines.chat import step

EQUAL = [1.0] * 4 + [0.0] * 4  # the first group is all right, the second one all wrong


def equal_rewards(completions, **_):
    return EQUAL


def mixed_labels(completions, **_):
    return [0, 0, 1, 2] * 2


class Kept(GRPOTrainer):
    """Keeps what enters the loss, and can pretend to sample from another policy."""

    sampled = None  # log ρ and the ratio that TRL would make of it

    def _generate_and_score_completions(self, inputs):
        output = super()._generate_and_score_completions(inputs)
        if self.sampled is not None:
            shape = output["completion_mask"].shape
            logs, ratio = (torch.as_tensor(one).expand(shape) for one in self.sampled)
            output["old_per_token_logps"] = torch.zeros(shape)
            output["sampling_per_token_logps"] = -logs
            output["importance_sampling_ratio"] = ratio
        return output

    def _compute_loss(self, model, inputs):
        self.entered = inputs
        return super()._compute_loss(model, inputs)


def trained(make_chat, method, **options):
    options = {"args": {"max_completion_length": 4, "beta": 0.1}, **options}
    kind = set_credit(Kept)
    trainer = make_chat(method, equal_rewards, kind=kind, strategy_func=mixed_labels, **options)
    trainer.train()
    return trainer


@pytest.mark.parametrize("mask", [False, True])
def test_only_groups_without_credit_leave_the_loss(make_chat, mask):
    trainer = trained(make_chat, methods.poly_epo(2), mask_dead_groups=mask)
    logged = trainer.state.log_history[0]
    assert logged["reward/dead_groups"] == logged["frac_reward_zero_std"] == 1
    assert logged["advantage/dead_groups"] == 0.5  # equal rewards, several strategies: a signal
    tokens = trainer.entered["completion_mask"].sum(dim=1)
    alive = trainer.entered["advantages"] != 0
    assert 0 < alive.sum() <= 4
    expected = 4 if mask else 8
    assert (tokens > 0).sum() == expected
    assert (tokens[alive] > 0).all()
    assert trainer.entered["num_items_in_batch"] == tokens.sum()


def test_a_step_without_any_credit_changes_nothing(make_chat):
    trainer = trained(make_chat, methods.grpo(), mask_dead_groups=True)
    assert trainer.state.log_history[0]["advantage/dead_groups"] == 1
    assert trainer.state.log_history[0]["grad_norm"] == 0
    assert all(torch.isfinite(weight).all() for weight in trainer.model.parameters())


def test_the_loss_is_that_of_the_other_groups_alone(make_chat):
    """DAPO's loss, a mean over tokens: as if the dead group had not been sampled."""

    def loss(mask):
        args = {"max_completion_length": 4}
        trainer = trained(make_chat, methods.poly_epo(2), mask_dead_groups=mask, args=args)
        return trainer.state.log_history[0]["grad_norm"], trainer.entered["num_items_in_batch"]

    (all_norm, all_tokens), (norm, tokens) = loss(False), loss(True)
    assert tokens < all_tokens
    assert norm == pytest.approx(all_norm * float(all_tokens / tokens), rel=1e-3)


def test_ratios_are_logged_beside_the_credit(make_chat):
    masked = torch.arange(8)[:, None] < 2  # two samples of the group that has credit
    logs, ratio = math.log(2.0) * (2.0 * masked - 1), 1.0 - 1.0 * masked
    kind = type("Pretends", (Kept,), {"sampled": (logs, ratio)})
    trainer = make_chat(
        methods.poly_epo(2), equal_rewards, kind=set_credit(kind), strategy_func=mixed_labels
    )
    batch = step(trainer)
    tokens = trainer.entered["completion_mask"].sum(dim=1).double()
    credit = trainer.entered["advantages"].double().abs() * tokens
    masked = trainer.entered["importance_sampling_ratio"][:, 0] == 0
    logged = trainer.state.log_history[0]
    share = float((tokens * masked).sum() / tokens.sum())
    spread = 2 * math.log(2) * (share * (1 - share)) ** 0.5
    assert logged["sampling/log_ratio_std"] == pytest.approx(spread)
    assert logged["sampling/masked"] == pytest.approx(share)
    weighted = float((credit * masked).sum() / credit.sum())
    assert logged["sampling/masked_credit"] == pytest.approx(weighted)
    assert weighted != pytest.approx(share)
    assert np.ptp(batch.advantages.values_BN) > 0


def test_without_another_policy_there_are_no_ratios(make_chat):
    logged = trained(make_chat, methods.poly_epo(2)).state.log_history[0]
    assert not [key for key in logged if key.startswith("sampling/")]


@pytest.mark.parametrize(
    ("args", "message"),
    [
        ({"top_p": 0.9}, r"^top_p=0.9: samples are drawn from a part of the tokens"),
        ({"top_k": 5, "min_p": 0.1}, r"^top_k=5, min_p=0.1: samples"),
    ],
)
def test_truncated_sampling_is_warned_of_once(make_chat, args, message):
    with pytest.warns(UserWarning, match=message) as found:
        make_chat(methods.grpo(), args=args)
    assert sum("drawn from a part" in str(one.message) for one in found) == 1
    assert found[0].filename == make_chat.__code__.co_filename


def test_whole_sampling_is_not(make_chat, recwarn):
    make_chat(methods.grpo(), args={"top_p": 1.0, "top_k": 0})
    make_chat(methods.grpo(), args={"top_p": 0.5}, sampler=sampler.sample_ids)
    assert not [one for one in recwarn if "drawn from a part" in str(one.message)]
