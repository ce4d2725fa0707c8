"""The Biased Maze: a corridor of forks, one right way, and a policy that leans to the wrong one.

After MaxPO (arXiv:2606.06080, App., Fig. 6–7), of which the text is public but no number: actions 0
and 1, +1 for each forward step on a valid path, one correct path. Ours, so that short-sighted
learning is deceived: fork t has the right way, 1, and a side corridor of `corridors[t]` further
steps that ends there. A side corridor at the first fork that pays more than the right way does at
first is a decoy.

Axes beside the library's: D forks, R runs.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

from setrl import credit, objectives
from setrl.core.advantages import set_advantages
from studies.bandit import ESTIMATORS

RIGHT = 1


@dataclass(frozen=True)
class BiasedMaze:
    """A maze, given by its dead ends.

    Attributes:
        corridors: Forward steps to be had in the side corridor of each fork.
        start: P(action 1) of the first policy at every fork, in (0, 1).
    """

    corridors: tuple[int, ...] = (3, 0, 0, 0, 0, 0)
    start: float = 0.3

    def __post_init__(self) -> None:
        if not self.corridors or min(self.corridors) < 0:
            raise ValueError(f"corridors must hold lengths ≥ 0, got {self.corridors}")
        if not 0 < self.start < 1:
            raise ValueError(f"start must be in (0, 1), got {self.start}")

    @property
    def num_forks(self) -> int:
        """D, which is also the return of the right way."""
        return len(self.corridors)

    def play(self, chances_RD: np.ndarray, num_samples: int, rng: np.random.Generator) -> Episodes:
        """N episodes of each of R policies, given by their P(action 1)."""
        shape = (*chances_RD.shape[:1], num_samples, self.num_forks)
        right_RND = rng.random(shape) < chances_RD[:, None, :]
        passed_RND = np.cumprod(right_RND, axis=-1).astype(bool)
        depth_RN = passed_RND.sum(axis=-1)
        visited_RND = np.arange(self.num_forks) <= depth_RN[..., None]
        return Episodes(right_RND, visited_RND, depth_RN, self.returns_E[depth_RN])

    @property
    def returns_E(self) -> np.ndarray:
        """What each of the D + 1 ends pays: the dead end of each fork, and the goal."""
        return np.arange(self.num_forks + 1) + np.array([*self.corridors, 0])

    def ends(self, chances_RD: np.ndarray) -> np.ndarray:
        """P(an episode ends there), (R, D + 1)."""
        reach_RE = np.cumprod(np.pad(chances_RD, ((0, 0), (1, 0)), constant_values=1.0), axis=1)
        return reach_RE * (1 - np.pad(chances_RD, ((0, 0), (0, 1))))

    def best_return(self, chances_RD: np.ndarray, draws: int = 1) -> np.ndarray:
        """The exact mean of the best of `draws` independent returns: (R,)."""
        order_E = np.argsort(self.returns_E)
        below_RE = self.ends(chances_RD)[:, order_E].cumsum(axis=1) ** draws
        return np.diff(below_RE, axis=1, prepend=0.0) @ self.returns_E[order_E]


@dataclass(frozen=True, eq=False)
class Episodes:
    """What happened in R × N episodes.

    Attributes:
        right_RND: Whether action 1 was drawn at each fork; means nothing where not visited.
        visited_RND: Whether the fork was reached.
        depth_RN: Forks passed the right way, D at the goal: the path, and so its cluster.
        returns_RN: Forward steps.
    """

    right_RND: np.ndarray
    visited_RND: np.ndarray
    depth_RN: np.ndarray
    returns_RN: np.ndarray


Advantage = Callable[[Episodes, int, int, np.random.Generator], np.ndarray]


@dataclass(frozen=True)
class Learner:
    """A way to credit episodes, scaled so that its mean update is the gradient of its objective.

    Attributes:
        label: What figures call it.
        advantages: (episodes, K, longest return, rng) → (R, N).
    """

    label: str
    advantages: Advantage


def _of_max(name: str) -> Advantage:
    """Max@K of the returns, as a share of the longest."""

    def advantages(
        episodes: Episodes, set_size: int, longest: int, rng: np.random.Generator
    ) -> np.ndarray:
        return ESTIMATORS[name].advantages(episodes.returns_RN / longest, set_size, rng)

    return advantages


def reinforce(
    episodes: Episodes, set_size: int, longest: int, rng: np.random.Generator
) -> np.ndarray:
    """Mean return, each episode against the mean of the others; K plays no part."""
    found = set_advantages(
        episodes.returns_RN / longest,
        objective=objectives.mean(),
        set_size=1,
        baseline="leave_one_out",
    )
    return found.values_BN / episodes.returns_RN.shape[1]


def poly_epo(
    episodes: Episodes, set_size: int, longest: int, rng: np.random.Generator
) -> np.ndarray:
    """Mean return × share of different paths (arXiv:2604.17654), all sets."""
    found = set_advantages(
        episodes.returns_RN / longest,
        objective=objectives.polychromic(),
        set_size=set_size,
        clusters=episodes.depth_RN,
        baseline="leave_one_out",
        estimator=credit.Exact(),
    )
    return found.values_BN * set_size / episodes.returns_RN.shape[1]


LEARNERS: dict[str, Learner] = {
    "reinforce": Learner("REINFORCE (mean return)", reinforce),
    "raw": Learner("max@K, no baseline", _of_max("raw")),
    "s_loo": Learner("max@K, PKPO s_loo", _of_max("s_loo")),
    "l2o": Learner("max@K, EI + leave-two-out (MaxPO)", _of_max("l2o")),
    "ei": Learner("max@K, EI (PKPO s_loo−1)", _of_max("ei")),
    "poly": Learner("Poly-EPO, clusters = paths", poly_epo),
}


@dataclass(frozen=True, eq=False)
class History:
    """R runs of a learner.

    Attributes:
        returns_RT: Mean return of each update's episodes.
        chances_RTD: P(action 1) at each fork before each update.
    """

    returns_RT: np.ndarray
    chances_RTD: np.ndarray

    @property
    def goal_RT(self) -> np.ndarray:
        """P(the goal is reached)."""
        return self.chances_RTD.prod(axis=-1)


def train(
    maze: BiasedMaze,
    learner: Learner,
    *,
    set_size: int,
    num_samples: int,
    learning_rate: float,
    updates: int,
    runs: int,
    seed: int,
) -> History:
    """Gradient ascent on a logit at each fork, R independent runs side by side.

    z_t ← z_t + η Σᵢ Aᵢ (aᵢ_t − P_t(1)) over the episodes that reach fork t.
    """
    rng = np.random.default_rng(seed)
    logits_RD = np.full((runs, maze.num_forks), np.log(maze.start / (1 - maze.start)))
    returns_RT = np.empty((runs, updates))
    chances_RTD = np.empty((runs, updates, maze.num_forks))
    for t in range(updates):
        chances_RD = 1 / (1 + np.exp(-logits_RD))
        episodes = maze.play(chances_RD, num_samples, rng)
        returns_RT[:, t], chances_RTD[:, t] = episodes.returns_RN.mean(axis=1), chances_RD
        advantages_RN = learner.advantages(episodes, set_size, maze.num_forks, rng)
        score_RND = episodes.visited_RND * (episodes.right_RND - chances_RD[:, None, :])
        logits_RD += learning_rate * np.einsum("rn,rnd->rd", advantages_RN, score_RND)
    return History(returns_RT, chances_RTD)
