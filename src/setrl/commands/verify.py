"""`setrl verify`."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import tyro

from setrl.errors import ConfigError, RunError


def verify(
    only: Annotated[tuple[str, ...], tyro.conf.Positional] = (),
    json: Path | None = None,
    markdown: Path | None = None,
) -> None:
    """Check every claim of the papers that this library was built from, and print what holds.

    Args:
        only: Starts of the ids of claims, such as "maxpo" or "note-prop"; all of them for none.
        json: Write the findings there.
        markdown: Write the page docs/claims.md there.
    """
    from setrl.theory import ledger

    if only and markdown:
        raise ConfigError("--markdown writes the page of all claims: give no ids with it")
    try:
        ledger.find(*only)
    except ValueError as error:
        raise ConfigError(str(error)) from error
    if not ledger.verify(only, json_path=json, markdown_path=markdown):
        raise RunError("a claim's check does not confirm its verdict; see the table")
