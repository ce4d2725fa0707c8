"""A recommendation on one screen: the advice, the command to run next, the forecasts."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from setrl.recommend.choice import (
    HARDEST,
    PILOT,
    REFERENCE,
    SAMPLES,
    TOLERATED,
    Candidate,
    Recommendation,
)
from setrl.recommend.reasons import ERRORS, doubts, reasons
from setrl.support.wording import count, interval, percent, plain, size, table

MOST_STRATEGIES = 12  # in the table
FEW_STRATEGIES = 6  # of a prompt, up to which prompts are counted one number at a time
SHOWN_DEGENERATE = 0.005  # the share of samples without a strategy
SHOWN_STRATEGIES = 4  # in a line
HOPELESS = 0.05  # success below which a base is improved before it is trained (docs/front.md)
# `Miniature.step` and `skill` were fitted to Poly-EPO of the recipe `polynomial`.
SPEED = (
    "forecasts assume the speed of a small model: a larger one, or a smaller learning rate, gets "
    "less far in as many steps"
)
MANY_ALIKE = 0.3  # share of groups without contrast from which the text says so
CHOSEN, TIED, UNSAFE, OTHER = "→ ", "= ", "× ", "  "  # what a row of the table is marked with


def recommendation_text(
    found: Recommendation, command: str = "", details: bool = False, unread: str = ""
) -> str:
    """Write the advice, what to run next, and the forecasts.

    Args:
        found: The recommendation.
        command: The command to run next.
        details: Add the strategies of the log, the reasons, and how sure the choice is.
        unread: Names of the fields of the log that have no role, one of which may be the strategy.
    """
    if found.choice is None:
        return "\n\n".join(
            ["\n".join(without_strategies(found, command, unread)), "\n".join(_log(found))]
        )
    parts = [_advice(found, command), "\n".join(_short_log(found)), _forecasts(found, details)]
    if details:
        parts += ["\n".join(_log(found)), _strategies(found)]
        parts += ["\n".join(["why", *(f"- {line}" for line in reasons(found))])]
        parts += ["\n".join(["how sure", *(f"- {line}" for line in doubts(found))])]
    return "\n\n".join(parts)


def _advice(found: Recommendation, command: str) -> str:
    """Say what to take, and what to do with it."""
    lines = _pilot(found) if found.pilot else _take(found)
    lines += [f"next   {command}  # its credit for these samples"] if command else []
    chosen = [found.candidates[name].config for name in found.pilot or [str(found.choice)]]
    arms = {REFERENCE: {"method": REFERENCE}, **{one["method"]: one for one in chosen}}
    listed = ", ".join(f"{arm}: {{{_keys(one)}}}" for arm, one in arms.items())
    steps = f"steps: {_pilot_steps(found)}" if found.pilot else ""
    for start, one in zip(("train", "     "), chosen, strict=False):
        lines.append(f"{start}  in a TRL script: method={in_python(one)}")
    lines += ["       or in the config of setrl train --config YOURS:"]
    lines += [f"         {line}" for line in (steps, f"arms: {{{listed}}}") if line]
    if found.pilot:
        one, other = (config["method"] for config in chosen)
        lines.append(
            f"then   setrl compare RUN/{one} RUN/{other}, on problems that were held out; if the "
            "interval includes 0, train on"
        )
    return "\n".join(lines)


def _take(found: Recommendation) -> list[str]:
    assert found.choice is not None
    near, others = len(found.near), len(found.candidates) - 1
    tied = f"{near} of {others} others {'is' if near == 1 else 'are'}" if near else "no other is"
    return [
        f"take   {found.choice}: forecast {_in_words(found.candidates[found.choice])}; "
        f"GRPO {_in_words(found.candidates[REFERENCE])}",
        f"       {tied} as good within the error of forecasts: {ERRORS} on average",
        *(f"       {line}" for line in [_beyond(found)] if line),
    ]


def _in_words(one: Candidate) -> str:
    return f"{percent(one.pass_1)} pass@1 and {plain(one.strategies)} right strategies"


def _beyond(found: Recommendation) -> str:
    """Say why a choice may lose more than the limit; empty if it does not, or if there is none."""
    lost = found.candidates[REFERENCE].pass_1 - found.candidates[found.choice or ""].pass_1
    if found.within is None or lost <= found.within:
        return ""
    return (
        f"it loses {100 * lost:.1f} points, and the limit is {100 * found.within:g}: concave "
        "counts are taken up to the error of forecasts beyond it, because training gave them more "
        "pass@1 than forecast (docs/recommend.md)"
    )


def _pilot(found: Recommendation) -> list[str]:
    """Say which two methods to train for a while, where no forecast can be trusted."""
    lines = [
        f"pilot  train {'; '.join(found.pilot)}; and GRPO for "
        f"{count(_pilot_steps(found), 'step')}, a quarter of those planned, and compare them.",
        f"       No forecast is safe here: the base is right in {percent(found.success.value)} of "
        f"its samples, and below {HARDEST:.0%} forecasts of pass@1 were 4 to 36 points too high "
        "(docs/recommend.md).",
    ]
    if found.success.value < HOPELESS:
        lines.append(
            "       But first raise its success, by imitation or with easier problems: below "
            f"{HOPELESS:.0%} there is little to learn from (docs/front.md)"
        )
    return lines


def _pilot_steps(found: Recommendation) -> int:
    return max(1, round(PILOT * found.training.steps))


def in_python(config: Mapping[str, Any]) -> str:
    """Write the call that makes the method of a config, after `from setrl import methods`.

    >>> in_python({"method": "concave_counts", "alpha": 0.25})
    'methods.concave_counts(alpha=0.25)'
    """
    arguments = [f"{key}={value!r}" for key, value in config.items() if key != "method"]
    return f"methods.{config['method']}({', '.join(arguments)})"


def _keys(config: Mapping[str, Any]) -> str:
    return ", ".join(f"{key}: {value}" for key, value in config.items())


def _short_log(found: Recommendation) -> Iterator[str]:
    """Say in a few lines what the log shows, and what makes its forecasts doubtful."""
    success = found.success
    shown = [f"{one.label[:32]} {percent(one.share, 0)}" for one in found.strategies]
    more = len(shown) - SHOWN_STRATEGIES
    listed = ", ".join(shown[:SHOWN_STRATEGIES]) + (f" and {more} more" if more > 0 else "")
    none = f"; {percent(found.degenerate, 0)} of samples without one"
    yield (
        f"{size(found.prompts, 'prompt', *found.samples)}, right in {percent(success.value)} "
        f"{interval(success.ends, 100)}; strategies: {listed}"
        f"{none if shown and found.degenerate >= SHOWN_DEGENERATE else ''}"
    )
    yield from _noise_and_ranks(found)
    if found.alike > MANY_ALIKE:
        yield (
            f"{percent(found.alike)} of groups are all right or all wrong: the forecast imitates "
            "one prompt of average difficulty, and fits such prompts badly; methods that read "
            "only rewards learn nothing from those groups"
        )


def _of_large(found: Recommendation) -> str:
    """Say which prompts a share of groups is of, where some have too few samples."""
    if found.alike_prompts == found.prompts:
        return ""
    return (f" of the {count(found.alike_prompts, 'prompt')} with at least "
            f"{found.training.num_samples} samples")  # fmt: skip


def _noise_and_ranks(found: Recommendation) -> Iterator[str]:
    if found.training.label_noise:
        yield f"noise of the judge: {percent(found.training.label_noise)} of labels moved"
    if found.strategies and not found.is_shared:
        yield (
            f"labels are taken as counted anew for each prompt, because {found.why_ranks}. So "
            "strategies are compared by rank: no. 1 is the most frequent one of each prompt. "
            "--labels shared if they mean the same"
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
        f"{percent(found.alike)}{_of_large(found)}"
    )
    if found.strategies:
        yield f"samples without a strategy: {percent(found.degenerate)}"
        yield _right_strategies(found)
    yield from _noise_and_ranks(found)


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


def _forecasts(found: Recommendation, details: bool) -> str:
    """Write the table of the candidates, and below it what its marks mean."""
    training, reference = found.training, found.candidates[REFERENCE].pass_1
    rows: list[Sequence[str]] = [
        ("forecast", "pass@1", "", "lost", f"right in {SAMPLES}", "", "kept", "pays wrong", "wins")
    ]
    for name, one in found.candidates.items():
        rows.append(
            (
                f"{_mark(found, name)}{name}",
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
    planned = size(training.prompts, "prompt", *(training.num_samples,) * 2)
    shown = rows if details else [row[:6] for row in rows]
    return "\n".join(
        [
            f"goal: {found.goal}; training: {count(training.steps, 'step')} of {planned}",
            table(shown),
            *_below(found, details),
        ]
    )


def _mark(found: Recommendation, name: str) -> str:
    if name in (found.pilot or [found.choice]):
        return CHOSEN
    if not found.is_safe(name):
        return UNSAFE
    return TIED if name in found.near else OTHER


def _below(found: Recommendation, details: bool) -> Iterator[str]:
    """Yield what the marks mean, and what the forecasts assume."""
    marks = {_mark(found, name) for name in found.candidates}
    means = {
        CHOSEN: "the two of the pilot" if found.pilot else "taken",
        TIED: "as good within the error of forecasts",
        UNSAFE: f"never taken: pays wrong strategies in more than {TOLERATED:.0%} of prompts",
    }
    yield "; ".join(f"{mark}{text}" for mark, text in means.items() if mark in marks)
    yield SPEED
    others = (found.at_other_speeds or {}).items()
    changed = [f"at {speed:g} × it {name}" for speed, name in others if name != found.choice]
    if changed:
        yield f"another speed of learning changes the choice: {'; '.join(changed)}"
    if not details:
        yield "--details shows the reasons, and how sure the choice is"


def without_strategies(found: Recommendation, command: str = "", unread: str = "") -> Iterator[str]:
    """Say what a log without strategies shows, and what is missing."""
    size, (low, middle, high) = found.quiet_set_size
    method = "dr_grpo" if size == 1 else f"maxpo, set_size: {size}"
    yield (
        f"take   {{method: {method}}}: without strategies only pass@K can be trained for, and K = "
        f"{size} has the least noise (near 1/p̂ − 1, with groups of {found.training.num_samples})"
    )
    if low != high:
        yield (
            f"prompts differ: K = {low} at the 10th percentile of p̂, {middle} at the median, "
            f"{high} at the 90th; {{method: adaptive_k}} chooses K for each prompt"
        )
    yield (
        "missing: which strategy each sample uses. Without it nothing can be said about methods "
        "that keep several strategies"
    )
    yield (
        f"- if a field of the log says it{f' ({unread})' if unread else ''}, add --strategy FIELD; "
        "--strategy answer takes answers"
    )
    yield "- otherwise `setrl judge` writes such a field (docs/judges.md)"
    if command:
        yield f"next   {command}"
