"""`python -m studies recommendations`: what `setrl recommend` would choose, against recorded arms.

Reads every recorded run of a language model under results, whatever its arms are: the arms whose
method alone differs are forecast from the base model's groups, the choice among them is made under
several goals, and compared with the arm that came out best in training. The two fitted numbers come
from one domain, and the choices are made on the others.
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from dataclasses import asdict, dataclass, replace
from pathlib import Path
from typing import Any

import numpy as np

from setrl import methods
from setrl.recommend.choice import REFERENCE, Goal
from setrl.recommend.forecasts import Miniature, forecast
from setrl.support.files import strict_yaml
from studies.bases import DOMAINS, RECIPES
from studies.predictions import NAMES, RESULTS, PredictionsConfig, base_strategies, fit_to, numbers
from studies.summaries import write_numbers

OF_BASE = "base_"  # keys of a config that make the base model
ALWAYS: dict[str, Mapping[str, Any]] = {  # what one would take without a recommendation
    "GRPO": {"method": "grpo"},
    "Poly-EPO, K = 4": {"method": "poly_epo", "set_size": 4},
}
FITTED_ARM = "poly_epo"  # its name in the runs that the two numbers are fitted to
FITTED_TO = ("polynomial", "quadratic")  # each time the other domains are chosen for


@dataclass(frozen=True)
class RecommendationsConfig:
    """What is wanted.

    Attributes:
        within: Points of pass@1 that the most right strategies may cost.
        worth: Points of pass@1 that one more right strategy is worth.
    """

    within: tuple[float, ...] = (2.0, 5.0, 10.0, 15.0)
    worth: tuple[float, ...] = (0.0, 1.0, 2.0, 4.0)

    def goals(self) -> list[Goal]:
        """Return all of them."""
        return [
            *(Goal(None, points / 100) for points in self.within),
            *(Goal(points) for points in self.worth),
        ]


Found = Mapping[str, tuple[float, float]]  # arm → pass@1 and right strategies


@dataclass(frozen=True)
class Run:
    """A recorded run.

    Attributes:
        folder: Under results.
        domain: Whose base it starts from.
        steps, prompts, num_samples: Of its training.
        arms: Arm → its method's config, for the arms that differ only in the method.
        seeds: Arm → pass@1 and right strategies of each seed, (2, R).
        left_out: The other arms.
    """

    folder: str
    domain: str
    steps: int
    prompts: int
    num_samples: int
    arms: Mapping[str, Mapping[str, Any]]
    seeds: Mapping[str, np.ndarray]
    left_out: tuple[str, ...]


@dataclass(frozen=True)
class Choice:
    """One choice, and what it was worth.

    Attributes:
        fitted_to: The domain of the fitted numbers.
        folder, domain, goal: Where, and what was wanted.
        arms: How many there were to choose from.
        chosen, best: By the forecasts, and by training.
        regret: Score of the best arm less the score of the chosen one, in training; None if the
            chosen arm lost more pass@1 than allowed.
        stderr: Of that difference, over seeds; None for one seed.
        is_within_error: Whether the chosen arm is the best one, or the regret is at most two of its
            standard errors.
        always: The regret of what one would always take, where it is among the arms.
    """

    fitted_to: str
    folder: str
    domain: str
    goal: str
    arms: int
    chosen: str
    best: str
    regret: float | None
    stderr: float | None
    is_within_error: bool
    always: Mapping[str, float | None]


GRADED_WRONG = ("grader_errors", "wrap_reward")  # keys of faulty graders, then and now


def recorded(results: Path = RESULTS) -> Iterator[Run]:
    """Return the runs from the recipes' bases with GRPO and another arm that can be forecast."""
    for folder, config, arms in _files(results):
        if config.get("domain") not in DOMAINS or not _is_usual(config):
            continue
        configs = {name: dict(arm) for name, arm in config["arms"].items() if name in arms}
        same = {name: arm for name, arm in configs.items() if _is_method_alone(arm)}
        if REFERENCE in same and len(same) > 1:
            yield Run(
                folder,
                config["domain"],
                config["steps"],
                config["prompts_per_step"],
                config["samples_per_prompt"],
                same,
                {arm: _per_seed(arms[arm]) for arm in same},
                tuple(sorted(set(configs) - set(same))),
            )


def _files(results: Path) -> Iterator[tuple[str, dict[str, Any], dict[str, Any]]]:
    """Yield name, config, and arms with metrics, from summaries and the study of the front."""
    for path in sorted(results.rglob("summary.json")):
        beside = path.with_name("config.yaml")
        if beside.exists():
            splits = json.loads(path.read_text(encoding="utf-8")).get("splits", {})
            arms = splits.get("test", {}).get("arms", {})
            name = str(path.parent.relative_to(results))
            config, _ = strict_yaml.read(beside)
            yield name, config, {arm: found["metrics"] for arm, found in arms.items()}
    for path in sorted(results.glob("front/*.json")):
        found = json.loads(path.read_text(encoding="utf-8"))
        if {"config", "arms"} <= found.keys() and "test" in found["arms"]:
            yield f"front/{path.stem}", found["config"], found["arms"]["test"]


def _per_seed(metrics: Mapping[str, Any]) -> np.ndarray:
    """Return pass@1 and right strategies of each seed, (2, R)."""
    return np.array([metrics[name]["per_seed"] for name in NAMES[:2]])


def _is_usual(config: Mapping[str, Any]) -> bool:
    """Return whether the base is the model of the domain's recipe, whose groups are known."""
    if config.get("temperature", 1.0) != 1 or any(config.get(key) for key in GRADED_WRONG):
        return False
    recipe, _ = strict_yaml.read(RECIPES / config["domain"] / "config.yaml")
    keys = {key for key in recipe if key.startswith(OF_BASE)}
    return all(config.get(key, recipe[key]) == recipe[key] for key in keys)


def _is_method_alone(arm: Mapping[str, Any]) -> bool:
    """Return whether an arm has only a method, which reads only rewards, outcomes and clusters."""
    try:
        method = methods.from_config(arm)
    except ValueError:
        return False
    is_fixed = methods.from_config(arm, 1.0) == method  # no schedule
    return is_fixed and set(method.reads) <= {"rewards", "correct", "clusters"}


def ahead(run: Run, training: Miniature) -> Found:
    """Return arm → forecast pass@1 and right strategies."""
    planned = replace(training, steps=run.steps, prompts=run.prompts, num_samples=run.num_samples)
    base, result = base_strategies(run.domain), {}
    for arm, config in run.arms.items():
        method: Any = methods.from_config(config)
        found = numbers(forecast(base, method, planned))
        result[arm] = (found[NAMES[0]], found[NAMES[1]])
    return result


def compared(run: Run, goal: Goal, found: Found, fitted_to: str) -> Choice:
    """Return the choice by forecasts, and the best arm in training."""
    seeds = run.seeds
    means = {arm: (float(one[0].mean()), float(one[1].mean())) for arm, one in seeds.items()}
    chosen, best = goal.choose(found, run.arms), goal.best(means)
    regret, stderr = regret_of(goal, chosen, best, seeds)
    return Choice(
        fitted_to,
        run.folder,
        run.domain,
        str(goal),
        len(run.arms),
        chosen,
        best,
        regret,
        stderr,
        chosen == best or (regret is not None and stderr is not None and regret <= 2 * stderr),
        _of_always(run, goal, best),
    )


def _of_always(run: Run, goal: Goal, best: str) -> dict[str, float | None]:
    """Return the regret of each fixed choice that is among the arms."""
    return {
        name: regret_of(goal, arm, best, run.seeds)[0]
        for name, fixed in ALWAYS.items()
        for arm, config in run.arms.items()
        if config == fixed
    }


def regret_of(
    goal: Goal, chosen: str, best: str, seeds: Mapping[str, np.ndarray]
) -> tuple[float | None, float | None]:
    """Return the score of the best arm less the score of the chosen one, and its standard error."""
    reference = seeds[REFERENCE][0].mean()
    if goal.worth is None:
        if reference - seeds[chosen][0].mean() > goal.within:
            return None, None
        gaps_R = seeds[best][1] - seeds[chosen][1]
    else:
        score = {arm: 100 * seeds[arm][0] + goal.worth * seeds[arm][1] for arm in (best, chosen)}
        gaps_R = score[best] - score[chosen]
    stderr = float(gaps_R.std(ddof=1) / np.sqrt(len(gaps_R))) if len(gaps_R) > 1 else None
    return float(gaps_R.mean()), stderr


def errors(run: Run, found: Found) -> Iterator[dict[str, Any]]:
    """Return forecast less training of each arm: pass@1 lost against GRPO, and right strategies."""
    of_grpo = found[REFERENCE][0], run.seeds[REFERENCE][0].mean()
    for arm, config in run.arms.items():
        pass_1, strategies = run.seeds[arm].mean(axis=1)
        yield {
            "folder": run.folder,
            "arm": arm,
            "method": config["method"],
            "forecast": found[arm],
            "trained": (float(pass_1), float(strategies)),
            "lost": float((of_grpo[0] - found[arm][0]) - (of_grpo[1] - pass_1)),
            "strategies": float(found[arm][1] - strategies),
        }


def by_method(found: list[dict[str, Any]]) -> dict[str, dict[str, float]]:
    """Return mean and mean absolute errors of each method's arms."""
    result: dict[str, dict[str, float]] = {}
    for method in dict.fromkeys(one["method"] for one in found):
        ours = [one for one in found if one["method"] == method]
        result[method] = {"arms": len(ours)}
        for name in ("lost", "strategies"):
            gaps = np.array([one[name] for one in ours])
            result[method] |= {
                f"{name}, mean error": float(gaps.mean()),
                f"{name}, mean absolute error": float(np.abs(gaps).mean()),
            }
    return result


def totals(found: list[Choice]) -> dict[str, Any]:
    """Return how often the choice was right, and what it cost, by the kind of goal."""
    result = {}
    for kind in ("strategies within a loss", "points"):
        ours = [c for c in found if ("at most" in c.goal) == (kind != "points")]
        result[kind] = {
            "choices": len(ours),
            "the best arm": sum(c.chosen == c.best for c in ours),
            "the best arm or within error": sum(c.is_within_error for c in ours),
            "lost too much pass@1": sum(c.regret is None for c in ours),
            "mean regret": _mean([c.regret for c in ours]),
            "always": {name: _of_fixed(ours, name) for name in ALWAYS},
        }
    return result


def _of_fixed(found: list[Choice], name: str) -> dict[str, Any]:
    """Return the same for always taking one method, where it is among the arms."""
    regrets = [choice.always[name] for choice in found if name in choice.always]
    return {
        "choices": len(regrets),
        "the best arm": regrets.count(0.0),
        "lost too much pass@1": regrets.count(None),
        "mean regret": _mean(regrets),
    }


def _mean(values: list[float | None]) -> float | None:
    known = [value for value in values if value is not None]
    return float(np.mean(known)) if known else None


def run(out_dir: Path | str) -> Path:
    """Choose on the domains that were not fitted to; write recommendations.json.

    Returns:
        Its path.
    """
    config, runs = RecommendationsConfig(), list(recorded())
    found: list[Choice] = []
    gaps: list[dict[str, Any]] = []
    for domain in FITTED_TO:
        training = fit_to(PredictionsConfig(runs=2), domain, FITTED_ARM)
        for one in runs:
            if one.domain != domain:
                forecasts = ahead(one, training)
                found += [compared(one, goal, forecasts, domain) for goal in config.goals()]
                gaps += [{"fitted_to": domain, **gap} for gap in errors(one, forecasts)]
    by_fit = {fitted: [c for c in found if c.fitted_to == fitted] for fitted in FITTED_TO}
    return write_numbers(
        Path(out_dir) / "recommendations.json",
        config,
        runs=[{"folder": one.folder, "left_out": one.left_out} for one in runs],
        totals={fitted: totals(ours) for fitted, ours in by_fit.items()},
        errors=by_method(gaps),
        arms=gaps,
        choices=[asdict(choice) for choice in found],
    )
