"""Pictures of environments that cannot draw themselves, made without a display or OpenGL."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

import numpy as np
from numpy.typing import NDArray
from PIL import Image, ImageDraw

SIZE = 192  # pixels
PAPER, FAINT, GOAL, AGENT = (245, 245, 245), (205, 205, 205), (60, 180, 90), (40, 110, 220)


def plane(
    goals: NDArray[np.float64], radius: float, agent: Sequence[float], reach: float
) -> NDArray:
    """Draw goals and an agent from above; `reach` is from the middle to an edge, in metres."""
    image = Image.new("RGB", (SIZE, SIZE), PAPER)
    draw = ImageDraw.Draw(image)
    for place in goals:
        _disc(draw, place / reach, radius / reach, GOAL)
    _disc(draw, np.asarray(agent) / reach, 0.05, AGENT)
    return np.asarray(image)


def circle(
    num_nodes: int, named: Sequence[int], edges: Iterable[tuple[int, int]]
) -> NDArray[np.uint8]:
    """Draw nodes on a circle, the named nodes in order, and the edges among them."""
    image = Image.new("RGB", (SIZE, SIZE), PAPER)
    draw = ImageDraw.Draw(image)
    angles = 2 * np.pi * np.arange(num_nodes) / num_nodes
    places = 0.9 * np.stack([np.cos(angles), np.sin(angles)], axis=-1)
    for first, second in edges:
        draw.line([*_dots(places[first]), *_dots(places[second])], fill=GOAL, width=2)
    for place in places:
        _disc(draw, place, 0.015, FAINT)
    for node in named:
        _disc(draw, places[node], 0.05, AGENT)
    return np.asarray(image)


def _disc(
    draw: ImageDraw.ImageDraw, place: NDArray[np.float64], radius: float, colour: tuple[int, ...]
) -> None:
    x, y = _dots(place)
    dots = radius * SIZE / 2
    draw.ellipse([x - dots, y - dots, x + dots, y + dots], fill=colour)


def _dots(place: NDArray[np.float64]) -> tuple[float, float]:
    """Convert from [−1, 1]², y upwards, to pixels, y downwards."""
    return (1 + place[0]) * SIZE / 2, (1 - place[1]) * SIZE / 2
