"""An audit in about ten sentences."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from setrl.wording import percent

if TYPE_CHECKING:
    from setrl.audit.audit import Audit
    from setrl.audit.compare import Match

USUAL = ("zero-sum", "silent-if-all-wrong", "silent-if-all-right", "no-pay-for-wrong")
ALARMS = (
    "finite",
    "leaves-input",
    "deterministic",
    "permutation-invariant",
    "label-invariant",
    "independent-groups",
    "takes-integers",
    "survives-missing",
)


def sentences(audit: Audit) -> list[str]:
    """Return what it is, its bias and variance, what it pays, where it leads, what is wrong."""
    kept = {law.name: law for law in audit.laws}
    wrong = [kept[name] for name in ALARMS if kept[name].holds is False]
    lines = [_what(audit), *_claim(audit), *_curl(audit), _variance(audit)]
    lines += [f"It {kept[name].says}." for name in USUAL]
    lines += [_leads(audit)]
    lines += [f"It {law.says}." for law in wrong]
    return lines


def _what(audit: Audit) -> str:
    size = f"groups of {audit.paid.num_samples}"
    name = audit.estimator.name
    if audit.nearest is None:
        return f"{name}, {size}: its expected gradient is 0; it optimises nothing."
    if audit.objective is not None:
        exactly = "exactly" if audit.objective.is_exact else f"up to {audit.objective.off:.1g}"
        return f"{name}, {size}: this is {audit.objective}, {exactly}; unbiased."
    kind = (
        "the gradient of no objective"
        if audit.curl
        else "the gradient of no objective that we know"
    )
    return f"{name}, {size}: this is {kind}; nearest is {_off(audit.nearest)}."


def _off(match: Match) -> str:
    return f"{match}, off by {percent(match.off)}"


def _claim(audit: Audit) -> list[str]:
    if audit.claim is None:
        return []
    label = audit.claim.parts[0].label
    if audit.claim.holds:
        return [f"It keeps its claim: unbiased for {label}."]
    return [f"It does not keep its claim {label}: {_off(audit.claim)}."]


def _curl(audit: Audit) -> list[str]:
    if audit.curl is None:
        return []
    table = audit.paid.table

    def kind(action: int) -> str:
        reward = f"{np.asarray(table.rewards)[action]:g}"
        label = (
            "" if table.clusters is None else f" of strategy {np.asarray(table.clusters)[action]}"
        )
        return f"{reward}{label}"

    corners = ", ".join(kind(action) for action in audit.curl.corners)
    others = ", ".join(kind(action) for action in audit.curl.others) or "nobody"
    return [
        f"No objective has this gradient: around the samples {corners}, beside {others}, the "
        f"differences of advantages sum to {audit.curl.value:.3g} instead of 0."
    ]


def _variance(audit: Audit) -> str:
    found = audit.variance
    if found.beside is None or not np.isfinite(found.ratio):
        return "Its variance has no unbiased estimator beside it."
    low, high = np.nanmin(found.ratio_P), np.nanmax(found.ratio_P)
    return (
        f"It has {found.ratio:.2f} times the variance of {found.beside} ({low:.2f} to {high:.2f} "
        "times, by policy)."
    )


def _leads(audit: Audit) -> str:
    led = audit.survivors
    when = "" if led.collapse is None else f"; it uses one strategy from step {led.collapse}"
    return (
        f"It keeps {led.kept:.1f} of {led.strategies} right strategies in {led.steps} steps on one "
        f"prompt, and is right in {percent(led.accuracy)} of its samples{when}."
    )
