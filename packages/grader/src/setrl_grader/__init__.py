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

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from setrl_grader.boxes import final_boxes as final_boxes
    from setrl_grader.drop_in import parse as parse
    from setrl_grader.drop_in import verify as verify
    from setrl_grader.errors import GoldError as GoldError
    from setrl_grader.golds import gold_answer as gold_answer
    from setrl_grader.golds import gold_problem as gold_problem
    from setrl_grader.grader import Grader as Grader
    from setrl_grader.grades import Grade as Grade
    from setrl_grader.grades import GradeCounts as GradeCounts
    from setrl_grader.grades import Reason as Reason
    from setrl_grader.math_grader import MathGrader as MathGrader
    from setrl_grader.math_grader import grade as grade
    from setrl_grader.plain import ChoiceGrader as ChoiceGrader
    from setrl_grader.plain import ExactGrader as ExactGrader
    from setrl_grader.plain import NumberGrader as NumberGrader
    from setrl_grader.stated import normal_text as normal_text
    from setrl_grader.stated import stated_answer as stated_answer
    from setrl_grader.trainers import compute_score as compute_score
    from setrl_grader.trainers import inspect_scorer as inspect_scorer
    from setrl_grader.trainers import lighteval_metric as lighteval_metric
    from setrl_grader.trainers import trl_reward as trl_reward
    from setrl_grader.trainers import verifiers_reward as verifiers_reward

__version__ = "0.7.0"

_MODULES = {
    "ChoiceGrader": "plain",
    "ExactGrader": "plain",
    "GoldError": "errors",
    "Grade": "grades",
    "GradeCounts": "grades",
    "Grader": "grader",
    "MathGrader": "math_grader",
    "NumberGrader": "plain",
    "Reason": "grades",
    "compute_score": "trainers",
    "final_boxes": "boxes",
    "gold_answer": "golds",
    "gold_problem": "golds",
    "grade": "math_grader",
    "inspect_scorer": "trainers",
    "lighteval_metric": "trainers",
    "normal_text": "stated",
    "parse": "drop_in",
    "stated_answer": "stated",
    "trl_reward": "trainers",
    "verifiers_reward": "trainers",
    "verify": "drop_in",
}
__all__ = list(_MODULES)


def __getattr__(name: str) -> Any:
    if name not in _MODULES:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    return getattr(import_module(f"{__name__}.{_MODULES[name]}"), name)
