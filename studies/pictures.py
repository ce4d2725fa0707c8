"""Pictures of environments that cannot draw themselves, made without a display or OpenGL."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray
from PIL import Image, ImageDraw

SIZE = 192  # pixels
PAPER, GOAL, AGENT = (245, 245, 245), (60, 180, 90), (40, 110, 220)


def plane(
    goals: NDArray[np.float64], radius: float, agent: Sequence[float], reach: float
) -> NDArray:
    """Draw goals and an agent from above; `reach` is from the middle to an edge, in metres."""
    image = Image.new("RGB", (SIZE, SIZE), PAPER)
    draw = ImageDraw.Draw(image)
    for place in goals:
        disc(draw, place / reach, radius / reach, GOAL)
    disc(draw, np.asarray(agent) / reach, 0.05, AGENT)
    return np.asarray(image)


def disc(
    draw: ImageDraw.ImageDraw, place: NDArray[np.float64], radius: float, colour: tuple[int, ...]
) -> None:
    """Draw a disc; its place and radius are shares of the picture's half."""
    x, y = dots(place)
    around = radius * SIZE / 2
    draw.ellipse([x - around, y - around, x + around, y + around], fill=colour)


def dots(place: NDArray[np.float64]) -> tuple[float, float]:
    """Convert from [−1, 1]², y upwards, to pixels, y downwards."""
    return (1 + place[0]) * SIZE / 2, (1 - place[1]) * SIZE / 2
