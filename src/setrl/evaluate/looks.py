"""How arms and metrics over steps look and are called: one registry for figures, reports and pages.

Hues are Okabe and Ito's, which stay distinct for colour-blind readers. Each arm of a page also has
a line and a marker that no other arm has together, so that it is known in greyscale, too.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from importlib.resources import files
from itertools import product
from typing import Any

from setrl.core import methods
from setrl.logs.run import BASE

OVER_STEPS = {
    "reward/pass@1": ("pass@1 in training", True),
    "strategies/per_prompt": ("strategies per prompt", False),
    "strategies/correct_per_prompt": ("correct strategies per prompt", False),
    "strategies/top_share": ("share of the commonest strategy", True),
    "advantage/correct_negative": ("correct samples with advantage < 0", True),
    "advantage/wrong_positive": ("wrong samples with advantage > 0", True),
    "advantage/dead_groups": ("dead groups", True),
    "policy/entropy": ("entropy of the policy", False),
}
"""Metric of language models → its name, and whether it is a share."""
EXPLORED_OVER_STEPS = {
    "reward/mean": "mean reward in training",
    "strategies/degenerate": "share of no strategy",
    "policy/kl": "divergence from the reference (KL)",
    "length/mean": "mean length, tokens",
    "time/step": "seconds of a step",
}
"""Metric of language models that only the run explorer draws → its name."""
CONTROL_OVER_STEPS = {
    "rollout/ep_rew_mean": "mean return of recent episodes",
    "rollout/ep_len_mean": "mean length of recent episodes",
    "vines/distinct": "different ways among the vines of a state",
    "vines/score": "mean score of the vines",
    "train/entropy_loss": "entropy of the policy, with a minus sign",
}
"""Metric of control runs → its name."""
Style = tuple[str, str, str]  # names of a hue, a dash and a symbol

REGISTRY: dict[str, Any] = json.loads(
    files("setrl.evaluate").joinpath("looks.json").read_text("utf-8")
)
HUES: Mapping[str, str] = REGISTRY["hues"]
KINDS: Mapping[str, Style] = {kind: tuple(style) for kind, style in REGISTRY["kinds"].items()}
SPARE: Sequence[str] = REGISTRY["spare"]
DASHED = 2  # pixels of a line on a page

NUMBER = re.compile(r"\d+(\.\d+)?(e-?\d+)?")


@dataclass(frozen=True)
class Look:
    """How one arm is drawn in every figure and page.

    Attributes:
        label: What people call it.
        hue: Its colour.
        dash: The name of its line in the registry.
        symbol: The name of its marker in the registry, and in Observable Plot; "" has none.
    """

    label: str
    hue: str
    dash: str
    symbol: str

    @property
    def line(self) -> str | tuple[int, tuple[float, ...]]:
        """The line, as matplotlib names it."""
        parts = REGISTRY["dashes"][self.dash]
        return (0, tuple(parts)) if parts else "-"

    @property
    def marker(self) -> str:
        """The marker, as matplotlib names it."""
        return str(REGISTRY["symbols"].get(self.symbol, ""))

    def on_page(self) -> dict[str, str]:
        """Return it in the words of SVG and Observable Plot."""
        dash = " ".join(f"{DASHED * part:g}" for part in REGISTRY["dashes"][self.dash])
        return {"label": self.label, "hue": self.hue, "dash": dash, "symbol": self.symbol}


def sweep(arm: str) -> str:
    """Return the sweep of an arm: the name of the arm with every number replaced.

    >>> sweep("ppo_ent_0.65"), sweep("poly_n8_k4"), sweep("reinforce")
    ('ppo_ent_#', 'poly_n#_k#', 'reinforce')
    """
    return NUMBER.sub("#", arm)


def label(arm: str) -> str:
    """Return the name of an arm for people.

    >>> label("poly_epo"), label("grpo_kl_0.01"), label("mine_2")
    ('Poly-EPO', 'GRPO kl 0.01', 'mine 2')
    """
    method = _longest_prefix(arm, methods.labels)
    return methods.labels.get(method, method) + arm[len(method) :].replace("_", " ")


def looks(arms: Sequence[str]) -> dict[str, Look]:
    """Choose the look of each arm; no two of them have the same line and marker.

    A method looks the same in every page. Arms whose names begin with the name of a method share
    its hue. Beyond 60 arms, lines and markers are used again.
    """
    styles_by_kind = _known_styles()
    styles = {arm: styles_by_kind[arm] for arm in arms if arm in {*methods.by_name, BASE}}
    kinds = {arm: _longest_prefix(arm, styles_by_kind) for arm in arms}
    reserved = {styles_by_kind[kind][0] for kind in kinds.values() if kind}
    for arm in arms:
        if arm in styles:
            continue
        taken = list(styles.values())
        kind_style = styles_by_kind.get(kinds[arm])
        if kind_style is not None and not any(
            _has_same_line_and_marker(kind_style, other) for other in taken
        ):
            styles[arm] = kind_style
        else:
            hue = kind_style[0] if kind_style else _unused_hue(taken, reserved)
            styles[arm] = _unused_style(hue, taken)
    return {arm: Look(label(arm), HUES[styles[arm][0]], *styles[arm][1:]) for arm in arms}


@cache
def _known_styles() -> dict[str, Style]:
    """Return the styles of the kinds of arms, which are the same in all figures."""
    styles = dict(KINDS)
    others = (name for name in methods.by_name if name not in KINDS)
    for place, name in enumerate(others):
        styles[name] = _unused_style(SPARE[place % len(SPARE)], styles.values())
    return styles


def _has_same_line_and_marker(first: Style, second: Style) -> bool:
    return first[1:] == second[1:]


def _unused_hue(taken: Sequence[Style], reserved: set[str]) -> str:
    """Return a hue that no arm has, while there is one; then the hue that fewest arms have."""
    uses = [hue for hue, _, _ in taken]
    return min(SPARE, key=lambda hue: (uses.count(hue) + (hue in reserved), SPARE.index(hue)))


def _unused_style(hue: str, taken: Iterable[Style]) -> Style:
    """Return the first style of a hue that differs most from the styles that are taken.

    The pair of line and marker comes first, because it tells arms apart in greyscale; then the pair
    of hue and line, which curves without markers have; then the line, and then the marker.
    """
    taken = list(taken)
    pairs = {(dash, symbol) for _, dash, symbol in taken}
    lines = {(taken_hue, dash) for taken_hue, dash, _ in taken}
    dashes, markers = ([style[part] for style in taken] for part in (1, 2))

    def repeats(style: Style) -> tuple[bool, bool, int, int]:
        _, dash, symbol = style
        used = dashes.count(dash), markers.count(symbol)
        return (dash, symbol) in pairs, (hue, dash) in lines, *used

    styles = ((hue, *rest) for rest in product(REGISTRY["dashes"], REGISTRY["symbols"]))
    return min(styles, key=repeats)


def _longest_prefix(arm: str, names: Mapping[str, object]) -> str:
    """Return the longest known name at the beginning of an arm's name, or ""."""
    prefixes = (name for name in names if f"{arm}_".startswith((f"{name}_", f"{name},")))
    return max(prefixes, key=len, default="")
