"""Every metric of an evaluation, by name: its values on each problem, and how it is displayed.

A name is `metric@x` where the metric is a curve, over the samples k or the share τ, and just
`metric` where it is one number. Axes: R seeds, P problems, N samples.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any, Literal

import numpy as np
from numpy.typing import NDArray

from setrl import mean_set_scores, objectives
from setrl.core.objectives.labels import find_labels
from setrl.evaluate.estimators import (
    Floats,
    count_labels,
    cover_at,
    effective_number,
    g_pass_at_k,
    mean_g_pass_at_k,
    mean_shared_prefix,
    pass_at_k,
)
from setrl.evaluate.intervals import ROUNDING, Bounds, Estimate
from setrl.evaluate.samples import Evaluation
from setrl.samples.values import DEGENERATE
from setrl.support.errors import ConfigError, usage_errors
from setrl.support.names import look_up
from setrl.support.wording import count, interval, plain

BY_NUMBER = ("cover", "effective_number", "top_share")  # their expected value depends on n
CHOICES = 32  # of the samples that stay
COLUMNS = ("rewards", "strategies", "answers", "proxy", "correct")

BothValues = tuple[Floats, Floats]  # of two sides, (R, P) each
Axis = Literal["k", "τ", ""]

COVER_TAUS = (0.1, 0.25, 0.5, 0.75, 1.0)
G_PASS_TAUS = {"g_pass_0.5": 0.5, "g_pass_0.75": 0.75, "g_pass_1": 1.0}


@dataclass(frozen=True)
class Metric:
    """How a metric is displayed.

    Attributes:
        label: Its name in words.
        axis: The x-axis of its curve; "" for a single number.
        share: Whether it is a share of something, displayed as per cent.
        digits: Digits after the point.
    """

    label: str
    axis: Axis = "k"
    share: bool = False
    digits: int = 1

    @property
    def scale(self) -> int:
        """What a value is multiplied by where it is displayed."""
        return 100 if self.share else 1

    @property
    def title(self) -> str:
        """The label with the axis after the @.

        >>> METRICS["cover"].title, METRICS["top_share"].title
        ('Cover@τ', 'share of the commonest')
        """
        return f"{self.label}@{self.axis}" if self.axis else self.label


METRICS: dict[str, Metric] = {
    "pass": Metric("pass", share=True),
    "max": Metric("max", digits=3),
    "best_of": Metric("best-of", digits=3),
    "majority": Metric("majority", share=True),
    "vote_share": Metric("vote share", share=True),
    "strategies": Metric("strategies", digits=2),
    "correct_strategies": Metric("correct strategies", digits=2),
    "g_pass_0.5": Metric("G-pass(τ=0.5)", share=True),
    "g_pass_0.75": Metric("G-pass(τ=0.75)", share=True),
    "g_pass_1": Metric("G-pass(τ=1)", share=True),
    "g_pass_mean": Metric("mG-pass", share=True),
    "cover": Metric("Cover", "τ", share=True),
    "effective_number": Metric("effective strategies", "", digits=2),
    "top_share": Metric("share of the commonest", "", share=True),
    "degenerate": Metric("share of no strategy", "", share=True),
    "shared_prefix": Metric("characters that two samples share", ""),
}


READ_FROM = {  # labels → metrics of them, which are unknown where no sample has a label
    "strategies": ("strategies", "correct_strategies", "top_share", "degenerate"),
    "answers": ("majority", "vote_share"),
}

OF_REWARDS = ("max", "best_of")  # metrics whose values are rewards of samples
OF_COUNTS = ("strategies", "correct_strategies", "effective_number")  # numbers of strategies

LACKING = {  # metric → what samples lack that cannot have it; all samples have the other metrics
    **dict.fromkeys(
        READ_FROM["strategies"],
        "no sample has a strategy; --strategy names the field of a log, and `setrl judge` adds one",
    ),
    **dict.fromkeys(
        READ_FROM["answers"], "no sample has an answer; --answer names the field of a log"
    ),
    "max": "all rewards are 0 or 1 (max@k is pass@k then), or every problem lacks one; --reward "
    "names the field of a log",
    "best_of": "no problem has a selector's score of each sample, in the field proxy",
    "g_pass_mean": "it needs a k of 2 or more, and as many samples of each problem",
    "shared_prefix": "not every problem has two texts; --text names the field of a log",
}


def check_names(metrics: Sequence[str]) -> None:
    """Refuse names that no metric has.

    Args:
        metrics: The names; "all" stands for all metrics.

    Raises:
        ConfigError: Naming the nearest name, and all names.
    """
    with usage_errors():
        for metric in metrics:
            look_up("metric", metric, dict.fromkeys((*METRICS, "all")))


def incomplete(evaluations: Sequence[Evaluation]) -> dict[str, str]:
    """Return the metrics of strategies that no problem has, although there are labels → why.

    A problem has strategies@k only if each of its samples has a label, and correct strategies@k
    only if each correct one has.
    """
    reasons = {}
    for metric in ("strategies", "correct_strategies"):
        for evaluation in evaluations:
            counted_PN = SET_SCORES[metric](evaluation)[0]
            if evaluation.knows("strategies") and np.isnan(counted_PN).any(axis=1).all():
                bare = int(
                    (evaluation.present_PN & np.isnan(evaluation.column("strategies"))).sum()
                )
                of = count(int(evaluation.size_P.sum()), "sample")
                kind = "correct sample" if metric == "correct_strategies" else "sample"
                reasons[metric] = (
                    f"every problem has a {kind} without a label ({bare:,} of {of} have none); "
                    "`setrl judge` labels all samples, and --degenerate null says that no label "
                    "means no strategy"
                )
    return reasons


def refuse_lacking(
    metrics: Sequence[str],
    known: Mapping[str, Collection[str]],
    why: Mapping[str, Mapping[str, str]] | None = None,
) -> None:
    """Refuse metrics that some samples cannot have.

    Args:
        metrics: Their names, without "all".
        known: Where samples come from → the metrics that they have.
        why: Where samples come from → metric → why they lack it, if not for the usual reason.

    Raises:
        ConfigError: Saying what the samples lack.
    """
    for metric in metrics:
        for name, of_samples in known.items():
            if metric not in of_samples:
                lacking = (why or {}).get(name, {}).get(metric, LACKING.get(metric))
                raise ConfigError(f"{name}: cannot have the metric {metric}: {lacking}")


def powers_of_two(n: int) -> list[int]:
    """1, 2, 4, … up to n.

    >>> powers_of_two(10)
    [1, 2, 4, 8]
    """
    return [2**power for power in range(n.bit_length())]


def metric_values(
    evaluation: Evaluation, ks: Sequence[int] = (), only: Collection[str] = ()
) -> dict[str, Floats]:
    """Return metrics of the evaluation on each problem, (P,) each.

    If no sample of the evaluation has a strategy, nobody has read strategies, and the metrics of
    strategies are NaN; in the same way without answers.

    Args:
        evaluation: The samples. Each problem's value uses all its samples, however many.
        ks: Where the curves over k are computed, each up to n; 1, 2, 4, … up to n by default.
        only: The metrics that are computed; all by default.
    """
    asked = set(only or METRICS)
    sizes = sorted(set(ks)) or powers_of_two(evaluation.n)
    values = _one_number_strategy_metrics(evaluation, asked)
    curves = _set_score_curves(evaluation, sizes, asked)
    n, correct_P = evaluation.size_P, evaluation.correct_count_P
    for place, k in enumerate(sizes):
        values |= {f"{name}@{k}": curve_KP[place] for name, curve_KP in curves.items()}
        for name in (name for name in G_PASS_TAUS if name in asked):
            values[f"{name}@{k}"] = g_pass_at_k(correct_P, n, k, G_PASS_TAUS[name])
        if k > 1 and "g_pass_mean" in asked:
            values[f"g_pass_mean@{k}"] = mean_g_pass_at_k(correct_P, n, k)
    for tau in COVER_TAUS if "cover" in asked else ():
        values[f"cover@{tau:g}"] = cover_at(correct_P, n, tau)
    if "shared_prefix" in asked and evaluation.texts_kept > 1:
        values["shared_prefix"] = np.array([*map(mean_shared_prefix, evaluation.samples.texts)])
    return _unread_as_nan(evaluation, values)


def _one_number_strategy_metrics(
    evaluation: Evaluation, asked: Collection[str]
) -> dict[str, Floats]:
    """Return the metrics of strategies that are one number; shares are of the labelled samples."""
    if not {"effective_number", "top_share", "degenerate"} & {*asked}:
        return {}
    labels_PN = evaluation.column("strategies")
    count_PC = count_labels(evaluation.counted("strategies"))
    known_P = np.isfinite(labels_PN).sum(axis=1)
    labelled_P = np.where(known_P, known_P, np.nan)
    most_P = count_PC.max(axis=1)
    values = {
        "effective_number": effective_number(count_PC),
        "top_share": np.where(most_P, most_P / labelled_P, np.nan),
        "degenerate": (labels_PN == DEGENERATE).sum(axis=1) / labelled_P,
    }
    return {name: values_P for name, values_P in values.items() if name in asked}


def _unread_as_nan(evaluation: Evaluation, values: Mapping[str, Floats]) -> dict[str, Floats]:
    """Replace metrics of labels that no sample has by NaN: 0 would claim that they were read."""
    unread = {
        metric
        for labels, metrics in READ_FROM.items()
        if not evaluation.knows(labels)
        for metric in metrics
    }
    return {
        name: np.full(len(value_P), np.nan) if name.partition("@")[0] in unread else value_P
        for name, value_P in values.items()
    }


def _set_score_curves(
    evaluation: Evaluation, sizes: Sequence[int], asked: Collection[str]
) -> dict[str, Floats]:
    """Return the metrics that are mean scores of sets of k samples, (sizes, P) each."""
    inputs = {name: score(evaluation) for name, score in SET_SCORES.items() if name in asked}
    correct_P, n = evaluation.correct_count_P, evaluation.size_P
    pass_scores = (
        {"pass": np.array([pass_at_k(correct_P, n, k) for k in sizes])} if "pass" in asked else {}
    )
    return pass_scores | {
        name: mean_set_scores(rewards_PN, objective, sizes, mask=evaluation.present_PN, **fields)
        for name, (rewards_PN, objective, fields) in inputs.items()
        if rewards_PN is not None
    }


def _answers_as_votes(evaluation: Evaluation) -> dict[str, Any]:
    """Return the answers: a sample without one is among the k, but votes for no answer."""
    return {"answers": evaluation.column("answers"), "abstain": True}


def _best_of_inputs(evaluation: Evaluation) -> SetScore:
    if evaluation.samples.proxy is None:
        return None, objectives.best_of(), {}
    proxy = {"proxy": _incomplete_problems_as_nan(evaluation, evaluation.samples.proxy)}
    return (
        _incomplete_problems_as_nan(evaluation, evaluation.graded_PN),
        objectives.best_of(),
        proxy,
    )


def _max_inputs(evaluation: Evaluation) -> SetScore:
    rewards_PN = evaluation.samples.rewards
    known_PN = (
        _incomplete_problems_as_nan(evaluation, rewards_PN) if evaluation.has_rewards else None
    )
    return known_PN, objectives.max(), {}


def _label_inputs(
    evaluation: Evaluation, objective: objectives.Objective, read_PN: NDArray[np.bool_]
) -> SetScore:
    """Leave out problems in which a sample has no label that the objective reads."""
    unread_PN = read_PN & np.isnan(evaluation.column("strategies"))
    correct_PN = _incomplete_problems_as_nan(
        evaluation, np.where(unread_PN, np.nan, evaluation.correct_PN)
    )
    return correct_PN, objective, {"strategies": evaluation.counted("strategies")}


SetScore = tuple[Any, objectives.Objective, dict[str, Any]]  # rewards (None: not known), fields
SET_SCORES: dict[str, Callable[[Evaluation], SetScore]] = {
    "majority": lambda e: (_is_right_by_answer(e), objectives.majority(), _answers_as_votes(e)),
    "vote_share": lambda e: (e.correct_PN, objectives.vote_share(), _answers_as_votes(e)),
    "strategies": lambda e: _label_inputs(e, objectives.distinct(), e.present_PN),
    "correct_strategies": lambda e: _label_inputs(e, objectives.distinct_correct(), e.correct_PN),
    "max": _max_inputs,
    "best_of": _best_of_inputs,
}  # fmt: skip


def _is_right_by_answer(evaluation: Evaluation) -> NDArray[np.bool_]:
    """Whether each sample's answer is right: some sample that gave it was verified correct."""
    answers = find_labels(evaluation.counted("answers"))
    verified_CB = answers.total(evaluation.correct_PN) > 0
    return answers.of_own(verified_CB) > 0


def _incomplete_problems_as_nan(evaluation: Evaluation, values_PN: Floats) -> Floats:
    """Replace all samples of a problem that lacks one by NaN.

    The sets of the samples that are left would be smaller than the sets of other problems and arms.
    """
    missing_PN = np.isnan(values_PN) & evaluation.present_PN
    missing_P1 = missing_PN.any(axis=1, keepdims=True)
    return np.where(missing_P1, np.nan, values_PN)


def seed_values(
    evaluations: Sequence[Evaluation], ks: Sequence[int] = (), only: Collection[str] = ()
) -> dict[str, Floats]:
    """Return the metrics that all seeds have, one row for each seed, (R, P) each.

    `ks` and `only` are as in `metric_values`. A metric that is unknown of every problem in some
    seed, such as majority@k without answers, is not among them.
    """
    by_seed = [metric_values(evaluation, ks, only) for evaluation in evaluations]
    shared = [name for name in by_seed[0] if all(name in values for values in by_seed)]
    values_by_name = {name: np.stack([values[name] for values in by_seed]) for name in shared}
    return {name: values_RP for name, values_RP in values_by_name.items() if is_known(values_RP)}


def is_known(values_RP: Floats) -> bool:
    """Return whether every seed has a value of at least one common problem."""
    return not np.isnan(values_RP).any(axis=0).all()


def bounds_of(
    name: str, values: Sequence[Floats], evaluations: Sequence[Evaluation] = ()
) -> Bounds | None:
    """Return the smallest and the largest value that a metric@x can have, where these are known.

    A share is between 0 and 1, and the reward of a set between those of all samples. A number of
    strategies is taken to be between the whole numbers around all that were seen, so that of few
    samples with one strategy each the next may have two.

    Args:
        name: The metric.
        values: Its values, (R, P) of each side.
        evaluations: What they are of, for rewards.
    """
    metric, _, k = name.partition("@")
    if METRICS[metric].share:
        return 0.0, 1.0
    if metric in OF_COUNTS and any(map(is_known, values)):
        most = float(k or math.inf)  # k samples have at most k strategies
        least, largest = min(map(np.nanmin, values)), max(map(np.nanmax, values))
        low = min(float(math.floor(least + ROUNDING)), most - 1)
        return low, min(max(low + 1, float(math.ceil(largest - ROUNDING))), most)
    if metric not in OF_REWARDS or not evaluations:
        return None
    rewards = [evaluation.graded_PN[evaluation.present_PN] for evaluation in evaluations]
    return float(min(map(np.nanmin, rewards))), float(max(map(np.nanmax, rewards)))


def by_metric(names: Sequence[str] | Mapping[str, object]) -> dict[str, list[str]]:
    """metric → its names, metric@x, in their order.

    >>> by_metric(["pass@1", "top_share", "pass@2"])
    {'pass': ['pass@1', 'pass@2'], 'top_share': ['top_share']}
    """
    names_by_metric: dict[str, list[str]] = {}
    for name in names:
        names_by_metric.setdefault(name.partition("@")[0], []).append(name)
    return names_by_metric


def with_interval(name: str, estimate: Estimate) -> str:
    """Write the value of a metric with its interval."""
    shown = METRICS[name.partition("@")[0]]
    value = plain(shown.scale * estimate.value, shown.digits) + "%" * shown.share
    if math.isnan(estimate.low):
        return f"{value} [—]"  # of one problem
    return f"{value} {interval(estimate.ends, shown.scale, shown.digits)}"


def paired_values(
    first: Sequence[Evaluation],
    second: Sequence[Evaluation],
    of_first: Mapping[str, Floats],
    of_second: Mapping[str, Floats],
) -> dict[str, BothValues]:
    """Return the values of the metrics that two sides have, from as many samples where this counts.

    Most metrics at k have the same expected value for any number of samples. Cover@τ, the effective
    number of strategies and the share of the commonest do not: of two equal models, the one with
    more samples has more strategies. They are compared on as many samples of a problem as the side
    with fewer has, averaged over random choices of these samples.

    Args:
        first, second: One evaluation for each seed, on the same problems.
        of_first, of_second: Metric@x → values of all samples, (R, P).
    """
    both = {name: (of_first[name], of_second[name]) for name in of_first if name in of_second}
    asked = {metric for name in both if (metric := name.partition("@")[0]) in BY_NUMBER}
    sizes = [evaluation.size_P for evaluation in (*first, *second)]
    if not asked or all((size_P == sizes[0]).all() for size_P in sizes):
        return both
    fewest_P = np.min(sizes, axis=0)
    a, b = (
        [_metrics_over_thinnings(evaluation, fewest_P, asked) for evaluation in side]
        for side in (first, second)
    )
    return both | {
        name: (np.stack([values[name] for values in a]), np.stack([values[name] for values in b]))
        for name in both
        if name.partition("@")[0] in asked
    }


def thin(evaluation: Evaluation, n_P: NDArray[np.int64], rng: np.random.Generator) -> Evaluation:
    """Return n_P of the samples of each problem, chosen at random."""
    key_PN = np.where(evaluation.present_PN, rng.random(evaluation.present_PN.shape), 2)
    chosen_PN = key_PN.argsort(axis=1)[:, : n_P.max()]
    samples = evaluation.samples
    given = {name: value for name in COLUMNS if (value := getattr(samples, name)) is not None}
    mask = np.arange(n_P.max()) < n_P[:, None]
    kept: dict[str, Any] = {
        name: np.where(mask, np.take_along_axis(value, chosen_PN, 1), np.nan)
        for name, value in given.items()
    }
    return replace(evaluation, samples=replace(samples, **kept, mask=mask, texts=()))


def _metrics_over_thinnings(
    evaluation: Evaluation, n_P: NDArray[np.int64], asked: Collection[str]
) -> dict[str, Floats]:
    if (evaluation.size_P == n_P).all():
        return metric_values(evaluation, [1], asked)
    rng = np.random.default_rng(0)
    every = [metric_values(thin(evaluation, n_P, rng), [1], asked) for _ in range(CHOICES)]
    return {name: _mean_of_known([values[name] for values in every]) for name in every[0]}


def _mean_of_known(every_CP: Sequence[Floats]) -> Floats:
    known_P = np.isfinite(every_CP).sum(axis=0)
    unknown = np.full(len(known_P), np.nan)
    return np.divide(np.nansum(every_CP, axis=0), known_P, out=unknown, where=known_P > 0)
