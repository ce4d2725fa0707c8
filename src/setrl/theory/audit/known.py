"""The objectives with which an estimator is compared: all of `setrl.objectives`, at every K ≤ N."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import suppress
from dataclasses import dataclass
from fractions import Fraction

import numpy as np

from setrl.core import objectives
from setrl.core.mean_scores import mean_set_scores
from setrl.core.objectives import Objective
from setrl.support import names
from setrl.theory.multisets import Multisets
from setrl.theory.tabular import ActionTable

# Names that people know; other objectives are called by the name in `setrl.objectives`.
SHORT = {"any_correct": "pass", "minimum": "min"}
FIRST = ("any_correct", "mean", "max", "minimum", "distinct_correct", "polychromic")
CONCAVE = (0.0, 0.25, 0.5, 0.75)  # α of the concave counts that are tried


@dataclass(frozen=True, eq=False)
class Known:
    """An objective with a set size.

    Attributes:
        label: How it is written, such as "pass@4".
        objective: f.
        set_size: K.
    """

    label: str
    objective: Objective
    set_size: int


def mean_scores(
    objective: Objective,
    sizes: Sequence[int],
    table: ActionTable,
    groups: Multisets,
    mask_SN: np.ndarray | None = None,
) -> np.ndarray:
    """Return the mean score of the K-sets of every group, (sizes, S); NaN where it has none.

    With a mask, only its samples are in the group.
    """
    members = table.samples.sets(groups.sets_SK)
    fields = {name: value[0] for name, value in members.columns.items() if name != "rewards"}
    num = groups.sets_SK.shape[1]
    found_KS = np.full((len(sizes), len(groups.sets_SK)), np.nan)
    for row, size in enumerate(sizes):
        if size > num:
            continue
        with suppress(ValueError):  # of sets that are too small for it, or too many to enumerate
            if size == num and mask_SN is None and isinstance(objective, objectives.from_counts):
                # The closed form goes through all compositions of each group, one after the other.
                found_KS[row] = objective(members)[0]
            else:
                found_KS[row] = mean_set_scores(
                    members.rewards[0], objective, [size], mask=mask_SN, **fields
                )[0]
    return found_KS


def claimed(text: str, num_samples: int) -> tuple[Known, float | None]:
    """Return the objective of a claim such as "pass@4" or "2*polychromic@4", and its factor.

    "maxrl@4" is the log-likelihood of success, cut off at order 4: Σ pass@k/k for k ≤ 4.

    Raises:
        ValueError: If the name is unknown, the factor is not a number, or K is not from 1 to N.
    """
    times, star, label = text.replace("·", "*").replace("∇", "").rpartition("*")
    name, _, size = label.strip().partition("@")
    spelled = {short: long for long, short in SHORT.items()} | {"best": "max", "cons": "majority"}
    by_label = {**objectives.by_name, "maxrl": objectives.any_correct}
    objective = names.look_up("objective", spelled.get(name, name), by_label)()
    if size and not size.isdigit():
        raise ValueError(f"a claim is an objective with a set size, such as pass@4, got {text!r}")
    set_size = objective.resolve_set_size(int(size) if size else 1)
    if not 1 <= set_size <= num_samples:
        raise ValueError(f"{text}: a group of {num_samples} samples has no sets of {set_size}")
    factor = _read_factor(times, text) if star else None
    if name == "maxrl":
        return _log_likelihood(set_size), factor
    return Known(label.strip(), objective, set_size), factor


def _read_factor(times: str, text: str) -> float:
    try:
        return float(Fraction(times.strip()))
    except ValueError:
        raise ValueError(
            f"the factor of a claim is a number, such as 2*pass@4, got {text}"
        ) from None


def known(table: ActionTable, num_samples: int) -> list[Known]:
    """Return all objectives that the table's fields can be scored by, at the usual K ≤ N."""
    candidates: list[Known] = []
    for name in sorted(objectives.by_name, key=_rank_of_objective):
        try:
            objective = objectives.by_name[name]()
            table.check_reads(objective.reads)
        except (TypeError, ValueError):  # it needs arguments, or fields that are not there
            continue
        sizes = [1] if name == "mean" else _list_set_sizes(num_samples)
        candidates.extend(Known(_label_with_size(name, size), objective, size) for size in sizes)
    return [*candidates, *_list_objectives_of_methods(table, num_samples)]


def _list_set_sizes(num_samples: int) -> list[int]:
    """Return all K ≤ N up to 16, then the powers of 2, N − 1 and N."""
    sizes = {size for size in range(1, num_samples + 1) if size <= 16 or size.bit_count() == 1}
    return sorted(sizes | {max(num_samples - 1, 1), num_samples})


def _rank_of_objective(name: str) -> tuple[int, str]:
    return (FIRST.index(name) if name in FIRST else len(FIRST), name)


def _label_with_size(name: str, set_size: int) -> str:
    return "mean reward" if name == "mean" else f"{SHORT.get(name, name)}@{set_size}"


def _list_objectives_of_methods(table: ActionTable, num_samples: int) -> Iterator[Known]:
    """Yield what MaxRL and concave counts are gradients of, for right and wrong samples."""
    if not _says_what_is_right(table):
        return
    yield from map(_log_likelihood, _list_set_sizes(num_samples)[1:])
    if table.strategies is not None:
        for alpha in CONCAVE:
            label = f"concave_counts(α={alpha:g})@{num_samples}"
            yield Known(label, _concave_counts(alpha, num_samples), num_samples)


def _log_likelihood(largest: int) -> Known:
    weights = {size: 1 / size for size in range(1, largest + 1)}
    log = objectives.over_sizes(objectives.any_correct(), weights)
    return Known(f"(Σ pass@k/k for k ≤ {largest})", log, largest)


def _says_what_is_right(table: ActionTable) -> bool:
    try:
        table.check_reads(("correct",))
    except ValueError:
        return False
    return True


def _concave_counts(alpha: float, num_samples: int) -> Objective:
    """Σ_c Σ_{j ≤ m_c} j^(α−1), where strategy c has m_c right samples."""
    worth_m = np.append(0.0, np.cumsum(np.arange(1, num_samples + 1) ** (alpha - 1)))
    return objectives.from_counts(lambda counts: worth_m[counts[..., 1].astype(int)].sum(axis=-1))
