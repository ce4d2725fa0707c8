"""What verl imports through the entry point `verl.plugins`: it registers setrl in verl.

verl writes an error of a plug-in to its debug log alone. `setrl verl check` says whether this
worked, and if not, why.
"""

from __future__ import annotations

from verl.trainer.ppo.core_algos import register_adv_est

from setrl.engines import verl

for _name in verl.names_of_estimators():
    register_adv_est(_name)(verl.estimator(_name))

import transfer_queue  # noqa: E402  # estimators work without it, trainers do not
from verl.trainer.ppo.v1 import get_trainer_cls, register_trainer  # noqa: E402

for _mode in verl.MODES:
    register_trainer(f"{verl.PREFIX}_{_mode}")(
        verl.credited(get_trainer_cls(_mode), _mode, transfer_queue)
    )
