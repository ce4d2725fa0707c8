"""Triangle discovery: name three nodes of a hidden graph that are joined to each other.

This is a reconstruction: the triangle task of "Polychromic Objectives" (arXiv:2509.25424) comes
from the family of Nagarajan et al. (arXiv:2504.15266), but its graphs and sizes are not public.
Ours is one random graph; the policy sees only half of its triangles before training. It should name
valid triangles, as many different ones as it can; its discoveries are the triangles that it did not
see.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property, lru_cache
from itertools import combinations, permutations
from types import MappingProxyType
from typing import TYPE_CHECKING, Any, ClassVar

import gymnasium as gym
import numpy as np
from numpy.typing import ArrayLike, NDArray
from PIL import Image, ImageDraw
from typing_extensions import override

from setrl.control import measures
from setrl.control.behaviour_cloning import Demonstrations
from setrl.control.envs.resettable import Noise
from setrl.control.labels import numbers_for_metrics
from setrl.control.tasks.base import PPO_FROM_SCRATCH
from setrl.evaluate import estimators
from setrl.samples.values import DEGENERATE
from studies.pictures import AGENT, GOAL, PAPER, SIZE, disc, dots

if TYPE_CHECKING:
    from stable_baselines3.common.base_class import BaseAlgorithm

    from setrl.control.trajectories import Trajectory

FAINT = (205, 205, 205)
NODES = 3  # nodes of a triangle, and steps of an episode


@dataclass(frozen=True)
class Graph:
    """A random graph and its triangles.

    Attributes:
        joined_VV: Whether two of V nodes are joined.
        triangles_F3: All F triangles, nodes ascending.
        shown_F: Whether a triangle is among the triangles shown before training.
    """

    joined_VV: NDArray[np.bool_]
    triangles_F3: NDArray[np.int64]
    shown_F: NDArray[np.bool_]

    @cached_property
    def shown(self) -> frozenset[frozenset[int]]:
        """The triangles shown before training."""
        return frozenset(frozenset(map(int, row)) for row in self.triangles_F3[self.shown_F])


@lru_cache(maxsize=8)
def random_graph(nodes: int, edge_probability: float, seed: int) -> Graph:
    """Make an Erdős–Rényi graph; a random half of its triangles is shown."""
    rng = np.random.default_rng(seed)
    upper_VV = np.triu(rng.random((nodes, nodes)) < edge_probability, k=1)
    joined_VV = upper_VV | upper_VV.T
    first, second = np.nonzero(upper_VV)
    third = upper_VV[first] & upper_VV[second]
    pair, node = np.nonzero(third)
    triangles_F3 = np.stack([first[pair], second[pair], node], axis=-1)
    shown_F = np.zeros(len(triangles_F3), dtype=bool)
    shown_F[rng.permutation(len(triangles_F3))[: len(triangles_F3) // 2]] = True
    return Graph(joined_VV, triangles_F3, shown_F)


class TrianglesEnv(gym.Env):
    """Three steps, a node each; reward 1 at the end if all three nodes are joined to each other.

    Observations are one-hot, the first named node and then the second: (2V,) float32; zeros stand
    for a node not yet named. `info` has `nodes`, the nodes named so far, in order.

    Its own `snapshot` is the named nodes; it has no noise.
    """

    def __init__(self, graph: Graph) -> None:
        self.joined_VV = graph.joined_VV
        self.num_nodes = len(graph.joined_VV)
        self.nodes: tuple[int, ...] = ()
        self.action_space = gym.spaces.Discrete(self.num_nodes)
        self.observation_space = gym.spaces.Box(0.0, 1.0, (2 * self.num_nodes,), np.float32)

    @override
    def reset(
        self, *, seed: int | None = None, options: dict[str, Any] | None = None
    ) -> tuple[np.ndarray, dict[str, Any]]:
        super().reset(seed=seed)
        self.nodes = ()
        return self.seen(), {"nodes": ()}

    @override
    def step(self, action: Any) -> tuple[np.ndarray, float, bool, bool, dict[str, Any]]:
        self.nodes = (*self.nodes, int(action))
        over = len(self.nodes) == NODES
        reward = float(over and self.is_triangle())
        return self.seen(), reward, over, False, {"nodes": self.nodes}

    def snapshot(self) -> tuple[int, ...]:
        """Return the named nodes."""
        return self.nodes

    def restore(
        self, snapshot: tuple[int, ...], *, rng: Noise = "fork"
    ) -> tuple[np.ndarray, dict[str, Any]]:
        """Return to the state in which these nodes were named; `rng` has no effect here."""
        self.nodes = snapshot
        return self.seen(), {"nodes": self.nodes}

    def is_triangle(self) -> bool:
        """Return whether the three named nodes are joined; no node is joined to itself."""
        a, b, c = self.nodes
        return bool(self.joined_VV[a, b] and self.joined_VV[b, c] and self.joined_VV[a, c])

    @override
    def render(self) -> np.ndarray:
        """Draw the named nodes on a circle of all nodes, and the edges among them."""
        pairs = combinations(self.nodes, 2)
        return _circle(self.num_nodes, self.nodes, [pair for pair in pairs if self.joined_VV[pair]])

    def seen(self) -> np.ndarray:
        """Return the first and the second named node, one-hot."""
        return one_hot(self.nodes[:2], self.num_nodes)


def one_hot(nodes: tuple[int, ...], num_nodes: int) -> np.ndarray:
    """Return the observation when up to two nodes are named: (2V,)."""
    seen = np.zeros(2 * num_nodes, dtype=np.float32)
    for place, node in enumerate(nodes):
        seen[place * num_nodes + node] = 1.0
    return seen


@dataclass(frozen=True)
class Triangles:
    """The task to name triangles; the set of nodes is the strategy, and an invalid set has none.

    Attributes:
        nodes: V, the number of nodes.
        edge_probability: Probability that two nodes are joined.
        graph_seed: Decides the graph, and which half of its triangles is shown.
        episodes: Episodes of an evaluation.
        pretrain_epochs: Largest number of passes of behaviour cloning.
    """

    nodes: int = 80
    edge_probability: float = 0.25
    graph_seed: int = 0
    episodes: int = 4096
    pretrain_epochs: int = 60

    name: ClassVar[str] = "triangles"
    policy_kwargs: ClassVar[Mapping[str, Any]] = MappingProxyType({"net_arch": [128]})
    # 256 episodes per update, 100,000 in all.
    defaults: ClassVar[Mapping[str, Any]] = PPO_FROM_SCRATCH | {
        "total_timesteps": 300_000,
        "n_envs": 256,
        "n_steps": 3,
        "gamma": 1.0,
    }

    @property
    def graph(self) -> Graph:
        """The graph and its triangles."""
        return random_graph(self.nodes, self.edge_probability, self.graph_seed)

    def make_env(self) -> gym.Env:
        """Make the graph's environment."""
        return TrianglesEnv(self.graph)

    def label(self, trajectory: Trajectory) -> frozenset[int] | int:
        """Return the set of nodes if they are a triangle, else −1."""
        return frozenset(trajectory.infos[-1]["nodes"]) if self.score(trajectory) else DEGENERATE

    def score(self, trajectory: Trajectory) -> float:
        """Return 1 for a triangle, else 0."""
        return trajectory.total_reward

    @property
    def demonstrations(self) -> int:
        """Number of triangles that are shown before training."""
        return int(self.graph.shown_F.sum())

    def demonstrate(self, rng: np.random.Generator) -> Demonstrations:
        """Return each shown triangle in each order of its nodes; its orders are one episode."""
        shown = self.graph.triangles_F3[self.graph.shown_F].tolist()
        steps = [
            (one_hot(order[:step], self.nodes), order[step], triangle)
            for triangle, row in enumerate(shown)
            for order in permutations(row)
            for step in range(NODES)
        ]
        seen, actions, episodes = map(np.array, zip(*steps, strict=True))
        return Demonstrations(seen, actions, episodes, self.pretrain_epochs)

    def evaluate(self, model: BaseAlgorithm, rng: np.random.Generator) -> dict[str, float]:
        """Measure validity, and count different triangles; `new` ones were not shown beforehand."""
        sampled = measures.sample_episodes(model, self.make_env, self.episodes, rng, parallel=512)
        labels = [self.label(one) for one in sampled]
        found = {label for label in labels if label != DEGENERATE}
        labels_N = numbers_for_metrics(labels)
        count_C = measures.label_counts(labels_N)
        coverage = coverage_at_k(
            count_C, len(labels), min(1024, len(labels)), len(self.graph.triangles_F3)
        )
        return {
            "validity": float(np.mean([label != DEGENERATE for label in labels])),
            "distinct": float(len(found)),
            "effective": measures.effective_labels(labels_N),
            "coverage@1024": coverage,
            "new_distinct": float(len(found - self.graph.shown)),
            "new_share": float(
                np.mean([one != DEGENERATE and one not in self.graph.shown for one in labels])
            ),
        }


def coverage_at_k(count_C: ArrayLike, n: int, k: int, num_labels: int) -> float:
    """distinct@k / num_labels: the expected share of all labels that k samples meet."""
    return float(estimators.pass_at_k(count_C, n, k).sum()) / num_labels


def _circle(
    num_nodes: int, named: Sequence[int], edges: Iterable[tuple[int, int]]
) -> NDArray[np.uint8]:
    """Draw nodes on a circle, the named nodes in order, and the edges among them."""
    image = Image.new("RGB", (SIZE, SIZE), PAPER)
    draw = ImageDraw.Draw(image)
    angles = 2 * np.pi * np.arange(num_nodes) / num_nodes
    places = 0.9 * np.stack([np.cos(angles), np.sin(angles)], axis=-1)
    for first, second in edges:
        draw.line([*dots(places[first]), *dots(places[second])], fill=GOAL, width=2)
    for place in places:
        disc(draw, place, 0.015, FAINT)
    for node in named:
        disc(draw, places[node], 0.05, AGENT)
    return np.asarray(image)
