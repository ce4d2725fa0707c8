"""Advantages of padded trajectories, against the loops that define them."""

from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
import pytest
import torch

from setrl.control.jax import advantages, update
from setrl.control.jax.networks import ActorCritic
from setrl.control.jax.poly_ppo import _explained_variance
from setrl.control.jax.rollouts import RolloutSteps, Trajectories
from setrl.control.sb3 import ppo as torch_ppo
from setrl.control.steps import CreditedSteps, scale_set_advantages, spread_over_window

T, B, GAMMA, DECAY = 6, 4, 0.9, 0.8
LENGTHS = (6, 3, 1, 0)


def make_grown(seed: int = 0) -> Trajectories:
    rng = np.random.default_rng(seed)
    alive = np.arange(T)[:, None] < np.array(LENGTHS)
    shape = (T, B)
    steps = RolloutSteps(
        observations=jnp.asarray(rng.normal(size=(*shape, 3)), jnp.float32),
        memories=jnp.zeros((*shape, 0)),
        actions=jnp.asarray(rng.integers(2, size=shape), jnp.int32),
        logits=jnp.asarray(rng.normal(size=(*shape, 2)), jnp.float32),
        log_probs=jnp.asarray(-rng.random(shape), jnp.float32),
        values=jnp.asarray(rng.normal(size=shape), jnp.float32),
        rewards=jnp.asarray(np.where(alive, rng.normal(size=shape), 0), jnp.float32),
        alive=jnp.asarray(alive),
    )
    done = jnp.array([False, True, True, False])
    last = jnp.asarray(np.where(done, 0, rng.normal(size=B)), jnp.float32)
    return Trajectories(steps, None, done, last)


def gae_by_definition(grown: Trajectories, rewards: np.ndarray) -> np.ndarray:
    """Σₖ (γλ)ᵏ·δₜ₊ₖ of each trajectory, with the sum written out."""
    found, values = np.zeros((T, B)), np.asarray(grown.steps.values)
    for b, length in enumerate(LENGTHS):
        following = [*values[1:length, b], float(grown.last_values[b])]
        delta = [rewards[t, b] + GAMMA * following[t] - values[t, b] for t in range(length)]
        for t in range(length):
            weights = (GAMMA * DECAY) ** np.arange(length - t)
            found[t, b] = weights @ delta[t:]
    return found


def test_gae_is_its_sum() -> None:
    grown = make_grown()
    found = advantages.gae(grown, grown.steps.rewards, GAMMA, DECAY)
    expected = gae_by_definition(grown, np.asarray(grown.steps.rewards))
    np.testing.assert_allclose(found, expected, atol=1e-5)


def test_set_advantages_replace_gae_in_the_window() -> None:
    grown, values = make_grown(), jnp.array([2.0, jnp.nan, -1.0, 5.0])
    found = advantages.credit_steps(grown, GAMMA, DECAY, spread_over_window(jnp, values, 1, T))
    expected = gae_by_definition(grown, np.array(grown.steps.rewards))
    returns = expected + np.asarray(grown.steps.values)
    for b, value in ((0, 2.0), (2, -1.0)):
        expected[: min(2, LENGTHS[b]), b] = value
    alive = np.asarray(grown.steps.alive)
    np.testing.assert_allclose(np.asarray(found.advantages)[alive], expected[alive], atol=1e-5)
    np.testing.assert_allclose(np.asarray(found.returns)[alive], returns[alive], atol=1e-5)
    assert found.from_sets.sum() == 3


def test_a_trajectory_without_finite_rewards_is_not_learned_from() -> None:
    grown = make_grown()
    rewards = grown.steps.rewards.at[2, 0].set(jnp.nan)
    grown = grown._replace(steps=grown.steps._replace(rewards=rewards))
    found = advantages.credit_steps(grown, GAMMA, DECAY)
    assert np.asarray(found.usable).sum(axis=0).tolist() == [0, 3, 1, 0]
    assert np.isfinite(found.advantages).all()


def test_set_advantages_are_scaled_over_all_parts() -> None:
    own = [
        spread_over_window(jnp, jnp.array(row), 0, T) for row in ([3.0, 0, 0, 9], [4.0, 0, 0, 9])
    ]
    grown = make_grown()
    parts = [advantages.credit_steps(grown, GAMMA, DECAY, each) for each in own]
    size = np.sqrt((9 + 16) / 6)  # six steps: the last trajectory has none
    found = [
        one.advantages[0, 0]
        for one in scale_set_advantages(jnp, parts, advantages.rounding_floor([grown]))
    ]
    np.testing.assert_allclose(found, [3 / size, 4 / size], rtol=1e-6)


@pytest.mark.parametrize("case", ["mixed", "equal", "one", "no sets"])
def test_minibatches_are_normalised_as_in_pytorch(case: str) -> None:
    rng = np.random.default_rng(1)
    values = rng.normal(size=10).astype(np.float32)
    from_sets = np.arange(10) < (0 if case == "no sets" else 9 if case == "one" else 4)
    if case == "equal":
        values[:] = 0.3
    usable = np.ones(10, bool)
    found = advantages.normalised(*map(jnp.asarray, (values, from_sets, usable)))
    expected = torch_ppo.normalised(torch.tensor(values), torch.tensor(from_sets))
    np.testing.assert_allclose(found, expected, atol=1e-5)
    padded = [jnp.asarray(np.append(one, last)) for one, last in ((values, 99), (from_sets, False))]
    again = advantages.normalised(*padded, jnp.asarray(np.append(usable, False)))
    np.testing.assert_allclose(again[:10], found, atol=1e-6)


def test_learning_is_the_loop_in_pytorch() -> None:
    """Minibatches, loss, cut gradients and Adam, by the functions of Stable-Baselines3's path."""
    policy = ActorCritic(2, (5,))
    params = policy.init(jnp.asarray([0, 7], jnp.uint32), 3)
    options = update.PPOOptions(
        **{"batch_size": 4, "n_epochs": 2, "learning_rate": 0.03, "clip_range": 0.1},
        **{"ent_coef": 0.3, "vf_coef": 0.7, "kl_coef": 0.2},
    )
    pieces = update.pieces_of([advantages.credit_steps(make_grown(), GAMMA, DECAY)], 1)
    key, state = jax.random.key(3), options.optimizer.init(params)
    found, _, metrics = update.learn(policy, options, params, state, pieces, None, key)
    leaves, tree = jax.tree.flatten(params)
    weights = [torch.tensor(np.asarray(leaf), requires_grad=True) for leaf in leaves]
    adam = torch.optim.Adam(weights, options.learning_rate, eps=update.ADAM_EPSILON)
    steps = pieces._replace(memories=pieces.usable)
    rows = CreditedSteps(*(torch.tensor(np.array(one)[:, 0]) for one in steps))
    losses, moves = [], []
    for own in jax.random.split(key, options.n_epochs):
        order = np.array(update.shuffled(pieces.usable[:, 0], own))
        for chosen in np.split(order[: sum(LENGTHS)], (4, 8)):  # the last minibatch has two steps
            batch = CreditedSteps(*(one[chosen] for one in rows))
            loss, moved = torch_loss(jax.tree.unflatten(tree, weights), batch, options)
            adam.zero_grad()
            loss.backward()
            torch.nn.utils.clip_grad_norm_(weights, options.max_grad_norm)
            adam.step()
            losses.append(loss.item())
            moves.append(moved)
    for one, other in zip(jax.tree.leaves(found), weights, strict=True):
        np.testing.assert_allclose(one, other.detach(), atol=1e-5)
    np.testing.assert_allclose(metrics["train/loss"], losses[-1], rtol=1e-5)
    np.testing.assert_allclose(metrics["train/approx_kl"], np.mean(moves[3:]), rtol=1e-3)


def torch_loss(
    layers: Any, batch: CreditedSteps, options: update.PPOOptions
) -> tuple[torch.Tensor, float]:
    """Return the loss of a minibatch, and the estimate of KL(old ‖ new)."""
    hidden = {name: torch.tanh(dense(layers[name][0], batch.observations)) for name in layers}
    now = torch.distributions.Categorical(logits=dense(layers["actor"][1], hidden["actor"]))
    then = torch.distributions.Categorical(logits=batch.logits)
    values = dense(layers["critic"][1], hidden["critic"])[:, 0]
    own = torch_ppo.normalised(batch.advantages, batch.from_sets)
    log_ratio = now.log_prob(batch.actions) - batch.log_probs
    loss = (
        torch_ppo.clipped_surrogate(own, torch.exp(log_ratio), options.clip_range)
        - options.ent_coef * now.entropy().mean()
        + options.vf_coef * torch_ppo.value_loss(values, values, batch.returns, None)
        + options.kl_coef * torch.distributions.kl_divergence(then, now).mean()
    )
    return loss, torch_ppo.approximate_kl(log_ratio)


def dense(layer: Any, inputs: torch.Tensor) -> torch.Tensor:
    return inputs @ layer["weight"] + layer["bias"]


def test_explained_variance_has_no_unit() -> None:
    """Returns of 1e-7 are explained as well as returns of 1; equal returns have no variance."""
    found = []
    for scale in (1.0, 1e-7, 0.0):
        grown = make_grown()
        values, rewards = (scale * one for one in (grown.steps.values, grown.steps.rewards))
        steps = grown.steps._replace(values=values, rewards=rewards)
        grown = grown._replace(steps=steps, last_values=scale * grown.last_values)
        metrics = _explained_variance([advantages.credit_steps(grown, GAMMA, DECAY)])
        found.append(float(metrics["train/explained_variance"]))
    assert found[1] == pytest.approx(found[0], rel=1e-4)
    assert np.isnan(found[2])


def test_pieces_hold_every_step_once() -> None:
    grown = make_grown()
    pieces = update.pieces_of([advantages.credit_steps(grown, GAMMA, DECAY)], 4)
    assert pieces.usable.shape == (2 * B, 4)  # six steps are two pieces, the second one padded
    kept = np.asarray(pieces.observations)[np.asarray(pieces.usable)]
    alive = np.asarray(grown.steps.alive)
    expected = np.concatenate(
        [np.asarray(grown.steps.observations)[alive[:, b], b] for b in range(B)]
    )
    np.testing.assert_array_equal(kept, expected)


def test_what_is_not_usable_poisons_no_gradient() -> None:
    """0 · NaN is NaN: steps that are left out are zeros before the network sees them."""
    policy = ActorCritic(2, (5,))
    params = policy.init(jnp.asarray([0, 7], jnp.uint32), 3)
    pieces = update.pieces_of([advantages.credit_steps(make_grown(), GAMMA, DECAY)], 1)
    left_out = ~np.asarray(pieces.usable)[..., None]
    poisoned = pieces._replace(observations=jnp.where(left_out, jnp.nan, pieces.observations))
    options = update.PPOOptions()
    chosen = jnp.arange(len(pieces.usable))
    gradient = jax.jit(
        lambda given: update.minibatch_gradient(params, policy, options, given, chosen, None)[0]
    )
    found = [gradient(one) for one in (pieces, poisoned)]
    for one, other in zip(*map(jax.tree.leaves, found), strict=True):
        np.testing.assert_allclose(one, other, atol=1e-6)


def test_chunks_add_up_to_the_gradient(monkeypatch: pytest.MonkeyPatch) -> None:
    policy, options = ActorCritic(2, (5,)), update.PPOOptions(ent_coef=0.3, kl_coef=0.2)
    params = policy.init(jnp.asarray([0, 7], jnp.uint32), 3)
    pieces = update.pieces_of([advantages.credit_steps(make_grown(), GAMMA, DECAY)], 1)
    count, usable = len(pieces.usable), np.flatnonzero(pieces.usable.any(axis=1))
    choices = [np.pad(usable[:n], (0, 9 - n), constant_values=count) for n in (1, 4, 7)]
    found = []
    for chunk in (update.CHUNK, 2):
        monkeypatch.setattr(update, "CHUNK", chunk)
        gradient = jax.jit(
            lambda chosen: update.minibatch_gradient(params, policy, options, pieces, chosen, None)
        )
        found.append([gradient(chosen) for chosen in choices])
    for one, other in zip(*map(jax.tree.leaves, found), strict=True):
        np.testing.assert_allclose(one, other, atol=1e-6)


def test_shuffles_hold_usable_pieces_once_and_every_order_is_as_likely() -> None:
    is_usable = jnp.array([True, False, True, True, False])
    keys = jax.random.split(jax.random.key(0), 6000)
    orders = np.asarray(jax.vmap(lambda key: update.shuffled(is_usable, key))(keys))
    np.testing.assert_array_equal(orders[:, 3:], 5)
    found, counts = np.unique(orders[:, :3], axis=0, return_counts=True)
    np.testing.assert_array_equal(np.sort(found, axis=1), [[0, 2, 3]] * 6)
    np.testing.assert_allclose(counts, 1000, atol=130)  # 4.5 standard deviations


def test_minibatches_of_many_pieces_come_from_everywhere() -> None:
    """With few random bits above a large index, neighbours would be in ascending order."""
    count = 2**17
    order = np.asarray(update.shuffled(jnp.arange(count) > 9, jax.random.key(0)))
    np.testing.assert_array_equal(np.sort(order[:-10]), np.arange(10, count))
    np.testing.assert_array_equal(order[-10:], count)
    assert np.mean(np.diff(order[:-10]) > 0) == pytest.approx(0.5, abs=0.005)


def test_rounding_of_returns_is_not_scaled_up() -> None:
    own = spread_over_window(jnp, jnp.array([7e-8, -7e-8, 0.0, 0.0]), None, T)
    grown = make_grown()
    steps = advantages.credit_steps(grown, GAMMA, DECAY, own)
    (found,) = scale_set_advantages(jnp, [steps], advantages.rounding_floor([grown]))
    assert np.abs(np.asarray(found.advantages)[np.asarray(found.from_sets)]).max() < 0.1
