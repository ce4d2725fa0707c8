"""Vines: trajectories sampled from states of a trunk, and the options of their sampling.

A vine is scored and labelled as the whole episode, with the trunk's steps before its state: scores
and labels are about episodes, and the set objective is then the objective of whole episodes that
share a beginning. For objectives that only add, such as a mean, the shared beginning changes
nothing; for products, such as mean reward × diversity, both factors are then the same as in the
evaluation.
"""

from __future__ import annotations

from collections.abc import Callable, Hashable, Sequence
from dataclasses import dataclass, replace
from typing import Any, Literal, get_args

import gymnasium as gym
import numpy as np
from typing_extensions import override

from setrl.control.credit.diversity import clusters
from setrl.control.credit.set_critic import Outcome, SetCritic
from setrl.control.credit.trajectories import Trajectory
from setrl.core.advantages import AnyMethod, Method

Label = Callable[[Trajectory], Hashable | None]
Score = Callable[[Trajectory], float]
Distances = Callable[[Sequence[Trajectory]], np.ndarray]
Correct = Callable[[Trajectory], bool | None]
Where = Literal["equal", "inner", "uniform", "entropy", "uncertain"]
CreditName = Literal["marginal", "action", "shared", "trunk", "bonus", "reward", "gae"]

RANKED = ("entropy", "uncertain")  # these take the states of highest priority
# These compare a set with other sets, or with the mean of all sets, not by the method's baseline: a
# single set that holds all vines could only be compared with itself.
COMPARES_SETS = ("action", "shared", "trunk")


def episode_return(trajectory: Trajectory) -> float:
    """Return the sum of an episode's rewards, undiscounted."""
    return trajectory.total_reward


@dataclass(frozen=True, kw_only=True)
class VineChoices:
    """Where vines leave, how many there are, and how sets of them credit steps.

    Attributes:
        num_vines: N, vines from each state. 0 for no vines.
        num_states: p, states of each trunk that vines leave. 0 for no vines; None: all states.
        where: Which states: "equal" in time from the first on, "inner" equally spaced without the
            first (as in i·T/(p + 1)), "uniform" at random, the states of highest policy
            "entropy", or those whose outcome is most "uncertain" to the critic, by V·(1 − V) with
            V cut to [0, 1].
        window: W: the steps 0…W of a vine have set advantages; None for all steps.
        credit: How sets' scores become advantages of steps, which Algorithm 2 leaves open:
            "marginal": each vine's own credit, from all C(N, K) sets;
            "action": the credit of its first action, from the sets with a vine that begins with it;
            "shared": the advantage of `num_sets` sampled sets, shared by their members;
            "trunk": best − mean of `num_sets` sampled sets, on the trunk's steps from the state on;
            "bonus": the vine's own credit added to the critic's advantage in the window;
            "reward": the vine's own credit added to its last reward;
            "gae": the critic's advantage everywhere. This is no set RL, but its control: it shows
            what vines give as further data and starts, without set credit;
            a `SetCritic`: the credit of the trunk, and of vines if there are any, in sets whose
            other members are drawn from a learned distribution of outcomes. It needs no vines:
            `num_vines=0`.
        num_sets: M, where sets are sampled.
    """

    num_vines: int = 8
    num_states: int | None = 2
    where: Where = "equal"
    window: int | None = 5
    credit: CreditName | SetCritic = "marginal"
    num_sets: int = 4

    def __post_init__(self) -> None:
        for name, choices in (("where", get_args(Where)), ("credit", get_args(CreditName))):
            if isinstance(getattr(self, name), SetCritic) and name == "credit":
                continue
            if getattr(self, name) not in choices:
                known = ", ".join(map(repr, choices))
                raise ValueError(f"{name} must be one of {known}, got {getattr(self, name)!r}")
        for name, least in (("num_vines", 0), ("num_sets", 2)):
            _require_whole(self, name, least)
        for name in ("num_states", "window"):
            _require_whole(self, name, 0, may_be_none=True)

    @property
    def are_sampled(self) -> bool:
        """Whether there are vines; without them PPO is plain."""
        return self.num_vines > 0 and self.num_states != 0

    @property
    def give_credit(self) -> bool:
        """Whether sets credit steps: sets of vines, or of outcomes that a set critic draws."""
        return self.are_sampled or (isinstance(self.credit, SetCritic) and self.num_states != 0)


def _require_whole(choices: Any, name: str, least: int, may_be_none: bool = False) -> None:
    value = getattr(choices, name)
    is_number = isinstance(value, int) and value >= least
    if not (is_number or (may_be_none and value is None)):
        raise ValueError(f"{name} must be a whole number ≥ {least}, got {value!r}")


@dataclass(frozen=True)
class Vines(VineChoices):
    """How vines are sampled and credited: the choices of `VineChoices`, and an environment.

    Attributes:
        make_env: Makes an environment that `make_resettable` can set back.
        label: The strategy of an episode; None if it has none (degenerate). Methods that read
            clusters need it.
        score: The worth of a single episode, in [0, 1] for products with diversity.
        correct: Whether an episode is right. Methods that compare right with wrong episodes need
            it, unless scores are 0 and 1.
        distances: (N, N) distances of N episodes, for methods that read pairs.
        max_steps: A trajectory is cut after this many steps.
        most_snapshots: While a trunk grows, at most this many of its states are kept. If a vine
            leaves a state between them, the trunk's steps from the last kept state are repeated,
            which costs time, but no environment steps. None: all are kept.
    """

    make_env: Callable[[], gym.Env]
    label: Label | None = None
    score: Score = episode_return
    distances: Distances | None = None
    correct: Correct | None = None
    max_steps: int = 1000
    most_snapshots: int | None = 32

    @override
    def __post_init__(self) -> None:
        if not callable(self.make_env):
            raise ValueError(
                "make_env must be a function that makes an environment, such as "
                f"lambda: gym.make('CartPole-v1'), got {self.make_env!r}"
            )
        super().__post_init__()
        _require_whole(self, "max_steps", 1)
        _require_whole(self, "most_snapshots", 2, may_be_none=True)

    def outcome(self, episode: Trajectory, reads: tuple[str, ...]) -> Outcome | None:
        """Return how an episode ended, as a set critic sees it; None if its score is unknown."""
        score = self.score(episode) if len(episode) and episode.is_finite else float("nan")
        if not np.isfinite(score):
            return None
        step = self.credit.score_step if isinstance(self.credit, SetCritic) else None
        label, right = self.label if "clusters" in reads else None, None
        if "correct" in reads and self.correct is not None:
            right = self.correct(episode)
        return Outcome(
            float(score if step is None else round(score / step) * step),
            None if label is None else label(episode),
            right,
        )

    def fields(
        self, episodes_BN: Sequence[Sequence[Trajectory]], reads: tuple[str, ...]
    ) -> dict[str, Any]:
        """Return the fields that a method reads besides the scores; `check_vines` checked them."""
        found: dict[str, Callable[[Sequence[Trajectory]], np.ndarray]] = {}
        if "clusters" in reads and (label := self.label) is not None:
            found["clusters"] = lambda row: clusters([label(one) for one in row])
        if "correct" in reads and (right := self.correct) is not None:
            found["correct"] = lambda row: np.array([right(one) for one in row], dtype=np.float64)
        if "pairs" in reads and self.distances is not None:
            found["pairs"] = self.distances
        return {name: np.array([of(row) for row in episodes_BN]) for name, of in found.items()}


def _check_kinds(method: Any, vines: Any) -> None:
    """Refuse values of other kinds, such as arguments in another order."""
    if isinstance(method, VineChoices) and (vines is None or isinstance(vines, AnyMethod)):
        raise ValueError("method comes before vines: write method=…, vines=…")
    if method is not None and not isinstance(method, AnyMethod):
        raise ValueError(
            f"method must be a value such as setrl.methods.poly_epo(4), got {method!r:.80}"
        )
    if vines is not None and not isinstance(vines, VineChoices):
        raise ValueError(f"vines must be a value such as Vines(make_env), got {vines!r:.80}")


def check_vines(
    method: AnyMethod | None, vines: VineChoices | None, task: object | None = None
) -> None:
    """Refuse a method without vines, vines without a method, sets too large, missing functions.

    Args:
        method: The worth of sets.
        vines: How vines are sampled and credited.
        task: What has the functions that label episodes; by default `vines`.

    Raises:
        ValueError: If something is missing; the message names it.
    """
    _check_kinds(method, vines)
    if (method is None and vines is None) or (vines is not None and not vines.give_credit):
        return
    if method is None or vines is None:
        raise ValueError("a method scores sets of vines: give both method= and vines=, or neither")
    givers = {"clusters": "label", "pairs": "distances"}
    for field in method.reads:
        if field in ("rewards", "correct"):
            continue
        if field not in givers:
            raise ValueError(
                f"{method.name} reads {field}, which trajectories do not have: use a method that "
                "reads only rewards, clusters or pairs"
            )
        giver = givers[field]
        if getattr(vines if task is None else task, giver, None) is None:
            wanted = f"give Vines({giver}=...)" if task is None else f"the task has no {giver}"
            raise ValueError(f"{method.name} reads {field}: {wanted}")
    if isinstance(vines.credit, SetCritic):
        if "pairs" in method.reads:
            raise ValueError(f"{method.name} reads pairs, which outcomes of a set critic lack")
        method.check_samples(vines.credit.num_draws + 1, "num_draws + 1")
        return
    compared = method
    if vines.credit in COMPARES_SETS:
        if not isinstance(method, Method):
            raise ValueError(
                f"credit={vines.credit!r} compares sets of one objective, but {method.name} is a "
                "sum of methods: use credit='marginal'"
            )
        compared = replace(method, baseline="all_sets")
    compared.check_samples(vines.num_vines, "num_vines")
