"""`python -m studies.comparison_coverage`: how often a comparison of two models is wrong.

Each cell draws comparisons of A and B on P problems. The success rate p of a problem comes from a
family of distributions; B has the rates of A (then the models are equal, and any difference that is
shown is an error), or others, which the cell names. A has n_A samples of a problem, B n_B.
Everything else is the library: values of problems, single intervals, and the band over k.

The numbers are counted into a file batch after batch, so that a run that was stopped goes on. Each
cell counts, for the single intervals of each metric@k and for the band of pass@k: how often they
contain the truth, how often they exclude 0, and the sum of their widths. "Before" are percentiles
of resampled problems and bands of c standard errors, as setrl 0.8 had.
"""

from __future__ import annotations

import json
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any
from zlib import crc32

import numpy as np
import tyro

from setrl.evaluate.bands import every_k, simultaneous_band
from setrl.evaluate.estimators import pass_at_k
from setrl.evaluate.intervals import IntervalConfig, paired_difference
from setrl.evaluate.metrics import bounds_of, metric_values, paired_values
from setrl.evaluate.samples import Evaluation
from setrl.samples.samples import Samples
from setrl.support import files
from studies.interval_coverage import resampling_weights

RESULTS = Path(__file__).parents[1] / "docs" / "results" / "evaluation" / "comparisons.json"
CONFIG = IntervalConfig(draws=1000)
BATCH, TRUTH = 250, 400_000  # comparisons; problems that the true difference is computed from
SHARE = (0.0, 1.0)
WRONG, WAYS = 5, 4  # wrong answers of a problem, and strategies
LABELS = ("majority", "strategies", "correct_strategies", "max", "cover", "effective_number")

Rates = np.ndarray  # success rates, of any shape
Draw = Callable[[np.random.Generator, tuple[int, ...]], Rates]
Pair = tuple[Any, ...]  # of A and of B


def beta(a: float, b: float) -> Draw:
    """Rates of a Beta distribution."""
    return lambda rng, shape: rng.beta(a, b, shape)


def mixed(chance: float, rare: Draw, usual: Draw) -> Draw:
    """Rates of two distributions: a chance for the rare one."""
    return lambda rng, shape: np.where(rng.random(shape) < chance, rare(rng, shape),
                                       usual(rng, shape))  # fmt: skip


def always(value: float) -> Draw:
    """One rate."""
    return lambda _, shape: np.full(shape, value)


def power(exponent: float) -> Callable[[np.random.Generator, Rates], Rates]:
    """B's rates are a power of A's: all problems are harder, or easier."""
    return lambda _, rates: rates**exponent


def some(chance: float, value: float) -> Callable[[np.random.Generator, Rates], Rates]:
    """B never solves some problems, or always does; the others are as for A."""
    return lambda rng, rates: np.where(rng.random(rates.shape) < chance, value, rates)


def others(draw: Draw) -> Callable[[np.random.Generator, Rates], Rates]:
    """B's rates have nothing to do with A's."""
    return lambda rng, rates: draw(rng, rates.shape)


FAMILIES: dict[str, Draw] = {
    "Beta(10, 1)": beta(10, 1),
    "Beta(5, 1)": beta(5, 1),
    "Beta(2, 1)": beta(2, 1),
    "Beta(1, 1)": beta(1, 1),
    "Beta(.5, .5)": beta(0.5, 0.5),
    "Beta(.15, 1)": beta(0.15, 1),
    "Beta(.1, 4)": beta(0.1, 4),
    "Beta(1, 10)": beta(1, 10),
    "half 1, half Beta(2, 1)": mixed(0.5, beta(2, 1), always(1.0)),
    "3% Beta(1, 3), else Beta(40, 1)": mixed(0.03, beta(1, 3), beta(40, 1)),
    "5% Beta(3, 1), else Beta(.05, 5)": mixed(0.05, beta(3, 1), beta(0.05, 5)),
}
CHANGES: dict[str, Callable[[np.random.Generator, Rates], Rates]] = {
    "equal": lambda _, rates: rates,
    "p²": power(2),
    "√p": power(0.5),
    "5% never": some(0.05, 0.0),
    "5% always": some(0.05, 1.0),
    "Beta(1, 1.3)": others(beta(1, 1.3)),
    "Beta(.5, 1)": others(beta(0.5, 1)),
    "Beta(3, 1)": others(beta(3, 1)),
    "Beta(1, 2)": others(beta(1, 2)),
}


@dataclass(frozen=True)
class Cell:
    """Comparisons of one kind.

    Attributes:
        problems, first, second: P, n_A and n_B.
        family: How A's rates are drawn.
        change: What B's rates are.
        seeds: Training runs of each model; each moves all rates of a run by its own effect.
        labels: Whether samples have answers, strategies and rewards, and their metrics are counted.
    """

    problems: int
    first: int
    second: int
    family: str
    change: str = "equal"
    seeds: int = 1
    labels: bool = False

    @property
    def name(self) -> str:
        """What its numbers are kept under."""
        more = f", {self.seeds} seeds" * (self.seeds > 1) + ", labels" * self.labels
        return f"{self.problems} × {self.first}/{self.second}, {self.family}, {self.change}{more}"


CELLS = (
    *(Cell(p, a, b, family) for p, a, b, family in (
        (10, 64, 4, "Beta(10, 1)"), (10, 64, 4, "Beta(1, 1)"), (10, 16, 16, "Beta(.5, .5)"),
        (30, 64, 4, "Beta(10, 1)"), (30, 64, 4, "Beta(.15, 1)"), (30, 64, 8, "Beta(.1, 4)"),
        (30, 64, 8, "3% Beta(1, 3), else Beta(40, 1)"), (30, 16, 16, "Beta(5, 1)"),
        (50, 16, 4, "Beta(10, 1)"), (50, 16, 4, "Beta(.5, .5)"), (50, 16, 4, "Beta(.1, 4)"),
        (50, 64, 8, "half 1, half Beta(2, 1)"), (50, 64, 4, "5% Beta(3, 1), else Beta(.05, 5)"),
        (50, 16, 16, "Beta(.15, 1)"), (200, 64, 8, "Beta(5, 1)"), (200, 64, 8, "Beta(.5, .5)"),
        (200, 64, 4, "Beta(1, 10)"), (200, 8, 8, "Beta(10, 1)"), (200, 16, 4, "Beta(2, 1)"),
    )),
    *(Cell(p, a, b, family, change) for p, a, b, family, change in (
        (10, 64, 4, "Beta(2, 1)", "Beta(1, 2)"), (10, 16, 16, "Beta(1, 1)", "Beta(.5, 1)"),
        (10, 64, 4, "Beta(1, 1)", "5% always"), (30, 64, 4, "Beta(10, 1)", "p²"),
        (30, 64, 4, "Beta(10, 1)", "√p"), (30, 16, 16, "Beta(5, 1)", "p²"),
        (30, 16, 16, "Beta(2, 1)", "5% never"), (30, 64, 4, "Beta(1, 1)", "Beta(.5, 1)"),
        (30, 16, 16, "Beta(.5, .5)", "Beta(1, 1.3)"), (30, 64, 8, "Beta(.15, 1)", "5% always"),
        (50, 16, 4, "Beta(5, 1)", "p²"), (50, 16, 4, "Beta(.1, 4)", "√p"),
        (50, 64, 8, "Beta(10, 1)", "5% never"), (50, 64, 8, "Beta(.15, 1)", "5% always"),
        (200, 16, 16, "Beta(5, 1)", "p²"), (200, 64, 8, "Beta(5, 1)", "p²"),
        (200, 64, 8, "Beta(5, 1)", "Beta(3, 1)"), (200, 64, 8, "Beta(1, 1)", "Beta(1, 1.3)"),
        (200, 64, 8, "Beta(.15, 1)", "5% always"),
    )),
    Cell(30, 64, 4, "Beta(10, 1)", seeds=3), Cell(50, 16, 4, "Beta(.5, .5)", seeds=3),
    Cell(200, 16, 16, "Beta(5, 1)", seeds=3), Cell(200, 16, 4, "Beta(1, 1)", "p²", seeds=3),
    Cell(10, 16, 4, "Beta(1, 1)", labels=True), Cell(30, 32, 4, "Beta(10, 1)", labels=True),
    Cell(30, 32, 4, "Beta(.15, 1)", labels=True), Cell(50, 16, 4, "Beta(.5, .5)", labels=True),
    Cell(100, 32, 8, "Beta(5, 1)", labels=True), Cell(100, 8, 8, "Beta(5, 1)", labels=True),
    Cell(50, 16, 4, "Beta(5, 1)", "p²", labels=True),
)  # fmt: skip


def rates_of(rng: np.random.Generator, cell: Cell, times: int) -> Pair:
    """Draw success rates of A and B: (times, seeds, P) each."""
    of_a = FAMILIES[cell.family](rng, (times, 1, cell.problems))
    of_b = CHANGES[cell.change](rng, of_a)
    if cell.seeds == 1:
        return of_a, of_b
    effects = np.exp(0.3 * rng.normal(size=(2, times, cell.seeds, 1)))
    return of_a ** effects[0], of_b ** effects[1]


def pass_values(rng: np.random.Generator, cell: Cell, times: int, ks: Sequence[int]) -> Pair:
    """Return pass@k of A's and of B's problems: (times, K, seeds, P) each."""
    rates = rates_of(rng, cell, times)
    sizes = cell.first, cell.second
    counts = [rng.binomial(n, p) for n, p in zip(sizes, rates, strict=True)]
    tables = [np.array([pass_at_k(np.arange(n + 1), n, k) for k in ks]) for n in sizes]
    return tuple(
        np.moveaxis(table[:, count], 0, 1) for table, count in zip(tables, counts, strict=True)
    )


def label_values(
    rng: np.random.Generator, cell: Cell, times: int
) -> tuple[list[Evaluation], dict[str, Pair]]:
    """Return the samples of A and B, and their metrics of labels: metric → (times, 1, P) each."""
    problems = times * cell.problems
    laws = rng.dirichlet(np.full(WRONG, 0.3), problems), rng.dirichlet(np.full(WAYS, 0.5), problems)
    sides = [
        _samples(rng, rates.reshape(problems), n, laws)
        for rates, n in zip(rates_of(rng, cell, times), (cell.first, cell.second), strict=True)
    ]
    ks = [k for k in (1, 2, 4, 8) if k <= min(cell.first, cell.second)]
    first, second = (metric_values(side, ks, LABELS) for side in sides)
    shape = times, 1, cell.problems
    both = paired_values(sides[:1], sides[1:], first, second)
    return sides, {name: tuple(np.reshape(a, shape) for a in pair) for name, pair in both.items()}


def _samples(rng: np.random.Generator, rates: Rates, n: int, laws: Pair) -> Evaluation:
    """Draw n samples of each problem: right or wrong, an answer, a strategy and a reward."""
    shape = len(rates), n
    correct = rng.random(shape) < rates[:, None]
    wrong, way = ((rng.random((*shape, 1)) > law.cumsum(axis=1)[:, None, :-1]).sum(axis=2)
                  for law in laws)  # fmt: skip
    return Evaluation(
        Samples(
            np.where(correct, 1.0, rng.binomial(2, 0.3, shape) / 4),
            answers=np.where(correct, 0.0, 1.0 + wrong),
            strategies=way * 1.0,
            correct=correct * 1.0,
            prompts=tuple(map(str, range(len(rates)))),
        )
    )


def percentiles(gap_KP: np.ndarray) -> np.ndarray:
    """Return percentiles of resampled problems: (2, K)."""
    weights = resampling_weights(gap_KP.shape[1], CONFIG.draws, 0, 0)
    return np.quantile(weights @ gap_KP.T, [0.025, 0.975], axis=0)


@dataclass
class Tally:
    """How often intervals contain the truth, how often they exclude 0, and their widths."""

    inside: int = 0
    shown: int = 0
    width: float = 0.0

    def add(self, low: Any, high: Any, truth: Any) -> None:
        """Count an interval, or a band with all its places; one that is unknown contains all."""
        low, high, truth = map(np.atleast_1d, (low, high, truth))
        low, high = np.where(np.isnan(low), -np.inf, low), np.where(np.isnan(high), np.inf, high)
        self.inside += bool(((low <= truth + 1e-12) & (high >= truth - 1e-12)).all())
        self.shown += bool(((low > 1e-12) | (high < -1e-12)).any())
        self.width += float(np.minimum(high - low, 2).mean())


def truth_of(cell: Cell) -> dict[str, float]:
    """Return the true difference B − A of each metric: 0 of equal models."""
    whole = replace(cell, problems=1000)
    rng, times = np.random.default_rng(1), TRUTH // 1000 // (20 if cell.labels else 1)
    if cell.labels:
        _, values = label_values(rng, whole, times)
        found = {name: float(np.nanmean(b) - np.nanmean(a)) for name, (a, b) in values.items()}
    else:
        ks = every_k(min(cell.first, cell.second))
        rates = rates_of(rng, whole, times)
        a, b = ([float(((1 - p) ** k).mean()) for k in ks] for p in rates)
        found = {f"pass@{k}": a[at] - b[at] for at, k in enumerate(ks)}
    return dict.fromkeys(found, 0.0) if cell.change == "equal" else found


class Tallies(dict[str, Tally]):
    """A tally for each kind of interval."""

    def add(self, name: str, ends: Any, truth: Any) -> None:
        """Count an interval, or a band with all its places."""
        low, high = ends
        self.setdefault(name, Tally()).add(low, high, truth)


def count(cell: Cell, batch: int, truth: Mapping[str, float]) -> Tallies:
    """Count the intervals of one batch of comparisons."""
    rng = np.random.default_rng([crc32(cell.name.encode()), batch])
    return (count_labels if cell.labels else count_pass)(rng, cell, truth)


def count_labels(rng: np.random.Generator, cell: Cell, truth: Mapping[str, float]) -> Tallies:
    """Count the intervals of single metrics@k."""
    tallies = Tallies()
    sides, values = label_values(rng, cell, BATCH)
    for name, (first, second) in values.items():
        for a, b in zip(first, second, strict=True):
            ends = paired_difference(b, a, CONFIG, bounds_of(name, (a, b), sides)).ends
            tallies.add(name, ends, truth[name])
            kept = np.isfinite(a + b).all(axis=0)
            tallies.add(f"before {name}", percentiles((b - a)[:, kept])[:, 0], truth[name])
    return tallies


def count_pass(rng: np.random.Generator, cell: Cell, truth: Mapping[str, float]) -> Tallies:
    """Count the band of pass@k, and the intervals at powers of two."""
    tallies, ks = Tallies(), every_k(min(cell.first, cell.second))
    true_K = np.array([truth[f"pass@{k}"] for k in ks])
    single = [place for place, k in enumerate(ks) if k & (k - 1) == 0]
    for a, b in zip(*pass_values(rng, cell, BATCH, ks), strict=True):
        band = simultaneous_band(ks, b, a, CONFIG, SHARE)
        tallies.add("band", (band.low, band.high), true_K)
        for place in single:
            ends = paired_difference(b[place], a[place], CONFIG, SHARE).ends
            tallies.add(f"pass@{ks[place]}", ends, true_K[place])
        if cell.seeds > 1:
            continue
        gap_KP, values_K = (b - a)[:, 0], np.array(band.values)
        stderr_K = gap_KP.std(axis=1, ddof=1) / np.sqrt(cell.problems)
        reach_K = np.where(stderr_K > 1e-9, band.critical * stderr_K, np.inf)
        tallies.add("before band", (values_K - reach_K, values_K + reach_K), true_K)
        for place, ends in zip(single, percentiles(gap_KP[single]).T, strict=True):
            tallies.add(f"before pass@{ks[place]}", ends, true_K[place])
    return tallies


def run(times: int, path: Path) -> None:
    """Count until each cell has this many comparisons; the cells with fewest come first."""
    found: dict[str, Any] = json.loads(path.read_text()) if path.is_file() else {}
    for goal in range(BATCH, times + 1, BATCH):
        for cell in CELLS:
            record = found.setdefault(cell.name, {"times": 0, "seconds": 0.0, "counts": {}})
            if record["times"] >= goal:
                continue
            start = time.process_time()
            truth = record.get("truth") or truth_of(cell)
            for name, tally in count(cell, record["times"] // BATCH, truth).items():
                known = record["counts"].get(name, [0, 0, 0.0])
                more = tally.inside, tally.shown, tally.width
                record["counts"][name] = [a + b for a, b in zip(known, more, strict=True)]
            record |= {"times": record["times"] + BATCH, "truth": truth}
            record["seconds"] += time.process_time() - start
            files.write_json(path, found)
        print(f"{goal} comparisons a cell", flush=True)


def rows(found: Mapping[str, Any]) -> Iterator[str]:
    """Yield the lines of a table in Markdown."""
    yield ("| P × n of A/B | rates of A | B | band: wrong (before) | single k, the worst: wrong "
           "(before) | shown by the band (before) | width of the band (before) |")  # fmt: skip
    yield "|---" * 7 + "|"
    for cell in CELLS:
        if (record := found.get(cell.name)) and not cell.labels:
            yield _row(cell, record)
    yield ""
    yield "| P × n of A/B | rates of A | B | metric | wrong (before) | shown (before) | width |"
    yield "|---" * 7 + "|"
    for cell in CELLS:
        if (record := found.get(cell.name)) and cell.labels:
            yield from _label_rows(cell, record)


def _row(cell: Cell, record: Mapping[str, Any]) -> str:
    counts, times = record["counts"], record["times"]
    has_old = "before band" in counts
    worst, old_worst = (
        max(1 - c[0] / times for name, c in counts.items() if name.startswith(start))
        if start == "pass@" or has_old else 0.0
        for start in ("pass@", "before pass@")
    )  # fmt: skip
    band, old = counts["band"], counts.get("before band", (0, 0, 0))
    said = [f"{1 - band[0] / times:.1%}", f"{worst:.1%}", f"{band[1] / times:.0%}",
            f"{100 * band[2] / times:.1f}"]  # fmt: skip
    before = [f"{1 - old[0] / times:.1%}", f"{old_worst:.1%}", f"{old[1] / times:.0%}",
              f"{100 * old[2] / times:.1f}"]  # fmt: skip
    cells = [f"{a} ({b})" if has_old else a for a, b in zip(said, before, strict=True)]
    if cell.change == "equal":
        cells[2] = ""  # every difference that is shown is an error
    return f"| {_head(cell)} | " + " | ".join(cells) + " |"


def _label_rows(cell: Cell, record: Mapping[str, Any]) -> Iterator[str]:
    counts, times = record["counts"], record["times"]
    for metric in LABELS:
        names = [name for name in counts if name.partition("@")[0] == metric]
        worst = max(names, key=lambda name: -counts[name][0])
        now, old = counts[worst], counts[f"before {worst}"]
        shown = "" if cell.change == "equal" else f"{now[1] / times:.0%} ({old[1] / times:.0%})"
        ratio = now[2] / old[2] if old[2] else float("inf")
        yield (f"| {_head(cell)} | {worst} | {1 - now[0] / times:.1%} ({1 - old[0] / times:.1%}) | "
               f"{shown} | × {ratio:.2f} |")  # fmt: skip


def _head(cell: Cell) -> str:
    seeds = f", {cell.seeds} seeds" * (cell.seeds > 1)
    return (f"{cell.problems} × {cell.first}/{cell.second}{seeds} | {cell.family} | "
            f"{cell.change}")  # fmt: skip


def main(times: int = 500, results: Path = RESULTS, table: bool = False) -> None:
    """Count comparisons, or print the table.

    Args:
        times: Comparisons of each cell, in all runs together.
        results: Where the counts are.
        table: Only print the table of what was counted.
    """
    if not table:
        run(times, results)
        return
    for line in rows(json.loads(results.read_text())):
        print(line)


if __name__ == "__main__":
    tyro.cli(main)
