r"""An answer and a gold answer → right, wrong or unreadable, with the reason.

It compares most answers at once, and roots, trigonometry and the like in processes that it can
kill; these need mpmath, all else the standard library only. It imports nothing else of setrl but
`errors` and `installing`. docs/grader.md shows it in trainers of others.

>>> from setrl.grading import grade
>>> grade(r"Half of it is \boxed{\frac{1}{2}}.", "0.5").correct
True
>>> grade("Half of it is 0.5.", "0.5").reason
<Reason.NO_BOX: 'no box'>
"""

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from setrl.grading.drop_in import parse as parse
    from setrl.grading.drop_in import verify as verify
    from setrl.grading.grader import Grader as Grader
    from setrl.grading.grades import Grade as Grade
    from setrl.grading.grades import GradeCounts as GradeCounts
    from setrl.grading.grades import Reason as Reason
    from setrl.grading.math_grader import MathGrader as MathGrader
    from setrl.grading.math_grader import grade as grade
    from setrl.grading.plain import ChoiceGrader as ChoiceGrader
    from setrl.grading.plain import ExactGrader as ExactGrader
    from setrl.grading.plain import NumberGrader as NumberGrader
    from setrl.grading.trainers import compute_score as compute_score
    from setrl.grading.trainers import inspect_scorer as inspect_scorer
    from setrl.grading.trainers import lighteval_metric as lighteval_metric
    from setrl.grading.trainers import trl_reward as trl_reward
    from setrl.grading.trainers import verifiers_reward as verifiers_reward

_MODULES = {
    "ChoiceGrader": "plain",
    "ExactGrader": "plain",
    "Grade": "grades",
    "GradeCounts": "grades",
    "Grader": "grader",
    "MathGrader": "math_grader",
    "NumberGrader": "plain",
    "Reason": "grades",
    "compute_score": "trainers",
    "grade": "math_grader",
    "inspect_scorer": "trainers",
    "lighteval_metric": "trainers",
    "parse": "drop_in",
    "trl_reward": "trainers",
    "verifiers_reward": "trainers",
    "verify": "drop_in",
}
__all__ = list(_MODULES)


def __getattr__(name: str) -> Any:
    if name not in _MODULES:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    return getattr(import_module(f"{__name__}.{_MODULES[name]}"), name)
