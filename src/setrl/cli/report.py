"""`setrl report`."""

from __future__ import annotations

import dataclasses
from dataclasses import dataclass
from pathlib import Path

from tyro.conf import Positional

from setrl.cli.output import Said, about_report
from setrl.cli.shared_options import EvaluatedFields, command_line
from setrl.support.errors import ConfigError


@dataclass(frozen=True, kw_only=True)
class Report(EvaluatedFields, Said):
    """Write the report of a run, or of files of samples: one page, and figures.

    Attributes:
        paths: The folder of a run; or evaluation files, logs, and folders of other tools' logs,
            one for each arm. Arms are compared with the first.
        output: The folder for a report of files; reports/<name of the first> by default. The report
            of a run goes into the folder of the run.
        k: Only for files: further k at which curves are computed, besides 1, 2, 4, …, such as --k 5
            30. Problems with fewer samples than the largest k are left out.
        publish: Only for the folder of a run: also write a page in Markdown, with figures and
            numbers, into this folder.
        reference: The arm of a run with which the other arms are compared.
        allow_damaged: Leave out lines that cannot be read or repeat a problem, and count them,
            instead of stopping.

    Json:
        report: The page.
        summary: The file with all numbers of the page.
        verdict: What the comparison shows, in sentences.
    """

    paths: Positional[tuple[Path, ...]]
    output: Path | None = None
    k: tuple[int, ...] = ()
    publish: Path | None = None
    reference: str = "grpo"
    allow_damaged: bool = False

    def run(self) -> None:
        """Write the pages and print where they are."""
        from setrl.show.report import publish_report, write_report

        if not self.paths:
            raise ConfigError("give the folder of a run, or files of samples")
        if len(self.paths) > 1 or self._is_file_of_samples(self.paths[0]):
            self._write_report_of_files()
            return
        if self.output is not None or self.k:
            raise ConfigError(
                "--output and --k are for a report of files; a run's report goes into its folder"
            )
        how = (self.reference, self.allow_damaged)
        page = (
            write_report(self.paths[0], *how)
            if self.publish is None
            else publish_report(self.paths[0], self.publish, *how)
        )
        self.tell(str(page), **about_report(page))

    def _is_file_of_samples(self, path: Path) -> bool:
        """Return whether a path holds samples, and is not the folder of a run."""
        from setrl.evaluate.loading import is_samples
        from setrl.logs.run import Run

        return is_samples(path) and Run(path).kind is None

    def _write_report_of_files(self) -> None:
        from setrl.show.report import report_files

        if self.publish is not None:
            raise ConfigError("--publish needs the folder of a run; a report of files is complete "
                              "in its own folder, which --output names")  # fmt: skip
        stem = self.paths[0].resolve().name.partition(".")[0]
        folder = self.output or Path("reports") / stem
        alone = dataclasses.replace(
            self, output=None, k=(), allow_damaged=False, json=False, quiet=False
        )
        views = [command_line("view", dataclasses.replace(alone, paths=(p,))) for p in self.paths]
        page, reading = report_files(
            self.paths, folder, self.log_options, self.k, command_line("report", self), views
        )
        self.say(reading)
        self.tell(str(page), **about_report(page))
