"""Files on disk: written whole, read strictly."""

from setrl.support.files.atomic import (
    disk_errors,
    json_text,
    plain_json,
    read_json,
    refuse_file_of_others,
    refuse_other_settings,
    refuse_own_input,
    write_json,
    write_text,
    writing_folder,
)
from setrl.support.files.json_lines import append_line, read_lines, write_lines

__all__ = [
    "append_line",
    "disk_errors",
    "json_text",
    "plain_json",
    "read_json",
    "read_lines",
    "refuse_file_of_others",
    "refuse_other_settings",
    "refuse_own_input",
    "write_json",
    "write_lines",
    "write_text",
    "writing_folder",
]
