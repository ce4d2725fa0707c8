"""Set credit in TRL, short to import: `from setrl.trl import SetGRPOTrainer`."""

from setrl.train.trl import (
    MeanLogprob,
    SetCredit,
    SetGRPOTrainer,
    credit_worker,
    set_credit,
)

__all__ = ["MeanLogprob", "SetCredit", "SetGRPOTrainer", "credit_worker", "set_credit"]
