"""Policies with a memory: a GRU between features and heads, trained on pieces of episodes.

Stable-Baselines3's PPO cannot train them: it stores no hidden state, its minibatches are single
steps, and sb3-contrib's RecurrentPPO fixes the class of its buffer. So this module always collects
whole episodes, with the memory before each step among the extras of a trajectory: a vine continues
with the memory of its trunk. For the update, trajectories are cut into pieces of `sequence_length`
steps; each piece is unrolled from the memory that was stored at its first step, and gradients flow
through the piece. The stored memory was computed by the weights that sampled the batch; it is a
constant in the loss: the gradient is cut at the start of the piece.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, ClassVar

import numpy as np
import torch
from gymnasium import spaces
from stable_baselines3.common.distributions import Distribution
from stable_baselines3.common.policies import ActorCriticPolicy, BasePolicy
from stable_baselines3.common.torch_layers import CombinedExtractor, MlpExtractor, NatureCNN
from torch import Tensor, nn
from typing_extensions import override

from setrl.control.credit.assign import Segment
from setrl.control.credit.trajectories import MEMORY, Trajectory, part, stack
from setrl.control.sb3.buffer import Transitions
from setrl.control.sb3.critic import Critic, flat
from setrl.control.sb3.poly_ppo import PolyPPO
from setrl.support import names


class GRUPolicy(ActorCriticPolicy):
    """Features → GRU → actor and critic; arXiv:2509.25424 has one on BabyAI.

    Args:
        *arguments: As for Stable-Baselines3's ActorCriticPolicy.
        hidden_size: H, the number of values in the memory.
        **named: As for ActorCriticPolicy.
    """

    def __init__(self, *arguments: Any, hidden_size: int = 64, **named: Any):
        self.hidden_size = hidden_size
        super().__init__(*arguments, **{**named, "share_features_extractor": True})

    @override
    def _build_mlp_extractor(self) -> None:
        self.gru = nn.GRU(self.features_dim, self.hidden_size).to(self.device)
        self.mlp_extractor = MlpExtractor(
            self.hidden_size, self.net_arch, self.activation_fn, self.device
        )

    @override
    def _get_constructor_parameters(self) -> dict[str, Any]:
        return {**super()._get_constructor_parameters(), "hidden_size": self.hidden_size}

    def _features(self, observations: Any) -> Tensor:
        found = self.extract_features(observations)
        assert isinstance(found, Tensor), "actor and critic share their features"
        return found

    def remember(self, observations: Any, memories: Tensor) -> Tensor:
        """Return the memories (n, H) after n observations, from the memories before."""
        features = self._features(observations)
        return self.gru(features[None], memories[None].contiguous())[1][0]

    def remembered(self, observations: Any, memories: np.ndarray) -> Tensor:
        """Call `remember` with arrays."""
        seen, _ = self.obs_to_tensor(observations)
        return self.remember(seen, torch.as_tensor(memories, device=self.device))

    def unroll(self, observations: Any, memories: Tensor, lengths: Sequence[int]) -> Tensor:
        """Return the memories after each observation of pieces of episodes, (steps, H).

        Args:
            observations: (steps, …), piece after piece.
            memories: (pieces, H), before the first observation of each piece.
            lengths: Steps of each piece.
        """
        # Features of all steps in one batch; only the GRU goes step by step, over all pieces
        # together. Packing lets pieces of different lengths end without padding steps.
        features = torch.split(self._features(observations), list(lengths))
        packed = nn.utils.rnn.pack_sequence(list(features), enforce_sorted=False)
        padded, _ = nn.utils.rnn.pad_packed_sequence(self.gru(packed, memories[None])[0])
        return torch.cat([padded[:length, place] for place, length in enumerate(lengths)])

    def heads(self, memories: Tensor) -> tuple[Distribution, Tensor]:
        """Return distributions of actions, and values (n,), for memories."""
        actor, critic = self.mlp_extractor(memories)
        return self._get_action_dist_from_latent(actor), self.value_net(critic).flatten()

    def evaluate_pieces(
        self, observations: Any, actions: Tensor, memories: Tensor, lengths: Sequence[int]
    ) -> tuple[Tensor, Tensor, Tensor | None]:
        """Return values, log-probabilities and entropies of all steps of pieces; see `unroll`."""
        distribution, values = self.heads(self.unroll(observations, memories, lengths))
        return values, distribution.log_prob(actions), distribution.entropy()

    @override
    def predict(
        self,
        observation: Any,
        state: tuple[np.ndarray, ...] | None = None,
        episode_start: np.ndarray | None = None,
        deterministic: bool = False,
    ) -> tuple[np.ndarray, tuple[np.ndarray, ...] | None]:
        """Return actions and memories after n observations; pass the memories back as `state`.

        Args:
            observation: One observation, or n stacked ones.
            state: The memories before; None: empty memories.
            episode_start: (n,) true where an episode begins and the memory is cleared.
            deterministic: Whether to take the most probable action.
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
            actions = actions.reshape(-1, *self.action_space.shape)
            actions = np.clip(actions, self.action_space.low, self.action_space.high)
        return actions if is_batch else actions[0], (after.cpu().numpy(),)


class GRUCnnPolicy(GRUPolicy):
    """A `GRUPolicy` that extracts features from pictures."""

    def __init__(self, *arguments: Any, **named: Any):
        super().__init__(*arguments, **{"features_extractor_class": NatureCNN, **named})


class GRUMultiInputPolicy(GRUPolicy):
    """A `GRUPolicy` that extracts features from observations that are dicts."""

    def __init__(self, *arguments: Any, **named: Any):
        super().__init__(*arguments, **{"features_extractor_class": CombinedExtractor, **named})


def _check_policy(policy: Any) -> None:
    if isinstance(policy, str):
        names.look_up("policy", policy, RecurrentPolyPPO.policy_aliases)
    elif not (isinstance(policy, type) and issubclass(policy, GRUPolicy)):
        raise ValueError(f"a policy with a memory is GRUPolicy or a subclass, got {policy!r:.80}")


class MemoryCritic(Critic):
    """A critic that has the policy's memory at each step."""

    policy: GRUPolicy

    @override
    def transitions(self, segments: Sequence[Segment]) -> Transitions:
        usable = [segment for segment in segments if segment.is_usable]
        found = super().transitions(segments)
        lengths = np.array([len(one.trajectory) for one in usable])
        return found._replace(memories=_memories(usable), lengths=lengths)

    @override
    def _evaluate(
        self, segments: Sequence[Segment], observations: Any, actions: np.ndarray
    ) -> tuple[np.ndarray, np.ndarray]:
        with torch.no_grad():
            after = self.policy.remembered(observations, _memories(segments))
            distribution, values = self.policy.heads(after)
            taken = torch.as_tensor(flat(actions), device=self.policy.device)
            return values.cpu().numpy(), distribution.log_prob(taken).cpu().numpy()

    @override
    def _last_values(self, trajectories: Sequence[Trajectory]) -> np.ndarray:
        # The last stored memory is the one before the last action. From there, two observations
        # lead to the wanted value: the one before that action, and the one after it.
        before = stack([part(one.seen_T, -1) for one in trajectories])
        reached = self.normaliser.seen(stack([part(one.observations, -1) for one in trajectories]))
        memories = np.stack([one.extras[MEMORY][-1] for one in trajectories])
        with torch.no_grad():
            known = self.policy.remembered(before, memories).cpu().numpy()
            return self.policy.heads(self.policy.remembered(reached, known))[1].cpu().numpy()


def _memories(segments: Sequence[Segment]) -> np.ndarray:
    """Return the memory before each step of segments, (steps, H)."""
    return np.concatenate([one.trajectory.extras[MEMORY] for one in segments])


class RecurrentPolyPPO(PolyPPO):
    """PolyPPO for policies with a memory.

    For plain PPO, pass `Vines(make_env, num_vines=0)` without a method: whole episodes, no vines.

    Args:
        policy: `GRUPolicy`, a subclass of it, or "MlpPolicy", "CnnPolicy" or "MultiInputPolicy":
            `GRUPolicy` with the features that Stable-Baselines3 takes under this name.
        env: The argument of PolyPPO.
        *arguments: As for PolyPPO.
        sequence_length: Steps through which gradients flow back.
        **named: As for PolyPPO.
    """

    policy: GRUPolicy
    critic_class = MemoryCritic
    policy_aliases: ClassVar[dict[str, type[BasePolicy]]] = {
        "MlpPolicy": GRUPolicy,
        "CnnPolicy": GRUCnnPolicy,
        "MultiInputPolicy": GRUMultiInputPolicy,
    }

    def __init__(
        self,
        policy: str | type[GRUPolicy] = GRUPolicy,
        env: Any = None,
        *arguments: Any,
        sequence_length: int = 16,
        **named: Any,
    ):
        if sequence_length < 1:
            raise ValueError(f"sequence_length must be at least 1, got {sequence_length}")
        _check_policy(policy)
        self.sequence_length = sequence_length
        super().__init__(policy, env, *arguments, **named)

    @property
    @override
    def samples_families(self) -> bool:
        """Always true: PPO's own collection has no memory."""
        return True

    @override
    def _setup_model(self) -> None:
        super()._setup_model()
        self.rollout_buffer.sequence_length = self.sequence_length

    @override
    def _sampled(
        self, observations: Any, places: np.ndarray, memories: list[np.ndarray | None]
    ) -> tuple[np.ndarray, dict[str, np.ndarray]]:
        empty = np.zeros(self.policy.hidden_size, np.float32)
        known = [memories[place] for place in places]
        before = np.stack([empty if one is None else one for one in known])
        with torch.no_grad():
            after = self.policy.remembered(observations, before)
            actions = self.policy.heads(after)[0].get_actions().cpu().numpy()
        for place, memory in zip(places, after.cpu().numpy(), strict=True):
            memories[place] = memory
        clipped, extras = self._clipped(actions)
        return clipped, {**extras, MEMORY: before}

    @override
    def _distribution_along(self, trunk: Trajectory) -> Distribution:
        return self.policy.heads(self.policy.remembered(trunk.seen_T, trunk.extras[MEMORY]))[0]

    @override
    def _evaluated(self, batch: Any, actions: Tensor) -> tuple[Tensor, Tensor, Tensor | None]:
        return self.policy.evaluate_pieces(
            batch.observations, actions, batch.memories, batch.lengths
        )

    @override
    def _distribution(self, policy: Any, batch: Any) -> Distribution:
        after = policy.unroll(batch.observations, batch.memories, batch.lengths)
        return policy.heads(after)[0]
