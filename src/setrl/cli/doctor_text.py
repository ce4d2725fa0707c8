"""What `setrl doctor` finds, as text."""

from __future__ import annotations

from typing import Any

from setrl.support.installing import install
from setrl.support.wording import first_of, table

NO = "no"
WHOLE, SHOWN = "all", 2  # the extra of all others; packages that a line names


def doctor_text(found: dict[str, Any]) -> str:
    """Return the whole answer."""
    packages = ", ".join(f"{name} {version}" for name, version in found["packages"].items())
    return "\n".join(
        [
            f"setrl {found['setrl']}, Python {found['python']}, {found['platform']}",
            f"in {found['installed_in']}",
            "",
            f"packages: {packages}",
            "",
            *_extras(found),
            "",
            *([f"GPU: {name}" for name in found["gpus"]] or [f"no GPU: {found['no_gpu']}"]),
        ]
    )


def _extras(found: dict[str, Any]) -> list[str]:
    extras, metadata = found["extras"], found["metadata"]
    if metadata != found["setrl"]:
        state = f"is of {metadata}" if metadata else "is missing"
        return [f"extras: unknown, since the metadata of setrl {state}: install setrl again"]
    shown = {name: extra for name, extra in extras.items() if name != WHOLE}
    rows = [_row(name, extra) for name, extra in shown.items()]
    rows.sort(key=lambda row: row[0] == NO)
    lines = table([["", "extra", "for", "needs"], *rows], left=range(4)).splitlines()
    lacking = [name for name, extra in shown.items() if extra["missing"]]
    if not lacking:
        return lines
    return [*lines, f"what you do not use may stay missing; to add one: {install('EXTRA')}"]


def _row(name: str, extra: dict[str, Any]) -> list[str]:
    """Return whether what an extra is for works, and which packages are missing."""
    missing = extra["missing"]
    return [NO if missing else "works", name, extra["for"], first_of(missing, SHOWN)]
