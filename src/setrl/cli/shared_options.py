"""The options that several commands share: how a log is read, and a method with its options."""

from __future__ import annotations

import dataclasses
import json
import shlex
import sys
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Annotated, Any, Literal

import tyro

from setrl.logs.options import LOUD, LogOptions, VerdictWords, Verify
from setrl.logs.roles import FieldNames
from setrl.support.files import strict_yaml


@dataclass(frozen=True, kw_only=True)
class LogFields:
    """The fields of a log, and what its values mean.

    Attributes:
        group: The field that the samples of one problem share, or several fields that name the
            problem together. This and the other fields are recognised by their names and shown;
            write a nested field as metrics.acc.
        rows: The field with a list of objects that are the samples, or the problems.
        prompt: The field with what the model was given.
        text: The field with what the model wrote: a string, or the messages of a conversation.
        reward: The field with the reward of a sample; by default the field that says whether it is
            correct.
        correct: The field that says whether a sample is correct: true or false, 1 or 0, words such
            as correct and wrong, or a score.
        strategy: The field with the strategy of a sample: a name or a number.
        answer: The field with the model's answer.
        gold: The field with the right answer.
        sample_number: The field that numbers the samples of a problem; of rows with the same number
            the last one counts.
        num_correct: The field with the number of correct samples of a problem.
        num_samples: The field with the number of samples of a problem.
        right: Further words for a correct sample, besides correct, true, yes, pass and others.
        wrong: Further words for a wrong sample, such as timeout.
        unknown: Words for a sample without a verdict, such as error.
        correct_above: If scores are graded, samples with a higher score are correct.
        degenerate: The label of samples of no strategy, such as 100 in Poly-EPO's code, besides −1.
            A null or missing label is unknown; give the word null if that means no strategy.
        verify: Compare each answer, or the text if there is no answer, with the right answer, as
            mathematics.
        quiet: Do not print how the fields were read, or what was noticed; only what was left out,
            and fields that contradict each other.
    """

    group: tuple[str, ...] = ()
    rows: str | None = None
    prompt: str | None = None
    text: str | None = None
    reward: str | None = None
    correct: str | None = None
    strategy: str | None = None
    answer: str | None = None
    gold: str | None = None
    sample_number: str | None = None
    num_correct: str | None = None
    num_samples: str | None = None
    right: tuple[str, ...] = ()
    wrong: tuple[str, ...] = ()
    unknown: tuple[str, ...] = ()
    correct_above: float | None = None
    degenerate: str | None = None
    verify: bool = False
    quiet: bool = False

    def say(self, reading: Iterable[str]) -> None:
        """Print to stderr how a log was read; with --quiet what was lost, or contradicts."""
        for line in reading:
            if not self.quiet or (line.startswith("note: ") and any(mark in line for mark in LOUD)):
                print(line, file=sys.stderr)

    def note(self, notes: Iterable[str]) -> None:
        """Print to stderr what was noticed."""
        self.say(f"note: {note}" for note in notes)

    @property
    def log_options(self) -> LogOptions:
        """How the log is read."""
        shared = {field.name for field in dataclasses.fields(LogFields)}
        named = {field.name for field in dataclasses.fields(FieldNames)} & shared
        return LogOptions(
            FieldNames(**{name: getattr(self, name) for name in named}),
            self.correct_above,
            self.degenerate,
            self._make_verifier(),
            getattr(self, "allow_damaged", False),
            getattr(self, "ungraded", "left-out"),
            words=VerdictWords(self.right, self.wrong, self.unknown),
        )

    def _make_verifier(self) -> Verify | None:
        if not self.verify:
            return None
        from setrl.rewards.answers import MathVerifier  # its processes start only where asked

        return MathVerifier()


@dataclass(frozen=True, kw_only=True)
class EvaluatedFields(LogFields):
    """The options of a command that computes figures.

    Attributes:
        ungraded: How samples without a grade (null or NaN) count: left-out of everything, including
            votes and strategies, or as wrong. They are counted, and the bounds of pass@1 are shown.
    """

    ungraded: Literal["left-out", "wrong"] = "left-out"


def command_line(command: str, options: Any) -> str:
    """Return the command with the paths and all options that are not at their default.

    Args:
        command: Its name.
        options: Its dataclass, whose field `paths` is positional.
    """
    paths = map(str, options.paths)
    return shlex.join(["setrl", command, *paths, *given(options, type(options), but=("paths",))])


def given(options: Any, kind: type[Any], but: Iterable[str] = ()) -> list[str]:
    """Return the words of a command line that set options which are not at their default.

    Args:
        options: The dataclass of a command.
        kind: Itself, or a base class, whose fields are written.
        but: Names of fields that are left out.
    """
    words = []
    for field in dataclasses.fields(kind):
        value = getattr(options, field.name)
        if field.name in but or value == field.default:
            continue
        words.append(f"--{field.name.replace('_', '-')}")
        if not isinstance(value, bool):
            words += map(str, value) if isinstance(value, tuple) else [str(value)]
    return words


@dataclass(frozen=True, kw_only=True)
class MethodOptions:
    """A command that takes a method.

    Attributes:
        set: An option of the method, KEY=VALUE, such as alpha=0; can be repeated.
    """

    set: Annotated[tuple[str, ...], tyro.conf.UseAppendAction] = ()

    def spec(self, method: str) -> dict[str, Any]:
        """Return a method, by its name or in the form of a config, with its options."""
        is_config = method.lstrip().startswith("{")
        config = strict_yaml.mapping(method, repr(method)) if is_config else {"method": method}
        strict_yaml.override(config, self.set)
        return config


def as_options(config: Mapping[str, Any]) -> list[str]:
    """Return the words of a command line that name a method's config; see `MethodOptions.spec`.

    >>> as_options({"method": "concave_counts", "alpha": 0})
    ['--method', 'concave_counts', '--set', 'alpha=0']
    """
    options = {key: value for key, value in config.items() if key != "method"}
    words = [("--set", f"{key}={json.dumps(value)}") for key, value in options.items()]
    return ["--method", config["method"], *(word for pair in words for word in pair)]
