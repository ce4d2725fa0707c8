"""Samples on disk: our own formats, and what other tools write.

Names are imported when they are first used.
"""

from typing import TYPE_CHECKING

from setrl.support.names import imported_on_demand

if TYPE_CHECKING:
    from setrl.logs.log import Log as Log
    from setrl.logs.log import open_log as open_log
    from setrl.logs.options import LogOptions as LogOptions
    from setrl.logs.records import read_records as read_records
    from setrl.logs.roles import FieldNames as FieldNames

_MODULES = {
    "FieldNames": "setrl.logs.roles",
    "Log": "setrl.logs.log",
    "LogOptions": "setrl.logs.options",
    "open_log": "setrl.logs.log",
    "read_records": "setrl.logs.records",
}
__all__ = list(_MODULES)

__getattr__ = imported_on_demand(__name__, _MODULES, "cli")
