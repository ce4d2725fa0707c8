"""The words of an audit: the templates of `sentences.json`, filled."""

from __future__ import annotations

import json
import re
from collections.abc import Mapping
from importlib.resources import files
from typing import Any

import numpy as np

from setrl.theory.tabular import ActionTable

TEXTS: Mapping[str, Any] = json.loads(
    files("setrl.theory.audit").joinpath("sentences.json").read_text("utf-8")
)


def filled(template: str, parts: Mapping[str, Any]) -> str:
    """Return a template with its parts.

    >>> filled("sum to {sum}, not to {wanted number}", {"sum": 1, "wanted number": 0})
    'sum to 1, not to 0'
    """
    return re.sub(r"\{([^}]+)\}", lambda match: str(parts[match[1]]), template)


def words(key: str, **parts: Any) -> str:
    """Return a part of a sentence.

    >>> words("kind of reward", reward=1)
    'reward 1'
    """
    return filled(TEXTS["words"][key], parts)


def kind(table: ActionTable, action: int) -> str:
    """Return what a kind of sample is called: its reward, and its label if there are labels."""
    reward = f"{np.asarray(table.rewards)[action]:g}"
    if table.strategies is None:
        return words("kind of reward", reward=reward)
    return words("kind", reward=reward, label=np.asarray(table.strategies)[action])


def spoken(facts: Mapping[str, str]) -> list[str]:
    """Return the sentences whose conditions hold, warnings first.

    A condition is the name of a fact that is there, or, behind a !, of one that is not.

    A sentence that begins with a space or a sign continues the one before it.

    >>> spoken({"sizes": "3 it is ∇pass@1"})
    ['In groups of 3 it is ∇pass@1.']
    """
    lines: list[str] = []
    for needs, template in TEXTS["sentences"]:
        if all(
            bool(facts.get(need.lstrip("!"))) != need.startswith("!") for need in needs.split(", ")
        ):
            text = filled(template, facts)
            if text[0] in " ;.":
                lines[-1] += text
            else:
                lines.append(text)
    return sorted(lines, key=lambda line: not line.startswith("Warning"))
