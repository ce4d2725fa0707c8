"""One training run of a control config on Stable-Baselines3; `jax.arm` does the same on JAX."""

from __future__ import annotations

from collections.abc import Mapping
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any

import gymnasium as gym
import numpy as np
import torch
from gymnasium.wrappers import RecordEpisodeStatistics
from stable_baselines3.common.callbacks import BaseCallback
from stable_baselines3.common.logger import KVWriter, Logger
from stable_baselines3.common.vec_env import DummyVecEnv, VecEnv
from typing_extensions import override

from setrl.control import learner, pretrained
from setrl.control.behaviour_cloning import Demonstrations
from setrl.control.envs.resettable import make_resettable
from setrl.control.sb3 import behaviour_cloning, checkpoints
from setrl.control.sb3.poly_ppo import PolyPPO
from setrl.support import files
from setrl.support.files.run_folder import TrainingRun

if TYPE_CHECKING:
    from setrl.control.resolved import ResolvedControl
    from setrl.control.tasks import ControlTask


def use_one_thread() -> None:
    """Keep this process on one core: the arms of a run work side by side."""
    torch.set_num_threads(1)


class Learner(learner.Learner):
    """Trains a `PolyPPO`."""

    @override
    def __post_init__(self) -> None:
        resolved, own = self.resolved, self.resolved.arms[self.arm]
        if self.checkpoint is None:
            self.model = new_model(resolved, self.arm, self.seed)
            warm_start(self.model, resolved.task, self.cache, resolved.config.pretrain_seed)
        else:
            env = environments(resolved, own.ppo)
            self.model = checkpoints.load(self.checkpoint, env, own.vines)
        self.model.set_logger(Logger(str(self.run.path), [_MetricsWriter(self.run)]))
        if self.checkpoint is not None:
            checkpoints.restore(self.checkpoint, self.model)

    @property
    @override
    def steps(self) -> int:
        return self.model.num_timesteps

    @property
    @override
    def policy(self) -> PolyPPO:
        return self.model

    @override
    def learn(self) -> None:
        missing, is_new = self.resolved.steps - self.steps, self.checkpoint is None
        self.model.learn(missing, _Callback(self), reset_num_timesteps=is_new)

    @override
    def evaluation(self) -> dict[str, float]:
        with torch.random.fork_rng(devices=[]):
            return super().evaluation()

    @override
    def write(self, folder: Path) -> None:
        checkpoints.write(self.model, folder)

    @override
    def write_final(self, folder: Path) -> None:
        checkpoints.write_final(self.model, folder)


def warm_start(model: PolyPPO, task: ControlTask, cache: Path, seed: int = 0) -> Path | None:
    """Let a policy imitate its task's demonstrations, or load the result of an earlier call.

    Returns:
        The file of the weights; None for a task without demonstrations.
    """
    if not task.demonstrations:
        return None
    policy, clone = type(model.policy).__name__, partial(_clone, model, seed)
    code, first = [behaviour_cloning], checkpoints.weights(model)
    path = pretrained.kept(cache, task, policy, first, code, seed, clone)
    checkpoints.load_policy(model, path)
    return path


def _clone(
    model: PolyPPO, seed: int, shown: Demonstrations, rng: np.random.Generator
) -> tuple[pretrained.Weights, dict[str, float]]:
    """Clone into first weights of the pretraining seed, not of the model's seed."""
    with torch.random.fork_rng(devices=[]):
        torch.manual_seed(seed)
        spaces = model.observation_space, model.action_space
        fresh = type(model.policy)(*spaces, model.lr_schedule, **model.policy_kwargs)
        model.policy.load_state_dict(fresh.state_dict())
        found = behaviour_cloning.clone(model, shown, rng)
    return checkpoints.weights(model), found


def trained(resolved: ResolvedControl, arm: str, policy: Path) -> PolyPPO:
    """Return the trained model of an arm, from the file of its policy."""
    model = new_model(resolved, arm, 0)
    checkpoints.load_policy(model, policy)
    return model


def new_model(resolved: ResolvedControl, arm: str, seed: int) -> PolyPPO:
    """Return the model of an arm with its first weights."""
    own = resolved.arms[arm]
    env = environments(resolved, own.ppo)
    has_dicts = isinstance(env.observation_space, gym.spaces.Dict)
    return PolyPPO(
        "MultiInputPolicy" if has_dicts else "MlpPolicy",
        env,
        own.method,
        own.vines,
        **own.options,
        **{name: value for name, value in own.ppo.items() if name != "n_envs"},
        policy_kwargs=dict(resolved.task.policy_kwargs),
        seed=seed,
        device="cpu",
    )


def environments(resolved: ResolvedControl, ppo: Mapping[str, Any]) -> VecEnv:
    """Make the environments that PPO steps."""
    return DummyVecEnv([partial(recorded, resolved.task)] * ppo["n_envs"])


def recorded(task: ControlTask) -> gym.Env:
    """Make an environment of the task that records its returns and can be set back."""
    return make_resettable(RecordEpisodeStatistics(task.make_env()))


class _MetricsWriter(KVWriter):
    """Writes what Stable-Baselines3 logs as lines of metrics.jsonl."""

    def __init__(self, run: TrainingRun):
        self.run = run

    @override
    def write(
        self, key_values: dict[str, Any], key_excluded: dict[str, Any], step: int = 0
    ) -> None:
        """Write one line: the environment steps so far, and every number."""
        numbers = {
            key: float(value)
            for key, value in sorted(key_values.items())
            if isinstance(value, int | float | np.number)
        }
        files.append_line(self.run.metrics, {"step": step, **numbers})

    @override
    def close(self) -> None:
        """Do nothing: no file is open."""


class _Callback(BaseCallback):
    """Lets a learner do what it does between two updates."""

    def __init__(self, learner: Learner):
        super().__init__()
        self.learner, self._before, self._ends = learner, learner.steps, False

    @override
    def _on_step(self) -> bool:
        return not self._ends

    @override
    def _on_rollout_start(self) -> None:
        for name, value in self.learner.measured(self._before).items():
            self.logger.record(name, value)
        self._ends = self.learner.ends(self._before)
        self._before = self.learner.steps
