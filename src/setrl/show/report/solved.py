"""Problems that only one arm solved, or on which the arms differ most, with the winner's samples.

A list says how many problems there are, so that a reader can tell an example from a habit.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from setrl.evaluate.problems import on_common
from setrl.evaluate.samples import Evaluation
from setrl.evaluate.summary import SplitSummary
from setrl.logs.run import Seed, is_base
from setrl.samples.values import DEGENERATE
from setrl.show.report.run import ReportedRun, shown_split
from setrl.show.report.style import cut, main_arms
from setrl.support.files import json_lines

MOST_PROBLEMS = 4  # of a split
MOST_WINNERS = 3  # samples of a problem
MOST_SAMPLE_BYTES = 200_000_000  # of a file of samples that is searched for texts


def solved_by_one(run: ReportedRun, split: SplitSummary) -> dict[str, Any]:
    """Return problems that only one arm solved, or else problems on which the arms differ most.

    Of the trained arms: what the base solves is no example of what training does. A problem is
    solved if at least one sample of any seed is correct. Problems that not all arms were evaluated
    on are left out.
    """
    arms = [arm for arm in main_arms(list(split.arms)) if not is_base(arm)]
    if len(arms) < 2:
        return {}
    given = run.evaluations[split.split]
    by_arm = on_common({arm: list(given[arm].values()) for arm in arms}).arms
    rates_AP = np.array(
        [
            np.mean(
                [evaluation.correct_count_P / evaluation.size_P for evaluation in by_arm[arm]],
                axis=0,
            )
            for arm in arms
        ]
    )
    solved_AP = rates_AP > 0
    alone_P = np.flatnonzero(solved_AP.sum(axis=0) == 1)
    winners = [arms[int(solved_AP[:, p].argmax())] for p in alone_P]
    gaps_P = rates_AP.max(axis=0) - rates_AP.min(axis=0)
    order = alone_P if len(alone_P) else np.flatnonzero(gaps_P > 0)
    chosen = _choose_by_winner(
        sorted(order.tolist(), key=lambda p: -gaps_P[p]), rates_AP, len(alone_P) > 0
    )
    return {
        "split": shown_split(split.split),
        "problems": rates_AP.shape[1],
        "alone": len(alone_P),
        "unsolved": int((~solved_AP.any(axis=0)).sum()),
        "numbers": {arm: winners.count(arm) for arm in arms},
        "examples": [
            _problem_example(
                run, split.split, p, by_arm, dict(zip(arms, rates_AP[:, p], strict=True))
            )
            for p in chosen
        ],
    }


def _choose_by_winner(order: Sequence[int], rates_AP: np.ndarray, by_winner: bool) -> list[int]:
    """Return the first problems of an order, taking turns among the arms that win them."""
    if not by_winner:
        return list(order[:MOST_PROBLEMS])
    queues: dict[int, list[int]] = {}
    for p in order:
        queues.setdefault(int(rates_AP[:, p].argmax()), []).append(p)
    chosen: list[int] = []
    while len(chosen) < MOST_PROBLEMS and any(queues.values()):
        chosen += [queue.pop(0) for queue in queues.values() if queue]
    return chosen[:MOST_PROBLEMS]


def _problem_example(
    run: ReportedRun,
    split: str,
    p: int,
    by_arm: Mapping[str, Sequence[Evaluation]],
    rates: Mapping[str, float],
) -> dict[str, Any]:
    """Describe a problem: each arm's share of correct samples, and samples of the best arm."""
    best = max(rates, key=lambda arm: rates[arm])
    seeds = run.arms[best].seeds
    samples: dict[tuple[str | None, str | None], dict[str, Any]] = {}
    number = 0
    for seed, evaluation in zip(run.evaluations[split][best], by_arm[best], strict=True):
        places = np.flatnonzero(evaluation.correct_PN[p]).tolist()
        number += len(places)
        for place in _order_different_strategies_first(evaluation, p, places):
            strategy = _strategy_of_sample(evaluation, p, place)
            text = _text_of_sample(evaluation, p, place, seeds.get(seed), split)
            samples.setdefault((strategy, text), {
                "seed": seed if seeds else None,
                "strategy": strategy, "text": text,
            })  # fmt: skip
    return {
        "prompt": cut(_prompt_of_problem(by_arm, p)),
        "rates": {arm: float(rate) for arm, rate in rates.items()},
        "winner": best,
        "correct": number,
        "samples": [sample for key, sample in samples.items() if any(key)][:MOST_WINNERS],
    }


def _prompt_of_problem(by_arm: Mapping[str, Sequence[Evaluation]], p: int) -> str:
    """Return the prompt of a problem, from whichever log has it; its id if none has."""
    names = [(seed.prompts[p], seed.ids[p]) for seeds in by_arm.values() for seed in seeds]
    return next((prompt for prompt, name in names if prompt != name), names[0][1])


def _order_different_strategies_first(
    evaluation: Evaluation, p: int, places: Sequence[int]
) -> list[int]:
    """Correct samples with different strategies first."""
    first = {_strategy_of_sample(evaluation, p, place): place for place in reversed(places)}
    ahead = sorted(first.values())
    return [*ahead, *(place for place in places if place not in ahead)][:MOST_WINNERS]


def _strategy_of_sample(evaluation: Evaluation, p: int, place: int) -> str | None:
    labels = evaluation.samples.of_prompts([p]).labels("strategies")
    label = labels[0][place] if labels else None
    return None if label in (None, DEGENERATE) else str(label)


def _text_of_sample(
    evaluation: Evaluation, p: int, place: int, seed: Seed | None, split: str
) -> str | None:
    """Return a sample's text: the first few are in the evaluation, others in a file of samples."""
    if evaluation.samples.texts and place < len(evaluation.samples.texts[p]):
        return cut(evaluation.samples.texts[p][place])
    if evaluation.ungraded_P is not None and evaluation.ungraded_P[p]:
        return None  # samples without a grade are left out here, and are in that file
    file = None if seed is None else seed.evaluations.get(split)
    if file is None:
        return None
    path = file.parent / "samples" / file.name
    if not path.is_file() or path.stat().st_size > MOST_SAMPLE_BYTES:
        return None
    sample_id = f"{evaluation.ids[p]}/{place}"
    lines = (line.record for line in json_lines.read(path, "leave_out"))
    return next((cut(str(r.get("text", ""))) for r in lines if r.get("id") == sample_id), None)
