"""MuJoCo: a whole MjData, because positions and velocities are not the whole state."""

from __future__ import annotations

from typing import Any, ClassVar

import gymnasium as gym
from typing_extensions import override

from setrl.control.envs.adapters import CONSTANTS, Adapter, save_attributes
from setrl.control.envs.layers import copied

_CONSTANTS = CONSTANTS | {"model", "data", "init_qpos", "init_qvel", "observation_structure"}


class MujocoState(Adapter):
    """`mj_copyData` into an MjData of a pool, and the environment's plain attributes.

    `set_state(qpos, qvel)` is not exact: the solver starts from the last accelerations, and rewards
    read body positions and contact forces of the last forward pass (Ant). mjSTATE_INTEGRATION is
    not exact either, for the second reason. A change of the model itself (masses, friction) is not
    saved.
    """

    name: ClassVar[str] = "mujoco"
    made_for: ClassVar[str] = "gymnasium.envs.mujoco.mujoco_env.MujocoEnv"

    def __init__(self, env: gym.Env) -> None:
        super().__init__(env)
        self._free: list[Any] = []

    @override
    def save(self) -> tuple[PooledData, dict[str, Any]]:
        import mujoco

        env: Any = self.env
        data = self._free.pop() if self._free else mujoco.MjData(env.model)
        mujoco.mj_copyData(data, env.model, env.data)
        return PooledData(data, self._free), save_attributes(env, _CONSTANTS)

    @override
    def load(self, state: tuple[PooledData, dict[str, Any]]) -> None:
        import mujoco

        env: Any = self.env
        saved, attributes = state
        if (saved.data.nbuffer, saved.data.narena) != (env.data.nbuffer, env.data.narena):
            raise ValueError(
                "the snapshot comes from another MuJoCo model: restore it into an equal environment"
            )
        mujoco.mj_copyData(env.data, env.model, saved.data)
        vars(env).update(copied(attributes))


class PooledData:
    """An MjData that returns to its pool when no longer used: a new one costs 400 µs.

    Pickled, it is MuJoCo's own pickle, which also contains the model (0.7 MB for Ant).
    """

    __slots__ = ("_pool", "data")

    def __init__(self, data: Any, pool: list[Any] | None = None) -> None:
        self.data = data
        self._pool = pool

    def __del__(self) -> None:
        if self._pool is not None:
            self._pool.append(self.data)

    def __reduce__(self) -> tuple[type[PooledData], tuple[Any]]:
        return PooledData, (self.data,)
