"""BabyAI levels with the settings of "Polychromic Objectives" (arXiv:2509.25424).

BabyAI (arXiv:1810.08272) gives an instruction in a small language, in rooms that the agent observes
partly. BabyAI's bot makes the demonstrations.
"""

from __future__ import annotations

import contextlib
import io
from collections.abc import Mapping
from dataclasses import dataclass
from functools import lru_cache
from types import MappingProxyType
from typing import Any, ClassVar, Literal, get_args

import gymnasium as gym
import numpy as np
from minigrid.core.constants import COLOR_NAMES
from minigrid.envs.babyai.goto import GoTo, GoToLocal
from minigrid.envs.babyai.pickup import Pickup
from minigrid.envs.babyai.synth import BossLevel
from minigrid.utils.baby_ai_bot import BabyAIBot
from typing_extensions import override

from studies.grids.four_rooms import LARGEST_CODE, VIEW
from studies.grids.layouts import FixedLayouts, LayoutTask, Shown
from studies.grids.paper import HORIZON, PAPER_PPO, SHOWN

Level = Literal["goto_local", "goto", "pickup", "boss"]

WORDS = (
    *("go", "to", "pick", "up", "put", "next", "open", "the", "a", "and", "then", "after", "you"),
    *("key", "ball", "box", "door", "in", "front", "of", "behind", "on", "your", "left", "right"),
    *sorted(COLOR_NAMES),
)


class BabyAILayouts(FixedLayouts):
    """Base class to inherit before a BabyAI level: fixed layouts, and observations as arrays.

    Observations are the 7 × 7 × 3 view divided by 10, the one-hot direction, and the one-hot first
    words of the instruction: (147 + 4 + words·vocabulary,) float32.
    """

    mission_words = 6
    room_size: int

    def __init__(self, num_layouts: int = 50, **level: Any) -> None:
        self.num_layouts = num_layouts
        self.words = np.zeros(0, dtype=np.float32)
        super().__init__(max_steps=HORIZON, **level)
        self.room_span = self.room_size - 1
        size = VIEW + 4 + self.mission_words * len(WORDS)
        self.observation_space = gym.spaces.Box(0.0, 1.1, (size,), np.float32)

    @override
    def reset(
        self, *, seed: int | None = None, options: dict[str, Any] | None = None
    ) -> tuple[Any, dict[str, Any]]:
        """Start an episode; BabyAI's messages about rejected layouts are not printed."""
        with contextlib.redirect_stdout(io.StringIO()):
            return super().reset(seed=seed, options=options)

    @override
    def gen_obs(self) -> np.ndarray:
        """Return view, direction and instruction."""
        seen = super().gen_obs()
        facing = np.zeros(4, dtype=np.float32)
        facing[seen["direction"]] = 1.0
        view = seen["image"].astype(np.float32).reshape(-1) / LARGEST_CODE
        return np.concatenate([view, facing, one_hot_words(self.mission, self.mission_words)])


class GoToLocalLayouts(BabyAILayouts, GoToLocal):  # type: ignore[misc]
    """Go to an object in the same room."""


class GoToLayouts(BabyAILayouts, GoTo):  # type: ignore[misc]
    """Go to an object; nine rooms."""


class PickupLayouts(BabyAILayouts, Pickup):  # type: ignore[misc]
    """Pick up an object; nine rooms."""


class BossLayouts(BabyAILayouts, BossLevel):  # type: ignore[misc]
    """Any instruction of BabyAI's language; nine rooms, locked doors."""

    mission_words = 40


LEVELS: dict[str, type[BabyAILayouts]] = {
    "goto_local": GoToLocalLayouts,
    "goto": GoToLayouts,
    "pickup": PickupLayouts,
    "boss": BossLayouts,
}


@lru_cache(maxsize=1024)
def one_hot_words(mission: str, length: int) -> np.ndarray:
    """Return the first `length` words, each one-hot; missing words are zeros."""
    seen = np.zeros((length, len(WORDS)), dtype=np.float32)
    for place, word in enumerate(mission.replace(",", "").split()[:length]):
        seen[place, WORDS.index(word)] = 1.0
    seen.flags.writeable = False  # all callers share it through the cache
    return seen.reshape(-1)


@dataclass(frozen=True)
class BabyAI(LayoutTask):
    """Follow the instruction of a layout; BabyAI's bot makes the demonstrations. See `LayoutTask`.

    Attributes:
        level: "goto_local" (one room), or the paper's "goto", "pickup" and "boss".
    """

    level: Level = "goto"

    name: ClassVar[str] = "babyai"
    defaults: ClassVar[Mapping[str, Any]] = MappingProxyType(
        {**PAPER_PPO, "total_timesteps": 100_000}
    )

    def __post_init__(self) -> None:
        if self.level not in get_args(Level):
            known = ", ".join(map(repr, get_args(Level)))
            raise ValueError(f"level must be one of {known}, got {self.level!r}")

    @override
    def make_env(self) -> FixedLayouts:
        return LEVELS[self.level](self.num_layouts, render_mode="rgb_array")

    @override
    def demonstrated(self, env: Any, layout: int, rng: np.random.Generator) -> list[Shown]:
        """Return the steps of BabyAI's bot; [] if it does not succeed within the horizon."""
        return bot_steps(env, layout)


def bot_steps(env: FixedLayouts, layout: int) -> list[Shown]:
    """Return the bot's observations and actions in a layout; [] if it did not succeed in time."""
    seen, _ = env.reset(options={"layout": layout, "stream": SHOWN})
    bot, steps, action = BabyAIBot(env), [], None
    for _ in range(HORIZON):
        try:
            action = int(bot.replan(action))
        except AssertionError:  # the bot gives up on some layouts
            return []
        steps.append((seen, action))
        seen, _, terminated, truncated, info = env.step(action)
        if info["success"]:
            return steps
        if terminated or truncated:
            return []
    return []
