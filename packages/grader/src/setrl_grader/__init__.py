r"""An answer and a gold answer → right, wrong or unreadable, with the reason.

Every comparison has a budget of steps, so that none takes long, and none depends on a clock. It
needs the standard library, and mpmath for roots, trigonometry and the like. docs/grader.md shows it
in trainers.

>>> from setrl_grader import grade
>>> grade(r"Half of it is \boxed{\frac{1}{2}}.", "0.5").correct
True
>>> grade("Half of it is 0.5.", "0.5").reason
<Reason.NO_BOX: 'no box'>
"""

from setrl_grader.grades import Grade, GradeCounts, Grader, Reason
from setrl_grader.math_grader import MathGrader, grade
from setrl_grader.plain import ChoiceGrader, ExactGrader, NumberGrader
from setrl_grader.stated import (
    Gold,
    GoldError,
    final_boxes,
    gold_answer,
    gold_problem,
    normal_text,
    stated_answer,
)
from setrl_grader.trainers import (
    compute_score,
    inspect_scorer,
    lighteval_metric,
    parse,
    trl_reward,
    verifiers_reward,
    verify,
)

__version__ = "0.14.0"

__all__ = [
    "ChoiceGrader",
    "ExactGrader",
    "Gold",
    "GoldError",
    "Grade",
    "GradeCounts",
    "Grader",
    "MathGrader",
    "NumberGrader",
    "Reason",
    "compute_score",
    "final_boxes",
    "gold_answer",
    "gold_problem",
    "grade",
    "inspect_scorer",
    "lighteval_metric",
    "normal_text",
    "parse",
    "stated_answer",
    "trl_reward",
    "verifiers_reward",
    "verify",
]
