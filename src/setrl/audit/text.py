"""An audit in about ten sentences."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING

import numpy as np

from setrl.audit.compare import Match, factor
from setrl.wording import percent

if TYPE_CHECKING:
    from setrl.audit.audit import Audit
    from setrl.audit.laws import Law

PAYS = ("zero-sum", "silent-if-all-wrong", "silent-if-all-right", "no-pay-for-wrong")
ALARMS = (  # said only if they do not hold
    "finite",
    "leaves-input",
    "deterministic",
    "permutation-invariant",
    "label-invariant",
    "independent-groups",
    "takes-integers",
    "survives-missing",
)


SYMBOLS = {
    "v": ", and v of the sets without it",
    "w": ", and w of these sets without it",
    "U": ", and U of all sets",
}


def sentences(audit: Audit) -> list[str]:
    """Return what it is, its bias and variance, what it pays, where it leads, what is wrong."""
    lines = [*_what(audit), *_claim(audit), *_sizes(audit), *_variance(audit)]
    return [*lines, *pays(audit.laws), _scales(audit), _leads(audit), *alarms(audit.laws)]


def pays(laws: Sequence[Law]) -> list[str]:
    """Say what groups are paid: one sentence for what holds, then one for each that does not."""
    law = {one.name: one for one in laws}
    holds = [law[name].says for name in PAYS if law[name].holds]
    says = [f"It {'; it '.join(holds)}."] if holds else []
    return says + [f"It {law[name].says}." for name in PAYS if law[name].holds is False]


def alarms(laws: Sequence[Law]) -> list[str]:
    """Say what is wrong; nothing if all is well."""
    law = {one.name: one for one in laws}
    return [f"It {law[name].says}." for name in ALARMS if law[name].holds is False]


def _what(audit: Audit) -> Iterator[str]:
    name = f"{audit.estimator.name}, groups of {audit.paid.num_samples}"
    if audit.nearest is None:
        yield f"{name}: its expected gradient is 0; it optimises nothing."
        return
    if audit.objective is not None:
        off = audit.objective.off
        exact = "exactly, in fractions" if audit.objective.in_fractions else "exactly"
        exactly = exact if audit.objective.is_exact else f"up to {off:.0e} of its length"
        yield f"{name}: this is {audit.objective}, {exactly}."
    else:
        what = "no objective" if audit.curl else "no objective that we know"
        yield f"{name}: this is the gradient of {what}; nearest is {_off(audit.nearest)}."
    if audit.made is not None:
        yield f"It is {audit.made}. Here {_symbols(audit.made.base)}."
    if audit.curl is not None:
        yield _curl(audit)


def _off(match: Match) -> str:
    low, high = match.weights
    return (
        f"{match}, off by {percent(match.off)} (it weights policies {low:.2f} to {high:.2f} times "
        "as this gradient does)"
    )


def _claim(audit: Audit) -> Iterator[str]:
    if audit.claim is None:
        return
    label = audit.claim.parts[0].label
    if not audit.claim.holds:
        yield f"It is biased for its claim {label}: {_off(audit.claim)}."
        yield _example(audit, audit.claim)
    elif not audit.keeps_factor:
        yield (
            f"It is unbiased for its claim {label} but for the factor: {factor(audit.factor)} "
            f"instead of {factor(audit.claimed_factor or 0)}."
        )
    else:
        yield f"It keeps its claim: it is unbiased for {label}."


def _example(audit: Audit, match: Match) -> str:
    example = match.example
    if example is None:
        return "It differs from its claim only by a small number in a divisor."
    first, second = (_kind(audit, action) for action in example.pair)
    return (
        f"With the others {_kinds(audit, example.others)}, a sample with {first} gets "
        f"{example.paid:.3g} more than one with {second}; the claim needs {example.needed:.3g}."
    )


def _curl(audit: Audit) -> str:
    assert audit.curl is not None
    corners = [_kind(audit, action) for action in audit.curl.corners]
    return (
        f"No objective has this gradient: with the others {_kinds(audit, audit.curl.others)}, "
        f"the differences of advantages around {', '.join(corners)} sum to "
        f"{audit.curl.value:.3g}, not to 0."
    )


def _kind(audit: Audit, action: int) -> str:
    table = audit.paid.table
    reward = f"reward {np.asarray(table.rewards)[action]:g}"
    return (
        reward if table.clusters is None else f"{reward} label {np.asarray(table.clusters)[action]}"
    )


def _kinds(audit: Audit, actions: Sequence[int]) -> str:
    return "(" + ", ".join(_kind(audit, action) for action in actions) + ")"


def _sizes(audit: Audit) -> Iterator[str]:
    found = [
        f"{match}{'' if match.holds else f' (off by {percent(match.off)})'} in groups of {size}"
        for size, match in audit.other_sizes.items()
    ]
    if found:
        yield f"It is {' and '.join(found)}."


def _variance(audit: Audit) -> Iterator[str]:
    found = audit.variance
    if found.beside is None or not np.isfinite(found.ratio):
        return
    text = f"It has {found.ratio:.2f} times the variance of {found.beside} of {found.label}"
    if np.isfinite(found.over_least):
        text += f", and {found.over_least:.2f} times the least of all unbiased estimators"
    yield f"{text}, as means over policies."


def _scales(audit: Audit) -> str:
    law = {one.name: one for one in audit.laws}
    return f"It {law['scale-free'].says}; it {law['shift-free'].says}."


def _leads(audit: Audit) -> str:
    led = audit.survivors
    rates = ", ".join(percent(rate, 0) for rate in led.success)
    when = (
        f"; it collapses onto one at time {led.collapse:g}" if led.kept < 2 and led.collapse else ""
    )
    return (
        f"Of {len(led.success)} strategies that are right in {rates} of their samples it keeps "
        f"{led.kept}, with {percent(led.accuracy)} right in the end{when}."
    )


def _symbols(base: str) -> str:
    """Return what the symbols of a credit mean.

    >>> _symbols("u − w")
    'u is the mean score of the sets with the sample, and w of these sets without it'
    """
    second = next((words for symbol, words in SYMBOLS.items() if symbol in base), "")
    return f"u is the mean score of the sets with the sample{second}"
