"""Rollouts of a trained policy, one for each of its strategies, as a film."""

from __future__ import annotations

import os
from collections import Counter
from collections.abc import Callable, Hashable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

import gymnasium as gym
import imageio.v3 as imageio
import numpy as np
from numpy.typing import NDArray
from PIL import Image, ImageDraw
from typing_extensions import override

from setrl.control import measures
from setrl.control.checkpoints import POLICY
from setrl.control.envs.resettable import make_resettable
from setrl.control.resolved import ResolvedControl
from setrl.control.run import module_of_path
from setrl.control.tasks import ControlTask
from setrl.control.trajectories import Trajectory
from setrl.logs.run import CONFIG, Run
from setrl.samples.values import DEGENERATE
from setrl.support import names
from setrl.support.errors import ConfigError, DataError, usage_errors
from setrl.support.files.atomic import refuse_file_of_others
from setrl.support.wording import percent

if TYPE_CHECKING:
    from stable_baselines3.common.base_class import BaseAlgorithm

    from setrl.control.jax.poly_ppo import Player

Frame = NDArray[np.uint8]  # (height, width, 3)

START = "setrl_start"  # the key of `info` that holds an episode's first snapshot
LINE = 12  # pixels of a line of a caption
CAPTION = 2 * LINE + 6  # pixels above a rollout
GAP = 4  # pixels between rollouts
PAPER, INK = (255, 255, 255), (20, 20, 20)
MARK = "made by setrl control watch"  # in films, so that no other file is replaced
HOLD_SECONDS = 1.0  # seconds that a film stays on its last frame


@dataclass(frozen=True)
class Rollout:
    """An episode to watch.

    Attributes:
        label: Strategy of the episode.
        share: The share of all sampled episodes with this strategy.
        frames: Frames from the start to the last step, all of one size.
    """

    label: Hashable
    share: float
    frames: tuple[Frame, ...]


class _Marked(gym.Wrapper):
    """Puts a snapshot of each episode's start into its first info, to replay the episode later."""

    @override
    def reset(self, **options: Any) -> tuple[Any, dict[str, Any]]:
        observation, info = self.env.reset(**options)
        return observation, info | {START: self.env.snapshot()}  # type: ignore[attr-defined]


def one_per_strategy(
    model: BaseAlgorithm, task: ControlTask, most: int, episodes: int, rng: np.random.Generator
) -> list[Rollout]:
    """Sample episodes, and render the first of each strategy, the most frequent strategy first.

    Args:
        model: The model to sample.
        task: The task, which makes environments that render, and labels episodes.
        most: Largest number of strategies to render.
        episodes: How many episodes to sample.
        rng: Decides which episodes are sampled.

    Raises:
        DataError: If no episode has a strategy.
    """
    sampled = measures.sample_episodes(
        model, lambda: _Marked(make_resettable(task.make_env())), episodes, rng
    )
    labels = [task.label(episode) for episode in sampled]
    return _choose_first_of_each_label(
        labels, most, lambda index: replay_frames(task, sampled[index])
    )


def _choose_first_of_each_label(
    labels: Sequence[Hashable | None], most: int, frames_of: Callable[[int], tuple[Frame, ...]]
) -> list[Rollout]:
    """Return the first episode of each of the most frequent labels, with its frames."""
    counts = Counter(label for label in labels if label not in (None, DEGENERATE))
    if not counts:
        raise DataError(
            f"of {len(labels)} episodes, none succeeded with a strategy: sample more episodes, or "
            "train longer"
        )
    return [
        Rollout(label, number / len(labels), frames_of(labels.index(label)))
        for label, number in counts.most_common(most)
    ]


def one_per_strategy_on_jax(
    player: Player, most: int, episodes: int, rng: np.random.Generator
) -> list[Rollout]:
    """Do what `one_per_strategy` does for a task on JAX."""
    task = player.model.task
    labels_B, states, lengths_B = player.seen(episodes, int(rng.integers(2**31)))
    labels = labels_B.tolist()

    def frames_of(index: int) -> tuple[Frame, ...]:
        return tuple(task.render(states(time, index)) for time in range(lengths_B[index] + 1))

    return _choose_first_of_each_label(labels, most, frames_of)


def replay_frames(task: ControlTask, episode: Trajectory) -> tuple[Frame, ...]:
    """Return an episode's frames: the same actions, from the same start, with the same noise."""
    env = make_resettable(task.make_env())
    env.reset()
    env.restore(episode.infos[0][START], rng="keep")
    frames = [_render_frame(env)]
    for action in episode.actions_T:
        env.step(action)
        frames.append(_render_frame(env))
    env.close()
    return tuple(frames)


def _render_frame(env: gym.Env) -> Frame:
    # Without a display, pygame complains about each environment that draws a picture.
    os.environ.setdefault("SDL_VIDEODRIVER", "dummy")
    frame: Any = env.render()
    if frame is None:
        raise DataError(
            f"{type(env.unwrapped).__name__} cannot be watched: render() must return a picture, "
            "and returned None"
        )
    return np.asarray(frame, dtype=np.uint8)


def side_by_side(rollouts: Sequence[Rollout]) -> list[Frame]:
    """Make one film of all rollouts: a rollout that has ended stays on its last frame."""
    return [
        np.concatenate([_caption_frame(rollout, time) for rollout in rollouts], axis=1)
        for time in range(max(len(rollout.frames) for rollout in rollouts))
    ]


def _caption_frame(rollout: Rollout, time: int) -> Frame:
    frame = rollout.frames[min(time, len(rollout.frames) - 1)]
    return _add_caption(frame, _write_caption(rollout))


def _write_caption(rollout: Rollout) -> str:
    label = rollout.label
    shown = ", ".join(map(str, sorted(label))) if isinstance(label, frozenset) else str(label)
    return f"{percent(rollout.share)} of episodes\nstrategy {shown}"


def _add_caption(frame: Frame, caption: str) -> Frame:
    height, width, _ = frame.shape
    image = Image.new("RGB", (width + GAP, height + CAPTION), PAPER)
    image.paste(Image.fromarray(frame), (0, CAPTION))
    ImageDraw.Draw(image).text((2, 3), caption, fill=INK, spacing=2)
    return np.asarray(image)


def write_film(frames: Sequence[Frame], path: Path, frames_per_second: float) -> None:
    """Write frames as a GIF.

    Raises:
        ConfigError: If the path has another extension.
    """
    if path.suffix != ".gif":
        raise ConfigError(f"output must end in .gif, got {path.name!r}")
    path.parent.mkdir(parents=True, exist_ok=True)
    held_frames = [*frames, *[frames[-1]] * round(HOLD_SECONDS * frames_per_second)]
    imageio.imwrite(path, held_frames, duration=1000 / frames_per_second, loop=0, comment=MARK)


def watch(
    run_dir: Path,
    arm: str | None = None,
    seed: int | None = None,
    output: Path | None = None,
    most: int = 6,
    episodes: int = 128,
    frames_per_second: float = 8.0,
) -> Path:
    """Write a film of a finished arm of a control run.

    Args:
        run_dir: The folder of the run.
        arm: One of its arms; by default the last.
        seed: One of its seeds; by default the first.
        output: The film, .gif; by default RUN/figures/watch_<arm>_<seed>.gif.
        most: Largest number of strategies to show.
        episodes: Number of episodes to sample in search of them.
        frames_per_second: Frames per second of the film.

    Returns:
        The film.

    Raises:
        ConfigError: If there is no such run, arm or seed, or it is not finished, or if `output`
            is a file that this function did not write.
        DataError: If no sampled episode has a strategy.
    """
    resolved = _load_config(run_dir)
    arm = arm if arm is not None else list(resolved.arms)[-1]
    seed = seed if seed is not None else resolved.config.seeds[0]
    film = output or run_dir / "figures" / f"watch_{arm}_{seed}.gif"
    if output:
        refuse_file_of_others(film, _is_our_film, "a film of setrl")
    model, rng = _load_trained_model(resolved, run_dir, arm, seed), np.random.default_rng(seed)
    if resolved.on_jax:
        rollouts = one_per_strategy_on_jax(model, most, episodes, rng)
    else:
        rollouts = one_per_strategy(model, resolved.task, most, episodes, rng)
    write_film(side_by_side(rollouts), film, frames_per_second)
    return film


def _is_our_film(path: Path) -> bool:
    """Return whether `setrl control watch` wrote a film."""
    return path.is_file() and MARK.encode() in path.read_bytes()


def _load_config(run_dir: Path) -> ResolvedControl:
    path = run_dir / CONFIG
    if not path.exists():
        raise ConfigError(f"{run_dir} is not a control run: {path.name} is missing")
    return ResolvedControl.load(path)


def _load_trained_model(resolved: ResolvedControl, run_dir: Path, arm: str, seed: int) -> Any:
    """Return the trained model of an arm; on JAX, its player."""
    with usage_errors():
        names.look_up("arm", arm, resolved.arms)
    run = Run(run_dir).seed(arm, seed)
    final = run.final
    if not (final / POLICY).exists():
        raise ConfigError(
            f"{arm} with seed {seed} is not finished: {final} is missing; finish the run first"
        )
    arguments = (resolved, arm, 0, run.path, run)
    return module_of_path(resolved).Learner(*arguments, start=final / POLICY).policy
