"""A recommendation as text: what the log shows, the forecasts, the choice, and how sure it is."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

import numpy as np

from setrl.recommend.choice import (
    ERROR_LOST,
    ERROR_STRATEGIES,
    HARDEST,
    PILOT,
    REFERENCE,
    SAMPLES,
    TOLERATED,
    Recommendation,
    is_trained,
)
from setrl.theory.survival import (
    counts_shares,
    critical_success,
    polychromic_shares,
    water_filling,
)
from setrl.wording import count, first_of, interval, percent, plain, size, table

MOST_STRATEGIES = 12  # in the table
FEW_STRATEGIES = 6  # of a prompt, up to which prompts are counted one number at a time
HOPELESS = 0.05  # success below which a base is improved before it is trained (docs/front.md)
# `Miniature.step` and `skill` were fitted to Poly-EPO of the recipe `polynomial`.
SPEED = (
    "the forecast knows no learning rate: it assumes the speed of a small model "
    "(docs/recommend.md).\nA larger model or a smaller learning rate gets less far in as many steps"
)
MANY_ALIKE = 0.3  # share of groups without contrast from which the text says so


def recommendation_text(found: Recommendation) -> str:
    """Write all of it; first, whether the forecasts tell the methods apart at all."""
    parts = [_tie(found)] if found.near else []
    parts.append("\n".join(_log(found)))
    if found.strategies:
        parts.append(_strategies(found))
    if found.choice is None:
        parts.append("\n".join(without_strategies(found)))
        return "\n\n".join(parts)
    parts.append(_candidates(found))
    chosen = found.candidates[found.choice]
    if found.pilot:
        parts.append(_pilot(found))
    else:
        parts.append(f"take   {{{_keys(chosen.config)}}}\n{_next_step(chosen.config)}")
    parts.append("\n".join(["why", *(f"- {line}" for line in reasons(found))]))
    parts.append("\n".join(["how sure", *(f"- {line}" for line in doubts(found))]))
    return "\n\n".join(parts)


def _tie(found: Recommendation) -> str:
    """Say that several methods are as good as the one that is chosen."""
    return (
        f"{len(found.near) + 1} of {len(found.candidates)} methods are tied: the forecasts of "
        f"{found.choice} (the arrow below) and of {'; '.join(found.near)} differ by less than the "
        f"mean error of forecasts, {_errors()}"
    )


def _errors() -> str:
    return f"{100 * ERROR_LOST:.1f} points of pass@1 and {ERROR_STRATEGIES:.1f} strategies"


def _next_step(*configs: Mapping[str, Any], steps: str = "") -> str:
    """Say what to write into a config, next to the reference."""
    arms = {REFERENCE: {"method": REFERENCE}, **{one["method"]: one for one in configs}}
    lines = [*([steps] if steps else []), "arms:"]
    lines += [f"  {arm}: {{{_keys(one)}}}" for arm, one in arms.items()]
    them = "it" if len(configs) == 1 else "both"
    return "\n".join(
        [
            f"next   train {them} next to GRPO: in the config of `setrl train`,",
            *(f"       {line}" for line in lines),
            "       and `setrl train --config YOURS --dry-run` says what would be trained",
            *(f"       in a TRL script: method={in_python(one)}" for one in configs),
        ]
    )


def in_python(config: Mapping[str, Any]) -> str:
    """Write the call that makes the method of a config, after `from setrl import methods`.

    >>> in_python({"method": "concave_counts", "alpha": 0.25})
    'methods.concave_counts(alpha=0.25)'
    """
    arguments = [f"{key}={value!r}" for key, value in config.items() if key != "method"]
    return f"methods.{config['method']}({', '.join(arguments)})"


def _keys(config: Mapping[str, Any]) -> str:
    return ", ".join(f"{key}: {value}" for key, value in config.items())


def _pilot(found: Recommendation) -> str:
    """Say what to do without a forecast to trust: train two methods for a while, and compare."""
    one, other = (found.candidates[name].config for name in found.pilot)
    lines = [
        f"pilot  {' and '.join(found.pilot)}: forecasts of pass@1 were 4 to 36 points too high for "
        f"bases that are right in less than {HARDEST:.0%} of their samples, and this base is right "
        f"in {percent(found.success.value)}, so train both for a while"
    ]
    if found.success.value < HOPELESS:
        lines.append(
            "       but first raise its success, by imitation or with easier problems: below "
            f"{HOPELESS:.0%} there is little to learn from (docs/front.md)"
        )
    planned = found.training.steps
    steps = (
        f"steps: {max(1, round(PILOT * planned))}  # a quarter of the {planned} that are planned"
    )
    return "\n".join(
        [
            *lines,
            _next_step(one, other, steps=steps),
            f"then   setrl compare RUN/{one['method']} RUN/{other['method']}",
            "       on problems that were held out; take the better by your goal. Where the",
            "       interval of the difference includes 0, train both for as many steps again.",
            "       Methods that keep strategies may lose much pass@1 against GRPO (docs/front.md)",
        ]
    )


def _log(found: Recommendation) -> Iterator[str]:
    yield f"{size(found.prompts, 'prompt', *found.samples)}; 95% intervals over prompts"
    low, middle, high = (percent(share) for share in found.success_quantiles)
    success = found.success
    yield (
        f"success p̂: {percent(success.value)} {interval(success.ends, 100)}; over "
        f"prompts {low} at the 10th percentile, {middle} at the median, {high} at the 90th; "
        f"{found.never_right} never right, {found.always_right} always right"
    )
    yield (
        f"groups of {found.training.num_samples} that are all right or all wrong: "
        f"{percent(found.alike)}"
    )
    if found.strategies:
        yield f"samples without a strategy: {percent(found.degenerate)}"
        yield _right_strategies(found)
    if found.training.label_noise:
        yield f"noise of the judge: {percent(found.training.label_noise)} of labels moved"
    if found.strategies and not found.is_shared:
        yield (
            f"labels are taken as counted anew for each prompt, because {found.why_ranks}. So "
            "strategies are compared by rank: no. 1 is the most frequent one of each prompt. "
            "--labels shared if they mean the same"
        )


def _right_strategies(found: Recommendation) -> str:
    """Say how many prompts have how many right strategies."""
    counts = dict(found.right_strategies or {})
    many = sum(times for number, times in counts.items() if number > FEW_STRATEGIES)
    parts = [f"{number} in {times}" for number, times in counts.items() if number <= FEW_STRATEGIES]
    parts += [f"more than {FEW_STRATEGIES} in {many}"] if many else []
    return f"right strategies that a prompt shows: {', '.join(parts)} of {found.prompts} prompts"


def _strategies(found: Recommendation) -> str:
    rows = [("strategy", "share", "", "success", "")]
    for row in found.strategies[:MOST_STRATEGIES]:
        share, success = percent(row.share), percent(row.success)
        ends = [interval(one, 100) for one in (row.share_interval, row.success_interval)]
        rows.append((row.label[:32], share, ends[0], success, ends[1]))
    more = len(found.strategies) - MOST_STRATEGIES
    tail = f"\n… and {more} more with at least 1%" if more > 0 else ""
    return table(rows) + tail


def _candidates(found: Recommendation) -> str:
    training, reference = found.training, found.candidates[REFERENCE].pass_1
    counted = f"right in {SAMPLES}"
    head = ("forecast", "pass@1", "", "lost", counted, "", "kept", "pays wrong", "wins")
    rows: list[Sequence[str]] = [head]
    for name, one in found.candidates.items():
        rows.append(
            (
                f"{'→ ' if name == found.choice else '  '}{name}",
                plain(100 * one.pass_1),
                interval(one.pass_1_interval, 100),
                plain(100 * (reference - one.pass_1)),
                plain(one.strategies),
                interval(one.strategies_interval),
                str(len(one.kept)),
                f"{one.pays_wrong}/{found.prompts}",
                f"{one.wins}/{found.resamples}",
            )
        )
    return (
        f"goal: {found.goal}\n"
        f"training: {count(training.steps, 'step')} of "
        f"{size(training.prompts, 'prompt', *(training.num_samples,) * 2)}\n{table(rows)}\n{SPEED}"
    )


def reasons(found: Recommendation) -> Iterator[str]:
    """Yield the reasons, in sentences from the theory; docs/theory-proofs.md proves them."""
    assert found.choice is not None
    chosen, reference = found.candidates[found.choice], found.candidates[REFERENCE]
    yield (
        f"the forecast: pass@1 {percent(chosen.pass_1)} and {plain(chosen.strategies)} right "
        f"strategies in {SAMPLES} samples; GRPO has {percent(reference.pass_1)} and "
        f"{plain(reference.strategies)}"
    )
    yield f"it keeps, with at least 1% of the samples: {first_of(chosen.kept, 10)}"
    name, size = chosen.config["method"], chosen.config.get("set_size", 0)
    success_C = np.array([row.success for row in found.strategies])
    labels = [row.label for row in found.strategies]
    if success_C.max(initial=0) > 0:
        yield _water(labels, success_C)
    if name in ("poly_epo", "poly_mixture"):
        yield _invasion(success_C, size)
    yield from _paid_wrong(found)
    if name == "concave_counts" and chosen.config["alpha"] < 1:
        yield _counts(labels, success_C, found.training.num_samples, chosen.config["alpha"])
    if name == "maxpo":
        yield _quiet(found)


def _water(labels: Sequence[str], success_C: np.ndarray) -> str:
    shares = water_filling(success_C, 1.0)
    kept = [label for label, share in zip(labels, shares, strict=True) if share > 0]
    lost = 100 * (success_C.max() - shares @ success_C)
    return (
        f"water-filling: if each strategy kept its success, the best shares for sets of two would "
        f"keep {len(kept)} of {len(labels)} ({first_of(kept)}), at a cost of {lost:.1f} points of "
        "pass@1 against only the best strategy; training raises success, and lowers this cost"
    )


def _invasion(success_C: np.ndarray, size: int) -> str:
    edge = critical_success(polychromic_shares(success_C, size), success_C, size)
    if edge < 0:
        return (
            f"invasion: with K = {size} even a new strategy that is always wrong has a positive "
            "advantage, because so few strategies are there: give wrong samples no strategy, or "
            "take a smaller K"
        )
    return (
        f"invasion: with K = {size} a new strategy has a positive advantage in the long run if it "
        f"is right more often than {percent(edge)}"
    )


def _paid_wrong(found: Recommendation) -> Iterator[str]:
    """Say which candidates pay for wrong strategies in too many prompts, and what removes that."""
    assert found.choice is not None
    if not found.wrong_have_strategies:
        yield "wrong samples of the log have no strategy, so no method pays for wrong strategies"
        return
    paid = found.candidates[found.choice].pays_wrong
    left_out = [name for name in found.candidates if not found.is_safe(name)]
    if not paid and not left_out:
        return
    rule = (
        "Poly-EPO pays a wrong sample with a new strategy in prompts with at most K − 2 right "
        f"strategies (column pays wrong); of the choice these are {paid} of {found.prompts} prompts"
    )
    if left_out:
        rule += (
            f", and {'; '.join(left_out)} {'is' if len(left_out) == 1 else 'are'} not chosen, "
            f"because there it is more than {TOLERATED:.0%}"
        )
    yield (
        f"{rule}. Prompts may have right strategies that their samples do not show. With −1 as the "
        "strategy of wrong samples, every K is safe"
    )


def _counts(labels: Sequence[str], success_C: np.ndarray, num_samples: int, alpha: float) -> str:
    shares = counts_shares(success_C, num_samples, alpha)
    kept = [label for label, share in zip(labels, shares, strict=True) if share > 1e-4]
    return (
        f"concave counts: with {num_samples} samples and these success rates their fixed point "
        f"keeps {len(kept)} of {len(labels)} ({first_of(kept)})"
    )


def _quiet(found: Recommendation) -> str:
    size, (low, _, high) = found.quiet_set_size
    spread = "" if low == high else f", and from {high} to {low} over prompts (`adaptive_k`)"
    return (
        f"pass@K has the least noise near K = 1/p̂ − 1, with {found.training.num_samples} samples "
        f"at K = {size}{spread}"
    )


def doubts(found: Recommendation) -> Iterator[str]:
    """Say how sure the choice is."""
    assert found.choice is not None
    chosen = found.candidates[found.choice]
    yield (
        f"it is chosen in {chosen.wins} of {found.resamples} resamples of the prompts (column "
        "wins; intervals are over the same resamples, one run of each)"
    )
    yield from _more_wins(found)
    yield (
        f"forecasts were wrong by {_errors()} on average (docs/recommend.md); within such errors "
        + (f"these are as good: {'; '.join(found.near)}" if found.near else "no other is as good")
    )
    yield _at_other_speeds(found)
    if found.success.value < HARDEST:
        yield (
            f"these errors hold for bases that are right in {HARDEST:.0%} of samples or more, and "
            f"this base is right in {percent(found.success.value)}: expect fewer strategies and "
            "less pass@1 than forecast (docs/recommend.md)"
        )
    if found.alike > MANY_ALIKE:
        yield (
            f"{percent(found.alike)} of groups are all right or all wrong: the forecast imitates "
            "one prompt of average difficulty, and fits such prompts badly; methods that read "
            "only rewards learn nothing from those groups"
        )
    named = [found.choice, *found.near]
    if any(found.candidates[name].config["method"] == "concave_counts" for name in named):
        yield (
            "where methods are tied, concave counts are taken, except against GRPO, because their "
            "forecasts of pass@1 are too low (docs/recommend.md)"
        )
    if untested := [name for name in named if not is_trained(found.candidates[name].config)]:
        yield (
            f"forecasts of {'; '.join(untested)} were not compared with training runs of several "
            "seeds, so such methods are chosen only if they lead by more than the errors "
            "(docs/recommend.md)"
        )
    yield (
        "the table assumes the speed of a small model: with a larger model or another learning "
        "rate, train two of the arms for some steps before you trust it"
    )


def _more_wins(found: Recommendation) -> Iterator[str]:
    """Say why a candidate with more wins is not the choice, nor always tied with it."""
    least = found.candidates[found.choice or ""].wins
    more = [f"{name} ({one.wins})" for name, one in found.candidates.items() if one.wins > least]
    if more:
        yield (
            f"{'; '.join(more)} {'wins' if len(more) == 1 else 'win'} more resamples: wins do not "
            "count for the choice, which is by the forecast from all prompts, nor for ties, which "
            "are by the errors of forecasts"
        )


def _at_other_speeds(found: Recommendation) -> str:
    others = (found.at_other_speeds or {}).items()
    changed = [f"at {speed:g} × it {name}" for speed, name in others if name != found.choice]
    if not changed:
        return "the choice is the same at half and at twice the speed of learning success"
    return f"another speed of learning success changes the choice: {'; '.join(changed)}"


def without_strategies(found: Recommendation) -> Iterator[str]:
    """Say what a log without strategies shows, and what is missing."""
    size, (low, middle, high) = found.quiet_set_size
    method = "dr_grpo" if size == 1 else f"maxpo, set_size: {size}"
    yield (
        f"for pass@K: the noise is least near K = 1/p̂ − 1, with groups of "
        f"{found.training.num_samples} at K = {size}: {{method: {method}}}"
    )
    if low != high:
        yield (
            f"prompts differ: K = {low} at the 10th percentile of p̂, {middle} at the median, "
            f"{high} at the 90th; {{method: adaptive_k}} chooses K for each prompt"
        )
    yield (
        "missing: which strategy each sample uses; `setrl judge` writes it. Without it nothing "
        "can be said about methods that keep several strategies"
    )
