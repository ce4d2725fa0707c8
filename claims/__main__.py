"""`python -m claims`: check every claim of the papers, and print what holds."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Annotated

import tyro

import claims


def main(
    only: Annotated[tuple[str, ...], tyro.conf.Positional] = (),
    json: Path | None = None,
    markdown: Path | None = None,
) -> None:
    """Check every claim of the papers that this library was built from.

    Args:
        only: Starts of the ids of claims, such as "maxpo" or "note-prop"; all of them for none.
        json: Write the findings there.
        markdown: Write the page docs/claims.md there.
    """
    if only and markdown:
        sys.exit("claims: --markdown writes the page of all claims: give no ids with it")
    try:
        claims.find(*only)
    except ValueError as error:
        sys.exit(f"claims: {error}")
    if not claims.verify(only, json_path=json, markdown_path=markdown):
        sys.exit("claims: a check does not confirm its claim's verdict; see the table")


if __name__ == "__main__":
    tyro.cli(main, prog="python -m claims")
