"""Outcomes of control runs: every metric's mean over training seeds, and what the means show.

Seeds are the sampling unit. With few of them a standard error is rough, so the sentences name means
and claim no difference.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import asdict, dataclass
from typing import Any

import numpy as np

from setrl.evaluate.intervals import WithInterval
from setrl.logs.run import BASE
from setrl.support.wording import between, in_a_row, in_words

QUALITY = ("success", "validity")  # the metrics of success that diversity is compared with
ENOUGH_SEEDS = 5  # with fewer, a reader is warned of luck

Outcomes = Mapping[str, Mapping[int, Mapping[str, float]]]
"""Arm → seed → metric → value; NaN if undefined."""


@dataclass(frozen=True)
class OverSeeds(WithInterval):
    """A metric's mean over the seeds where it is defined, one standard error below and above.

    Attributes:
        stderr: The standard error; NaN with fewer than two seeds.
    """

    stderr: float


def over_seeds(values: Sequence[float]) -> OverSeeds:
    """Return the mean of some seeds' values, without NaN.

    >>> over_seeds([0.25, math.nan, 0.75]).value
    0.5
    """
    defined = np.array([value for value in values if not math.isnan(value)])
    mean = float(defined.mean()) if len(defined) else math.nan
    stderr = float(defined.std(ddof=1) / math.sqrt(len(defined))) if len(defined) > 1 else math.nan
    return OverSeeds(mean, mean - stderr, mean + stderr, stderr)


def metric_names(outcomes: Outcomes) -> list[str]:
    """Return the metrics of all evaluations, in the order of their task."""
    rows = [metrics for seeds in outcomes.values() for metrics in seeds.values()]
    return list(dict.fromkeys(name for row in rows for name in row))


def quality_metric(names: Sequence[str]) -> str | None:
    """Return the metric of success; None without one."""
    return next((name for name in QUALITY if name in names), None)


def diversity_metrics(names: Sequence[str]) -> list[str]:
    """Metrics of diversity: the effective number, and what many tries achieve together."""
    effective = [name for name in names if name.startswith("effective")]
    rooms = [name for name in names if name.endswith("room_sets")]
    tries = [name for name in names if "@" in name]
    return [*(effective or rooms)[-1:], *tries[-1:]]


def outcome_table(outcomes: Outcomes, label: Callable[[str], str] = str) -> dict[str, Any]:
    """Every metric of every arm, as JSON, with what it shows in sentences.

    Args:
        outcomes: The evaluations; arms without any are left out.
        label: Arm → its name for readers.
    """
    arms = {arm: seeds for arm, seeds in outcomes.items() if any(seeds.values())}
    names = metric_names(arms)
    quality, diversity = quality_metric(names), diversity_metrics(names)
    return {
        "metrics": [{"name": name, "label": in_words(name)} for name in names],
        "quality": quality,
        "diversity": diversity,
        "arms": [
            {
                "arm": arm,
                "seeds": list(seeds),
                "metrics": {name: _mean_and_seed_values(seeds, name) for name in names},
            }
            for arm, seeds in arms.items()
        ],
        "verdict": _verdict_sentences(arms, quality, diversity[:1], label),
    }


def _mean_and_seed_values(seeds: Mapping[int, Mapping[str, float]], name: str) -> dict[str, Any]:
    values = [metrics.get(name, math.nan) for metrics in seeds.values()]
    return {**asdict(over_seeds(values)), "seeds": values}


def _verdict_sentences(
    arms: Outcomes, quality: str | None, diversity: Sequence[str], label: Callable[[str], str]
) -> list[str]:
    """Which arms are best in success and in diversity, and which no other arm beats in both."""
    chosen = [name for name in (quality, *diversity) if name is not None]
    means = {
        name: {arm: over_seeds([m.get(name, math.nan) for m in seeds.values()]).value
               for arm, seeds in arms.items()}
        for name in chosen
    }  # fmt: skip
    lines = [line for name in chosen if (line := _highest_mean_text(name, means, label))]
    if len(chosen) == 2 and len(arms) > 1:
        spots = {arm: (means[chosen[0]][arm], means[chosen[1]][arm]) for arm in arms}
        names = [label(arm) for arm in unbeaten(spots)]
        both = " and ".join(map(in_words, chosen))
        if names:
            arm = names[0] if len(names) == 1 else f"any of {in_a_row(names)}"
            lines.append(f"No other arm is at least as good as {arm} in both {both}.")
    return [*lines, *_few_seeds_text(arms)] if lines else []


def _highest_mean_text(
    name: str, means: Mapping[str, Mapping[str, float]], label: Callable[[str], str]
) -> str:
    """Say which arms have the highest mean of a metric, and their means of the other metrics."""
    mean_by_arm = {arm: value for arm, value in means[name].items() if not math.isnan(value)}
    if not mean_by_arm:
        return ""
    most = max(mean_by_arm.values())
    best = [arm for arm, value in mean_by_arm.items() if value == most]
    rest = ""
    if len(best) == 1:
        others = [(other, means[other][best[0]]) for other in means if other != name]
        rest = "".join(f", with {in_words(o)} {v:.3g}" for o, v in others if not math.isnan(v))
    verb = "has" if len(best) == 1 else "have"
    names = in_a_row([label(arm) for arm in best])
    return f"{names} {verb} the highest {in_words(name)}: {most:.3g}{rest}."


def unbeaten(spots: Mapping[str, tuple[float, float]]) -> list[str]:
    """Return the arms that no other arm equals or beats in both numbers; NaN is in no comparison.

    >>> unbeaten({"a": (1.0, 2.0), "b": (2.0, 1.0), "c": (1.0, 1.0)})
    ['a', 'b']
    """
    return [
        arm
        for arm, (x, y) in spots.items()
        if not (math.isnan(x) or math.isnan(y))
        and not any(u >= x and v >= y and (u, v) != (x, y) for u, v in spots.values())
    ]


def _few_seeds_text(arms: Outcomes) -> list[str]:
    """Say what the number of seeds allows to conclude."""
    trained = [sum(map(bool, seeds.values())) for arm, seeds in arms.items() if arm != BASE]
    if len(trained) < 2 or min(trained) >= ENOUGH_SEEDS:
        return []
    seeds = "one seed" if max(trained) == 1 else f"{between(min(trained), max(trained))} seeds"
    return [f"The means are over {seeds}: small differences may be luck."]
