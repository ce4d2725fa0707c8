"""Estimators in the form in which each trainer calls them: the reward minus the group's mean."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
import torch

from setrl.theory.audit import audit, batches
from setrl.theory.audit.shapes import TRAINERS, trainer_of, trainer_shape


def verl(token_level_rewards, response_mask, index, config=None, **kwargs):
    assert config.gamma == config["gamma"] == config.get("gamma") == 1.0
    scores = token_level_rewards.sum(-1)
    means = {name: scores[index == name].mean() for name in set(index)}
    centred = scores - torch.stack([means[name] for name in index])
    return centred[:, None] * response_mask, None


def skyrl(token_level_rewards, response_mask, index, grpo_norm_by_std, lambd, **kwargs):
    assert (grpo_norm_by_std, lambd) == (True, 1.0)
    advantages, _ = verl(token_level_rewards, response_mask, index, **kwargs)
    return advantages, advantages


def trl(rewards_per_func, reward_weights, num_generations):
    rewards = (rewards_per_func * reward_weights).sum(1).view(-1, num_generations)
    return (rewards - rewards.mean(1, keepdim=True)).view(-1)


def rllm(rewards, algorithm_config, **kwargs):
    assert algorithm_config.norm_adv_by_std_in_grpo
    centred = [group - group.mean() for group in rewards]
    return centred, centred


def nemo_rl(prompt_ids, rewards, mask, **kwargs):
    same = (prompt_ids == prompt_ids.T).to(rewards.dtype)
    return (rewards - same @ rewards / same.sum(1))[:, None].expand(mask.shape)


async def prime_rl(episodes):
    rewards = [episode.traces[0].reward for episode in episodes]
    for episode, reward in zip(episodes, rewards, strict=True):
        node = episode.traces[0].nodes[0]
        node.advantages = [reward - sum(rewards) / len(rewards)] * len(node.token_ids)


def trinity(exps):
    for one in exps:
        group = [other.reward for other in exps if other.eid.tid == one.eid.tid]
        one.advantages = (one.reward - sum(group) / len(group)) * one.action_mask


def slime(args, samples):
    rewards = [sample.get_reward_value(args) for sample in samples]
    groups = [sample.group for sample in samples]
    means = {one: np.mean(np.array(rewards)[np.array(groups) == one]) for one in set(groups)}
    return rewards, [reward - means[one] for reward, one in zip(rewards, groups, strict=True)]


def tinker_cookbook(trajectory_groups_P):
    groups = (torch.tensor(group.get_total_rewards()) for group in trajectory_groups_P)
    return [rewards - rewards.mean() for rewards in groups]


def flat(rewards, group_size):
    starts = range(0, len(rewards), group_size)
    groups = [np.array(rewards[start : start + group_size]) for start in starts]
    return np.concatenate([group - group.mean() for group in groups]).tolist()


CENTRED = (verl, skyrl, trl, rllm, nemo_rl, prime_rl, trinity, slime, tinker_cookbook, flat)


@pytest.fixture(autouse=True)
def few_batches(monkeypatch):
    monkeypatch.setattr(batches, "LOOKS", 20)


def test_every_trainer_has_a_function_here():
    assert {one.__name__ for one in CENTRED} == set(TRAINERS)


@pytest.mark.parametrize("function", CENTRED)
def test_a_function_is_called_as_its_trainer_calls_it(function):
    assert trainer_of(function).name == function.__name__
    shape = trainer_shape(function)
    rewards_BN = np.array([[1.0, 0.0, 0.0, 1.0], [0.0, 0.25, 1.0, 0.75]])
    rows = rewards_BN if shape.takes_batches else rewards_BN[:1]
    found = shape.call(function, rows.copy(), np.zeros(rows.shape, int))
    np.testing.assert_allclose(found, rows - rows.mean(1, keepdims=True), atol=1e-7)


def test_an_audit_needs_no_more_than_the_function():
    found = audit(verl, claims="pass@1")
    assert str(found.objective) == "3·∇pass@1"
    assert found.estimator.shape.name == "verl calls it"


def test_groups_are_named_by_an_argument():
    def one_after_the_other(token_level_rewards, response_mask, index):
        scores = token_level_rewards.sum(-1).view(-1, 3)
        return (scores - scores.mean(-1, keepdim=True)).view(-1, 1), None

    assert audit(one_after_the_other, group_size=3).pays["rows-in-any-order"] is False
    assert audit(verl, group_size=3).pays["rows-in-any-order"]
    assert audit(nemo_rl, group_size=3).pays["rows-in-any-order"]
    assert audit(trl, group_size=3).pays["rows-in-any-order"] is None


def test_fields_of_samples_and_settings_reach_the_function():
    def weighted(token_level_rewards, response_mask, index, temperature, config=None):
        assert config.temperature == temperature == 2.0
        assert token_level_rewards[0].tolist() == [0, 0, 1]  # on the last token
        assert token_level_rewards[1].tolist() == [0, 0, 0]
        lengths = response_mask.sum(-1)
        scores = token_level_rewards.sum(-1)
        return (scores - (scores * lengths).sum() / lengths.sum())[:, None] * response_mask

    shape = trainer_shape(
        weighted, fields={"length": lambda rewards, labels: 1 + 2 * labels}, temperature=2.0
    )
    rewards, labels = np.array([[1.0, 0.0, 0.0]]), np.array([[1, 0, 0]])
    found = shape.call(weighted, rewards, labels)  # a right sample of three tokens, two of one
    np.testing.assert_allclose(found, [[0.4, -0.6, -0.6]], atol=1e-6)


def test_what_the_function_edits_is_noticed():
    def untouched(rewards, group_size):
        return rewards

    def in_place(rewards_per_func, num_generations):
        rewards_per_func -= rewards_per_func.mean()
        return rewards_per_func[:, 0]

    assert audit(untouched).pays["leaves-input"]
    assert not audit(in_place).pays["leaves-input"]


def differs(token_level_rewards, response_mask, **kwargs):
    return token_level_rewards * response_mask


def waits(episodes):
    async def score() -> None:
        await Step()

    class Step:
        def __await__(self) -> Any:
            yield

    return score()


@pytest.mark.parametrize(
    ("function", "options", "message"),
    [
        (
            lambda rewards: rewards,
            {},
            "has the parameters of no trainer. Known trainers, with their parameters",
        ),
        (verl, {"trainer": "verk"}, "unknown trainer 'verk'; did you mean 'verl'"),
        (
            lambda token_level_rewards, response_mask, values: None,
            {},
            "needs values, which verl does not pass: give a setting of this name",
        ),
    ],
)
def test_a_function_that_cannot_be_called_is_refused(function, options, message):
    with pytest.raises(ValueError, match=message):
        trainer_shape(function, **options)


@pytest.mark.parametrize(
    ("function", "message"),
    [
        (differs, "differ between its tokens; an audit reads one number for each sample"),
        (waits, "waits for something; an audit calls it without an event loop"),
        (lambda rewards, group_size: rewards[1:], "3 advantages for 4 samples"),
    ],
)
def test_what_cannot_be_read_is_said(function, message):
    shape = trainer_shape(function, fields={"length": lambda rewards, labels: 2 + 0 * labels})
    with pytest.raises(ValueError, match=message):
        shape.call(function, np.array([[1.0, 0.0, 0.0, 1.0]]), np.zeros((1, 4), int))


@pytest.mark.parametrize(("name", "size", "keeps"), [("maxrl@2", 3, True), ("maxrl@3", 3, False)])
def test_maxrl_is_a_claim_with_an_order(name, size, keeps):
    def max_rl(rewards):
        mean = rewards.mean()
        return (rewards - mean) / mean if mean > 0 else 0 * rewards

    assert audit(max_rl, group_size=size, claims=name, takes="group").pays["unbiased"] is keeps


def test_an_estimator_without_a_gradient_keeps_no_claim():
    found = audit(lambda rewards: 0 * rewards, claims="pass@1")
    assert found.nearest is None
    assert (found.bias, found.pays["unbiased"]) == (1.0, False)
