"""A plug-in of pytest: the classes that a suite tests are those with set credit.

It is imported by this name alone (`-p with_credit`), because the suites have a package `tests`.
"""

import trl

from setrl import methods
from setrl.train.trl import SetGRPOTrainer


class GRPOTrainer(SetGRPOTrainer):
    """Takes TRL's arguments only, and credits as TRL does."""

    def __init__(self, *given, **named):
        super().__init__(*given, method=methods.grpo(), stop_rule=None, **named)


trl.GRPOTrainer = trl.trainer.GRPOTrainer = GRPOTrainer
