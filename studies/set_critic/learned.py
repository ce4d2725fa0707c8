"""How an episode will end, learned from what it did so far: P(y | s) of a set critic."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np
import torch
from stable_baselines3.common.policies import ActorCriticPolicy
from torch import Tensor, nn
from torch.nn import functional

from setrl.control.labels import TrajectoryLabel
from setrl.control.trajectories import Trajectory, concatenated, part
from studies.set_critic.outcomes import Outcomes, SetCritic

CAPACITY = 64  # outcomes and labels for which the network has room at first; doubled when needed
FLOOR = 0.01  # the count of an outcome that the last updates did not have
CHUNK = 4096  # steps that the network evaluates in one batch


def beginning(trajectory: Trajectory, time: int) -> Trajectory:
    """Return the steps before `time`; the episode is still open there."""
    return Trajectory(
        observations=part(trajectory.observations, slice(time + 1)),
        actions_T=trajectory.actions_T[:time],
        rewards_T=trajectory.rewards_T[:time],
        infos=trajectory.infos[: time + 1],
        terminated=False,
        truncated=False,
    )


class Steps(NamedTuple):
    """What the critic sees at n steps of episodes.

    Attributes:
        observations: (n, …), as the policy saw them.
        labels_n: The number of the label of the episode so far, −1 for none.
        past_n2: The sum of the rewards so far, and log(1 + steps so far).
    """

    observations: Any
    labels_n: np.ndarray
    past_n2: np.ndarray

    def at(self, where: Any) -> Steps:
        """Return some of the steps."""
        return Steps(part(self.observations, where), self.labels_n[where], self.past_n2[where])


def steps_of(
    observations: Any,
    episode: Trajectory,
    first: int,
    label: TrajectoryLabel | None,
    outcomes: Outcomes,
) -> Steps:
    """Return the steps of an episode from step `first` on; the observations are of these steps.

    An outcome belongs to the whole episode, so what came before `first` counts as well.
    """
    times = range(first, len(episode))
    labels = [None if label is None else label(beginning(episode, time)) for time in times]
    so_far_T = np.concatenate([[0.0], np.cumsum(episode.rewards_T)])[first : len(episode)]
    return Steps(
        observations,
        np.array([outcomes.label(one) for one in labels], dtype=np.int64),
        np.stack([so_far_T, np.log1p(np.array(times))], axis=1).astype(np.float32),
    )


def joined_steps(steps: Sequence[Steps]) -> Steps:
    """Join steps of several episodes."""
    observations, labels, past = zip(*steps, strict=True)
    return Steps(concatenated(observations), np.concatenate(labels), np.concatenate(past))


class LearnedOutcomes:
    """A network and counts that together give P(y | s); see `SetCritic` for the equation.

    It belongs to one model, and is saved with it.

    Args:
        options: How it learns.
        policy: The policy, whose kind of feature extractor the network has, with own weights.
        seed: Decides the first weights.
    """

    def __init__(self, options: SetCritic, policy: ActorCriticPolicy, seed: int) -> None:
        self.options, self.outcomes = options, Outcomes()
        self.count_V = np.zeros(0)
        with torch.random.fork_rng(devices=[]):
            torch.manual_seed(seed)
            self.net = _Net(policy, options.hidden).to(policy.device)
        self._optimise()

    def chances(self, policy: ActorCriticPolicy, steps: Steps) -> np.ndarray:
        """P(y | s) at n steps, for the V outcomes seen so far: (n, V)."""
        prior_V, total = self._prior(), len(steps.labels_n)
        self.net.eval()
        with torch.no_grad():
            found = [
                torch.softmax(self._logits(policy, steps.at(slice(at, at + CHUNK)), prior_V), dim=1)
                for at in range(0, total, CHUNK)
            ]
        return torch.cat(found).double().cpu().numpy()

    def learn(
        self,
        policy: ActorCriticPolicy,
        steps: Steps,
        lengths: Sequence[int],
        ended: np.ndarray,
        rng: np.random.Generator,
    ) -> None:
        """Learn from the steps of an update.

        Args:
            policy: Prepares observations.
            steps: The steps, episode after episode.
            lengths: Steps of each episode.
            ended: The number of the outcome of each episode.
            rng: Orders the steps.
        """
        self.count_V = self.options.memory * self._counts()
        self.count_V += np.bincount(ended, minlength=len(self.outcomes))
        if self.net.grow(max(len(self.outcomes), len(self.outcomes.labels))):
            self._optimise()
        taken_n = torch.as_tensor(np.repeat(ended, lengths), device=policy.device)
        prior_V, size = self._prior(), self.options.batch_size
        self.net.train()
        for _ in range(self.options.epochs):
            order = rng.permutation(len(taken_n))
            for batch in (order[at : at + size] for at in range(0, len(order), size)):
                logits = self._logits(policy, steps.at(batch), prior_V)
                self.optimiser.zero_grad()
                functional.cross_entropy(logits, taken_n[batch]).backward()
                self.optimiser.step()

    def _counts(self) -> np.ndarray:
        """c(y) of all outcomes seen, (V,): 0 for those that were not learned yet."""
        return np.pad(self.count_V, (0, len(self.outcomes) - len(self.count_V)))

    def _prior(self) -> Tensor:
        """Log c(y), (V,)."""
        return torch.log(torch.as_tensor(self._counts() + FLOOR, dtype=torch.float32))

    def _logits(self, policy: ActorCriticPolicy, steps: Steps, prior_V: Tensor) -> Tensor:
        """Log c(y) + g(s, y), (n, V)."""
        seen, _ = policy.obs_to_tensor(steps.observations)
        # An episode may have a label so far for which the network has no room before it learns.
        labels = np.where(steps.labels_n < self.net.capacity, steps.labels_n + 1, 0)
        given = (torch.as_tensor(each, device=policy.device) for each in (labels, steps.past_n2))
        logits = self.net(policy, seen, *given)
        room = len(prior_V) - logits.shape[1]
        if room > 0:
            logits = functional.pad(logits, (0, room))
        return logits[:, : len(prior_V)] + prior_V.to(logits.device)

    def _optimise(self) -> None:
        self.optimiser = torch.optim.Adam(self.net.parameters(), lr=self.options.learning_rate)


class _Net(nn.Module):
    """g(s, y): features of the observation and the past → a number for each outcome, 0 at first."""

    def __init__(self, policy: ActorCriticPolicy, hidden: int) -> None:
        super().__init__()
        self.features = policy.make_features_extractor()
        self.first = nn.Linear(self.features.features_dim + 2, hidden)
        self.second = nn.Linear(hidden, hidden)
        self.labels = _zeros(nn.Embedding(CAPACITY + 1, hidden))
        self.head = _zeros(nn.Linear(hidden, CAPACITY))

    @property
    def capacity(self) -> int:
        """Outcomes and labels for which it has room."""
        return self.head.out_features

    def forward(
        self, policy: ActorCriticPolicy, observations: Any, labels: Tensor, past: Tensor
    ) -> Tensor:
        found: Any = policy.extract_features(observations, self.features)
        hidden = torch.tanh(self.first(torch.cat([found, past], dim=1)) + self.labels(labels))
        return self.head(torch.tanh(self.second(hidden)))

    def grow(self, wanted: int) -> bool:
        """Make room for more outcomes and labels, with g = 0 for them; return whether it did."""
        if wanted <= self.capacity:
            return False
        size, hidden = 2 * wanted, self.head.in_features
        head, labels = self.head, self.labels
        self.head, self.labels = nn.Linear(hidden, size), nn.Embedding(size + 1, hidden)
        for new, old in ((self.head, head), (self.labels, labels)):
            _zeros(new)
            for name, value in old.named_parameters():
                getattr(new, name).data[: len(value)] = value.data
        self.to(head.weight.device)
        return True


def _zeros(layer: nn.Module) -> Any:
    for one in layer.parameters():
        nn.init.zeros_(one)
    return layer
