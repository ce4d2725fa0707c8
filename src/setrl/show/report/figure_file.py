"""Files of single figures: marked as ours, so that no picture of somebody else is replaced."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

from setrl.support.files import refuse_file_of_others

if TYPE_CHECKING:
    from matplotlib.figure import Figure

CREATOR = {"Creator": "setrl"}
# Ending → how that format writes the creator. Other formats hold none: they are not replaced.
MARKS = {
    ".png": b"Creator\0setrl",
    ".svg": b"<dc:title>setrl</dc:title>",
    ".pdf": b"/Creator (setrl)",
}


def save_figure(figure: Figure, path: Path) -> None:
    """Write a figure in the format of its file's ending, with our mark if the format has one.

    Raises:
        ValueError: If matplotlib does not know the format.
    """
    figure.savefig(path, metadata=CREATOR if path.suffix.lower() in MARKS else None)


def refuse_other_figure(path: Path | None) -> None:
    """Refuse to replace a file that is not a figure of setrl.

    Raises:
        ConfigError: If there is one.
    """
    refuse_file_of_others(path, _is_ours, "a figure of setrl")


def _is_ours(path: Path) -> bool:
    mark = MARKS.get(path.suffix.lower())
    return mark is not None and path.is_file() and mark in path.read_bytes()
