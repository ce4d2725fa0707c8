"""Which problems figures are computed on: those that all have, with enough graded samples.

Problems are the same by their ids, or else by their prompts. Samples without a grade are counted,
with how far pass@1 may be off because of them.
"""

from __future__ import annotations

import unicodedata
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from setrl.evaluate.samples import VERIFY, Evaluation
from setrl.logs.options import Fate
from setrl.logs.settings import OF_A_TASK
from setrl.support.errors import DataError
from setrl.support.wording import are, count, have, percent

SHOWN = 60  # letters of an id or a prompt in a message

ByArm = Mapping[str, Sequence[Evaluation]]


class Common(NamedTuple):
    """The evaluations of some arms on the same problems.

    Attributes:
        arms: Name → one evaluation for each seed.
        notes: Sentences that say what was left out, one for each cause.
        ungraded: Name → the samples without a grade, also of problems that are left out because of
            them; an arm whose samples all have a grade is not in it.
    """

    arms: dict[str, list[Evaluation]]
    notes: list[str]
    ungraded: dict[str, Ungraded]


def on_common(arms: ByArm, least: int = 1) -> Common:
    """Return evaluations on the problems that all of them have, in the order of the first one.

    An arm that shares no problem with the first arm is left out.

    Args:
        arms: Name → one evaluation for each seed.
        least: The number of graded samples that a problem needs in every evaluation.

    Raises:
        DataError: If it is not clear which problems are the same, or none has enough samples.
    """
    first_name, first = next((name, evaluations[0]) for name, evaluations in arms.items())
    common, named = dict.fromkeys(first.ids), {}
    notes: list[str] = []
    for name, evaluations in arms.items():
        alike = [
            evaluation
            if evaluation is first
            else _rename_problems_as_first(first, evaluation, first_name, name, notes)
            for evaluation in evaluations
        ]
        shared = common.keys() & set.intersection(*(set(evaluation.ids) for evaluation in alike))
        if not shared:
            notes.append(f"{name} is left out: it shares no problem with {first_name}")
            continue
        named[name], common = alike, {problem: None for problem in common if problem in shared}
    notes += [
        note
        for name, evaluations in named.items()
        if (note := _left_out_text(name, evaluations, common))
    ]
    if note := _nearly_equal_text(arms):
        notes.append(note)
    on_all = {
        name: [evaluation.on(tuple(common)) for evaluation in evaluations]
        for name, evaluations in named.items()
    }
    return _keep_problems_with_enough_samples(on_all, least, list(dict.fromkeys(notes)))


def comparable(arms: ByArm, least: int = 1) -> Common:
    """Return what `on_common` returns.

    Raises:
        DataError: If an arm shares no problem with the first arm; see also `on_common`.
    """
    common = on_common(arms, least)
    for name in arms:
        if name not in common.arms:
            first = next(iter(arms))
            if name == first:
                raise DataError(f"the seeds of {name} must have common problems, but have none")
            raise DataError(
                f"{first} and {name} must have common problems: the first has "
                f"{arms[first][0].ids[0][:SHOWN]!r}, the second {arms[name][0].ids[0][:SHOWN]!r}"
                f"{f'; {near}' if (near := _nearly_equal_text(arms)) else ''}"
            )
    return common


def _keep_problems_with_enough_samples(arms: ByArm, least: int, notes: list[str]) -> Common:
    """Keep the problems for which every evaluation has this many graded samples."""
    every = [evaluation for evaluations in arms.values() for evaluation in evaluations]
    drawn_P = np.min([evaluation.drawn_P for evaluation in every], axis=0)
    size_P = np.min([evaluation.size_P for evaluation in every], axis=0)
    if size_P.min() >= least and all(evaluation.ungraded_P is None for evaluation in every):
        return Common({name: list(evaluations) for name, evaluations in arms.items()}, notes, {})
    if not (size_P >= least).any():
        most = " and ".join(
            str(max(evaluation.most for evaluation in evaluations)) for evaluations in arms.values()
        )
        numbers = "number is" if len(arms) == 1 else "numbers are"
        whose = f" in all of {', '.join(arms)}" if len(arms) > 1 else ""
        graded = "" if (drawn_P < least).all() else "graded "
        raise DataError(
            f"no problem has {count(least, f'{graded}sample')}{whose}: the largest {numbers} {most}"
        )
    drawn = _choose_problems(arms, drawn_P >= least)
    ungraded = {
        name: ungraded_samples
        for name, evaluations in drawn.items()
        if (ungraded_samples := ungraded_of(evaluations))
    }
    few_notes = _too_few_samples_text(drawn_P, size_P, least, _grading_options_text(every))
    return Common(_choose_problems(arms, size_P >= least), [*notes, *few_notes], ungraded)


def _choose_problems(arms: ByArm, is_chosen_P: NDArray[np.bool_]) -> dict[str, list[Evaluation]]:
    rows = np.flatnonzero(is_chosen_P).tolist()
    if len(rows) == len(is_chosen_P):
        return {name: list(evaluations) for name, evaluations in arms.items()}
    return {
        name: [evaluation.choose(rows) for evaluation in evaluations]
        for name, evaluations in arms.items()
    }


def _too_few_samples_text(
    drawn_P: NDArray[np.int64], size_P: NDArray[np.int64], least: int, remedies: list[str]
) -> Iterator[str]:
    """Say how many problems have too few samples, for each cause.

    Args:
        drawn_P, size_P: The fewest samples of each problem: all, and those with a grade.
        least: The number that every problem needs.
        remedies: What the user can do about samples without a grade.
    """
    few_P, lost_P = drawn_P < least, (drawn_P >= least) & (size_P < least)
    some_P = lost_P & (size_P > 0)
    few, some, bare = (int(rows_P.sum()) for rows_P in (few_P, some_P, lost_P & (size_P == 0)))
    of_all = f"of {count(len(drawn_P), 'problem')}"
    end = "in no figure, so that every k uses the same problems"
    if few:
        yield (f"{few:,} {of_all} {have(few)} fewer than {count(least, 'sample')} and "
               f"{are(few)} {end}")  # fmt: skip
    if some:
        k = f"--k up to {size_P[some_P].min()} keeps {'it' if some == 1 else 'them'}"
        yield (
            f"{some:,} {of_all} {have(some)} fewer than {count(least, 'graded sample')} only "
            f"because grades are missing, and {are(some)} {end}: {'; '.join([k, *remedies])}"
        )
    if bare:
        do = f": {'; '.join(remedies)}" if remedies else ""
        yield (f"{bare:,} {of_all} {have(bare)} no graded sample, because grades are "
               f"missing, and {are(bare)} in no figure{do}")  # fmt: skip


def _grading_options_text(evaluations: Sequence[Evaluation]) -> list[str]:
    """Say which options of the command grade the samples without a grade."""
    read = [
        set(evaluation.options)
        for evaluation in evaluations
        if evaluation.options or evaluation.ungraded_P is not None
    ]
    both = set.intersection(*read) if read else set()
    says = {"--ungraded wrong": "--ungraded wrong counts such samples as wrong", "--verify": VERIFY}
    return [text for option, text in says.items() if option in both]


def _rename_problems_as_first(
    first: Evaluation, other: Evaluation, first_name: str, name: str, notes: list[str]
) -> Evaluation:
    """Return an evaluation whose problems have the ids of another one's equal problems.

    That prompts were compared is added to the notes.
    """
    other = _match_task_in_ids(first, other)
    if set(first.ids) & set(other.ids):
        _refuse_other_prompts(first, other, first_name, name)
        return other
    shared = set(first.prompts) & set(other.prompts)
    for evaluation, whose in ((first, first_name), (other, name)):
        prompt, times = Counter(p for p in evaluation.prompts if p in shared).most_common(1)[0] if (
            shared) else ("", 1)  # fmt: skip
        if times > 1:
            raise DataError(
                f"{first_name} and {name} share no id, so that problems are matched by their "
                f"prompts, but {prompt[:SHOWN]!r} is the prompt of {times} problems of {whose}"
            )
    if shared:
        notes.append(f"{first_name} and {name} share no id: problems are matched by their prompts")
    id_of = dict(zip(first.prompts, first.ids, strict=True))
    ids = (id_of.get(p, i) for p, i in zip(other.prompts, other.ids, strict=True))
    return replace(other, samples=replace(other.samples, ids=tuple(ids)))


def _match_task_in_ids(first: Evaluation, other: Evaluation) -> Evaluation:
    """Return an evaluation whose ids name the task where another one's do, or do not.

    The ids of a log of several tasks may begin with the task; those of a log of one do not.
    """
    if set(first.ids) & set(other.ids):
        return other
    named = [(f"{task}/{name}" for name in other.ids) for task in _unambiguous_tasks(other)]
    bare = [
        (name.removeprefix(f"{task}/") for name in other.ids) for task in _unambiguous_tasks(first)
    ]
    for ids in map(tuple, (*named, *bare)):
        if set(first.ids) & set(ids) and len(set(ids)) == len(ids):
            return replace(other, samples=replace(other.samples, ids=ids))
    return other


def _unambiguous_tasks(evaluation: Evaluation) -> list[str]:
    """Return what a file says of its task, where it says one thing."""
    of_file = [[*evaluation.settings.get(setting, ())] for setting in OF_A_TASK]
    return [values[0] for values in of_file if len(values) == 1]


def _refuse_other_prompts(first: Evaluation, other: Evaluation, first_name: str, name: str) -> None:
    """Refuse ids that only number the problems, in another order in each file."""
    if any(len(set(evaluation.prompts)) < len(evaluation) for evaluation in (first, other)):
        return
    prompt_of = dict(zip(first.ids, first.prompts, strict=True))
    for problem, prompt in zip(other.ids, other.prompts, strict=True):
        prompt_there = prompt_of.get(problem, prompt)
        if prompt_there != prompt and prompt in first.prompts:
            raise DataError(
                f"problem {problem!r} is {prompt_there[:SHOWN]!r} in {first_name} and "
                f"{prompt[:SHOWN]!r} in {name}: ids must name the same problems in both; --group "
                "names the field that does, such as the prompt"
            )


def _left_out_text(name: str, evaluations: Sequence[Evaluation], common: Mapping[str, None]) -> str:
    """Say how many problems of an arm are not common; empty if all are."""
    missing = list(
        dict.fromkeys(i for evaluation in evaluations for i in evaluation.ids if i not in common)
    )
    if not missing:
        return ""
    it = "it" if len(missing) == 1 else "them"
    such = f"such as {missing[0][:SHOWN]!r}"
    return f"{count(len(missing), 'problem')} of {name} left out, {such}: not all have {it}"


def _nearly_equal_text(arms: ByArm) -> str:
    return nearly_equal(
        i for evaluations in arms.values() for evaluation in evaluations for i in evaluation.ids
    )


def nearly_equal(ids: Iterable[str]) -> str:
    """Say which ids differ only by Unicode's normal form or by space at an end; empty if none."""
    seen: dict[str, str] = {}
    pairs = []
    for name in dict.fromkeys(ids):
        plain = unicodedata.normalize("NFKC", name).strip()
        if seen.setdefault(plain, name) != name:
            pairs.append((seen[plain], name))
    if not pairs:
        return ""
    first, second = (ascii(name[:SHOWN]) for name in pairs[0])
    return (
        f"{count(len(pairs), 'id')} {'is' if len(pairs) == 1 else 'are'} equal to another one but "
        f"for space at an end or a form of Unicode, the first: {first} and {second}; they are read "
        "as different problems"
    )


@dataclass(frozen=True)
class Ungraded:
    """The samples without a grade.

    They are of the problems that would be in the figures if all samples had a grade.

    Attributes:
        samples: How many.
        of_all: Of how many samples, graded or not.
        are: Whether these samples are left out, or count as wrong.
        if_wrong, if_right: pass@1 if all of them were wrong, and if all were right.
    """

    samples: int
    of_all: int
    are: Fate
    if_wrong: float
    if_right: float

    def sentence(self, name: str) -> str:
        """Say what became of them, and the bounds of pass@1.

        >>> Ungraded(27, 2280, "left-out", 0.31, 0.322).sentence("a")
        'a: 27 of 2,280 samples have no grade and are left out of everything, including votes and
        strategies; pass@1 would be 31.0% if all of them were wrong, 32.2% if all were right'
        """
        is_one = self.samples == 1
        counts, are, have = ("counts", "is", "has") if is_one else ("count", "are", "have")
        fate = f"{counts} as wrong" if self.are == "wrong" else (
            f"{are} left out of everything, including votes and strategies")  # fmt: skip
        return (
            f"{name}: {self.samples:,} of {count(self.of_all, 'sample')} {have} no grade and {fate}"
            f"; pass@1 would be {percent(self.if_wrong)} if all of them were wrong, "
            f"{percent(self.if_right)} if all were right"
        )


def ungraded_of(evaluations: Sequence[Evaluation]) -> Ungraded | None:
    """Count them in an arm's evaluations, one for each seed; None if every sample has a grade.

    With c correct of n samples in the figures and u without a grade, a problem's pass@1 is from
    c/(n + u) to (c + u)/(n + u) where these are left out, and from c/n to (c + u)/n where they are
    among the n.
    """
    lacking = [(e, e.ungraded_P) for e in evaluations if e.ungraded_P is not None]
    samples = sum(int(u_P.sum()) for _, u_P in lacking)
    if not samples:
        return None
    bounds, of_all = [], 0
    for e in evaluations:
        u_P = np.zeros(len(e)) if e.ungraded_P is None else e.ungraded_P
        c_P = e.correct_count_P
        bounds.append((np.mean(c_P / e.drawn_P), np.mean((c_P + u_P) / e.drawn_P)))
        of_all += int(e.drawn_P.sum())
    if_wrong, if_right = (float(end) for end in np.mean(bounds, axis=0))
    return Ungraded(samples, of_all, lacking[0][0].ungraded_are, if_wrong, if_right)
