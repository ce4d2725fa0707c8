"""The vines of a Gymnasium environment: their choices, and functions that judge episodes."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any, Literal

import gymnasium as gym
import numpy as np
from typing_extensions import override

from setrl.control.labels import TrajectoryLabel, numbers_of
from setrl.control.options import require_choice, require_number
from setrl.control.trajectories import Trajectory
from setrl.control.vines import VineChoices

Trunk = Literal["apart", "member"]


def episode_return(trajectory: Trajectory) -> float:
    """Return the sum of an episode's rewards, undiscounted."""
    return trajectory.total_reward


@dataclass(frozen=True)
class Vines(VineChoices):
    """How vines are sampled and credited: the choices of `VineChoices`, and an environment.

    Attributes:
        make_env: Makes an environment that `make_resettable` can set back.
        label: The strategy of an episode; −1 if it has none, None if it is unknown. Methods that
            read strategies need it.
        score: The worth of a single episode, in [0, 1] for products with diversity.
        correct: Whether an episode is right. Methods that compare right with wrong episodes need
            it, unless scores are 0 and 1.
        distances: (N, N) distances of N episodes, for methods that read pairs.
        max_steps: A trajectory is cut after this many steps.
        trunk: "apart": N fresh vines leave a state, and the trunk has the critic's advantage.
            "member": N − 1 leave it, and the rest of the trunk is the first of the N, as in the Set
            RL note (§6.1); its steps 0…W from there have its set advantage.
    """

    make_env: Callable[[], gym.Env]
    label: TrajectoryLabel | None = None
    score: Callable[[Trajectory], float] = episode_return
    distances: Callable[[Sequence[Trajectory]], np.ndarray] | None = None
    correct: Callable[[Trajectory], bool | None] | None = None
    max_steps: int = 1000
    trunk: Trunk = "apart"

    @override
    def __post_init__(self) -> None:
        if not callable(self.make_env):
            raise ValueError(
                "make_env must be a function that makes an environment, such as "
                f"lambda: gym.make('CartPole-v1'), got {self.make_env!r}"
            )
        super().__post_init__()
        require_number("max_steps", self.max_steps, 1, whole=True)
        require_choice("trunk", self.trunk, Trunk)

    def worth(self, episode: Trajectory) -> float:
        """Return the score of an episode; NaN without steps or with a reward that is not finite."""
        return self.score(episode) if len(episode) and episode.is_finite else float("nan")

    def fields(
        self, episodes_BN: Sequence[Sequence[Trajectory]], reads: tuple[str, ...]
    ) -> dict[str, Any]:
        """Return the fields that a method reads besides the scores; `check_vines` checked them."""
        found: dict[str, Callable[[Sequence[Trajectory]], np.ndarray]] = {}
        if "strategies" in reads and (label := self.label) is not None:
            found["strategies"] = lambda row: numbers_of([label(one) for one in row])
        if "correct" in reads and (right := self.correct) is not None:
            found["correct"] = lambda row: np.array([right(one) for one in row], dtype=np.float64)
        if "pairs" in reads and self.distances is not None:
            found["pairs"] = self.distances
        return {name: np.array([of(row) for row in episodes_BN]) for name, of in found.items()}
