"""Modules under a shorter name: `import setrl.methods` is `import setrl.core.methods`."""

from __future__ import annotations

import sys
from collections.abc import Mapping, Sequence
from importlib import import_module
from importlib.abc import Loader, MetaPathFinder
from importlib.machinery import ModuleSpec
from types import ModuleType


class ShortNames(MetaPathFinder, Loader):
    """Gives modules further names; each stays one module, which is loaded when it is asked for.

    Args:
        modules: Short name → name of the module.
    """

    def __init__(self, modules: Mapping[str, str]):
        self._modules = modules
        self._spec_of: dict[str, ModuleSpec | None] = {}

    def find_spec(
        self, name: str, path: Sequence[str] | None, target: ModuleType | None = None
    ) -> ModuleSpec | None:
        """Return how a short name is loaded; None for another name."""
        return ModuleSpec(name, self) if name in self._modules else None

    def create_module(self, spec: ModuleSpec) -> ModuleType:
        """Return the module itself."""
        module = import_module(self._modules[spec.name])
        self._spec_of[module.__name__] = module.__spec__
        return module

    def exec_module(self, module: ModuleType) -> None:
        """Keep what the module says about itself, which the import has replaced."""
        module.__spec__ = self._spec_of[module.__name__]


def install(modules: Mapping[str, str]) -> None:
    """Let modules be imported under short names."""
    sys.meta_path.append(ShortNames(modules))
