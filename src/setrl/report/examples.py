"""Examples that a report shows: problems that only one arm solved, odd credit, odd judgements.

Each list says how many there are and what was read, so that a reader can tell an example from a
habit. Texts are cut, and nothing is interpreted: a page shows them as text.
"""

from __future__ import annotations

import heapq
import math
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import combinations
from pathlib import Path
from typing import Any, TypeGuard

import numpy as np

from setrl.errors import DataError
from setrl.evaluation.summary import SplitSummary
from setrl.files import json_lines
from setrl.files.run_folder import BASE, evaluation_files, find_arms
from setrl.groups.outcomes import with_outcomes
from setrl.groups.records import Evaluation, read_records
from setrl.groups.types import Sample
from setrl.report.run import ArmRun, RunData, shown_split
from setrl.report.style import label, main_arms

MOST_PROBLEMS = 4  # of a split
MOST_WINNERS = 3  # samples of a problem
MOST_EXAMPLES = 4  # of each arm and kind of credit
MOST_LETTERS = 2_000
READ_BYTES = 24_000_000  # of the rollouts of an arm, at most
MOST_SAMPLE_BYTES = 200_000_000  # of a file of samples that is searched for texts


def solved_by_one(data: RunData, split: SplitSummary) -> dict[str, Any]:
    """Return problems that only one arm solved, or else problems on which the arms differ most.

    A problem is solved if at least one sample of any seed is correct. Problems that not all arms
    were evaluated on are left out.
    """
    arms = main_arms(list(split.arms))
    evaluations = {arm: list(data.problems[split.split][arm].values()) for arm in arms}
    prompts = _common(evaluations)
    if len(arms) < 2 or not prompts:
        return {}
    rates_AP = np.array([_rates(evaluations[arm], prompts) for arm in arms])
    solved_AP = rates_AP > 0
    alone_P = np.flatnonzero(solved_AP.sum(axis=0) == 1)
    winners = [arms[int(solved_AP[:, p].argmax())] for p in alone_P]
    numbers = {arm: winners.count(arm) for arm in arms}
    gaps_P = rates_AP.max(axis=0) - rates_AP.min(axis=0)
    order = alone_P if len(alone_P) else np.flatnonzero(gaps_P > 0)
    chosen = _spread(sorted(order.tolist(), key=lambda p: -gaps_P[p]), rates_AP, len(alone_P) > 0)
    return {
        "split": shown_split(split.split),
        "problems": len(prompts),
        "alone": len(alone_P),
        "unsolved": int((~solved_AP.any(axis=0)).sum()),
        "numbers": numbers,
        "examples": [
            _problem(data, split.split, prompts[p], evaluations, dict(zip(arms, rates_AP[:, p],
                                                                       strict=True)))
            for p in chosen
        ],
    }  # fmt: skip


def _common(evaluations: Mapping[str, Sequence[Evaluation]]) -> list[str]:
    """Return the problems that every seed of every arm has, in the order of the first."""
    all_of_them = [one for of_arm in evaluations.values() for one in of_arm]
    shared = set.intersection(*(set(one.prompts) for one in all_of_them))
    return [prompt for prompt in all_of_them[0].prompts if prompt in shared]


def _rates(evaluations: Sequence[Evaluation], prompts: Sequence[str]) -> np.ndarray:
    """Return the share of correct samples of each problem, mean over seeds."""
    chosen = [one.on(prompts) for one in evaluations]
    return np.mean([one.correct_count_P / one.sizes for one in chosen], axis=0)


def _spread(order: Sequence[int], rates_AP: np.ndarray, by_winner: bool) -> list[int]:
    """Return the first problems of an order, taking turns among the arms that win them."""
    if not by_winner:
        return list(order[:MOST_PROBLEMS])
    queues: dict[int, list[int]] = {}
    for p in order:
        queues.setdefault(int(rates_AP[:, p].argmax()), []).append(p)
    found: list[int] = []
    while len(found) < MOST_PROBLEMS and any(queues.values()):
        found += [queue.pop(0) for queue in queues.values() if queue]
    return found[:MOST_PROBLEMS]


def _problem(
    data: RunData,
    split: str,
    prompt: str,
    evaluations: Mapping[str, Sequence[Evaluation]],
    rates: Mapping[str, float],
) -> dict[str, Any]:
    """Describe a problem: each arm's share of correct samples, and samples of the best arm."""
    best = max(rates, key=lambda arm: rates[arm])
    winners, number = [], 0
    for seed, one in data.problems[split][best].items():
        row = one.prompts.index(prompt)
        places = np.flatnonzero(one.correct_PN[row] & one.present_PN[row]).tolist()
        number += len(places)
        winners += [(seed, row, place, one) for place in _different(one, row, places)]
    texts = _Texts(data, split, best)
    samples = [
        {
            "seed": None if best == BASE or not data.arms.get(best) else seed,
            "strategy": _strategy(one, row, place),
            "text": texts.of(seed, one, row, place),
        }
        for seed, row, place, one in winners
    ]
    different = {(sample["strategy"], sample["text"]): sample for sample in reversed(samples)}
    return {
        "prompt": _cut(prompt),
        "rates": {arm: float(rate) for arm, rate in rates.items()},
        "winner": best,
        "correct": number,
        "samples": list(reversed(different.values()))[:MOST_WINNERS],
    }


def _different(one: Evaluation, row: int, places: Sequence[int]) -> list[int]:
    """Correct samples with different strategies first."""
    first = {int(one.strategies_PN[row, place]): place for place in reversed(places)}
    ahead = sorted(first.values())
    return [*ahead, *(place for place in places if place not in ahead)][:MOST_WINNERS]


def _strategy(one: Evaluation, row: int, place: int) -> str | None:
    found = int(one.strategies_PN[row, place])
    return one.strategy_names[found] if 0 <= found < len(one.strategy_names) else None


class _Texts:
    """Texts of samples: the first few are in an evaluation, the others in the file of samples."""

    def __init__(self, data: RunData, split: str, arm: str):
        self.split = split
        self.folders = {
            seed: folder for found in find_arms(data.folder) if found.arm == arm
            for seed, folder in found.seeds.items()
        } if data.arms.get(arm) and data.folder.is_dir() else {}  # fmt: skip

    def of(self, seed: int, one: Evaluation, row: int, place: int) -> str | None:
        """Return the text of a sample; None if it was not kept."""
        if one.texts_P and place < len(one.texts_P[row]):
            return _cut(one.texts_P[row][place])
        if seed not in self.folders:
            return None
        return _text_in_file(self.folders[seed], self.split, one.prompts[row], place)


def _text_in_file(folder: Path, split: str, prompt: str, place: int) -> str | None:
    """Read a sample's text from the file of all samples, if this exists and is not huge."""
    evaluation = evaluation_files(folder).get(split)
    if evaluation is None:
        return None
    path = evaluation.parent / "samples" / evaluation.name
    if not path.is_file() or path.stat().st_size > MOST_SAMPLE_BYTES:
        return None
    names = [r.get("id") for r in read_records(evaluation) if r["prompt"] == prompt]
    if not names or names[0] is None:
        return None
    wanted = f"{names[0]}/{place}"
    for line in json_lines.read(path, "leave_out"):
        if line.record.get("id") == wanted:
            return _cut(str(line.record.get("text", "")))
    return None


@dataclass(frozen=True)
class _Group:
    """One prompt of a recorded step."""

    seed: int
    step: int
    prompt: str
    samples: list[dict[str, Any]]


def worst_credit(data: RunData) -> list[dict[str, Any]]:
    """Return, for each arm, the largest advantages that go against correctness."""
    found = []
    for arm in main_arms(list(data.trained)):
        counts, heaps = _count_against(data, arm)
        if counts["samples"]:
            examples = [
                *(_credit(*entry[2:]) for entry in sorted(heaps["wrong_up"], reverse=True)),
                *(_credit(*entry[2:]) for entry in sorted(heaps["right_down"], reverse=True)),
            ]
            found.append({"arm": arm, **counts, "examples": examples})
    return found


def _count_against(data: RunData, arm: str) -> tuple[dict[str, int], dict[str, list[Any]]]:
    """How many samples of each kind were read, and the worst ones of different prompts."""
    counts = {"samples": 0, "groups": 0, "right_down": 0, "wrong_up": 0}
    heaps: dict[str, list[Any]] = {"right_down": [], "wrong_up": []}
    for group in _groups(data, arm):
        counts["groups"] += 1
        counts["samples"] += len(group.samples)
        worst: dict[str, tuple[float, int]] = {}
        for place, sample in enumerate(group.samples):
            kind, size = _against(sample)
            if kind:
                counts[kind] += 1
                worst[kind] = max(worst.get(kind, (0.0, -1)), (size, -place))
        for kind, (size, place) in worst.items():  # one sample a prompt: others say the same
            _keep(heaps[kind], (size, counts["groups"], group, -place))
    return counts, heaps


def _keep(heap: list[Any], entry: tuple[float, int, _Group, int]) -> None:
    if len(heap) < MOST_EXAMPLES:
        heapq.heappush(heap, entry)
    else:
        heapq.heappushpop(heap, entry)


def _against(sample: Mapping[str, Any]) -> tuple[str, float]:
    """Whether credit goes against correctness, and its size; "" if it does not."""
    correct, advantage = sample.get("correct"), sample.get("advantage")
    if correct is None or not _is_number(advantage):
        return "", 0.0
    if correct and advantage < 0:
        return "right_down", -float(advantage)
    if not correct and advantage > 0:
        return "wrong_up", float(advantage)
    return "", 0.0


def _is_number(value: Any) -> TypeGuard[float]:
    return isinstance(value, int | float) and math.isfinite(value)


def _credit(group: _Group, place: int) -> dict[str, Any]:
    """Describe a sample whose credit is odd, and its group."""
    samples, sample = group.samples, group.samples[place]
    cluster = sample.get("cluster")
    with_label = sum(one.get("cluster") == cluster for one in samples)
    others = sample.get("counterfactual") or {}
    return {
        "kind": _against(sample)[0],
        "seed": group.seed,
        "step": group.step,
        "prompt": _cut(group.prompt),
        "text": _cut(str(sample.get("text", ""))),
        "reward": float(sample["reward"]) if _is_number(sample.get("reward")) else None,
        "advantage": float(sample["advantage"]),
        "strategy": sample.get("strategy"),
        "degenerate": cluster == -1,
        "same_strategy": with_label if cluster not in (None, -1) else None,
        "samples": len(samples),
        "correct": sum(bool(one.get("correct")) for one in samples),
        "others": {label(name): float(x) for name, x in others.items() if _is_number(x)},
    }


def _with_outcomes(samples: list[dict[str, Any]]) -> list[dict[str, Any]]:
    """Return samples with `correct`, which records of earlier versions left to their rewards."""
    found = with_outcomes(
        [
            Sample(correct=one.get("correct"), reward=r if _is_number(r) else None)
            for one in samples
            for r in (one.get("reward"),)
        ]
    )
    return [{**one, "correct": its.correct} for one, its in zip(samples, found, strict=True)]


def _groups(data: RunData, arm: str) -> Iterator[_Group]:
    """Yield the recorded groups of an arm's seeds, at evenly spaced steps if there are too many."""
    runs = [run for run in data.arms[arm] if run.rollouts]
    for run in runs:
        for step in _steps_to_read(run, READ_BYTES // len(runs)):
            try:
                for line in json_lines.read(run.rollouts[step], "leave_out"):
                    record = line.record
                    samples = record.get("samples")
                    if isinstance(samples, list) and all(isinstance(s, dict) for s in samples):
                        prompt = str(record.get("prompt", ""))
                        yield _Group(run.seed, step, prompt, _with_outcomes(samples))
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

    A rollout has the judge's label (cluster) and the strategy that the domain reads from the text.
    Nothing is shown for an arm in which the two always agree, or which has only one of them.
    """
    found = []
    for arm in main_arms(list(data.trained)):
        pairs = different = not_judged = 0
        examples: list[Any] = []
        for number, group in enumerate(_groups(data, arm)):
            known = [s for s in group.samples if s.get("cluster") is not None and s.get("strategy")]
            not_judged += all(s.get("cluster") is None for s in group.samples)
            odd = [(a, b) for a, b in combinations(known, 2) if _disagree(a, b)]
            pairs, different = pairs + len(known) * (len(known) - 1) // 2, different + len(odd)
            if odd:
                _keep(examples, (len(odd) / len(known), -number, group, odd[0]))  # type: ignore[arg-type]
        if different:
            shown = [_pair(group, *odd) for _, _, group, odd in sorted(examples, reverse=True)]
            found.append({"arm": arm, "pairs": pairs, "different": different,
                          "not_judged": not_judged, "examples": shown})  # fmt: skip
    return found


def _disagree(a: Mapping[str, Any], b: Mapping[str, Any]) -> bool:
    same_label = a["cluster"] == b["cluster"] and a["cluster"] != -1
    return same_label != (a["strategy"] == b["strategy"])


def _pair(group: _Group, a: Mapping[str, Any], b: Mapping[str, Any]) -> dict[str, Any]:
    return {
        "seed": group.seed,
        "step": group.step,
        "prompt": _cut(group.prompt),
        "together": a["cluster"] == b["cluster"] and a["cluster"] != -1,
        "samples": [
            {"text": _cut(str(one.get("text", ""))), "strategy": one["strategy"],
             "degenerate": one["cluster"] == -1} for one in (a, b)
        ],
    }  # fmt: skip


def _cut(text: str) -> str:
    return text if len(text) <= MOST_LETTERS else text[:MOST_LETTERS] + " …"
