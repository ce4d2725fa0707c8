"""A pool of environments in which many vines grow together, each to its own end."""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Sequence
from typing import Any, NamedTuple

import gymnasium as gym
import numpy as np

from setrl.control.credit.trajectories import Growing, Trajectory, stack
from setrl.control.envs.resettable import ResettableEnv, Snapshot, make_resettable

# (observations of the live vines, their positions among the snapshots) → their actions, and what
# else to keep of the step, each with the live vines as its first axis.
Act = Callable[[Any, np.ndarray], tuple[Any, dict[str, Any]]]
OnStep = Callable[["Stepped"], None]


class Stepped(NamedTuple):
    """What a step gave to the n live vines; the names are Stable-Baselines3's."""

    rewards: np.ndarray  # (n,)
    dones: np.ndarray  # (n,) bool: the vine has ended
    infos: list[dict[str, Any]]
    actions: Any
    new_obs: Any  # what followed the actions


class VinePool:
    """Environments in this process, without auto-reset: no step is spent on unused starts.

    Args:
        make_env: makes one environment; wrapped by `make_resettable` unless it already is.
        num_envs: how many vines are stepped together, and so the policy's largest batch.
        rng: draws a seed of noise for each vine, in the order of the snapshots. The same
            generator state and policy give the same vines for every num_envs.
        on_step: called with what each step of the live vines gave; it may raise to stop the pool.

    `steps` counts every step of every environment since the pool was made.
    """

    def __init__(
        self,
        make_env: Callable[[], gym.Env],
        num_envs: int,
        rng: np.random.Generator,
        on_step: OnStep | None = None,
    ) -> None:
        if num_envs < 1:
            raise ValueError(f"num_envs must be at least 1, got {num_envs}")
        made = [make_env() for _ in range(num_envs)]
        self.envs = [e if isinstance(e, ResettableEnv) else make_resettable(e) for e in made]
        self.rng, self.on_step = rng, on_step
        self.steps = 0

    def start(
        self, seeds: Sequence[int | None], options: dict[str, Any] | None = None
    ) -> list[Snapshot]:
        """The first states of episodes, one for each seed of a reset."""
        env, snapshots = self.envs[0], []
        for seed in seeds:
            env.reset(seed=seed, options=options)
            snapshots.append(env.snapshot())
        return snapshots

    def run(
        self,
        snapshots: Sequence[Snapshot],
        act: Act,
        max_steps: int,
        *,
        keep_snapshots: bool = False,
    ) -> list[Trajectory]:
        """Grow one vine from each snapshot (repeat a snapshot to grow several from it).

        Args:
            snapshots: where the vines start, any number; more than num_envs wait for a free
                environment.
            act: the policy: (observations, vines) → (actions, extras). `observations` is the batch
                of the n ≤ num_envs live vines, `vines` (n,) their positions in `snapshots`, by
                which a recurrent policy finds its hidden states; `actions` and each of `extras`
                have n as their first axis.
            max_steps: a vine that does not end is cut after so many steps, and is truncated.
            keep_snapshots: keep the state before each step and after the last.

        Returns:
            One trajectory for each snapshot, in order. A snapshot of an episode that has ended
            gives one without steps. A reward that is NaN stays NaN, and the vine continues.

        Raises:
            ValueError: max_steps < 1, or act gave another number of actions.
        """
        if max_steps < 1:
            raise ValueError(f"max_steps must be at least 1, got {max_steps}")
        seeds = self.rng.integers(2**63, size=len(snapshots))
        vines = [_Vine(i, each, keep_snapshots) for i, each in enumerate(snapshots)]
        waiting = deque(vine for vine in vines if not vine.ended)
        free, live = list(self.envs), list[_Vine]()
        while waiting or live:
            while waiting and free:
                vine = waiting.popleft()
                vine.plant(free.pop(), int(seeds[vine.index]))
                live.append(vine)
            self._step(live, act, max_steps)
            free += [vine.env for vine in live if vine.ended]
            live = [vine for vine in live if not vine.ended]
        return [vine.trajectory(vine.snapshots) for vine in vines]

    def close(self) -> None:
        """Close all environments."""
        for env in self.envs:
            env.close()

    def _step(self, live: list[_Vine], act: Act, max_steps: int) -> None:
        """One step of every live vine."""
        batch = stack([vine.observations[-1] for vine in live])
        actions, extras = act(batch, np.array([vine.index for vine in live]))
        if len(actions) != len(live):
            raise ValueError(
                f"act must give one action for each of {len(live)} live vines, got {len(actions)}"
            )
        for i, vine in enumerate(live):
            vine.grow(actions[i], {name: each[i] for name, each in extras.items()}, max_steps)
        self.steps += len(live)
        if self.on_step is not None:
            rewards, dones = ([vine.rewards[-1] for vine in live], [vine.ended for vine in live])
            infos = [vine.infos[-1] for vine in live]
            new_obs = stack([vine.observations[-1] for vine in live])
            self.on_step(Stepped(np.array(rewards), np.array(dones), infos, actions, new_obs))


class _Vine(Growing):
    """A vine while it grows, and its environment."""

    env: ResettableEnv

    def __init__(self, index: int, start: Snapshot, keep_snapshots: bool) -> None:
        super().__init__(start.observation, start.info)
        self.index, self.start, self.keep_snapshots = index, start, keep_snapshots
        self.snapshots: list[Snapshot] = [start] if keep_snapshots else []
        self.terminated, self.truncated = start.terminated, start.truncated

    def plant(self, env: ResettableEnv, seed: int) -> None:
        self.env = env
        env.restore(self.start, rng=seed)

    def grow(self, action: Any, extras: dict[str, Any], max_steps: int) -> None:
        self.step(self.env, action, extras)
        # Before the cut below: a snapshot keeps the environment's own view of the end, so that a
        # vine that the pool has cut can be continued from its last one.
        if self.keep_snapshots:
            self.snapshots.append(self.env.snapshot())
        if not self.terminated and len(self.rewards) >= max_steps:
            self.truncated = True
