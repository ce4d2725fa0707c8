"""Comparisons of methods: every arm with every seed, their evaluation, and the report.

>>> from setrl.comparison import run_comparison
"""

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from setrl.comparison.run import run_comparison as run_comparison

__all__ = ["run_comparison"]


def __getattr__(name: str) -> Any:
    if name not in __all__:
        raise AttributeError(f"module 'setrl.comparison' has no attribute {name!r}")
    try:
        from setrl.comparison.run import run_comparison
    except ModuleNotFoundError as error:
        raise ImportError(
            f"setrl.comparison needs {error.name}: pip install 'setrl[train]'"
        ) from error
    return run_comparison
