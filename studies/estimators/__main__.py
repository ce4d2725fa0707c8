"""`python -m studies.estimators run SOURCES`, then `page`: audit released estimators."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, Any

import tyro

from setrl.support.errors import DataError, explain
from studies.estimators.page import write
from studies.estimators.run import run

DOCS = Path(__file__).parents[2] / "docs"


def run_all(
    sources: Annotated[Path, tyro.conf.Positional],
    folder: Path = DOCS / "results" / "estimators",
    only: str = "",
) -> Path:
    """Audit the estimators of the packages in a folder.

    Args:
        sources: Holds a folder NAME-VERSION for each package, as docs/estimators.md lists them.
        folder: Where estimators.json goes.
        only: Audit one package, and keep the others of the file.
    """
    return run(sources, folder, only)


def page(
    result: Path = DOCS / "results" / "estimators" / "estimators.json",
    path: Path = DOCS / "estimators.md",
) -> Path:
    """Write the page from a result, without the packages.

    Args:
        result: The file that `run` wrote.
        path: The page.
    """
    return write(result, path)


def main() -> None:
    """Run the command line."""
    commands: dict[str, Any] = {"run": run_all, "page": page}
    try:
        print(tyro.extras.subcommand_cli_from_dict(commands, prog="python -m studies.estimators"))
    except (DataError, ValueError, OSError) as error:
        raise SystemExit(f"studies.estimators: {explain(error)}") from None


if __name__ == "__main__":
    main()
