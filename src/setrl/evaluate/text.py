"""Metrics and comparisons as text: tables, and sentences computed from them."""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping, Sequence
from operator import attrgetter
from typing import TypeVar

from setrl.evaluate.bands import Band, FirstLoss
from setrl.evaluate.comparison import STATES, Comparison, PairedMetric, ProblemSupport, Support
from setrl.evaluate.intervals import Difference, Estimate, problems_needed
from setrl.evaluate.metrics import METRICS, by_metric, with_interval
from setrl.evaluate.summary import ArmSummary
from setrl.evaluate.verdicts import place
from setrl.support.wording import (
    MISSING,
    WIDTH,
    between,
    chosen_range,
    count,
    in_a_row,
    interval,
    percent,
    plain,
    points,
    signed,
    size,
    table,
)

USUAL = ("pass", "max", "best_of", "majority", "strategies", "correct_strategies", "cover",
         "effective_number", "top_share", "degenerate", "shared_prefix")  # fmt: skip
ONE_SEED = "The intervals hold for these two models: no second training seed was compared."
EQUAL = "A and B are equal: the same samples of the same problems, so there is nothing to compare."
ONE_PROBLEM = "one common problem allows no conclusion."
FEW = 4  # places of a curve in a comparison
Row = TypeVar("Row")


def metric_table(arm: ArmSummary, metrics: Sequence[str] = (), notes: Sequence[str] = ()) -> str:
    """Write the metrics of one model, with shares as per cent.

    Args:
        arm: The metrics.
        metrics: Which; by default the usual ones, "all" for all.
        notes: Sentences below the head, such as what was left out.
    """
    names_by_metric = by_metric(arm.metrics)
    asked = METRICS if "all" in metrics else metrics or USUAL
    chosen = {metric: names_by_metric[metric] for metric in asked if metric in names_by_metric}
    axes = {METRICS[metric].axis for metric in chosen}
    tables = [
        _axis_table(arm, {m: names for m, names in chosen.items() if METRICS[m].axis == axis})
        for axis in ("k", "τ", "")
        if axis in axes
    ]
    temperature = "" if math.isnan(arm.temperature) else f", temperature {arm.temperature:g}"
    drawn = size(arm.problems, "problem", arm.n, arm.most)
    seeds, over = (f", {len(arm.seeds)} seeds", " and seeds") if len(arm.seeds) > 1 else ("", "")
    head = f"{drawn}{temperature}{seeds}, 95% intervals over problems{over}"
    fewer = over_fewer({name: arm.metrics[name] for names in chosen.values() for name in names})
    return "\n\n".join(["\n".join([head, *notes, *fewer]), *tables])


def over_fewer(metrics: Mapping[str, Estimate | Difference]) -> list[str]:
    """Say which means leave out problems that have no value, a sentence for each number of them.

    >>> from setrl.evaluate.intervals import mean_over_problems
    >>> over_fewer({"strategies@2": mean_over_problems([1.5, float("nan"), 1.0])})
    ['strategies@k is over 2 of 3 problems: in the other, a sample lacks what it reads']
    """
    titles: dict[tuple[int, int], dict[str, None]] = {}
    for name, estimate in metrics.items():
        if estimate.missing:
            sizes = estimate.problems, estimate.missing
            titles.setdefault(sizes, {})[METRICS[name.partition("@")[0]].title] = None
    return [
        f"{in_a_row(list(names))} {'is' if len(names) == 1 else 'are'} over {kept} of "
        f"{count(kept + missing, 'problem')}: in {'the other' if missing == 1 else 'the others'}, "
        f"a sample lacks what {'it reads' if len(names) == 1 else 'they read'}"
        for (kept, missing), names in titles.items()
    ]


def _axis_table(arm: ArmSummary, chosen: Mapping[str, Sequence[str]]) -> str:
    """Write the metrics of one axis, one line each place; without an axis, one each metric."""
    axis = METRICS[next(iter(chosen))].axis
    if not axis:
        return table(
            [[METRICS[metric].label, _metric_cell(arm, metric)] for metric in chosen], (0, 1)
        )
    places = dict.fromkeys(name.partition("@")[2] for names in chosen.values() for name in names)
    band = arm.band if "pass" in chosen and arm.band is not None and arm.band.is_known else None
    titles = [METRICS[metric].title for metric in chosen]
    rows = [[axis, *titles[:1], *(["all k at once"] if band else []), *titles[1:]]]
    for x in sorted(places, key=float):
        cells = [_metric_cell(arm, f"{metric}@{x}") for metric in chosen]
        if band is not None:
            cells.insert(1, interval(band.at(int(x)), 100))
        rows.append([x, *cells])
    return table(rows, range(len(rows[0])), WIDTH)


def _metric_cell(arm: ArmSummary, name: str) -> str:
    if name not in arm.metrics:
        return MISSING
    return with_interval(name, arm.metrics[name])


def comparison_text(comparison: Comparison, details: bool = False, most: int | None = FEW) -> str:
    """Write a comparison: what was compared, a table, and what it shows in sentences.

    Args:
        comparison: The comparison.
        details: Write all places of each curve, on how many problems B is above A, what these
            problems can detect at both ends of a curve, and where one run may fall below the other.
        most: The number of places of a curve without details; None for all.
    """
    metrics = list(dict.fromkeys(row.metric for row in comparison.rows))
    most = None if details else most
    rows = [row for metric in metrics for row in _rows_over_curve(comparison.of(metric), most)]
    sentences_by_metric = {metric: sentences(comparison, metric) for metric in metrics}
    if "pass" in sentences_by_metric and comparison.problems > 1:
        sentences_by_metric["pass"][0] += _differs_by_itself_text(rows, comparison.band)
    if details:
        notes = [sentence for lines in sentences_by_metric.values() for sentence in lines]
    else:
        notes = [
            *(lines[0] for lines in sentences_by_metric.values()),
            *_detectable_differences_text(comparison, rows[:1]),
        ]
    notes += _decided_by_few_text(
        [row for row in rows if row.few] if comparison.problems > 1 else []
    )
    notes += over_fewer({f"{row.metric}@{row.k}": row.difference for row in rows})
    support = comparison.support
    parts = [
        _comparison_head(comparison),
        comparison.verdict if comparison.problems > 1 else "",
        *_comparison_tables(rows, comparison.band, details),
        "" if support is None else support_text(support, details, most),
        "\n".join(dict.fromkeys(notes)),
        _further_options_text(comparison, metrics, details, len(rows)),
    ]
    return "\n\n".join(filter(None, parts))


def support_text(support: Support, details: bool = False, most: int | None = FEW) -> str:
    """Write how many problems B keeps, loses and gains, and how sure "lost" is.

    Args:
        support: What `support_of` found.
        details: Also list the problems that are lost, and those that are gained.
        most: The number of k; None for all.
    """
    head = ["k", *STATES, "lost by A again", "kept", "new"]
    rows = [
        [f"{row.k}", *(plain(getattr(row, state)) for state in STATES), plain(row.lost_again),
         percent(row.kept), percent(row.new)]
        for row in _rows_over_curve(support.rows, most)
    ]  # fmt: skip
    states = {
        state: [problem for problem in support.problems if problem.state == state]
        for state in STATES
    }
    listed = [
        f"{state}: {', '.join(problem.id for problem in states[state])}"
        for state in ("lost", "gained")
        if details and states[state]
    ]
    return "\n".join(
        [
            "Problems with k samples each: right in both (preserved), only in A (lost), only in B "
            "(gained), in neither (outside)",
            table([head, *rows], (), WIDTH),
            *_lost_for_sure_text(states["lost"]),
            *listed,
        ]
    )


def _lost_for_sure_text(lost: Sequence[ProblemSupport]) -> list[str]:
    """Say how often B may still solve what it lost with all samples."""
    if not lost:
        return []
    by_reach = attrgetter("at_most")
    surest, least = min(lost, key=by_reach), max(lost, key=by_reach)
    reach = percent(least.at_most)
    if surest.at_most < least.at_most:
        reach = f"{percent(surest.at_most)} to {reach}"
    samples = between(*sorted((surest.samples[1], least.samples[1])))
    return [
        f"{count(len(lost), 'problem')} lost with all samples: none of B's {samples} samples is "
        f"right, so its success rate may still be up to {reach} (95% confidence)."
    ]


def _rows_over_curve(rows: Sequence[Row], most: int | None) -> list[Row]:
    """Return some rows of a curve: the first, the last, and others between them."""
    if most is None or len(rows) <= most:
        return list(rows)
    return [rows[round(i * (len(rows) - 1) / (most - 1))] for i in range(most)]


def _further_options_text(
    comparison: Comparison, metrics: Sequence[str], details: bool, places: int
) -> str:
    """Say what else the command can show."""
    others = [metric for metric in comparison.available if metric not in metrics]
    all_k = "all k, and " if places < len(comparison.rows) else ""
    lines = [] if details else [f"--details shows {all_k}which differences can be detected"]
    lines += [f"other values of --metrics: {', '.join(others)}"] if others else []
    return "\n".join(lines)


def sentences(comparison: Comparison, metric: str) -> list[str]:
    """Conclusions from the rows of a metric: where B is above or below A, what can be detected."""
    rows = comparison.of(metric)
    if comparison.equal:
        return [EQUAL]
    if comparison.problems < 2:
        return [f"{METRICS[metric].title}: {ONE_PROBLEM}"]
    band = comparison.band if metric == "pass" else None
    verdicts = (
        [_single_places_verdict(rows, metric)]
        if band is None
        else band_sentences(band, comparison.first_loss)
    )
    return [*verdicts, *_detectable_differences_text(comparison, rows)]


def band_sentences(band: Band, losses: Mapping[str, FirstLoss]) -> list[str]:
    """Say where B's pass@k is above or below A's pass@k, and where each may fall below the other.

    Args:
        band: Of B − A.
        losses: "A" and "B" → where its first loss may lie.
    """
    sure = f"{100 * band.level:g}% confidence"
    result = [
        f"pass@k: B is {place(band, 'A')} ({sure} for all k from 1 to {band.ks[-1]} at once)."
    ]
    for side, other in ("AB", "BA"):
        loss = losses[side]
        if loss.high is not None and loss.low > 1:
            where = f"k = {loss.low} to {loss.high}" if loss.low < loss.high else f"k = {loss.low}"
            result.append(f"The first k at which {side} is below {other}: {where} ({sure}).")
    return result


def _differs_by_itself_text(rows: Sequence[PairedMetric], band: Band | None) -> str:
    """Say which pass@k of the table differs by its own interval, and not by the band."""
    sure = () if band is None else (*band.above, *band.below)
    differing = [row for row in rows if row.metric == "pass" and row.difference.excludes_zero]
    differing = [row for row in differing if row.k not in sure]
    if not differing:
        return ""
    names = in_a_row([_row_name(row) for row in differing])
    gaps = [points(row.difference.value, row.difference.ends) for row in differing]
    start = "Looked at by itself" if len(differing) == 1 else "Each looked at by itself"
    does = "differs" if len(differing) == 1 else "differ"
    return (
        f"\n{start}, {names} {does}: {in_a_row(gaps)}. Of several k, one may differ by chance; "
        "all k at once allows for this."
    )


def _decided_by_few_text(rows: Sequence[PairedMetric]) -> list[str]:
    """Say where the data cannot say much."""
    if not rows:
        return []
    names = in_a_row([_row_name(row) for row in rows])
    return [
        f"{names}: on one side, three problems or fewer decide "
        f"the value; the interval is as wide as what they cannot rule out."
    ]


def _comparison_head(comparison: Comparison) -> str:
    lines = [
        f"{letter}  {name}: {between(n, most)} {'sample' if most == 1 else 'samples'} per problem"
        + ("" if math.isnan(t) else f", temperature {plain(t, 2)}")
        + (f", {count(seeds, 'seed')}" if seeds > 1 else "")
        + (f"; {comparison.problems:,} of its {of:,} problems" if comparison.problems < of else "")
        for letter, name, n, most, t, seeds, of in zip(
            "AB",
            (comparison.first, comparison.second),
            comparison.samples,
            comparison.most,
            comparison.temperatures,
            comparison.seeds,
            comparison.problems_read,
            strict=True,
        )
    ]
    split = "" if comparison.reading else f", {comparison.split}"  # a log has none
    problems, seeds = count(comparison.problems, "problem"), max(comparison.seeds)
    return "\n".join(
        [
            *lines,
            f"{problems}{split}; {comparison.intervals.in_words(seeds)}",
            *_single_seed_notes(comparison.seeds),
            *(ungraded.sentence(side) for side, ungraded in comparison.ungraded.items()),
            *comparison.notes,
        ]
    )


def _single_seed_notes(seeds: tuple[int, int]) -> Iterator[str]:
    """Say which side's training seeds the intervals do not cover."""
    if max(seeds) == 1:
        yield ONE_SEED
    elif min(seeds) == 1:
        one, many = "AB" if seeds[0] == 1 else "BA"
        yield f"{one} is one model: the intervals cover other seeds of {many}, none of {one}."


def _comparison_tables(rows: Sequence[PairedMetric], band: Band | None, details: bool) -> list[str]:
    """Write a table of pass@k, which has a band, and one of what has none."""
    band = band if band is not None and band.is_known else None
    with_band = [row for row in rows if band is not None and row.metric == "pass"]
    others = [row for row in rows if row not in with_band]
    both = (with_band, band), (others, None)
    return [_comparison_table(chosen, of, details) for chosen, of in both if chosen]


def _comparison_table(rows: Sequence[PairedMetric], band: Band | None, details: bool) -> str:
    """Write a row for each place of each metric; differences of shares are in points."""
    cells = [["", "A", "B", "B − A", "", "", "B above A, ties half", "detectable"]]
    cells[0][5] = "all k at once" if band else ""
    for row in rows:
        scale, d = METRICS[row.metric].scale, row.difference
        unit, digits, points = ("%", 1, " points") if scale == 100 else ("", 2, "")
        cells.append(
            [
                _row_name(row),
                plain(scale * row.first.value, digits) + unit,
                plain(scale * row.second.value, digits) + unit,
                signed(scale * d.value, digits) + points,
                interval(d.ends, scale, digits),
                interval(band.at(int(row.k or 0)), scale, digits) if band else "",
                f"{percent(d.improvement, 0)} of problems",
                MISSING if math.isnan(row.detectable) else _amount_text(row, row.detectable),
            ]
        )
    return table(cells if details else [row[:6] for row in cells], width=WIDTH)


def _row_name(row: PairedMetric) -> str:
    label, axis = METRICS[row.metric].label, METRICS[row.metric].axis
    if row.k is None:
        return label
    return f"{label}@{row.k:g}" if axis == "k" else f"{label}, {axis} = {row.k:g}"


def _single_places_verdict(rows: Sequence[PairedMetric], metric: str) -> str:
    """Say where B is above A, below A, or not distinguishable from A, by each single interval."""
    above = [row.k for row in rows if row.difference.low > 0]
    below = [row.k for row in rows if row.difference.high < 0]
    ks, axis = [row.k for row in rows], METRICS[metric].axis
    name = METRICS[metric].title + (f", each single {axis}" if axis else "")
    parts = [f"{word} A{chosen_range(chosen, ks, axis)}" for word, chosen in
             (("above", above), ("below", below)) if chosen]  # fmt: skip
    if not parts:
        where = f" at any {axis}" if axis else ""
        return f"{name}: B is not distinguishable from A{where}."
    rest = [k for k in ks if k not in above and k not in below]
    undecided = f"; they are not distinguishable{chosen_range(rest, ks, axis)}" if rest else ""
    return f"{name}: B is {' and '.join(parts)}{undecided}."


def _detectable_differences_text(
    comparison: Comparison, rows: Sequence[PairedMetric]
) -> Iterator[str]:
    """Say which differences these problems can detect at the smallest and the largest k."""
    if comparison.equal or comparison.problems < 2:
        return
    for row in dict.fromkeys((*rows[:1], *rows[-1:])):
        name = _row_name(row)
        if math.isnan(row.detectable):
            yield (
                f"{name}: A and B have the same value on every problem, as copies have."
                if not row.difference.value
                else f"{name}: all problems differ by the same amount, so the power is unknown."
            )
            continue
        text = (
            f"{name}: with these {count(comparison.problems, 'problem')} a true difference of "
            f"{_amount_text(row, row.detectable)} or more is detected in 4 of 5 comparisons"
        )
        difference = row.difference
        is_open = difference.value and not difference.excludes_zero and not row.few
        if is_open and max(comparison.seeds) == 1:
            needed = problems_needed(difference.value, difference.stderr, difference.problems)
            amount = _amount_text(row, abs(difference.value))
            text += f"; one of {amount} needs {count(needed, 'problem')}"
        yield f"{text}."


def _amount_text(row: PairedMetric, value: float) -> str:
    scale = METRICS[row.metric].scale
    return f"{plain(scale * value, 2 if scale * value < 0.1 else 1)}" + (
        " points" if scale == 100 else ""
    )
