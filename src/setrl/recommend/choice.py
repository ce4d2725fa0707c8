"""Which method, and which K, from logged groups: forecasts of candidates under a stated goal.

Every candidate is trained in the miniature of `setrl.recommend.forecasts`, from the strategies of
the log, and from resamples of its prompts. The choice is the best by the goal. How sure it is: in
how many resamples each candidate wins, how far forecasts were from recorded training runs, and
what is chosen if success is learned at half or twice the speed.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import asdict, dataclass, replace
from typing import Any

import numpy as np

from setrl.core import methods
from setrl.evaluate.intervals import Estimate, mean_over_problems
from setrl.recommend.counts import Logged
from setrl.recommend.forecasts import Forecast, Miniature, forecast, forecasts
from setrl.theory.noise import quietest_set_size
from setrl.theory.survival import most_invaded

SAMPLES = 32  # in which right strategies are counted
RESAMPLES, LEVEL = 32, 0.95
SPEEDS = (0.5, 2.0)  # of learning success, at which the choice is made again
REFERENCE = "grpo"
# Success of a base below which forecasts of pass@1 were too high: by 16 to 36 points at 20%, and by
# 4 to 13 points at 52% and 53% (docs/recommend.md).
HARDEST = 0.55
PILOT = 0.25  # share of the planned steps, for methods that no forecast tells apart
ROUNDING = 1e-9  # of a difference of two shares
KEPT = 0.01  # share above which a strategy counts as kept
# Share of prompts in which a choice may pay for new wrong strategies. Such a prompt can lose a
# fifth of its samples (docs/theory.md, K = 4), so a tenth costs as much as forecasts err.
TOLERATED = 0.1

# Mean absolute errors of the forecast over the arms other than GRPO of domains that it was not
# fitted to, in docs/results/recommendations.json: of pass@1 lost against GRPO, and of right
# strategies in 32 samples. Over the domain of the fit they are smaller (0.020 and 0.61).
ERROR_LOST, ERROR_STRATEGIES = 0.021, 0.82
# Methods whose forecasts have been compared with recorded training runs of several seeds.
TRAINED = ("grpo", "maxpo", "poly_epo", "grpo_div", "concave_counts")
UNDERRATED = "concave_counts"  # forecasts of its pass@1 were too low in all training runs

Config = Mapping[str, Any]
Configs = Mapping[str, Config]

PAIRS: Config = {"method": "poly_epo", "set_size": 2}
CONCAVE: Config = {"method": "concave_counts", "alpha": 0.0}  # best from a base right in 20%


def candidates(rate: float, num_samples: int, with_clusters: bool = True) -> dict[str, Config]:
    """Name → config of what is compared: those whose K fits in N samples.

    Args:
        rate: p̂, for the K of pass@K.
        num_samples: N.
        with_clusters: Whether strategies are known.
    """
    quiet = quietest_set_size(min(max(rate, 0.01), 0.99), num_samples)
    found: list[dict[str, Any]] = [
        {"method": "grpo"},
        *({"method": "maxpo", "set_size": k} for k in sorted({quiet, 4} - {1})),
    ]
    if with_clusters:
        found += [{"method": "poly_epo", "set_size": k} for k in (2, 3, 4, 6, 8)]
        found += [{"method": "poly_mixture", "set_size": 4, "alpha": 0.5}]
        found += [{"method": "grpo_div", "weight": weight} for weight in (0.5, 1.0)]
        found += [{"method": "concave_counts", "alpha": alpha} for alpha in (0.0, 0.25, 0.5)]
    fitting = [one for one in found if one.get("set_size", 1) < num_samples]
    return {named(config): config for config in fitting}


def is_trained(config: Config) -> bool:
    """Whether forecasts of this method have been compared with training runs of several seeds."""
    return config["method"] in TRAINED


def named(config: Config) -> str:
    """Return a short name.

    >>> named({"method": "poly_epo", "set_size": 4})
    'poly_epo, set_size 4'
    """
    others = [f"{key} {value:g}" for key, value in config.items() if key != "method"]
    return ", ".join([config["method"], *others])


@dataclass(frozen=True)
class Goal:
    """What is wanted: a score of pass@1 and right strategies, the larger the better.

    Attributes:
        worth: Points of pass@1 that one more right strategy in 32 samples is worth; 0 for only
            pass@1. None for the most right strategies within a loss of pass@1.
        within: That loss against GRPO, as a share: 0.05 is five points.
    """

    worth: float | None = None
    within: float = 0.05

    def __post_init__(self) -> None:
        if self.worth is not None and not 0 <= self.worth < float("inf"):
            raise ValueError(f"a strategy must be worth 0 points or more, got {self.worth}")
        if not 0 <= self.within <= 1:
            raise ValueError(f"within must be a share of pass@1 from 0 to 1, got {self.within}")

    @classmethod
    def parse(cls, text: str, within: float = 0.05) -> Goal:
        """Read the goal "strategies", "pass@1", or a number of points."""
        if text == "strategies":
            return cls(None, within)
        try:
            return cls(0.0 if text == "pass@1" else float(text), within)
        except ValueError as error:
            if "worth" in str(error) or "within" in str(error):
                raise
            raise ValueError(
                "goal must be strategies, pass@1, or the points of pass@1 that one more strategy "
                f"is worth, such as 2; got {text!r}"
            ) from None

    def __str__(self) -> str:
        if self.worth is None:
            return (
                f"the most right strategies in {SAMPLES} samples, with pass@1 at most "
                f"{100 * self.within:g} points below GRPO's"
            )
        if self.worth == 0:
            return "the highest pass@1"
        return f"pass@1 in points + {self.worth:g} × right strategies in {SAMPLES} samples, highest"

    def score(self, pass_1: float, strategies: float, reference: float) -> float:
        """Return a score, the larger the better; negative if too much pass@1 is lost.

        Args:
            pass_1: The pass@1 of the candidate.
            strategies: Its right strategies in 32 samples.
            reference: GRPO's pass@1.
        """
        if self.worth is not None:
            return 100 * pass_1 + self.worth * strategies
        excess = reference - pass_1 - self.within
        return strategies if excess <= ROUNDING else -100 * excess

    def best(self, found: Mapping[str, tuple[float, float]]) -> str:
        """Return the best candidate's name, given pass@1 and strategies of each, GRPO included."""
        reference = found[REFERENCE][0]
        return max(found, key=lambda name: self.score(*found[name], reference))

    def choose(self, found: Mapping[str, tuple[float, float]], compared: Configs) -> str:
        """Choose the best; where forecasts cannot tell, the best concave counts.

        In all recorded training runs concave counts lost less pass@1 than forecast, so they win a
        tie, except against GRPO, and where only pass@1 is wanted. Among several of them, those with
        the most strategies are taken if a loss of pass@1 is allowed. A method whose forecasts
        have not been confirmed by training is chosen only if it is ahead of all others by more than
        the errors of forecasts.
        """
        best, reference = self.best(found), found[REFERENCE][0]
        tied = [name for name in (best, *self.near(found)) if is_trained(compared[name])]
        counts = [name for name in tied if compared[name]["method"] == UNDERRATED]

        def score(name: str) -> float:
            return self.score(*found[name], reference)

        if not counts or best == REFERENCE or self.worth == 0:
            return max([best] if best in tied else tied, key=score, default=best)
        if self.worth is None:  # all of them lose no more than allowed, within the errors
            return max(counts, key=lambda name: found[name][1])
        return max(counts, key=score)

    def near(self, found: Mapping[str, tuple[float, float]], to: str | None = None) -> list[str]:
        """Return the others that the errors of forecasts do not tell from one; else the best."""
        best, reference = to or self.best(found), found[REFERENCE][0]
        others = {name: one for name, one in found.items() if name != best}
        if self.worth is None:
            enough = found[best][1] - ERROR_STRATEGIES
            slack = self.within + ERROR_LOST + ROUNDING
            return [n for n, (p, s) in others.items() if reference - p <= slack and s >= enough]
        error = float(np.hypot(100 * ERROR_LOST, self.worth * ERROR_STRATEGIES))
        least = self.score(*found[best], reference) - error
        return [n for n, one in others.items() if self.score(*one, reference) >= least]


@dataclass(frozen=True)
class Candidate:
    """A method and its forecast.

    Attributes:
        config: The method as a config names it.
        pass_1, strategies: Forecast pass@1 and right strategies in 32 samples.
        pass_1_interval, strategies_interval: Over resamples of the prompts.
        kept: Strategies with at least 1 % of the samples at the end.
        wins: In how many resamples it is chosen.
        pays_wrong: Prompts in which a new strategy that is always wrong has a positive advantage,
            because the log has too few right ones: see `survival.most_invaded`.
    """

    config: Config
    pass_1: float
    strategies: float
    pass_1_interval: tuple[float, float]
    strategies_interval: tuple[float, float]
    kept: tuple[str, ...]
    wins: int
    pays_wrong: int = 0


@dataclass(frozen=True)
class StrategyRow:
    """A strategy of the log: its share of all samples and its success, with 95 % intervals."""

    label: str
    share: float
    share_interval: tuple[float, float]
    success: float
    success_interval: tuple[float, float]


@dataclass(frozen=True)
class Recommendation:
    """What the log shows, and what follows.

    Attributes:
        prompts, samples: The numbers of prompts and samples in the log.
        success: p̂, its mean over prompts.
        success_quantiles: Of p̂ over prompts, at 10, 50 and 90 %.
        never_right, always_right: Prompts with no right sample, and with only right samples.
        alike: The share of groups of N that would be all right or all wrong, over prompts with at
            least N samples; NaN without any.
        alike_prompts: The number of these prompts.
        degenerate: The share of samples without a strategy.
        is_shared: Whether labels mean the same in all prompts.
        why_ranks: Why they are taken as counted anew for each prompt; empty if they are not.
        strategies: Those with at least 1 % of the samples.
        right_strategies: Number of strategies with a right sample → prompts that have so many.
        wrong_have_strategies: Whether wrong samples have strategies, too.
        quiet_set_size: The K of pass@K with the least noise, at p̂ and at its quantiles.
        goal: In words.
        training: What was imitated.
        candidates: Name → candidate.
        choice: What `Goal.choose` takes, None where strategies are not known.
        near: Those that the errors of forecasts do not tell from the best or from the choice.
        at_other_speeds: Speed of learning success, relative to the fitted one → the choice then.
        resamples: How many.
        pilot: For a base so weak that forecasts of pass@1 may be far too high: two candidates to
            train for a part of the steps, and to compare. Else empty.
        within: The share of pass@1 that the goal lets a method lose against GRPO; None for a goal
            without such a limit.
    """

    prompts: int
    samples: tuple[int, int]
    success: Estimate
    success_quantiles: tuple[float, float, float]
    never_right: int
    always_right: int
    alike: float
    alike_prompts: int
    degenerate: float
    is_shared: bool
    strategies: tuple[StrategyRow, ...]
    quiet_set_size: tuple[int, tuple[int, int, int]]
    goal: str
    training: Miniature
    candidates: dict[str, Candidate]
    choice: str | None
    near: tuple[str, ...] = ()
    at_other_speeds: Mapping[float, str] | None = None
    resamples: int = 0
    right_strategies: Mapping[int, int] | None = None
    wrong_have_strategies: bool = False
    pilot: tuple[str, ...] = ()
    why_ranks: str = ""
    within: float | None = None

    def is_safe(self, name: str) -> bool:
        """Whether a candidate pays for wrong strategies in so few prompts that it can be chosen."""
        return self.candidates[name].pays_wrong <= TOLERATED * self.prompts

    def to_json(self) -> dict[str, Any]:
        """Plain data."""
        return {"schema_version": 1, **asdict(self)}


def recommend(
    log: Logged,
    goal: Goal | None = None,
    training: Miniature | None = None,
    resamples: int = RESAMPLES,
    tick: Callable[[], Any] = lambda: None,
) -> Recommendation:
    """Which method to train with, from the groups of a log.

    Args:
        log: The groups.
        goal: What is wanted.
        training: What is planned: steps, B and N, and the noise of the judge.
        resamples: The number of resamples of the prompts.
        tick: Called after each of the candidates.
    """
    goal, training = goal or Goal(), training or Miniature()
    shown = _shown(log, training.num_samples, goal, training)
    if not log.labels:
        return shown
    compared = candidates(shown.success.value, training.num_samples)
    paid = {name: pays_wrong(log, config, training) for name, config in compared.items()}
    safe = [name for name in compared if paid[name] <= TOLERATED * shown.prompts]
    rows, drawn, speeds = {}, {}, {speed: {} for speed in SPEEDS}  # type: ignore[var-annotated]
    base, others = log.strategies(), log.resampled(resamples)
    for name, config in compared.items():
        method: Any = methods.from_config(config)
        rows[name] = forecast(base, method, training)
        drawn[name] = forecasts(others, method, replace(training, runs=1))
        for speed in SPEEDS:
            other = replace(training, skill=speed * training.skill, runs=2)
            speeds[speed][name] = _numbers(forecast(base, method, other))
        tick()
    found = {name: _numbers(rows[name]) for name in safe}
    wins = _wins(goal, {name: drawn[name] for name in safe}, compared)
    choice = goal.choose(found, compared)
    near = {*goal.near(found), *goal.near(found, choice), goal.best(found)} - {choice}
    return replace(
        shown,
        candidates={
            name: _candidate(config, rows[name], drawn[name], wins.count(name), paid[name])
            for name, config in compared.items()
        },
        choice=choice,
        near=tuple(name for name in found if name in near),
        at_other_speeds={
            speed: goal.choose({name: one[name] for name in safe}, compared)
            for speed, one in speeds.items()
        },
        resamples=resamples,
        pilot=(choice, rival(choice, goal, compared)) if shown.success.value < HARDEST else (),
    )


def rival(choice: str, goal: Goal, compared: Configs) -> str:
    """Return what to train next to a choice that no forecast supports: a method of another kind.

    Where strategies count: Poly-EPO with K = 2, which is centred and pays no wrong strategy, next
    to concave counts, which are not centred; concave counts next to all other choices. Where only
    pass@1 counts: MaxPO next to GRPO, and GRPO next to all other choices.
    """
    method = compared[choice]["method"]
    if goal.worth == 0:
        wanted: Config = {"method": "maxpo" if method == REFERENCE else REFERENCE}
    else:
        wanted = PAIRS if method == "concave_counts" else CONCAVE
    fitting = (name for name, one in compared.items() if wanted.items() <= one.items())
    return next(fitting, named(PAIRS))  # of small groups no K of MaxPO fits


def pays_wrong(log: Logged, config: Config, training: Miniature) -> int:
    """In how many prompts a method pays for a new strategy that is always wrong.

    None if the log's wrong samples have no strategies. Prompts that are never right do not count:
    without a reward, no set is worth anything.
    """
    if not log.wrong_have_strategies:
        return 0
    most = most_invaded(methods.from_config(config), training.num_samples)
    right_P = log.right_strategies_P
    return int(((right_P >= 1) & (right_P <= most)).sum())


def _numbers(found: Forecast) -> tuple[float, float]:
    return found.pass_1, found.right_strategies(SAMPLES)


def _wins(goal: Goal, drawn: Mapping[str, Sequence[Forecast]], compared: Configs) -> list[str]:
    """Return what is chosen from each resample."""
    count = len(next(iter(drawn.values())))
    return [
        goal.choose({name: _numbers(found[draw]) for name, found in drawn.items()}, compared)
        for draw in range(count)
    ]


def _candidate(
    config: Config, found: Forecast, drawn: Sequence[Forecast], wins: int, paid: int
) -> Candidate:
    pass_1, strategies = zip(*map(_numbers, drawn), strict=True)
    kept = tuple(str(label) for label in found.survivors(KEPT))
    numbers = _numbers(found)
    ends = _ends(pass_1, numbers[0], most=1.0), _ends(strategies, numbers[1])
    return Candidate(config, *_numbers(found), *ends, kept, wins, paid)


def _ends(
    values: Sequence[float], centre: float | None = None, most: float = math.inf
) -> tuple[float, float]:
    """Return the ends of an interval from values of resamples, moved to a centre, at most `most`.

    A resample holds some prompts twice, so a forecast from it has another mean than the forecast
    from all prompts.
    """
    low, high = np.quantile(values, [(1 - LEVEL) / 2, (1 + LEVEL) / 2])
    shift = 0.0 if centre is None else centre - float(np.mean(values))
    return max(0.0, float(low) + shift), min(most, float(high) + shift)


def _shown(log: Logged, num_samples: int, goal: Goal, training: Miniature) -> Recommendation:
    """Collect what the log shows without a forecast."""
    rates_P = log.rate_P
    success = mean_over_problems(rates_P)
    low, middle, high = np.quantile(rates_P, [0.1, 0.5, 0.9]).tolist()

    def quiet(rate: float) -> int:
        return quietest_set_size(min(max(rate, 0.01), 0.99), num_samples)

    return Recommendation(
        prompts=len(rates_P),
        samples=(int(log.n_P.min()), int(log.n_P.max())),
        success=success,
        success_quantiles=(low, middle, high),
        never_right=int((log.right_P == 0).sum()),
        always_right=int((log.right_P == log.n_P).sum()),
        alike=log.alike(num_samples),
        alike_prompts=log.as_large_as(num_samples),
        degenerate=log.degenerate,
        is_shared=log.is_shared,
        strategies=_rows(log),
        quiet_set_size=(quiet(success.value), (quiet(low), quiet(middle), quiet(high))),
        goal=str(goal),
        training=training,
        candidates={},
        choice=None,
        right_strategies=_histogram(log.right_strategies_P),
        wrong_have_strategies=log.wrong_have_strategies,
        why_ranks=log.why_ranks,
        within=goal.within if goal.worth is None else None,
    )


def _histogram(counts_P: np.ndarray) -> dict[int, int]:
    values, times = np.unique(counts_P, return_counts=True)
    return dict(zip(values.tolist(), times.tolist(), strict=True))


def _rows(log: Logged, resamples: int = 1000) -> tuple[StrategyRow, ...]:
    """Return the strategies with at least 1 % of the samples."""
    if not log.labels:
        return ()
    base, drawn = log.strategies(), log.resampled(resamples)
    return tuple(
        StrategyRow(
            label,
            float(base.shares_C[c]),
            _ends([one.shares_C[c] for one in drawn]),
            float(base.success_C[c]),
            _ends([one.success_C[c] for one in drawn]),
        )
        for c, label in enumerate(log.labels)
        if base.shares_C[c] >= KEPT
    )
