"""The options that name the fields of a log of one's own; each is recognised without its option."""

from __future__ import annotations

import dataclasses
import shlex
import sys
from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any, Literal

from setrl.groups.jsonl import OwnLog
from setrl.groups.recognition import Fields


@dataclass(frozen=True, kw_only=True)
class FieldNames:
    """Names of fields in a log of one's own.

    Attributes:
        group: Of a log of your own: the field that the samples of one problem share, or several
            that name it together. This and the other fields are recognised by their names and
            shown; a nested field is metrics.acc.
        correct: Its field that says whether a sample is correct: true or false, 1 or 0, words such
            as correct and wrong, or a score.
        text: Its field of what the model wrote.
        prompt: Its field of what the model was given.
        rows: Its field with a list of objects that are the samples, or the problems.
        sample_number: Its field that numbers the samples of a problem; equal rows are then one.
        num_correct: Its field of how many samples of a problem are correct.
        num_samples: Its field of how many samples a problem has.
    """

    group: tuple[str, ...] = ()
    correct: str | None = None
    text: str | None = None
    prompt: str | None = None
    rows: str | None = None
    sample_number: str | None = None
    num_correct: str | None = None
    num_samples: str | None = None


@dataclass(frozen=True, kw_only=True)
class LogFields(FieldNames):
    """All that says how a log of one's own is read.

    Attributes:
        answer: Its field of the model's answer.
        gold: Its field of the right answer.
        strategy: Its field of a sample's strategy or cluster.
        reward: Its field of a graded score beside `correct`, for max@k.
        correct_above: Samples of a higher score are correct, where scores are graded.
        degenerate: The strategy that stands for none; null and −1 always do.
        verify: Compare each answer, or else the text, with the right answer, as mathematics.
        ungraded: What becomes of its samples without a grade (null or NaN): left-out of everything,
            of votes and strategies too, or wrong. They are counted, and the bounds of pass@1 shown.
    """

    answer: str | None = None
    gold: str | None = None
    strategy: str | None = None
    reward: str | None = None
    correct_above: float | None = None
    degenerate: str | None = None
    verify: bool = False
    ungraded: Literal["left-out", "wrong"] = "left-out"


def command_line(command: str, options: Any) -> str:
    """The command with the paths and all options that are not at their default.

    Args:
        command: Its name.
        options: Its dataclass, whose field `paths` is positional.
    """
    words = ["setrl", command, *map(str, options.paths)]
    for field in dataclasses.fields(options):
        value = getattr(options, field.name)
        if field.name == "paths" or value == field.default:
            continue
        words.append(f"--{field.name.replace('_', '-')}")
        if not isinstance(value, bool):
            words += map(str, value) if isinstance(value, tuple) else [str(value)]
    return shlex.join(words)


@dataclass(frozen=True, kw_only=True)
class ShownFields(LogFields):
    """Those of a command that says how it read a log.

    Attributes:
        quiet: Do not say how the fields of a log were read, nor what was noticed in it.
    """

    quiet: bool = False

    def say(self, reading: Iterable[str]) -> None:
        """Print to stderr how a log was read."""
        if not self.quiet:
            for line in reading:
                print(line, file=sys.stderr)


def own_log(options: Any) -> OwnLog:
    """How a log is read, by the options of a command that has those of `LogFields`."""
    names = {field.name: getattr(options, field.name) for field in dataclasses.fields(Fields)}
    return OwnLog(
        Fields(**names),
        options.correct_above,
        options.degenerate,
        options.verify,
        getattr(options, "allow_damaged", False),
        getattr(options, "ungraded", "left-out"),
    )
