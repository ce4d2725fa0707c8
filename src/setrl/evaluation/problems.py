"""Which problems of several evaluations are the same: by their ids, or else by their prompts."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import replace

from setrl.errors import DataError
from setrl.evaluation.samples import Evaluation
from setrl.wording import count

SHOWN = 60  # letters of an id or a prompt in a message

Arms = Mapping[str, Sequence[Evaluation]]


def on_common(arms: Arms) -> tuple[dict[str, list[Evaluation]], list[str]]:
    """Return evaluations on the problems that all of them have, in the order of the first one.

    An arm that shares no problem with the first arm is left out.

    Args:
        arms: Name → one evaluation for each seed.

    Returns:
        The arms, and sentences that say what was left out.

    Raises:
        DataError: If it is not clear which problems are the same.
    """
    first_name, first = next((name, found[0]) for name, found in arms.items())
    common, named, notes = dict.fromkeys(first.ids), {}, []
    for name, found in arms.items():
        alike = [_named_as(first, one, first_name, name) for one in found]
        shared = common.keys() & set.intersection(*(set(one.ids) for one in alike))
        if not shared:
            notes.append(f"{name} is left out: it shares no problem with {first_name}")
            continue
        named[name], common = alike, {one: None for one in common if one in shared}
    notes += [note for name, found in named.items() if (note := _left_out(name, found, common))]
    return {name: [one.on(list(common)) for one in found] for name, found in named.items()}, notes


def comparable(arms: Arms) -> tuple[dict[str, list[Evaluation]], list[str]]:
    """Return what `on_common` returns, with equally many texts: branches are counted in them.

    Raises:
        DataError: If an arm shares no problem with the first arm.
    """
    found, notes = on_common(arms)
    for name in arms:
        if name not in found:
            first = next(iter(arms))
            if name == first:
                raise DataError(f"the seeds of {name} must have common problems, but have none")
            raise DataError(
                f"{first} and {name} must have common problems: the first has "
                f"{arms[first][0].ids[0][:SHOWN]!r}, the second {arms[name][0].ids[0][:SHOWN]!r}"
            )
    texts = min(one.texts_kept for of_arm in found.values() for one in of_arm)
    return {
        name: [one.with_texts(texts) for one in of_arm] for name, of_arm in found.items()
    }, notes


def _named_as(first: Evaluation, other: Evaluation, first_name: str, name: str) -> Evaluation:
    """Return an evaluation whose problems have the ids of another one's equal problems."""
    if set(first.ids) & set(other.ids):
        _refuse_other_prompts(first, other, first_name, name)
        return other
    shared = set(first.prompts) & set(other.prompts)
    for one, whose in ((first, first_name), (other, name)):
        prompt, times = Counter(p for p in one.prompts if p in shared).most_common(1)[0] if (
            shared) else ("", 1)  # fmt: skip
        if times > 1:
            raise DataError(
                f"{first_name} and {name} share no id, so that problems are matched by their "
                f"prompts, but {prompt[:SHOWN]!r} is the prompt of {times} problems of {whose}"
            )
    id_of = dict(zip(first.prompts, first.ids, strict=True))
    ids = (id_of.get(p, i) for p, i in zip(other.prompts, other.ids, strict=True))
    return replace(other, ids=tuple(ids))


def _refuse_other_prompts(first: Evaluation, other: Evaluation, first_name: str, name: str) -> None:
    """Refuse ids that only number the problems, in another order in each file."""
    if any(len(set(one.prompts)) < len(one) for one in (first, other)):
        return
    prompt_of = dict(zip(first.ids, first.prompts, strict=True))
    for problem, prompt in zip(other.ids, other.prompts, strict=True):
        known = prompt_of.get(problem, prompt)
        if known != prompt and prompt in first.prompts:
            raise DataError(
                f"problem {problem!r} is {known[:SHOWN]!r} in {first_name} and {prompt[:SHOWN]!r} "
                f"in {name}: ids must name the same problems in both; --group names the field that "
                "does, such as the prompt"
            )


def _left_out(name: str, found: Sequence[Evaluation], common: Mapping[str, None]) -> str:
    """Say how many problems of an arm are not common; empty if all are."""
    missing = list(dict.fromkeys(i for one in found for i in one.ids if i not in common))
    if not missing:
        return ""
    it = "it" if len(missing) == 1 else "them"
    such = f"such as {missing[0][:SHOWN]!r}"
    return f"{count(len(missing), 'problem')} of {name} left out, {such}: not all have {it}"
