"""Methods and objectives of configs: names and mappings → values.

A method is {method: name, …its options}; a sum of methods {method: sum, of: [{method: name,
weight: number, …}, …]}; both take {gate: true}; an objective is its name, or {objective: name, …its
options}. Both names may be `module:name`: a value or a function of the user. A schedule,
{schedule: linear, first: 8, last: 2}, can stand for any number.
"""

from __future__ import annotations

import inspect
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from numbers import Real
from typing import Any

from setrl.core import methods, objectives, schedules
from setrl.core.adjusting import Gate
from setrl.core.method import AnyMethod, Method, MethodSum
from setrl.core.objectives import Objective
from setrl.core.objectives.base import Sum
from setrl.samples.columns import FIELDS
from setrl.support import names
from setrl.support.files.loading import is_reference, load

OBJECTIVES = ("objective", "diversity", "left", "right")  # options that are objectives
FOLDER = "folder"  # where the module of a reference is looked up first
IN_A_FILE = (
    "a config cannot hold the function of {name}: write objective: module:name, the function or "
    "the objective in a file next to the config"
)
OTHERWISE = {
    "from_function": IN_A_FILE,
    "from_counts": IN_A_FILE,
    "over_sizes": "{name} is written set_size: {{1: 0.5, 8: 0.5}} in a config",
}


def from_config(
    config: Mapping[str, Any], progress: float = 0.0, also: Sequence[str] = ()
) -> AnyMethod:
    """Return the method of a config such as {"method": "poly_epo", "set_size": 4}.

    Args:
        config: A method or a sum of methods, objectives by name, and schedules instead of numbers.
        progress: The share of the steps that is done, for schedules.
        also: Further keys that may stand there, for errors.

    Raises:
        ValueError: Naming the unknown method or option, the near miss, and all that are known; or
            the option that is missing.
    """
    return _make_method(schedules.at(with_schedules(config), progress), also)


def defaults_of(name: Any) -> dict[str, Any]:
    """Return the arguments of a method that a config need not give, as far as a file can hold them.

    >>> defaults_of("maxpo")["set_size"]
    4
    """
    make = methods.by_name.get(name) if isinstance(name, str) else None
    parameters = {} if make is None else inspect.signature(make).parameters
    defaults = {key: parameter.default for key, parameter in parameters.items()}
    return {key: value for key, value in defaults.items() if isinstance(value, str | int | float)}


def with_schedules(config: Any) -> Any:
    """Return a config with schedules as values: {schedule: linear, …} becomes `Linear`.

    Raises:
        ValueError: Naming what is wrong with a schedule.
    """
    if isinstance(config, Mapping):
        if "schedule" in config:
            options = {key: value for key, value in config.items() if key != "schedule"}
            make = names.look_up("schedule", config["schedule"], schedules.by_name)
            return names.call(f"schedule {config['schedule']}", make, options)
        return {key: with_schedules(value) for key, value in config.items()}
    return [with_schedules(item) for item in config] if isinstance(config, list | tuple) else config


def with_folder(config: Any, folder: str) -> Any:
    """Return a config whose references to modules say in which folder they are looked up."""
    if isinstance(config, list):
        return [with_folder({"objective": o} if is_reference(o) else o, folder) for o in config]
    if not isinstance(config, Mapping):
        return config
    main_key = "method" if "method" in config else "objective"  # names what the mapping is
    options = {}
    for key, value in config.items():
        is_objective = key in OBJECTIVES and key != main_key and is_reference(value)
        options[key] = with_folder({"objective": value} if is_objective else value, folder)
    return {FOLDER: folder, **options} if is_reference(config.get(main_key)) else options


def objective_of(config: str | Mapping[str, Any], kind: str = "objective") -> Objective:
    """Return the objective of a name, or of a mapping with the key `objective`.

    >>> objective_of("majority")
    majority(ties='uniform')
    >>> objective_of({"objective": "product", "left": "mean", "right": "distinct_share"})
    mean(of='rewards') * distinct_share()

    Raises:
        ValueError: Naming what is unknown, and the near miss.
    """
    options: dict[str, Any] = {"objective": config} if isinstance(config, str) else dict(config)
    if "objective" not in options:
        raise ValueError(f"an objective's config needs the key 'objective', got {options!r}")
    name = options.pop("objective")
    if is_reference(name):
        return _load_user_objective(name, options)
    make = names.look_up(kind, name, {**objectives.by_name, "sum": _sum_objectives})
    if name in OTHERWISE:
        raise ValueError(OTHERWISE[name].format(name=name))
    return names.call(f"objective {name}", make, _make_objectives(options))


def _make_method(config: Mapping[str, Any], also: Sequence[str] = ()) -> AnyMethod:
    options = dict(config)
    if "method" not in options:
        raise ValueError(f"a method's config needs the key 'method', got {options!r}")
    name, gate = options.pop("method"), options.pop("gate", False)
    options = _make_objectives(options)
    if is_reference(name):
        requirement = (
            "a method, or a function that returns one, such as setrl.methods.set_rl(objective, "
            "set_size=4)"
        )
        return _add_gate(_load_user_value(name, options, AnyMethod, requirement), gate)
    makers: dict[str, Callable[..., AnyMethod]] = {**methods.by_name, "sum": _sum_methods}
    make = names.look_up("method", name, makers)
    return _add_gate(names.call(name, make, options, also=("gate", *also)), gate)


def _make_objectives(options: Mapping[str, Any]) -> dict[str, Any]:
    return {
        key: objective_of(value, key)
        if key in OBJECTIVES and isinstance(value, str | Mapping)
        else value
        for key, value in options.items()
    }


def _load_user_value(reference: str, options: dict[str, Any], kind: Any, requirement: str) -> Any:
    """Return the value that a module of the user defines, or that its function returns."""
    value = load(reference, options.pop(FOLDER, ".")).value
    if isinstance(value, kind) and options:
        raise ValueError(f"{reference} is a value already: it takes no {min(options)!r}")
    is_maker = callable(value) and not isinstance(value, kind | Objective)
    result = names.call(reference, value, options) if is_maker else value
    if not isinstance(result, kind):
        raise ValueError(f"{reference} must be {requirement}; got {result!r:.80}")
    return result


def _load_user_objective(reference: str, options: dict[str, Any]) -> Objective:
    """Return the objective that a module of the user defines, as a value or a function.

    A function whose parameters are fields, such as `rewards, strategies`, scores sets itself;
    another function returns an objective.
    """
    value = load(reference, options.get(FOLDER, ".")).value
    if callable(value) and not isinstance(value, Objective) and set(options) <= {FOLDER}:
        reads = set(inspect.signature(value).parameters)
        if reads and reads <= set(FIELDS):
            return objectives.from_function(value)
    requirement = (
        "an objective, a function that returns one, or a function of the fields of a set "
        f"({', '.join(FIELDS)})"
    )
    objective: Objective = _load_user_value(reference, options, Objective, requirement)
    return objective


def _add_gate(method: AnyMethod, gate: Any) -> AnyMethod:
    """Return the method, with the credit of wrong samples cut to at most 0 if `gate` is true."""
    if not isinstance(gate, bool):
        raise ValueError(f"gate must be true or false, got {gate!r}")
    if not gate:
        return method
    if not isinstance(method, Method | MethodSum):
        raise ValueError(f"{method.name} takes no gate")
    if method.adjustment is not None:
        raise ValueError(f"{method.name} changes its advantages already: it takes no gate")
    return replace(method, adjustment=Gate())


def _sum_methods(of: Any = None) -> MethodSum:
    if not isinstance(of, list) or not all(isinstance(part, Mapping) for part in of):
        raise ValueError(
            "a sum of methods needs of: [{method: grpo, weight: 0.5}, …], a list of methods, got "
            f"{of!r}"
        )
    parts = [_split_weight(part) for part in of]
    return MethodSum(
        tuple(_make_method(keys) for keys, _ in parts), tuple(weight for _, weight in parts)
    )


def _sum_objectives(of: Any = None) -> Objective:
    if not isinstance(of, list) or not of:
        raise ValueError(
            "a sum of objectives needs of: [{objective: max, weight: 0.5}, …], a list, got "
            f"{of!r}"
        )
    parts = [(part, 1.0) if isinstance(part, str) else _split_weight(part) for part in of]
    terms = tuple(objective_of(keys) for keys, _ in parts)
    return Sum(terms, tuple(weight for _, weight in parts))


def _split_weight(part: Mapping[str, Any]) -> tuple[dict[str, Any], float]:
    """Return a part of a sum without its weight, and the weight."""
    weight = part.get("weight", 1.0)
    if isinstance(weight, bool) or not isinstance(weight, Real):
        raise ValueError(f"the weight of a part of a sum must be a number, got {weight!r}")
    return {key: value for key, value in part.items() if key != "weight"}, float(weight)
