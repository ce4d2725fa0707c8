"""A memory is carried from step to step, from trunk to vine, and through the update."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import gymnasium as gym
import numpy as np
import pytest
import torch
from stable_baselines3.common.env_util import make_vec_env

from setrl import methods
from setrl.control.sb3.families import MEMORY
from setrl.control.sb3.recurrent import GRUPolicy, RecurrentPolyPPO
from setrl.control.sb3.vines import Vines
from setrl.control.trajectories import Trajectory

SMALL: dict[str, Any] = {
    "n_steps": 64,
    "batch_size": 64,
    "n_epochs": 2,
    "seed": 1,
    "sequence_length": 4,
    "policy_kwargs": {"hidden_size": 8, "net_arch": []},
}


class Cue(gym.Env):
    """A cue is seen at first only; the last of `delay` + 1 actions must repeat it."""

    def __init__(self, delay: int = 2):
        self.delay = delay
        self.observation_space = gym.spaces.Box(0.0, 1.0, (3,), np.float32)
        self.action_space = gym.spaces.Discrete(2)

    def reset(
        self, *, seed: int | None = None, options: dict[str, Any] | None = None
    ) -> tuple[np.ndarray, dict[str, Any]]:
        super().reset(seed=seed)
        self.cue, self.time = int(self.np_random.integers(2)), 0
        return np.eye(3, dtype=np.float32)[self.cue], {}

    def step(self, action: Any) -> tuple[np.ndarray, float, bool, bool, dict[str, Any]]:
        self.time += 1
        over = self.time > self.delay
        right = over and int(action) == self.cue
        return np.eye(3, dtype=np.float32)[2], float(right), over, False, {"right": right}


def way(trajectory: Trajectory) -> tuple[int, ...]:
    return tuple(trajectory.actions_T[:1])


def model(**changes: Any) -> RecurrentPolyPPO:
    vines = Vines(Cue, label=way, **{"num_vines": 3, "window": None, **changes.pop("vines", {})})
    options = {"method": methods.poly_epo(2), "vines": vines, **SMALL, **changes}
    return RecurrentPolyPPO(GRUPolicy, make_vec_env(Cue, 1), **options)


def collected(one: RecurrentPolyPPO) -> list[Any]:
    """The families of one update, before it."""
    found: list[Any] = []
    one.train = lambda: None  # type: ignore[method-assign]
    one.learn(1, lambda known, _: found.append(known) is None)
    return found


def test_a_piece_is_unrolled_as_its_steps_are_walked() -> None:
    policy = model().policy
    seen, memories = torch.rand(7, 3), torch.rand(2, 8)
    with torch.no_grad():
        unrolled = policy.unroll(seen, memories, [3, 4])
        for first, last, memory in ((0, 3, memories[:1]), (3, 7, memories[1:])):
            for step in range(first, last):
                memory = policy.remember(seen[step : step + 1], memory)
                torch.testing.assert_close(memory[0], unrolled[step])


def test_the_update_begins_where_the_collection_ended() -> None:
    one = model()
    collected(one)
    pieces = list(one.rollout_buffer.get(16))
    assert sum(len(piece.actions) for piece in pieces) == len(one.rollout_buffer.values)
    for piece in pieces:
        assert max(piece.lengths) <= 4
        with torch.no_grad():
            values, log_prob, _ = one._evaluated(piece, piece.actions.long().flatten())
        torch.testing.assert_close(log_prob, piece.old_log_prob, rtol=1e-4, atol=1e-5)
        torch.testing.assert_close(values, piece.old_values, rtol=1e-4, atol=1e-5)


def test_a_vine_starts_with_the_memory_of_its_trunk() -> None:
    one = model()
    families: list[Any] = []
    segments = one._segments
    one._segments = lambda vines, found, callback: (  # type: ignore[method-assign]
        families.extend(found) or segments(vines, found, callback)  # type: ignore[func-returns-value]
    )
    collected(one)
    assert {time for family in families for time in family.times} == {0, 1}
    for family in families:
        assert (family.trunk.extras[MEMORY][0] == 0).all()
        assert (family.trunk.extras[MEMORY][1] != 0).any()
        for time, vines in zip(family.times, family.vines_BN, strict=True):
            for vine in vines:
                np.testing.assert_array_equal(
                    vine.extras[MEMORY][0], family.trunk.extras[MEMORY][time]
                )


def test_values_after_a_cut_know_what_came_before() -> None:
    one = model(vines={"max_steps": 2, "num_states": 1, "where": "equal"}, gae_lambda=1.0)
    collected(one)
    buffer = one.rollout_buffer
    ends = np.cumsum(buffer.lengths) - 1
    assert (buffer.lengths == 2).all()
    last = np.array([buffer.returns[end] for end in ends])
    with torch.no_grad():
        at = torch.as_tensor(buffer.observations[ends])
        known = one.policy.remember(at, torch.as_tensor(buffer.memories[ends]))
        blank = torch.eye(3)[2].expand(len(ends), 3)
        expected = one.policy.heads(one.policy.remember(blank, known))[1].numpy()
    np.testing.assert_allclose(last, one.gamma * expected, rtol=1e-4, atol=1e-5)


@pytest.mark.parametrize("drawn", [True, False])
def test_it_learns_what_needs_a_memory(drawn: bool) -> None:
    options: dict[str, Any] = {"method": methods.grpo()} if drawn else {"method": None}
    options |= {"vines": {"num_vines": 4 if drawn else 0, "label": way}}
    del options["vines"]["label"]
    one = model(**options, learning_rate=1e-2, n_steps=128, n_epochs=4).learn(2000)
    torch.manual_seed(0)
    rewards = []
    for seed in range(50):
        env = Cue()
        seen, _ = env.reset(seed=seed)
        state, over = None, False
        while not over:
            action, state = one.predict(seen, state)
            seen, reward, over, _, _ = env.step(action)
        rewards.append(reward)
    assert np.mean(rewards) > 0.85


def test_a_batch_of_episodes_forgets_at_their_starts() -> None:
    one = model()
    seen = np.eye(3, dtype=np.float32)
    _, known = one.predict(seen)
    _, after = one.predict(seen, known, np.array([True, False, True]))
    _, fresh = one.predict(seen)
    np.testing.assert_array_equal(after[0][[0, 2]], fresh[0][[0, 2]])
    assert not np.allclose(after[0][1], fresh[0][1])


def test_saving_and_loading_keep_the_memory(tmp_path: Path) -> None:
    one = model(kl_coef=0.1).learn(100)
    one.save(tmp_path / "model.zip")
    again = RecurrentPolyPPO.load(tmp_path / "model.zip")
    assert again.policy.hidden_size == 8
    seen = np.eye(3, dtype=np.float32)
    known = one.predict(seen)[1]
    np.testing.assert_array_equal(known[0], again.predict(seen)[1][0])


def test_the_same_seed_gives_the_same_weights() -> None:
    first, second = model().learn(150), model().learn(150)
    for one, other in zip(first.policy.parameters(), second.policy.parameters(), strict=True):
        assert torch.equal(one, other)


class Shown(Cue):
    """The cue as a dict of observations."""

    def __init__(self) -> None:
        super().__init__()
        self.observation_space = gym.spaces.Dict({"cue": self.observation_space})

    def reset(self, **options: Any) -> Any:
        seen, info = super().reset(**options)
        return {"cue": seen}, info

    def step(self, action: Any) -> Any:
        seen, *rest = super().step(action)
        return {"cue": seen}, *rest


@pytest.mark.parametrize(("name", "env"), [("MlpPolicy", Cue), ("MultiInputPolicy", Shown)])
def test_the_names_of_stable_baselines3_are_policies_with_a_memory(name: str, env: Any) -> None:
    vines = Vines(env, label=way, num_vines=3)
    one = RecurrentPolyPPO(name, make_vec_env(env, 1), methods.poly_epo(2), vines, **SMALL)
    one.learn(64)
    assert isinstance(one.policy, GRUPolicy)
    assert one.policy.hidden_size == 8


@pytest.mark.parametrize(
    ("policy", "message"),
    [("MlpLstmPolicy", "unknown policy 'MlpLstmPolicy'; did you mean"), (Cue, "is GRUPolicy or a")],
)
def test_a_policy_without_a_memory_is_refused(policy: Any, message: str) -> None:
    with pytest.raises(ValueError, match=message):
        RecurrentPolyPPO(policy, make_vec_env(Cue, 1))
