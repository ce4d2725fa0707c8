"""`PolyPPO` with a set critic: trunks are credited, and no vines are sampled."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any

from stable_baselines3.common.callbacks import BaseCallback
from typing_extensions import override

from setrl.control.sb3.credit import Segment
from setrl.control.sb3.families import Family, rollout_times
from setrl.control.sb3.poly_ppo import PolyPPO
from setrl.control.sb3.vines import Vines
from setrl.core.advantages import AnyMethod
from studies.set_critic.outcomes import SetCritic
from studies.set_critic.trunks import TrunkCredit


class SetCriticPPO(PolyPPO):
    """PPO whose trunks have set advantages, from a learned distribution of outcomes.

    `Vines(num_vines=0)` says at which states of a trunk there is credit, and how long it lasts.

    Args:
        policy: The argument of PPO.
        env: The argument of PPO.
        method: The worth of sets.
        vines: The choices, without vines.
        critic: A `SetCritic`, or its arguments.
        **options: Arguments of `PolyPPO`.
    """

    credit: TrunkCredit | None = None

    def __init__(
        self,
        policy: Any,
        env: Any,
        method: AnyMethod | None = None,
        vines: Vines | None = None,
        *,
        critic: SetCritic | Mapping[str, Any] | None = None,
        **options: Any,
    ):
        self.critic = critic if isinstance(critic, SetCritic) else SetCritic(**(critic or {}))
        if method is not None:
            self.critic.check(method)
        super().__init__(policy, env, method, vines, **options)

    @property
    @override
    def samples_families(self) -> bool:
        """Whether whole episodes are collected: always, if there are states with credit."""
        return self.vines is not None and self.vines.num_states != 0

    @override
    def _families(self, vines: Vines, num_steps: int, callback: BaseCallback) -> list[Family]:
        """Sample trunks, and choose the states at which they are credited."""
        return [self._with_times(one) for one in super()._families(vines, num_steps, callback)]

    def _with_times(self, family: Family) -> Family:
        assert self.vines is not None
        choices = self.vines.num_states, self.vines.where, self.vine_rng
        times = tuple(rollout_times(len(family.trunk), *choices))
        return replace(family, times=times, vines_BN=((),) * len(times))

    @override
    def _segments(
        self, vines: Vines, families: Sequence[Family], callback: BaseCallback
    ) -> list[Segment]:
        self.credit = self.credit or TrunkCredit(self.critic, self.policy, self.seed or 0)
        segments, values = self.credit(self, families, vines)
        self._record(values)
        return segments
