"""Samples on disk: our own formats, and what other tools write.

Names are imported when they are first used.
"""

from typing import TYPE_CHECKING

from setrl.names import imported_on_demand

if TYPE_CHECKING:
    from setrl.logs.groups import credit_groups as credit_groups
    from setrl.logs.groups import read_groups as read_groups
    from setrl.logs.importing import Imported as Imported
    from setrl.logs.importing import ImportOptions as ImportOptions
    from setrl.logs.jsonl import Loaded as Loaded
    from setrl.logs.jsonl import OwnLog as OwnLog
    from setrl.logs.jsonl import load_samples as load_samples
    from setrl.logs.records import evaluation_of as evaluation_of
    from setrl.logs.records import read_records as read_records
    from setrl.logs.run_folder import TrainingRun as TrainingRun
    from setrl.logs.run_folder import training_run as training_run
    from setrl.logs.tools import read_log as read_log

_MODULES = {
    "ImportOptions": "setrl.logs.importing",
    "Imported": "setrl.logs.importing",
    "Loaded": "setrl.logs.jsonl",
    "OwnLog": "setrl.logs.jsonl",
    "TrainingRun": "setrl.logs.run_folder",
    "credit_groups": "setrl.logs.groups",
    "evaluation_of": "setrl.logs.records",
    "load_samples": "setrl.logs.jsonl",
    "read_groups": "setrl.logs.groups",
    "read_log": "setrl.logs.tools",
    "read_records": "setrl.logs.records",
    "training_run": "setrl.logs.run_folder",
}
__all__ = list(_MODULES)

__getattr__ = imported_on_demand(__name__, _MODULES, "cli")
