"""Arms of language models: base model, config, one training run, and comparisons of several.

Names are imported when they are first used: reading a config needs no PyTorch.
"""

from typing import TYPE_CHECKING

from setrl.names import imported_on_demand

if TYPE_CHECKING:
    from setrl.lm.callbacks import Recorder as Recorder
    from setrl.lm.config import ComparisonConfig as ComparisonConfig
    from setrl.lm.resolved import ResolvedConfig as ResolvedConfig
    from setrl.lm.resolved import resolve as resolve
    from setrl.lm.run import run_comparison as run_comparison
    from setrl.rewards.from_domain import Verifier as Verifier
    from setrl.rewards.from_domain import strategy_label as strategy_label

_MODULES = {
    "ComparisonConfig": "setrl.lm.config",
    "Recorder": "setrl.lm.callbacks",
    "ResolvedConfig": "setrl.lm.resolved",
    "Verifier": "setrl.rewards.from_domain",
    "resolve": "setrl.lm.resolved",
    "run_comparison": "setrl.lm.run",
    "strategy_label": "setrl.rewards.from_domain",
}
__all__ = list(_MODULES)

__getattr__ = imported_on_demand(__name__, _MODULES, "train")
