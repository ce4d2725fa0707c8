"""Where the fields come from that an arm's method reads besides rewards and strategies."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

from setrl.samples.columns import FURTHER
from setrl.support import names
from setrl.support.errors import ConfigError
from setrl.support.files.loading import check_reference, load_function
from setrl.support.files.strict_yaml import KeyedError
from setrl.tasks import Task
from setrl.train.gathering.functions import Source
from setrl.train.scoring.batch import PAIRS
from setrl.train.scoring.ngrams import NgramDistance

if TYPE_CHECKING:
    from setrl.train.trl.policy import MeanLogprob

ANSWERS, FINAL_ANSWER = "answers", "final_answer"
PROXY, MEAN_LOGPROB = "proxy", "mean_logprob"
NGRAMS = "ngrams"
BY_NAME = {ANSWERS: FINAL_ANSWER, PROXY: MEAN_LOGPROB, PAIRS: NGRAMS}
FORMS = "{function: module:name} or {column: name}"


def with_folder(specs: Any, path: Path) -> Any:
    """Return the fields of a config's file with the folder in which their functions are."""
    if not isinstance(specs, Mapping):
        return specs
    folder = str(Path(path).resolve().parent)
    return {
        name: {"folder": folder, **spec}
        if isinstance(spec, Mapping) and "function" in spec
        else spec
        for name, spec in specs.items()
    }


def check(specs: Mapping[str, Any]) -> None:
    """Refuse a field that there is not, and a source of another form; this runs no code.

    Raises:
        KeyedError: Naming the field.
    """
    for name, spec in specs.items():
        key = f"fields.{name}"
        try:
            if name == "strategies":
                raise ValueError("strategies come from a judge, or from the task: remove them here")
            names.look_up("field", name, dict.fromkeys(FURTHER))
            _check_form_of_source(name, spec)
        except ValueError as error:
            raise KeyedError(f"fields: {error}", key) from error


def _check_form_of_source(name: str, spec: Any) -> None:
    if name in BY_NAME and spec == BY_NAME[name]:
        return
    keys = set(spec) - {"folder"} if isinstance(spec, Mapping) else set()
    if keys == {"function"}:
        check_reference(spec["function"])
        return
    if keys == {"column"} and isinstance(spec["column"], str) and name != PAIRS:
        return
    forms = FORMS if name != PAIRS else "{function: module:name}"
    also = f"{BY_NAME[name]}, " if name in BY_NAME else ""
    source = {k: v for k, v in spec.items() if k != "folder"} if isinstance(spec, Mapping) else spec
    raise ValueError(f"{name} must be {also}{forms}, got {source!r}")


def fields_with_source(specs: Mapping[str, Any], task: Task) -> set[str]:
    """Return the fields that have a source: the keys of the config, and answers of a task."""
    return {*specs, *([ANSWERS] if task.answers is not None else [])}


def sources(specs: Mapping[str, Any], reads: Sequence[str], task: Task) -> dict[str, Any]:
    """Return the source of each field that a method reads; this runs the code of their modules.

    Without a source in the config, answers come from the task, and families from the judge.

    Raises:
        ConfigError: If a function cannot be loaded, or the task reads no answers.
    """
    all_specs = {ANSWERS: FINAL_ANSWER, **specs}
    return {
        name: _make_source(all_specs[name], task)
        for name in FURTHER
        if name in reads and name in all_specs
    }


def _make_source(spec: Any, task: Task) -> Source | MeanLogprob:
    if spec == FINAL_ANSWER:
        if task.answers is None:
            raise ConfigError(f"fields: {task.name} reads no answers: give answers {FORMS}")
        return task.answers
    if spec == MEAN_LOGPROB:
        from setrl.train.trl.policy import MeanLogprob  # here: configs must not wait for PyTorch

        return MeanLogprob()
    if spec == NGRAMS:
        return NgramDistance()
    if "column" in spec:
        column: str = spec["column"]
        return column
    return load_function(spec["function"], spec.get("folder", ".")).value
