"""An audit in about ten sentences."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING

import numpy as np

from setrl.support.wording import in_a_row, percent
from setrl.theory.audit.compare import Match, factor, share

if TYPE_CHECKING:
    from setrl.theory.audit.audit import Audit
    from setrl.theory.audit.laws import Law
    from setrl.theory.audit.leads import Survivors
    from setrl.theory.audit.made import Made
    from setrl.theory.tabular import ActionTable

PAYS = ("zero-sum", "silent-if-all-wrong", "silent-if-all-right", "no-pay-for-wrong")
FIRST = "finite", "deterministic", "independent-groups"  # said at once, if they do not hold
MOST_WRITTEN = 6  # rewards
ALARMS = (  # said in the end, if they do not hold
    "leaves-input",
    "permutation-invariant",
    "label-invariant",
    "rows-in-any-order",
    "takes-integers",
    "survives-missing",
)


SYMBOLS = {
    "v": ", and v of the sets without it",
    "w": ", and w of these sets without it",
    "U": ", and U of all sets",
}
SINGLE = {  # if sets have one sample
    "v": ", and v the mean score of the others",
    "w": ", and w is 0",
    "U": ", and U the mean score of the group",
}
MEANINGS = {  # of the objectives that are often found; K stands for the set size
    "pass": "the chance that at least one of K samples is right",
    "max": "the expected best reward of K samples",
    "min": "the expected worst reward of K samples",
    "mean reward": "the expected reward of a sample",
    "distinct_correct": "the expected number of strategies with a right sample among K samples",
    "polychromic": "the expected mean reward of K samples × their share of different strategies",
    "(Σ pass@k/k for k ≤ K)": "MaxRL's objective: the logarithm of the success rate, cut off",
}


def sentences(audit: Audit) -> list[str]:
    """Return what it is, its bias and variance, what it pays, where it leads, what is wrong."""
    lines = [*_doubts(audit), *_batch(audit), *_what(audit), *_claim(audit), *_sizes(audit)]
    lines += [
        *_variance(audit),
        *pays(audit.laws),
        *scales(audit.laws),
        leads(audit.survivors, _is_binary(audit)),
    ]
    return [*lines, *alarms(audit.laws), *_unlike(audit)]


def _doubts(audit: Audit) -> Iterator[str]:
    """Say first what makes the other sentences uncertain."""
    if not audit.estimator.is_steady:
        law = {one.name: one for one in audit.laws}["deterministic"]
        yield (
            f"Warning: {audit.estimator.name} {law.says}. The numbers below describe only this "
            "audit's calls."
        )
    yield from _missing(audit)
    if unread := audit.estimator.shape.unread():
        yield f"Warning: no call read the settings {', '.join(unread)}."


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


def _missing(audit: Audit) -> Iterator[str]:
    lacks = getattr(audit.estimator.function, "lacks", None)
    if lacks is not None:
        group = ", ".join(f"{one:g}" for one in lacks)
        yield (
            f"Warning: the log has no group with rewards ({group}). Groups that it lacks count as "
            "0, which changes what follows."
        )
    elif "missing" in audit.estimator.habits:
        law = {one.name: one for one in audit.laws}["finite"]
        yield f"Warning: {audit.estimator.name} {law.says}."


def _what(audit: Audit) -> Iterator[str]:
    table, name = audit.paid.table, audit.estimator.name
    missing = ", if NaN counts as 0" if "missing" in audit.estimator.habits else ""
    groups = f"groups of {audit.paid.num_samples} samples with {rewards_of(table)}{missing}"
    groups += ", alone in their batch" if audit.mixes_groups else ""
    if audit.nearest is None:
        yield f"{name} optimises nothing: its mean update is 0 for every policy ({groups})."
        return
    meant = _meaning(audit.nearest)
    if audit.objective is not None:
        found = audit.objective
        exact = "exactly, computed in fractions" if found.in_fractions else "exactly"
        exactly = exact if found.is_exact else f"up to {share(found.off)} of its length"
        yield (
            f"{name} {_optimises(found)}: its mean update is {found}, {exactly} ({groups}).{meant}"
        )
    elif not audit.estimator.is_steady:
        yield f"{name}: here its mean update was near {_off(audit.nearest)} ({groups}).{meant}"
    else:
        what = "no objective" if audit.curl else "no objective that we know"
        yield (
            f"{name} follows the gradient of {what}; the nearest is {_off(audit.nearest)} "
            f"({groups}).{meant}"
        )
    if audit.claim is None and audit.objective is None:
        yield from _strength(audit)
    if audit.made is not None:
        yield f"It is {audit.made}, where {_symbols(audit.made)}."
    if audit.curl is not None and audit.estimator.is_steady:
        yield _curl(audit)


def rewards_of(table: ActionTable) -> str:
    """Write the rewards that samples may have."""
    levels = np.unique(np.asarray(table.rewards))
    if len(levels) > MOST_WRITTEN:
        return f"{len(levels)} rewards from {levels[0]:g} to {levels[-1]:g}"
    return f"rewards {in_a_row([f'{one:g}' for one in levels])}"


def _off(match: Match) -> str:
    return f"{match}, {share(match.off)} off" if match.off else f"{match}"


def _optimises(match: Match) -> str:
    if len(match.parts) > 1:
        return "optimises a sum of two objectives"
    return f"{'optimises' if match.factors[0] > 0 else 'minimises'} {match.parts[0].label}"


def _meaning(match: Match) -> str:
    """Say what an objective is; nothing for sums and for rare objectives.

    >>> from setrl.theory.audit import audit
    >>> _meaning(audit(lambda rewards: rewards).nearest)
    ' Here pass@1 is the chance that a sample is right.'
    """
    if len(match.parts) > 1:
        return ""
    known = match.parts[0]
    size = str(known.set_size)
    name = known.label.partition("@")[0] if "(" not in known.label else "(Σ pass@k/k for k ≤ K)"
    meaning = MEANINGS.get(name, "") if "concave" not in known.label else ""
    if known.set_size == 1:
        meaning = meaning.replace("at least one of K samples", "a sample")
    meaning = meaning.replace("K samples", f"{size} samples")
    return f" Here {known.label} is {meaning}." if meaning else ""


def _strength(audit: Audit) -> Iterator[str]:
    """Say how much harder than the objective's gradient it pushes, by the success rate."""
    match, strength = audit.claim or audit.nearest, audit.strength
    if np.isfinite(list(strength.values())).all():
        hard = in_a_row([f"{ratio:,.{2 if ratio < 10 else 0}f}" for ratio in strength.values()])
        rates = in_a_row([percent(rate, 0) for rate in strength])
        yield f"It pushes {hard} times as hard as {match} at success rates of {rates}."


def _claim(audit: Audit) -> Iterator[str]:
    if audit.claim is None:
        return
    label = audit.claim.parts[0].label
    if not audit.claim.holds:
        yield f"Claim {label}: it is biased; the nearest is {_off(audit.claim)}."
        yield from _strength(audit)
        yield _example(audit, audit.claim)
    elif audit.factor < 0:
        yield f"Claim {label}: it goes in the opposite direction, {audit.claim}."
    elif not audit.keeps_factor:
        found = factor(audit.factor, audit.claim.is_exact)
        yield (
            f"Claim {label}: it is unbiased but for the factor, {found} "
            f"instead of {factor(audit.claimed_factor or 0)}."
        )
    elif audit.is_unbiased:
        yield f"Claim {label}: it keeps it, because it is unbiased."
    else:
        yield f"Claim {label}: only in the calls of this audit, or if NaN counts as 0."


def _batch(audit: Audit) -> Iterator[str]:
    """Say first what it does in batches of several groups, if it mixes them."""
    if not audit.mixes_groups:
        return
    if found := audit.in_batch:
        pays = ""
        if abs(found.all_wrong) > 1e-3 * found.paid.scale:
            lowest = "wrong" if _is_binary(audit) else "of the lowest reward"
            pays = f" Samples of a group that is all {lowest} get {found.all_wrong:.2g} on average."
        yield (
            f"{audit.estimator.name} in batches of {found.num_groups} groups, where the policies "
            "of the other prompts are spread evenly: its mean update is "
            f"{found}.{pays}"
        )
    law = {one.name: one for one in audit.laws}["independent-groups"]
    alone = " The sentences that follow are about groups that are alone in their batch."
    yield f"It {law.says}. If it is meant for one group, give --takes group.{alone}"


def _is_binary(audit: Audit) -> bool:
    return np.unique(np.asarray(audit.paid.table.rewards)).size == 2


def _example(audit: Audit, match: Match) -> str:
    example = match.example
    if example is None:
        return "It differs from its claim only by a small number in a divisor."
    first, second = (_kind(audit, action) for action in example.pair)
    return (
        f"With the others {_kinds(audit, example.others)}, a sample with {first} gets "
        f"{example.paid:.3g} more than a sample with {second}; the claim needs "
        f"{example.needed:.3g}."
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
        f"in groups of {size} it is {match}"
        if match.holds
        else f"in groups of {size} it is nearest to {_off(match)}"
        for size, match in audit.other_sizes.items()
    ]
    if found:
        yield f"{'; '.join(found)}.".replace("in", "In", 1)


def _variance(audit: Audit) -> Iterator[str]:
    found = audit.variance
    if found.beside is None or not np.isfinite(found.ratio):
        return
    text = (
        f"Its variance is {found.ratio:.2f} times the variance of {NAMED[found.beside]} of "
        f"{found.label}, scaled to the same factor"
    )
    if np.isfinite(found.over_least):
        text += (
            f", and {found.over_least:.2f} times the least that any unbiased estimator of it has"
        )
    yield f"{text} (means over policies)."


NAMED = {
    "u − v": "the leave-one-out credit (u − v)",
    "u − w": "the gain over smaller sets (u − w)",
}


def scales(laws: Sequence[Law]) -> Iterator[str]:
    """Say what rewards on another scale change."""
    law = {one.name: one for one in laws}
    told = [law[name].says for name in ("scale-free", "shift-free") if law[name].holds is not None]
    if told:
        yield f"It {'; it '.join(told)}."


def leads(led: Survivors, is_binary: bool) -> str:
    """Say where training leads on one prompt."""
    right = "are right" if is_binary else "get the highest reward (otherwise the lowest)"
    rates = in_a_row([percent(rate, 0) for rate in led.success])
    when = (
        f", after learning rate × steps = {led.collapse:g}" if led.kept < 2 and led.collapse else ""
    )
    return (
        f"On a prompt with {len(led.success)} strategies that {right} in {rates} of their "
        f"samples, its mean update keeps {led.kept} of them{when}; at learning rate × steps = "
        f"{led.until:,.0f}, {percent(led.accuracy)} of the samples {right.partition(' (')[0]}."
    )


def _unlike(audit: Audit) -> Iterator[str]:
    if "unlike" in audit.estimator.habits:
        yield ("It was called with one group, (N,), at a time: a batch, (B, N), is paid otherwise.")


def _symbols(made: Made) -> str:
    """Return what the symbols of a credit mean.

    >>> from setrl.theory.audit.made import Made
    >>> _symbols(Made("pass@4", "u − w", "", 1.0))
    'u is the mean score of the sets of 4 with the sample, and w of these sets without it'
    >>> _symbols(Made("pass@1", "u − U", "", 1.0))
    "u is the sample's own score, and U the mean score of the group"
    """
    size = made.of.partition("@")[2] or "1"
    alone = size == "1"
    symbols = SINGLE if alone else SYMBOLS
    second = next((words for symbol, words in symbols.items() if symbol in made.base), "")
    sets = f"the sets of {size}" if size.isdigit() else "the sets"
    first = "the sample's own score" if alone else f"the mean score of {sets} with the sample"
    return f"u is {first}{second}"
