"""Set credit in TRL.

Names are imported when they are first used.
"""

from typing import TYPE_CHECKING

from setrl.support.names import imported_on_demand

if TYPE_CHECKING:
    from setrl.train.trl.asynchronous import credit_worker as credit_worker
    from setrl.train.trl.policy import MeanLogprob as MeanLogprob
    from setrl.train.trl.trainer import SetCredit as SetCredit
    from setrl.train.trl.trainer import SetGRPOTrainer as SetGRPOTrainer
    from setrl.train.trl.trainer import set_credit as set_credit

_MODULES = {
    "MeanLogprob": "setrl.train.trl.policy",
    "SetCredit": "setrl.train.trl.trainer",
    "SetGRPOTrainer": "setrl.train.trl.trainer",
    "credit_worker": "setrl.train.trl.asynchronous",
    "set_credit": "setrl.train.trl.trainer",
}
__all__ = list(_MODULES)

__getattr__ = imported_on_demand(__name__, _MODULES, "train")
