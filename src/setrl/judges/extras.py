"""Packages that only some judges need."""

from __future__ import annotations

from importlib import import_module
from typing import Any


def load(module: str, extra: str) -> Any:
    """A module that an extra installs.

    Raises:
        ImportError: Naming the pip command, where it is not installed.
    """
    try:
        return import_module(module)
    except ImportError as error:
        raise ImportError(f"this judge needs {error.name}: pip install 'setrl[{extra}]'") from error
