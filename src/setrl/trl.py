"""Set credit in TRL, short to import: `from setrl.trl import SetGRPOTrainer`."""

from setrl.train.trl import *  # noqa: F403
