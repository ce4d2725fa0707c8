"""Judges by name: a text such as "oracle:quadratic", or a mapping as a YAML file holds it."""

from __future__ import annotations

import inspect
from collections.abc import Callable, Mapping
from typing import Any

from setrl.judges import embedding, exact, lm, oracle, pairwise
from setrl.judges.base import Judge
from setrl.judges.ensemble import EnsembleJudge
from setrl.judges.noisy import NoisyJudge
from setrl.judges.settings import build
from setrl.judges.systematic import MergedJudge, SplitJudge
from setrl.names import look_up

Config = str | Mapping[str, Any]

by_name: dict[str, Callable[..., Judge]] = {
    "exact": exact.of_key,
    "oracle": oracle.of_domain,
    "embedding": embedding.of_encoder,
    "cross_encoder": pairwise.of_cross_encoder,
    "pairwise": pairwise.of_judge,
    "lm": lm.from_settings,
    "noisy": NoisyJudge,
    "ensemble": EnsembleJudge,
    "merged": MergedJudge,
    "split": SplitJudge,
}
"""Name → what makes the judge from its settings. The settings `of` and `judges` are judges."""


def from_config(config: Config) -> Judge:
    """The judge that a config names; its other keys are the judge's settings.

    A text is the name, or the name and its first setting: "embedding:model".

    >>> from_config("oracle:quadratic").name
    'oracle:quadratic'
    >>> from_config({"judge": "noisy", "of": "exact", "flips": 0.2}).name
    'exact with 20% flips'

    Raises:
        ValueError: Naming the unknown judge or setting, the near miss, and all that are known.
    """
    settings = dict(spelled_out(config) if isinstance(config, str) else config)
    if "judge" not in settings:
        raise ValueError(f"a judge's config needs the key 'judge', got {settings!r}")
    name = settings.pop("judge")
    make = look_up("judge", name, by_name)
    if "of" in settings:
        settings["of"] = from_config(settings["of"])
    if "judges" in settings:
        settings["judges"] = tuple(map(from_config, settings["judges"]))
    return build(f"judge {name}", make, settings)


def spelled_out(text: str) -> dict[str, Any]:
    """A text such as "exact" or "oracle:quadratic" as a mapping: the name, and its first setting.

    Raises:
        ValueError: If the judge is not known, or its first setting must be a number and is none.
    """
    name, colon, first = text.partition(":")
    settings = inspect.signature(look_up("judge", name, by_name), eval_str=True).parameters
    if not colon:
        return {"judge": name}
    setting = next(iter(settings.values()))
    return {"judge": name, setting.name: _as_number(first, setting, text)}


def _as_number(first: str, setting: inspect.Parameter, text: str) -> str | int | float:
    """A first setting as the number that the judge declares; other settings stay text."""
    if setting.annotation not in (int, float):
        return first
    try:
        number: int | float = setting.annotation(first)
        return number
    except ValueError:
        wanted = "a whole number" if setting.annotation is int else "a number"
        raise ValueError(f"{setting.name} must be {wanted}, got {first!r} in {text!r}") from None


def reseeded(config: Mapping[str, Any], by: int) -> dict[str, Any]:
    """The same settings with other seeds for language models, which then see other orders."""
    settings = dict(config)
    if settings.get("judge") == "lm":
        settings["seed"] = settings.get("seed", 0) + by
    if isinstance(settings.get("of"), Mapping):
        settings["of"] = reseeded(settings["of"], by)
    if "judges" in settings:
        settings["judges"] = [
            judge if isinstance(judge, str) else reseeded(judge, by) for judge in settings["judges"]
        ]
    return settings
