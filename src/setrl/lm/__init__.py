"""Arms of language models: base model, config, one training run, and comparisons of several.

Names are imported when they are first used: reading a config needs no PyTorch.
"""

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from setrl.lm.callbacks import Recorder as Recorder
    from setrl.lm.config import ComparisonConfig as ComparisonConfig
    from setrl.lm.run import run_comparison as run_comparison
    from setrl.rewards.from_domain import Verifier as Verifier
    from setrl.rewards.from_domain import strategy_label as strategy_label

_MODULES = {
    "ComparisonConfig": "setrl.lm.config",
    "Recorder": "setrl.lm.callbacks",
    "Verifier": "setrl.rewards.from_domain",
    "run_comparison": "setrl.lm.run",
    "strategy_label": "setrl.rewards.from_domain",
}
__all__ = list(_MODULES)


def __getattr__(name: str) -> Any:
    if name not in _MODULES:
        raise AttributeError(f"module 'setrl.lm' has no attribute {name!r}")
    try:
        module = import_module(_MODULES[name])
    except ModuleNotFoundError as error:
        raise ImportError(
            f"setrl.lm.{name} needs {error.name}: pip install 'setrl[train]'"
        ) from error
    return getattr(module, name)
