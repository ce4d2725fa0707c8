"""MuJoCo: a whole MjData, because positions and velocities are not the whole state."""

from __future__ import annotations

from typing import Any, ClassVar

from typing_extensions import override

from setrl.control.envs.adapters import CONSTANTS, Adapter, save_attributes
from setrl.control.envs.layers import copied

_CONSTANTS = CONSTANTS | {"model", "data", "init_qpos", "init_qvel", "observation_structure"}


class MujocoState(Adapter):
    """`mj_copyData` into a new MjData, and the environment's plain attributes.

    `set_state(qpos, qvel)` is not exact: the solver starts from the last accelerations, and rewards
    read body positions and contact forces of the last forward pass (Ant). mjSTATE_INTEGRATION is
    not exact either, for the second reason. A change of the model itself (masses, friction) is not
    saved.
    """

    name: ClassVar[str] = "mujoco"
    made_for: ClassVar[str] = "gymnasium.envs.mujoco.mujoco_env.MujocoEnv"

    @override
    def save(self) -> tuple[Any, dict[str, Any]]:
        import mujoco

        env: Any = self.env
        data = mujoco.MjData(env.model)
        mujoco.mj_copyData(data, env.model, env.data)
        return data, save_attributes(env, _CONSTANTS)

    @override
    def load(self, state: tuple[Any, dict[str, Any]]) -> None:
        import mujoco

        env: Any = self.env
        saved, attributes = state
        if (saved.nbuffer, saved.narena) != (env.data.nbuffer, env.data.narena):
            raise ValueError(
                "the snapshot comes from another MuJoCo model: restore it into an equal environment"
            )
        mujoco.mj_copyData(env.data, env.model, saved)
        vars(env).update(copied(attributes))
