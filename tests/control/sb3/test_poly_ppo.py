"""The trainer: Stable-Baselines3's PPO to the bit without our options, and sets with them."""

from __future__ import annotations

import copy
import warnings
from collections import Counter
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any, ClassVar

import gymnasium as gym
import numpy as np
import pytest
import torch
from stable_baselines3 import PPO
from stable_baselines3.common.callbacks import BaseCallback, StopTrainingOnMaxEpisodes
from stable_baselines3.common.env_util import make_vec_env
from stable_baselines3.common.vec_env import VecFrameStack, VecNormalize

from setrl import methods
from setrl.control.envs.checks import ResetMismatchError
from setrl.control.envs.generators import NotResettableError
from setrl.control.sb3.families import Vines
from setrl.control.sb3.poly_ppo import PolyPPO
from tests.control.goals import Goals, goal

SMALL: dict[str, Any] = {
    "n_steps": 32,
    "batch_size": 32,
    "n_epochs": 2,
    "seed": 3,
    "policy_kwargs": {"net_arch": [16]},
}
FOUR = {"num_vines": 4, "window": None}


def weights(model: PPO) -> torch.Tensor:
    return torch.cat([p.detach().flatten() for p in model.policy.parameters()])


def poly(**changes: Any) -> PolyPPO:
    vines = Vines(**{"make_env": Goals, "label": goal, **FOUR, **changes.pop("vines", {})})
    options = {"method": methods.poly_epo(2), "vines": vines, **SMALL, **changes}
    return PolyPPO("MlpPolicy", make_vec_env(Goals, 2, seed=3), **options)


@pytest.mark.parametrize(
    "options",
    [
        {},
        {"ent_coef": 0.05, "clip_range_vf": 0.2},
        {"normalize_advantage": False, "batch_size": 16},
        {"target_kl": 1e-4},
    ],
)
@pytest.mark.parametrize("env_id", ["CartPole-v1", "Pendulum-v1"])
def test_without_our_options_it_is_ppo_to_the_bit(env_id: str, options: dict[str, Any]) -> None:
    trained = [
        kind("MlpPolicy", make_vec_env(env_id, 2, seed=3), **{**SMALL, **options}).learn(192)
        for kind in (PPO, PolyPPO)
    ]
    assert torch.equal(weights(trained[0]), weights(trained[1]))
    assert trained[0].logger.name_to_value == pytest.approx(
        trained[1].logger.name_to_value, nan_ok=True
    )


def reached(model: PolyPPO, episodes: int = 200) -> Counter[Any]:
    torch.manual_seed(0)
    found: Counter[Any] = Counter()
    env = Goals()
    for _ in range(episodes):
        seen, _ = env.reset()
        over = False
        while not over:
            action, _ = model.predict(seen)
            seen, _, ended, cut, info = env.step(action)
            over = ended or cut
        found[info.get("goal")] += 1
    return found


def test_sets_keep_several_goals_where_plain_ppo_keeps_one() -> None:
    learning = {"n_steps": 128, "batch_size": 128, "n_epochs": 4, "learning_rate": 3e-3}
    ppo = PolyPPO("MlpPolicy", make_vec_env(Goals, 2, seed=3), **{**SMALL, **learning})
    several = poly(vines={"num_vines": 8}, method=methods.poly_epo(4), **learning)
    of_ppo, of_poly = reached(ppo.learn(4000)), reached(several.learn(4000))
    assert max(of_ppo.values()) > 170
    assert min(of_poly[corner] for corner in [(0, 0), (0, 4), (4, 0), (4, 4)]) > 10
    assert of_poly[None] < 40


def test_steps_of_vines_are_environment_steps() -> None:
    steps: list[int] = []

    class Count(gym.Wrapper):
        def step(self, action: Any) -> Any:
            steps.append(1)
            return super().step(action)

    model = poly(vines={"make_env": lambda: Count(Goals())}, checks_resets=False)
    updates: list[Any] = []
    model.learn(300, Families(updates))
    repeated = sum(max(one.times) for families, _ in updates for one in families)
    assert model.num_timesteps == len(steps) - repeated >= 300


def test_an_update_takes_as_many_steps_as_ppos_and_no_family_more() -> None:
    model = poly(n_steps=128)
    sizes = []
    model.learn(300, lambda _, __: None)
    for _ in range(3):
        before = model.num_timesteps
        model.learn(1, reset_num_timesteps=False)
        sizes.append(model.num_timesteps - before)
        assert len(model.rollout_buffer.values) == sizes[-1]
    assert all(256 <= size < 512 for size in sizes)


@pytest.mark.parametrize("none", ["num_vines", "num_states"])
def test_no_vines_are_plain_ppo_to_the_bit(none: str) -> None:
    plain = PPO("MlpPolicy", make_vec_env(Goals, 2, seed=3), **SMALL).learn(128)
    assert torch.equal(weights(poly(vines={none: 0}).learn(128)), weights(plain))


class AtRolloutEnd(BaseCallback):
    """Calls a function when a rollout is collected and the policy has not changed yet."""

    def __init__(self, see: Callable[[dict[str, Any]], None]) -> None:
        super().__init__()
        self.see = see

    def _on_step(self) -> bool:
        return True

    def _on_rollout_end(self) -> None:
        self.see(self.locals)


def test_the_control_has_vines_and_ppos_advantages() -> None:
    """`credit="gae"`: vines are data and starts, and no step has a set advantage."""
    model, seen = poly(vines={"credit": "gae"}), []

    def see(collected: dict[str, Any]) -> None:
        seen.append(len(collected["families"][0].vines_BN))
        assert not any(np.isfinite(one.own_T).any() for one in collected["segments"])
        assert not model.rollout_buffer.from_sets.any()

    with warnings.catch_warnings():
        warnings.simplefilter("error")  # that no step has set credit is what was asked for
        model.learn(64, AtRolloutEnd(see))
    assert min(seen) > 0


def test_resets_are_counted_and_vines_are_none() -> None:
    """Plain PPO: the episodes that began; with vines: the trunks."""
    plain, model = PolyPPO("MlpPolicy", make_vec_env(Goals, 2, seed=3), **SMALL), poly()
    plain.learn(64)
    assert plain.num_resets == plain.rollout_buffer.episode_starts.sum() > 2
    counts: list[int] = []
    model.learn(64, AtRolloutEnd(lambda collected: counts.append(len(collected["families"]))))
    assert model.num_resets == sum(counts) < plain.num_resets


@pytest.mark.parametrize("credit", ["marginal", "action", "shared"])
def test_every_credit_trains(credit: str) -> None:
    model = poly(vines={"credit": credit, "num_states": 2, "window": 3}).learn(200)
    assert torch.isfinite(weights(model)).all()
    uses_sets = credit not in ("bonus", "reward")
    assert bool(model.rollout_buffer.from_sets.any()) == uses_sets


@pytest.mark.parametrize(
    "method", [methods.maxpo(2), methods.grpo(), methods.pass_k_training(2), methods.rloo()]
)
def test_methods_without_strategies_need_no_label(method: Any) -> None:
    model = poly(method=method, vines={"label": None}).learn(150)
    assert torch.isfinite(weights(model)).all()


class Broken(Goals):
    """The reward of a third of the steps is missing."""

    def step(self, action: Any) -> Any:
        seen, reward, ended, cut, info = super().step(action)
        lost = self.steps == 3 and int(action) == 0
        return seen, float("nan") if lost else reward, ended, cut, info


def test_vines_without_a_reward_leave_the_sets_and_the_update() -> None:
    model = poly(vines={"make_env": Broken, "num_vines": 8})
    found: list[Any] = []
    model.learn(400, Families(found))
    lost = sum(
        not np.isfinite(vine.rewards_T).all()
        for families, _ in found
        for family in families
        for row in family.vines_BN
        for vine in row
    )
    assert lost > 0
    assert torch.isfinite(weights(model)).all()
    for families, advantages_BN in found:
        rows = [row for family in families for row in family.vines_BN]
        for vines, advantages_N in zip(rows, advantages_BN, strict=True):
            for vine, advantage in zip(vines, advantages_N, strict=True):
                if not np.isfinite(vine.rewards_T).all():
                    assert np.isnan(advantage)


def test_without_vines_a_missing_reward_is_an_error() -> None:
    model = PolyPPO("MlpPolicy", make_vec_env(Broken, 2, seed=3), **SMALL)
    with pytest.raises(ValueError, match="rewards must be finite"):
        model.learn(200)


class Families(BaseCallback):
    """Keeps the families of every update, and the set advantages of their vines."""

    def __init__(self, found: list[Any]):
        super().__init__()
        self.found = found

    def _on_step(self) -> bool:
        return True

    def _on_rollout_end(self) -> None:
        self.found.append((self.locals["families"], self.locals["advantages_BN"]))


def test_a_callback_ends_the_training() -> None:
    model = poly()
    model.learn(10_000, lambda *_: model.num_timesteps < 100)
    assert 100 <= model.num_timesteps < 120


class Outcomes(BaseCallback):
    """Adds up what callbacks are shown of each step."""

    rewards, ends, steps = 0.0, 0, 0

    def _on_step(self) -> bool:
        self.rewards += self.locals["rewards"].sum()
        self.ends += sum("goal" in info for info in self.locals["infos"])
        self.steps += len(self.locals["dones"])
        return True


def test_callbacks_see_every_step_as_stable_baselines_shows_it() -> None:
    seen, model = Outcomes(), poly()
    model.learn(200, seen)
    assert seen.steps == model.num_timesteps
    assert seen.rewards == seen.ends > 0
    limit = StopTrainingOnMaxEpisodes(max_episodes=30)
    model = poly()  # of two environments; a vine's end counts as an episode's
    model.learn(10_000, limit)
    assert 60 <= limit.n_episodes < 60 + 4


@pytest.mark.parametrize("wrap", [lambda env: VecFrameStack(env, 2), VecNormalize])
def test_wrappers_that_do_not_reach_vines_are_refused(wrap: Callable[[Any], Any]) -> None:
    vines = Vines(Goals, label=goal, num_vines=4)
    with pytest.raises(ValueError, match=r"which Vec\w+ does not reach"):
        PolyPPO("MlpPolicy", wrap(make_vec_env(Goals)), methods.poly_epo(2), vines)
    PolyPPO("MlpPolicy", wrap(make_vec_env(Goals)))


def test_vines_of_another_environment_are_refused() -> None:
    model = poly(vines={"make_env": lambda: Goals(size=7)})
    with pytest.raises(ValueError, match="vines' environments must be like the model's: Obs"):
        model.learn(10)


def test_without_normalisation_set_advantages_stay_as_they_are() -> None:
    scaled, plain = (
        poly(normalize_advantage=normalised, n_steps=8, batch_size=16).learn(16).rollout_buffer
        for normalised in (True, False)
    )
    raw = plain.advantages[plain.from_sets]
    size = np.sqrt(np.mean(raw**2))
    assert size != pytest.approx(1.0, rel=0.05)
    assert scaled.advantages[scaled.from_sets] == pytest.approx(raw / size, rel=1e-5)


def test_saving_keeps_no_environment_and_loading_goes_on(tmp_path: Path) -> None:
    model = poly(ucb_coef=0.1, kl_coef=0.1, kl_anchor="start").learn(100)
    vines = model.vines
    model.save(tmp_path / "model.zip")
    bare = PolyPPO.load(tmp_path / "model.zip")
    assert torch.equal(weights(bare), weights(model))
    assert bare.bonus == model.bonus
    assert bare.vines is None
    assert bare.method == model.method
    bare.predict(np.zeros(25, np.float32))
    with pytest.raises(ValueError, match="vines="):
        PolyPPO.load(tmp_path / "model.zip", env=make_vec_env(Goals, 2)).learn(10)
    again = PolyPPO.load(tmp_path / "model.zip", env=make_vec_env(Goals, 2), vines=vines)
    again.learn(100, reset_num_timesteps=False)
    assert again.num_timesteps >= model.num_timesteps + 100


def test_vines_can_be_changed_between_two_calls_of_learn() -> None:
    found: list[Any] = []
    model = poly().learn(32)
    model.vines = replace(model.vines, num_vines=6)
    model.learn(32, Families(found), reset_num_timesteps=False)
    assert found[-1][1].shape[1] == 6


def test_the_same_seed_gives_the_same_weights() -> None:
    first, second = poly().learn(200), poly().learn(200)
    assert torch.equal(weights(first), weights(second))
    assert not torch.equal(weights(first), weights(poly(seed=4).learn(200)))


def test_a_penalty_to_the_start_keeps_the_policy_there() -> None:
    learning = {"learning_rate": 3e-3, "n_epochs": 4}
    seen = torch.eye(25)
    moved = []
    for coefficient in (0.0, 10.0):
        model = poly(kl_coef=coefficient, kl_anchor="start", **learning)
        before = probabilities(model, seen)
        moved.append(float((probabilities(model.learn(600), seen) - before).abs().max()))
    assert moved[1] < 0.1 < moved[0]


def probabilities(model: PPO, seen: torch.Tensor) -> torch.Tensor:
    with torch.no_grad():
        return model.policy.get_distribution(seen).distribution.probs.clone()


def test_a_penalty_to_the_behaviour_slows_each_update() -> None:
    learning = {"learning_rate": 3e-3, "n_epochs": 8}
    divergence = [
        poly(kl_coef=coefficient, **learning).learn(200).logger.name_to_value["train/approx_kl"]
        for coefficient in (0.0, 10.0)
    ]
    assert divergence[1] < divergence[0] / 2


def test_one_epoch_over_one_minibatch_is_reinforce_with_a_baseline() -> None:
    options = {**SMALL, "n_epochs": 1, "batch_size": 64, "gae_lambda": 1.0, "vf_coef": 0.0}
    options |= {"normalize_advantage": False, "max_grad_norm": 1e9}
    model = PolyPPO("MlpPolicy", make_vec_env(Goals, 2, seed=3), **options)
    gradients: list[torch.Tensor] = []
    step = model.policy.optimizer.step
    model.policy.optimizer.step = lambda: gradients.append(gradient(model)) or step()  # type: ignore[method-assign,func-returns-value]
    start = copy.deepcopy(model.policy)
    model.learn(64)
    batch = next(iter(model.rollout_buffer.get()))
    _, log_prob, _ = start.evaluate_actions(batch.observations, batch.actions.long().flatten())
    (-(batch.advantages * log_prob).mean()).backward()
    expected = torch.cat([p.grad.flatten() for p in start.parameters() if p.grad is not None])
    found = gradients[0][gradients[0] != 0]
    torch.testing.assert_close(found, expected[expected != 0], rtol=1e-3, atol=1e-6)


def gradient(model: PPO) -> torch.Tensor:
    grads = [p.grad for p in model.policy.parameters() if p.grad is not None]
    return torch.cat([one.flatten().clone() for one in grads])


@pytest.mark.parametrize(
    ("options", "sentence"),
    [
        ({"kl_coef": -1.0}, "kl_coef must be a number ≥ 0"),
        ({"ucb_coef": float("nan")}, "ucb_coef must be a number ≥ 0"),
        ({"kl_anchor": "old"}, "kl_anchor must be"),
        ({"method": methods.poly_epo(9)}, "set_size must be an integer in"),
        ({"method": None}, "give both"),
    ],
)
def test_wrong_arguments_are_named(options: dict[str, Any], sentence: str) -> None:
    with pytest.raises(ValueError, match=sentence):
        poly(**options)


class Pixels(gym.ObservationWrapper):
    """The grid as an image with the channel last, or as a dict."""

    def __init__(self, as_dict: bool):
        super().__init__(Goals(size=6))
        image = gym.spaces.Box(0, 255, (36, 36, 1), np.uint8)
        self.as_dict = as_dict
        self.observation_space = gym.spaces.Dict({"image": image}) if as_dict else image

    def observation(self, observation: np.ndarray) -> Any:
        image = (255 * observation.reshape(6, 6).repeat(6, 0).repeat(6, 1)).astype(np.uint8)
        return {"image": image[..., None]} if self.as_dict else image[..., None]


@pytest.mark.parametrize(("policy", "as_dict"), [("CnnPolicy", False), ("MultiInputPolicy", True)])
def test_images_and_dicts_are_seen_as_ppo_sees_them(policy: str, as_dict: bool) -> None:
    def make() -> gym.Env:
        return Pixels(as_dict)

    options = {**SMALL, "n_steps": 16, "batch_size": 16, "n_epochs": 1}
    del options["policy_kwargs"]
    vines = Vines(make, label=goal, num_vines=3)
    model = PolyPPO(policy, make_vec_env(make, 1), methods.poly_epo(2), vines, **options)
    model.learn(16)
    assert torch.isfinite(weights(model)).all()


def test_actions_that_are_vectors_reach_the_environment_clipped() -> None:
    def make() -> gym.Env:
        return gym.make("Pendulum-v1", max_episode_steps=10)

    vines = Vines(make, label=lambda one: one.observations[-1][0] > 0, num_vines=3)
    env = make_vec_env("Pendulum-v1", 1)
    found: list[Any] = []
    model = PolyPPO("MlpPolicy", env, methods.poly_epo(2), vines, **SMALL)
    model.policy.log_std.data.fill_(2.0)
    model.learn(64, Families(found))
    family = found[0][0][0]
    assert np.abs(family.trunk.actions_T).max() <= 2.0
    assert np.abs(model.rollout_buffer.actions).max() > 2.0


class Simulator(Goals):
    """The grid, whose place is in a simulator outside; a copy of the environment has its handle."""

    places: ClassVar[list[tuple[int, int]]] = []

    def __init__(self) -> None:
        super().__init__()
        self.handle = len(self.places)
        self.places.append((0, 0))

    @property
    def place(self) -> tuple[int, int]:
        return self.places[self.handle]

    @place.setter
    def place(self, place: tuple[int, int]) -> None:
        self.places[self.handle] = place


def test_an_environment_that_is_not_set_back_is_refused() -> None:
    model = poly(vines={"make_env": Simulator})
    with pytest.raises(
        ResetMismatchError, match=r"Simulator: .* differed at .*checks_resets=False"
    ):
        model.learn(64)
    assert model.num_timesteps == 0
    first = {"make_env": Simulator, "num_states": 1}  # no step is repeated to reach it
    assert poly(vines=first, checks_resets=False).learn(64).num_timesteps >= 64
    with pytest.raises(NotResettableError, match="repeated and led to another observation"):
        poly(vines={"make_env": Simulator}, checks_resets=False).learn(64)


def test_the_check_is_made_once_and_changes_no_training() -> None:
    made: list[Goals] = []

    def make() -> Goals:
        made.append(Goals())
        return made[-1]

    model = poly(vines={"make_env": make}).learn(64)
    first = len(made)
    model.learn(64, reset_num_timesteps=False)
    assert len(made) == first
    unchecked = poly(checks_resets=False).learn(64).learn(64, reset_num_timesteps=False)
    assert torch.equal(weights(model), weights(unchecked))
