"""A sample, a prompt's group of them, and `Samples`, which flows through all of setrl.

Names are imported when they are first used.
"""

from typing import TYPE_CHECKING

from setrl.support.names import imported_on_demand

if TYPE_CHECKING:
    from setrl.samples.samples import Samples as Samples
    from setrl.samples.types import Group as Group
    from setrl.samples.types import Sample as Sample

_MODULES = {
    "Group": "setrl.samples.types",
    "Sample": "setrl.samples.types",
    "Samples": "setrl.samples.samples",
}
__all__ = list(_MODULES)

__getattr__ = imported_on_demand(__name__, _MODULES, "cli")
