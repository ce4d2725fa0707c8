"""A run's report: figures and one self-contained page, from whatever the run directory holds."""

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from setrl.errors import ConfigError
from setrl.runs.claim import kind_of

__all__ = ["publish_report", "write_report"]


def write_report(run_dir: Path, reference: str = "grpo") -> Path:
    """Write a run's report.html, figures/*.png and summary.json; returns the page's path.

    Args:
        run_dir: The folder of a comparison or of a control run. Parts that it lacks (evaluation,
            base, arms) are left out of the page.
        reference: The arm that the others are compared with; the first one where it is absent.

    Raises:
        ConfigError: When there is no such folder, or the packages that draw are not installed.
        DataError: When an evaluation file does not hold what it should.
    """
    with _needs_drawing():
        from setrl.report.control import write_control_page
        from setrl.report.page import write_page
    if kind_of(run_dir) == "control":
        return write_control_page(run_dir)
    return write_page(run_dir, reference)


def publish_report(run_dir: Path, folder: Path, reference: str = "grpo") -> Path:
    """Write a run's report, and a page in Markdown with figures and numbers into a folder.

    Args:
        run_dir: The comparison's folder.
        folder: Where README.md, the figures, summary.json and config.yaml go.
        reference: The arm that the others are compared with; the first one where it is absent.

    Raises:
        ConfigError: When there is no such run, or the packages that draw are not installed.
        DataError: When an evaluation file does not hold what it should.
    """
    with _needs_drawing():
        from setrl.report.control import publish_control
        from setrl.report.markdown import publish
    if kind_of(run_dir) == "control":
        return publish_control(run_dir, folder)
    return publish(run_dir, folder, reference)


@contextmanager
def _needs_drawing() -> Iterator[None]:
    try:
        yield
    except ModuleNotFoundError as error:
        missing = f"the report needs {error.name}: pip install 'setrl[plot]'"
        raise ConfigError(missing) from error
