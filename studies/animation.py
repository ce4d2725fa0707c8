"""An animated SVG of frames: it moves only by CSS, so it plays as an <img>, where no script runs.

It follows the reader's light or dark colours. It opens with the end, then plays. Without its rules
of motion everything stands as at the end; this is what readers see who ask for less motion.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from html import escape

from setrl.show.report.style import DARK, LIGHT, Theme

# Seconds: the end is shown, the way back, the first frame, each frame, results, their growth, all.
SHOWN, BACK, FIRST, FRAME, RESULT, GROWTH, LOOP = 1.6, 2.0, 2.6, 1 / 3, 10.2, 0.6, 14.0
LINE = 44  # height of a line of a counter

STYLE = """\
text { font: 27px system-ui, -apple-system, "Segoe UI", Roboto, Helvetica, Arial, sans-serif }
.strong { font-size: 32px; font-weight: 700 }
.number { font-weight: 700; font-variant-numeric: tabular-nums }
text, .ink { fill: var(--ink) }
.muted { fill: var(--muted) }
.paper { fill: var(--paper) }
.track { fill: var(--grid) }
.outline { fill: var(--paper); stroke: var(--grid); stroke-width: 3px }"""


def text(words: str, x: float, y: float, anchor: str = "start", look: str = "") -> str:
    """Write words with their baseline at y; `look` is a class of the style."""
    place = f'x="{x:g}" y="{y:g}" text-anchor="{anchor}"'
    return f'<text {place} class="{look}">{escape(words)}</text>'


def at(x: float, y: float, *parts: str) -> str:
    """Place parts with their origin at (x, y)."""
    return f'<g transform="translate({x:g} {y:g})">{"".join(parts)}</g>'


@dataclass
class Animation:
    """A loop of `LOOP` seconds: frames, then results that belong to no frame.

    Attributes:
        frames: How many.
        rules: (Keyframes, the last state) → the class of what moves by them.
    """

    frames: int
    rules: dict[tuple[str, str], str] = field(default_factory=dict)

    def moves(self, states: Sequence[str], stepwise: bool = False) -> str:
        """Return classes of an element that passes through states.

        Args:
            states: A CSS declaration for each frame; one more declaration is for the results.
            stepwise: Whether it jumps from one state to the next.
        """
        times = [FIRST + FRAME * frame for frame in range(self.frames)] + [RESULT]
        stops = list(zip(times[: len(states)], states, strict=True))
        return self._loop(stops, "moving steps" if stepwise else "moving")

    def grows(self) -> str:
        """Return classes of an element that grows to the right when the results come."""
        stops = [(RESULT, "transform:scaleX(0)"), (RESULT + GROWTH, "transform:scaleX(1)")]
        return self._loop(stops, "moving")

    def appears(self) -> str:
        """Return classes of an element that appears just before the results come."""
        return self._loop([(RESULT - GROWTH, "opacity:0"), (RESULT, "opacity:1")], "moving")

    def counter(self, numbers: Sequence[str], x: float, y: float, anchor: str) -> str:
        """Write numbers in one place: one for each frame, and perhaps one for the results."""
        shifts = [f"transform:translateY({-LINE * line}px)" for line in range(len(numbers))]
        inner = {"middle": 60, "end": 120}[anchor]
        lines = [
            text(number, inner, LINE * line + 32, anchor, "number")
            for line, number in enumerate(numbers)
        ]
        window = f'<svg x="{x - inner:g}" y="{y - 32:g}" width="120" height="{LINE}">'
        return f'{window}<g class="{self.moves(shifts, stepwise=True)}">{"".join(lines)}</g></svg>'

    def _loop(self, stops: Sequence[tuple[float, str]], look: str) -> str:
        """Return classes for (second, declaration) pairs; the last one also opens the loop."""
        (_, first), (_, last) = stops[0], stops[-1]
        whole = [(0.0, last), (SHOWN, last), (BACK, first), *stops, (LOOP, last)]
        keyframes = "".join(f"{100 * s / LOOP:.4g}%{{{state}}}" for s, state in whole)
        name = self.rules.setdefault((keyframes, last), f"m{len(self.rules)}")
        return f"{look} {name}"

    def svg(self, width: int, height: int, title: str, parts: Sequence[str]) -> str:
        """Return the whole file."""
        size = f'viewBox="0 0 {width} {height}" width="{width}" height="{height}"'
        opening = f'<svg xmlns="http://www.w3.org/2000/svg" {size} role="img">'
        style = ["<style>", *self._style(), "</style>"]
        back = f'<rect class="paper" width="{width}" height="{height}" rx="12"/>'
        return "\n".join(
            [opening, f"<title>{escape(title)}</title>", *style, back, *parts, "</svg>\n"]
        )

    def _style(self) -> list[str]:
        dark = f"@media (prefers-color-scheme: dark) {{ {_colours(DARK)} }}"
        moving = f".moving {{ animation: {LOOP:g}s linear infinite }}"
        still = "@media (prefers-reduced-motion: reduce) { .moving { animation: none } }"
        steps = ".steps { animation-timing-function: step-end }"
        lines = [_colours(LIGHT), dark, STYLE, moving, steps]
        for (keyframes, last), name in self.rules.items():
            lines.append(f".{name}{{{last};animation-name:{name}}}@keyframes {name}{{{keyframes}}}")
        return [*lines, still]


def _colours(theme: Theme) -> str:
    named = {"ink": theme.ink, "muted": theme.muted, "paper": theme.paper, "grid": theme.grid}
    return f"svg {{ {'; '.join(f'--{name}: {colour}' for name, colour in named.items())} }}"
