"""`setrl evaluate`: samples → metrics."""

from __future__ import annotations

import sys
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from tyro.conf import Positional

from setrl.cli.output import Said
from setrl.cli.shared_options import EvaluatedFields
from setrl.support.errors import ConfigError, explain
from setrl.support.files import plain_json

if TYPE_CHECKING:
    from setrl.evaluate.loading import Side
    from setrl.evaluate.summary import ArmSummary


@dataclass(frozen=True, kw_only=True)
class Evaluate(EvaluatedFields, Said):
    """Print unbiased pass@k, majority@k and strategies@k of samples.

    `setrl sample` draws samples of a model and writes such a file.

    Attributes:
        file: The samples: an evaluation file, a log, the folder of another tool's log
            (docs/importing.md), or the folder of a model or an arm, whose training seeds are
            averaged.
        split: The evaluation of a folder, by the name of its file; test by default.
        k: The k of the curves, such as --k 1 5 30; 1, 2, 4, … by default. Problems with fewer
            graded samples than the largest k are left out of all figures, and counted.
        allow_damaged: Leave out lines that cannot be read or repeat a problem, and count them,
            instead of stopping.
        metrics: The metrics to print: {metrics}, or all; the usual ones by default
            (docs/metrics.md). One that the samples cannot have is refused.

    Json:
        path: The file or folder.
        notes: What was noticed, in sentences.
        arm: Always model.
        seeds: The training seeds of an arm's folder; otherwise [0].
        n: The number of samples that every problem has.
        most: The largest number of samples of a problem.
        problems: The number of problems in the figures.
        temperature: The temperature of the samples.
        metrics: Metric → value, low, high, stderr, problems and missing; a curve has a list of
            them, with k. Shares are between 0 and 1; low and high are the 95% interval over
            problems.
        band: The 95% band of pass@k at all k at once.
        ungraded: The counts of samples without a grade, and the bounds of pass@1, also of problems
            that are left out because of them.
        by_task: The metrics of each task, and their macro average, where the file has several.
    """

    file: Positional[Path]
    split: str | None = None
    k: tuple[int, ...] = ()
    allow_damaged: bool = False
    metrics: tuple[str, ...] = ()

    def run(self) -> None:
        """Print the metrics of the file; write the summary of a checkpoint's evaluation folder.

        Raises:
            ConfigError: When options are out of range.
            DataError: When the file does not hold what it should.
        """
        from setrl.evaluate.summary import write_checkpoint_summary

        self._check_options()
        side = self._print_metrics()
        if self.file.parent.name == "evaluation" and self.file.is_file() and not side.is_log:
            try:
                write_checkpoint_summary(self.file.parent, allow_damaged=self.allow_damaged)
            except OSError as error:  # the run of somebody else, on a disk that is only read
                print(f"note: no summary.json is written: {explain(error)}", file=sys.stderr)

    def _check_options(self) -> None:
        from setrl.evaluate.metrics import check_names

        check_names(self.metrics)
        if min(self.k, default=1) < 1:
            raise ConfigError(f"each --k must be at least 1, got {min(self.k)}")

    def _print_metrics(self) -> Side:
        """Print the metrics; return the samples."""
        from setrl.evaluate.by_task import task_table
        from setrl.evaluate.cautions import cautions_of_one
        from setrl.evaluate.loading import common_split, load_side
        from setrl.evaluate.summary import summarise
        from setrl.evaluate.text import USUAL, metric_table
        from setrl.support.wording import wrapped

        chosen = self.split or common_split(self.file)
        side = load_side(self.file, chosen, self.allow_damaged, self.log_options)
        by_seed = dict(zip(side.seeds, side.evaluations, strict=True))
        asked = self.metrics or (() if self.json else USUAL)
        asked = () if "all" in asked else asked
        summary = summarise({"all": {"model": by_seed}}, None, ks=self.k, metrics=asked)
        split = summary.splits["all"]
        arm = split.arms["model"]
        self._refuse_lacking(arm, side)
        self.say(side.reading)
        notes = [
            *([arm.ungraded.sentence(self.file.name)] if arm.ungraded else []),
            *split.notes,
            *([] if self.k else _uneven_samples_note(arm)),
            *cautions_of_one(side.evaluations),
        ]
        if self.json:
            for note in notes:
                print(f"note: {note}", file=sys.stderr)
            self.say_json(path=str(self.file), notes=notes, **plain_json(asdict(arm)))
        else:
            print(self.file)
            table = wrapped(metric_table(arm, self.metrics, notes))
            print("\n\n".join(filter(None, (table, task_table(arm.by_task, self.metrics)))))
        return side

    def _refuse_lacking(self, arm: ArmSummary, side: Side) -> None:
        """Refuse if the samples lack a metric that was asked for by name."""
        from setrl.evaluate.metrics import by_metric, incomplete, refuse_lacking

        asked = () if "all" in self.metrics else self.metrics
        name = str(self.file)
        why = {name: incomplete(side.evaluations)}
        refuse_lacking(asked, {name: by_metric(arm.metrics)}, why)


def _uneven_samples_note(arm: ArmSummary) -> list[str]:
    """Return a note on problems that have fewer samples than others."""
    from setrl.evaluate.metrics import powers_of_two

    if arm.n == arm.most:
        return []
    graded = "graded " if arm.ungraded and arm.ungraded.are == "left-out" else ""
    last = powers_of_two(arm.n)[-1]
    return [f"problems have {arm.n:,} to {arm.most:,} {graded}samples: k ends at {last:,}, for "
            "which every problem has enough; a larger --k leaves out those with fewer"]  # fmt: skip
