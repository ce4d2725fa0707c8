"""A task and a generator → samples on disk → evaluation records; an interrupted call continues."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping
from contextlib import closing
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from setrl.logs.recording import record
from setrl.logs.records import read_records
from setrl.models.generators import Ask, Completion, Failure, Generator
from setrl.models.sample_file import WEIGHTS, SampleFile, locked_samples, path_of_samples
from setrl.samples.types import Sample
from setrl.samples.values import REASONED, was_cut_by
from setrl.support import files
from setrl.support.errors import ConfigError, RunError
from setrl.support.files.progress import progress_bar
from setrl.support.wording import count
from setrl.tasks import Problem
from setrl.tasks.base import ProblemSet

REASONED_NOTE = (
    "the server puts the whole text into reasoning_content; start it with another reasoning parser "
    "or with none, or turn thinking off, as --extra-body does with some models"
)


@dataclass(frozen=True)
class Drawn:
    """What a call produced.

    Attributes:
        path: The evaluation file, with every problem that has all its samples.
        problems: Problems in the evaluation file.
        unfinished: Problems that lack samples, and are only in the file of samples.
        failures: Reason → samples that could not be drawn in this call.
        details: Reason → what the server answered, the first time.
        cut: Samples of the finished problems that ended at the limit of tokens.
        alike: Finished problems whose samples are all equal: a server that does not sample.
        bare: Samples of the finished problems that are empty, and whose text is all in
            reasoning_content.
        read_again: Finished problems whose samples were read again, because what reads them is
            another than in the evaluation file that was there.
        is_of_unknown_model: Whether the file of samples, as of an earlier version, does not say
            which model drew the samples that it had.
    """

    path: Path
    problems: int
    unfinished: int
    failures: Mapping[str, int]
    details: Mapping[str, str]
    cut: int
    alike: int
    bare: int = 0
    read_again: int = 0
    is_of_unknown_model: bool = False

    @property
    def why(self) -> str:
        """How many samples failed for which reason, with the first answer of the server."""
        return ", ".join(
            f"{reason}: {count(times, 'sample')}" + (f", the first: {detail}" if detail else "")
            for reason, times in sorted(self.failures.items())
            for detail in [self.details.get(reason)]
        )


def draw_and_read(
    task: ProblemSet,
    generator: Generator,
    n: int,
    seed: int,
    out_path: str | Path,
    show_progress: bool = True,
) -> Drawn:
    """Draw the samples that are missing, and write a record for each finished problem.

    Samples are written to `samples/<name>` in the evaluation file's folder one by one as they
    arrive. Killing the process loses none, and the same call continues and requests no sample
    twice. A problem whose samples could not all be drawn gets no record: nothing is filled in.

    Records are kept while the reward, the strategy function and the right answer of a problem are
    those that made them; otherwise its samples are read again, and none is drawn.

    Args:
        task: The problems, and how their samples are read.
        generator: Draws the samples.
        n: Samples of a problem.
        seed: Decides the samples, as far as the generator honours it.
        out_path: The evaluation file (see `setrl.logs.records`).
        show_progress: Whether to draw a progress bar.

    Raises:
        ConfigError: When the files there were made with other settings or of other problems.
        RunError: When another process draws into the same file, the service cannot be used, or all
            samples are empty because their text is in reasoning_content; what was drawn is kept.
    """
    path = Path(out_path)
    with locked_samples(path_of_samples(path)):
        return _draw_and_read(task, generator, n, seed, path, show_progress)


def _draw_and_read(
    task: ProblemSet,
    generator: Generator,
    n: int,
    seed: int,
    path: Path,
    show_progress: bool,
) -> Drawn:
    settings = {"task": task.name, **generator.settings, "n": n, "seed": seed}
    store = SampleFile(
        path_of_samples(path),
        [problem.id for problem in task.problems],
        {**settings, "problems": task.digest, WEIGHTS: generator.weights},
    )
    records_by_id = _read_records_by_id(path, task, store, n)
    failures, details = _draw_missing_samples(task, generator, n, seed, store, show_progress)
    records, cut, alike, bare, read_again = [], 0, 0, 0, 0
    for place, problem in enumerate(task.problems):
        if store.missing(place, n):
            continue
        samples = store.samples(place)
        cut += sum(was_cut_by(sample.finish) for sample in samples)
        alike += len({sample.text for sample in samples}) == 1
        bare += sum(sample.finish == REASONED for sample in samples)
        about = {**settings, "reader": task.reader_of(problem)}
        held = records_by_id.get(problem.id, {})
        is_kept = held.get("reader") == about["reader"]
        read_again += bool(held) and not is_kept
        records.append(held if is_kept else {**_evaluation_record(problem, samples, task), **about})
    if records and bare == len(records) * n:
        raise RunError(f"all {count(bare, 'sample')} are empty: {REASONED_NOTE}; give another "
                       "output then")  # fmt: skip
    if records != list(records_by_id.values()):
        files.write_lines(path, records)
    return Drawn(
        path=path,
        problems=len(records),
        unfinished=len(task.problems) - len(records),
        failures=failures,
        details=details,
        cut=cut,
        alike=alike,
        bare=bare,
        read_again=read_again,
        is_of_unknown_model=store.is_of_unknown_model,
    )


def _draw_missing_samples(
    task: ProblemSet,
    generator: Generator,
    n: int,
    seed: int,
    store: SampleFile,
    show_progress: bool,
) -> tuple[dict[str, int], dict[str, str]]:
    """Fill the store; reason → samples that could not be drawn, and what the server answered."""
    asks = [
        Ask(place, problem.prompt, numbers, n)
        for place, problem in enumerate(task.problems)
        if (numbers := store.missing(place, n))
    ]
    failures: Counter[str] = Counter()
    details: dict[str, str] = {}
    if not asks:
        return failures, details
    bar = progress_bar(
        show_progress,
        desc=f"evaluate {task.name}",
        unit="sample",
        initial=store.count,
        total=len(task.problems) * n,
    )
    # Closing ends the requests under way when this process is interrupted.
    with bar, closing(generator.generate(asks, seed)) as events:  # type: ignore[type-var]
        for event in events:
            if isinstance(event, Failure):
                failures[event.reason] += event.samples
                details.setdefault(event.reason, event.detail)
                bar.set_postfix(failed=failures.total())
            else:
                store.append(event)
                bar.update()
    return failures, details


def _read_records_by_id(
    path: Path, task: ProblemSet, store: SampleFile, n: int
) -> dict[str, dict[str, Any]]:
    """Id → record of the problems whose samples have been read already."""
    if not path.exists():
        return {}
    place_of = {problem.id: place for place, problem in enumerate(task.problems)}
    records_by_id = {}
    for known_record in read_records(path):
        identity = known_record.get("id")
        if identity not in place_of or store.missing(place_of[identity], n):
            raise ConfigError(f"{path} holds records whose samples are not in {store.path}: "
                              "give another path or remove the file")  # fmt: skip
        records_by_id[identity] = known_record
    return records_by_id


def _evaluation_record(
    problem: Problem, samples: list[Completion], task: ProblemSet
) -> dict[str, Any]:
    texts = [sample.text for sample in samples]
    graded = [
        Sample(text, reading.correct, strategy=reading.strategy, answer=reading.answer)
        for text, reading in zip(texts, task.read(problem, texts), strict=True)
    ]
    gold = {} if problem.gold is None else {"gold": problem.gold}
    return record(
        problem.id, problem.prompt, graded, texts, kind=problem.kind, split=task.split, **gold
    )
