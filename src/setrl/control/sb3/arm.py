"""One training run of a control config on Stable-Baselines3; `jax.arm` does the same on JAX.

checkpoint-<steps>/model.zip      weights, optimiser, counters, bonus counts: SB3's own file
checkpoint-<steps>/state.pkl      generators, environments, values not yet logged
checkpoint-<steps>/seal           all were written on this machine: two of them hold pickles

final/policy.safetensors          the weights of the policy: readable on every machine
final/model.zip, final/seal       as above, to continue from
"""

from __future__ import annotations

import contextlib
import hashlib
import hmac
import os
import pickle
import random
import secrets
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

from setrl.control import arm
from setrl.control.behaviour_cloning import Demonstrations
from setrl.control.checkpoints import Weights, explain_unreadable, load_weights
from setrl.control.envs.resettable import make_resettable
from setrl.control.sb3 import behaviour_cloning
from setrl.control.sb3.poly_ppo import PolyPPO
from setrl.logs.run import Seed
from setrl.support import files
from setrl.support.errors import RunError
from setrl.train.runs.run import cache_folder

if TYPE_CHECKING:
    from setrl.control.resolved import ResolvedControl
    from setrl.control.tasks import ControlTask

MODEL, STATE = "model.zip", "state.pkl"
WAITING = ("name_to_value", "name_to_count", "name_to_excluded")  # of a logger, not yet written

SEAL = "seal"


def use_one_thread() -> None:
    """Keep this process on one core: the arms of a run work side by side."""
    torch.set_num_threads(1)


class Learner(arm.Learner):
    """Trains a `PolyPPO`."""

    cloning = (behaviour_cloning,)

    @override
    def begin(self) -> None:
        self.model = new_model(self.resolved, self.arm, self.seed)
        self.model.set_logger(self._metrics_logger)

    @override
    def resume(self, folder: Path) -> None:
        check_seal(folder)
        resolved_arm, path = self.resolved.arms[self.arm], folder / MODEL
        env: Any = make_environments(self.resolved, resolved_arm.ppo)
        options = {"device": "cpu", "force_reset": False, "vines": resolved_arm.vines}
        with explain_unreadable(path):
            self.model = PolyPPO.load(path, env, **options)
        self.model.set_logger(self._metrics_logger)
        self._restore_state(folder / STATE, env)

    def _restore_state(self, path: Path, env: Any) -> None:
        with explain_unreadable(path):
            state = pickle.loads(path.read_bytes())
        for instance, snapshot in zip(env.envs, state["environments"], strict=True):
            instance.restore(snapshot, rng="keep")
        torch.set_rng_state(state["torch"])
        np.random.set_state(state["numpy"])  # noqa: NPY002 - PPO samples its minibatches from it
        random.setstate(state["python"])
        for name in WAITING:
            getattr(self.model.logger, name).update(state["log"][name])

    @property
    def _metrics_logger(self) -> Logger:
        return Logger(str(self.run.path), [_MetricsWriter(self.run)])

    @property
    @override
    def steps(self) -> int:
        return self.model.num_timesteps

    @property
    @override
    def policy_name(self) -> str:
        return type(self.model.policy).__name__

    @property
    @override
    def policy(self) -> PolyPPO:
        return self.model

    @override
    def weights(self) -> Weights:
        return {
            name: weight.cpu().numpy() for name, weight in self.model.policy.state_dict().items()
        }

    @override
    def load_policy(self, path: Path) -> None:
        weights = load_weights(path, self.weights())
        self.model.policy.load_state_dict({k: torch.from_numpy(v) for k, v in weights.items()})

    @override
    def clone(self, shown: Demonstrations, rng: np.random.Generator) -> dict[str, float]:
        model = self.model
        with torch.random.fork_rng(devices=[]):
            torch.manual_seed(self.resolved.config.pretrain_seed)
            spaces = model.observation_space, model.action_space
            fresh = type(model.policy)(*spaces, model.lr_schedule, **model.policy_kwargs)
            model.policy.load_state_dict(fresh.state_dict())
            return behaviour_cloning.clone(model, shown, rng)

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
        self.model.save(folder / MODEL)
        env: Any = self.model.env
        state = {
            "torch": torch.get_rng_state(),
            "numpy": np.random.get_state(),  # noqa: NPY002
            "python": random.getstate(),
            "environments": [instance.snapshot() for instance in env.envs],
            "log": {name: dict(getattr(self.model.logger, name)) for name in WAITING},
        }
        (folder / STATE).write_bytes(pickle.dumps(state))
        seal(folder)

    @override
    def write_final(self, folder: Path) -> None:
        super().write_final(folder)
        self.model.save(folder / MODEL)
        seal(folder)


def new_model(resolved: ResolvedControl, arm: str, seed: int) -> PolyPPO:
    """Return the model of an arm with its first weights."""
    resolved_arm = resolved.arms[arm]
    env = make_environments(resolved, resolved_arm.ppo)
    has_dicts = isinstance(env.observation_space, gym.spaces.Dict)
    return PolyPPO(
        "MultiInputPolicy" if has_dicts else "MlpPolicy",
        env,
        resolved_arm.method,
        resolved_arm.vines,
        **resolved_arm.options,
        **{name: value for name, value in resolved_arm.ppo.items() if name != "n_envs"},
        policy_kwargs=dict(resolved.task.policy_kwargs),
        seed=seed,
        device="cpu",
    )


def make_environments(resolved: ResolvedControl, ppo: Mapping[str, Any]) -> VecEnv:
    """Make the environments that PPO steps."""
    return DummyVecEnv([partial(recorded_env, resolved.task)] * ppo["n_envs"])


def recorded_env(task: ControlTask) -> gym.Env:
    """Make an environment of the task that records its returns and can be set back."""
    return make_resettable(RecordEpisodeStatistics(task.make_env()))


class _MetricsWriter(KVWriter):
    """Writes what Stable-Baselines3 logs as lines of metrics.jsonl."""

    def __init__(self, run: Seed):
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
        files.append_line(self.run.metrics_file, {"step": step, **numbers})

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
        self._work_between_updates()

    @override
    def _on_training_end(self) -> None:
        if not self._ends:  # then the last update is done, and no further one has begun
            self._work_between_updates()

    def _work_between_updates(self) -> None:
        for name, value in self.learner.evaluation_if_due(self._before).items():
            self.logger.record(name, value)
        self._ends = self.learner.ends_or_saves(self._before)
        self._before = self.learner.steps


def seal(folder: Path) -> None:
    """Write the seal of the files that are in a folder now."""
    (folder / SEAL).write_text(_digest_folder(folder), encoding="utf-8")


def check_seal(folder: Path) -> None:
    """Refuse a folder that was not sealed on this machine, or was changed since then.

    Raises:
        RunError: If the seal is missing or wrong; the message names the folder.
    """
    path = folder / SEAL
    text = path.read_text(encoding="utf-8") if path.exists() else ""
    if not hmac.compare_digest(text.encode(), _digest_folder(folder).encode()):
        raise RunError(
            f"{folder} holds pickles, which can run any code, and was not written on this machine "
            "by this version of setrl, or was changed since: train this arm again in another "
            f"folder; the key that checks seals is {_key_path()}"
        )


def _digest_folder(folder: Path) -> str:
    """Compute HMAC-SHA256 of names and contents; the mark `complete` comes after the seal."""
    code = hmac.new(_load_seal_key(), digestmod=hashlib.sha256)
    for path in sorted(folder.iterdir()):
        if path.name not in (SEAL, "complete"):
            code.update(f"{path.name} {path.stat().st_size}\n".encode())
            code.update(path.read_bytes())
    return code.hexdigest()


def _key_path() -> Path:
    return cache_folder(None) / "seal.key"


def _load_seal_key() -> bytes:
    """Return the key of this user; made at the first use, and then always the same."""
    path = _key_path()
    if not path.exists():
        path.parent.mkdir(parents=True, exist_ok=True)
        draft = path.with_name(f"{path.name}.{os.getpid()}")
        with os.fdopen(os.open(draft, os.O_WRONLY | os.O_CREAT | os.O_TRUNC, 0o600), "wb") as file:
            file.write(secrets.token_bytes(32))
        with contextlib.suppress(FileExistsError):
            os.link(draft, path)  # if several processes do this at once, the first wins
        draft.unlink()
    return path.read_bytes()
