"""`setrl compare`."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import tyro


def compare(
    first: Annotated[Path, tyro.conf.Positional],
    second: Annotated[Path, tyro.conf.Positional],
    split: str | None = None,
    metrics: tuple[str, ...] = ("pass", "majority", "correct_strategies"),
    common: bool = False,
    json: bool = False,
    figure: Path | None = None,
) -> None:
    """Compare two runs on the same problems: paired differences, and what these problems can see.

    Args:
        first: Run A: an evaluation file, a model's folder, or an arm's folder with its seeds.
        second: Run B.
        split: The evaluation to compare, as its file is named; test by default.
        metrics: pass, majority, vote_share, strategies, correct_strategies, max, best_of,
            g_pass_0.5, g_pass_0.75, g_pass_1, g_pass_mean, cover, branches, effective_number,
            top_share, degenerate, shared_prefix; support for what became in B of what A can
            solve; or all. docs/metrics.md has their formulas.
        common: Compare the problems that both have, where one has others besides.
        json: Print JSON instead of tables.
        figure: Also draw the first metric into this file (PNG, SVG or PDF).
    """
    from json import dumps

    from setrl.evaluation.comparison import compare_paths
    from setrl.evaluation.comparison_text import text
    from setrl.files import refuse_own_input
    from setrl.report import draw_comparison

    refuse_own_input(figure, *(path for path in (first, second) if path.is_file()))
    result = compare_paths(first, second, split, metrics, common)
    print(dumps(result.to_json(), indent=2) if json else text(result))
    if figure is not None:
        draw_comparison(result, metrics[0], figure)
