"""Why each sample of a group got its credit: what entered the loss, and what the core computes."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from functools import cache
from inspect import signature
from itertools import pairwise
from typing import Any

import numpy as np

from setrl.core import methods
from setrl.core.method import AnyMethod
from setrl.evaluate.prefixes import common_prefix
from setrl.logs.rollouts import name_of
from setrl.rewards.why_wrong import why_wrong
from setrl.samples.labels import coded
from setrl.samples.outcomes import GRADED_NOTE, against
from setrl.samples.types import Group, Sample
from setrl.show.lab.view.explained import credit_of, explained, means, parts
from setrl.show.lab.view.origin import Origin
from setrl.support import files

TEXT_SHOWN = 20_000  # letters of a sample that come with its group, at most
PAGE_SHOWN, LEAST_SHOWN = 1_000_000, 400  # letters of all samples together, and of each at least
USUAL_SET_SIZE = 4


def group_page(
    group: Group,
    set_size: int | None = None,
    chosen: str | None = None,
    origin: Origin = Origin("loss"),  # noqa: B008  it is frozen
) -> dict[str, Any]:
    """Everything about one group, as JSON.

    Args:
        group: The group.
        set_size: K of the methods that compare sets; made to fit the group. By default K of the
            method of the log.
        chosen: The name of one more method.
        origin: Where the advantages of the log come from.
    """
    samples, notes = group.samples, list(group.notes)
    rewards_1N = np.array([[_number(sample.reward) for sample in samples]])
    labels = labels_of(samples)
    strategies_1N = np.array([[_number(label) for label in labels]])
    most = int((~np.isnan(rewards_1N)).sum()) - 1
    own = origin.method()
    logged_size = own.set_size if own is not None and own.set_size > 1 else USUAL_SET_SIZE
    k = max(1, min(set_size or logged_size, most))
    notes += _missing(samples, origin)
    correct_1N = np.array([[_number(sample.correct) for sample in samples]])
    fields = {"strategies": strategies_1N, "correct": correct_1N}
    known = {name: one for name, one in fields.items() if not np.isnan(one).all()}
    methods_of = _methods(known, k, chosen, origin) if most >= 1 else {}
    others = {name: _advantages(one, rewards_1N, known) for name, one in methods_of.items()}
    if chosen and chosen not in others and most >= 1:
        notes.append(f"{methods.labels.get(chosen, chosen)} cannot credit this group: the log does "
                     "not hold what the method reads.")  # fmt: skip
    used_N = np.array([_number(sample.advantage) for sample in samples])
    name, agrees = explained(origin, used_N, others, chosen) or ("", None)
    one = methods_of.get(name)
    texts = group.texts
    shown = max(LEAST_SHOWN, min(TEXT_SHOWN, PAGE_SHOWN // max(1, len(samples))))
    found = {
        "step": group.step,
        "id": group.id,
        "prompt": group.prompt,
        "gold": group.gold,
        "set_size": k,
        "largest_set_size": max(1, most),
        "notes": notes,
        "shared_prefix": shared_prefix(texts),
        "methods": {name: methods.labels[name] for name in others},
        "all_methods": _offered(),
        "sized": [name for name, method in methods_of.items() if method.set_size > 1],
        "samples": [{**_sample(*one, shown), "why_wrong": why_wrong(group, one[0])} for one in zip(
            samples, labels, branch_points(texts), strict=True)],
        "others": {name: values.tolist() for name, values in others.items()},
        "origin": {"kind": origin.kind, "method": origin.name, "set_size": own and own.set_size},
        "explained": None if one is None else {
            "method": name, "agrees": agrees, **means(one, rewards_1N, known)},
        "parts": parts(rewards_1N, strategies_1N, k) if name == "poly_epo" and one else {},
    }  # fmt: skip
    return files.plain_json(found)


def labels_of(samples: Sequence[Sample]) -> list[int | None]:
    """Return a number for each strategy: the log's own where all are numbers; None is unknown."""
    labels = [sample.strategy for sample in samples]
    if all(label is None or isinstance(label, int) for label in labels):
        return labels  # type: ignore[return-value]
    return [None if math.isnan(number) else int(number) for number in coded(labels)[0]]


def _number(value: float | None) -> float:
    return math.nan if value is None else float(value)


def _sample(sample: Sample, label: int | None, branch: int, shown: int) -> dict[str, Any]:
    return {
        "text": (sample.text or "")[:shown],
        "length": len(sample.text or ""),
        "reward": sample.reward,
        "correct": sample.correct,
        "advantage": sample.advantage,
        "against": against(sample) > 0,
        "strategy": name_of(sample),
        "answer": sample.answer,
        "label": label,
        "branch": branch,
        "tokens": sample.tokens,
    }


def _missing(samples: Sequence[Sample], origin: Origin) -> list[str]:
    """Return what the log does not hold, in sentences."""
    notes = []
    if not any(sample.text for sample in samples):
        notes.append("No text of these samples is read from the log: --text names the field of "
                     "texts, if there is one.")  # fmt: skip
    if all(sample.advantage is None for sample in samples):
        notes.append("The log does not hold the advantages that entered the loss."
                     if origin.kind == "loss" else "The log does not hold advantages.")  # fmt: skip
    if all(sample.reward is None for sample in samples):
        notes.append("The log does not hold rewards: no method's credit can be computed.")
    if all(sample.strategy is None for sample in samples):
        notes.append("The log does not hold strategies: methods that read them are left out.")
    elif any(sample.strategy is None for sample in samples):
        notes.append("Some samples have no strategy in the log: methods that read them leave "
                     "these samples out.")  # fmt: skip
    if any(sample.reward is not None and sample.correct is None for sample in samples):
        notes.append(f"{GRADED_NOTE} Methods that need to know it are left out.")
    return notes


def _methods(
    known: Mapping[str, np.ndarray], k: int, one_more: str | None, origin: Origin
) -> dict[str, AnyMethod]:
    """Return the methods whose credit is shown: those that read what the log holds."""
    shown: dict[str, AnyMethod] = {
        "grpo": methods.grpo(),
        "dr_grpo": methods.dr_grpo(),
        "maxpo": methods.maxpo(k),
        "poly_epo": methods.poly_epo(k),
        "grpo_div": methods.grpo_div(),
        "concave_counts": methods.concave_counts(alpha=0),
    }
    if one_more in _offered():
        shown.setdefault(str(one_more), _of_name(str(one_more), k))
    if (own := origin.method(k)) is not None:
        shown[str(origin.name)] = own
    return {name: one for name, one in shown.items() if set(one.reads) <= {"rewards", *known}}


@cache
def _offered() -> dict[str, str]:
    """Return name → label of the methods that need no further argument."""
    return {
        name: methods.labels[name]
        for name, make in methods.by_name.items()
        if all(one.default is not one.empty or one.name == "set_size"
               for one in signature(make).parameters.values())
    }  # fmt: skip


def _of_name(name: str, k: int) -> AnyMethod:
    make = methods.by_name[name]
    return make(set_size=k) if "set_size" in signature(make).parameters else make()


def _advantages(
    method: AnyMethod, rewards_1N: np.ndarray, known: Mapping[str, np.ndarray]
) -> np.ndarray:
    read: Any = {name: one for name, one in known.items() if name in method.reads}
    return credit_of(method.advantages(rewards_1N, **read))


def shared_prefix(texts: Sequence[str]) -> int:
    """How many first letters all texts share.

    >>> shared_prefix(["x=1, y", "x=1; y"]), shared_prefix([])
    (3, 0)
    """
    return common_prefix(min(texts), max(texts)) if texts else 0


def branch_points(texts: Sequence[str]) -> list[int]:
    """For each text, the letters that it shares with the text that it shares most with.

    Texts that share a prefix are neighbours in the order of the alphabet.

    >>> branch_points(["abc", "x", "abd", "abd"])
    [2, 0, 3, 3]
    """
    order = sorted(range(len(texts)), key=texts.__getitem__)
    found = [0] * len(texts)
    for one, other in pairwise(order):
        length = common_prefix(texts[one], texts[other])
        found[one], found[other] = max(found[one], length), max(found[other], length)
    return found
