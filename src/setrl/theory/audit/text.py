"""What an audit found, as the facts from which its sentences are made."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from setrl.support.wording import in_a_row, percent
from setrl.theory.audit.batches import Batched
from setrl.theory.audit.compare import Match, factor, share
from setrl.theory.audit.findings import Findings
from setrl.theory.audit.made import Made
from setrl.theory.audit.templates import TEXTS, kind, spoken, words

Facts = dict[str, str]

YES = "yes"
MOST_WRITTEN = 6  # rewards
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


def sentences(audit: Findings) -> list[str]:
    """Return what is doubtful, what it is, where it leads, what it pays, and what is wrong."""
    facts: Facts = {"name": audit.estimator.name, "Name": audit.estimator.name}
    for part in PARTS if audit.estimator.is_steady else DRAWN:
        facts |= part(audit)
    return spoken(facts)


def _law_facts(audit: Findings) -> Facts:
    """Return what every law says, under its name or, if it does not hold, "not" and its name."""
    laws = {law.name: law for law in audit.laws}
    facts = {("" if law.holds else "not ") + law.name: law.says
             for law in audit.laws if law.holds is not None}  # fmt: skip
    pays = [laws[name].says for name in TEXTS["pays"] if laws[name].holds]
    scales = [laws[name].says for name in ("scale-free", "shift-free")
              if laws[name].holds is not None]  # fmt: skip
    shifts = laws["shift-free"].says if laws["shift-free"].holds is not None else ""
    return facts | {"pays": "; it ".join(pays), "scales": "; it ".join(scales), "shifts": shifts}


def _doubt_facts(audit: Findings) -> Facts:
    return {
        "unsteady": "" if audit.estimator.is_steady else YES,
        "unread": ", ".join(audit.estimator.shape.unread()),
        "unlike": YES if "unlike" in audit.estimator.habits else "",
    }


def _claim_facts(audit: Findings) -> Facts:
    if audit.claim is None:
        return {}
    match, example = audit.required or audit.claim, audit.claim.example
    batch = audit.in_batch if audit.reads_batch else None
    facts = {
        "claim": audit.claim.parts[0].label,
        "claim match": str(batch) if batch else _write_match(match),
        "claim times": factor(audit.factor_of(audit.required), 0.0 if match.holds else match.off),
        "claimed factor": factor(audit.claimed_factor or 0),
    }
    if example is not None and not audit.reads_batch:
        facts |= {
            "example": YES,
            "others": ", ".join(kind(audit.table, action) for action in example.others),
            "first": kind(audit.table, example.pair[0]),
            "second": kind(audit.table, example.pair[1]),
            "paid": f"{example.paid:.3g}",
            "needed": f"{example.needed:.3g}",
        }
    return facts | {f"claim {_claim_status(audit, match, batch)}": YES}


def _claim_status(audit: Findings, match: Match, batch: Batched | None) -> str:
    """Return how an estimator keeps its claim."""
    multiplier = audit.factor_of(audit.required)
    if (batch.match if batch else audit.nearest) is None:
        return "nothing"
    if audit.pays["unbiased"]:
        return "kept"
    if batch and batch.draws:
        error = match.errors[0] if audit.claimed_factor else 0
        return "drawn" if batch.is_near and audit.keeps(multiplier, error) else "biased"
    if not match.holds or multiplier < 0:
        return "opposite" if match.holds else "biased"
    if not audit.keeps(multiplier):
        return "factor"
    return "alone" if audit.estimator.is_whole else "unsure"  # alone: it takes groups and batches


def _batch_facts(audit: Findings) -> Facts:
    batch, either = audit.in_batch, "" if audit.reads_batch else YES
    facts = {"mixes": YES, "either": either} if audit.mixes_groups else {}
    if batch is None:
        return facts
    pays = abs(batch.all_wrong) > 1e-3 * batch.paid.scale
    return facts | {
        "batch": str(batch),
        "num groups": str(batch.num_groups),
        "one": YES if batch.num_groups == 1 else "",
        "all wrong": f"{batch.all_wrong:.2g}".replace("-", "−") if pays else "",
        "all": words("all wrong") if audit.is_binary else "of the lowest reward",
    }


def _objective_facts(audit: Findings) -> Facts:
    table, near = audit.table, audit.nearest
    levels = np.unique(np.asarray(table.rewards))
    rewards = f"{len(levels)} from {levels[0]:g} to {levels[-1]:g}"
    if len(levels) <= MOST_WRITTEN:
        rewards = in_a_row([f"{level:g}" for level in levels])
    missing = words("missing") if "missing" in audit.estimator.habits else ""
    alone = words("alone") if audit.reads_batch else _describe_batches(audit)
    size = audit.paid.num_samples
    groups = words("groups", size=size, rewards=rewards, missing=missing, alone=alone)
    facts = {"rewards": rewards, "groups": groups}
    if near is None:
        return facts | {"nothing": YES}
    facts |= {
        "match": str(near),
        "objective": near.parts[0].label,
        "meaning": _find_meaning(near),
    }
    if audit.objective is not None:
        exactly = "exactly" if audit.paid.all_orders else "exactly in orders"
        facts["exactly"] = words(
            exactly if near.is_as_written else "nearly", off=share(near.off + near.rounded)
        )
        way = "sum" if len(near.parts) > 1 else "up" if near.factors[0] > 0 else "down"
        return facts | {way: YES}
    way = "none" if audit.curl else "unnamed"
    return facts | _strength_facts(audit) | {way: YES, "match": _write_match(near)}


def _describe_batches(audit: Findings) -> str:
    """Say in which batches it pays the same, if their size was asked for."""
    num_groups = audit.tries.asked
    if num_groups is None or num_groups not in audit.tries.looks or audit.mixes_groups:
        return ""
    rare = len(audit.tries.looks[num_groups].batches_DBN) // 3
    way = "beside all" if audit.tries.has_all(num_groups) else "beside drawn"
    return words(way, tried=audit.tries.says(), rare=rare)


def _write_match(match: Match) -> str:
    return words("off", match=match, off=share(match.off)) if match.off else str(match)


def _find_meaning(match: Match) -> str:
    """Say what an objective is; nothing for sums and for rare objectives.

    >>> from setrl.theory.audit import audit
    >>> _find_meaning(audit(lambda rewards: rewards).nearest)
    'the chance that a sample is right'
    """
    part = match.parts[0]
    says = TEXTS["meanings"].get(part.label.partition("@")[0], "")
    if len(match.parts) > 1 or not says:
        return ""
    if part.set_size == 1:
        says = says.replace("at least one of K samples", "a sample")
    return str(says.replace("K samples", f"{part.set_size} samples"))


def _strength_facts(audit: Findings) -> Facts:
    """Say how much harder than the objective's gradient it pushes, by the success rate."""
    strength = audit.strength
    if not np.isfinite(list(strength.values())).all():
        return {}
    return {
        "pushed": str(audit.claim or audit.nearest),
        "strength": in_a_row([f"{push:,.{2 if push < 10 else 0}f}" for push in strength.values()]),
        "rates": in_a_row([percent(rate, 0) for rate in strength]),
    }


def _recipe_facts(audit: Findings) -> Facts:
    facts = (
        {}
        if audit.made is None
        else {"made": str(audit.made), "symbols": _describe_symbols(audit.made)}
    )
    if audit.curl is not None:
        facts |= {
            "curl": f"{audit.curl.value:.3g}",
            "curl others": ", ".join(kind(audit.table, action) for action in audit.curl.others),
            "curl corners": ", ".join(kind(audit.table, action) for action in audit.curl.corners),
        }
    return facts


def _survivor_facts(audit: Findings) -> Facts:
    led = audit.survivors
    collapsed = led.kept < 2 and led.collapse
    return {
        "leads": YES,
        "strategies": str(len(led.success)),
        "success": in_a_row([percent(rate, 0) for rate in led.success]),
        "kept": str(led.kept),
        "when": words("when", time=f"{led.collapse:g}") if collapsed else "",
        "accuracy": percent(led.accuracy),
        "right": words("are right" if audit.is_binary else "get the highest"),
        "right or else": words("are right" if audit.is_binary else "or else"),
    }


def _noise_facts(audit: Findings) -> Facts:
    variance = audit.variance
    sizes = [
        words("size is", size=size, match=match)
        if match.holds
        else words("size near", size=size, match=_write_match(match))
        for size, match in audit.other_sizes.items()
    ]
    facts = {"sizes": "; in groups of ".join(sizes)}
    if variance.beside is not None and np.isfinite(variance.ratio):
        facts |= {
            "variance": f"{variance.ratio:.2f}",
            "beside": TEXTS["credits"][variance.beside],
            "beside what": variance.label,
        }
        if np.isfinite(variance.over_least):
            facts |= {"least": f"{variance.over_least:.2f}", "answers": _describe_answers(audit)}
    return facts


def _describe_answers(audit: Findings) -> str:
    """Say between how many answers the policies of the audit choose."""
    num = audit.table.num_actions
    if not audit.is_binary:
        return words("graded answers", number=num)
    return words("two answers") if num == 2 else words("answers", right=num // 2, wrong=num // 2)


def _describe_symbols(made: Made) -> str:
    """Return what the symbols of a credit mean.

    >>> from setrl.theory.audit.made import Made
    >>> _describe_symbols(Made("pass@4", "u − w", "", 1.0))
    'u is the mean score of the sets of 4 with the sample, and w of these sets without it'
    >>> _describe_symbols(Made("pass@1", "u − U", "", 1.0))
    "u is the sample's own score, and U the mean score of the group"
    """
    size = made.of.partition("@")[2] or "1"
    symbols = SINGLE if size == "1" else SYMBOLS
    second = next((words for symbol, words in symbols.items() if symbol in made.base), "")
    sets = f"the sets of {size}" if size.isdigit() else "the sets"
    alone = size == "1"
    first = "the sample's own score" if alone else f"the mean score of {sets} with the sample"
    return f"u is {first}{second}"


PARTS: tuple[Callable[[Findings], Facts], ...] = (
    *(_law_facts, _doubt_facts, _claim_facts, _batch_facts),
    *(_objective_facts, _recipe_facts, _survivor_facts, _noise_facts),
)
DRAWN = PARTS[:4]  # if equal calls differ
