"""Training language models on set credit: base model, trainer on TRL, one arm of a comparison.

Names are imported when they are first used, so that reading a config needs no PyTorch.
"""

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from setrl.training.batch import ScoredBatch as ScoredBatch
    from setrl.training.callbacks import Recorder as Recorder
    from setrl.training.config import ComparisonConfig as ComparisonConfig
    from setrl.training.rewards import Verifier as Verifier
    from setrl.training.rewards import strategy_label as strategy_label
    from setrl.training.trainer import SetGRPOTrainer as SetGRPOTrainer

_MODULES = {
    "ComparisonConfig": "config",
    "Recorder": "callbacks",
    "ScoredBatch": "batch",
    "SetGRPOTrainer": "trainer",
    "Verifier": "rewards",
    "strategy_label": "rewards",
}
__all__ = list(_MODULES)


def __getattr__(name: str) -> Any:
    if name not in _MODULES:
        raise AttributeError(f"module 'setrl.training' has no attribute {name!r}")
    try:
        module = import_module(f"setrl.training.{_MODULES[name]}")
    except ModuleNotFoundError as error:
        raise ImportError(
            f"setrl.training.{name} needs {error.name}: pip install 'setrl[train]'"
        ) from error
    return getattr(module, name)
