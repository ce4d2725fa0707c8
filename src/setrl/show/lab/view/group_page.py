"""The page of one group: its samples, what entered the loss, and what the core computes for it."""

from __future__ import annotations

import math
from collections.abc import Collection, Mapping, Sequence
from dataclasses import replace
from functools import cache
from inspect import signature
from itertools import pairwise
from typing import Any

import numpy as np

from setrl.core import methods
from setrl.core.method import AnyMethod
from setrl.evaluate.estimators import common_prefix
from setrl.rewards.answers import why_wrong
from setrl.samples.labels import coded
from setrl.samples.samples import Samples
from setrl.samples.types import GRADED_NOTE, Group, Sample, against
from setrl.show.lab.view.credit import (
    Origin,
    credit_of,
    explained_method,
    means,
    methods_in_log,
    parts,
)
from setrl.show.lab.view.index import name_of
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
    samples = known_columns(group)
    largest = int((~np.isnan(samples.rewards)).sum()) - 1  # one sample is outside the set
    k = max(1, min(set_size or _usual_set_size(origin), largest))
    page = {
        **{key: getattr(group, key) for key in ("step", "id", "prompt", "gold")},
        "set_size": k,
        "largest_set_size": max(1, largest),
        "shared_prefix": shared_prefix(group.texts),
        "all_methods": _offered_methods(),
        "samples": _describe_samples(group),
        "origin": {"kind": origin.kind, "method": origin.name, "set_size": origin.set_size},
        "notes": [*group.notes, *_missing_notes(group.samples, origin)],
    }
    compared = _methods_to_show(samples.columns, k, chosen, origin) if largest >= 1 else {}
    if chosen and chosen not in compared and largest >= 1:
        page["notes"].append(f"{methods.labels.get(chosen, chosen)} cannot credit this group: the "
                             "log does not hold what the method reads.")  # fmt: skip
    logged_N = np.array([math.nan if s.advantage is None else s.advantage for s in group.samples])
    return files.plain_json(page | _describe_credit(samples, logged_N, compared, chosen, origin))


def known_columns(group: Group) -> Samples:
    """Return the columns of a group that methods may read: those in which something is known."""
    samples = Samples.of([group], ("rewards", "strategies", "correct"))
    unknown: dict[str, Any] = {
        name: None for name in ("strategies", "correct")
        if np.isnan(getattr(samples, name)).all()
    }  # fmt: skip
    return replace(samples, **unknown)


def _usual_set_size(origin: Origin) -> int:
    """Return K of the method of the log, if it compares sets."""
    logged = origin.set_size
    return logged if logged is not None and logged > 1 else USUAL_SET_SIZE


def labels_of(samples: Sequence[Sample]) -> list[int | None]:
    """Return a number for each strategy: the log's own where all are numbers; None is unknown."""
    labels = [sample.strategy for sample in samples]
    if all(label is None or isinstance(label, int) for label in labels):
        return labels  # type: ignore[return-value]
    return [None if math.isnan(number) else int(number) for number in coded(labels)[0]]


def _describe_samples(group: Group) -> list[dict[str, Any]]:
    """Return what is shown of each sample; of many, only the beginnings of their texts."""
    samples = group.samples
    letters = max(LEAST_SHOWN, min(TEXT_SHOWN, PAGE_SHOWN // max(1, len(samples))))
    labels, branches = labels_of(samples), branch_points(group.texts)
    return [
        {**_describe_sample(sample, label, branch, letters), "why_wrong": why_wrong(group, sample)}
        for sample, label, branch in zip(samples, labels, branches, strict=True)
    ]


def _describe_sample(
    sample: Sample, label: int | None, branch: int, letters: int
) -> dict[str, Any]:
    return {
        "text": (sample.text or "")[:letters],
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


def _describe_credit(
    samples: Samples,
    logged_N: np.ndarray,
    compared: Mapping[str, AnyMethod],
    chosen: str | None,
    origin: Origin,
) -> dict[str, Any]:
    """Return what methods give to the samples, and how the credit of one of them comes about."""
    credits = {name: credit_of(method, samples) for name, method in compared.items()}
    in_log = methods_in_log(origin, logged_N, credits)
    explained = explained_method(origin, logged_N, in_log, credits, chosen)
    method = compared.get(explained or "")
    return {
        "methods": {name: methods.labels[name] for name in credits},
        "others": {name: credit_N.tolist() for name, credit_N in credits.items()},
        "sized": [name for name, method in compared.items() if method.set_size > 1],
        "in_log": in_log,
        "explained": None if method is None else {"method": explained, **means(method, samples)},
        "parts": parts(samples, method.set_size) if method and explained == "poly_epo" else {},
    }


def _missing_notes(samples: Sequence[Sample], origin: Origin) -> list[str]:
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


def _methods_to_show(
    columns: Collection[str], k: int, chosen: str | None, origin: Origin
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
    if (
        chosen in _offered_methods()
        and (chosen_method := Origin("log", {"method": chosen}).method(k)) is not None
    ):
        shown.setdefault(str(chosen), chosen_method)
    if (logged_method := origin.method(k)) is not None:
        shown[str(origin.name)] = logged_method
    return {
        name: method for name, method in shown.items() if set(method.reads) <= {"rewards", *columns}
    }


@cache
def _offered_methods() -> dict[str, str]:
    """Return name → label of the methods that need no further argument."""
    return {
        name: methods.labels[name]
        for name, make in methods.by_name.items()
        if all(argument.default is not argument.empty or argument.name == "set_size"
               for argument in signature(make).parameters.values())
    }  # fmt: skip


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
    shared = [0] * len(texts)
    for before, after in pairwise(order):
        length = common_prefix(texts[before], texts[after])
        shared[before] = max(shared[before], length)
        shared[after] = max(shared[after], length)
    return shared
