"""Vines, trajectories sampled from states of a trunk: where they leave, their credit and metrics.

A vine is scored and labelled as the whole episode, with the trunk's steps before its state: scores
and labels are about episodes, and the set objective is then the objective of whole episodes that
share a beginning. For objectives that only add, such as a mean, the shared beginning changes
nothing; for products, such as mean reward × diversity, both factors are then the same as in the
evaluation.

The set maths of credit is the core's: here is only decided which of its means to compare. A rollout
state replaces a prompt, and the state's N vines replace the prompt's samples, so B counts rollout
states; a vine's reward is the worth of its whole episode. A vine without credit has NaN: its steps
keep the critic's advantage.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from math import comb
from typing import Any, Literal

import numpy as np

from setrl.control.options import require_choice, require_number
from setrl.core.advantages import Advantages, AnyMethod, Method
from setrl.core.credit.estimators import Sampled
from setrl.core.credit.rounding import difference
from setrl.core.inputs import check_given
from setrl.samples.samples import Samples

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

    fields = [field for field, name in givers.items() if getattr(giver, name, None) is not None]
    check_given(method.reads, fields, method.name, remedy)


def vine_advantages(
    method: AnyMethod,
    vines: VineChoices,
    samples: Samples,
    actions_BN: np.ndarray,
    rng: np.random.Generator,
) -> np.ndarray:
    """Return the set advantage of each vine, (B, N), as `vines.credit` assigns it; NaN for none."""
    if vines.credit == "gae" or not len(samples.rewards):
        return np.full(samples.rewards.shape, np.nan)
    if vines.credit == "marginal":
        return credit_by_trajectory(method, samples, rng)
    assert isinstance(method, Method), "`check_vines` refused a sum"
    if vines.credit == "shared":
        return credit_by_shared_sets(method, samples, vines.num_sets, rng)
    return credit_by_action(method, samples, actions_BN)


def credit_by_trajectory(
    method: AnyMethod, samples: Samples, rng: np.random.Generator | None = None
) -> np.ndarray:
    """Credit each vine: mean score of the sets that hold it, against the method's baseline.

    Set RL, Eq. 9 and Algorithm 1, with the state as the prompt. All C(N, K) sets count.

    Args:
        method: Objective, set size and baseline.
        samples: The vines; what has an unknown reward leaves the sets.
        rng: Needed if the method's estimator samples sets.

    Returns:
        (B, N), NaN for vines without credit.
    """
    credit = method.advantages(samples, rng=rng)
    return np.where(_has_credit(credit), credit.values_BN, np.nan)


def credit_by_action(method: Method, samples: Samples, actions_BN: np.ndarray) -> np.ndarray:
    """Credit each first action: mean score of the sets with a vine that begins with it, minus U.

        A(a) = mean{f(S) : some vine of S begins with a} − U

    Set RL, Algorithm 2, G(a). The sets without such a vine are the K-sets of the other N − n_a
    vines, m = C(N − n_a, K) of M = C(N, K), and U₋ₐ is their mean: A(a) = (U − U₋ₐ)·m / (M − m),
    0 where every set has such a vine. The method's own baseline and scale do not enter.

    Args:
        method: Objective and set size.
        samples: The vines.
        actions_BN: (B, N) numbers, equal for equal first actions.
    """
    plain = replace(method, baseline="none", reduction="mean", scale=None, adjustment=None)
    credit, n = plain.advantages(samples), samples.num_samples
    has_credit_BN = _has_credit(credit)
    values_BN = np.where(has_credit_BN, 0.0, np.nan)
    for action in np.unique(actions_BN):
        begins_BN = has_credit_BN & (actions_BN == action)
        others_BN = has_credit_BN & ~begins_BN
        without_B = plain.advantages(replace(samples, mask=others_BN)).mean_B
        counts = zip(has_credit_BN.sum(axis=1), others_BN.sum(axis=1), strict=True)
        odds_B = np.array(
            [_odds_without_action(int(total), int(m), method.set_size) for total, m in counts]
        )
        change_B = np.where(odds_B > 0, difference(credit.mean_B, without_B, n) * odds_B, 0.0)
        values_BN = np.where(begins_BN, change_B[:, None], values_BN)
    return values_BN


def _odds_without_action(num_vines: int, num_others: int, set_size: int) -> float:
    """m / (M − m): sets without the action per set with it; 0 if no set has it."""
    total, without = comb(num_vines, set_size), comb(num_others, set_size)
    return without / (total - without) if without < total else 0.0


def credit_by_shared_sets(
    method: Method, samples: Samples, num_sets: int, rng: np.random.Generator
) -> np.ndarray:
    """Share credit in a set: all members of a sampled set get the advantage of that set.

    A(S) = f(S) − mean f of the `num_sets` sampled sets; a vine in several of them gets the mean,
    and a vine in none of them gets no credit. arXiv:2509.25424, with its M sets.
    """
    plain = replace(method, baseline="all_sets", scale=None, adjustment=None)
    credit = replace(plain, estimator=Sampled(num_sets)).advantages(samples, rng=rng)
    # `with_BN` is NaN for a vine in no sampled set.
    return np.where(_has_credit(credit), credit.with_BN - credit.mean_B[:, None], np.nan)


def _has_credit(credit: Advantages) -> np.ndarray:
    """Return which vines are in sets, (B, N): they have a score, and so have enough others."""
    return credit.usable_BN & ~credit.skipped_B[:, None]


def vine_metrics(
    xp: Any,
    columns: Mapping[str, Any],
    advantages_BN: Any,
    *,
    wanted_B: Any,
    lengths_BN: Any,
    finite_BN: Any,
    ended_BN: Any,
    trunk_steps: Any,
    num_trunks: int,
) -> dict[str, Any]:
    """Return the metrics of an update's vines; NaN where one is undefined.

    Vines whose score is unknown are in no set, so they have no part in `score`, `all_equal`,
    `distinct` and `degenerate`.

    Args:
        xp: `numpy`, or `jax.numpy` inside a compiled update.
        columns: The columns of the `Samples` that the vines of B states are.
        advantages_BN: Their set advantages, NaN for none; None if no credit is asked for.
        wanted_B: Whether there is such a state; where all shapes are fixed, some rows are empty.
        lengths_BN: Their own steps.
        finite_BN: Whether all rewards of their own steps are finite.
        ended_BN: Whether the environment ended them; the others were cut.
        trunk_steps: Environment steps of all trunks.
        num_trunks: Number of trunks.
    """
    scores_BN, wanted_BN = columns["rewards"], wanted_B[:, None]
    known_BN, has_steps_BN = xp.isfinite(scores_BN), lengths_BN > 0
    states, num_known = wanted_B.sum(), known_BN.sum()
    with_score = known_BN.any(axis=1).sum()
    steps, vines = lengths_BN.sum(), has_steps_BN.sum()
    largest_B = xp.where(known_BN, scores_BN, -xp.inf).max(axis=1, initial=-xp.inf)
    smallest_B = xp.where(known_BN, scores_BN, xp.inf).min(axis=1, initial=xp.inf)
    metrics = {
        "families": num_trunks,
        "states": states,
        "score": _mean_or_nan(xp, xp.where(known_BN, scores_BN, 0.0).sum(), num_known),
        "all_equal": _mean_or_nan(xp, (largest_B == smallest_B).sum(), with_score),
        "length": _mean_or_nan(xp, steps, vines),
        "step_share": _mean_or_nan(xp, steps, steps + trunk_steps),
        "without_steps": (wanted_BN & ~has_steps_BN).sum(),
        "without_reward": (has_steps_BN & ~finite_BN).sum(),
        "unfinished": (has_steps_BN & ~ended_BN).sum(),
    }
    if advantages_BN is not None:
        credited_BN = xp.isfinite(advantages_BN)
        squares = xp.where(credited_BN, advantages_BN, 0.0) ** 2
        metrics["without_credit"] = (wanted_BN & ~credited_BN).sum()
        metrics["advantage_size"] = xp.sqrt(_mean_or_nan(xp, squares.sum(), credited_BN.sum()))
    if "strategies" in columns:
        labels_BN = xp.where(known_BN, columns["strategies"], -1)
        metrics["distinct"] = _mean_or_nan(
            xp, _count_different_labels(xp, labels_BN).sum(), with_score
        )
        metrics["degenerate"] = _mean_or_nan(xp, (known_BN & (labels_BN < 0)).sum(), num_known)
    return {f"vines/{name}": value for name, value in metrics.items()}


def _mean_or_nan(xp: Any, total: Any, count: Any) -> Any:
    """Return the mean of `count` numbers by their total; NaN for none."""
    return xp.where(count > 0, total / xp.maximum(count, 1), xp.nan)


def _count_different_labels(xp: Any, labels_BN: Any) -> Any:
    """Return the number of different labels ≥ 0 of each row, (B,)."""
    equal_BNN = labels_BN[:, :, None] == labels_BN[:, None, :]
    is_first_BN = xp.argmax(equal_BNN, axis=2) == xp.arange(labels_BN.shape[1])
    return (is_first_BN & (labels_BN >= 0)).sum(axis=1)


def note_without_credit(vines: VineChoices | None, gave_credit: bool) -> str | None:
    """Say that sets should have credited steps, and never did; None if that is not so."""
    if vines is None or not vines.are_sampled or vines.credit == "gae" or gave_credit:
        return None
    return (
        "no step had a set advantage, so the model learned as PPO does: every state had too few "
        "usable vines for a set (vines/without_credit)"
    )
