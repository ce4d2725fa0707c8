"""Sentences computed from the data: what the evaluation shows, and what it cannot show.

Nothing here knows which arm is expected to win. A sentence says "above" or "below" only where the
interval of the paired difference excludes 0; for pass@k this is the band that holds for all k at
once, as in the titles of figures.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Sequence
from dataclasses import dataclass
from typing import Literal

import numpy as np

from setrl.evaluate.intervals import Difference
from setrl.evaluate.outcomes import unbeaten
from setrl.evaluate.summary import ArmDifference, SplitSummary
from setrl.evaluate.verdicts import place
from setrl.show.report.run import GIVEN, RunData, on_split
from setrl.show.report.style import main_arms
from setrl.support.files.run_folder import BASE, is_base
from setrl.support.wording import count, in_a_row, percent, plain, points

HEADLINE_K = 32
AT_ONCE = " (all k at once)"  # whose ends are those of a band

Verdict = Literal["above", "below", "unclear", "fact"]


@dataclass(frozen=True)
class Headline:
    """One sentence of the first screen.

    Attributes:
        text: The sentence.
        verdict: Whether the first arm is above or below the other, or the two cannot be
            distinguished ("unclear"); "fact" if nothing is compared.
    """

    text: str
    verdict: Verdict


def verdict(difference: Difference) -> Verdict:
    """Judge what a paired difference shows."""
    if not difference.excludes_zero:
        return "unclear"
    return "above" if difference.value > 0 else "below"


def pass_ks(metrics: Collection[str]) -> list[int]:
    """Every k that pass@k was evaluated at, smallest first."""
    return sorted(int(name[5:]) for name in metrics if name.startswith("pass@"))


def headline_k(split: SplitSummary) -> int:
    """32, or the largest k that every arm has."""
    return min(HEADLINE_K, *(2 ** (arm.n.bit_length() - 1) for arm in split.arms.values()))


def headlines(data: RunData) -> list[Headline]:
    """Write the sentences of the first screen, the most important first."""
    if not data.splits:
        return []
    hardest = data.splits[0]
    usual = data.summary.splits.get("test") or hardest
    return [
        *_against_reference(data, hardest, f"pass@{headline_k(hardest)}"),
        *_strategies(data, usual),
        *_against_reference(data, usual, "pass@1"),
        *_reference_against_base(data, hardest),
        *_ungraded(data),
        *(Headline(f"{note}.", "fact") for split in data.splits for note in split.notes),
    ]


def pass_at_k_title(data: RunData, split: SplitSummary) -> str:
    """For which k each arm is above or below the reference, all of them at once, where known."""
    together: dict[str, list[str]] = {}
    for found in (one for one in differences_to_reference(data, split) if one.band):
        where = place(found.band, data.looks[found.against].label)
        together.setdefault(where, []).append(data.looks[found.arm].label)
    if not together:
        only = ", ".join(data.looks[arm].label for arm in main_arms(list(split.arms)))
        return f"pass@k{on_split(split.split)}: {only}"
    parts = [
        f"{in_a_row(names)} {'is' if len(names) == 1 else 'are'} {where}"
        for where, names in together.items()
    ]
    start = "pass@k: " if split.split == GIVEN else f"On the {split.split} split, "
    return f"{start}{'; '.join(parts)} (all k at once)"


def change_title(
    data: RunData,
    key: str,
    what: str,
    arms: Sequence[str],
    show: Callable[[float], str] = plain,
) -> str:
    """Say how a training metric changed from the first to the last tenth of the steps."""
    ends = {data.looks[arm].label: first_and_last(data, arm, key) for arm in arms}
    parts = [f"{name} {show(end[0])} → {show(end[1])}" for name, end in ends.items() if end]
    return f"{what}, first → last tenth of training: " + ", ".join(parts)


def first_and_last(data: RunData, arm: str, key: str) -> tuple[float, float] | None:
    """Means of a metric over the first and the last tenth of the steps, over all seeds."""
    series = data.series(arm, key)
    if series is None:
        return None
    values_RT = series[1]
    tenth = max(1, values_RT.shape[1] // 10)
    return _mean(values_RT[:, :tenth]), _mean(values_RT[:, -tenth:])


def frontier_title(data: RunData, split: SplitSummary, k: int) -> str:
    """Which arms no other arm beats in both pass@1 and correct strategies (by their means).

    Where no strategies are known, pass@k stands in their place.
    """
    by_metric = {
        f"correct strategies in {k} samples": _means(split, f"correct_strategies@{k}"),
        f"pass@{k}": _means(split, f"pass@{k}"),
    }
    what, found = next((what, found) for what, found in by_metric.items() if found)
    across = _means(split, "pass@1")
    best = [data.looks[a].label for a in unbeaten({a: (across[a], y) for a, y in found.items()})]
    where = "" if split.split == GIVEN else f" ({split.split} split)"
    return f"On the frontier of pass@1 and {what}{where}: {in_a_row(best)}"


def _means(split: SplitSummary, metric: str) -> dict[str, float]:
    """Arm → its mean of a metric, for the arms that have one."""
    known = split.arms.items()
    return {arm: one.metrics[metric].value for arm, one in known if metric in one.metrics}


def credit_share(data: RunData, arm: str) -> float:
    """Share of a training step that the credit takes; NaN if times were not logged."""
    credit, step = data.series(arm, "time/credit"), data.series(arm, "time/step")
    if credit is None or step is None:
        return float("nan")
    return float(np.nansum(credit[1]) / np.nansum(step[1]))


def time_title(data: RunData) -> str:
    """How much of a step the credit takes."""
    shares = [credit_share(data, arm) for arm in data.trained]
    known = [share for share in shares if not np.isnan(share)]
    if not known:
        return "Seconds per training step"
    return f"Credit takes at most {percent(max(known), 2)} of a training step"


def differences_to_reference(data: RunData, split: SplitSummary) -> list[ArmDifference]:
    """Return the differences of the main arms to the reference."""
    reference = data.summary.reference
    if reference is None:
        return []
    arms = [a for a in main_arms(list(split.arms)) if a != reference and not is_base(a)]
    return [found for arm in arms if (found := split.difference(arm, reference))]


def _against_reference(data: RunData, split: SplitSummary, metric: str) -> list[Headline]:
    return [
        _difference_headline(data, split, found, metric)
        for found in differences_to_reference(data, split)
        if metric in found.metrics
    ]


def _reference_against_base(data: RunData, split: SplitSummary) -> list[Headline]:
    """Whether training with the reference lost what the base finds with many samples."""
    reference = data.summary.reference
    found = split.difference(reference, BASE) if reference else None
    if found is None:
        return []
    return [_difference_headline(data, split, found, f"pass@{pass_ks(found.metrics)[-1]}")]


def _difference_headline(
    data: RunData, split: SplitSummary, found: ArmDifference, metric: str
) -> Headline:
    difference, arm = found.at_once(metric), split.arms[found.arm]
    text = (
        f"{metric}{on_split(split.split)}: {data.looks[found.arm].label} − "
        f"{data.looks[found.against].label} = {points(difference.value, difference.ends)}"
        f"{AT_ONCE if difference != found.metrics[metric] else ''}, "
        f"paired over {count(difference.problems, 'problem')}"
    )
    if split.split != GIVEN:
        text += f", {count(len(arm.seeds), 'seed') if arm.seeds else 'no training'}"
    text += "."
    shows = verdict(difference)
    if shows == "unclear":
        what = "problems" if split.split == GIVEN else "problems and seeds"
        text += f" The interval includes 0: these {what} do not distinguish the two."
    return Headline(text, shows)


def _strategies(data: RunData, split: SplitSummary) -> list[Headline]:
    """How many of the base's correct strategies each arm keeps."""
    k = headline_k(split)
    metric = f"correct_strategies@{k}"
    means = _means(split, metric)
    found = {arm: means[arm] for arm in main_arms(list(split.arms)) if arm in means}
    base = found.pop(BASE, None)
    if not found:
        return []
    where = f"in {count(k, 'sample')}{on_split(split.split)}"
    names = {data.looks[arm].label: value for arm, value in found.items()}
    if base is None:
        parts = [f"{name} finds {plain(value)}" for name, value in names.items()]
        return [Headline(f"Correct strategies {where}: {'; '.join(parts)}.", "fact")]
    parts = [
        f"{name} {'keeps' if value <= base else 'rises to'} {plain(value)}"
        for name, value in names.items()
    ]
    text = f"Of the base's {plain(base)} correct strategies {where}, {'; '.join(parts)}."
    return [Headline(text, "fact")]


def _ungraded(data: RunData) -> list[Headline]:
    """How many samples have no grade, and the bounds of pass@1 that follow."""
    return [
        Headline(f"{arm.ungraded.sentence(data.looks[name].label)}.", "fact")
        for split in data.splits
        for name, arm in split.arms.items()
        if arm.ungraded is not None
    ]


def _mean(values: np.ndarray) -> float:
    known = values[~np.isnan(values)]
    return float(known.mean()) if known.size else float("nan")
