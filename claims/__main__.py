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

    The last line of the output says how many claims there are and whether all are confirmed. If
    one is not, the exit status is 1.

    Args:
        only: Check only claims whose ids start so, such as "maxpo" or "note-prop".
        json: Write the findings to this file.
        markdown: Write the page docs/claims.md to this file.
    """
    if only and markdown:
        sys.exit("claims: --markdown writes the page of all claims: remove the ids, or --markdown")
    try:
        claims.find(*only)
    except ValueError as error:
        sys.exit(f"claims: {error}")
    if not claims.verify(only, json_path=json, markdown_path=markdown):
        sys.exit(1)


if __name__ == "__main__":
    tyro.cli(main, prog="python -m claims")
