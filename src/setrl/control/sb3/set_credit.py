"""Trunks and vines → segments with the set advantages of a set critic."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np
from stable_baselines3.common.policies import ActorCriticPolicy

from setrl.control.credit.assign import Segment, SetAdvantage
from setrl.control.credit.families import Family
from setrl.control.credit.set_critic import Outcomes, set_advantages
from setrl.control.credit.trajectories import Trajectory
from setrl.control.credit.vines import Label, Vines
from setrl.control.sb3.outcomes import LearnedOutcomes, Steps, joined_steps, steps_of
from setrl.core.advantages import AnyMethod

LEAST = 1e-12  # a smaller chance counts as this one in the logged cross entropy


class Member(NamedTuple):
    """A trunk, or a vine, as a member of sets.

    Attributes:
        own: Its steps.
        episode: The whole episode.
        first: The step of the episode at which its own steps begin.
        times: Its own steps at whose states it is credited.
        outcome: The number of its outcome; −1 if that is unknown.
    """

    own: Trajectory
    episode: Trajectory
    first: int
    times: tuple[int, ...]
    outcome: int


def credited_segments(
    learner: LearnedOutcomes,
    policy: ActorCriticPolicy,
    families: Sequence[Family],
    method: AnyMethod,
    vines: Vines,
    rng: np.random.Generator,
) -> tuple[list[Segment], dict[str, float]]:
    """Credit all trunks and vines of an update, and then learn from them.

    Chances come from earlier updates only, so that an outcome has no part in the sets that it is
    compared with. The first update has no set advantages.

    Returns:
        The segments, and what to log; NaN where it is undefined.
    """
    members = members_of(families, method.reads, vines, learner.outcomes)
    known = [one for one in members if one.outcome >= 0]
    if not known:
        return [Segment(one.own) for one in members], {}
    label = vines.label if "clusters" in method.reads else None
    update = update_of(known, label, learner.outcomes)
    values_R, chance_R = np.full((2, len(update.taken_R)), np.nan)
    if learner.count_V.any() and len(update.taken_R):
        chances_RV = learner.chances(policy, update.steps.at(update.at_R))
        chance_R = np.take_along_axis(chances_RV, update.taken_R[:, None], axis=1)
        given = (update.taken_R, chances_RV, learner.options.num_draws, rng)
        values_R = set_advantages(method, learner.outcomes, *given)
    learner.learn(policy, update.steps, update.lengths, update.ended, rng)
    found = {
        "states": len(values_R),
        "outcomes": len(learner.outcomes),
        "cross_entropy": -np.log(np.maximum(chance_R, LEAST)).mean() if len(values_R) else np.nan,
        "advantage_size": np.sqrt((values_R**2).mean()) if len(values_R) else np.nan,
    }
    logged = {f"set_critic/{name}": float(value) for name, value in found.items()}
    return segments_of(members, values_R, vines.window), logged


class Update(NamedTuple):
    """The steps of an update's episodes, one episode after another.

    Attributes:
        steps: What the critic sees at each step.
        lengths: Steps of each episode.
        ended: The number of each episode's outcome.
        at_R: The steps at whose states there is credit.
        taken_R: The number of the outcome that followed each of them.
    """

    steps: Steps
    lengths: list[int]
    ended: np.ndarray
    at_R: np.ndarray
    taken_R: np.ndarray


def update_of(members: Sequence[Member], label: Label | None, outcomes: Outcomes) -> Update:
    """Return the steps of members whose outcome is known."""
    steps = [steps_of(one.own.seen_T, one.episode, one.first, label, outcomes) for one in members]
    lengths, ended = [len(one.own) for one in members], np.array([one.outcome for one in members])
    begins = np.cumsum([0, *lengths[:-1]])
    at = [b + time for b, one in zip(begins, members, strict=True) for time in one.times]
    taken_R = np.repeat(ended, [len(one.times) for one in members])
    return Update(joined_steps(steps), lengths, ended, np.array(at, dtype=np.int64), taken_R)


def of_vines(segments: Sequence[Segment], num_vines: int) -> np.ndarray:
    """Return the set advantage of each vine, (B, N), from the vines' segments; NaN for none."""
    own = [one.set_advantages[0].value if one.set_advantages else np.nan for one in segments]
    return np.array(own).reshape(-1, num_vines) if num_vines else np.empty((0, 0))


def members_of(
    families: Sequence[Family], reads: tuple[str, ...], vines: Vines, outcomes: Outcomes
) -> list[Member]:
    """Return the trunks, and then the vines, with the numbers of their outcomes."""
    found = [(one.trunk, one.trunk, 0, one.times) for one in families]
    for one in families:
        for time, own, whole in zip(one.times, one.vines_BN, one.episodes_BN(), strict=True):
            found += [(vine, episode, time, (0,)) for vine, episode in zip(own, whole, strict=True)]
    members = []
    for trajectory, episode, first, times in found:
        outcome = vines.outcome(episode, reads) if len(trajectory) else None
        number = -1 if outcome is None else outcomes.number(outcome)
        members.append(Member(trajectory, episode, first, times, number))
    return members


def segments_of(
    members: Sequence[Member], values_R: np.ndarray, window: int | None
) -> list[Segment]:
    """Return the members' segments; a set advantage goes from its state to the end of the window.

    Where two windows overlap, the later state's advantage counts.
    """
    values, segments = iter(values_R.tolist()), []
    for one in members:
        known = zip(one.times, values, strict=False) if one.outcome >= 0 else ()
        own = [
            SetAdvantage(value, time, None if window is None else time + window + 1)
            for time, value in known
            if np.isfinite(value)
        ]
        segments.append(Segment(one.own, tuple(own)))
    return segments
