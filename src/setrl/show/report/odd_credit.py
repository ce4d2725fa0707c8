"""Samples of training whose credit is odd: it goes against correctness.

Each list says how many there are and what was read, so that a reader can tell an example from a
habit. Texts are cut, and nothing is interpreted: a page shows them as text.
"""

from __future__ import annotations

import heapq
import math
from collections.abc import Iterator
from typing import Any

from setrl.evaluate.looks import label
from setrl.rewards.why_wrong import why_wrong
from setrl.samples.outcomes import against
from setrl.samples.rollouts import group_of_rollout
from setrl.samples.types import Group, Sample
from setrl.samples.values import DEGENERATE
from setrl.show.report.run import ArmRun, RunData
from setrl.show.report.style import cut, main_arms
from setrl.support.errors import DataError
from setrl.support.files import json_lines

MOST_EXAMPLES = 4  # of each arm and kind of credit
READ_BYTES = 24_000_000  # of the rollouts of an arm, at most
KINDS = {True: "right_down", False: "wrong_up"}  # is the sample correct → what is odd

RankedCredit = tuple[float, int, int, Group, int]  # how odd, its number, seed, group, sample


def worst_credit(data: RunData) -> list[dict[str, Any]]:
    """Return, for each arm, the largest advantages that go against correctness."""
    found = []
    for arm in main_arms(list(data.trained)):
        counts, heaps = _count_against(data, arm)
        if counts["samples"]:
            kinds = ("wrong_up", "right_down")
            kept = [entry for kind in kinds for entry in sorted(heaps[kind], reverse=True)]
            examples = [_credit(*entry[2:]) for entry in kept]
            found.append({"arm": arm, **counts, "examples": examples})
    return found


def _count_against(data: RunData, arm: str) -> tuple[dict[str, int], dict[str, list[RankedCredit]]]:
    """How many samples of each kind were read, and the worst ones of different prompts."""
    counts = {"samples": 0, "groups": 0, "right_down": 0, "wrong_up": 0}
    heaps: dict[str, list[RankedCredit]] = {"right_down": [], "wrong_up": []}
    for seed, group in _groups(data, arm):
        counts["groups"] += 1
        counts["samples"] += len(group)
        worst: dict[str, tuple[float, int]] = {}
        for place, sample in enumerate(group.samples):
            if size := against(sample):
                kind = KINDS[bool(sample.correct)]
                counts[kind] += 1
                worst[kind] = max(worst.get(kind, (0.0, 0)), (size, -place))
        for kind, (size, place) in worst.items():  # one sample a prompt: others say the same
            _keep(heaps[kind], (size, counts["groups"], seed, group, -place))
    return counts, heaps


def _keep(heap: list[RankedCredit], entry: RankedCredit) -> None:
    if len(heap) < MOST_EXAMPLES:
        heapq.heappush(heap, entry)
    else:
        heapq.heappushpop(heap, entry)


def _credit(seed: int, group: Group, place: int) -> dict[str, Any]:
    """Describe a sample whose credit is odd, and its group."""
    sample = group.samples[place]
    strategy = sample.strategy
    with_label = sum(one.strategy == strategy for one in group.samples)
    others = _more(sample, "counterfactual")
    return {
        "kind": KINDS[bool(sample.correct)],
        "seed": seed,
        "step": group.step,
        "prompt": cut(group.prompt),
        "text": cut(sample.text),
        "reward": sample.reward,
        "advantage": sample.advantage,
        "strategy": _more(sample, "name"),
        "degenerate": strategy == DEGENERATE,
        "same_strategy": with_label if strategy not in (None, DEGENERATE) else None,
        "samples": len(group),
        "correct": sum(bool(one.correct) for one in group.samples),
        "why_wrong": why_wrong(group, sample),
        "others": {label(name): float(x) for name, x in others.items()
                   if isinstance(x, int | float) and math.isfinite(x)},
    }  # fmt: skip


def _more(sample: Sample, key: str) -> Any:
    return (sample.more or {})[key]


def _groups(data: RunData, arm: str) -> Iterator[tuple[int, Group]]:
    """Yield the recorded groups of an arm's seeds, at evenly spaced steps if there are too many."""
    runs = [run for run in data.arms[arm] if run.rollouts]
    for run in runs:
        for step in _steps_to_read(run, READ_BYTES // len(runs)):
            path = run.rollouts[step]
            try:
                for number, _, record in json_lines.read(path, "leave_out"):
                    yield run.seed, group_of_rollout(record, step, f"{path}:{number}")
            except DataError:
                continue  # the examples are of what can be read; other parts report the damage


def _steps_to_read(run: ArmRun, most_bytes: int) -> list[int]:
    """Return all recorded steps, or evenly spaced ones that together are not larger than this.

    The last step is always among them.
    """
    steps = sorted(run.rollouts, reverse=True)
    total = sum(run.rollouts[step].stat().st_size for step in steps)
    return sorted(steps[:: max(1, math.ceil(total / most_bytes))])
