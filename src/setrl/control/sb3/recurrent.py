"""Policies with a memory: a GRU between features and heads, trained on pieces of episodes.

Stable-Baselines3's door is too narrow for them: its PPO stores no hidden state, its minibatches are
single steps, and sb3-contrib's RecurrentPPO fixes the class of its buffer. So whole episodes are
always collected here, with the memory before each step among the extras of a trajectory: a vine
goes on from what its seed knew. For the update, trajectories are cut into pieces of
`sequence_length` steps; each is unrolled from the memory that was stored at its first step, and
gradients go through the piece.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any, NamedTuple

import numpy as np
import torch
from gymnasium import spaces
from stable_baselines3.common.distributions import Distribution
from stable_baselines3.common.policies import ActorCriticPolicy
from stable_baselines3.common.torch_layers import MlpExtractor
from torch import Tensor, nn

from setrl.control.credit.draw import MEMORY
from setrl.control.credit.segments import Critic, Segment, part
from setrl.control.credit.trajectories import Trajectory, stack
from setrl.control.sb3.buffer import DictSetBuffer, Minibatch, SetBuffer, Transitions
from setrl.control.sb3.poly_ppo import PolyPPO


class GRUPolicy(ActorCriticPolicy):
    """Features → GRU → actor and critic; arXiv:2509.25424 has one on BabyAI.

    Args:
        *arguments: As for Stable-Baselines3's ActorCriticPolicy.
        hidden_size: H, numbers in the memory.
        **named: As for ActorCriticPolicy.
    """

    def __init__(self, *arguments: Any, hidden_size: int = 64, **named: Any):
        self.hidden_size = hidden_size
        super().__init__(*arguments, **{**named, "share_features_extractor": True})

    def _build_mlp_extractor(self) -> None:
        self.gru = nn.GRU(self.features_dim, self.hidden_size).to(self.device)
        self.mlp_extractor = MlpExtractor(
            self.hidden_size, self.net_arch, self.activation_fn, self.device
        )

    def _get_constructor_parameters(self) -> dict[str, Any]:
        return {**super()._get_constructor_parameters(), "hidden_size": self.hidden_size}

    def _features(self, observations: Any) -> Tensor:
        found = self.extract_features(observations)
        assert isinstance(found, Tensor), "actor and critic share their features"
        return found

    def remember(self, observations: Any, memories: Tensor) -> Tensor:
        """The memories (n, H) after n observations, from those before."""
        features = self._features(observations)
        return self.gru(features[None], memories[None].contiguous())[1][0]

    def unroll(self, observations: Any, memories: Tensor, lengths: Sequence[int]) -> Tensor:
        """The memories after each observation of pieces of episodes, (steps, H).

        Args:
            observations: (steps, …), piece after piece.
            memories: (pieces, H), before the first of each.
            lengths: Steps of each piece.
        """
        features = torch.split(self._features(observations), list(lengths))
        packed = nn.utils.rnn.pack_sequence(list(features), enforce_sorted=False)
        padded, _ = nn.utils.rnn.pad_packed_sequence(self.gru(packed, memories[None])[0])
        return torch.cat([padded[:length, place] for place, length in enumerate(lengths)])

    def heads(self, memories: Tensor) -> tuple[Distribution, Tensor]:
        """Distributions of actions, and values (n,), by what is remembered."""
        actor, critic = self.mlp_extractor(memories)
        return self._get_action_dist_from_latent(actor), self.value_net(critic).flatten()

    def evaluate_pieces(
        self, observations: Any, actions: Tensor, memories: Tensor, lengths: Sequence[int]
    ) -> tuple[Tensor, Tensor, Tensor | None]:
        """Values, log-probabilities and entropies of all steps of pieces; see `unroll`."""
        distribution, values = self.heads(self.unroll(observations, memories, lengths))
        return values, distribution.log_prob(actions), distribution.entropy()

    def predict(
        self,
        observation: Any,
        state: tuple[np.ndarray, ...] | None = None,
        episode_start: np.ndarray | None = None,
        deterministic: bool = False,
    ) -> tuple[np.ndarray, tuple[np.ndarray, ...] | None]:
        """Actions and memories after n observations; pass these back as `state`.

        Args:
            observation: One, or n stacked.
            state: What was remembered before; None for nothing.
            episode_start: (n,) true where an episode begins, and what is remembered is forgotten.
            deterministic: Whether to take the likeliest action.
        """
        self.set_training_mode(False)
        seen, is_batch = self.obs_to_tensor(observation)
        count = len(next(iter(seen.values()))) if isinstance(seen, dict) else len(seen)
        known = np.zeros((count, self.hidden_size), np.float32) if state is None else state[0]
        if episode_start is not None:
            known = np.where(np.asarray(episode_start, bool)[:, None], np.float32(0), known)
        with torch.no_grad():
            after = self.remember(seen, torch.as_tensor(known, device=self.device))
            actions = self.heads(after)[0].get_actions(deterministic).cpu().numpy()
        if isinstance(self.action_space, spaces.Box):
            actions = np.clip(actions, self.action_space.low, self.action_space.high)
        return actions if is_batch else actions[0], (after.cpu().numpy(),)


class Pieces(NamedTuple):
    """A minibatch of pieces of episodes: the fields of `Minibatch`, and how to unroll them."""

    observations: Any
    actions: Tensor
    old_values: Tensor
    old_log_prob: Tensor
    advantages: Tensor
    returns: Tensor
    from_sets: Tensor
    memories: Tensor  # (pieces, H) before the first step of each
    lengths: list[int]


class Remembered(NamedTuple):
    """Transitions, with what was remembered before each step and the trajectories' lengths."""

    observations: Any
    actions: np.ndarray
    values: np.ndarray
    log_probs: np.ndarray
    advantages: np.ndarray
    returns: np.ndarray
    from_sets: np.ndarray
    memories: np.ndarray
    lengths: np.ndarray


class _InPieces:
    """A buffer whose minibatches are pieces of at most `sequence_length` steps."""

    sequence_length = 16
    memories: np.ndarray
    lengths: np.ndarray

    def get(self, batch_size: int | None = None) -> Iterator[Pieces]:
        """All pieces in random order, so many at a time that they have `batch_size` steps."""
        pieces = self._pieces()
        chosen: list[np.ndarray] = []
        for place in np.random.permutation(len(pieces)):  # noqa: NPY002 - as PPO's buffers do
            chosen.append(pieces[place])
            if batch_size is not None and sum(map(len, chosen)) >= batch_size:
                yield self._minibatch(chosen)
                chosen = []
        if chosen:
            yield self._minibatch(chosen)

    def _pieces(self) -> list[np.ndarray]:
        """The steps of each piece."""
        ends = np.cumsum(self.lengths)
        spans = [np.arange(end - size, end) for end, size in zip(ends, self.lengths, strict=True)]
        step = self.sequence_length
        return [span[at : at + step] for span in spans for at in range(0, len(span), step)]

    def _minibatch(self, pieces: list[np.ndarray]) -> Pieces:
        steps = np.concatenate(pieces)
        first = self.memories[[piece[0] for piece in pieces]]
        batch: Minibatch = self._get_samples(steps)  # type: ignore[attr-defined]
        return Pieces(*batch, self.to_torch(first), [len(piece) for piece in pieces])  # type: ignore[attr-defined]


class PieceBuffer(_InPieces, SetBuffer):  # type: ignore[misc]
    """For observations that are arrays."""


class DictPieceBuffer(_InPieces, DictSetBuffer):  # type: ignore[misc]
    """For observations that are dicts of arrays."""


class MemoryCritic(Critic):
    """A critic that knows what the policy remembered at each step."""

    policy: GRUPolicy

    def transitions(self, segments: Sequence[Segment]) -> Remembered:  # type: ignore[override]
        """As without memory, and the memory before each step."""
        found: Transitions = super().transitions(segments)
        usable = [segment.trajectory for segment in segments if segment.is_usable]
        memories = np.concatenate([one.extras[MEMORY] for one in usable])
        return Remembered(*found, memories, np.array([len(one) for one in usable]))

    def _evaluate(
        self, segments: Sequence[Segment], observations: Any, actions: np.ndarray
    ) -> tuple[np.ndarray, np.ndarray]:
        memories = np.concatenate([one.trajectory.extras[MEMORY] for one in segments])
        with torch.no_grad():
            after = self._after(observations, memories)
            distribution, values = self.policy.heads(after)
            taken = torch.as_tensor(actions, device=self.policy.device)
            return values.cpu().numpy(), distribution.log_prob(taken).cpu().numpy()

    def _last_values(self, trajectories: Sequence[Trajectory]) -> np.ndarray:
        before = stack([part(one.observations, -2) for one in trajectories])
        reached = stack([part(one.observations, -1) for one in trajectories])
        memories = np.stack([one.extras[MEMORY][-1] for one in trajectories])
        with torch.no_grad():
            known = self._after(before, memories).cpu().numpy()
            return self.policy.heads(self._after(reached, known))[1].cpu().numpy()

    def _after(self, observations: Any, memories: np.ndarray) -> Tensor:
        seen, _ = self.policy.obs_to_tensor(observations)
        return self.policy.remember(seen, torch.as_tensor(memories, device=self.policy.device))


class RecurrentPolyPPO(PolyPPO):
    """PolyPPO for policies with a memory.

    Plain PPO is `Vines(make_env, num_vines=0)` without a method: whole episodes, no vines.

    Args:
        policy: A `GRUPolicy` class.
        env: As for PolyPPO.
        *arguments: As for PolyPPO.
        sequence_length: Steps that gradients go back through.
        **named: As for PolyPPO.
    """

    policy: GRUPolicy

    def __init__(
        self,
        policy: type[GRUPolicy] = GRUPolicy,
        env: Any = None,
        *arguments: Any,
        sequence_length: int = 16,
        **named: Any,
    ):
        if sequence_length < 1:
            raise ValueError(f"sequence_length must be at least 1, got {sequence_length}")
        self.sequence_length = sequence_length
        super().__init__(policy, env, *arguments, **named)

    @property
    def draws_families(self) -> bool:
        """Always: PPO's own collection knows no memory."""
        return True

    def _buffer_class(self) -> type[SetBuffer] | type[DictSetBuffer]:
        return DictPieceBuffer if isinstance(self.observation_space, spaces.Dict) else PieceBuffer

    def _setup_model(self) -> None:
        super()._setup_model()
        self.rollout_buffer.sequence_length = self.sequence_length  # type: ignore[union-attr]

    def _critic(self) -> Critic:
        return MemoryCritic(
            self.policy, self.gamma, self.gae_lambda, self.bonus, self.normalize_advantage
        )

    def _sampled(
        self, observations: Any, places: np.ndarray, memories: list[np.ndarray | None]
    ) -> tuple[np.ndarray, dict[str, np.ndarray]]:
        nothing = np.zeros(self.policy.hidden_size, np.float32)
        known = [memories[place] for place in places]
        before = np.stack([nothing if one is None else one for one in known])
        with torch.no_grad():
            seen, _ = self.policy.obs_to_tensor(observations)
            after = self.policy.remember(seen, torch.as_tensor(before, device=self.device))
            actions = self.policy.heads(after)[0].get_actions().cpu().numpy()
        for place, memory in zip(places, after.cpu().numpy(), strict=True):
            memories[place] = memory
        clipped, extras = self._clipped(actions)
        return clipped, {**extras, MEMORY: before}

    def _entropies(self, seed: Trajectory) -> np.ndarray:
        with torch.no_grad():
            seen, _ = self.policy.obs_to_tensor(part(seed.observations, slice(-1)))
            known = torch.as_tensor(seed.extras[MEMORY], device=self.device)
            entropy = self.policy.heads(self.policy.remember(seen, known))[0].entropy()
            assert entropy is not None
            return entropy.cpu().numpy()

    def _evaluated(self, batch: Any, actions: Tensor) -> tuple[Tensor, Tensor, Tensor | None]:
        return self.policy.evaluate_pieces(
            batch.observations, actions, batch.memories, batch.lengths
        )

    def _distribution(self, policy: Any, batch: Any) -> Distribution:
        after = policy.unroll(batch.observations, batch.memories, batch.lengths)
        return policy.heads(after)[0]
