"""Configs of methods and objectives: mappings and names → values.

A method is {method: name, …its arguments}; a sum of methods {method: sum, of: [{method: name,
weight: number, …}, …]}; both take {gate: true}; an objective is its name, or {objective: name, …its
arguments}. A schedule, {schedule: linear, first: 8, last: 2}, can stand for any number.
"""

from __future__ import annotations

import inspect
from collections.abc import Callable, Mapping
from dataclasses import replace
from numbers import Real
from typing import Any

from setrl import names
from setrl.core import objectives, schedules
from setrl.core.adjusting import Gate
from setrl.core.method import AnyMethod, Method, Sum
from setrl.core.objectives import Objective
from setrl.core.objectives.base import Sum as ObjectiveSum

SUM = "sum"
OBJECTIVES = ("objective", "diversity", "left", "right")  # arguments that are objectives
OF_FUNCTIONS = {"from_function", "from_counts"}

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
    if not isinstance(name, str) or name not in objectives.by_name:
        names.look_up(kind, name, dict.fromkeys((*objectives.by_name, SUM)))
    if name in OF_FUNCTIONS:
        raise ValueError(f"a config cannot hold the function of {name}: make the method in Python")
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
