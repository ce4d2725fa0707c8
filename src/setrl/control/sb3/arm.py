"""One training run of a control config on Stable-Baselines3; `jax.arm` does the same on JAX."""

from __future__ import annotations

from collections.abc import Callable, Mapping
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

from setrl.control import pretrained, records
from setrl.control.checkpoints import POLICY, save
from setrl.control.envs.resettable import make_resettable
from setrl.control.records import is_due
from setrl.control.sb3 import behaviour_cloning, checkpoints
from setrl.control.sb3.poly_ppo import PolyPPO
from setrl.support import files
from setrl.support.files.run_folder import TrainingRun
from setrl.train.runs.pool import Stop

if TYPE_CHECKING:
    from setrl.control.resolved import ResolvedControl
    from setrl.control.tasks import ControlTask


def use_one_thread() -> None:
    """Keep this process on one core: the arms of a run work side by side."""
    torch.set_num_threads(1)


def learn(
    resolved: ResolvedControl,
    arm: str,
    seed: int,
    cache: Path,
    run: TrainingRun,
    checkpoint: Path | None,
    on_step: Callable[[int], None],
    stop: Stop,
) -> int:
    """Train from a checkpoint, or from the start; if all steps are done, save and evaluate.

    `setrl.control.run.train_arm` describes the arguments.

    Returns:
        Environment steps done so far.
    """
    model = make_model(resolved, arm, seed, cache, checkpoint)
    model.set_logger(Logger(str(run.path), [_MetricsWriter(run)]))
    if checkpoint is not None:
        checkpoints.restore(checkpoint, model)
    run.truncate(model.num_timesteps)
    callback = _RunCallback(run, resolved, on_step, stop)
    missing = resolved.steps - model.num_timesteps
    model.learn(missing, callback, reset_num_timesteps=checkpoint is None)
    if model.num_timesteps >= resolved.steps:
        with files.writing_folder(run.final) as partial_folder:
            checkpoints.write_final(model, partial_folder)
        found = evaluation(resolved.task, model)
        records.write_evaluation(run, arm, seed, model.num_timesteps, found)
        on_step(model.num_timesteps)
    return model.num_timesteps


def make_model(
    resolved: ResolvedControl, arm: str, seed: int, cache: Path, checkpoint: Path | None = None
) -> PolyPPO:
    """Return the model of an arm: new, pretrained if its task is, or from a checkpoint."""
    if checkpoint is None:
        model = new_model(resolved, arm, seed)
        warm_start(model, resolved.task, cache, resolved.config.pretrain_seed)
        return model
    own = resolved.arms[arm]
    env = environments(resolved, own.ppo)
    return checkpoints.load(checkpoint, env, own.vines, own.model)


def warm_start(model: PolyPPO, task: ControlTask, cache: Path, seed: int = 0) -> Path | None:
    """Let a policy imitate its task's demonstrations, or load the result of an earlier call.

    Returns:
        The file of the weights; None for a task without demonstrations.
    """
    if not task.demonstrations:
        return None
    shapes = {name: list(weight.shape) for name, weight in model.policy.state_dict().items()}
    policy, make = type(model.policy).__name__, partial(_clone, model, task, seed)
    path = pretrained.kept(cache, task, policy, shapes, [behaviour_cloning], seed, make)
    checkpoints.load_policy(model, path)
    return path


def _clone(model: PolyPPO, task: Any, seed: int, path: Path) -> dict[str, float]:
    """Clone into first weights of the pretraining seed, not of the model's seed."""
    with torch.random.fork_rng(devices=[]):
        torch.manual_seed(seed)
        spaces = model.observation_space, model.action_space
        fresh = type(model.policy)(*spaces, model.lr_schedule, **model.policy_kwargs)
        model.policy.load_state_dict(fresh.state_dict())
        rng = pretrained.generator(seed)
        found = behaviour_cloning.clone(model, task.demonstrate(rng), rng)
    checkpoints.save_policy(model, path)
    return found


def base_policy(resolved: ResolvedControl, cache: Path) -> PolyPPO:
    """Return the pretrained policy, the same for all arms and seeds."""
    seed = resolved.config.pretrain_seed
    return make_model(resolved, next(iter(resolved.arms)), seed, cache)


def evaluate_base(resolved: ResolvedControl, cache: Path, run: TrainingRun, arm: str) -> None:
    """Write evaluation.json of the policy that all arms start from."""
    found = evaluation(resolved.task, base_policy(resolved, cache))
    records.write_evaluation(run, arm, None, 0, found)


def trained(resolved: ResolvedControl, arm: str, final: Path) -> PolyPPO | None:
    """Return the trained model of an arm from its folder `final`; None if it is not there."""
    if not (final / POLICY).exists():
        return None
    model = new_model(resolved, arm, 0)
    checkpoints.load_policy(model, final / POLICY)
    return model


def new_model(resolved: ResolvedControl, arm: str, seed: int) -> PolyPPO:
    """Return the model of an arm with its first weights."""
    own = resolved.arms[arm]
    env = environments(resolved, own.ppo)
    has_dicts = isinstance(env.observation_space, gym.spaces.Dict)
    return (own.model or PolyPPO)(
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


def evaluation(task: ControlTask, model: PolyPPO) -> dict[str, float]:
    """Compute the task's metrics of a model now, without effect on further training."""
    with torch.random.fork_rng(devices=[]):
        return records.evaluation(task, model, model.seed, model.num_timesteps)


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


class _RunCallback(BaseCallback):
    """Writes a run's records and checkpoints, and reports how many steps are done.

    Args:
        run: The folder of the training run.
        resolved: The comparison: its task evaluates the policy during training.
        on_step: Called with the number of steps done so far.
        stop: When it asks to stop, training ends early with a checkpoint.
    """

    model: PolyPPO

    def __init__(
        self,
        run: TrainingRun,
        resolved: ResolvedControl,
        on_step: Callable[[int], None],
        stop: Stop,
    ):
        super().__init__()
        self.run, self.task, self.every = run, resolved.task, resolved.config
        self.on_step_done, self.stop = on_step, stop
        self._start, self._ends = 0, False

    @override
    def _on_training_start(self) -> None:
        self._start = self.model.num_timesteps

    @override
    def _on_step(self) -> bool:
        return not self._ends

    @override
    def _on_rollout_start(self) -> None:
        """Act between two updates: only there does a checkpoint hold all that matters."""
        steps = self.model.num_timesteps
        self.on_step_done(steps)
        if is_due(self.every.eval_every, self._start, steps):
            for name, value in evaluation(self.task, self.model).items():
                self.logger.record(f"evaluation/{name}", value)
        self._ends = self.stop.asked
        if steps and (self._ends or is_due(self.every.checkpoint_every, self._start, steps)):
            save(self.run, steps, partial(checkpoints.write, self.model))
        self._start = steps
