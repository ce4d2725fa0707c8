"""How arms and strategies look: one name, one hue and one line style each, in every figure.

Hues are Okabe and Ito's, which stay apart under colour-blindness; the line style or marker says
the same a second time. Text is never coloured.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from setrl.core import methods
from setrl.logs.run_folder import BASE

LABELS = {BASE: "base", **methods.labels}

HUES = {
    BASE: "#808080",
    "grpo": "#D55E00",
    "poly_epo": "#0072B2",
    "maxpo": "#009E73",
    "grpo_div": "#CC79A7",
}
SPARE_HUES = ("#E69F00", "#56B4E9", "#8C6D31", "#7F3C8D", "#F0E442")
SPARE_LINES = ("--", "-.", (0, (1, 1)), (0, (5, 1, 1, 1, 1, 1)), (0, (7, 2)))
LINES: dict[str, str | tuple[int, tuple[int, ...]]] = {
    BASE: ":",
    "grpo": "--",
    "poly_epo": "-",
    "maxpo": "-.",
    "grpo_div": (0, (5, 1, 1, 1, 1, 1)),
}
MARKERS = {BASE: "X", "grpo": "s", "poly_epo": "o", "maxpo": "^", "grpo_div": "D"}
SPARE_MARKERS = ("v", "P", "<", ">", "h")

# Paul Tol's "light" scheme, made for filled areas.
STRATEGY_FILLS = (
    "#77AADD", "#EE8866", "#EEDD88", "#FFAABB", "#44BB99", "#BBCC33", "#99DDFF", "#AAAA00",
)  # fmt: skip
OTHER_FILL, UNREADABLE_FILL = "#BBBBBB", "#00000000"


@dataclass(frozen=True)
class Look:
    """How one arm is drawn everywhere."""

    label: str
    hue: str
    line: str | tuple[int, tuple[int, ...]]
    marker: str


@dataclass(frozen=True)
class Theme:
    """Colours of a page or figure that are not data."""

    name: str
    paper: str
    ink: str
    muted: str
    grid: str


LIGHT = Theme("light", paper="#ffffff", ink="#1b1e23", muted="#5c636e", grid="#e3e6ea")
DARK = Theme("dark", paper="#191c21", ink="#e8eaed", muted="#a3a9b3", grid="#343942")


def family(arm: str) -> str:
    """The sweep that an arm is in: its name without the number at the end.

    >>> family("grpo_kl_0.01"), family("poly_epo_k8"), family("grpo")
    ('grpo_kl', 'poly_epo_k', 'grpo')
    """
    return re.sub(r"(?<=[^\d.])_?\d+(\.\d+)?(e-?\d+)?$", "", arm)


def label(arm: str) -> str:
    """What people call an arm.

    >>> label("poly_epo"), label("grpo_kl_0.01"), label("mine_2")
    ('Poly-EPO', 'GRPO kl 0.01', 'mine 2')
    """
    known = [name for name in LABELS if arm == name or arm.startswith(f"{name}_")]
    if not known:
        return arm.replace("_", " ")
    method = max(known, key=len)
    return LABELS[method] + arm[len(method) :].replace("_", " ")


def looks(arms: Sequence[str]) -> dict[str, Look]:
    """The look of each arm; the arms of a sweep share one."""
    spare = [name for name in dict.fromkeys(map(family, arms)) if name not in HUES]
    styles = {name: (hue, LINES[name], MARKERS[name]) for name, hue in HUES.items()}
    for place, name in enumerate(spare):
        turn = place % len(SPARE_HUES)
        styles[name] = (SPARE_HUES[turn], SPARE_LINES[turn], SPARE_MARKERS[turn])
    return {arm: Look(label(arm), *styles[arm if arm in HUES else family(arm)]) for arm in arms}


def main_arms(arms: Sequence[str], most: int = 6) -> list[str]:
    """The arms that figures of curves show: all, or, of many, those that are in no sweep."""
    if len(arms) <= most:
        return list(arms)
    families = [family(arm) for arm in arms]
    alone = [arm for arm in arms if arm == family(arm) or families.count(family(arm)) == 1]
    return alone if sum(arm != BASE for arm in alone) > 1 else list(arms)


def strategy_fills(mean_shares: Mapping[str, float]) -> dict[str, str]:
    """A fill for each of the commonest strategies, commonest first; the rest are "other"."""
    order = sorted(mean_shares, key=lambda name: (-mean_shares[name], name))
    named = [name for name in order if name != "other"][: len(STRATEGY_FILLS)]
    return dict(zip(named, STRATEGY_FILLS, strict=False))
