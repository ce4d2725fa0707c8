"""`python -m studies.front`: the study of recipes/front, from its runs to tables and a figure.

`collect` keeps of a run what the study needs, in one small file; `finalists` applies the rule of
recipes/front/README.md to the screen; `tables` writes all tables, the verdicts, and the figure.
"""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from itertools import product
from pathlib import Path
from typing import Annotated, Any

import numpy as np
import tyro
import yaml
from matplotlib.axes import Axes
from matplotlib.figure import Figure

from setrl.evaluate.intervals import WithInterval
from setrl.evaluate.looks import Look, looks
from setrl.evaluate.summary import Summary, evaluations_of, summarise
from setrl.logs.run import Run as RunFolder
from setrl.show.report.drawing import draw_front, front_legend
from setrl.show.report.style import LIGHT, axes_grid
from setrl.support import files
from setrl.support.errors import RunError, explain
from setrl.support.wording import MISSING, interval, markdown_table, percent, plain, signed
from studies.summaries import by_arm, rounded, title

FOLDER = Path(__file__).parents[1] / "docs" / "results" / "front"
RECIPES = Path(__file__).parents[1] / "recipes" / "front"
REFERENCE = "poly_epo_4"
PASS, RIGHT, WIDE = "pass@1", "correct_strategies@32", "pass@32"
METRICS = (
    PASS, RIGHT, WIDE, "majority@32", "vote_share@32", "top_share", "effective_number",
    "degenerate",
)  # fmt: skip
POINTS = {name for name in METRICS if name not in (RIGHT, "effective_number")}  # shown in per cent
WORTH = 2.0  # points of pass@1 for a right strategy, in the screen's score
NEARLY = {PASS: 0.005, RIGHT: 0.1}  # how far below still counts as not below

FIXED = ("grpo", "poly_epo_2", "poly_epo_4", "concave_0", "concave_0.25")
FAMILIES = {
    "best of a set": r"maxpo|pkpo|s_loo",
    "pass@k": r"pass_k|maxrl",
    "polychromic": r"poly_epo|poly_mixture",
    "counts": r"concave|raft",
    "reward shaping": r"grpo_div|darling|uarl",
    "other sets": r"sum|distinct_correct",
    "weights": r"w_reinforce|f_grpo",
    "log-probability": r"ucpo|unlikeliness",
    "KL": r"grpo_kl",
}

Splits = Mapping[str, Mapping[str, Any]]  # split → arm → metric → value, or {value, low, high}


@dataclass(frozen=True)
class Run:
    """What a run of the study came to.

    Attributes:
        name: Of its config.
        config: Its keys.
        arms: Split → arm → metric → {value, low, high, per_seed}.
        differences: Split → arm → metric → {value, low, high}, minus Poly-EPO with K = 4.
    """

    name: str
    config: Mapping[str, Any]
    arms: Splits
    differences: Splits

    @classmethod
    def read(cls, path: Path) -> Run:
        """Read the run in a file that `collect` wrote."""
        found = json.loads(path.read_text(encoding="utf-8"))
        return cls(found["name"], found["config"], found["arms"], found["differences"])

    def value(self, arm: str, metric: str, split: str = "test") -> float:
        """Return the mean over problems and seeds."""
        return float(self.arms[split][arm][metric]["value"])


def collect(run_dir: Annotated[Path, tyro.conf.Positional], folder: Path = FOLDER) -> Path:
    """Keep what the study needs of a finished run.

    Args:
        run_dir: Its folder.
        folder: Where the file goes, under the name of the run's config without "front_".

    Raises:
        RunError: If an arm, a seed or a split is not evaluated yet.
    """
    config = yaml.safe_load((run_dir / "config.yaml").read_text(encoding="utf-8"))
    evaluations = evaluations_of(RunFolder(run_dir))
    _refuse_unfinished(run_dir, config, evaluations)
    trained = list(config["arms"])
    references = dict.fromkeys(reference(arm, trained) for arm in trained)
    summaries = [summarise(evaluations, one) for one in filter(None, references)]
    first = summaries[0] if summaries else summarise(evaluations, None)  # arms are equal in all
    kept = {
        "name": config["name"].removeprefix("front_"),
        "config": config,
        "arms": by_arm(first, METRICS, ("value", "low", "high", "per_seed")),
        "differences": _paired(summaries, first.splits, trained),
    }
    path = folder / f"{kept['name']}.json"
    files.write_json(path, {"schema_version": 1, **kept})
    return path


def _paired(
    summaries: Sequence[Summary], splits: Iterable[str], arms: Sequence[str]
) -> dict[str, dict[str, Any]]:
    """Return split → arm → metric → the difference to its reference."""
    paired: dict[str, dict[str, Any]] = {split: {} for split in splits}
    for summary in summaries:
        for split, found in summary.splits.items():
            paired[split] |= {
                one.arm: {m: rounded(one.metrics[m], ("value", "low", "high")) for m in METRICS}
                for one in found.differences
                if one.against == summary.reference == reference(one.arm, arms)
            }
    return paired


def reference(arm: str, arms: Sequence[str]) -> str | None:
    """Return the arm of Poly-EPO with K = 4 to compare with; it has the arm's judge if arms differ.

    >>> reference("concave_0", ["poly_epo_4", "concave_0"])
    'poly_epo_4'
    >>> reference("concave_0_answers", ["poly_epo_4_texts", "poly_epo_4_answers"])
    'poly_epo_4_answers'
    """
    if arm.startswith(REFERENCE) and (arm == REFERENCE or REFERENCE not in arms):
        return None
    judged = (one for one in arms if one.startswith(REFERENCE))
    by_judge = (one for one in judged if arm.endswith(one.removeprefix(REFERENCE)))
    return REFERENCE if REFERENCE in arms else next(by_judge, None)


def _refuse_unfinished(run_dir: Path, config: Mapping[str, Any], found: Mapping[str, Any]) -> None:
    for split in config.get("eval_splits") or found:
        for arm in config["arms"]:
            missing = set(config["seeds"]) - set(found.get(split, {}).get(arm, {}))
            if missing:
                seeds = ", ".join(map(str, sorted(missing)))
                raise RunError(f"{run_dir}: {arm} with seed {seeds} has no evaluation on {split}")


def score(run: Run, arm: str) -> float:
    """Return pass@1 in points + 2 × right strategies, on the test split."""
    return 100 * run.value(arm, PASS) + WORTH * run.value(arm, RIGHT)


def ranked(screen: Sequence[Run]) -> list[tuple[float, str, str]]:
    """Return score, family and name of every arm that is not fixed, the best first."""
    found = [
        (score(run, arm), _family(arm), arm)
        for run in screen
        for arm in run.arms["test"]
        if arm not in (*FIXED, "base")
    ]
    return sorted(found, reverse=True)


def _family(arm: str) -> str:
    return next(name for name, pattern in FAMILIES.items() if re.match(pattern, arm))


def chosen(screen: Sequence[Run], count: int = 3) -> list[str]:
    """Return the finalists that the screen decides: the best, one of each family."""
    best: dict[str, str] = {}
    for _, family, arm in ranked(screen):
        best.setdefault(family, arm)
    return list(best.values())[:count]


def finalists(folder: Path = FOLDER) -> None:
    """Print the screen from the best score down, and the finalists that it chooses.

    Args:
        folder: Of the collected runs.
    """
    screen = [Run.read(folder / f"{name}.json") for name in ("screen", "screen_logprob")]
    for found, family, arm in ranked(screen):
        print(f"{found:6.1f}  {arm:22}{family}")
    print("finalists:", ", ".join(chosen(screen)))


def verdict(run: Run, arm: str) -> str:
    """Return the verdict of recipes/front/README.md on an arm's lead over Poly-EPO with K = 4."""
    found = {name: run.differences["test"][arm][name] for name in (PASS, RIGHT)}
    above = {name: one["low"] > 0 for name, one in found.items()}
    not_below = {name: one["value"] >= -NEARLY[name] for name, one in found.items()}
    below = {name: one["high"] < 0 for name, one in found.items()}
    for name, other in ((PASS, RIGHT), (RIGHT, PASS)):
        if below[name] and not above[other]:
            return "refuted"
    is_ahead = any(above[n] and not_below[o] for n, o in ((PASS, RIGHT), (RIGHT, PASS)))
    return "confirmed" if is_ahead and _above_line(run, arm) else "undecided"


def _above_line(run: Run, arm: str) -> bool:
    """Return whether an arm has more strategies than Poly-EPO's line over K has at its pass@1."""
    return len(_line(run)) < 3 or lead(run, arm) > 0


def _line(run: Run) -> list[str]:
    """Return the arms of plain Poly-EPO, whose K varies."""
    return [name for name in run.arms["test"] if re.fullmatch(r"poly_epo_\d+", name)]


def lead(run: Run, arm: str) -> float:
    """Return right strategies beyond Poly-EPO's line over K, at the arm's pass@1.

    Left and right of the line its ends count: nothing is extrapolated.
    """
    line = sorted((run.value(name, PASS), run.value(name, RIGHT)) for name in _line(run))
    at = float(np.interp(run.value(arm, PASS), *np.transpose(line)))
    return run.value(arm, RIGHT) - at


COLUMNS = (
    ("test", PASS), ("test", RIGHT), ("shifted", PASS), ("shifted", RIGHT), ("shifted", WIDE),
    ("shifted", "majority@32"), ("shifted", "vote_share@32"),
)  # fmt: skip
HEADS = (
    "pass@1", "right strategies in 32", "shifted pass@1", "shifted right strategies",
    "shifted pass@32", "shifted majority@32", "shifted vote share@32",
)  # fmt: skip


def _shown(metric: str, found: Mapping[str, float], write: Callable = plain) -> str:
    factor, digits = (100, 1) if metric in POINTS else (1, 2)
    ends = interval((found["low"], found["high"]), factor, digits)
    return f"{write(found['value'] * factor, digits)} {ends}"


def table(run: Run) -> list[str]:
    """Return the table of a run: arms by score, and differences to Poly-EPO with K = 4."""
    order = sorted(run.arms["test"], key=lambda arm: -score(run, arm))
    seeds = ", ".join(map(str, run.config["seeds"]))
    rows = [
        [f"`{arm}`", *(_shown(metric, run.arms[split][arm][metric]) for split, metric in COLUMNS)]
        for arm in order
    ]
    lines = [f"## {run.name}", f"Seeds {seeds}; {run.config['steps']} steps."]
    lines += [markdown_table(("arm", *HEADS), rows)]
    if len(run.config["seeds"]) > 1 and run.differences:
        lines += _differences(run, [arm for arm in order if arm in run.differences["test"]])
    return lines


def _differences(run: Run, order: Sequence[str]) -> list[str]:
    rows = []
    for arm in order:
        cells = [
            _shown(metric, run.differences[split][arm][metric], signed)
            for split, metric in COLUMNS[:5]
        ]
        beyond = signed(lead(run, arm), 2) if len(_line(run)) > 1 else MISSING
        rows.append([f"`{arm}`", *cells, beyond, verdict(run, arm)])
    heads = ("arm", *HEADS[:5], "beyond the line", "verdict")
    said = "Paired differences to Poly-EPO, K = 4, and right strategies beyond its line over K:"
    return [said, markdown_table(heads, rows)]


ROWS = (
    ("test", RIGHT, "right strategies in 32 samples"),
    ("shifted", RIGHT, "right strategies in 32 samples"),
    ("shifted", WIDE, "pass@32"),
)


def finals(folder: Path = FOLDER) -> Figure:
    """Draw the finalists from the collected runs."""
    return draw([Run.read(folder / f"{name}.json") for name in FINALS], folder)


LABELS: Mapping[str, tuple[str, tuple[int, int], str]] = {
    "base": ("base", (0, 18), "center"),
    "grpo": ("GRPO", (-6, 6), "right"),
    "poly_epo_2": ("Poly-EPO, K = 2", (-8, -12), "right"),
    "poly_epo_4": ("Poly-EPO, K = 4", (-6, -22), "right"),
    "poly_epo_8": ("Poly-EPO, K = 8", (-10, -12), "right"),
    "concave_0": ("concave counts, α = 0", (4, 13), "right"),
    "concave_0.25": ("α = 0.25", (8, 4), "left"),
}
"""Arm → its name in the figure, where the name stands from the point, and its end there."""


def in_short(folder: Path = FOLDER) -> Figure:
    """Draw pass@1 against right strategies on test problems, a panel for each domain."""
    figure, axes = axes_grid(1, len(FINALS), 13.5, 4.4)
    for ax, name in zip(axes, FINALS, strict=True):
        _named(ax, Run.read(folder / f"{name}.json"))
    axes[0].set_ylabel("right strategies in 32 samples")
    return figure


def _named(ax: Axes, run: Run) -> None:
    """Draw the arms of `LABELS`, each with its intervals and its name, in per cent."""
    of_arms = {arm: run.arms["test"][arm] for arm in LABELS if arm in run.arms["test"]}
    seen = looks(list(of_arms))
    for arm, found in of_arms.items():
        words, offset, end = LABELS[arm]
        x, y = 100 * found[PASS]["value"], found[RIGHT]["value"]
        reach = [[[abs(m["value"] - m["low"])], [abs(m["high"] - m["value"])]]
                 for m in (found[PASS], found[RIGHT])]  # fmt: skip
        ax.errorbar(x, y, xerr=100 * np.array(reach[0]), yerr=reach[1], color=seen[arm].hue,
                    marker=seen[arm].marker or "o", elinewidth=0.9)  # fmt: skip
        ax.annotate(words, (x, y), offset, textcoords="offset points", ha=end, fontsize=9)
    line = [of_arms[arm] for arm in _line(run) if arm in of_arms]
    ax.plot([100 * m[PASS]["value"] for m in line], [m[RIGHT]["value"] for m in line],
            color=seen[REFERENCE].hue, linewidth=1, zorder=1)  # fmt: skip
    title(ax, run.name, "pass@1 (%)")
    ax.set(xlim=(45, 104), ylim=(0, 1.06 * ax.get_ylim()[1]))


def draw(runs: Sequence[Run], folder: Path = FOLDER) -> Figure:
    """Draw a column for each run and a row for each of `ROWS`: pass@1 against diversity.

    A star is where imitation gets in as many steps, if `studies.ceiling` has measured it.
    """
    arms = looks(list(dict.fromkeys(arm for run in runs for arm in run.arms["test"])))
    size = 4.6 * len(runs) + 1.6, 4.5 * len(ROWS)
    figure, axes = axes_grid(len(ROWS), len(runs), *size, layout=None)
    figure.subplots_adjust(left=0.06, right=0.88, bottom=0.05, top=0.95, hspace=0.3)
    for ax, ((split, kept, label), run) in zip(axes, product(ROWS, runs), strict=True):
        _scatter(ax, run, arms, split, kept)
        _imitation(ax, folder / f"ceiling_{run.name}.json", split, kept)
        if run is runs[0]:
            ax.set_ylabel(label)
    front_legend(figure, {arm: arms[arm] for arm in arms if arm not in FAR}, LIGHT)
    return figure


FAR = ("base", "grpo")  # so far from the others that the others would look the same


def _scatter(ax: Axes, run: Run, arms: Mapping[str, Look], split: str, kept: str) -> None:
    points = {
        arm: (_place(found[PASS]), _place(found[kept]))
        for arm, found in run.arms[split].items()
        if arm not in FAR
    }
    title(ax, f"{run.name}, {split}", "pass@1")
    draw_front(ax, points, arms, LIGHT)
    if kept in POINTS:
        bottom, top = ax.get_ylim()
        ax.set_yticks([tick for tick in ax.get_yticks() if bottom < tick < min(top, 1.001)])
    far = [
        f"{arm} {_plain(PASS, run.value(arm, PASS, split))} / "
        f"{_plain(kept, run.value(arm, kept, split))}"
        for arm in FAR
        if arm in run.arms[split]
    ]
    ax.text(0.02, 0.02, "not shown: " + ", ".join(far), transform=ax.transAxes, fontsize=7)


def _plain(metric: str, value: float) -> str:
    return (percent if metric in POINTS else plain)(value)


def _imitation(ax: Axes, path: Path, split: str, kept: str) -> None:
    if not path.exists():
        return
    of_arms = json.loads(path.read_text(encoding="utf-8"))["splits"][split]
    [found] = [metrics for arm, metrics in of_arms.items() if arm != "base"]
    x, y = found[PASS]["value"], found[kept]["value"]
    ax.plot(x, y, "*", color="black", markersize=11)
    (left, right), (bottom, top) = ax.get_xlim(), ax.get_ylim()
    ax.set(xlim=(min(left, x - 0.02), right), ylim=(bottom, max(top, y + 0.04 * (top - bottom))))
    ax.annotate("imitation", (x, y), xytext=(6, 6), textcoords="offset points", fontsize=8)


def _place(found: Mapping[str, float]) -> WithInterval:
    return WithInterval(found["value"], found["low"], found["high"])


FINALS = ("polynomial", "multiplication", "quadratic")
EARLIER = """\
The intervals of the runs with three seeds were first percentiles of resampled problems and seeds
(`bootstrap` in the files), which are too short for three seeds. Their samples are not in the
repository, so the present intervals are computed from what the files have.
The spread of seeds is exact: V_R comes from the paired means of the seeds (`per_seed`).
The spread of problems is recovered from the width
of the earlier interval: V_P = (width / 3.92)² − V_R of one arm − V_R of the other. The interval is
the value ± √(t²₉₉·V_P + t²_{R−1}·V_R), and no shorter than the earlier one; arms with the same
samples differ by 0. In the runs of docs/results whose V_P is known, the recovered interval has
0.93 to 1.5 times the exact length for pass@1 (nine of ten: 0.99 to 1.06) and 0.95 to 1.2 times for
right strategies. The intervals of polynomial_fresh are computed from its samples."""


def tables(folder: Path = FOLDER) -> Path:
    """Write README.md from all collected runs.

    Args:
        folder: Of the collected runs.

    Returns:
        The page.
    """
    planned = [*FINALS, *sorted({path.stem for path in RECIPES.glob("*.yaml")} - {*FINALS})]
    runs = [Run.read(path) for name in planned if (path := folder / f"{name}.json").exists()]
    parts = ["# Results: front", "Written by `python -m studies.front tables`; do not edit."]
    parts += ["Means over problems and seeds with 95% intervals. The plan: recipes/front.", EARLIER]
    shown = [run for run in runs if run.name in FINALS]
    if shown:
        parts += ["![The fronts of the finalists](front.svg)"]
    parts += [part for run in runs for part in table(run)]
    page = folder / "README.md"
    files.write_text(page, "\n\n".join(parts) + "\n")
    return page


def main() -> None:
    """Run the command line."""
    commands: dict[str, Any] = {"collect": collect, "finalists": finalists, "tables": tables}
    try:
        print(tyro.extras.subcommand_cli_from_dict(commands, prog="python -m studies.front") or "")
    except (RunError, OSError) as error:
        raise SystemExit(f"studies.front: {explain(error)}") from None


if __name__ == "__main__":
    main()
