"""A run's report: figures and one self-contained page, from whatever the run directory holds."""

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from setrl.errors import ConfigError
from setrl.evaluation.comparison import Comparison
from setrl.logs.run_folder import Kind, kind_of
from setrl.runs.written import REPORT, refuse_page_of_others

__all__ = ["draw_comparison", "publish_report", "write_report"]

PUBLISHED = "Written by `setrl report "  # stands in every published README.md


def write_report(run_dir: Path, reference: str = "grpo") -> Path:
    """Write a run's report.html, figures/*.png and summary.json; returns the page's path.

    Args:
        run_dir: The folder of a comparison or of a control run. Parts that it lacks (evaluation,
            base, arms) are left out of the page.
        reference: The arm that the others are compared with; the first one where it is absent.

    Raises:
        ConfigError: When it is no run of setrl, or its report.html is not by setrl, or
            the packages that draw are not installed.
        DataError: When an evaluation file does not hold what it should.
    """
    with _needs_drawing():
        from setrl.report.control import write_control_page
        from setrl.report.page import write_page
    if _checked_kind(run_dir) == "control":
        return write_control_page(run_dir)
    return write_page(run_dir, reference)


def publish_report(run_dir: Path, folder: Path, reference: str = "grpo") -> Path:
    """Write a run's report, and a page in Markdown with figures and numbers into a folder.

    Args:
        run_dir: The comparison's folder.
        folder: Where README.md, the figures, summary.json and config.yaml go.
        reference: The arm that the others are compared with; the first one where it is absent.

    Raises:
        ConfigError: When there is no such run, or the folder holds other such files,
            or the packages that draw are not installed.
        DataError: When an evaluation file does not hold what it should.
    """
    with _needs_drawing():
        from setrl.report.control import publish_control
        from setrl.report.markdown import publish
    kind = _checked_kind(run_dir)
    _refuse_folder_of_others(folder)
    if kind == "control":
        return publish_control(run_dir, folder)
    return publish(run_dir, folder, reference)


def draw_comparison(comparison: Comparison, metric: str, path: Path) -> Path:
    """Draw a metric of a comparison into a file whose ending names the format.

    Raises:
        ConfigError: When matplotlib is missing or does not know the format, or the metric is one
            number.
    """
    with _needs_drawing():
        from setrl.report.comparison_figure import write_figure
    return write_figure(comparison, metric, path)


def _checked_kind(run_dir: Path) -> Kind:
    """The kind of a run whose report can be written without harm to the files of others."""
    if not run_dir.is_dir():
        raise ConfigError(f"{run_dir} is not a run directory: there is no such folder")
    kind = kind_of(run_dir)
    if kind is None:
        raise ConfigError(
            f"{run_dir} is not a run directory: it has no run.json of setrl; "
            "give a folder that setrl train or setrl control wrote"
        )
    refuse_page_of_others(run_dir / REPORT)
    return kind


def _refuse_folder_of_others(folder: Path) -> None:
    """Refuse to publish over files that no earlier call of `publish_report` wrote."""
    page = folder / "README.md"
    if page.is_file() and PUBLISHED in page.read_text(encoding="utf-8", errors="replace"):
        return
    for name in (page.name, "summary.json", "config.yaml"):
        if (folder / name).exists():
            raise ConfigError(
                f"{folder / name} was not written by setrl report: publish to another folder, "
                "or move it elsewhere"
            )


@contextmanager
def _needs_drawing() -> Iterator[None]:
    try:
        yield
    except ModuleNotFoundError as error:
        missing = f"figures need {error.name}: pip install 'setrl[plot]'"
        raise ConfigError(missing) from error
