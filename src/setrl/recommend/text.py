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

MOST_STRATEGIES = 12  # in the table
FEW_STRATEGIES = 6  # of a prompt, up to which prompts are counted one number at a time
HOPELESS = 0.05  # a base with 3.4% learned little with every method (docs/front.md)
# `Miniature.step` and `skill` were fitted to Poly-EPO of the recipe `polynomial`.
FITTED = (
    "the forecast knows no learning rate: its speed is that of a model of 300,000 parameters with "
    "AdamW at 1e-3, falling to 0.\nWith a smaller learning rate or a larger model training gets "
    "less far in as many steps"
)
MANY_ALIKE = 0.3  # share of groups without contrast, from which on this is said


def recommendation_text(found: Recommendation) -> str:
    """All of it; first, whether the forecasts tell the methods apart at all."""
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
    """That several methods are as good as the one that is chosen."""
    tied = len(found.near) + 1
    errors = f"{100 * ERROR_LOST:.1f} points of pass@1 and {ERROR_STRATEGIES:.1f} strategies"
    return (
        f"{tied} of {len(found.candidates)} methods are tied: forecasts are wrong by {errors} on "
        f"average, and cannot tell {found.choice} (the arrow below) from "
        f"{'; '.join(found.near)}"
    )


def _next_step(*configs: Mapping[str, Any], steps: str = "") -> str:
    """What to write into a config, beside the reference."""
    arms = {REFERENCE: {"method": REFERENCE}, **{one["method"]: one for one in configs}}
    lines = [*([steps] if steps else []), "arms:"]
    lines += [f"  {arm}: {{{_keys(one)}}}" for arm, one in arms.items()]
    them = "it" if len(configs) == 1 else "both"
    return "\n".join(
        [
            f"next   train {them} beside GRPO: in the config of `setrl train`,",
            *(f"       {line}" for line in lines),
            "       and `setrl train --config YOURS --dry-run` says what would be trained",
            *(f"       in a TRL script: method={in_python(one)}" for one in configs),
        ]
    )


def in_python(config: Mapping[str, Any]) -> str:
    """The call that makes the method of a config, after `from setrl import methods`.

    >>> in_python({"method": "concave_counts", "alpha": 0.25})
    'methods.concave_counts(alpha=0.25)'
    """
    arguments = [f"{key}={value!r}" for key, value in config.items() if key != "method"]
    return f"methods.{config['method']}({', '.join(arguments)})"


def _keys(config: Mapping[str, Any]) -> str:
    return ", ".join(f"{key}: {value}" for key, value in config.items())


def _pilot(found: Recommendation) -> str:
    """What to do where no forecast can be trusted: train two methods for a while, and compare."""
    one, other = (found.candidates[name].config for name in found.pilot)
    lines = [
        f"pilot  {' and '.join(found.pilot)}: with a base that is right in "
        f"{_percent(found.success.value)}% of its samples forecasts of pass@1 are far too high, so "
        "train both for a while"
    ]
    if found.success.value < HOPELESS:
        lines.append(
            "       but first raise its success, by imitation or with easier problems: from a base "
            "right in 3% of its samples no method learned much in 100 steps (docs/front.md)"
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
            "       From the one base so weak that was tried (20% right, docs/front.md), methods",
            "       that keep strategies ended 24 to 31 points of pass@1 below GRPO",
        ]
    )


def _log(found: Recommendation) -> Iterator[str]:
    fewest, most = found.samples
    size = str(most) if fewest == most else f"{fewest} to {most}"
    yield f"{found.prompts} prompts × {size} samples; 95% intervals over prompts"
    low, middle, high = found.success_quantiles
    success = found.success
    yield (
        f"success p̂: {_percent(success.value)}% {_interval((success.low, success.high))}; over "
        f"prompts {_percent(low)}% at the 10th percentile, {_percent(middle)}% at the median, "
        f"{_percent(high)}% at the 90th; {found.never_right} never right, {found.always_right} "
        "always right"
    )
    yield (
        f"groups of {found.training.num_samples} that are all right or all wrong: "
        f"{_percent(found.alike)}%"
    )
    if found.strategies:
        yield f"samples without a strategy: {_percent(found.degenerate)}%"
        yield _right_strategies(found)
    if found.training.label_noise:
        yield f"noise of the judge: {_percent(found.training.label_noise)}% of labels moved"
    if found.strategies and not found.is_shared:
        yield (
            f"labels are taken as counted anew for each prompt, because {found.why_ranks}. So "
            "strategies are compared by rank: no. 1 is the most frequent one of each prompt. "
            "--labels shared if they mean the same"
        )


def _right_strategies(found: Recommendation) -> str:
    """How many prompts have how many right strategies."""
    counts = dict(found.right_strategies or {})
    many = sum(times for number, times in counts.items() if number > FEW_STRATEGIES)
    parts = [f"{number} in {times}" for number, times in counts.items() if number <= FEW_STRATEGIES]
    parts += [f"more than {FEW_STRATEGIES} in {many}"] if many else []
    return f"right strategies that a prompt shows: {', '.join(parts)} of {found.prompts} prompts"


def _strategies(found: Recommendation) -> str:
    rows = [("strategy", "share", "", "success", "")]
    for row in found.strategies[:MOST_STRATEGIES]:
        share, success = f"{_percent(row.share)}%", f"{_percent(row.success)}%"
        ends = _interval(row.share_interval), _interval(row.success_interval)
        rows.append((row.label[:32], share, ends[0], success, ends[1]))
    more = len(found.strategies) - MOST_STRATEGIES
    tail = f"\n… and {more} more with at least 1%" if more > 0 else ""
    return _table(rows) + tail


def _candidates(found: Recommendation) -> str:
    training, reference = found.training, found.candidates[REFERENCE].pass_1
    counted = f"right in {SAMPLES}"
    head = ("forecast", "pass@1", "", "lost", counted, "", "kept", "pays wrong", "wins")
    rows: list[Sequence[str]] = [head]
    for name, one in found.candidates.items():
        rows.append(
            (
                f"{'→ ' if name == found.choice else '  '}{name}",
                _percent(one.pass_1),
                _interval(one.pass_1_interval),
                _percent(reference - one.pass_1),
                f"{one.strategies:.1f}",
                f"[{one.strategies_interval[0]:.1f}, {one.strategies_interval[1]:.1f}]",
                str(len(one.kept)),
                f"{one.pays_wrong}/{found.prompts}",
                f"{one.wins}/{found.resamples}",
            )
        )
    return (
        f"goal: {found.goal}\n"
        f"training: {training.steps} steps of {training.prompts} prompts × {training.num_samples} "
        f"samples\n{_table(rows)}\n{FITTED}"
    )


def reasons(found: Recommendation) -> Iterator[str]:
    """Why, in sentences from the theory; docs/theory-proofs.md proves them."""
    assert found.choice is not None
    chosen, reference = found.candidates[found.choice], found.candidates[REFERENCE]
    yield (
        f"the forecast: pass@1 {_percent(chosen.pass_1)} and {chosen.strategies:.1f} right "
        f"strategies in {SAMPLES} samples; GRPO has {_percent(reference.pass_1)} and "
        f"{reference.strategies:.1f}"
    )
    yield f"it keeps, with at least 1% of the samples: {_listed(chosen.kept, 10)}"
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
        f"keep {len(kept)} of {len(labels)} ({_listed(kept)}), at a cost of {lost:.1f} points of "
        "pass@1 against the best strategy alone; training raises success, and lowers this cost"
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
        f"is right more often than {_percent(edge)}%"
    )


def _paid_wrong(found: Recommendation) -> Iterator[str]:
    """Which candidates pay for wrong strategies in too many prompts, and what removes that."""
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
        f"keeps {len(kept)} of {len(labels)} ({_listed(kept)})"
    )


def _quiet(found: Recommendation) -> str:
    size, (low, _, high) = found.quiet_set_size
    spread = "" if low == high else f", and from {high} to {low} over prompts (`adaptive_k`)"
    return (
        f"pass@K has the least noise near K = 1/p̂ − 1, with {found.training.num_samples} samples "
        f"at K = {size}{spread}"
    )


def doubts(found: Recommendation) -> Iterator[str]:
    """How sure the choice is."""
    assert found.choice is not None
    chosen = found.candidates[found.choice]
    yield (
        f"it is chosen in {chosen.wins} of {found.resamples} resamples of the prompts (column "
        "wins; intervals are over the same resamples, one run of each)"
    )
    yield from _more_wins(found)
    yield (
        f"forecasts of recorded trainings were wrong by {100 * ERROR_LOST:.1f} points of pass@1 "
        f"lost and {ERROR_STRATEGIES:.1f} strategies on average; within such errors "
        + (f"these are as good: {'; '.join(found.near)}" if found.near else "no other is as good")
    )
    yield _at_other_speeds(found)
    if found.success.value < HARDEST:
        yield (
            f"the errors above are those from bases that are right in {HARDEST:.0%} of samples or "
            f"more, not from one like this ({found.success.value:.0%}). From the one weak base "
            "that was tried (20%) the methods ended in the order of the forecasts, with up to 0.9 "
            "strategies and 16 to 36 points of pass@1 less (docs/choosing.md)"
        )
    if found.alike > MANY_ALIKE:
        yield (
            f"{_percent(found.alike)}% of groups are all right or all wrong: the forecast imitates "
            "one prompt of average difficulty, and fits such prompts badly; methods that read "
            "rewards alone learn nothing from those groups"
        )
    named = [found.choice, *found.near]
    if any(found.candidates[name].config["method"] == "concave_counts" for name in named):
        yield (
            "in recorded trainings concave counts lost about 3 points less of pass@1 than "
            "forecast, on three domains, so they are taken where methods are tied, except against "
            "GRPO (docs/choosing.md)"
        )
    if untested := [name for name in named if not is_trained(found.candidates[name].config)]:
        yield (
            f"forecasts of {'; '.join(untested)} are not confirmed by trainings of several seeds, "
            "so such methods are chosen only if they lead by more than the errors; "
            "docs/choosing.md has what is known of them"
        )
    yield (
        "the table's speed was fitted to small models (below it): with a larger one or another "
        "learning rate, train two of the arms for some steps before you trust it"
    )


def _more_wins(found: Recommendation) -> Iterator[str]:
    """Why a candidate with more wins is not the choice, nor always tied with it."""
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
    """What a log without strategies shows, and what is missing."""
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


def _listed(names: Sequence[str], most: int = 5) -> str:
    more = len(names) - most
    return ", ".join(names[:most]) + (f" and {more} more" if more > 0 else "")


def _percent(share: float) -> str:
    return f"{100 * share + 0.0:.1f}"


def _interval(ends: tuple[float, float]) -> str:
    return f"[{_percent(ends[0])}, {_percent(ends[1])}]"


def _table(rows: Sequence[Sequence[str]]) -> str:
    widths = [max(map(len, column)) for column in zip(*rows, strict=True)]
    return "\n".join(
        "  ".join(
            cell.ljust(width) if place == 0 else cell.rjust(width)
            for place, (cell, width) in enumerate(zip(row, widths, strict=True))
        ).rstrip()
        for row in rows
    )
