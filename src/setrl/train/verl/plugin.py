"""What verl imports through the entry point `verl.plugins`: it registers setrl in verl.

verl writes an error of a plug-in only to its debug log. `setrl verl check` says whether this
worked, and if not, why.
"""

from __future__ import annotations

from verl.trainer.ppo.core_algos import register_adv_est

from setrl.train.verl import estimators
from setrl.train.verl.trainer import trainer_with_credit

for _name in estimators.names_of_estimators():
    register_adv_est(_name)(estimators.make_estimator(_name))

import transfer_queue  # noqa: E402  # estimators work without it, trainers do not
from verl.trainer.ppo.v1 import get_trainer_cls, register_trainer  # noqa: E402

for _mode in estimators.MODES:
    register_trainer(f"{estimators.PREFIX}_{_mode}")(
        trainer_with_credit(get_trainer_cls(_mode), _mode, transfer_queue)
    )
