"""Atari: the emulator's own snapshots, where they hold everything."""

from __future__ import annotations

import sys
from typing import Any, ClassVar

import gymnasium as gym

from setrl.control.envs.attributes import CONSTANTS, save_attributes
from setrl.control.envs.base import Adapter, NotResettableError
from setrl.control.envs.copying import copied


class AtariState(Adapter):
    """`ALEInterface.cloneState`, which forgets the action that sticky actions repeat.

    So an environment with repeat_action_probability > 0 is refused. Gymnasium's wrapper
    `StickyAction` does the same in Python, where its last action and its generator are saved.
    """

    name: ClassVar[str] = "atari"

    def __init__(self, env: gym.Env) -> None:
        super().__init__(env)
        sticky = env.ale.getFloat("repeat_action_probability")  # type: ignore[attr-defined]
        if sticky > 0:
            raise NotResettableError(
                f"this Atari environment has repeat_action_probability={sticky:g}, and the "
                "emulator does not tell which action it would repeat: make it with "
                "repeat_action_probability=0 and wrap it in "
                f"gymnasium.wrappers.StickyAction(env, {sticky:g}), whose state is saved; or use "
                'backend="replay"'
            )

    @staticmethod
    def is_made_for(env: gym.Env) -> bool:
        """Environments of ale-py."""
        module = sys.modules.get("ale_py.env")
        return module is not None and isinstance(env, module.AtariEnv)

    def save(self) -> tuple[Any, dict[str, Any]]:
        """The emulator with its generator, and the environment's plain attributes."""
        ale = self.env.ale  # type: ignore[attr-defined]
        return ale.cloneState(include_rng=True), save_attributes(self.env, CONSTANTS)

    def load(self, state: tuple[Any, dict[str, Any]]) -> None:
        """Put both back."""
        emulator, attributes = state
        self.env.ale.restoreState(emulator)  # type: ignore[attr-defined]
        vars(self.env).update(copied(attributes))
