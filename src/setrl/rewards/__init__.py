"""Sample → reward: is the boxed answer right, and how rewards are put together."""

from setrl.rewards.grades import Counts, Grade, Reason
from setrl.rewards.math_answer import MathAnswer as math_answer  # noqa: N813  a value, used as one

__all__ = ["Counts", "Grade", "Reason", "math_answer"]
