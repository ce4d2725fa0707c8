"""Vines: trajectories sampled from states of a trunk. Where they leave, and what they credit.

A vine is scored and labelled as the whole episode, with the trunk's steps before its state: scores
and labels are about episodes, and the set objective is then the objective of whole episodes that
share a beginning. For objectives that only add, such as a mean, the shared beginning changes
nothing; for products, such as mean reward × diversity, both factors are then the same as in the
evaluation.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any, Literal

from setrl.control.options import require_choice, require_number
from setrl.core.advantages import AnyMethod, Method
from setrl.core.inputs import check_given

Where = Literal["equal", "inner", "uniform"]
CreditName = Literal["marginal", "action", "shared", "gae"]

# These compare a set with other sets, or with the mean of all sets, not by the method's baseline: a
# single set that holds all vines could only be compared with itself.
COMPARES_SETS = ("action", "shared")


@dataclass(frozen=True, kw_only=True)
class VineChoices:
    """Where vines leave, how many there are, and how sets of them credit steps.

    Attributes:
        num_vines: N, vines from each state. 0 for no vines.
        num_states: p, states of each trunk that vines leave. 0 for no vines.
        where: Which states: "equal" in time from the first on, "inner" equally spaced without the
            first (as in i·T/(p + 1)), or "uniform" at random.
        window: W: the steps 0…W of a vine have set advantages; None for all steps.
        credit: How sets' scores become advantages of steps, which Algorithm 2 leaves open:
            "marginal": each vine's own credit, from all C(N, K) sets;
            "action": the credit of its first action, from the sets with a vine that begins with it;
            "shared": the advantage of `num_sets` sampled sets, shared by their members;
            "gae": the critic's advantage everywhere. This is not set RL, but its control: it shows
            what vines give as further data and starts, without set credit.
        num_sets: M, where sets are sampled.
    """

    num_vines: int = 8
    num_states: int = 2
    where: Where = "equal"
    window: int | None = 5
    credit: CreditName = "marginal"
    num_sets: int = 4

    def __post_init__(self) -> None:
        require_choice("where", self.where, Where)
        require_choice("credit", self.credit, CreditName)
        require_number("num_vines", self.num_vines, whole=True)
        require_number("num_states", self.num_states, whole=True)
        require_number("num_sets", self.num_sets, 2, whole=True)
        require_number("window", self.window, whole=True, may_be_none=True)

    @property
    def are_sampled(self) -> bool:
        """Whether there are vines; without them PPO is plain."""
        return self.num_vines > 0 and self.num_states != 0


def even_times(xp: Any, lengths_F: Any, num_states: int, where: Where) -> tuple[Any, Any]:
    """Choose p evenly spaced states of F trunks that vines leave; "uniform" replaces the times.

    A trunk with fewer steps than p has fewer of them. The last state, which no step follows, is
    never among them.

    Args:
        xp: `numpy`, or `jax.numpy` inside a compiled update.
        lengths_F: Steps of each trunk.
        num_states: p.
        where: As in `VineChoices`.

    Returns:
        Times (F, p), ascending, and whether there is such a state (F, p).
    """
    length_F1, index_p = lengths_F[:, None], xp.arange(num_states)[None]
    count_F1 = xp.minimum(num_states, length_F1)
    wanted = index_p < count_F1
    if where != "inner":
        return index_p * length_F1 // xp.maximum(count_F1, 1), wanted
    times = (index_p + 1) * length_F1 // (count_F1 + 1)
    return times, wanted & (xp.diff(times, axis=1, prepend=-1) > 0)


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
    if (method is None and vines is None) or (vines is not None and not vines.are_sampled):
        return
    if method is None or vines is None:
        raise ValueError("a method scores sets of vines: give both method= and vines=, or neither")
    _check_fields(method, vines, task)
    compared = method
    if vines.credit in COMPARES_SETS:
        if not isinstance(method, Method):
            raise ValueError(
                f"credit={vines.credit!r} compares sets of one objective, but {method.name} is a "
                "sum of methods: use credit='marginal'"
            )
        compared = replace(method, baseline="all_sets")
    compared.check_samples(vines.num_vines, "num_vines")


def _check_fields(method: AnyMethod, vines: VineChoices, task: object | None) -> None:
    givers, giver = {"strategies": "label", "pairs": "distances"}, vines if task is None else task

    def remedy(field: str) -> str:
        if field not in givers:
            return (
                "trajectories do not have it; use a method that reads only rewards, strategies or "
                "pairs"
            )
        name = givers[field]
        return f"give Vines({name}=...)" if task is None else f"the task has no {name}"

    given = [field for field, name in givers.items() if getattr(giver, name, None) is not None]
    check_given(method.reads, given, method.name, remedy)
