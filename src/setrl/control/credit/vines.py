"""Vines: trajectories drawn from states of a seed trajectory, and what decides how they are drawn.

Whatever is judged of a vine is judged of the whole episode, the seed's steps before its state
included: a score and a label are about episodes, and the set objective is then that of whole
episodes that share a beginning. For objectives that only add, such as a mean, the shared beginning
changes nothing; for products such as mean reward × diversity it is what makes the two factors those
of the evaluation.
"""

from __future__ import annotations

from collections.abc import Callable, Hashable, Sequence
from dataclasses import dataclass
from typing import Any, Literal, get_args

import gymnasium as gym
import numpy as np

from setrl.control.credit.diversity import clusters
from setrl.control.credit.trajectories import Trajectory
from setrl.core.advantages import Method

Label = Callable[[Trajectory], Hashable | None]
Score = Callable[[Trajectory], float]
Distances = Callable[[Sequence[Trajectory]], np.ndarray]
Where = Literal["equal", "inner", "uniform", "entropy"]
Reading = Literal["marginal", "action", "shared", "seed", "bonus", "reward"]


def episode_return(trajectory: Trajectory) -> float:
    """The sum of an episode's rewards, undiscounted."""
    return trajectory.total_reward


@dataclass(frozen=True)
class Vines:
    """How vines are drawn and what they are owed.

    Attributes:
        make_env: Makes an environment that `make_resettable` can set back.
        label: Which way an episode took; None for none (degenerate). Methods that read clusters
            need it.
        score: What an episode is worth on its own, in [0, 1] for products with diversity.
        distances: (N, N) distances of N episodes, for methods that read pairs.
        num_vines: N, trajectories from each state. 0 for no vines.
        num_states: p, states of each seed trajectory that are returned to. 0 for no vines.
        where: Which states: "equal" in time from the first on, "inner" equally spaced without the
            first (as in i·T/(p + 1)), "uniform" at random, or those of highest policy "entropy".
        window: W: the steps 0…W of a vine have set advantages; None for all of its steps.
        reading: Which of the readings of Algorithm 2:
            "marginal": each vine's own credit, from all C(N, K) sets;
            "action": the credit of its first action, the sets with a vine that begins so;
            "shared": the advantage of `num_sets` drawn sets, shared by their members;
            "seed": best − mean of `num_sets` drawn sets, on the seed's steps from the state on;
            "bonus": the vine's own credit added to the critic's advantage in the window;
            "reward": the vine's own credit added to its last reward.
        num_sets: M, of the readings that draw sets.
        max_steps: A trajectory is cut there; what ended before is not touched.
    """

    make_env: Callable[[], gym.Env]
    label: Label | None = None
    score: Score = episode_return
    distances: Distances | None = None
    num_vines: int = 8
    num_states: int = 2
    where: Where = "equal"
    window: int | None = 5
    reading: Reading = "marginal"
    num_sets: int = 4
    max_steps: int = 1000

    def __post_init__(self) -> None:
        if not callable(self.make_env):
            raise ValueError(
                "make_env must be a function that makes an environment, such as "
                f"lambda: gym.make('CartPole-v1'), got {self.make_env!r}"
            )
        for name, choices in (("where", get_args(Where)), ("reading", get_args(Reading))):
            if getattr(self, name) not in choices:
                known = ", ".join(map(repr, choices))
                raise ValueError(f"{name} must be one of {known}, got {getattr(self, name)!r}")
        least = {"num_vines": 0, "num_states": 0, "window": 0, "num_sets": 2, "max_steps": 1}
        for name, low in least.items():
            value = getattr(self, name)
            if (name, value) != ("window", None) and not (isinstance(value, int) and value >= low):
                raise ValueError(f"{name} must be a whole number ≥ {low}, got {value!r}")

    @property
    def are_drawn(self) -> bool:
        """Whether there are any; PPO is plain where not."""
        return self.num_vines > 0 and self.num_states > 0

    def fields(
        self, episodes_BN: Sequence[Sequence[Trajectory]], reads: tuple[str, ...]
    ) -> dict[str, Any]:
        """What a method reads beside the scores."""
        found = {}
        if "clusters" in reads:
            assert self.label is not None
            found["clusters"] = np.array(
                [clusters([self.label(one) for one in row]) for row in episodes_BN]
            )
        if "pairs" in reads:
            assert self.distances is not None
            found["pairs"] = np.array([self.distances(row) for row in episodes_BN])
        return found


def check_vines(method: Method | None, vines: Vines | None) -> None:
    """Refuse a method without vines or the reverse, sets that vines cannot fill, missing functions.

    Raises:
        ValueError: Naming what is missing.
    """
    if (method is None and vines is None) or (vines is not None and not vines.are_drawn):
        return
    if method is None or vines is None:
        raise ValueError("a method scores sets of vines: give both method= and vines=, or neither")
    givers = {"clusters": "label", "pairs": "distances"}
    for field in method.reads:
        if field == "rewards":
            continue
        if field not in givers:
            raise ValueError(f"{method.name} reads {field}, which trajectories do not have")
        if getattr(vines, givers[field]) is None:
            raise ValueError(f"{method.name} reads {field}: give Vines({givers[field]}=...)")
    needs_more = vines.reading in ("marginal", "action", "shared", "bonus", "reward")
    most = vines.num_vines - 1 if needs_more else vines.num_vines
    if method.set_size > most:
        raise ValueError(
            f"set_size must be in [1, {most}] with num_vines={vines.num_vines}, got "
            f"{method.set_size}: sets with and without a vine are compared"
        )


def joined(seed: Trajectory, time: int, vine: Trajectory) -> Trajectory:
    """The whole episode of a vine: the seed's steps before `time`, then the vine's own."""
    return Trajectory(
        observations=_joined(seed.observations, time, vine.observations),
        actions_T=np.concatenate([seed.actions_T[:time], vine.actions_T])
        if len(vine) and time
        else (vine.actions_T if len(vine) else seed.actions_T[:time]),
        rewards_T=np.concatenate([seed.rewards_T[:time], vine.rewards_T]),
        infos=seed.infos[:time] + vine.infos,
        terminated=vine.terminated,
        truncated=vine.truncated,
    )


def _joined(before: Any, time: int, after: Any) -> Any:
    if isinstance(before, dict):
        return {key: _joined(part, time, after[key]) for key, part in before.items()}
    if isinstance(before, tuple):
        return tuple(_joined(one, time, other) for one, other in zip(before, after, strict=True))
    return np.concatenate([before[:time], after])


def rollout_times(
    length: int,
    num_states: int,
    where: Where,
    rng: np.random.Generator,
    entropies_T: np.ndarray | None = None,
) -> list[int]:
    """The times of a trajectory's states that vines leave from, ascending and different.

    A trajectory with fewer steps than states gives all its times; the last state, from which there
    is no step, is never among them.

    >>> rollout_times(9, 3, "equal", None), rollout_times(9, 2, "inner", None)
    ([0, 3, 6], [3, 6])
    """
    count = min(num_states, length)
    if where == "equal":
        return [index * length // count for index in range(count)]
    if where == "inner":
        return sorted({(index + 1) * length // (count + 1) for index in range(count)})
    if where == "uniform":
        return sorted(int(time) for time in rng.choice(length, count, replace=False))
    assert entropies_T is not None
    return sorted(int(time) for time in np.argsort(-entropies_T, kind="stable")[:count])
