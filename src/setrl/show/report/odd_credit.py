"""Samples of training whose credit or judgement is odd: credit against correctness, and
pairs on which the judge and the reader of strategies disagree.

Each list says how many there are and what was read, so that a reader can tell an example from a
habit. Texts are cut, and nothing is interpreted: a page shows them as text.
"""

from __future__ import annotations

import heapq
import math
from collections.abc import Iterator
from itertools import combinations
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

RankedCredit = tuple[
    float, int, int, Group, Any
]  # how odd, its number, the seed, the group, what is odd


def worst_credit(data: RunData) -> list[dict[str, Any]]:
    """Return, for each arm, the largest advantages that go against correctness."""
    found = []
    for arm in main_arms(list(data.trained)):
        counts, heaps = _count_against(data, arm)
        if counts["samples"]:
            kept = [entry for kind in ("wrong_up", "right_down") for entry in _sorted(heaps[kind])]
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


def _sorted(heap: list[RankedCredit]) -> list[RankedCredit]:
    return sorted(heap, reverse=True)


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


def disagreements(data: RunData) -> list[dict[str, Any]]:
    """Return, for each arm, pairs of samples on which judge and reader of strategies disagree.

    A rollout has the judge's label and the strategy that the domain reads from the text.
    Nothing is shown for an arm in which the two always agree, or which has only one of them.
    """
    found = []
    for arm in main_arms(list(data.trained)):
        pairs = different = not_judged = 0
        kept: list[RankedCredit] = []
        for number, (seed, group) in enumerate(_groups(data, arm)):
            judged = [s for s in group.samples if s.strategy is not None]
            known = [s for s in judged if _more(s, "name")]
            not_judged += not judged
            odd = [(a, b) for a, b in combinations(known, 2) if _together(a, b) != _alike(a, b)]
            pairs, different = pairs + math.comb(len(known), 2), different + len(odd)
            if odd:
                _keep(kept, (len(odd) / len(known), -number, seed, group, odd[0]))
        if different:
            shown = [_pair(seed, group, *odd) for _, _, seed, group, odd in _sorted(kept)]
            found.append({"arm": arm, "pairs": pairs, "different": different,
                          "not_judged": not_judged, "examples": shown})  # fmt: skip
    return found


def _together(a: Sample, b: Sample) -> bool:
    """Whether the judge says that two samples use one strategy."""
    return a.strategy == b.strategy and a.strategy != DEGENERATE


def _alike(a: Sample, b: Sample) -> bool:
    return bool(_more(a, "name") == _more(b, "name"))


def _pair(seed: int, group: Group, a: Sample, b: Sample) -> dict[str, Any]:
    return {
        "seed": seed,
        "step": group.step,
        "prompt": cut(group.prompt),
        "together": _together(a, b),
        "samples": [
            {"text": cut(one.text), "strategy": _more(one, "name"),
             "degenerate": one.strategy == DEGENERATE} for one in (a, b)
        ],
    }  # fmt: skip
