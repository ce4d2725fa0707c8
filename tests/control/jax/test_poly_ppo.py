"""Poly-PPO on JAX as a whole: families, credit, updates, and what is refused."""

from dataclasses import dataclass, replace
from types import SimpleNamespace
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
import pytest

from setrl import methods
from setrl.control.jax import advantages, families
from setrl.control.jax.environment import check_env
from setrl.control.jax.networks import ActorCritic
from setrl.control.jax.poly_ppo import JaxPolyPPO, Training
from setrl.control.jax.update import PPOOptions
from setrl.control.tasks.jax_goals import GoalRoom, GoalState, JaxGoals
from setrl.control.vines import VineChoices, vine_advantages
from setrl.samples import Samples

SMALL = PPOOptions(num_trajectories=12, batch_size=32, n_epochs=1, gamma=0.99)
METHOD = methods.poly_epo(2)
INFINITE = 0  # the goal at the right


@dataclass(frozen=True)
class Broken(GoalRoom):
    """A room whose reward is missing on its left side, and infinite at one goal."""

    def step(self, key: jax.Array, state: GoalState, action: jax.Array) -> Any:
        state, reward, done = super().step(key, state, action)
        reward = jnp.where(done & (state.goal == INFINITE), jnp.inf, reward)
        return state, jnp.where(state.x < 4, jnp.nan, reward), done


class BrokenGoals(JaxGoals):
    env = Broken(9, JaxGoals().env.goals, 20)  # type: ignore[assignment]


def make(task: JaxGoals | None = None, options: PPOOptions = SMALL, **vines: Any) -> JaxPolyPPO:
    task = task or JaxGoals(max_steps=20)
    given = VineChoices(**{"num_vines": 3, "num_states": 2, **vines})
    return JaxPolyPPO(task, ActorCritic(3, (8,)), options, METHOD, given)


def trained(model: JaxPolyPPO) -> tuple[Training, dict[str, Any], Any]:
    return model.compiled(model.init(jax.random.key(0)))


@pytest.fixture(scope="module")
def marginal() -> Any:
    model = make()
    return model, *trained(model)


def test_families_are_trunks_with_vines_from_their_states(marginal: Any) -> None:
    _, training, found, (sampled, advantages_BN) = marginal
    assert sampled.times.shape == (2, 2)
    assert advantages_BN.shape == (4, 3)
    alive = [int(one.steps.alive.sum()) for one in (sampled.trunks, sampled.vines)]
    assert int(training.steps) == sum(alive)
    assert int(training.resets) == 2
    assert float(found["vines/step_share"]) == pytest.approx(alive[1] / sum(alive))
    left = 20 - np.asarray(sampled.times).repeat(3)
    assert (np.asarray(sampled.vines.lengths) <= left).all()


def test_scores_and_labels_are_about_whole_episodes(marginal: Any) -> None:
    sampled, _ = marginal[3]
    goals = np.asarray(sampled.vines.ends.goal).reshape(4, 3)
    np.testing.assert_array_equal(sampled.columns["strategies"], goals)
    np.testing.assert_array_equal(sampled.columns["rewards"], (goals >= 0).astype(float))


def test_credit_is_the_exact_credit_of_the_core(marginal: Any) -> None:
    model, _, _, (families, advantages_BN) = marginal
    columns, actions_BN = jax.tree.map(np.asarray, (families.columns, families.actions_BN))
    given = (METHOD, model.vines, Samples(**columns), actions_BN)
    expected = vine_advantages(*given, np.random.default_rng(0))
    np.testing.assert_allclose(advantages_BN, expected, atol=1e-6)


@pytest.mark.parametrize("credit", ["marginal", "action", "shared"])
def test_every_reading_of_algorithm_2_is_there(credit: Any) -> None:
    """Called back from compiled code, it is the credit of the other path."""
    rng, shape = np.random.default_rng(0), (3, 4)
    scores, labels, actions = (
        rng.random(shape),
        rng.integers(-1, 3, shape),
        rng.integers(2, size=shape),
    )
    scores[0, 1] = np.nan
    vines, key = make(num_vines=4, credit=credit).vines, jax.random.key(4)
    assert vines is not None
    columns = {"rewards": scores, "strategies": labels}
    compiled = jax.jit(lambda *given: advantages.vine_advantages(METHOD, vines, *given, key))
    drawn = np.random.default_rng(int(jax.random.bits(key)))
    expected = vine_advantages(METHOD, vines, Samples(**columns), actions, drawn)
    np.testing.assert_allclose(compiled(columns, actions), expected, atol=1e-6)


def test_methods_that_scale_do_not_scale_rounding() -> None:
    """Returns of 1000 that differ in the last digits of float32 are equal."""
    vines, none = make().vines, np.zeros((2, 3))
    assert vines is not None
    scores = np.float32([[1000, 1000.0001, 999.9999], [1000, 1001, 999]])
    found = advantages._CreditOnHost(methods.grpo(), vines)({"rewards": scores}, none, 0)
    np.testing.assert_array_equal(found[0], 0)
    np.testing.assert_allclose(found[1], methods.grpo().advantages(scores[1:]).values_BN[0])


def test_seeds_can_be_mapped(marginal: Any) -> None:
    """`jax.vmap` over seeds trains each as it trains alone."""
    model, alone = marginal[:2]
    keys = jnp.stack([jax.random.key(9), jax.random.key(0)])
    together, _ = jax.jit(jax.vmap(model.update))(jax.vmap(model.init)(keys))
    assert int(together.steps[1]) == int(alone.steps)
    for one, other in zip(*map(jax.tree.leaves, (together.params, alone.params)), strict=True):
        np.testing.assert_allclose(one[1], other, atol=1e-5)


def test_an_update_is_compiled_once() -> None:
    """What it returns has the types that it takes, also those that only JAX calls weak."""
    model = make(credit="gae")
    first = jax.eval_shape(model.init, jax.random.key(0))
    second, _, _ = jax.eval_shape(model.update_and_show, first)
    for given, returned in zip(*map(jax.tree.leaves, (first, second)), strict=True):
        assert (given.dtype, given.weak_type) == (returned.dtype, returned.weak_type)


def test_all_choices_at_once_train() -> None:
    """A memory and KL, at drawn states; credit of actions, or none."""
    options = replace(SMALL, kl_coef=0.1, kl_anchor="start", sequence_length=4)
    model = make(options=options, where="uniform", credit="action")
    model = replace(model, policy=ActorCritic(3, (8,), gru=6))
    training, found, (_, advantages_BN) = trained(model)
    assert float(found["train/kl_penalty"]) > 0
    assert bool(training.gave_credit) == bool(np.isfinite(advantages_BN).any())


def test_the_control_has_vines_and_asks_for_no_set_credit() -> None:
    """With `credit="gae"` the host is not called, and no size of credit is logged."""
    model = make(credit="gae")
    for one, calls in ((model, False), (make(), True)):
        traced = jax.make_jaxpr(one.update_and_show)(one.init(jax.random.key(0)))
        assert ("pure_callback" in str(traced)) == calls
    _, found, _ = jax.eval_shape(model.update_and_show, model.init(jax.random.key(0)))
    assert "vines/advantage_size" not in found
    assert "vines/distinct" in found


def test_what_came_after_a_state_is_no_part_of_its_vines() -> None:
    """A trunk's reward that is missing later leaves the vines of earlier states usable."""
    model = make(BrokenGoals())
    assert model.vines is not None
    params = model.init(jax.random.key(0)).params
    sample = jax.jit(
        lambda key: families.sample_families(model.task, model.policy, params, model.vines, 16, key)
    )
    found = sample(jax.random.key(2))
    rewards, times = np.asarray(found.trunks.steps.rewards), np.asarray(found.times)
    own = np.asarray(found.vines.returns).reshape(16, 2, 3)
    for f, row in enumerate(times):
        for p, time in enumerate(row):
            usable = np.isfinite(own[f, p]) & np.isfinite(rewards[:time, f].sum())
            scores = np.asarray(found.columns["rewards"]).reshape(16, 2, 3)[f, p]
            np.testing.assert_array_equal(np.isfinite(scores), usable)


def test_a_missing_or_infinite_reward_is_in_no_set_and_no_update() -> None:
    model = make(BrokenGoals(), replace(SMALL, num_trajectories=96))
    training, found, (sampled, advantages_BN) = trained(model)
    returns, scores_BN = np.asarray(sampled.vines.returns), np.asarray(sampled.columns["rewards"])
    assert np.isinf(returns).any()
    assert np.isnan(returns).any()
    unknown = ~np.isfinite(returns).reshape(scores_BN.shape)
    assert np.isnan(scores_BN[unknown]).all()
    assert np.isnan(np.asarray(advantages_BN)[np.isnan(scores_BN)]).all()
    assert int(found["vines/without_reward"]) == unknown.sum()
    assert np.isfinite(float(found["train/loss"]))
    assert all(np.isfinite(one).all() for one in jax.tree.leaves(training.params))


def test_returns_are_means_over_the_last_hundred_episodes(marginal: Any) -> None:
    """The name is Stable-Baselines3's, and so is the meaning."""
    model, first, metrics, (sampled, _) = marginal
    own = np.asarray(sampled.trunks.returns)
    assert float(metrics["rollout/ep_rew_mean"]) == pytest.approx(own.mean())
    _, found, (sampled, _) = model.compiled(first._replace(recent=jnp.ones((2, 100))))
    own = np.asarray(sampled.trunks.returns)
    assert float(found["rollout/ep_rew_mean"]) == pytest.approx((own.sum() + 98) / 100)


def test_ppo_is_plain_without_vines() -> None:
    model = JaxPolyPPO(JaxGoals(max_steps=20), ActorCritic(3, (8,)), SMALL)
    _, found = jax.eval_shape(model.update, jax.eval_shape(model.init, jax.random.key(0)))
    assert not any(key.startswith("vines") for key in found)
    assert model.num_trunks == SMALL.num_trajectories


@dataclass(frozen=True)
class Hosted(GoalRoom):
    def reset(self, key: jax.Array) -> Any:
        return {"simulator": object()}


@dataclass(frozen=True)
class Growing(GoalRoom):
    def step(self, key: jax.Array, state: GoalState, action: jax.Array) -> Any:
        return state._replace(x=jnp.stack([state.x])), jnp.float32(0), jnp.bool_(False)


@dataclass(frozen=True)
class Counted(GoalRoom):
    def step(self, key: jax.Array, state: GoalState, action: jax.Array) -> Any:
        return state, jnp.int32(1), jnp.bool_(False)


@dataclass(frozen=True)
class Branching(GoalRoom):
    def step(self, key: jax.Array, state: GoalState, action: jax.Array) -> Any:
        return state, jnp.float32(1 if state.x > 0 else 0), jnp.bool_(False)


@dataclass(frozen=True)
class Informed(GoalRoom):
    def step(self, key: jax.Array, state: GoalState, action: jax.Array) -> Any:
        return *super().step(key, state, action), {}


@pytest.mark.parametrize(
    ("kind", "sentence"),
    [
        (Informed, "step must return the next state, the reward and done, got 4 values"),
        (Hosted, "reset must take and return pytrees of arrays.*simulator"),
        (Branching, "step reads the value of an array in Python, for example by `if`"),
        (Growing, "step must return a state of the same shapes and kinds as reset"),
        (Counted, "step must return a reward of shape .. and kind floating"),
    ],
)
def test_environments_are_checked_before_compilation(kind: Any, sentence: str) -> None:
    with pytest.raises(ValueError, match=sentence):
        check_env(kind(9, ((1, 1),), 20))


@pytest.mark.parametrize(
    ("vines", "sentence"),
    [
        ({"num_vines": 2}, "num_vines"),  # sets of two need three vines
        ({"num_states": 0}, "num_states must be from 1 to 20"),
        ({"num_states": 21}, "num_states must be from 1 to 20, the steps of an episode"),
    ],
)
def test_choices_that_do_not_fit_are_refused(vines: dict[str, Any], sentence: str) -> None:
    with pytest.raises(ValueError, match=sentence):
        make(**vines)


@pytest.mark.parametrize(
    ("label", "sentence"),
    [
        (lambda state: "left", "a label must be a function of JAX"),
        (lambda state: state.x * 0.1, "got shape .. and kind float32"),
        (None, "poly_epo reads strategies: the task has no label"),
    ],
)
def test_labels_are_the_tasks(label: Any, sentence: str) -> None:
    goals = JaxGoals(max_steps=20)
    task: Any = SimpleNamespace(env=goals.env, label=label)
    with pytest.raises(ValueError, match=sentence):
        make(task)
    with pytest.raises(ValueError, match="has no label"):
        make(SimpleNamespace(env=goals.env))  # type: ignore[arg-type]
