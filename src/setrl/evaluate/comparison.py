"""Two runs on the same problems: metrics, paired differences, what can be detected, what is kept.

Support dynamics say which problems a run still solves, which it lost, and which are new. With k
samples each of runs A and B, a problem is *preserved* if both have a right one, *lost* if only A
has, *gained* if only B has, and *outside* if neither has: Wu et al., arXiv:2507.14843, and Figure 9
of MaxPO. Axes: P problems, R training seeds.
"""

from __future__ import annotations

import dataclasses
import math
from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

import numpy as np

from setrl.evaluate.bands import Band, FirstLoss, first_loss, pass_band
from setrl.evaluate.by_task import ByTask, differences_by_task
from setrl.evaluate.cautions import are_equal, cautions_of_two
from setrl.evaluate.estimators import Floats, pass_at_k
from setrl.evaluate.intervals import (
    ROUNDING,
    Bounds,
    Difference,
    Estimate,
    IntervalConfig,
    decided_by_few,
    detectable_difference,
    mean_over_problems,
    paired_difference,
)
from setrl.evaluate.loading import Side, common_split, load_side
from setrl.evaluate.metrics import (
    METRICS,
    BothValues,
    bounds_of,
    by_metric,
    check_names,
    incomplete,
    is_known,
    paired_values,
    powers_of_two,
    refuse_lacking,
    seed_values,
)
from setrl.evaluate.problems import Common, Ungraded, comparable
from setrl.evaluate.samples import Evaluation
from setrl.evaluate.verdicts import STRATEGIES, strategies_in_words
from setrl.logs.options import LogOptions
from setrl.support import files
from setrl.support.errors import ConfigError
from setrl.support.wording import short_names

CONFIDENCE = 0.95  # of the highest success rate where no sample is right
STATES = ("preserved", "lost", "gained", "outside")
SCHEMA_VERSION = 2  # 1 had A − B
POWER, LEVEL = 0.8, 0.05
USUAL = ("pass", "majority", "correct_strategies", "effective_number", "top_share")


@dataclass(frozen=True)
class PairedMetric:
    """One metric at one place of its curve.

    Attributes:
        metric: "pass", "majority", ….
        k: Samples; for `cover` the share τ; None for a single number.
        first, second: The runs' values.
        difference: Second minus first, paired over problems: the first is the reference, as in a
            report.
        detectable: The true difference that 4 of 5 such comparisons would detect (80% power, 5%
            level); NaN where all problems differ by the same amount, so that the spread is unknown.
        few: Whether three problems or fewer decide the value of a run, so that the interval is as
            wide as what they cannot rule out.
    """

    metric: str
    k: float | None
    first: Estimate
    second: Estimate
    difference: Difference
    detectable: float
    few: bool = False


@dataclass(frozen=True)
class Comparison:
    """Two runs, compared.

    Attributes:
        first, second: Their names.
        split: Which evaluation was compared.
        problems: Problems that both have.
        seeds, temperatures: The values of the first and of the second run.
        samples, most: Samples of a problem, of the first run and of the second; where problems
            differ, the fewest and the most.
        intervals: How intervals were made.
        rows: A row for each metric and k = 1, 2, 4, … up to the smaller n.
        available: The metrics that both have.
        band: B − A of pass@k at every k, with a band that holds for all k at once; None unless pass
            was chosen.
        notes: Which problems are left out, a sentence for each cause: one run lacks them, or has
            fewer samples of them than the largest k, or would have enough if no grade was missing;
            and what else must be known: settings, prompts, lost or copied samples.
        reading: How the fields of the user's logs were read.
        ungraded: "A" and "B" → the samples of a log without a grade, also of problems that are
            left out because of them; a run whose samples all have a grade is not in it.
        problems_read: Problems of the first run and of the second, before any were left out.
        verdict: Whether B uses fewer strategies than A, and whether it solves fewer problems; empty
            where strategies are not known of both.
        first_loss: "A" and "B" → where the first k may lie at which it is below the other.
        equal: Whether both have the same samples: a file was compared with itself or its copy.
        by_task: The differences of each task, and their macro average; None if there is one task.
        support: Which problems B keeps, loses and gains, if it was asked for.
    """

    first: str
    second: str
    split: str
    problems: int
    seeds: tuple[int, int]
    samples: tuple[int, int]
    most: tuple[int, int]
    temperatures: tuple[float, float]
    intervals: IntervalConfig
    rows: tuple[PairedMetric, ...]
    available: tuple[str, ...] = ()
    band: Band | None = None
    first_loss: dict[str, FirstLoss] = field(default_factory=dict)
    notes: tuple[str, ...] = ()
    reading: tuple[str, ...] = ()
    ungraded: dict[str, Ungraded] = field(default_factory=dict)
    problems_read: tuple[int, int] = (0, 0)
    verdict: str = ""
    equal: bool = False
    by_task: ByTask[Difference] | None = None
    support: Support | None = None

    @property
    def names(self) -> tuple[str, str]:
        """The runs' names without folders and endings, where these tell them apart."""
        return _short_side_names(self.first, self.second)

    def of(self, metric: str) -> list[PairedMetric]:
        """Return the rows of one metric, by k."""
        return [row for row in self.rows if row.metric == metric]

    def to_json(self) -> dict[str, Any]:
        """Plain objects, lists and numbers; undefined numbers (NaN) are null."""
        return {
            "schema_version": SCHEMA_VERSION,
            "power": POWER,
            "level": LEVEL,
            **files.plain_json(dataclasses.asdict(self)),
        }


def _short_side_names(first: str, second: str) -> tuple[str, str]:
    first, second = short_names([Path(first), Path(second)])
    return first, second


def compare_paths(
    first: str | Path,
    second: str | Path,
    split: str | None = None,
    metrics: Sequence[str] = (),
    intervals: IntervalConfig | None = None,
    allow_damaged: bool = False,
    ks: Sequence[int] = (),
    log: LogOptions | None = None,
    support: bool = False,
) -> Comparison:
    """Compare two runs by their paths.

    Args:
        first: An evaluation file, a log, a model's folder or an arm's folder.
        second: The run that is compared with it: differences are second minus first.
        split: Name of the evaluation file in folders; by default "test" where both have it, or
            the only one that both have.
        metrics: Which metrics, as in the glossary, without "@k"; "all" for all that both runs
            have. By default the usual ones: metrics of answers and strategies only where both runs
            have them.
        intervals: How intervals are made.
        allow_damaged: See `setrl.evaluate.load_evaluation`.
        ks: See `compare`.
        log: How logs are read.
        support: See `compare`.

    Raises:
        ConfigError: If the run, split or metric does not exist.
        DataError: When a file is not an evaluation, or the problems do not match.
    """
    first, second = Path(first), Path(second)
    chosen = split or common_split(first, second)
    a, b = (load_side(path, chosen, allow_damaged, log) for path in (first, second))
    return compare(a, b, metrics, intervals, ks, support)


def compare(
    first: Side,
    second: Side,
    metrics: Sequence[str] = (),
    intervals: IntervalConfig | None = None,
    ks: Sequence[int] = (),
    support: bool = False,
) -> Comparison:
    """Compare two runs on the problems that both have.

    Problems are matched by their ids, or by their prompts if the runs share no id.

    Args:
        first: Run A, the reference.
        second: Run B. Differences are B − A.
        metrics: See `compare_paths`.
        intervals: How intervals are made.
        ks: Where curves over k are compared, on the problems for which both runs have as many
            samples as the largest; by default 1, 2, 4, … up to what every problem has.
        support: Also say which problems B keeps, loses and gains; see `support_of`.

    Raises:
        ConfigError: When a metric is unknown, or a run cannot have it.
        DataError: When the runs share no problem, or it is not clear which problems are equal.
    """
    intervals = intervals or IntervalConfig()
    check_names(metrics)
    problems_read = (len(first.evaluations[0]), len(second.evaluations[0]))
    a, b, _ = _restrict_to_shared_problems(first, second, 0)
    cautions = cautions_of_two(a.evaluations, b.evaluations)
    is_equal = are_equal(a.evaluations, b.evaluations)
    first, second, common = _restrict_to_shared_problems(first, second, max(ks, default=1))
    ks = ks or powers_of_two(min(first.n, second.n))
    names = by_metric(list(_values_of_both_sides(first, second, [min(2, max(ks))])))
    chosen = list(metrics or (metric for metric in USUAL if metric in names))
    asked = () if "all" in chosen else {*STRATEGIES, *chosen} & METRICS.keys()
    values = _values_of_both_sides(first, second, ks, asked)
    if "all" in chosen:
        chosen = list(names)
    elif not {*chosen} <= {*names}:
        _refuse_lacking_metrics(chosen, first, second, ks)
    band = pass_band(second.evaluations, first.evaluations, intervals)
    shown = band if "pass" in chosen else None
    return Comparison(
        first=first.name,
        second=second.name,
        split=first.split,
        problems=len(first.evaluations[0]),
        seeds=(len(first.evaluations), len(second.evaluations)),
        samples=(first.n, second.n),
        most=(first.most, second.most),
        temperatures=(first.evaluations[0].temperature, second.evaluations[0].temperature),
        intervals=intervals,
        rows=tuple(
            _paired_metrics((*first.evaluations, *second.evaluations), values, chosen, intervals)
        ),
        available=tuple(names),
        band=shown,
        first_loss={"A": first_loss(shown.negated()), "B": first_loss(shown)} if shown else {},
        notes=(*common.notes, *cautions),
        reading=(*first.reading, *second.reading),
        ungraded={
            side: ungraded
            for side, name in zip("AB", common.arms, strict=True)
            if (ungraded := common.ungraded.get(name))
        },
        problems_read=problems_read,
        verdict="" if is_equal else (_strategies_verdict(first, second, values, band, intervals)),
        equal=is_equal,
        by_task=differences_by_task(
            first.evaluations[0].tasks or second.evaluations[0].tasks,
            {name: pair for name, pair in values.items() if name.partition("@")[0] in chosen},
            intervals,
        ),
        support=support_of(first.evaluations, second.evaluations, ks) if support else None,
    )


def _strategies_verdict(
    first: Side, second: Side, values: Mapping[str, BothValues], band: Band, config: IntervalConfig
) -> str:
    """Whether the second run uses fewer strategies than the first, by the band of B − A."""
    asked = {name: pair for name, pair in values.items() if name.partition("@")[0] in STRATEGIES}
    gaps = {
        name: paired_difference(b, a, config, bounds_of(name, (a, b)))
        for name, (a, b) in asked.items()
    }
    second_name, first_name = _short_side_names(second.name, first.name)
    return strategies_in_words(second_name, first_name, gaps, band)


def _restrict_to_shared_problems(
    first: Side, second: Side, least: int
) -> tuple[Side, Side, Common]:
    """Both on the problems that have enough graded samples in both, in the first one's order."""
    name = second.name if second.name != first.name else f"{second.name} (B)"
    common = comparable({first.name: first.evaluations, name: second.evaluations}, least)
    a, b = (tuple(common.arms[arm]) for arm in (first.name, name))
    return replace(first, evaluations=a), replace(second, evaluations=b), common


def _values_of_both_sides(
    first: Side, second: Side, ks: Sequence[int], only: Collection[str] = ()
) -> dict[str, BothValues]:
    """Return the values of the metrics that both have; see `seed_values`."""
    of_first, of_second = (seed_values(run.evaluations, ks, only) for run in (first, second))
    pairs = paired_values(first.evaluations, second.evaluations, of_first, of_second)
    both = {name: _mask_unpaired_problems(*pair) for name, pair in pairs.items()}
    return {name: pair for name, pair in both.items() if is_known(pair[0])}


def _mask_unpaired_problems(first_RP: Floats, second_RP: Floats) -> BothValues:
    """NaN where a run has no value, as an effective number without strategies, for both.

    So the two means and the difference of a row use the same problems.
    """
    missing_P = np.isnan(first_RP).any(axis=0) | np.isnan(second_RP).any(axis=0)
    return np.where(missing_P, np.nan, first_RP), np.where(missing_P, np.nan, second_RP)


def _paired_metrics(
    evaluations: Sequence[Evaluation],
    values: Mapping[str, BothValues],
    metrics: Iterable[str],
    intervals: IntervalConfig,
) -> list[PairedMetric]:
    """Return a row for each place of each of these metrics."""
    names = by_metric(list(values))
    chosen = [name for metric in metrics for name in names.get(metric, ())]
    return [
        _paired_metric(name, *values[name], intervals, bounds_of(name, values[name], evaluations))
        for name in chosen
    ]


def _paired_metric(
    name: str,
    first_RP: Floats,
    second_RP: Floats,
    intervals: IntervalConfig,
    bounds: Bounds | None,
) -> PairedMetric:
    metric, _, place = name.partition("@")
    difference = paired_difference(second_RP, first_RP, intervals, bounds)
    spread = difference.stderr if difference.stderr > ROUNDING else float("nan")
    reach = (difference.high - difference.low) / 2
    return PairedMetric(
        metric=metric,
        k=_read_place(place) if place else None,
        first=mean_over_problems(first_RP, intervals, bounds),
        second=mean_over_problems(second_RP, intervals, bounds),
        difference=difference,
        detectable=detectable_difference(spread, POWER, LEVEL, reach),
        few=bounds is not None
        and any(_is_decided_by_few(each, bounds) for each in (first_RP, second_RP)),
    )


def _is_decided_by_few(values_RP: Floats, bounds: Bounds) -> bool:
    value_P = np.atleast_2d(values_RP).mean(axis=0)
    known_P = value_P[~np.isnan(value_P)]
    return len(known_P) > 1 and bool(decided_by_few(known_P[None], bounds)[0])


def _read_place(text: str) -> float:
    return int(text) if text.isdigit() else float(text)


def _refuse_lacking_metrics(
    metrics: Sequence[str], first: Side, second: Side, ks: Sequence[int]
) -> None:
    """Say which run lacks what one of these metrics needs."""
    names_by_run = {
        run.name: by_metric(list(seed_values(run.evaluations, ks))) for run in (first, second)
    }
    why = {run.name: incomplete(run.evaluations) for run in (first, second)}
    refuse_lacking(metrics, names_by_run, why)
    both = f"{first.name} and {second.name}"
    raise ConfigError(f"{both}: no problem has all metrics of {', '.join(metrics)} in both")


@dataclass(frozen=True)
class SupportAt:
    """How many problems are in each state with k samples of each run, in expectation.

    Attributes:
        k: Samples of a problem.
        preserved, lost, gained, outside: Numbers of problems; they add up to all. At k = n they are
            whole for one seed.
        lost_again: How many problems a second k samples *of A* would lose: what chance alone does.
            NaN where 2k samples are more than a problem has.
    """

    k: int
    preserved: float
    lost: float
    gained: float
    outside: float
    lost_again: float

    @property
    def kept(self) -> float:
        """Share of A's problems that B keeps (SRR of Wu et al.); NaN if A has none."""
        return _share_of_sum(self.preserved, self.lost)

    @property
    def new(self) -> float:
        """Share of B's problems that A lacks (NDR of Wu et al.); NaN if B has none."""
        return _share_of_sum(self.gained, self.preserved)


@dataclass(frozen=True)
class ProblemSupport:
    """The state of one problem with all samples of all seeds.

    Attributes:
        id: What names it.
        state: One of `STATES`.
        right: Right samples of A and of B.
        samples: Samples of A and of B.
        at_most: The success rate that B may have although none of its N samples is right, with 95%
            confidence: 1 − 0.05^(1/N). NaN where one is.
    """

    id: str
    state: str
    right: tuple[int, int]
    samples: tuple[int, int]
    at_most: float


@dataclass(frozen=True)
class Support:
    """The support dynamics of two runs: a row for each k, and the state of each problem."""

    rows: tuple[SupportAt, ...]
    problems: tuple[ProblemSupport, ...]


def support_of(
    first: Sequence[Evaluation], second: Sequence[Evaluation], ks: Sequence[int]
) -> Support:
    """Compute the support dynamics from run A to run B on the same problems.

        lost = Σ_P pass@k of A · (1 − pass@k of B),     and the others in the same way

    The two runs are independent, so a product of unbiased pass@k is unbiased. Seeds are averaged.

    Args:
        first: Evaluations of A, the reference, one for each seed.
        second: Evaluations of B.
        ks: Numbers of samples, each at most what every problem has.
    """
    return Support(
        tuple(_support_at(first, second, k) for k in ks), tuple(_problem_states(first, second))
    )


def _support_at(first: Sequence[Evaluation], second: Sequence[Evaluation], k: int) -> SupportAt:
    a_P, b_P = _chance_solved(first, k), _chance_solved(second, k)
    return SupportAt(
        k,
        preserved=float((a_P * b_P).sum()),
        lost=float((a_P * (1 - b_P)).sum()),
        gained=float(((1 - a_P) * b_P).sum()),
        outside=float(((1 - a_P) * (1 - b_P)).sum()),
        lost_again=float(
            np.mean([_chance_lost_again(evaluation, k).sum() for evaluation in first])
        ),
    )


def _chance_solved(evaluations: Sequence[Evaluation], k: int) -> Floats:
    """Return the chance that k samples hold a right one, over seeds: (P,)."""
    return np.mean(
        [pass_at_k(evaluation.correct_count_P, evaluation.size_P, k) for evaluation in evaluations],
        axis=0,
    )


def _chance_lost_again(evaluation: Evaluation, k: int) -> Floats:
    """P(of two disjoint k-sets of a problem's samples the first holds a right one, the other none).

    C(n−c, k)/C(n, k) − C(n−c, 2k)/C(n, 2k)
    """
    if 2 * k > evaluation.n:
        return np.full(len(evaluation), np.nan)
    misses_P, misses_twice_P = (
        1 - pass_at_k(evaluation.correct_count_P, evaluation.size_P, size) for size in (k, 2 * k)
    )
    return misses_P - misses_twice_P


def _problem_states(
    first: Sequence[Evaluation], second: Sequence[Evaluation]
) -> list[ProblemSupport]:
    right, sizes = (
        [
            np.sum([getattr(evaluation, name) for evaluation in run], axis=0).tolist()
            for run in (first, second)
        ]
        for name in ("correct_count_P", "size_P")
    )
    counts = zip(zip(*right, strict=True), zip(*sizes, strict=True), strict=True)
    return [
        ProblemSupport(
            id=str(id),
            state=STATES[2 * (not a) + (not b)],
            right=(a, b),
            samples=(n, m),
            at_most=math.nan if b else -math.expm1(math.log(1 - CONFIDENCE) / m),
        )
        for id, ((a, b), (n, m)) in zip(first[0].ids, counts, strict=True)
    ]


def _share_of_sum(part: float, rest: float) -> float:
    return part / (part + rest) if part + rest else math.nan
