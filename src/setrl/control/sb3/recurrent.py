"""PolyPPO for policies with a memory, trained on pieces of episodes.

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
from stable_baselines3.common.distributions import Distribution
from stable_baselines3.common.policies import BasePolicy
from torch import Tensor
from typing_extensions import override

from setrl.control.sb3.advantages import Critic, flat
from setrl.control.sb3.buffer import Transitions
from setrl.control.sb3.credit import Segment
from setrl.control.sb3.networks import GRUCnnPolicy, GRUMultiInputPolicy, GRUPolicy
from setrl.control.sb3.poly_ppo import PolyPPO
from setrl.control.trajectories import MEMORY, Trajectory, part, stack
from setrl.support import names


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
    def _evaluated(self, batch: Any, actions: Tensor) -> tuple[Tensor, Tensor, Tensor | None]:
        return self.policy.evaluate_pieces(
            batch.observations, actions, batch.memories, batch.lengths
        )

    @override
    def _distribution(self, policy: Any, batch: Any) -> Distribution:
        after = policy.unroll(batch.observations, batch.memories, batch.lengths)
        return policy.heads(after)[0]
