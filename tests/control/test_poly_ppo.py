"""The trainer: Stable-Baselines3's PPO to the bit without our options, and sets with them."""

from __future__ import annotations

from collections import Counter
from typing import Any

import pytest
import torch
from goals import Goals, goal
from stable_baselines3 import PPO
from stable_baselines3.common.env_util import make_vec_env

from setrl import methods
from setrl.control.poly_ppo import PolyPPO
from setrl.control.vines import Vines

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
    vines = Vines(Goals, label=goal, **{**FOUR, **changes.pop("vines", {})})
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
    learning = {"n_steps": 128, "batch_size": 128, "n_epochs": 4, "learning_rate": 2e-3}
    ppo = PolyPPO("MlpPolicy", make_vec_env(Goals, 2, seed=3), **{**SMALL, **learning})
    several = poly(vines={"num_vines": 8}, method=methods.poly_epo(4), **learning)
    of_ppo, of_poly = reached(ppo.learn(8000)), reached(several.learn(8000))
    assert max(of_ppo.values()) > 190
    assert min(of_poly[corner] for corner in [(0, 0), (0, 4), (4, 0), (4, 4)]) > 10
    assert of_poly[None] < 20
