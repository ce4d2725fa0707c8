"""`python -m claims`: check every claim of four documents, and print what holds."""

from __future__ import annotations

import argparse
import sys
from collections.abc import Sequence
from pathlib import Path

import claims


def main(arguments: Sequence[str] | None = None) -> None:
    """Check the requested claims; exit with 1 if one is not confirmed.

    argparse is used because the checks need only the core's packages.
    """
    given = _parser().parse_args(arguments)
    if given.only and given.markdown:
        sys.exit("claims: --markdown writes the page of all claims: remove the ids or --markdown")
    try:
        claims.find(*given.only)
    except ValueError as error:
        sys.exit(f"claims: {error}")
    paths = {"json_path": given.json, "markdown_path": given.markdown, "texts_path": given.texts}
    if not claims.verify(given.only, **paths):
        sys.exit(1)


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(
        prog="python -m claims",
        description="Check the claims of the documents that this library was built from. The last "
        "line of the output says how many claims there are and whether all are confirmed. If one "
        "is not, the exit status is 1.",
    )
    parser.add_argument(
        "only",
        nargs="*",
        metavar="ID",
        help='check only claims whose ids start with this, such as "maxpo" or "note-prop"',
    )
    parser.add_argument("--json", type=Path, metavar="FILE", help="write the findings to this file")
    parser.add_argument(
        "--markdown", type=Path, metavar="FILE", help="write the page docs/claims.md to this file"
    )
    parser.add_argument(
        "--texts", type=Path, metavar="FILE", help="write all texts of the claims to this file"
    )
    return parser


if __name__ == "__main__":
    main()
