"""A run's report: figures and one self-contained page, from what the folder of the run holds."""

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path

from setrl.logs.options import LogOptions
from setrl.logs.run import Run
from setrl.support.errors import ConfigError
from setrl.support.installing import install
from setrl.train.runs.written import REPORT, is_our_page, refuse_page_of_others

__all__ = ["publish_report", "report_files", "write_report"]


def write_report(run_dir: str | Path, reference: str = "grpo", allow_damaged: bool = False) -> Path:
    """Write a run's report.html, figures/*.png and summary.json; returns the page's path.

    Args:
        run_dir: The folder of a run of either kind. The page leaves out what is missing there
            (evaluation, base, arms).
        reference: The arm that the others are compared with; the first one if it is missing.
        allow_damaged: See `setrl.evaluate.load_evaluation`.

    Raises:
        ConfigError: If the folder is not a run of setrl, its report.html was not written by setrl,
            or the packages that draw are not installed.
        DataError: If an evaluation file or run.json is invalid.
    """
    with _name_missing_packages():
        from setrl.show.report.page import write_page
    run_dir = Path(run_dir)
    _refuse_other_folders(run_dir)
    write_page(run_dir, reference, allow_damaged)
    return run_dir / REPORT


def report_files(
    paths: Sequence[str | Path],
    folder: str | Path,
    options: LogOptions,
    ks: Sequence[int] = (),
    command: str = "",
    views: Sequence[str] = (),
) -> tuple[Path, list[str]]:
    """Write the report of evaluation files, logs or TRL's completions into a folder.

    Args:
        paths: One for each arm; the others are compared with the first.
        folder: Where report.html, figures/ and summary.json go: a new or empty folder, or one of an
            earlier report of files.
        options: How logs are read.
        ks: Further k at which curves are computed, besides 1, 2, 4, ….
        command: What the page tells to do it again.
        views: The commands that show all samples, for the texts that the page cuts.

    Returns:
        The page's path, and how the fields of logs were read.

    Raises:
        ConfigError: If the folder holds other files, or the packages that draw are not installed.
        DataError: If a file cannot be read.
    """
    with _name_missing_packages():
        from setrl.show.report.page import write_data
        from setrl.show.report.run import data_of
    folder = Path(folder)
    page = folder / REPORT
    if folder.exists() and (Run(folder).kind is not None or not folder.is_dir() or (
        any(folder.iterdir()) and not is_our_page(page))):  # fmt: skip
        raise ConfigError(f"{folder} holds other files: give a new folder with --output")
    data, reading = data_of([Path(path) for path in paths], folder, options, ks, command, views)
    folder.mkdir(parents=True, exist_ok=True)
    write_data(data)
    return page, reading


def publish_report(
    run_dir: str | Path,
    folder: str | Path,
    reference: str = "grpo",
    allow_damaged: bool = False,
) -> Path:
    """Write a run's report, and a page in Markdown with figures and numbers into a folder.

    Args:
        run_dir: The folder of the run.
        folder: Where README.md, the figures, summary.json and config.yaml go.
        reference: The arm that the others are compared with; the first one if it is missing.
        allow_damaged: See `setrl.evaluate.load_evaluation`.

    Raises:
        ConfigError: If `run_dir` is not a run of setrl, `folder` has files of these names that
            setrl did not write, or the packages that draw are not installed.
        DataError: If an evaluation file or run.json is invalid.
    """
    with _name_missing_packages():
        from setrl.show.report.page import publish
    run_dir, folder = Path(run_dir), Path(folder)
    _refuse_other_folders(run_dir)
    return publish(run_dir, folder, reference, allow_damaged)


def _refuse_other_folders(run_dir: Path) -> None:
    """Refuse a folder that is not a run, or a run whose report.html is somebody else's file."""
    if not run_dir.is_dir():
        raise ConfigError(f"{run_dir} is not a run directory: the folder does not exist")
    if Run(run_dir).kind is None:
        raise ConfigError(
            f"{run_dir} is not a run directory: it has no run.json of setrl; "
            "give a folder that setrl train or setrl control wrote"
        )
    refuse_page_of_others(run_dir / REPORT)


@contextmanager
def _name_missing_packages() -> Iterator[None]:
    try:
        yield
    except ModuleNotFoundError as error:
        missing = f"figures need {error.name}: {install('plot')}"
        raise ConfigError(missing) from error
