"""A set critic: set credit from a learned distribution of outcomes, instead of vines."""

from studies.set_critic.outcomes import SetCritic
from studies.set_critic.ppo import SetCriticPPO

__all__ = ["SetCritic", "SetCriticPPO"]
