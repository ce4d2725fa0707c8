"""`python -m studies.graded RUN FILE`: what the models of a run of recipes/graded are worth.

From the samples of their evaluations: the graded max@k, and the set scores that the arms train for.
From the metrics of their training: Adam's Σ(v̂ − m̂²) and the tokens of a judge, if they were logged.
"""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np
import tyro

from recipes.graded.far_points import family, side_of, wished_side, worth
from setrl import DEGENERATE, mean_set_scores, objectives
from setrl.logs.run import BASE, Run
from setrl.support import files
from setrl.tasks.domains.verifier import strategy_label
from studies.summaries import (
    SCHEMA_VERSION,
    geometric_interval,
    mean_interval,
)

KS, K = (1, 2, 4, 6, 8, 16), 4
NOISE, WINDOW, SETTLED = "gradient/adam_variance", 25, 25  # the first steps follow Adam's start
TOKENS = {"tokens of a request": "judge/prompt_tokens", "tokens of a reply": "judge/reply_tokens"}
SECOND = objectives.mean(of="second")
SCORES = {  # name → score, K; the reward is 1 for a right sample, and the other fields are `far`
    "pass@1": (objectives.mean(), 1),
    "far": (SECOND, 1),
    "mean right × mean far@4": (objectives.mean() * SECOND, K),
    "farthest of 4 is right": (objectives.best_of(), K),
    "farthest 2 of 4 are right": (objectives.top_by_proxy(2), K),
    "right strategies@32": (objectives.distinct_correct(), 32),
}


def worths(rows: Sequence[Mapping[str, Any]]) -> dict[str, float]:
    """Return what a model is worth, as a mean over problems, from the records of its evaluation."""
    right_BN = np.array([row["correct"] for row in rows], dtype=np.float64)
    far_BN = np.array([[worth(answer or "") for answer in row["answers"]] for row in rows])
    names_BN = [row["strategies"] for row in rows]
    families_BN = [[family(n) if isinstance(n, str) else n for n in names] for names in names_BN]
    fields: Any = {"correct": right_BN, "second": far_BN, "proxy": far_BN}
    found = {
        name: _mean(right_BN, score, size, strategies=_labels(names_BN), **fields)
        for name, (score, size) in SCORES.items()
    }
    _, size = SCORES["right strategies@32"]
    by_family = _labels(families_BN)
    found["right families@32"] = _mean(
        right_BN, objectives.distinct_correct(), size, strategies=by_family, **fields
    )
    found["f_srl@4"] = _mean(
        right_BN * far_BN, objectives.rarest_reward(), K, strategies=_labels(names_BN), rng=0
    )
    best = {f"max@{k}": _mean(right_BN * far_BN, objectives.max(), k) for k in KS}
    return {**best, **found}


def worths_on_sides(rows: Sequence[Mapping[str, Any]]) -> dict[str, float]:
    """Return what a model is worth where a user wants one side of 0 (`sides.yaml`)."""
    right_BN = np.array([row["correct"] for row in rows], dtype=np.float64)
    side_BN = np.array([[side_of(answer or "") for answer in row["answers"]] for row in rows])
    wished_B1 = np.array([[wished_side(row["prompt"])] for row in rows])
    wished_BN, other_BN = (right_BN * (side_BN == sign * wished_B1) for sign in (1, -1))
    picked: Any = {"second": other_BN, "proxy": (side_BN == wished_B1) * 1.0}
    return {
        "right on the wished side": float(wished_BN.mean()),
        "right on the other side": float(other_BN.mean()),
        "product of both sides@4": _mean(wished_BN, objectives.mean() * SECOND, K, **picked),
        "pick of 4 is right": _mean(wished_BN, objectives.best_of(), K, **picked),
    }


def _mean(rewards_BN: np.ndarray, score: Any, size: int, **fields: Any) -> float:
    return float(mean_set_scores(rewards_BN, score, [size], **fields).mean())


def _labels(names_BN: Sequence[Sequence[str | int | None]]) -> np.ndarray:
    return np.array([[strategy_label(n) if isinstance(n, str) else DEGENERATE for n in row]
                     for row in names_BN])  # fmt: skip


def noise(metrics: Sequence[Mapping[str, Any]]) -> list[float]:
    """Return the mean of Σ(v̂ − m̂²) over each window of steps; [] if it was not logged."""
    logged = [one[NOISE] for one in metrics if NOISE in one]
    whole = len(logged) // WINDOW * WINDOW
    return np.reshape(logged[:whole], (-1, WINDOW)).mean(axis=1).tolist()


def tokens(metrics: Sequence[Mapping[str, Any]], key: str) -> float:
    """Return the tokens of a judge, as a mean over its requests."""
    return float(sum(one[key] for one in metrics) / sum(one["judge/requests"] for one in metrics))


def shown(config: Any) -> Any:
    """Return a run's config without the folders of its functions, which differ by machine.

    >>> shown({"task": {"function": "mine:f", "folder": "/home/me"}, "seeds": [0]})
    {'task': {'function': 'mine:f'}, 'seeds': [0]}
    """
    if isinstance(config, Mapping):
        return {key: shown(value) for key, value in config.items() if key != "folder"}
    return [shown(value) for value in config] if isinstance(config, list) else config


def run(run_dir: Path, path: Path) -> Path:
    """Write what each arm is worth, with 95% intervals over seeds.

    Args:
        run_dir: The folder of the run.
        path: The JSON file.
    """
    config = Run(run_dir).config
    of_sides = "Sides" in str(config.get("task"))
    arms: dict[str, dict[str, Any]] = {}
    for arm in Run(run_dir).arms.values():
        seeds = [seed for seed in arm.seeds.values() if "test" in seed.evaluations]
        if not seeds:  # a run that was interrupted
            continue
        samples = [files.read_lines(seed.evaluations["test"]) for seed in seeds]
        found = [worths(rows) | (worths_on_sides(rows) if of_sides else {}) for rows in samples]
        arms[arm.name] = {name: _over_seeds(name, [of[name] for of in found]) for name in found[0]}
        arms[arm.name]["shares of |x|"] = [shares(rows) for rows in samples]
        logs = [files.read_lines(s.metrics_file) for s in seeds if arm.name != BASE]
        if logs and "judge/requests" in logs[0][0]:
            for name, key in TOKENS.items():
                arms[arm.name][name] = _over_seeds(name, [tokens(log, key) for log in logs])
                first = [tokens(log[:1], key) for log in logs]  # samples of one model
                arms[arm.name][f"{name}, first step"] = {"per_seed": first}
        own = [noise(log) for log in logs]
        if own and own[0]:
            start = [values[0] for values in own]
            settled = [float(np.mean(values[SETTLED // WINDOW :])) for values in own]
            arms[arm.name] |= {"noise": _ratio(settled), "noise at first": _ratio(start)}
    more = {"noise at first": _against_leave_two_out(arms)} if "l2o_4" in arms else {}
    whole = {"schema_version": SCHEMA_VERSION, "config": shown(config), "arms": arms} | more
    path.write_text(json.dumps(whole, indent=1) + "\n")
    return path


def _against_leave_two_out(arms: Mapping[str, Mapping[str, Any]]) -> dict[str, Any]:
    """Return ratios of the noise in the first updates, in which policies are alike, by seed."""
    found = {}
    for first, second in (("s_loo", "l2o"), ("l2o", "ei")):
        for size in (2, 4, 6):
            one, other = (arms[f"{name}_{size}"]["noise at first"]["per_seed"]
                          for name in (first, second))  # fmt: skip
            found[f"{first} / {second}, K = {size}"] = _ratio(np.divide(one, other).tolist())
    return found


def _ratio(values_R: Sequence[float]) -> dict[str, Any]:
    rounded = [float(f"{value:.4g}") for value in values_R]
    return geometric_interval(values_R).as_lists() | {"per_seed": rounded}


def shares(rows: Sequence[Mapping[str, Any]]) -> dict[str, float]:
    """Return the share of the samples that answer at each |x|, largest first, from 1% on.

    >>> shares([{"strategies": ["x=5", "x=-5", "x=8", None]}])
    {'5': 0.5, '8': 0.25}
    """
    names = [one for row in rows for one in row["strategies"]]
    places = [name.removeprefix("x=").lstrip("-") for name in names if isinstance(name, str)]
    found = {place: round(times / len(names), 4) for place, times in Counter(places).most_common()}
    return {place: share for place, share in found.items() if share >= 0.01}


def _over_seeds(name: str, values_R: Sequence[float]) -> dict[str, Any]:
    """Return a mean over seeds with its interval; of one seed only its value.

    All are shares, or graded rewards up to 1, but tokens and the counts of strategies in 32.
    """
    rounded = [float(f"{value:.4g}") for value in values_R]
    if len(rounded) < 2:
        return {"mean": rounded[0], "per_seed": rounded}
    most = np.inf if name in TOKENS else 32.0 if name.endswith("@32") else 1.0
    within = (0.0, most)
    return mean_interval(values_R, within).as_lists() | {"per_seed": rounded}


if __name__ == "__main__":
    print(tyro.cli(tyro.conf.configure(tyro.conf.PositionalRequiredArgs)(run)))
