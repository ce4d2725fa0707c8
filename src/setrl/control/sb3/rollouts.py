"""A pool of environments in which many vines grow together, each to its own end."""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Sequence
from dataclasses import replace
from typing import Any, NamedTuple

import gymnasium as gym
import numpy as np

from setrl.control.envs.checks import differences
from setrl.control.envs.generators import NotResettableError
from setrl.control.envs.layers import gathered_kept
from setrl.control.envs.resettable import ResettableEnv, Snapshot, make_resettable
from setrl.control.trajectories import Growing, Trajectory, select_steps, stack

# (observations of the live vines, their positions among the snapshots) → their actions, and what
# else to keep from the step, each with the live vines as its first axis.
Act = Callable[[Any, np.ndarray], tuple[Any, dict[str, Any]]]
OnStep = Callable[["Stepped"], None]


class Stepped(NamedTuple):
    """What a step gave to the n live vines; the names are Stable-Baselines3's."""

    rewards: np.ndarray  # (n,)
    dones: np.ndarray  # (n,) bool: the vine has ended
    infos: list[dict[str, Any]]
    actions: Any
    new_obs: Any  # the observations after the actions


class VinePool:
    """Environments in this process, without auto-reset: no step is spent on unused starts.

    Args:
        make_env: Makes one environment; `make_resettable` wraps it unless it is resettable already.
        num_envs: How many vines are stepped together, which is the policy's largest batch.
        rng: Draws a seed of noise for each vine, in the order of the snapshots. The same generator
            state and policy give the same vines for every num_envs.
        on_step: Called with the result of each step of the live vines; it may raise to stop the
            pool.

    `steps` counts all steps of all environments since the pool was made.
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
        envs = [make_env() for _ in range(num_envs)]
        self.envs = [e if isinstance(e, ResettableEnv) else make_resettable(e) for e in envs]
        self.rng, self.on_step = rng, on_step
        self.steps = 0

    def start(
        self, seeds: Sequence[int | None], options: dict[str, Any] | None = None
    ) -> list[Snapshot]:
        """Return the first states of episodes, one for each reset seed."""
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
    ) -> list[Trajectory]:
        """Grow one vine from each snapshot (repeat a snapshot to grow several from it).

        Args:
            snapshots: Where the vines start, any number; if there are more than num_envs, some wait
                for a free environment.
            act: The policy: (observations, vines) → (actions, extras). `observations` is the batch
                of the n ≤ num_envs live vines; `vines` (n,) are their positions in `snapshots`;
                `actions` and each of `extras` have n as their first axis.
            max_steps: A vine that does not end is cut after this many steps, and is truncated.

        Returns:
            One trajectory for each snapshot, in order. A snapshot of an ended episode gives a
            trajectory without steps. A reward that is NaN stays NaN, and the vine continues.

        Raises:
            ValueError: If max_steps < 1, or act gave another number of actions.
        """
        if max_steps < 1:
            raise ValueError(f"max_steps must be at least 1, got {max_steps}")
        seeds = self.rng.integers(2**63, size=len(snapshots)).tolist()
        vines = [_Vine(i, *origin) for i, origin in enumerate(zip(snapshots, seeds, strict=True))]
        waiting = deque(vine for vine in vines if not vine.ended)
        free, live = list(self.envs), list[_Vine]()
        while waiting or live:
            while waiting and free:
                vine = waiting.popleft()
                vine.plant(free.pop())
                live.append(vine)
            self._step_all(live, act, max_steps)
            free += [vine.env for vine in live if vine.ended]
            live = [vine for vine in live if not vine.ended]
        return [vine.trajectory((vine.start, vine.seed)) for vine in vines]

    def states(self, vine: Trajectory, times: Sequence[int]) -> list[Snapshot]:
        """Return states of a vine, by repeating its actions with its noise.

        The steps were counted when the vine took them; statistics in wrappers do not count them
        again.

        Args:
            vine: A vine of this pool, or of another pool with equal environments.
            times: Ascending, from 0 to T: the number of steps before each state.

        Raises:
            NotResettableError: If the environment did not repeat what it had shown.
        """
        assert vine.origin is not None, "only a pool's vines can be repeated"
        (start, seed), env = vine.origin, self.envs[0]
        states: list[Snapshot] = []
        done, observation = 0, start.observation
        with gathered_kept(env) as something_is_gathered:
            env.restore(start, rng=seed)
            for time in times:
                for action in vine.actions_T[done:time]:
                    observation = env.step(action)[0]
                past, done = select_steps(vine.observations, time), time
                # A running normaliser has changed since then: it shows the same state differently.
                if not something_is_gathered and any(differences(observation, past, "observation")):
                    raise NotResettableError(
                        f"the first {time} steps of a trunk were repeated and led to another "
                        "observation, so the environment is not set back exactly: find out why "
                        "with setrl.control.check_resettable(env)"
                    )
                states.append(replace(env.snapshot(), observation=past, info=vine.infos[time]))
        return states

    def close(self) -> None:
        """Close all environments."""
        for env in self.envs:
            env.close()

    def _step_all(self, live: list[_Vine], act: Act, max_steps: int) -> None:
        """Step every live vine once."""
        batch = stack([vine.observations[-1] for vine in live])
        actions, extras = act(batch, np.array([vine.index for vine in live]))
        if len(actions) != len(live):
            raise ValueError(
                f"act must give one action for each of {len(live)} live vines, got {len(actions)}"
            )
        for i, vine in enumerate(live):
            vine.grow(
                actions[i],
                {name: select_steps(column, i) for name, column in extras.items()},
                max_steps,
            )
        self.steps += len(live)
        if self.on_step is not None:
            rewards, dones = ([vine.rewards[-1] for vine in live], [vine.ended for vine in live])
            infos = [vine.infos[-1] for vine in live]
            new_obs = stack([vine.observations[-1] for vine in live])
            self.on_step(Stepped(np.array(rewards), np.array(dones), infos, actions, new_obs))


class _Vine(Growing):
    """A vine while it grows, and its environment."""

    env: ResettableEnv

    def __init__(self, index: int, start: Snapshot, seed: int) -> None:
        super().__init__(start.observation, start.info)
        self.index, self.start, self.seed = index, start, seed
        self.terminated, self.truncated = start.terminated, start.truncated

    def plant(self, env: ResettableEnv) -> None:
        self.env = env
        env.restore(self.start, rng=self.seed)

    def grow(self, action: Any, extras: dict[str, Any], max_steps: int) -> None:
        self.step(self.env, action, extras)
        if not self.terminated and len(self.rewards) >= max_steps:
            self.truncated = True
