"""Samples on disk: our own formats, and what other tools write.

Names are imported when they are first used.
"""

from typing import TYPE_CHECKING

from setrl.support.names import imported_on_demand

if TYPE_CHECKING:
    from setrl.groups.log import Log as Log
    from setrl.groups.log import open_log as open_log
    from setrl.groups.options import LogOptions as LogOptions
    from setrl.groups.records import read_records as read_records
    from setrl.groups.roles import Fields as Fields
    from setrl.groups.types import Group as Group
    from setrl.groups.types import Sample as Sample

_MODULES = {
    "Fields": "setrl.groups.roles",
    "Group": "setrl.groups.types",
    "Log": "setrl.groups.log",
    "LogOptions": "setrl.groups.options",
    "Sample": "setrl.groups.types",
    "open_log": "setrl.groups.log",
    "read_records": "setrl.groups.records",
}
__all__ = list(_MODULES)

__getattr__ = imported_on_demand(__name__, _MODULES, "cli")
