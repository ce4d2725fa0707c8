"""Trunks and vines → segments with the set advantages of a set critic."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np
from stable_baselines3.common.policies import ActorCriticPolicy

from setrl.control.labels import TrajectoryLabel
from setrl.control.sb3.credit import Segment
from setrl.control.sb3.families import Family
from setrl.control.sb3.vines import Vines
from setrl.control.trajectories import Trajectory
from studies.set_critic.learned import LearnedOutcomes, Steps, joined_steps, steps_of
from studies.set_critic.outcomes import Outcomes, SetCritic, outcome_of, set_advantages

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


class TrunkCredit:
    """The set critic of a model: it credits trunks, and vines if there are any, and learns."""

    def __init__(self, options: SetCritic, policy: ActorCriticPolicy, seed: int) -> None:
        self.learner = LearnedOutcomes(options, policy, seed)

    def __call__(
        self, model: Any, families: Sequence[Family], vines: Vines
    ) -> tuple[list[Segment], dict[str, float]]:
        """Credit all trunks and vines of an update, and then learn from them.

        Chances come from earlier updates only, so that an outcome has no part in the sets that it
        is compared with. The first update has no set advantages.

        Returns:
            The segments, and what to log; NaN where it is undefined.
        """
        learner, method, rng = self.learner, model.method, model.vine_rng
        members = members_of(families, method.reads, vines, learner)
        known = [one for one in members if one.outcome >= 0]
        if not known:
            return [Segment(one.own) for one in members], {}
        label = vines.label if "strategies" in method.reads else None
        update = update_of(known, label, learner.outcomes)
        values_R, chance_R = np.full((2, len(update.taken_R)), np.nan)
        if learner.count_V.any() and len(update.taken_R):
            chances_RV = learner.chances(model.policy, update.steps.at(update.at_R))
            chance_R = np.take_along_axis(chances_RV, update.taken_R[:, None], axis=1)
            given = (update.taken_R, chances_RV, learner.options.num_draws, rng)
            values_R = set_advantages(method, learner.outcomes, *given)
        learner.learn(model.policy, update.steps, update.lengths, update.ended, rng)
        found = {
            "states": len(values_R),
            "outcomes": len(learner.outcomes),
            "cross_entropy": -np.log(np.maximum(chance_R, LEAST)).mean(),
            "advantage_size": np.sqrt((values_R**2).mean()),
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


def update_of(
    members: Sequence[Member], label: TrajectoryLabel | None, outcomes: Outcomes
) -> Update:
    """Return the steps of members whose outcome is known."""
    steps = [steps_of(one.own.seen_T, one.episode, one.first, label, outcomes) for one in members]
    lengths, ended = [len(one.own) for one in members], np.array([one.outcome for one in members])
    begins = np.cumsum([0, *lengths[:-1]])
    at = [b + time for b, one in zip(begins, members, strict=True) for time in one.times]
    taken_R = np.repeat(ended, [len(one.times) for one in members])
    return Update(joined_steps(steps), lengths, ended, np.array(at, dtype=np.int64), taken_R)


def members_of(
    families: Sequence[Family], reads: tuple[str, ...], vines: Vines, learner: LearnedOutcomes
) -> list[Member]:
    """Return the trunks, and then the vines, with the numbers of their outcomes."""
    found = [(one.trunk, one.trunk, 0, one.times) for one in families]
    for one in families:
        for time, own, whole in zip(one.times, one.vines_BN, one.episodes_BN(), strict=True):
            found += [(vine, episode, time, (0,)) for vine, episode in zip(own, whole, strict=True)]
    members = []
    for trajectory, episode, first, times in found:
        step = learner.options.score_step
        outcome = outcome_of(vines, episode, reads, step) if len(trajectory) else None
        number = -1 if outcome is None else learner.outcomes.number(outcome)
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
        own_T = np.full(len(one.own), np.nan)
        for time, value in known:
            if np.isfinite(value):
                own_T[time : None if window is None else time + window + 1] = value
        segments.append(Segment(one.own, own_T))
    return segments
