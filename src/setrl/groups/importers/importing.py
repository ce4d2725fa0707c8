"""Samples of another tool's log → evaluation records: groups of one size, scores as logged.

If all scores of a log are 0 or 1, they say whether a sample is correct. Other scores are kept as
`rewards`, and the user gives a threshold above which samples are correct.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from setrl.errors import ConfigError, DataError
from setrl.groups.fields import DEGENERATE_NOTE, seems_to_mark_degenerate
from setrl.groups.records import SCHEMA_VERSION, TEXTS_KEPT


@dataclass(frozen=True)
class LoggedSample:
    """One sample of a log.

    Attributes:
        group: Names the samples that were drawn together for one problem.
        prompt: What the model was given.
        text: What it wrote.
        score: What the log scores it with; None where it does not.
        answer: The answer that was read from it; None if none was.
        gold: The right answer, where the log holds it.
        strategy: Its strategy or cluster, where the log holds one.
        step: The training step that it is of.
        advantage: What entered the loss, where the log holds it.
    """

    group: str
    prompt: str
    text: str
    score: float | None
    answer: str | None = None
    gold: str | None = None
    strategy: str | None = None
    step: int | None = None
    advantage: float | None = None


@dataclass(frozen=True)
class ImportOptions:
    """How a log is read.

    Attributes:
        reward: The score that counts, if the log has several.
        strategy: The column or key of each sample's strategy or cluster (trl, verl, tinker).
        answer: The column or key of each sample's answer (trl, verl, tinker).
        gold: The column or key of the right answer, if it is not the tool's usual one.
        steps: First and last training step to read (trl, verl, tinker); the last step alone by
            default.
        filter: The filter to read (lm-eval); the first one by default.
        verify: Compare the samples with the gold answer and ignore their scores.
        correct_above: Samples of a higher score are correct; by default only scores of 0 and 1
            say what is correct.
        degenerate: The strategy that stands for none, as 100 in Poly-EPO's code; null and −1
            always do.
    """

    reward: str | None = None
    strategy: str | None = None
    answer: str | None = None
    gold: str | None = None
    steps: tuple[int, int] | None = None
    filter: str | None = None
    verify: bool = False
    correct_above: float | None = None
    degenerate: str | None = None


@dataclass(frozen=True)
class Imported:
    """Evaluation records, and what was noticed on the way, in sentences."""

    records: list[dict[str, Any]]
    notes: list[str]


Verify = Callable[[str, Sequence[str]], list[Any]]


def nothing(samples: list[LoggedSample]) -> list[str]:
    """No notes."""
    return []


@dataclass(frozen=True)
class LogReader:
    """How the log of one tool is read.

    Attributes:
        patterns: The names of its files in a folder.
        samples: A file, the options, and a list for notes → its samples.
        by_step: Whether it is a log of training, whose samples come from policies of many steps.
        notice: All samples that are read → notes.
    """

    patterns: tuple[str, ...]
    samples: Callable[[Path, ImportOptions, list[str]], Iterable[LoggedSample]]
    by_step: bool = False
    notice: Callable[[list[LoggedSample]], list[str]] = nothing


def to_records(
    samples: Iterable[LoggedSample],
    source: str,
    options: ImportOptions,
    notes: Iterable[str] = (),
    verify: Verify | None = None,
) -> Imported:
    """The records of a log's samples.

    All groups get the commonest size n, of two as common the smaller: the surplus of larger ones
    is left out, as are smaller groups and samples without a score. How many is in the notes.

    Args:
        samples: In the log's order; those of a group may be anywhere.
        source: The tool, which is written into the records and is their split.
        options: How the log is read.
        notes: What was noticed so far.
        verify: Gold and texts → readings, where samples are to be held against the gold; by
            default `setrl.rewards.verifier.MathVerifier`.

    Raises:
        ConfigError: When scores are graded and no option says which samples are correct.
        DataError: When nothing is left, or samples are to be verified and there is no gold.
    """
    notes = list(notes)
    listed = list(samples)
    if options.verify:
        listed = _verified(listed, verify or math_verifier(), notes)
    scored = [sample for sample in listed if sample.score is not None]
    if len(scored) < len(listed):
        notes.append(f"{len(listed) - len(scored)} samples without a score are left out")
    groups: dict[str, list[LoggedSample]] = {}
    for sample in scored:
        groups.setdefault(sample.group, []).append(sample)
    if not groups:
        raise DataError("the log holds no sample with a score")
    groups, n = _of_one_size(groups, notes)
    strategies = ([sample.strategy for sample in group] for group in groups.values())
    if options.degenerate is None and seems_to_mark_degenerate(strategies):
        notes.append(DEGENERATE_NOTE)
    graded = any(sample.score not in (0, 1) for group in groups.values() for sample in group)
    if graded and options.correct_above is None:
        raise ConfigError(_threshold_wanted(groups))
    records = [_record(name, group, n, source, options, graded) for name, group in groups.items()]
    return Imported(records, notes)


def _threshold_wanted(groups: dict[str, list[LoggedSample]]) -> str:
    scores = [sample.score for group in groups.values() for sample in group]
    low, high = min(scores), max(scores)  # type: ignore[type-var]
    return (
        f"the scores are graded ({low:g} to {high:g}): --correct-above X says which samples are "
        "correct; the scores are kept as rewards"
    )


def _of_one_size(
    groups: dict[str, list[LoggedSample]], notes: list[str]
) -> tuple[dict[str, list[LoggedSample]], int]:
    sizes = Counter(map(len, groups.values()))
    n = max(sizes, key=lambda size: (sizes[size], -size))
    surplus = sum(max(0, len(group) - n) for group in groups.values())
    if surplus:
        notes.append(f"{surplus} samples beyond n = {n} of their group are left out")
    if small := sum(count for size, count in sizes.items() if size < n):
        notes.append(f"{small} groups of fewer than n = {n} samples are left out")
    return {name: group[:n] for name, group in groups.items() if len(group) >= n}, n


def _record(
    name: str,
    group: list[LoggedSample],
    n: int,
    source: str,
    options: ImportOptions,
    graded: bool,
) -> dict[str, Any]:
    correct_above = options.correct_above or 0.0
    strategies = [sample.strategy for sample in group]
    scores = [sample.score for sample in group]
    first = group[0]
    return {
        "schema_version": SCHEMA_VERSION,
        "id": name,
        "prompt": first.prompt,
        "split": source,
        "source": source,
        "n": n,
        **({"step": first.step} if first.step is not None else {}),
        **({"gold": first.gold} if first.gold is not None else {}),
        "correct": [int(score > correct_above) for score in scores],  # type: ignore[operator]
        **({"rewards": scores} if graded else {}),
        "strategies": [None if one == options.degenerate else one for one in strategies],
        "answers": [sample.answer for sample in group],
        "texts": [sample.text for sample in group[:TEXTS_KEPT]],
    }


def _verified(samples: list[LoggedSample], verify: Verify, notes: list[str]) -> list[LoggedSample]:
    """The samples with the verifier's score and answer; no score where the gold is not fit for it.

    Where the log holds an answer, that is what is held against the gold: it may stand in the text
    in a form that only the log's own tool reads.
    """
    if any(sample.gold is None for sample in samples):
        raise DataError("--verify needs a gold answer in the log: name its key with --gold")
    by_gold: dict[str, list[int]] = {}
    for place, sample in enumerate(samples):
        by_gold.setdefault(str(sample.gold), []).append(place)
    result, unfit = list(samples), []
    for gold, places in by_gold.items():
        try:
            readings = verify(gold, [_answering_text(samples[place]) for place in places])
        except DataError:
            unfit.append(gold)
            readings = [None] * len(places)
        for place, reading in zip(places, readings, strict=True):
            score = None if reading is None else float(reading.correct)
            answer = None if reading is None else reading.answer
            result[place] = replace(samples[place], score=score, answer=answer)
    if unfit:
        notes.append(f"{len(unfit)} gold answers cannot be used for grading, as {unfit[0]!r}")
    return result


def _answering_text(sample: LoggedSample) -> str:
    return sample.text if sample.answer is None else f"\\boxed{{{sample.answer}}}"


def math_verifier() -> Verify:
    """The verifier of mathematics, imported only where it is used."""
    from setrl.rewards.verifier import MathVerifier

    return MathVerifier()


def choose_steps(
    samples: list[LoggedSample], steps: tuple[int, int] | None, notes: list[str]
) -> list[LoggedSample]:
    """The samples of the last step, or of a range of steps; then each prompt's latest group.

    The groups of one prompt at several steps are samples of different policies: only the latest
    one is kept.
    """
    there = sorted({sample.step for sample in samples if sample.step is not None})
    if not there:
        return samples
    first, last = steps or (there[-1], there[-1])
    if steps is None and len(there) > 1:
        notes.append(f"step {last} alone is read, of steps {there[0]} to {last}; "
                     "--steps FIRST:LAST reads more")  # fmt: skip
    chosen = [s for s in samples if s.step is not None and first <= s.step <= last]
    if not chosen:
        raise ConfigError(f"the log has no steps {first} to {last}: it has {there[0]} to "
                          f"{there[-1]}")  # fmt: skip
    latest: dict[str, int] = {}
    for sample in chosen:
        latest[sample.prompt] = max(latest.get(sample.prompt, 0), sample.step or 0)
    kept = [sample for sample in chosen if sample.step == latest[sample.prompt]]
    if len(kept) < len(chosen):
        notes.append(f"{len(chosen) - len(kept)} samples of prompts that come again at a later "
                     "step are left out")  # fmt: skip
    return kept
