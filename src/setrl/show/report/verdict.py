"""The verdict of a report in plain words: for a reader who does not know the metrics.

First what the arms solve with one try, a k that was fixed beforehand: on the hardest problems, then
what it costs on the others. The sentences give means, and the paired differences with their
intervals. Nothing here knows which arm is expected to win: "more" and "fewer" appear only where the
interval of the paired difference excludes 0; where it does not, the sentence says what is open.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any

from setrl.evaluate.intervals import Difference, t_quantile
from setrl.evaluate.outcomes import outcome_table
from setrl.evaluate.summary import ArmDifference, SplitSummary
from setrl.evaluate.text import over_fewer
from setrl.evaluate.verdicts import STRATEGIES, strategies_in_words
from setrl.logs.run import BASE, HEAT, base_as_cold, is_base
from setrl.show.report.headlines import (
    FIRST,
    differences_to_reference,
    headline_k,
    means_of,
    pass_ks,
)
from setrl.show.report.run import GIVEN, ReportedRun, on_problems, on_split
from setrl.show.report.style import main_arms
from setrl.support.wording import count, in_a_row, percent, plain, points

MOST_DIFFERENCES = 3  # in one sentence
MOST_SEEDS = 99  # that a sentence asks for
LEVEL = 0.95
FORBIDDEN = {"shifted": ", which forbid the most frequent strategies"}
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
        alone = [
            _single_arm_sentence(run, hardest, arm, k) for arm in main_arms(list(hardest.arms))
        ]
        return [*alone, *_kept_strategies_sentences(run, usual), *_left_out_sentences(run)]
    compared = [
        line
        for name in dict.fromkeys([hardest.split, usual.split])
        for line in _comparison_sentences(run, name)
    ]
    strategies = _strategy_sentences(run) or _kept_strategies_sentences(run, usual)
    return [
        *compared,
        *_base_sentences(run, hardest, k),
        *strategies,
        *_lost_sentences(run, hardest),
        *_left_out_sentences(run),
    ]


def outcomes_of(run: ReportedRun) -> dict[str, Any]:
    """Return what the arms of a control run achieved, with its verdict."""
    return outcome_table(run.outcomes, lambda arm: run.looks[arm].label)


def _left_out_sentences(run: ReportedRun) -> list[str]:
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


def _kept_strategies_sentences(run: ReportedRun, split: SplitSummary) -> list[str]:
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


def _base_sentences(run: ReportedRun, split: SplitSummary, k: int) -> list[str]:
    """Say what the base solves: training that only matches it has found nothing new."""
    if BASE not in split.arms or run.summary.reference == BASE:
        return []
    many_tries = f" and {_solved_share(split, BASE, k)} with {_tries_text(k)}" if k > 1 else ""
    problems = f"{'these' if split.split == GIVEN else split.split} problems"
    start = f"Before training, the base solves {_solved_share(split, BASE, 1)} of {problems}"
    colder = [arm for arm in split.arms if is_base(arm) and arm != BASE]
    return [
        f"{start} with one try{many_tries}.",
        *(_colder_base_sentence(run, split, arm) for arm in colder),
    ]


def _colder_base_sentence(run: ReportedRun, split: SplitSummary, base: str) -> str:
    """Say what the base solves at a low temperature, and what trained arms do at the same one."""
    parts = [f"the base solves {_solved_share(split, base, 1)} with one try, without any training"]
    for arm in split.arms:
        if base_as_cold(arm) == base and (difference := split.difference(arm, base)) is not None:
            gap = difference.metrics[FIRST]
            label = run.looks[arm.partition(HEAT)[0]].label
            solved = f"{_solved_share(split, arm, 1)}, {points(gap.value, gap.ends)}"
            parts.append(f"{label} {solved}")
    return f"Sampled at temperature {split.arms[base].temperature:g}, {'; '.join(parts)}."


def _strategy_sentences(run: ReportedRun) -> list[str]:
    """Say for each file whether it has fewer strategies and solves less than the first file."""
    split = run.summary.splits.get(GIVEN)
    if split is None:
        return []
    sentences = []
    for difference in differences_to_reference(run, split):
        label, reference_label = (
            run.looks[arm].label for arm in (difference.arm, difference.against)
        )
        sentence = strategies_in_words(label, reference_label, difference.metrics, difference.band)
        sentences.append(sentence)
    return [sentence for sentence in sentences if sentence]


def _comparison_sentences(run: ReportedRun, name: str) -> list[str]:
    """Which arms solve more problems in one try than the reference, which fewer, what is open."""
    split = run.summary.splits[name]
    together: dict[str, list[ArmDifference]] = {}
    for difference in differences_to_reference(run, split):
        together.setdefault(difference.metrics[FIRST].shown, []).append(difference)
    return [
        _comparison_sentence(run, split, shows, together[shows])
        for shows in ("above", "below", "unclear")
        if shows in together
    ]


def _comparison_sentence(
    run: ReportedRun, split: SplitSummary, shows: str, differences: Sequence[ArmDifference]
) -> str:
    ordered = sorted(
        differences, key=lambda difference: -split.arms[difference.arm].metrics[FIRST].value
    )
    names = in_a_row([_arm_with_share(run, split, difference.arm) for difference in ordered])
    reference = _arm_with_share(run, split, differences[0].against)
    start = f"With one try{on_problems(split.split)}{FORBIDDEN.get(split.split, '')}, "
    if shows == "unclear":
        is_open = (
            f"it is open whether {names} solve{_verb_ending(differences)} more problems than "
            f"{reference}"
        )
        return (
            f"{start}{is_open}, or fewer{_gaps_text(ordered)}.{_seeds_text(ordered, split.seeds)}"
        )
    verb = f"solve{_verb_ending(differences)}"
    return f"{start}{names} {verb} {WORDS[shows]} {reference}{_gaps_text(ordered)}."


def _verb_ending(differences: Sequence[ArmDifference]) -> str:
    return "s" if len(differences) == 1 else ""


def _seeds_text(differences: Sequence[ArmDifference], seeds: int) -> str:
    """Say how many seeds would decide what is open, if the differences stay as they are."""
    needed = [seeds_needed(difference.metrics[FIRST], seeds) for difference in differences]
    decidable = [number for number in needed if number is not None]
    if seeds < 2 or len(decidable) < len(needed):
        return ""
    return (
        f" If the differences stay so, about {max(decidable)} seeds decide it, instead of {seeds}."
    )


def seeds_needed(difference: Difference, seeds: int) -> int | None:
    """Return how many seeds make the t-interval of a difference exclude 0; None beyond MOST_SEEDS.

        the smallest R with t(R − 1)·SE·√(seeds/R) < |difference|

    Args:
        difference: Found with some seeds; its standard error is SE.
        seeds: How many.
    """
    for number in range(max(2, seeds + 1), MOST_SEEDS + 1):
        reach = t_quantile(number - 1, LEVEL) * difference.stderr * math.sqrt(seeds / number)
        if reach < abs(difference.value):
            return number
    return None


def _gaps_text(differences: Sequence[ArmDifference]) -> str:
    """Write the paired differences, which the verdict rests on; of many arms, only the tables."""
    if len(differences) > MOST_DIFFERENCES:
        return ""
    gaps = [difference.metrics[FIRST] for difference in differences]
    return f": {in_a_row([points(gap.value, gap.ends) for gap in gaps])}"


def _arm_with_share(run: ReportedRun, split: SplitSummary, arm: str) -> str:
    """Name an arm, and the share of the problems that it solves in one try."""
    return f"{run.looks[arm].label} ({_solved_share(split, arm, 1)})"


def _tries_text(k: int) -> str:
    return "one try" if k == 1 else count(k, "try")


def _solved_share(split: SplitSummary, arm: str, k: int) -> str:
    return percent(split.arms[arm].metrics[f"pass@{k}"].value)


def _single_arm_sentence(run: ReportedRun, split: SplitSummary, arm: str, k: int) -> str:
    """Say what an arm solves if there is no other to compare it with."""
    many_tries = f", and {_solved_share(split, arm, k)} with {_tries_text(k)}" if k > 1 else ""
    one_try = _solved_share(split, arm, 1)
    problems = "the problems" if split.split == GIVEN else f"{split.split} problems"
    return f"{run.looks[arm].label} solves {one_try} of {problems} with one try{many_tries}."


def _lost_sentences(run: ReportedRun, split: SplitSummary) -> list[str]:
    """Whether training cost the reference what the base finds with many tries."""
    reference = run.summary.reference
    difference = split.difference(reference, BASE) if reference else None
    if difference is None or reference is None:
        return []
    k = pass_ks(difference.metrics)[-1]
    if difference.at_once(f"pass@{k}").shown != "below":
        return []
    return [
        f"Training with {run.looks[reference].label} lost something: with {_tries_text(k)} on "
        f"{split.split} problems, it solves {_solved_share(split, reference, k)}, and the base "
        f"{_solved_share(split, BASE, k)}."
    ]
