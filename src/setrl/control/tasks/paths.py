"""Shortest paths of experts, by breadth-first search."""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Hashable, Sequence
from typing import TypeVar

import numpy as np

Place = TypeVar("Place", bound=Hashable)


def shortest(
    start: Place,
    after: Callable[[Place, int], Place],
    is_goal: Callable[[Place], bool],
    actions: Sequence[int],
    rng: np.random.Generator,
) -> list[int] | None:
    """Find the fewest actions from a start to a goal; rng decides between equal paths.

    Args:
        start: Where the path begins: a value that can be a key, such as a pose.
        after: Returns where an action leads to.
        is_goal: Whether the path may end at a place.
        actions: Actions to try.
        rng: Decides the order in which actions are tried.

    Returns:
        The actions; None if no goal can be reached.
    """
    came_from: dict[Place, tuple[Place, int]] = {}
    queue, seen = deque([start]), {start}
    while queue:
        place = queue.popleft()
        if is_goal(place):
            return _path(came_from, start, place)
        for action in rng.permutation(actions).tolist():
            following = after(place, action)
            if following not in seen:
                seen.add(following)
                came_from[following] = (place, action)
                queue.append(following)
    return None


def _path(came_from: dict[Place, tuple[Place, int]], start: Place, place: Place) -> list[int]:
    actions: list[int] = []
    while place != start:
        place, action = came_from[place]
        actions.append(action)
    return actions[::-1]
