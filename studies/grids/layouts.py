"""Fixed layouts of MiniGrid levels: fine-tuning always uses the same fifty layouts.

The settings of "Polychromic Objectives" (arXiv:2509.25424) that FourRooms and BabyAI share: fifty
configurations, episodes of at most H = 100 steps, reward 1 − ½·t/H on success, diversity by the
sets of rooms that trajectories visit.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Hashable, Mapping
from dataclasses import dataclass
from types import MappingProxyType
from typing import TYPE_CHECKING, Any, ClassVar

import numpy as np
from minigrid.minigrid_env import MiniGridEnv
from typing_extensions import override

from setrl.control import labels, measures
from setrl.control.behaviour_cloning import Demonstrations
from studies.grids.paper import HORIZON, PROBES, TRAINED, UNSEEN, layout_metrics

if TYPE_CHECKING:
    from stable_baselines3.common.base_class import BaseAlgorithm

    from setrl.control.trajectories import Trajectory

Shown = tuple[np.ndarray, int]  # an expert's observation and action

rooms_visited = labels.visited("room")


class FixedLayouts(MiniGridEnv):
    """Base class to inherit before a MiniGrid level: resets use a numbered random stream.

    `reset(options={"layout": i, "stream": s, "perturb": True})` chooses a layout; the default is
    any of the first `num_layouts` of the trained stream. "perturb" moves the agent to a random free
    cell of its room, in a random direction. `info` has the `room` of the agent, and `success`.

    Subclasses set `room_span`, the cells from one wall to the next.
    """

    room_span: int
    num_layouts: int = 50

    @override
    def reset(
        self, *, seed: int | None = None, options: dict[str, Any] | None = None
    ) -> tuple[Any, dict[str, Any]]:
        asked = options or {}
        if seed is not None:
            self._np_random = np.random.default_rng(seed)
        chosen = asked.get("layout")
        layout = int(self.np_random.integers(self.num_layouts)) if chosen is None else int(chosen)
        noise, stream = self.np_random, [asked.get("stream", TRAINED), layout]
        self._np_random = np.random.default_rng(stream)
        seen, info = super().reset()
        self._np_random = noise
        if asked.get("perturb"):
            self.move_agent()
            seen = self.gen_obs()
        return seen, info | {"room": self.room(), "layout": layout, "success": False}

    @override
    def step(self, action: Any) -> tuple[Any, Any, bool, bool, dict[str, Any]]:
        """Step the level; the horizon terminates an episode and does not truncate it.

        Rewards depend on H. After a truncation, the critic's value would replace later rewards, and
        with γ = 1 an episode that runs out of time would be worth as much as an average one.
        """
        seen, reward, terminated, truncated, info = super().step(action)
        worth = float(reward)
        info |= {"room": self.room(), "success": terminated and worth > 0}
        return seen, worth, terminated or truncated, False, info

    @override
    def _reward(self) -> float:
        return 1.0 - 0.5 * self.step_count / HORIZON

    def room(self) -> tuple[int, int]:
        """Return the room that the agent is in, by column and row of rooms."""
        x, y = self.agent_pos
        return int(x) // self.room_span, int(y) // self.room_span

    def move_agent(self) -> None:
        """Place the agent at random within its room."""
        column, row = self.room()
        inside = (column * self.room_span + 1, row * self.room_span + 1)
        MiniGridEnv.place_agent(self, inside, (self.room_span - 1, self.room_span - 1))


@dataclass(frozen=True)
class LayoutTask(ABC):
    """The task to succeed in one of fifty layouts; the set of visited rooms is the strategy.

    Attributes:
        num_layouts: Number of layouts for fine-tuning and evaluation.
        samples: Episodes per layout in an evaluation; the paper has 100.
        demonstrations: Episodes of an expert, in other layouts, that are cloned beforehand.
    """

    num_layouts: int = 50
    samples: int = 20
    demonstrations: int = 400

    name: ClassVar[str]
    defaults: ClassVar[Mapping[str, Any]]
    policy_kwargs: ClassVar[Mapping[str, Any]] = MappingProxyType({"net_arch": [128, 128]})

    @abstractmethod
    def make_env(self) -> FixedLayouts:
        """Return a new environment of the level."""

    @abstractmethod
    def demonstrated(self, env: Any, layout: int, rng: np.random.Generator) -> list[Shown]:
        """Return an expert's steps to success in a layout; no steps if the expert fails."""

    def demonstrate(self, rng: np.random.Generator) -> Demonstrations:
        """Return the expert's successful episodes, each in another layout."""
        env = self.make_env()
        shown = [self.demonstrated(env, layout, rng) for layout in range(self.demonstrations)]
        steps = [step for episode in shown for step in episode]
        return Demonstrations(
            observations=np.stack([seen for seen, _ in steps]),
            actions=np.array([action for _, action in steps]),
            episodes=np.repeat(np.arange(len(shown)), [len(episode) for episode in shown]),
        )

    def label(self, trajectory: Trajectory) -> Hashable | None:
        """Return the set of visited rooms, after success or failure: the paper's strategy."""
        return rooms_visited(trajectory)

    def score(self, trajectory: Trajectory) -> float:
        """Return the episode's return: 0, or from ½ to 1 on success."""
        return trajectory.total_reward

    def evaluate(self, model: BaseAlgorithm, rng: np.random.Generator) -> dict[str, float]:
        """Measure success on the trained layouts, from moved starts, and on unseen layouts.

        See `layout_metrics`: each layout is a problem with `samples` episodes.
        """
        trained = self._by_layout(model, rng, self.samples)
        moved = self._by_layout(model, rng, PROBES, perturb=True)
        unseen = self._by_layout(model, rng, PROBES, stream=UNSEEN)
        return {
            **layout_metrics(
                [[self.score(one) for one in row] for row in trained],
                [[won(one) for one in row] for row in trained],
                [labels.numbers_for_metrics([self.label(one) for one in row]) for row in trained],
            ),
            "perturbed_success": float(np.mean([[won(one) for one in row] for row in moved])),
            "unseen_success": float(np.mean([[won(one) for one in row] for row in unseen])),
        }

    def _by_layout(
        self, model: BaseAlgorithm, rng: np.random.Generator, each: int, **options: Any
    ) -> list[list[Trajectory]]:
        asked = [
            {"layout": layout, **options} for layout in range(self.num_layouts) for _ in range(each)
        ]
        sampled = measures.sample_episodes(model, self.make_env, asked, rng)
        return [sampled[start : start + each] for start in range(0, len(sampled), each)]


def won(trajectory: Trajectory) -> bool:
    """Return whether the episode ended in success."""
    return bool(trajectory.infos[-1]["success"])
