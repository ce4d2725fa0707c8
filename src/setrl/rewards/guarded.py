"""A reward function of a user, called so that no failure of it is silent or without a name."""

from __future__ import annotations

import inspect
import math
import warnings
from collections import Counter
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import partial
from typing import Any, Literal

from setrl.rewards.calling import CallError, quoted, values_of
from setrl.rewards.own_process import NOT_SENT, OwnProcess
from setrl.samples.conversation import Text
from setrl.support import wording
from setrl.support.errors import ConfigError, RunError
from setrl.support.files.sections import refuse_other_choice

OnError = Literal["stop", "unknown"]
MAX_LATE = 3  # samples that may each take the whole time limit while the slow ones are searched

_LOGGERS = ("log_extra", "log_metric")  # of TRL: what a failed call logs is dropped
OF_TRAINERS = ("completion_ids", "trainer_state", *_LOGGERS)


@dataclass(frozen=True)
class GuardedReward:
    """A user's reward function with a time limit, and errors that name it and the sample.

    It is called as TRL calls reward functions, but with only the fields that it takes. It may be
    asynchronous. What it returns must be one number for each sample; None and NaN are unknown.

    If a call fails (an exception, the time limit, a wrong number of values, a value that is
    not a finite number), the function is called with each sample by itself, to find the samples on
    which it fails.

    Attributes:
        function: The function.
        name: What errors and metrics call it.
        path: The file that it comes from.
        timeout: Seconds of one call, for all samples of a step; None for no limit.
        on_error: `stop` raises an error that names the function, the sample and the exception;
            `unknown` gives such samples no reward, so that they leave the sets, and counts them.
            The others are scored by another call with all of them.
        process: The process of its own in which it runs; None to run in this one.
        failures: Samples without a reward because it failed on them, by exception.
    """

    function: Callable[..., Any]
    name: str
    path: str = ""
    timeout: float | None = None
    on_error: OnError = "stop"
    process: OwnProcess | None = field(default=None, compare=False)
    failures: Counter[str] = field(default_factory=Counter, compare=False, repr=False)

    def __post_init__(self) -> None:
        refuse_other_choice("on_error", self.on_error, OnError)
        if self.timeout is not None and not 0 < self.timeout < math.inf:
            raise ConfigError(f"timeout must be a number of seconds above 0, got {self.timeout!r}")
        parameters = self._parameters
        if "completions" not in parameters and not _takes_any_field(parameters):
            raise ConfigError(
                f"{self.where} must take 'completions', as TRL's reward functions do: "
                f"def {self.name}(prompts, completions, **columns); it takes "
                f"{', '.join(parameters) or 'nothing'}"
            )
        if self.process is not None and (far := [n for n in self._required_names if n in NOT_SENT]):
            raise ConfigError(
                f"{self.where} takes {far[0]!r} of the trainer, and cannot have a process of its "
                "own: leave own_process out"
            )

    @property
    def __name__(self) -> str:
        return self.name

    @property
    def where(self) -> str:
        """The function and its file, for messages."""
        return f"the reward function {self.name!r}" + (f" ({self.path})" if self.path else "")

    @property
    def _parameters(self) -> Mapping[str, inspect.Parameter]:
        try:
            return inspect.signature(self.function).parameters
        except ValueError:  # of a function in C that does not say what it takes
            return {"fields": inspect.Parameter("fields", inspect.Parameter.VAR_KEYWORD)}

    def missing_columns(self, columns: Iterable[str]) -> list[str]:
        """Return the parameters without a default that none of the columns would fill."""
        filled = {"prompts", "completions", *OF_TRAINERS, *columns}
        return [name for name in self._required_names if name not in filled]

    @property
    def of_trainers(self) -> list[str]:
        """The parameters without a default that only a trainer fills, and no evaluation."""
        return [name for name in self._required_names if name in OF_TRAINERS]

    @property
    def _required_names(self) -> list[str]:
        kinds = (inspect.Parameter.VAR_POSITIONAL, inspect.Parameter.VAR_KEYWORD)
        return [
            name
            for name, each in self._parameters.items()
            if each.default is each.empty and each.kind not in kinds
        ]

    def __call__(
        self, *, prompts: Sequence[Text], completions: Sequence[Text], **columns: Any
    ) -> list[float | None]:
        """Return the reward of each sample.

        Raises:
            RunError: If the function fails, and errors are to stop the run.
        """
        fields = {"prompts": prompts, "completions": completions, **columns}
        if missing := self.missing_columns(fields):
            given = ", ".join(name for name in fields if name not in _LOGGERS)
            raise RunError(
                f"{self.where} takes {missing[0]!r}, which is not a column: it gets {given}"
            )
        try:
            return self._call_for_values(fields, len(completions))
        except CallError as failed:
            return self._values_without_failing(fields, failed)

    def _values_without_failing(
        self, fields: dict[str, Any], failed: CallError
    ) -> list[float | None]:
        """Return the values of samples on which it does not fail, or raise the first error."""
        count = len(fields["completions"])
        bad = self._find_failing_samples(fields, count, self.on_error == "stop")
        if self.on_error == "stop":
            raise self._error_of_failure(fields, failed, bad) from failed.cause
        good = [place for place in range(count) if place not in bad]
        values: list[float | None] = [None] * count
        try:
            if bad and good:
                for place, value in zip(
                    good,
                    self._call_for_values(_fields_of_places(fields, good, count), len(good)),
                    strict=True,
                ):
                    values[place] = value
            elif not bad:  # it fails on all of them together, and on no single one
                bad = dict.fromkeys(range(count), failed)
        except CallError as again:
            bad |= dict.fromkeys(good, again)
        self._warn_once(fields, bad)
        self.failures.update(each.kind for each in bad.values())
        return values

    def _find_failing_samples(
        self, fields: dict[str, Any], count: int, first_only: bool
    ) -> dict[int, CallError]:
        """Find the samples on which the function fails; give up after `MAX_LATE` late samples."""
        error_of: dict[int, CallError] = {}
        timeout_error: list[CallError] = []
        for place in range(count):
            if len(timeout_error) >= MAX_LATE:
                error_of[place] = timeout_error[-1]
                continue
            try:
                self._call_for_values(_fields_of_places(fields, [place], count), 1)
            except CallError as failed:
                error_of[place] = failed
                timeout_error += [failed] if failed.kind == "timeout" else []
                if first_only:
                    break
        return error_of

    def _warn_once(self, fields: dict[str, Any], bad: dict[int, CallError]) -> None:
        """Tell of the first failure; the others are counted."""
        if not self.failures:
            warnings.warn(
                f"{self._error_of_failure(fields, next(iter(bad.values())), bad)}: such samples "
                "have no reward (on_error: unknown); further ones are only counted",
                stacklevel=2,
            )

    def _error_of_failure(
        self, fields: dict[str, Any], failed: CallError, bad: dict[int, CallError]
    ) -> RunError:
        if not bad:
            count = len(fields["completions"])
            return RunError(
                f"{self.where} {failed.what}, called with {wording.count(count, 'sample')}; "
                "it does not fail on any single one of them"
            )
        place, alone = next(iter(bad.items()))
        sample, prompt = (quoted(fields[key][place]) for key in ("completions", "prompts"))
        return RunError(f"{self.where} {alone.what}, on the sample {sample} of the prompt {prompt}")

    def _call_for_values(self, fields: dict[str, Any], count: int) -> list[float | None]:
        """One number or None for each sample.

        Raises:
            CallError: If the function does not return that in time.
        """
        logged: list[tuple[Callable[..., Any], tuple[Any, ...]]] = []
        for key in _LOGGERS:
            if log := fields.get(key):
                fields = {**fields, key: lambda *what, log=log: logged.append((log, what))}
        call = self.process.values if self.process else partial(values_of, self.function)
        values = call(self._fields_taken(fields), count, self.timeout)
        for log, what in logged:
            log(*what)
        return values

    def _fields_taken(self, fields: dict[str, Any]) -> dict[str, Any]:
        """Return the fields that the function takes."""
        if _takes_any_field(self._parameters):
            return fields
        return {name: value for name, value in fields.items() if name in self._parameters}


def _fields_of_places(fields: dict[str, Any], places: list[int], count: int) -> dict[str, Any]:
    """Return the fields of some of the samples, without anything that logs."""
    return {
        name: [value[place] for place in places]
        if isinstance(value, list | tuple) and len(value) == count
        else value
        for name, value in fields.items()
    } | {name: lambda *_: None for name in _LOGGERS if name in fields}


def _takes_any_field(parameters: Mapping[str, inspect.Parameter]) -> bool:
    return any(each.kind is inspect.Parameter.VAR_KEYWORD for each in parameters.values())
