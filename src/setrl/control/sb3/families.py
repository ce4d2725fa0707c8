"""Families: trunks, and the vines that leave states of the trunks: sampled, scored, measured."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any, Literal

import gymnasium as gym
import numpy as np
from typing_extensions import override

from setrl.control.envs.resettable import Snapshot
from setrl.control.labels import TrajectoryLabel, numbers_of
from setrl.control.options import require_choice, require_number
from setrl.control.sb3.rollouts import Act, VinePool
from setrl.control.trajectories import Trajectory, join_trunk_and_vine, rest_of_trunk
from setrl.control.vines import VineChoices, Where, even_times, vine_metrics
from setrl.core.advantages import AnyMethod
from setrl.samples.samples import Samples

Trunk = Literal["apart", "member"]

SEEDS = 2**31  # environments are reset with seeds below it


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
        readers: dict[str, Callable[[Sequence[Trajectory]], np.ndarray]] = {}
        if "strategies" in reads and (label := self.label) is not None:
            readers["strategies"] = lambda row: numbers_of([label(episode) for episode in row])
        if "correct" in reads and (right := self.correct) is not None:
            readers["correct"] = lambda row: np.array(
                [right(episode) for episode in row], dtype=np.float64
            )
        if "pairs" in reads and self.distances is not None:
            readers["pairs"] = self.distances
        return {
            name: np.array([read(row) for row in episodes_BN]) for name, read in readers.items()
        }


@dataclass(frozen=True)
class Family:
    """A trunk and the vines that leave it.

    Attributes:
        reset_seed: The seed of the trunk's reset.
        trunk: The trajectory from the reset to its end, or to its cut.
        times: The steps of the trunk at whose states vines leave: B rollout states, ascending.
        vines_BN: The steps after the state, for the N vines of each such state.
        has_trunk: Whether the first of each N is the rest of the trunk, and not a fresh vine.
    """

    reset_seed: int
    trunk: Trajectory
    times: tuple[int, ...]
    vines_BN: tuple[tuple[Trajectory, ...], ...]
    has_trunk: bool = False

    @property
    def fresh_BN(self) -> list[tuple[Trajectory, ...]]:
        """The vines that were sampled for their state."""
        return [row[self.has_trunk :] for row in self.vines_BN]

    @property
    def num_steps(self) -> int:
        """Environment steps of the trunk and its fresh vines."""
        return len(self.trunk) + sum(len(vine) for row in self.fresh_BN for vine in row)

    def episodes_BN(self) -> list[list[Trajectory]]:
        """Return the vines' whole episodes, with the trunk's steps before their state."""
        rows = zip(self.times, self.vines_BN, strict=True)
        return [
            [join_trunk_and_vine(self.trunk, time, vine) for vine in vines] for time, vines in rows
        ]


@dataclass
class FamilySampler:
    """Samples families until they have as many steps as an update needs.

    Attributes:
        vines: How vines are sampled.
        pool: The environments.
        rng: Decides resets, and rollout states where those are random.
        family_steps: Mean steps of a family so far, to estimate how many more families are needed.
    """

    vines: Vines
    pool: VinePool
    rng: np.random.Generator
    family_steps: float | None = None

    def __call__(self, num_steps: int, act: Act) -> list[Family]:
        """Sample whole families, with `num_steps` environment steps together or a little more.

        Raises:
            RuntimeError: If every episode ends before its first step.
        """
        families: list[Family] = []
        done, is_first = 0, self.family_steps is None
        while done < num_steps:
            count = (
                max(1, round((num_steps - done) / self.family_steps)) if self.family_steps else 1
            )
            if is_first:  # the mean of few families is rough, and one short family would fill it
                count = min(count, max(1, len(families)))
            new_families = self.families(count, act)
            steps = sum(family.num_steps for family in new_families)
            if not steps:
                raise RuntimeError(
                    "all episodes end before their first step: nothing can be learnt"
                )
            families += new_families
            done += steps
            self.family_steps = done / len(families)
        return families

    def families(self, count: int, act: Act) -> list[Family]:
        """Sample so many families."""
        resets = [int(seed) for seed in self.rng.integers(SEEDS, size=count)]
        starts, cut = self.pool.start(resets), self.vines.max_steps
        trunks = self.pool.run(starts, act, cut)
        where = self.vines.num_states, self.vines.where, self.rng
        times = [tuple(rollout_times(len(trunk), *where)) for trunk in trunks]
        pairs = zip(trunks, times, strict=True)
        at = [state for trunk, chosen in pairs for state in self.pool.states(trunk, chosen)]
        has_trunk = self.vines.trunk == "member"
        vines_BN = self._grow_vines(at, act, self.vines.num_vines - has_trunk)
        families = []
        for reset, trunk, chosen in zip(resets, trunks, times, strict=True):
            rows, vines_BN = vines_BN[: len(chosen)], vines_BN[len(chosen) :]
            if has_trunk:
                rows = [
                    (rest_of_trunk(trunk, t), *row) for t, row in zip(chosen, rows, strict=True)
                ]
            families.append(Family(reset, trunk, chosen, tuple(rows), has_trunk))
        return families

    def _grow_vines(
        self, states: Sequence[Snapshot], act: Act, n: int
    ) -> list[tuple[Trajectory, ...]]:
        """Sample n vines from each state."""
        if not states or not n:
            return [()] * len(states)
        repeated = [state for state in states for _ in range(n)]
        grown = self.pool.run(repeated, act, self.vines.max_steps)
        return [tuple(grown[first : first + n]) for first in range(0, len(grown), n)]


def score_vines(families: Sequence[Family], method: AnyMethod, vines: Vines) -> Samples:
    """Score and label all vines, (B, N); rows are states, family after family."""
    episodes_BN = [row for family in families for row in family.episodes_BN()]
    vines_BN = vines_of(families)
    rewards_BN = np.full((len(vines_BN), vines.num_vines), np.nan)
    for b, row in enumerate(vines_BN):
        for n, vine in enumerate(row):
            if len(vine):
                rewards_BN[b, n] = vines.worth(episodes_BN[b][n])
    return Samples(rewards_BN, **vines.fields(episodes_BN, method.reads))


def vines_of(families: Sequence[Family]) -> list[tuple[Trajectory, ...]]:
    """Return the N vines of each state, family after family."""
    return [row for family in families for row in family.vines_BN]


def metrics_of_families(
    families: Sequence[Family], samples: Samples, advantages_BN: np.ndarray | None
) -> dict[str, float]:
    """Return what is logged of an update's vines."""
    vines, shape = [vine for row in vines_of(families) for vine in row], samples.rewards.shape
    lengths, finite, ended = (
        np.array([measure(vine) for vine in vines]).reshape(shape)
        for measure in (len, lambda vine: vine.is_finite, lambda vine: not vine.truncated)
    )
    metrics = vine_metrics(
        np,
        samples.columns,
        advantages_BN,
        wanted_B=np.ones(shape[0], bool),
        lengths_BN=lengths,
        finite_BN=finite,
        ended_BN=ended,
        trunk_steps=sum(len(family.trunk) for family in families),
        num_trunks=len(families),
    )
    fresh = sum(len(vine) for family in families for row in family.fresh_BN for vine in row)
    if steps := sum(family.num_steps for family in families):
        metrics["vines/step_share"] = fresh / steps
    return {name: float(value) for name, value in metrics.items()}


def rollout_times(
    length: int, num_states: int, where: Where, rng: np.random.Generator
) -> list[int]:
    """Choose the times of a trajectory at whose states vines leave, ascending and different.

    A trajectory with fewer steps than states gives all its times.

    >>> rng = np.random.default_rng(0)
    >>> rollout_times(9, 3, "equal", rng), rollout_times(9, 2, "inner", rng)
    ([0, 3, 6], [3, 6])
    """
    if where == "uniform":
        return sorted(rng.choice(length, min(num_states, length), replace=False).tolist())
    times, wanted = even_times(np, np.array([length]), num_states, where)
    return times[wanted].tolist()
