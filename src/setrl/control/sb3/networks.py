"""Policies with a memory: a GRU between features and heads."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
import torch
from gymnasium import spaces
from stable_baselines3.common.distributions import Distribution
from stable_baselines3.common.policies import ActorCriticPolicy
from stable_baselines3.common.torch_layers import CombinedExtractor, MlpExtractor, NatureCNN
from torch import Tensor, nn
from typing_extensions import override


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
