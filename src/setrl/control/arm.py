"""One training run of a control config on Stable-Baselines3; `jax_arm` does the same on JAX."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from functools import partial
from pathlib import Path
from typing import Any

import gymnasium as gym
from gymnasium.wrappers import RecordEpisodeStatistics
from stable_baselines3.common.logger import Logger
from stable_baselines3.common.torch_layers import CombinedExtractor
from stable_baselines3.common.vec_env import DummyVecEnv, VecEnv, VecNormalize

from setrl.control import checkpoints
from setrl.control.envs.resettable import make_resettable
from setrl.control.records import MetricsWriter, RunCallback, evaluation
from setrl.control.resolved import ResolvedControl
from setrl.control.sb3.poly_ppo import PolyPPO
from setrl.control.sb3.recurrent import GRUPolicy, RecurrentPolyPPO
from setrl.control.tasks import ControlTask
from setrl.control.tasks.warm_start import warm_start
from setrl.support import files
from setrl.support.files.run_folder import TrainingRun
from setrl.train.runs.pool import Stop

GAMMA = 0.99  # the default of Stable-Baselines3's PPO and VecNormalize


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
    model.set_logger(Logger(str(run.path), [MetricsWriter(run)]))
    if checkpoint is not None:
        checkpoints.restore(checkpoint, model)
    run.truncate(model.num_timesteps)
    callback = RunCallback(run, resolved, on_step, stop)
    missing = resolved.steps - model.num_timesteps
    model.learn(missing, callback, reset_num_timesteps=checkpoint is None)
    if model.num_timesteps >= resolved.steps:
        with files.writing_folder(run.final) as partial_folder:
            checkpoints.save_final(model, partial_folder)
        write_evaluation(resolved.task, model, run, {"arm": arm, "seed": seed})
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
    return checkpoints.load(
        kind_of(resolved), checkpoint, environments(resolved, own.ppo), own.vines
    )


def base_policy(resolved: ResolvedControl, cache: Path) -> PolyPPO:
    """Return the pretrained policy, the same for all arms and seeds."""
    seed = resolved.config.pretrain_seed
    return make_model(resolved, next(iter(resolved.arms)), seed, cache)


def evaluate_base(resolved: ResolvedControl, cache: Path, run: TrainingRun, arm: str) -> None:
    """Write evaluation.json of the policy that all arms start from."""
    about = {"arm": arm, "seed": None}
    write_evaluation(resolved.task, base_policy(resolved, cache), run, about)


def kind_of(resolved: ResolvedControl) -> type[PolyPPO]:
    """Return the class of a run's models."""
    return PolyPPO if resolved.config.gru is None else RecurrentPolyPPO


def new_model(resolved: ResolvedControl, arm: str, seed: int) -> PolyPPO:
    """Return the model of an arm with its first weights."""
    own = resolved.arms[arm]
    env = environments(resolved, own.ppo)
    policy, policy_kwargs = policy_of(resolved, env.observation_space)
    return kind_of(resolved)(
        policy,
        env,
        own.method,
        own.vines,
        **own.options,
        **{name: value for name, value in own.ppo.items() if name != "n_envs"},
        policy_kwargs=policy_kwargs,
        seed=seed,
        device="cpu",
    )


def environments(resolved: ResolvedControl, ppo: Mapping[str, Any]) -> VecEnv:
    """Make the environments that PPO steps, normalised if the config says so."""
    env: VecEnv = DummyVecEnv([partial(recorded, resolved.task)] * ppo["n_envs"])
    if resolved.config.vec_normalize is None:
        return env
    return VecNormalize(env, **{"gamma": ppo.get("gamma", GAMMA), **resolved.config.vec_normalize})


def recorded(task: ControlTask) -> gym.Env:
    """Make an environment of the task that records its returns and can be set back."""
    return make_resettable(RecordEpisodeStatistics(task.make_env()))


def policy_of(resolved: ResolvedControl, space: gym.Space) -> tuple[Any, dict[str, Any]]:
    """Return the policy class for a task's observations and the config's memory, with arguments."""
    arguments = dict(resolved.task.policy_kwargs)
    has_dicts = isinstance(space, gym.spaces.Dict)
    if resolved.config.gru is None:
        return "MultiInputPolicy" if has_dicts else "MlpPolicy", arguments
    if has_dicts:
        arguments.setdefault("features_extractor_class", CombinedExtractor)
    return GRUPolicy, {**arguments, "hidden_size": resolved.config.gru}


def write_evaluation(
    task: ControlTask, model: PolyPPO, run: TrainingRun, about: dict[str, Any]
) -> None:
    """Write evaluation.json: the task's metrics for a model."""
    found = {**about, "steps": model.num_timesteps, "metrics": evaluation(task, model)}
    files.write_json(run.evaluation, {"schema_version": 1, **found})
