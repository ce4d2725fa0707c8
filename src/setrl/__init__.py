"""setrl: train policies on what their samples are worth together.

>>> import numpy as np, setrl
>>> method = setrl.methods.poly_epo(set_size=2)
>>> rewards, strategies = np.array([[1.0, 1, 1, 0]]), np.array([[0, 0, 1, 2]])
>>> setrl.set_advantages(rewards, method, strategies=strategies).values_BN.round(3)
array([[ 0.   ,  0.   ,  0.167, -0.167]])
"""

# Names are imported when they are first used (PEP 562), because a part of setrl such as
# `setrl.support` then needs neither NumPy nor the time that the core takes.

from importlib import import_module
from typing import TYPE_CHECKING, Any

from setrl.support import short_names

if TYPE_CHECKING:
    from setrl.core import credit as credit
    from setrl.core import methods as methods
    from setrl.core import objectives as objectives
    from setrl.core import schedules as schedules
    from setrl.core.advantages import Advantages as Advantages
    from setrl.core.advantages import AnyMethod as AnyMethod
    from setrl.core.advantages import Method as Method
    from setrl.core.advantages import grouped_advantages as grouped_advantages
    from setrl.core.advantages import set_advantages as set_advantages
    from setrl.core.check_objective import ObjectiveReport as ObjectiveReport
    from setrl.core.check_objective import check_objective as check_objective
    from setrl.core.inputs import Fields as Fields
    from setrl.core.mean_scores import mean_set_scores as mean_set_scores
    from setrl.samples.samples import Samples as Samples
    from setrl.samples.values import DEGENERATE as DEGENERATE

__version__ = "0.14.0"

_MODULES = {
    "DEGENERATE": "samples.values",
    "Advantages": "core.advantages",
    "AnyMethod": "core.advantages",
    "Fields": "core.inputs",
    "Method": "core.advantages",
    "ObjectiveReport": "core.check_objective",
    "Samples": "samples.samples",
    "check_objective": "core.check_objective",
    "credit": "core.credit",
    "grouped_advantages": "core.advantages",
    "mean_set_scores": "core.mean_scores",
    "methods": "core.methods",
    "objectives": "core.objectives",
    "schedules": "core.schedules",
    "set_advantages": "core.advantages",
}
__all__ = list(_MODULES)
short_names.install(
    {
        f"setrl.{one}": f"setrl.core.{one}"
        for one in ("credit", "methods", "objectives", "schedules")
    }
)


def __getattr__(name: str) -> Any:
    if name not in _MODULES:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    module = import_module(f"setrl.{_MODULES[name]}")
    value = globals()[name] = getattr(module, name, module)
    return value


def __dir__() -> list[str]:
    return sorted({*globals(), *_MODULES})
