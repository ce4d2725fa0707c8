"""Drawing families: seed trajectories, and the vines that leave states of theirs."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace

import numpy as np

from setrl.control.credit.trajectories import Trajectory
from setrl.control.credit.vine_pool import Act, VinePool
from setrl.control.credit.vines import Vines, joined, rollout_times
from setrl.control.envs.resettable import Snapshot

SEEDS = 2**31  # environments are reset with seeds below it

Memories = Sequence[np.ndarray | None]  # what a recurrent policy knows at starts; None: nothing
Begin = Callable[[Memories], Act]  # the policy, ready to go on from as many starts
Entropies = Callable[[Trajectory], np.ndarray]  # of the policy at each step, (T,)

MEMORY = "memory"  # among a trajectory's extras: what a recurrent policy knew before each step


@dataclass(frozen=True)
class Family:
    """A seed trajectory and the vines that leave it.

    Attributes:
        reset_seed: What the seed's environment was reset with.
        seed: From the reset to its end, or to where it was cut.
        times: The steps of it whose states vines leave from, S of them.
        vines_SN: The own steps of the N vines of each such state.
    """

    reset_seed: int
    seed: Trajectory
    times: tuple[int, ...]
    vines_SN: tuple[tuple[Trajectory, ...], ...]

    @property
    def num_steps(self) -> int:
        """Environment steps that it took."""
        return len(self.seed) + sum(len(vine) for vines in self.vines_SN for vine in vines)

    def episodes_SN(self) -> list[list[Trajectory]]:
        """The whole episodes of the vines, the seed's steps before their state included."""
        rows = zip(self.times, self.vines_SN, strict=True)
        return [[joined(self.seed, time, vine) for vine in vines] for time, vines in rows]


@dataclass
class FamilyDraw:
    """Draws families until they have as many steps as an update wants.

    Attributes:
        vines: How they are drawn.
        pool: Where.
        rng: Decides resets, and states where they are random.
        family_steps: Steps of a family, a running guess by which no more are begun than needed.
    """

    vines: Vines
    pool: VinePool
    rng: np.random.Generator
    family_steps: float | None = None

    def __call__(self, num_steps: int, begin: Begin, entropies: Entropies) -> list[Family]:
        """Whole families, of `num_steps` environment steps together or a little more.

        Raises:
            RuntimeError: If every episode is over before its first step.
        """
        families: list[Family] = []
        missing = num_steps
        while missing > 0:
            count = max(1, round(missing / self.family_steps)) if self.family_steps else 1
            drawn = self._families(count, begin, entropies)
            families += drawn
            steps = sum(family.num_steps for family in drawn)
            if not steps:
                raise RuntimeError("episodes end before their first step: nothing can be learnt")
            missing -= steps
            done = sum(family.num_steps for family in families)
            self.family_steps = done / len(families)
        return families

    def _families(self, count: int, begin: Begin, entropies: Entropies) -> list[Family]:
        resets = [int(seed) for seed in self.rng.integers(SEEDS, size=count)]
        starts, cut = self.pool.start(resets), self.vines.max_steps
        # Where vines leave from the first state alone, no other needs to be kept.
        keeps = not (self.vines.where == "equal" and self.vines.num_states == 1)
        seeds = self.pool.run(starts, begin([None] * count), cut, keep_snapshots=keeps)
        times = [self._times(seed, entropies) for seed in seeds]
        leaves = [(index, time) for index, chosen in enumerate(times) for time in chosen]
        states = [seeds[i].snapshots[time] if keeps else starts[i] for i, time in leaves]
        vines_GN = self._vines(states, [_memory(seeds[i], time) for i, time in leaves], begin)
        families = []
        for reset, seed, chosen in zip(resets, seeds, times, strict=True):
            own, vines_GN = vines_GN[: len(chosen)], vines_GN[len(chosen) :]
            families.append(Family(reset, replace(seed, snapshots=()), chosen, tuple(own)))
        return families

    def _times(self, seed: Trajectory, entropies: Entropies) -> tuple[int, ...]:
        vines, entropies_T = self.vines, None
        if not vines.are_drawn:
            return ()
        if vines.where == "entropy" and len(seed):
            entropies_T = entropies(seed)
        return tuple(rollout_times(len(seed), vines.num_states, vines.where, self.rng, entropies_T))

    def _vines(
        self, states: Sequence[Snapshot], memories: Memories, begin: Begin
    ) -> list[tuple[Trajectory, ...]]:
        """N vines from each state."""
        n = self.vines.num_vines
        if not states:
            return []
        act = begin([memory for memory in memories for _ in range(n)])
        repeated = [state for state in states for _ in range(n)]
        drawn = self.pool.run(repeated, act, self.vines.max_steps)
        return [tuple(drawn[first : first + n]) for first in range(0, len(drawn), n)]


def _memory(seed: Trajectory, time: int) -> np.ndarray | None:
    """What a recurrent policy knew of a seed before a step."""
    return seed.extras[MEMORY][time] if MEMORY in seed.extras else None
