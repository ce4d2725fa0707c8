"""What a control config means: its task and arms are made here, once, and handed down."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, fields, replace
from functools import partial
from pathlib import Path
from typing import Any

from setrl.control.config import (
    ALGORITHMS,
    OPTION_KEYS,
    OPTIONS,
    PPO_KEYS,
    VINE_KEYS,
    ControlConfig,
)
from setrl.control.options import GymPPOArguments, PPOArguments
from setrl.control.tasks import ControlTask, from_config, is_of_jax
from setrl.control.vines import VineChoices, check_vines
from setrl.core.advantages import AnyMethod
from setrl.support import names
from setrl.support.files import strict_yaml
from setrl.support.files.sections import blamed_on
from setrl.support.files.strict_yaml import KeyedError
from setrl.train import method_config

Keys = Mapping[str, Any]  # of an arm

POLY_EPO = "poly_epo"  # the method of an arm that names none
MOST_JAX_STEPS = 2_000_000_000  # the last update exceeds it, and must stay below 2³¹
JAX_VINES = VINE_KEYS[:-2]  # on JAX the environment says how long an episode may be


@dataclass(frozen=True)
class ResolvedControlArm:
    """How one arm learns the task.

    Attributes:
        method: Scores sets of vines; None without vines.
        vines: How vines are sampled; None without vines, and on JAX, where the model has them.
        ppo: Arguments of PPO, `n_envs` among them.
        options: The penalties and bonuses beyond PPO's.
        model: On JAX, the `JaxPolyPPO` that all of these make.
    """

    method: AnyMethod | None
    vines: Any
    ppo: Mapping[str, Any]
    options: Mapping[str, Any]
    model: Any = None


@dataclass(frozen=True, eq=False)
class ResolvedControl:
    """A control config whose keys were all checked, with everything that was made from them.

    It is pickled as its keys: a worker process makes the same value when it receives it.

    Attributes:
        config: The keys; a run's folder keeps them.
        task: What all arms learn.
        arms: Arm name → how it learns.
        steps: Environment steps of each arm.
    """

    config: ControlConfig
    task: ControlTask
    arms: Mapping[str, ResolvedControlArm]
    steps: int

    @property
    def on_jax(self) -> bool:
        """Whether the task is a function of JAX; otherwise Stable-Baselines3 trains the arms."""
        return is_of_jax(self.task)

    def __reduce__(self) -> tuple[Any, ...]:
        return resolve, (self.config,)

    @staticmethod
    def load(path: str | Path, overrides: Sequence[str] = ()) -> ResolvedControl:
        """Read a YAML file and resolve it.

        Args:
            path: The file.
            overrides: Assignments that come after the file's, such as "arms.poly_epo.set_size=8".

        Raises:
            ConfigError: Naming the file, the line and the key; for an unknown key, the nearest one.
        """
        config = ControlConfig.load(path, overrides)
        with strict_yaml.placed(path, overrides):
            return resolve(config)

    @property
    def name(self) -> str:
        """The name of the run."""
        return self.config.name


def resolve(config: ControlConfig) -> ResolvedControl:
    """Make the task and the arms that a config describes, and check that its keys fit together.

    Raises:
        ConfigError: Naming what is wrong; a `KeyedError` where one key is.
    """
    with blamed_on("task", "task: "):
        task = from_config(config.task)
        _check_defaults(task)
    if config.gru is not None and not is_of_jax(task):
        raise KeyedError("gru is of tasks on JAX, such as jax_goals", "gru")
    arms = {}
    for arm, keys in config.arms.items():
        with blamed_on(f"arms.{arm}", f"arm {arm!r}: "):
            arms[arm] = _make_arm(keys, config, task)
    steps = config.total_steps or int(task.defaults["total_timesteps"])
    if is_of_jax(task) and steps > MOST_JAX_STEPS:
        raise KeyedError(
            f"total_steps must be at most {MOST_JAX_STEPS:,} on JAX, which counts them in 32 bits",
            "total_steps",
        )
    return ResolvedControl(_write_out_defaults(config, task, arms, steps), task, arms, steps)


def _write_out_defaults(
    config: ControlConfig, task: ControlTask, arms: Mapping[str, ResolvedControlArm], steps: int
) -> ControlConfig:
    """Return the config with every default: it trains the same when a default changes."""
    ppo = {
        **vars(_ppo_class(task)()),
        **_take_keys(dict(task.defaults), PPO_KEYS),
        **config.ppo,
    }
    ppo = {name: value for name, value in ppo.items() if name in PPO_KEYS}
    keys = {
        arm: {
            "algorithm": "ppo",
            **ALGORITHMS[arm_keys.get("algorithm", "ppo")],
            **OPTIONS,
            **_list_vine_keys(arms[arm], arm_keys),
            **arm_keys,
        }
        for arm, arm_keys in config.arms.items()
    }
    return replace(config, ppo=ppo, arms=keys, total_steps=steps)


def _list_vine_keys(arm: ResolvedControlArm, arm_keys: Keys) -> dict[str, Any]:
    """Return the keys of an arm's vines and of its method, with their defaults."""
    vines = arm.vines if arm.model is None else arm.model.vines
    if vines is None:
        return {}
    name = arm_keys.get("method", POLY_EPO)
    return {
        "method": name,
        **method_config.defaults_of(name),
        **{k: getattr(vines, k) for k in VINE_KEYS if hasattr(vines, k)},
    }


def _ppo_class(task: ControlTask) -> type[PPOArguments]:
    """Return the class of PPO's arguments on the path that trains the task."""
    if not is_of_jax(task):
        return GymPPOArguments
    from setrl.control.jax.update import PPOOptions

    return PPOOptions


def _check_defaults(task: ControlTask) -> None:
    """Refuse what a task gives to PPO or to policies, and nobody would read."""
    for name in task.defaults:
        names.look_up("default", name, dict.fromkeys((*PPO_KEYS, "total_timesteps")))
    for name in task.policy_kwargs if is_of_jax(task) else ():
        names.look_up("policy_kwargs on JAX", name, {"net_arch": None})


def _make_arm(keys: Keys, config: ControlConfig, task: Any) -> ResolvedControlArm:
    """Make an arm of its keys; of PPO's arguments, the arm's come after all others.

    A REINFORCE arm keeps what makes it REINFORCE unless the arm itself changes it.
    """
    rest, method = dict(keys), None
    algorithm = rest.pop("algorithm", "ppo")
    vines, options, ppo = (_take_keys(rest, names) for names in (VINE_KEYS, OPTION_KEYS, PPO_KEYS))
    if algorithm == "poly_ppo":
        also = (*VINE_KEYS, *OPTION_KEYS, *PPO_KEYS)
        method = method_config.from_config({"method": POLY_EPO, **rest}, also=also)
    ppo = {
        **_take_keys(dict(task.defaults), PPO_KEYS),
        **config.ppo,
        **ALGORITHMS[algorithm],
        **ppo,
    }
    make = partial(_make_arm_on_jax, config.gru) if is_of_jax(task) else _make_arm_on_gymnasium
    return make(task, method, vines, ppo, options)


def _take_keys(keys: dict[str, Any], names: Sequence[str]) -> dict[str, Any]:
    """Take the named keys out of the keys of an arm."""
    return {name: keys.pop(name) for name in names if name in keys}


def _make_arm_on_gymnasium(
    task: ControlTask, method: AnyMethod | None, vine_keys: Keys, ppo: Keys, options: Keys
) -> ResolvedControlArm:
    from setrl.control.sb3.families import Vines

    vines = None
    if method is not None:
        vines = Vines(task.make_env, task.label, task.score, **vine_keys)
    check_vines(method, vines)
    if "num_trajectories" in ppo:
        raise ValueError(
            "num_trajectories is of tasks on JAX; here n_steps × n_envs are the steps of an update"
        )
    given_to_ppo = GymPPOArguments(**ppo)
    ppo = {**vars(given_to_ppo), "batch_size": given_to_ppo.minibatch}
    return ResolvedControlArm(method, vines, ppo, options)


def _make_arm_on_jax(
    gru: int | None, task: Any, method: AnyMethod | None, vine_keys: Keys, ppo: Keys, options: Keys
) -> ResolvedControlArm:
    from setrl.control.jax.networks import ActorCritic
    from setrl.control.jax.poly_ppo import JaxPolyPPO
    from setrl.control.jax.update import PPOOptions

    _refuse_on_jax(vine_keys, JAX_VINES)
    options = {k: value for k, value in options.items() if k != "ucb_coef" or value}  # 0: none
    _refuse_on_jax({**ppo, **options}, [option.name for option in fields(PPOOptions)])
    vines = None if method is None else VineChoices(**vine_keys)
    widths = tuple(task.policy_kwargs.get("net_arch", (64, 64)))
    policy = ActorCritic(task.env.num_actions, widths, gru)
    arguments = PPOOptions(**ppo, **options)
    model = JaxPolyPPO(task, policy, arguments, method, vines)
    return ResolvedControlArm(method, None, vars(arguments), options, model)


def _refuse_on_jax(keys: Iterable[str], known_keys: Collection[str]) -> None:
    """Refuse a key that only Stable-Baselines3's path has."""
    for key in keys:
        if key not in known_keys:
            instead = ": an update has num_trajectories" if key in ("n_steps", "n_envs") else ""
            raise ValueError(f"{key} is not available on JAX{instead}")
