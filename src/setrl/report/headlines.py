"""Sentences computed from the data: what the evaluation says, and what it cannot say.

Nothing here knows which arm ought to win. "Above" and "below" are said only where the interval of
the paired difference excludes 0.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Literal

import numpy as np

from setrl.evaluation.intervals import Difference
from setrl.evaluation.summary import ArmDifference, ArmSummary, SplitSummary, Summary
from setrl.logs.run_folder import BASE
from setrl.report.data import RunData
from setrl.report.style import Look, main_arms
from setrl.report.wording import count, percent, plain, points

HEADLINE_K = 32
SPLIT_ORDER = ("shifted", "test", "train")

Verdict = Literal["above", "below", "unclear", "fact"]


@dataclass(frozen=True)
class Headline:
    """One sentence of the first screen.

    Attributes:
        text: The sentence.
        verdict: Whether it says that the first arm is above, below, or not to be told from the
            other; "fact" when nothing is compared.
    """

    text: str
    verdict: Verdict


def verdict(difference: Difference) -> Verdict:
    """What a paired difference says."""
    if not difference.excludes_zero:
        return "unclear"
    return "above" if difference.value > 0 else "below"


def ordered_splits(summary: Summary) -> list[SplitSummary]:
    """The splits, the hardest first."""
    names = [*SPLIT_ORDER, *summary.splits]
    return [summary.splits[name] for name in dict.fromkeys(names) if name in summary.splits]


def headline_k(split: SplitSummary) -> int:
    """32, or the largest k that every arm has."""
    return min(HEADLINE_K, *(2 ** (arm.n.bit_length() - 1) for arm in split.arms.values()))


def headlines(data: RunData) -> list[Headline]:
    """The sentences of the first screen, most important first."""
    summary, looks = data.summary, data.looks
    if not summary.splits:
        return []
    hardest, easiest = ordered_splits(summary)[0], _easiest(summary)
    k = headline_k(hardest)
    return [
        *_against_reference(hardest, summary.reference, f"pass@{k}", looks),
        *_strategies(easiest, looks),
        *_against_reference(easiest, summary.reference, "pass@1", looks),
        *_base_at_largest_k(hardest, summary.reference, looks),
    ]


def pass_at_k_title(split: SplitSummary, reference: str | None, looks: Mapping[str, Look]) -> str:
    """For which k each arm is above or below the reference."""
    arms = _compared(split, reference)
    found = [split.difference(arm, reference) for arm in arms] if reference else []
    if not any(found):
        only = ", ".join(looks[arm].label for arm in main_arms(list(split.arms)))
        return f"pass@k on the {split.split} split: {only}"
    together: dict[str, list[str]] = {}
    for d in found:
        if d is not None:
            together.setdefault(_place(d, looks[d.against].label), []).append(looks[d.arm].label)
    parts = [f"{_and(names)} {_be(names)} {place}" for place, names in together.items()]
    return f"On the {split.split} split, " + "; ".join(parts)


def change_title(
    data: RunData,
    key: str,
    what: str,
    arms: Sequence[str],
    show: Callable[[float], str] = plain,
) -> str:
    """How a training metric went from the first to the last tenth of the steps."""
    ends = {data.looks[arm].label: first_and_last(data, arm, key) for arm in arms}
    parts = [f"{name} {show(end[0])} → {show(end[1])}" for name, end in ends.items() if end]
    return f"{what}, first → last tenth of training: " + ", ".join(parts)


def first_and_last(data: RunData, arm: str, key: str) -> tuple[float, float] | None:
    """Means of a metric over the first and the last tenth of the steps, over all seeds."""
    series = data.series(arm, key)
    if series is None:
        return None
    values = series[1]
    tenth = max(1, values.shape[1] // 10)
    return _mean(values[:, :tenth]), _mean(values[:, -tenth:])


def frontier_title(split: SplitSummary, metric: str, looks: Mapping[str, Look]) -> str:
    """Which arms no other arm beats in both pass@1 and a metric (by their means)."""
    spots = {a: (s.metrics["pass@1"].value, s.metrics[metric].value) for a, s in split.arms.items()}
    best = [
        arm
        for arm, (x, y) in spots.items()
        if not any(u >= x and v >= y and (u, v) != (x, y) for u, v in spots.values())
    ]
    k = metric.partition("@")[2]
    return (
        f"On the frontier of pass@1 and correct strategies in {k} samples ({split.split} split): "
        f"{_and([looks[arm].label for arm in best])}"
    )


def credit_share(data: RunData, arm: str) -> float:
    """Share of a training step that the credit takes; NaN where times were not logged."""
    credit, step = data.series(arm, "time/credit"), data.series(arm, "time/step")
    if credit is None or step is None:
        return float("nan")
    return float(np.nansum(credit[1]) / np.nansum(step[1]))


def time_title(data: RunData) -> str:
    """How much of a step the credit takes."""
    shares = [credit_share(data, arm) for arm in data.arms]
    known = [share for share in shares if not np.isnan(share)]
    if not known:
        return "Seconds of a training step"
    return f"Credit takes at most {percent(max(known), 2)} of a training step"


def _easiest(summary: Summary) -> SplitSummary:
    """The test split, or the first there is."""
    return summary.splits.get("test") or ordered_splits(summary)[0]


def _compared(split: SplitSummary, reference: str | None) -> list[str]:
    return [arm for arm in main_arms(list(split.arms)) if arm not in (reference, BASE)]


def _against_reference(
    split: SplitSummary, reference: str | None, metric: str, looks: Mapping[str, Look]
) -> list[Headline]:
    arms = _compared(split, reference)
    found = [split.difference(arm, reference) for arm in arms] if reference else []
    return [
        _difference_headline(split, difference, metric, looks)
        for difference in found
        if difference is not None and metric in difference.metrics
    ]


def _difference_headline(
    split: SplitSummary, found: ArmDifference, metric: str, looks: Mapping[str, Look]
) -> Headline:
    difference = found.metrics[metric]
    says = verdict(difference)
    text = (
        f"{metric} on the {split.split} split: {looks[found.arm].label} − "
        f"{looks[found.against].label} = {points(difference)}, paired over "
        f"{count(difference.problems, 'problem')}, {_seeds(split.arms[found.arm])}."
    )
    if says == "unclear":
        text += " The interval includes 0: these problems and seeds do not tell the two apart."
    return Headline(text, says)


def _base_at_largest_k(
    split: SplitSummary, reference: str | None, looks: Mapping[str, Look]
) -> list[Headline]:
    """Whether training with the reference lost what the base finds with many samples."""
    found = split.difference(reference, BASE) if reference else None
    if found is None:
        return []
    k = max(int(name.removeprefix("pass@")) for name in found.metrics if name.startswith("pass@"))
    return [_difference_headline(split, found, f"pass@{k}", looks)]


def _strategies(split: SplitSummary, looks: Mapping[str, Look]) -> list[Headline]:
    """How many of the base's correct strategies each arm keeps."""
    k = headline_k(split)
    metric = f"correct_strategies@{k}"
    found = {arm: split.arms[arm].metrics[metric].value for arm in main_arms(list(split.arms))}
    base = found.pop(BASE, None)
    if not found:
        return []
    where = f"in {count(k, 'sample')} on the {split.split} split"
    if base is None:
        parts = [f"{looks[arm].label} finds {plain(value)}" for arm, value in found.items()]
        return [Headline(f"Correct strategies {where}: {'; '.join(parts)}.", "fact")]
    parts = [
        f"{looks[arm].label} {'keeps' if value <= base else 'rises to'} {plain(value)}"
        for arm, value in found.items()
    ]
    text = f"Of the base's {plain(base)} correct strategies {where}, {'; '.join(parts)}."
    return [Headline(text, "fact")]


def _place(found: ArmDifference, against: str) -> str:
    """Where over k an arm is above and where below another, from the signs of the intervals."""
    says = {int(name[5:]): verdict(d) for name, d in found.metrics.items() if "pass@" in name}
    ks = sorted(says)
    above, below = ([k for k in ks if says[k] == word] for word in ("above", "below"))
    if above and below:
        return f"above {against} {_range(above, ks)} and below it {_range(below, ks)}"
    if above or below:
        return f"{'above' if above else 'below'} {against} {_range(above or below, ks)}"
    return f"not distinguishable from {against} at any k"


def _and(names: Sequence[str]) -> str:
    """Names in a row.

    >>> _and(["A"]), _and(["A", "B", "C"])
    ('A', 'A, B and C')
    """
    return ", ".join(names[:-1]) + " and " + names[-1] if len(names) > 1 else names[0]


def _be(names: Sequence[str]) -> str:
    return "is" if len(names) == 1 else "are"


def _range(chosen: Sequence[int], ks: Sequence[int]) -> str:
    """Words for a choice among sorted ks.

    >>> _range([8, 16], [1, 2, 4, 8, 16]), _range([1], [1, 2]), _range([2, 8], [1, 2, 4, 8, 16])
    ('for k ≥ 8', 'at k = 1', 'at k = 2, 8')
    """
    if list(chosen) == list(ks):
        return "at every k"
    if len(chosen) == 1:
        return f"at k = {chosen[0]}"
    if list(chosen) == list(ks[-len(chosen) :]):
        return f"for k ≥ {chosen[0]}"
    if list(chosen) == list(ks[: len(chosen)]):
        return f"for k ≤ {chosen[-1]}"
    return "at k = " + ", ".join(map(str, chosen))


def _seeds(arm: ArmSummary) -> str:
    return count(len(arm.seeds), "seed") if arm.seeds else "no training"


def _mean(values: np.ndarray) -> float:
    known = values[~np.isnan(values)]
    return float(known.mean()) if known.size else float("nan")
