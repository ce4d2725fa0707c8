"""Shortest paths of experts, by breadth-first search."""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Hashable, Sequence
from typing import TypeVar

import numpy as np

Node = TypeVar("Node", bound=Hashable)


def shortest(
    start: Node,
    after: Callable[[Node, int], Node],
    is_goal: Callable[[Node], bool],
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
    came_from: dict[Node, tuple[Node, int]] = {}
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


def _path(came_from: dict[Node, tuple[Node, int]], start: Node, place: Node) -> list[int]:
    actions: list[int] = []
    while place != start:
        place, action = came_from[place]
        actions.append(action)
    return actions[::-1]
