"""Check that an environment is really set back: the same actions must lead to the same bits."""

from __future__ import annotations

import pickle
from collections.abc import Iterator
from dataclasses import dataclass, replace
from typing import Any

import gymnasium as gym
import numpy as np

from setrl.control.envs.adapters import WHAT_TO_IMPLEMENT
from setrl.control.envs.generators import save_generators
from setrl.control.envs.layers import kind_of, layers_of, moving_normalisers
from setrl.control.envs.resettable import Resettable, ResettableEnv, make_resettable

# Infos that hold the time of day: RecordEpisodeStatistics and SB3's Monitor write it.
_CLOCKS = ("info.episode.t",)


def check_resettable(
    env: gym.Env,
    actions: int = 60,
    trials: int = 10,
    rng: int | np.random.Generator = 0,
    another: gym.Env | None = None,
) -> None:
    """Raise unless an environment continues from a restored state exactly as it did at first.

    Each trial walks at random to a state (the start, or mid-episode), keeps a snapshot, and walks
    on. Then, from elsewhere in another episode, it restores the snapshot and repeats the actions:
    observations, rewards, ends, infos and the states of all generators must be the same, bit for
    bit. This is repeated from the same snapshot, from a pickled copy, and, where `another` is
    given, in that instance. With a seed, `restore` must give the same future twice.

    Args:
        env: The environment. Without `snapshot` and `restore`, it goes through `make_resettable`
            first.
        actions: The longest walk before and after the snapshot, in steps.
        trials: How many snapshots. A fault that shows in a share s of the snapshots is missed with
            probability (1 − s)^trials.
        rng: Draws seeds and actions.
        another: A second instance, made the same way; it need not have been reset.

    Raises:
        ResetMismatchError: If something differed; names what, at which step, and what to implement.
        NotResettableError: If `make_resettable` refuses the environment.
    """
    if actions < 1 or trials < 1:
        raise ValueError(f"actions and trials must be at least 1, got {actions} and {trials}")
    generator = np.random.default_rng(rng)
    subject, second = (
        _make_resettable(env),
        another if another is None else _make_resettable(another),
    )
    for trial in range(trials):
        _check_snapshot(subject, second, actions, generator, at_start=trial == 0)


class ResetMismatchError(AssertionError):
    """A restored environment behaved differently; the message names the step and the remedy."""


def _check_snapshot(
    env: Any, second: Any, actions: int, rng: np.random.Generator, *, at_start: bool
) -> None:
    """Check one snapshot, restored in every way."""
    seed = int(rng.integers(2**31))
    start = _walk_to_a_state(env, seed, 0 if at_start else int(rng.integers(1, actions + 1)), rng)
    snapshot = env.snapshot()
    walk = _draw_actions(env, actions, rng)
    truth = _record_walk(env, start, walk)
    drawn_from = _find_moved_generators(truth[0].generators, truth[-1].generators)
    pickled = _pickle_snapshot(env, snapshot)
    ways = [("", env, snapshot), (" a second time", env, snapshot)]
    ways += [(" from its pickle", env, pickle.loads(pickled))]
    ways += [(" in another instance", second, pickle.loads(pickled))] if second else []
    for way, instance, state in ways:
        if instance is env:
            _walk_to_a_state(env, seed + 1, int(rng.integers(1, actions + 1)), rng)
        again = _record_walk(instance, instance.restore(state, rng="keep"), walk)
        if not isinstance(instance, ResettableEnv):
            # The environment sets itself back, and need not keep noise that it never draws.
            truth, again = (
                _keep_generators(truth, drawn_from),
                _keep_generators(again, drawn_from),
            )
        _check_agreement(env, truth, again, f"restored{way}")
    once, twice = (_record_walk(env, env.restore(snapshot, rng=5), walk) for _ in range(2))
    _check_agreement(env, once, twice, "restored twice with rng=5")
    _check_forks(env, snapshot, drawn_from)


@dataclass(frozen=True)
class _Step:
    """Everything that can be observed of a step."""

    observation: Any
    reward: Any
    terminated: Any
    truncated: Any
    info: Any
    generators: Any


def _walk_to_a_state(
    env: Any, seed: int, steps: int, rng: np.random.Generator
) -> tuple[Any, dict[str, Any]]:
    """Reset and take at most `steps` random actions, so that the episode does not end."""
    walk = _draw_actions(env, steps, rng)
    while True:
        start = env.reset(seed=seed)
        records = list(_take_actions(env, walk))
        if not records or not (records[-1].terminated or records[-1].truncated):
            return (records[-1].observation, records[-1].info) if records else start
        # No step follows the end of an episode, so a snapshot there would check nothing.
        walk = walk[: len(records) // 2]


def _draw_actions(env: Any, count: int, rng: np.random.Generator) -> list[Any]:
    env.action_space.seed(int(rng.integers(2**31)))
    return [env.action_space.sample() for _ in range(count)]


def _record_walk(env: Any, first: tuple[Any, dict[str, Any]], walk: list[Any]) -> list[_Step]:
    """Return the environment's present state, by observation and info, and a walk's steps."""
    observation, info = first
    return [
        _Step(observation, 0.0, False, False, info, _save_generator_states(env)),
        *_take_actions(env, walk),
    ]


def _take_actions(env: Any, walk: list[Any]) -> Iterator[_Step]:
    for action in walk:
        observation, reward, terminated, truncated, info = env.step(action)
        yield _Step(observation, reward, terminated, truncated, info, _save_generator_states(env))
        if terminated or truncated:
            return


def _save_generator_states(env: Any) -> list[dict[str, Any]]:
    layers = layers_of(env)
    return [save_generators(layer, own=not isinstance(layer, ResettableEnv)) for layer in layers]


def _pickle_snapshot(env: Any, snapshot: Any) -> bytes:
    try:
        return pickle.dumps(snapshot)
    except Exception as error:
        raise ResetMismatchError(
            f"{_name_of_env(env)}: the snapshot cannot be pickled ({error}): let `snapshot` keep "
            "only data and no reference to the environment"
        ) from error


def _check_agreement(env: Any, truth: list[_Step], again: list[_Step], way: str) -> None:
    """Raise unless the steps are equal, and equally many."""
    for index, (old, new) in enumerate(zip(truth, again, strict=False)):
        for part in vars(old):
            for where in differences(getattr(old, part), getattr(new, part), part):
                raise ResetMismatchError(_describe_mismatch(env, way, index, where))
    if len(truth) != len(again):
        raise ResetMismatchError(
            _describe_mismatch(env, way, min(len(truth), len(again)), "the end")
        )


def _describe_mismatch(env: Any, way: str, index: int, where: str) -> str:
    when = f"step {index} after it" if index else "the restored state itself"
    if moving := moving_normalisers(env):
        return (
            f"{_name_of_env(env)}: {way}, {where} differed at {when}: {moving[0]} changes its "
            "statistics with each step, so that vines would see other observations or rewards than "
            "their trunk. Keep them as they are: update_running_mean = False once they are "
            "measured (docs/resettable.md)"
        )
    return (
        f"{_name_of_env(env)}: {way}, {where} differed at {when}, so the snapshot does not hold "
        f"the whole state; save what decides it, or {WHAT_TO_IMPLEMENT}"
    )


def _keep_generators(steps: list[_Step], drawn_from: set[tuple[int, str]]) -> list[_Step]:
    """Return the steps with only the generators from which noise was drawn."""

    def filter_states(generators: list[dict[str, Any]]) -> list[dict[str, Any]]:
        return [
            {path: state for path, state in by_path.items() if (place, path) in drawn_from}
            for place, by_path in enumerate(generators)
        ]

    return [replace(step, generators=filter_states(step.generators)) for step in steps]


def _find_moved_generators(
    before: list[dict[str, Any]], after: list[dict[str, Any]]
) -> set[tuple[int, str]]:
    """Return the generators (layer, path) from which noise was drawn between two steps."""
    return {
        (place, path)
        for place, (old, new) in enumerate(zip(before, after, strict=True))
        for path in old.keys() & new.keys()
        if any(differences(old[path], new[path], path))
    }


def _check_forks(env: Any, snapshot: Any, drawn_from: set[tuple[int, str]]) -> None:
    """Raise if vines with different seeds share a generator from which noise is drawn."""
    env.restore(snapshot, rng=1)
    first = _save_generator_states(env)
    env.restore(snapshot, rng=2)
    for place, path in sorted(
        drawn_from - _find_moved_generators(first, _save_generator_states(env))
    ):
        raise ResetMismatchError(
            f"{_name_of_env(env)}: restored with rng=1 and with rng=2 the generator {path} of "
            f"{kind_of(layers_of(env)[place])} is the same, so that vines would share its noise; "
            "let `restore` seed it from `rng`"
        )


def differences(old: Any, new: Any, where: str) -> Iterator[str]:
    """Yield the places at which two values differ in a bit."""
    if where in _CLOCKS:
        return
    if isinstance(old, dict) and isinstance(new, dict):
        if list(old) != list(new):
            yield where
        for key in old.keys() & new.keys():
            yield from differences(old[key], new[key], f"{where}.{key}")
    elif isinstance(old, list | tuple) and type(old) is type(new) and len(old) == len(new):
        for index, pair in enumerate(zip(old, new, strict=True)):
            yield from differences(*pair, f"{where}[{index}]")
    elif not _same_bits(old, new):
        yield where


def _same_bits(old: Any, new: Any) -> bool:
    if isinstance(old, np.ndarray | np.generic | float):
        a, b = np.asarray(old), np.asarray(new)
        if a.dtype != object:
            return a.dtype == b.dtype and a.shape == b.shape and a.tobytes() == b.tobytes()
    return bool(np.all(old == new))


def _make_resettable(env: gym.Env) -> Any:
    return env if isinstance(env, Resettable) else make_resettable(env)


def _name_of_env(env: Any) -> str:
    inner = env.unwrapped
    return inner.spec.id if inner.spec else kind_of(inner)
