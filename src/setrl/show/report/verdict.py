"""The verdict of a report in plain words: for a reader who does not know the metrics.

The sentences give means, and the paired differences with their intervals. Nothing here knows which
arm is expected to win: "more" and "fewer" appear only where the interval of the paired difference
excludes 0, for pass@k the band for all k at once.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from setrl.evaluate.outcomes import outcome_table
from setrl.evaluate.summary import ArmDifference, SplitSummary
from setrl.evaluate.text import over_fewer
from setrl.evaluate.verdicts import STRATEGIES, strategies_in_words
from setrl.logs.run import BASE, is_base
from setrl.show.report.headlines import (
    AT_ONCE,
    differences_to_reference,
    headline_k,
    means_of,
    pass_ks,
    verdict,
)
from setrl.show.report.run import GIVEN, ReportedRun, on_problems, on_split
from setrl.show.report.style import main_arms
from setrl.support.wording import count, in_a_row, percent, plain, points

MOST_DIFFERENCES = 3  # in one sentence
WORDS = {"above": "more problems than", "below": "fewer problems than"}


def verdict_in_words(run: ReportedRun) -> list[str]:
    """Write a few sentences, most important first; no sentence before the first evaluation."""
    if run.kind == "control":
        return list(outcomes_of(run)["verdict"])
    if not run.splits:
        return []
    hardest = run.splits[0]
    k = headline_k(hardest)
    usual = run.summary.splits.get("test") or hardest
    if not differences_to_reference(run, hardest):
        alone = [_alone(run, hardest, arm, k) for arm in main_arms(list(hardest.arms))]
        return [*alone, *_kept(run, usual), *_left_out(run)]
    places = dict.fromkeys([(hardest.split, k), (usual.split, 1)])
    first, *more = [line for split, size in places for line in _compared(run, split, size)]
    base, lost = _base(run, hardest, k), _lost(run, hardest)
    strategies = _strategies(run) or _kept(run, usual)
    return [first, *base, *more, *strategies, *lost, *_left_out(run)]


def outcomes_of(run: ReportedRun) -> dict[str, Any]:
    """Return what the arms of a control run achieved, with its verdict."""
    return outcome_table(run.outcomes, lambda arm: run.looks[arm].label)


def _left_out(run: ReportedRun) -> list[str]:
    """Say which problems and samples are in no number, and the bounds of pass@1 that follow."""
    notes = [note for split in run.splits for note in split.notes]
    notes += [
        arm.ungraded.sentence(run.looks[name].label)
        for split in run.splits
        for name, arm in split.arms.items()
        if arm.ungraded is not None
    ]
    notes += [
        f"{run.looks[name].label}: {note}"
        for split in run.splits
        for name, arm in split.arms.items()
        for note in over_fewer({metric: arm.metrics[metric] for metric in arm.metrics
                                if metric.partition("@")[0] in STRATEGIES})
    ]  # fmt: skip
    return [f"{note}." for note in dict.fromkeys(notes)]


def _kept(run: ReportedRun, split: SplitSummary) -> list[str]:
    """How many of the base's correct strategies each arm keeps."""
    k = headline_k(split)
    means = means_of(split, f"correct_strategies@{k}")
    kept = {run.looks[arm].label: means[arm] for arm in main_arms(list(split.arms))
             if arm in means and not is_base(arm)}  # fmt: skip
    if not kept:
        return []
    where = f"in {count(k, 'sample')}{on_split(split.split)}"
    if BASE not in means:
        parts = [f"{name} finds {plain(value)}" for name, value in kept.items()]
        return [f"Correct strategies {where}: {'; '.join(parts)}."]
    base = means[BASE]
    parts = [
        f"{name} {'keeps' if value <= base else 'rises to'} {plain(value)}"
        for name, value in kept.items()
    ]
    return [f"Of the base's {plain(base)} correct strategies {where}, {'; '.join(parts)}."]


def _base(run: ReportedRun, split: SplitSummary, k: int) -> list[str]:
    """Say what the base solves: training that only matches it has found nothing new."""
    if BASE not in split.arms or run.summary.reference == BASE:
        return []
    first, *others = [arm for arm in split.arms if is_base(arm)]
    start = f"Before training, the base solves {_often(split, first, k, ' of these problems')}"
    heats = [f"; at temperature {split.arms[arm].temperature:g}, it solves {_often(split, arm, k)}"
             for arm in others]  # fmt: skip
    return [f"{start}{''.join(heats)}."]


def _often(split: SplitSummary, arm: str, k: int, of: str = "") -> str:
    more = f" and {_solved(split, arm, k)} with {_tries(k)}" if k > 1 else ""
    return f"{_solved(split, arm, 1)}{of} with one try{more}"


def _strategies(run: ReportedRun) -> list[str]:
    """Say for each file whether it has fewer strategies and solves less than the first file."""
    split = run.summary.splits.get(GIVEN)
    if split is None:
        return []
    sentences = []
    for difference in differences_to_reference(run, split):
        label, other = (run.looks[arm].label for arm in (difference.arm, difference.against))
        said = strategies_in_words(label, other, difference.metrics, difference.band)
        sentences.append(said)
    return [sentence for sentence in sentences if sentence]


def _compared(run: ReportedRun, name: str, k: int) -> list[str]:
    """Which arms solve more problems in k tries than the reference, and which fewer."""
    split = run.summary.splits[name]
    together: dict[str, list[ArmDifference]] = {}
    for difference in differences_to_reference(run, split):
        together.setdefault(verdict(difference.at_once(f"pass@{k}")), []).append(difference)
    return [
        _sentence(run, split, k, shows, together[shows])
        for shows in ("above", "below", "unclear")
        if shows in together
    ]


def _sentence(
    run: ReportedRun, split: SplitSummary, k: int, shows: str, found: Sequence[ArmDifference]
) -> str:
    metric = f"pass@{k}"
    ordered = sorted(found, key=lambda one: -split.arms[one.arm].metrics[metric].value)
    names = [_named(run, split, one.arm, k) for one in ordered]
    reference = _named(run, split, found[0].against, k)
    start = f"With {_tries(k)}{on_problems(split.split)}, "
    if shows == "unclear":
        same = " and ".join([in_a_row(names), reference]) if len(names) == 1 else (
            f"each of {in_a_row(names)}, and {reference},")  # fmt: skip
        return f"{start}{same} cannot be distinguished{_by(ordered, metric)}."
    verb = "solves" if len(names) == 1 else "solve"
    return f"{start}{in_a_row(names)} {verb} {WORDS[shows]} {reference}{_by(ordered, metric)}."


def _by(found: Sequence[ArmDifference], metric: str) -> str:
    """Write the paired differences, which the verdict rests on; of many arms, only the tables."""
    if len(found) > MOST_DIFFERENCES:
        return ""
    each = [one.at_once(metric) for one in found]
    is_at_once = any(d != one.metrics[metric] for d, one in zip(each, found, strict=True))
    listed = in_a_row([points(one.value, one.ends) for one in each])
    return f": {listed}{AT_ONCE if is_at_once else ''}"


def _named(run: ReportedRun, split: SplitSummary, arm: str, k: int) -> str:
    """Name an arm, and the share of the problems that it solves."""
    return f"{run.looks[arm].label} ({_solved(split, arm, k)})"


def _tries(k: int) -> str:
    return "one try" if k == 1 else count(k, "try")


def _solved(split: SplitSummary, arm: str, k: int) -> str:
    return percent(split.arms[arm].metrics[f"pass@{k}"].value)


def _alone(run: ReportedRun, split: SplitSummary, arm: str, k: int) -> str:
    """Say what an arm solves if there is no other to compare it with."""
    more = f", and {_solved(split, arm, k)} with {_tries(k)}" if k > 1 else ""
    one = _solved(split, arm, 1)
    problems = "the problems" if split.split == GIVEN else f"{split.split} problems"
    return f"{run.looks[arm].label} solves {one} of {problems} with one try{more}."


def _lost(run: ReportedRun, split: SplitSummary) -> list[str]:
    """Whether training cost the reference what the base finds with many tries."""
    reference = run.summary.reference
    found = split.difference(reference, BASE) if reference else None
    if found is None or reference is None:
        return []
    k = pass_ks(found.metrics)[-1]
    if verdict(found.at_once(f"pass@{k}")) != "below":
        return []
    return [
        f"Training with {run.looks[reference].label} lost something: with {_tries(k)} on "
        f"{split.split} problems, it solves {_solved(split, reference, k)}, and the base "
        f"{_solved(split, BASE, k)}."
    ]
