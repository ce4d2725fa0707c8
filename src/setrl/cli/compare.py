"""`setrl compare`."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

from tyro.conf import Positional

from setrl.cli.log_fields import EvaluatedFields
from setrl.errors import ConfigError


@dataclass(frozen=True, kw_only=True)
class Compare(EvaluatedFields):
    """Compare two runs on the same problems: paired differences, and what these problems can see.

    Differences are B − A: give the reference first, as in `setrl report`.

    Attributes:
        first: Run A, the reference: an evaluation file, a log (JSON Lines, a JSON array or
            Parquet, whose fields are recognised and shown; or another tool's), a model's folder,
            or an arm's folder with its seeds. Two logs are joined on the ids of their problems,
            others on the prompts.
        second: Run B.
        split: The evaluation to compare, as its file is named; test by default.
        metrics: {metrics}; support for what became in B of what A can solve; or all. By default
            pass and, where both have answers, majority; where both have strategies,
            correct_strategies, effective_number and top_share. docs/metrics.md has their formulas.
        k: Where curves over k are compared, as --k 1 5 30; 1, 2, 4, … by default. Problems with
            fewer samples than the largest are left out, and counted.
        common: Compare the problems that both have, if one of them has more.
        allow_damaged: Leave out lines of evaluation files that were cut off or hold a problem
            again, rather than stop.
        json: Print JSON instead of tables.
        figure: Also draw the first metric, at all k in between, into this file (PNG, SVG or PDF).
    """

    first: Positional[Path]
    second: Positional[Path]
    split: str | None = None
    metrics: tuple[str, ...] = ()
    k: tuple[int, ...] = ()
    common: bool = False
    allow_damaged: bool = False
    json: bool = False
    figure: Path | None = None

    def run(self) -> None:
        """Print the comparison and draw the figure."""
        from json import dumps

        from setrl.evaluation.comparison import compare, curve_between, load_runs
        from setrl.evaluation.text import comparison_text
        from setrl.files import refuse_own_input
        from setrl.report import draw_comparison

        if min(self.k, default=1) < 1:
            raise ConfigError(f"each --k must be at least 1, got {min(self.k)}")
        read = [path for path in (self.first, self.second) if path.is_file()]
        refuse_own_input(self.figure, *read)
        runs = load_runs(self.first, self.second, self.split, self.allow_damaged, self.log_options)
        result = compare(*runs, self.metrics, self.common, ks=self.k)
        self.say(result.reading)
        print(dumps(result.to_json(), indent=2) if self.json else comparison_text(result))
        if self.figure is not None:
            metric = next(iter(self.metrics), "pass")
            curve = curve_between(*runs, result, metric, self.common)
            draw_comparison(result, metric, self.figure, curve)
