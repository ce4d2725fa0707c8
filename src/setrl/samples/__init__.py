"""Samples on disk: our own formats, and what other tools write.

Names are imported when they are first used.
"""

from typing import TYPE_CHECKING

from setrl.support.names import imported_on_demand

if TYPE_CHECKING:
    from setrl.samples.log import Log as Log
    from setrl.samples.log import open_log as open_log
    from setrl.samples.options import LogOptions as LogOptions
    from setrl.samples.records import read_records as read_records
    from setrl.samples.roles import FieldNames as FieldNames
    from setrl.samples.types import Group as Group
    from setrl.samples.types import Sample as Sample

_MODULES = {
    "FieldNames": "setrl.samples.roles",
    "Group": "setrl.samples.types",
    "Log": "setrl.samples.log",
    "LogOptions": "setrl.samples.options",
    "Sample": "setrl.samples.types",
    "open_log": "setrl.samples.log",
    "read_records": "setrl.samples.records",
}
__all__ = list(_MODULES)

__getattr__ = imported_on_demand(__name__, _MODULES, "cli")
