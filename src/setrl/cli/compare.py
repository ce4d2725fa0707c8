"""`setrl compare`."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

from tyro.conf import Positional

from setrl.cli.output import Said
from setrl.cli.shared_options import EvaluatedFields
from setrl.support.errors import ConfigError


@dataclass(frozen=True, kw_only=True)
class Compare(EvaluatedFields, Said):
    """Compare two runs by paired differences on the same problems.

    Differences are B − A: give the reference first, as in `setrl report`.

    Attributes:
        first: Run A, the reference: what `setrl evaluate` reads. Problems are matched by their
            ids, or by their prompts if the runs share no id; others are left out, and counted.
        second: Run B.
        split: The evaluation to compare, by the name of its file; test by default.
        metrics: pass, max, best_of, majority, vote_share, strategies, correct_strategies,
            g_pass_0.5, g_pass_0.75, g_pass_1, g_pass_mean, cover, effective_number, top_share,
            degenerate, shared_prefix, or all. By default pass; also majority if both have answers;
            also correct_strategies, effective_number and top_share if both have strategies.
        k: As in `setrl evaluate`.
        allow_damaged: Leave out lines that cannot be read or repeat a problem, and count them,
            instead of stopping.
        details: Also print all k, on how many problems B is above A (ties count half), and the
            true difference that 4 of 5 such comparisons detect, for each metric.
        support: Also print on how many problems B keeps, loses and gains right samples; with
            --details also which ones, and with --json the state of each problem.

    Json:
        schema_version: The version of these keys: 2.
        verdict: What the comparison shows, in a sentence.
        first: Run A.
        second: Run B.
        split: The evaluation.
        problems: The number of problems that both have.
        seeds: The number of training seeds of A and of B.
        samples: The number of samples that every problem has, of A and of B.
        most: The largest number of samples of a problem, of A and of B.
        temperatures: The temperatures of A and of B.
        intervals: How the intervals were made.
        level: The chance of an error in detectable.
        power: The power in detectable.
        rows: For each metric and k: the estimates of A and B, and the paired difference B − A with
            its interval and detectable, the smallest difference that these problems can show; few
            says whether three problems or fewer decide the value of A or B.
        available: The metrics that both have.
        band: B − A of pass@k with a band at all k at once.
        first_loss: The first k at which a run is below the other one.
        ungraded: Run → samples without a grade, also of problems that are left out because of them.
        notes: What was left out, and what else must be known, such as settings that differ.
        problems_read: The number of problems of A and of B, before any were left out.
        reading: How the fields of the logs were read.
        equal: Whether both have the same samples: a file was compared with itself or its copy.
        by_task: The differences of each task, and their macro average, where there are several.
        support: With --support, for each k the numbers of problems that are preserved, lost, gained
            or outside, and the state of each problem with all samples; else null.
    """

    first: Positional[Path]
    second: Positional[Path]
    split: str | None = None
    metrics: tuple[str, ...] = ()
    k: tuple[int, ...] = ()
    allow_damaged: bool = False
    details: bool = False
    support: bool = False

    def run(self) -> None:
        """Print the comparison."""
        from setrl.evaluate.by_task import difference_table
        from setrl.evaluate.comparison import compare_paths
        from setrl.evaluate.loading import other_splits
        from setrl.evaluate.text import FEW, comparison_text
        from setrl.support.wording import wrapped

        if min(self.k, default=1) < 1:
            raise ConfigError(f"each --k must be at least 1, got {min(self.k)}")
        result = compare_paths(
            self.first,
            self.second,
            self.split,
            self.metrics,
            allow_damaged=self.allow_damaged,
            ks=self.k,
            log=self.log_options,
            support=self.support,
        )
        self.say(result.reading)
        if self.json:
            self.say_json(**result.to_json())
        else:
            text = comparison_text(result, self.details, None if self.k else FEW)
            others = other_splits(result.split, self.first, self.second)
            also = f"other evaluations: --split {' or '.join(others)}" if others else ""
            tables = text, difference_table(result.by_task, self.metrics), also
            print(wrapped("\n\n".join(filter(None, tables))))
