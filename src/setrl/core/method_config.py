"""Configs of methods and objectives: mappings and names → values.

A method is {method: name, …its arguments}; a sum of methods {method: sum, of: [{method: name,
weight: number, …}, …]}; both take {gate: true}; an objective is its name, or {objective: name, …its
arguments}. Both names may be `module:name`: a value or a function of the user. A schedule,
{schedule: linear, first: 8, last: 2}, can stand for any number.
"""

from __future__ import annotations

import inspect
from collections.abc import Callable, Mapping
from dataclasses import replace
from numbers import Real
from typing import Any

from setrl.core import objectives, schedules
from setrl.core.adjusting import Gate
from setrl.core.method import AnyMethod, Method, Sum
from setrl.core.objectives import Objective
from setrl.core.objectives.base import Sum as ObjectiveSum
from setrl.support import names
from setrl.support.files.loading import is_reference, load

SUM = "sum"
OBJECTIVES = ("objective", "diversity", "left", "right")  # arguments that are objectives
FOLDER = "folder"  # where the module of a reference is looked up first
FIELDS = ("rewards", "correct", "clusters", "answers", "proxy", "pairs", "families", "second")
OF_FUNCTIONS = {"from_function", "from_counts"}

# Method → the defaults of earlier versions, and the defaults now.
CHANGED = {"concave_counts": ({"alpha": 0.25}, {"alpha": 0.0})}

Makers = Mapping[str, Callable[..., AnyMethod]]


def method_of(config: Mapping[str, Any], makers: Makers, progress: float = 0.0) -> AnyMethod:
    """Return the method of a config, at a share of the steps where it has schedules."""
    return _method(schedules.at(schedules.read(config), progress), makers)


def _method(config: Mapping[str, Any], makers: Makers) -> AnyMethod:
    if "method" not in config:
        raise ValueError(f"a method's config needs the key 'method', got {dict(config)!r}")
    name = config["method"]
    if name == SUM:
        return _sum(config, makers)
    arguments = {key: value for key, value in config.items() if key not in ("method", "gate")}
    if is_reference(name):
        return _gated(_own_method(name, arguments), config.get("gate", False))
    if not isinstance(name, str) or name not in makers:
        names.look_up("method", name, dict.fromkeys((*makers, SUM)))
    make = makers[name]
    parameters = inspect.signature(make).parameters
    for key, value in arguments.items():
        names.look_up(f"argument of {name}", key, {**parameters, "gate": None})
        if key in OBJECTIVES and isinstance(value, str | Mapping):
            arguments[key] = objective_of(value, key)
    for key, parameter in parameters.items():
        if parameter.default is parameter.empty and key not in arguments:
            raise ValueError(f"{name} needs the argument {key!r}")
    return _gated(make(**arguments), config.get("gate", False))


def _own_method(reference: str, arguments: dict[str, Any]) -> AnyMethod:
    """Return the method that a module of the user defines, or that its function returns."""
    value = load(reference, arguments.pop(FOLDER, ".")).value
    for key in arguments.keys() & set(OBJECTIVES):
        if isinstance(arguments[key], str | Mapping):
            arguments[key] = objective_of(arguments[key], key)
    made = value if isinstance(value, AnyMethod) else _called(value, reference, arguments)
    if not isinstance(made, AnyMethod):
        raise ValueError(
            f"{reference} must be a method, or a function that returns one, such as "
            f"setrl.methods.set_rl(objective, set_size=4); got {made!r:.80}"
        )
    if made is value and arguments:
        raise ValueError(f"{reference} is a method already: it takes no {min(arguments)!r}")
    return made


def _called(value: Any, reference: str, options: Mapping[str, Any]) -> Any:
    """Call a function of the user with the options of a config."""
    if isinstance(value, Objective) or not callable(value):
        return value
    try:
        inspect.signature(value).bind(**options)
    except TypeError as error:
        raise ValueError(f"{reference}: {error}") from error
    return value(**options)


def _own_objective(reference: str, options: dict[str, Any]) -> Objective:
    """Return the objective that a module of the user defines, as a value or a function.

    A function whose parameters are fields, such as `rewards, clusters`, scores sets itself; another
    function returns an objective.
    """
    value = load(reference, options.pop(FOLDER, ".")).value
    if isinstance(value, Objective):
        if options:
            raise ValueError(f"{reference} is an objective already: it takes no {min(options)!r}")
        return value
    reads = tuple(inspect.signature(value).parameters) if callable(value) else ()
    if reads and set(reads) <= set(FIELDS) and not options:
        return objectives.from_function(value)
    made = _called(value, reference, options)
    if not isinstance(made, Objective):
        raise ValueError(
            f"{reference} must be an objective, a function that returns one, or a function of the "
            f"fields of a set ({', '.join(FIELDS)}), got {made!r:.80}"
        )
    return made


def with_defaults(config: Any, is_older: bool) -> Any:
    """Return a config of methods with the defaults that have changed written out.

    >>> with_defaults({"method": "concave_counts"}, is_older=True)
    {'method': 'concave_counts', 'alpha': 0.25}

    Args:
        config: A method, or a list or mapping that holds methods.
        is_older: Whether it was written before they changed.
    """
    if isinstance(config, list):
        return [with_defaults(one, is_older) for one in config]
    if not isinstance(config, Mapping):
        return config
    found = {key: with_defaults(value, is_older) for key, value in config.items()}
    name = config.get("method")
    before, now = CHANGED.get(name, ({}, {})) if isinstance(name, str) else ({}, {})
    return found | {key: value for key, value in (before if is_older else now).items()
                    if key not in found}  # fmt: skip


def located(config: Any, folder: str) -> Any:
    """Return a config whose references to modules say in which folder they are looked up."""
    if isinstance(config, list):
        return [located({"objective": o} if is_reference(o) else o, folder) for o in config]
    if not isinstance(config, Mapping):
        return config
    own = "method" if "method" in config else "objective"  # names what the mapping is
    found = {}
    for key, value in config.items():
        is_objective = key in OBJECTIVES and key != own and is_reference(value)
        found[key] = located({"objective": value} if is_objective else value, folder)
    return {FOLDER: folder, **found} if is_reference(config.get(own)) else found


def _gated(method: AnyMethod, gate: Any) -> AnyMethod:
    """Return the method, with the credit of wrong samples cut to at most 0 if `gate` is true."""
    if not isinstance(gate, bool):
        raise ValueError(f"gate must be true or false, got {gate!r}")
    if not gate:
        return method
    if not isinstance(method, Method | Sum):
        raise ValueError(f"{method.name} takes no gate")
    if method.adjustment is not None:
        raise ValueError(f"{method.name} changes its advantages already: it takes no gate")
    return replace(method, adjustment=Gate())


def _sum(config: Mapping[str, Any], makers: Makers) -> AnyMethod:
    for key in config:
        names.look_up("argument of sum", key, dict.fromkeys(("method", "of", "gate")))
    parts = config.get("of")
    if not isinstance(parts, list) or not all(isinstance(part, Mapping) for part in parts):
        raise ValueError(
            "a sum of methods needs of: [{method: grpo, weight: 0.5}, …], a list of methods, got "
            f"{parts!r}"
        )
    weights = [_weight(part) for part in parts]
    without = [{key: value for key, value in p.items() if key != "weight"} for p in parts]
    total = Sum(tuple(_method(part, makers) for part in without), tuple(weights))
    return _gated(total, config.get("gate", False))


def _weight(part: Mapping[str, Any]) -> float:
    weight = part.get("weight", 1.0)
    if isinstance(weight, bool) or not isinstance(weight, Real):
        raise ValueError(f"the weight of a part of a sum must be a number, got {weight!r}")
    return float(weight)


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
    if name == SUM:
        return _objective_sum(options)
    if is_reference(name):
        return _own_objective(name, options)
    if not isinstance(name, str) or name not in objectives.by_name:
        names.look_up(kind, name, dict.fromkeys((*objectives.by_name, SUM)))
    if name in OF_FUNCTIONS:
        raise ValueError(
            f"a config cannot hold the function of {name}: write objective: module:name, the "
            "function or the objective in a file next to the config"
        )
    if name == "over_sizes":
        raise ValueError("over_sizes is written set_size: {1: 0.5, 8: 0.5} in a config")
    for key, value in options.items():
        if key in OBJECTIVES and isinstance(value, str | Mapping):
            options[key] = objective_of(value)
    return names.make("objective", {**options, "name": name}, objectives.by_name)


def _objective_sum(options: Mapping[str, Any]) -> Objective:
    parts = options.get("of")
    if set(options) != {"of"} or not isinstance(parts, list) or not parts:
        raise ValueError(
            "a sum of objectives needs of: [{objective: max, weight: 0.5}, …], a list, got "
            f"{dict(options)!r}"
        )
    terms, weights = [], []
    for part in parts:
        rest = part if isinstance(part, str) else {k: v for k, v in part.items() if k != "weight"}
        terms.append(objective_of(rest))
        weights.append(1.0 if isinstance(part, str) else _weight(part))
    return ObjectiveSum(tuple(terms), tuple(weights))
