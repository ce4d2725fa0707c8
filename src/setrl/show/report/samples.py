"""One prompt's samples side by side: what each arm wrote, and what credit it got."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass

from setrl.evaluate.looks import label
from setrl.samples.rollouts import group_of_rollout
from setrl.samples.types import Sample
from setrl.show.report.figures_training import share_fills
from setrl.show.report.run import ArmRun, RunData
from setrl.show.report.style import OTHER_FILL, cut, main_arms
from setrl.support.files import json_lines

MOST_SAMPLES = 32
USED = "used"  # the advantage that entered the loss, among the counterfactual ones


@dataclass(frozen=True)
class ShownAdvantage:
    """One method's advantage for a sample.

    Attributes:
        value: The advantage.
        strength: Its size, as a share of the largest in the group, in [0, 1].
    """

    value: float
    strength: float


@dataclass(frozen=True)
class ShownSample:
    """One sample; `credits` are in the order of `ArmSamples.methods`."""

    text: str
    reward: float | None
    is_correct: bool | None
    strategy: str | None
    fill: str
    credits: tuple[ShownAdvantage | None, ...]


@dataclass(frozen=True)
class ArmSamples:
    """An arm's samples of the first prompt of a step.

    Attributes:
        methods: Names over the columns of credits; the first is what entered the loss.
        num_strategies: Different strategies; None if no sample has the name of one.
        left_out: Samples that are not shown.
    """

    label: str
    prompt: str
    methods: tuple[str, ...]
    samples: tuple[ShownSample, ...]
    num_strategies: int | None
    num_correct: int | None
    left_out: int

    @property
    def num_samples(self) -> int:
        """All samples of the prompt, shown or not."""
        return len(self.samples) + self.left_out


@dataclass(frozen=True)
class StepSamples:
    """The first prompt of a step, for each arm."""

    step: int
    arms: tuple[ArmSamples, ...]


def samples_by_step(data: RunData) -> list[StepSamples]:
    """Return the first prompt of the first, the middle and the last step that all arms recorded.

    Nothing is chosen by what it shows: always the first prompt, and each arm's first seed.
    """
    if data.kind == "control":  # its rollouts are trunks and vines, which have no prompts
        return []
    runs = {
        arm: run
        for arm in main_arms(list(data.trained))
        if (run := next((run for run in data.arms[arm] if run.rollouts), None))
    }
    common = sorted(set.intersection(*(set(run.rollouts) for run in runs.values()))) if runs else []
    if not common:
        return []
    fills = share_fills(data)
    steps = dict.fromkeys([common[0], common[len(common) // 2], common[-1]])
    return [
        StepSamples(step, tuple(_arm(data.looks[arm].label, run, step, fills)
                                for arm, run in runs.items()))
        for step in steps
    ]  # fmt: skip


def _arm(name: str, run: ArmRun, step: int, fills: Mapping[str, str]) -> ArmSamples:
    path = run.rollouts[step]
    group = group_of_rollout(next(json_lines.read(path)).record, step, str(path))
    others = [sample.more["counterfactual"] for sample in group.samples if sample.more]
    methods = list(dict.fromkeys(key for one in others for key in one))
    tables = [[sample.advantage for sample in group.samples]]
    tables += [[one.get(key) for one in others] for key in methods]
    credits = zip(*map(_credits, tables), strict=True)
    shown = [_sample(s, c, fills) for s, c in zip(group.samples, credits, strict=True)]
    return ArmSamples(
        label=name,
        prompt=cut(group.prompt),
        methods=(USED, *map(label, methods)),
        samples=tuple(shown[:MOST_SAMPLES]),
        num_strategies=len({sample.strategy for sample in shown} - {None}) or None,
        num_correct=_count(sample.is_correct for sample in shown),
        left_out=max(0, len(shown) - MOST_SAMPLES),
    )


def _count(outcomes: Iterable[bool | None]) -> int | None:
    """Return how many samples are correct; None if it is known of none."""
    known = [one for one in outcomes if one is not None]
    return sum(known) if known else None


def _credits(values: list[float | None]) -> list[ShownAdvantage | None]:
    most = max((abs(value) for value in values if value is not None), default=0.0)
    return [
        None if value is None else ShownAdvantage(value, abs(value) / most if most else 0.0)
        for value in values
    ]


def _sample(
    sample: Sample, credits: tuple[ShownAdvantage | None, ...], fills: Mapping[str, str]
) -> ShownSample:
    strategy = (sample.more or {})["name"]
    return ShownSample(
        text=cut(sample.text),
        reward=sample.reward,
        is_correct=sample.correct,
        strategy=strategy,
        fill=fills.get(strategy, OTHER_FILL) if strategy is not None else "transparent",
        credits=credits,
    )
