"""A set critic: set credit from a learned distribution of outcomes, in place of vines."""

from studies.set_critic.outcomes import SetCritic

__all__ = ["SetCritic"]
