"""A reward function of a user, called so that no failure of it is silent or without a name."""

from __future__ import annotations

import inspect
import math
import warnings
from collections import Counter
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Literal

from setrl.rewards.interface import own
from setrl.rewards.time_limit import TimeUp, call_within
from setrl.samples.conversation import Text, plain_text
from setrl.samples.values import read_score
from setrl.support import wording
from setrl.support.errors import ConfigError, RunError
from setrl.support.files.sections import refuse_other_choice

OnError = Literal["stop", "unknown"]
MAX_LATE = 3  # samples that may each take the whole time limit while the slow ones are searched
SHOWN = 120  # characters of a sample in a message

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
        failures: Samples without a reward because it failed on them, by exception.
    """

    function: Callable[..., Any]
    name: str
    path: str = ""
    timeout: float | None = None
    on_error: OnError = "stop"
    failures: Counter[str] = field(default_factory=Counter, compare=False, repr=False)

    def __post_init__(self) -> None:
        refuse_other_choice("on_error", self.on_error, OnError)
        if self.timeout is not None and not 0 < self.timeout < math.inf:
            raise ConfigError(f"timeout must be a number of seconds above 0, got {self.timeout!r}")
        parameters = self._parameters
        if "completions" not in parameters and not _takes_any(parameters):
            raise ConfigError(
                f"{self.where} must take 'completions', as TRL's reward functions do: "
                f"def {self.name}(prompts, completions, **columns); it takes "
                f"{', '.join(parameters) or 'nothing'}"
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
        known = {"prompts", "completions", *OF_TRAINERS, *columns}
        return [name for name in self._required if name not in known]

    @property
    def of_trainers(self) -> list[str]:
        """The parameters without a default that only a trainer fills, and no evaluation."""
        return [name for name in self._required if name in OF_TRAINERS]

    @property
    def _required(self) -> list[str]:
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
            return self._values(fields, len(completions))
        except _CallError as failed:
            return self._without_failing(fields, failed)

    def _without_failing(self, fields: dict[str, Any], failed: _CallError) -> list[float | None]:
        """Return the values of samples on which it does not fail, or raise the first error."""
        count = len(fields["completions"])
        bad = self._failing_alone(fields, count, self.on_error == "stop")
        if self.on_error == "stop":
            raise self._error(fields, failed, bad) from failed.cause
        good = [place for place in range(count) if place not in bad]
        values: list[float | None] = [None] * count
        try:
            if bad and good:
                for place, value in zip(
                    good, self._values(_part(fields, good, count), len(good)), strict=True
                ):
                    values[place] = value
            elif not bad:  # it fails on all of them together, and on no single one
                bad = dict.fromkeys(range(count), failed)
        except _CallError as again:
            bad |= dict.fromkeys(good, again)
        self._warn_once(fields, bad)
        self.failures.update(each.kind for each in bad.values())
        return values

    def _failing_alone(
        self, fields: dict[str, Any], count: int, first_only: bool
    ) -> dict[int, _CallError]:
        """Find the samples on which the function fails; give up after `MAX_LATE` late samples."""
        found: dict[int, _CallError] = {}
        late: list[_CallError] = []
        for place in range(count):
            if len(late) >= MAX_LATE:
                found[place] = late[-1]
                continue
            try:
                self._values(_part(fields, [place], count), 1)
            except _CallError as failed:
                found[place] = failed
                late += [failed] if failed.kind == "timeout" else []
                if first_only:
                    break
        return found

    def _warn_once(self, fields: dict[str, Any], bad: dict[int, _CallError]) -> None:
        """Tell of the first failure; the others are counted."""
        if not self.failures:
            warnings.warn(
                f"{self._error(fields, next(iter(bad.values())), bad)}: such samples have no "
                "reward (on_error: unknown); further ones are only counted",
                stacklevel=2,
            )

    def _error(
        self, fields: dict[str, Any], failed: _CallError, bad: dict[int, _CallError]
    ) -> RunError:
        if not bad:
            count = len(fields["completions"])
            return RunError(
                f"{self.where} {failed.what}, called with {wording.count(count, 'sample')}; "
                "it does not fail on any single one of them"
            )
        place, alone = next(iter(bad.items()))
        sample, prompt = (_shown(fields[key][place]) for key in ("completions", "prompts"))
        return RunError(f"{self.where} {alone.what}, on the sample {sample} of the prompt {prompt}")

    def _values(self, fields: dict[str, Any], count: int) -> list[float | None]:
        """One number or None for each sample.

        Raises:
            _CallError: If the function does not return that in time.
        """
        logged: list[tuple[Callable[..., Any], tuple[Any, ...]]] = []
        for key in _LOGGERS:
            if log := fields.get(key):
                fields = {**fields, key: lambda *what, log=log: logged.append((log, what))}
        try:
            values = call_within(self.timeout, self._bound(fields))
        except TimeUp:
            raise _CallError("timeout", f"took longer than its {self.timeout:g} s") from None
        except (Exception, SystemExit) as error:
            kind = type(error).__name__
            raise _CallError(kind, f"raised {kind}: {error}", error) from error
        found = _numbers(values, count)
        for log, what in logged:
            log(*what)
        return found

    def _bound(self, fields: dict[str, Any]) -> Callable[[], Any]:
        """Return a call of the function with the fields that it takes."""
        parameters = self._parameters
        if not _takes_any(parameters):
            fields = {name: value for name, value in fields.items() if name in parameters}
        fields = own(fields)
        if _is_async(self.function):

            async def call() -> Any:
                return await self.function(**fields)

            return call
        return lambda: self.function(**fields)


class _CallError(Exception):
    """A call of a user's function failed.

    Attributes:
        kind: How, in a word, for counting.
        what: What it did, after the function's name.
        cause: The exception that it raised.
    """

    def __init__(self, kind: str, what: str, cause: BaseException | None = None):
        super().__init__(what)
        self.kind, self.what, self.cause = kind, what, cause


def _numbers(values: Any, count: int) -> list[float | None]:
    if not isinstance(values, Iterable) or isinstance(values, str | bytes | dict):
        raise _CallError(
            "wrong length", f"returned {_shown(values)}, not one number for each sample"
        )
    listed = list(values)
    if len(listed) != count:
        found = f"{wording.count(len(listed), 'value')} for {wording.count(count, 'sample')}"
        raise _CallError("wrong length", f"returned {found}")
    try:
        return [read_score(value) for value in listed]
    except ValueError as error:
        raise _CallError("no number", f"must return {error}") from None


def _part(fields: dict[str, Any], places: list[int], count: int) -> dict[str, Any]:
    """Return the fields of some of the samples, without anything that logs."""
    return {
        name: [value[place] for place in places]
        if isinstance(value, list | tuple) and len(value) == count
        else value
        for name, value in fields.items()
    } | {name: lambda *_: None for name in _LOGGERS if name in fields}


def _takes_any(parameters: Mapping[str, inspect.Parameter]) -> bool:
    return any(each.kind is inspect.Parameter.VAR_KEYWORD for each in parameters.values())


def _is_async(function: Callable[..., Any]) -> bool:
    call = type(function).__call__  # of an object; a function has another one
    return inspect.iscoroutinefunction(function) or inspect.iscoroutinefunction(call)


def _shown(value: Any) -> str:
    """Quote a value; leave out the middle of a long one."""
    chat = isinstance(value, list) and value and all(isinstance(one, dict) for one in value)
    text = repr(plain_text(value) if chat else value)
    return text if len(text) <= SHOWN else f"{text[: SHOWN // 2]} … {text[-SHOWN // 2 :]}"
