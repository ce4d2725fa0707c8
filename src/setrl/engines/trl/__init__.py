"""Set credit in TRL.

Names are imported when they are first used.
"""

from typing import TYPE_CHECKING

from setrl.names import imported_on_demand

if TYPE_CHECKING:
    from setrl.engines.trl.asynchronous import credit_worker as credit_worker
    from setrl.engines.trl.policy import MeanLogprob as MeanLogprob
    from setrl.engines.trl.trainer import SetCredit as SetCredit
    from setrl.engines.trl.trainer import SetGRPOTrainer as SetGRPOTrainer
    from setrl.engines.trl.trainer import set_credit as set_credit

_MODULES = {
    "MeanLogprob": "setrl.engines.trl.policy",
    "SetCredit": "setrl.engines.trl.trainer",
    "SetGRPOTrainer": "setrl.engines.trl.trainer",
    "credit_worker": "setrl.engines.trl.asynchronous",
    "set_credit": "setrl.engines.trl.trainer",
}
__all__ = list(_MODULES)

__getattr__ = imported_on_demand(__name__, _MODULES, "train")
