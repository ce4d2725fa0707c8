"""Samples on disk: our own formats, and what other tools write.

Names are imported when they are first used.
"""

from typing import TYPE_CHECKING

from setrl.names import imported_on_demand

if TYPE_CHECKING:
    from setrl.groups.groups import credit_groups as credit_groups
    from setrl.groups.groups import read_groups as read_groups
    from setrl.groups.importers.importing import Imported as Imported
    from setrl.groups.importers.importing import ImportOptions as ImportOptions
    from setrl.groups.importers.tools import read_log as read_log
    from setrl.groups.jsonl import Loaded as Loaded
    from setrl.groups.jsonl import OwnLog as OwnLog
    from setrl.groups.jsonl import load_samples as load_samples
    from setrl.groups.records import evaluation_of as evaluation_of
    from setrl.groups.records import read_records as read_records

_MODULES = {
    "ImportOptions": "setrl.groups.importers.importing",
    "Imported": "setrl.groups.importers.importing",
    "Loaded": "setrl.groups.jsonl",
    "OwnLog": "setrl.groups.jsonl",
    "credit_groups": "setrl.groups.groups",
    "evaluation_of": "setrl.groups.records",
    "load_samples": "setrl.groups.jsonl",
    "read_groups": "setrl.groups.groups",
    "read_log": "setrl.groups.importers.tools",
    "read_records": "setrl.groups.records",
}
__all__ = list(_MODULES)

__getattr__ = imported_on_demand(__name__, _MODULES, "cli")
