"""Judges by name: a string such as "oracle:quadratic", or a mapping as a YAML file holds it."""

from __future__ import annotations

import inspect
from collections.abc import Callable, Mapping
from difflib import get_close_matches
from importlib import import_module
from typing import Any

from setrl.judges import embedding, exact, lm, pairwise
from setrl.judges.base import Judge
from setrl.judges.oracle import OracleJudge
from setrl.support import names
from setrl.support.files.loading import load_function

Config = str | Mapping[str, Any]


def of_domain(domain: str, options: Mapping[str, Any] | None = None) -> OracleJudge:
    """Read the strategies as a domain does."""
    domains = import_module("setrl.tasks.domains")  # a later stage, only when it is asked for
    return OracleJudge(domains.by_name(domain, **(options or {})))


by_name: dict[str, Callable[..., Judge]] = {
    "exact": exact.of_key,
    "oracle": of_domain,
    "embedding": embedding.of_encoder,
    "pairwise": pairwise.of_judge,
    "lm": lm.from_settings,
}
"""Name → what makes the judge from its settings. The setting `of` is a judge."""


def from_config(config: Config) -> Judge:
    """Return the judge that a config names; its other keys are the judge's settings.

    A string is the name, or the name and its first setting: "oracle:quadratic". Any other
    "module:name" is a function or a class of yours that makes a judge from the settings; its module
    is in the current folder, or installed.

    >>> from_config("oracle:quadratic").name
    'oracle:quadratic'
    >>> from_config({"judge": "pairwise", "of": "oracle:quadratic"}).name
    'pairwise:[by:[oracle:quadratic]]'

    Raises:
        ValueError: Naming the unknown judge or setting, the near miss, and all that are known.
    """
    settings = dict(spelled_out(config) if isinstance(config, str) else config)
    if "judge" not in settings:
        has = ", ".join(map(str, settings)) or "nothing"  # names: values may be secret
        raise ValueError(f"a judge's config needs the key 'judge'; it has {has}")
    name = settings.pop("judge")
    make = _find_maker(name)
    if "of" in settings:
        settings["of"] = from_config(settings["of"])
    judge = names.call(f"judge {name}", make, settings)
    if not isinstance(judge, Judge):
        raise ValueError(f"{name} must return a judge, with name, judge and close, got {judge!r}")
    return judge


def _find_maker(name: Any) -> Callable[..., Judge]:
    """Return what makes the judge of a name, or of a reference such as "my_judges:Mine"."""
    if isinstance(name, str) and _is_reference(name):
        return load_function(name, ".").value
    return names.look_up("judge", name, by_name)


def _is_reference(text: str) -> bool:
    """Return whether a string is "module:name", and not a known judge with its first setting."""
    before, colon, _ = text.partition(":")
    return bool(colon) and not get_close_matches(before, by_name, n=1)


def spelled_out(text: str) -> dict[str, Any]:
    """Return a string such as "exact" or "oracle:quadratic" as a mapping: name and first setting.

    Raises:
        ValueError: If the judge is not known.
    """
    if _is_reference(text):
        return {"judge": text}
    name, colon, first = text.partition(":")
    settings = inspect.signature(_find_maker(name)).parameters
    if not colon:
        return {"judge": name}
    return {"judge": name, next(iter(settings)): first}


def reseeded(config: Mapping[str, Any], by: int) -> dict[str, Any]:
    """Return the same settings with other seeds for language models, which see other orders."""
    settings = dict(config)
    if settings.get("judge") == "lm":
        settings["seed"] = settings.get("seed", 0) + by
    if isinstance(settings.get("of"), Mapping):
        settings["of"] = reseeded(settings["of"], by)
    return settings
