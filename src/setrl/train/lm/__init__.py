"""Arms of language models: base model, config, one training run, and comparisons of several.

Names are imported when they are first used: reading a config needs no PyTorch.
"""

from typing import TYPE_CHECKING

from setrl.support.names import imported_on_demand

if TYPE_CHECKING:
    from setrl.tasks.domains.verifier import Verifier as Verifier
    from setrl.tasks.domains.verifier import strategy_label as strategy_label
    from setrl.train.lm.callbacks import Recorder as Recorder
    from setrl.train.lm.config import ComparisonConfig as ComparisonConfig
    from setrl.train.lm.resolved import ResolvedConfig as ResolvedConfig
    from setrl.train.lm.resolved import resolve as resolve
    from setrl.train.lm.run import run_comparison as run_comparison

_MODULES = {
    "ComparisonConfig": "setrl.train.lm.config",
    "Recorder": "setrl.train.lm.callbacks",
    "ResolvedConfig": "setrl.train.lm.resolved",
    "Verifier": "setrl.tasks.domains.verifier",
    "resolve": "setrl.train.lm.resolved",
    "run_comparison": "setrl.train.lm.run",
    "strategy_label": "setrl.tasks.domains.verifier",
}
__all__ = list(_MODULES)

__getattr__ = imported_on_demand(__name__, _MODULES, "train")
