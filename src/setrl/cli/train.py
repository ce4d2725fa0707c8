"""`setrl train`."""

from __future__ import annotations

import os
import sys
from collections.abc import Callable
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, ClassVar

import tyro

from setrl.cli.output import Said, about_report
from setrl.support.errors import ConfigError, DataError, RunError

if TYPE_CHECKING:
    from setrl.train.lm.resolved import ResolvedConfig


@dataclass(frozen=True, kw_only=True)
class RunOptions(Said):
    """The options of a run of any kind.

    Attributes:
        config: The YAML file of the run.
        run_dir: The folder of the run; runs/<name> by default.
        overwrite: If the folder holds a run with another config, replace this run; your own files
            stay.
        accept_changes: Go on with a run although the code that its config names, its model or its
            problems changed since it began; its record then says so.
        set: Change one key of the config, KEY=VALUE; can be repeated.

    Json:
        run: The folder of the run.
        report: The page of the report.
        summary: The file with all numbers of the report.
        verdict: What the comparison shows, in sentences.
    """

    config: Path
    run_dir: Path | None = None
    overwrite: bool = False
    accept_changes: bool = False
    set: Annotated[tuple[str, ...], tyro.conf.UseAppendAction] = ()

    resumes = True  # after an interruption
    null_keys: ClassVar[tuple[str, ...]] = ()  # keys of its JSON object that a run does not fill

    def folder(self, config: Any) -> Path:
        """Return the folder of the run."""
        return self.run_dir or Path("runs") / config.name

    def train(self, config: Any, run: Callable[..., Path]) -> None:
        """Do a run of whichever kind, write its report and print where it is.

        The page is also written if arms failed: its first line says so.
        """
        from setrl.train.runs.claim import is_claimed

        try:
            folder = run(
                config,
                self.folder(config),
                overwrite=self.overwrite,
                accept_changes=self.accept_changes,
            )
        except RunError:
            if not is_claimed(self.folder(config)):  # by another process, whose folder it is
                with suppress(ConfigError, DataError, OSError):  # a full disk has no room for it
                    self._write_report(self.folder(config))
            raise
        self._write_report(folder)

    def _write_report(self, folder: Path) -> None:
        from setrl.show.report import write_report

        if os.environ.get("RANK", "0") == "0":  # of several processes, the first one writes
            page = write_report(folder)
            self.tell(
                f"report: {page}\nlook into it: setrl view {folder}",
                run=str(folder),
                **about_report(page),
                **dict.fromkeys(self.null_keys),
            )


@dataclass(frozen=True, kw_only=True)
class Train(RunOptions):
    """Train the arms of a comparison, evaluate them and write the report.

    Run the same command again to resume.

    Attributes:
        config: The YAML file of the run. docs/your-own-task.md explains its keys; the guide that
            `setrl --help` names has an example.
        dry_run: Do all checks, and write nothing. Print how many samples, tokens and requests to
            judges the run takes, and which part is done.

    Json:
        plan: Only with --dry-run, which leaves out report, summary and verdict: the training runs
            with what is missing, and the samples, tokens and requests of the whole run.
    """

    dry_run: bool = False

    null_keys = ("plan",)

    def run(self) -> None:
        """Train on language models."""
        if self.dry_run:
            sys.dont_write_bytecode = True  # of modules that the config names
        from setrl.train.lm.resolved import ResolvedConfig

        resolved = ResolvedConfig.load(self.config, self.set)  # wrong ones are refused at once
        refuse_missing_model(resolved)
        if self.dry_run:
            self._print_plan(resolved)
            return
        from setrl.train.lm.run import run_comparison

        self.train(resolved, run_comparison)

    def _print_plan(self, resolved: Any) -> None:
        from setrl.train.lm.preflight.plan import plan, plan_json, plan_text
        from setrl.train.lm.run import quiet_libraries

        quiet_libraries()
        run_plan = plan(
            resolved,
            self.folder(resolved),
            overwrite=self.overwrite,
            accept_changes=self.accept_changes,
        )
        for note in run_plan.notes:
            print(f"note: {note}", file=sys.stderr)
        not_yet = dict.fromkeys(("report", "summary", "verdict"))
        self.tell(
            plan_text(run_plan), run=str(run_plan.run_dir), **not_yet, plan=plan_json(run_plan)
        )


def refuse_missing_model(resolved: ResolvedConfig) -> None:
    """Refuse a config whose model does not exist, before anything heavy is imported.

    Raises:
        ConfigError: Naming the key.
    """
    from setrl.models.folder import refuse_missing

    if resolved.config.model is not None:
        try:
            refuse_missing(resolved.config.model)
        except ConfigError as error:
            raise ConfigError(f"model: {error}") from None
