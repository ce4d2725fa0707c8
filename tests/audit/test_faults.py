"""Planted faults: each is found, and named."""

from __future__ import annotations

import warnings
from collections.abc import Callable
from itertools import combinations

import numpy as np
import pytest

from setrl.theory.audit import Audit, audit

PASS_2 = "2*pass@2"  # u − v has the factor N/K = 2 for groups of 4


def _sets_of_two(rewards: np.ndarray, is_in: Callable[[tuple[int, ...], int], bool]) -> np.ndarray:
    """Return u − v of max@2, where `is_in` decides which sets hold a sample."""
    sets = list(combinations(range(len(rewards)), 2))
    paid = []
    for sample in range(len(rewards)):
        scores = {True: [0.0], False: [0.0]}
        for members in sets:
            scores[is_in(members, sample)].append(float(rewards[list(members)].max()))
        paid.append(
            sum(scores[True]) / max(len(scores[True]) - 1, 1)
            - sum(scores[False]) / max(len(scores[False]) - 1, 1)
        )
    return np.array(paid)


def right(rewards: np.ndarray) -> np.ndarray:
    return _sets_of_two(rewards, lambda members, sample: sample in members)


def by_value(rewards: np.ndarray) -> np.ndarray:
    return _sets_of_two(rewards, lambda members, sample: rewards[sample] in rewards[list(members)])


def over_std(rewards: np.ndarray) -> np.ndarray:
    return right(rewards) / (rewards.std() + 1e-6)


def with_own(rewards: np.ndarray) -> np.ndarray:
    return right(rewards) - right(rewards).mean() - (rewards - rewards.mean())


def batch_std(rewards: np.ndarray) -> np.ndarray:
    centred = rewards - rewards.mean(axis=-1, keepdims=True)
    return centred / (rewards.std() + 1e-6)


def test_the_right_estimator_has_no_fault() -> None:
    found = audit(right, claims=PASS_2)
    assert found.pays["unbiased"]
    assert str(found.made) == "u − v of pass@2"


def test_a_dropped_factor() -> None:
    found = audit(lambda rewards: right(rewards) / 2, claims=PASS_2)
    assert not found.pays["unbiased"]
    assert found.bias == 0
    assert "but for the factor, 1 instead of 2" in str(found)
    assert "u − U of pass@2" in str(found.made)


def test_membership_by_value() -> None:
    found = audit(by_value, claims=PASS_2)
    assert not found.pays["unbiased"]
    assert found.bias > 0.1
    assert "membership by value" in str(found.made)


def test_a_wrong_denominator() -> None:
    found = audit(over_std, claims=PASS_2)
    assert not found.pays["unbiased"]
    assert str(found.made) == "u − v of pass@2, divided by the standard deviation of the rewards"


def test_a_baseline_that_includes_the_sample() -> None:
    def best_of_all(rewards: np.ndarray) -> np.ndarray:
        return rewards - rewards.max()

    found = audit(best_of_all, claims="pass@1", takes="group")
    assert not found.pays["unbiased"]
    assert str(found.objective) == "4·∇pass@1 − ∇pass@4"
    claim = found.claim
    assert claim is not None
    assert claim.example is not None
    # Beside wrong samples a right one is paid 1 more than a wrong one only if the maximum is not
    # its own: 0 − 0 instead.
    assert claim.example.paid == pytest.approx(0.0)
    mean = audit(lambda rewards: rewards - rewards.mean(), claims="4*pass@1", takes="group")
    assert str(mean.made) == "u − U of pass@1"
    assert not mean.pays["unbiased"]


def test_statistics_of_the_batch() -> None:
    found = audit(batch_std)
    assert found.pays["independent-groups"] is False
    assert "mixes the groups of a batch" in str(found)


def _law(found: Audit, name: str) -> str:
    return next(law.says for law in found.laws if law.name == name)


def floored(rewards: np.ndarray) -> np.ndarray:
    return (rewards - rewards.mean()) / max(rewards.std(), 0.1)


def clipped(rewards: np.ndarray) -> np.ndarray:
    return np.clip(rewards, 0, 5) - np.clip(rewards, 0, 5).mean()


def test_faults_on_scales_that_are_far_from_the_audited_one() -> None:
    found = audit(floored, takes="group")
    assert found.pays["scale-free"] is False
    says = "pays the same if all rewards are multiplied by 3, 1/3 or 1,000, but not by 1/1,000"
    assert _law(found, "scale-free") == says
    found = audit(clipped, takes="group")
    assert found.pays["shift-free"] is False
    says = "pays the same if 1 is added to all rewards, but not if −1 is"
    assert _law(found, "shift-free") == says
    assert audit(over_std).pays["scale-free"] is True  # 1e-6 in a divisor is no floor


def test_nan_in_some_groups_is_said_and_counts_as_0() -> None:
    def no_floor(rewards: np.ndarray) -> np.ndarray:
        with np.errstate(invalid="ignore"):
            return (rewards - rewards.mean()) / rewards.std()

    found = audit(no_floor, takes="group")
    assert found.pays["finite"] is False
    assert _law(found, "finite").startswith("returns NaN")
    assert np.isfinite(found.paid.values_RN).all()


def test_edits_state_and_order() -> None:
    def edits(rewards: np.ndarray) -> np.ndarray:
        rewards -= rewards.mean()
        return rewards

    calls = iter(range(1_000_000))

    def drifts(rewards: np.ndarray) -> np.ndarray:
        return (rewards - rewards.mean()) * (1 + next(calls) / 100)

    def first_only(rewards: np.ndarray) -> np.ndarray:
        return np.where(np.arange(len(rewards)) == rewards.argmax(), rewards, 0.0)

    assert _law(audit(edits, takes="group"), "leaves-input") == "changes its input in place"
    assert audit(drifts, takes="group").pays["deterministic"] is False
    assert audit(first_only, takes="group").pays["permutation-invariant"] is False


def test_labels_must_be_only_names() -> None:
    found = audit(
        lambda rewards, strategies: rewards * (strategies == 0),
        takes="group",
        labels=2,
        group_size=3,
    )
    assert found.pays["label-invariant"] is False


@pytest.mark.parametrize(
    ("function", "message"),
    [
        (lambda rewards: 1 / 0, "raised ZeroDivisionError"),
        (lambda rewards: rewards[:-1], "one advantage for each sample"),
        (lambda rewards: "no numbers", "array of real numbers"),
        (lambda rewards, prompts, length: rewards, "needs rewards, prompts, length"),
        (3, "must be a function or a Method"),
    ],
)
def test_what_cannot_be_audited_is_said(function: object, message: str) -> None:
    with pytest.raises(ValueError, match=message):
        audit(function)


def test_tensors_on_a_graph_of_gradients() -> None:
    torch = pytest.importorskip("torch")

    def centred(rewards: torch.Tensor) -> torch.Tensor:
        weight = torch.ones(1, dtype=rewards.dtype, requires_grad=True)
        return weight * (rewards - rewards.mean(dim=-1, keepdim=True))

    found = audit(centred)
    assert str(found.objective) == "3·∇pass@1"
    assert "tensor" in found.estimator.shape.name


def test_integers_that_are_divided_as_integers() -> None:
    found = audit(lambda rewards: rewards - rewards.sum() // 2 * rewards.dtype.type(1) / 2)
    assert found.pays["takes-integers"] is True

    def halves(rewards: np.ndarray) -> np.ndarray:
        centred = rewards.astype(float)
        return (centred - centred.mean()).astype(rewards.dtype)

    assert audit(halves, takes="group").pays["takes-integers"] is False


def test_all_orders_count_if_the_order_matters() -> None:
    def without_the_first(rewards: np.ndarray) -> np.ndarray:
        return (rewards - rewards.mean()) * (np.arange(len(rewards)) > 0)

    found = audit(without_the_first, takes="group")
    assert str(found.objective) == "9/4·∇pass@1"  # three quarters of 3·∇pass@1
    assert "depends on the order" in _law(found, "permutation-invariant")


def test_a_function_of_one_group_whose_numbers_are_unknown_is_not_taken_for_one_of_batches():
    """A group without a right sample gives NaN; in a batch, right samples of others hide it."""

    def right_mean(rewards):
        return rewards - rewards[rewards == 1].mean()

    with np.errstate(all="ignore"), warnings.catch_warnings():
        warnings.simplefilter("ignore")
        found = audit(right_mean)
    assert found.pays["finite"] is False
    assert found.pays["independent-groups"] is False
    assert str(found.nearest) != "4·∇pass@1"


@pytest.mark.parametrize("unknown", [np.nan, np.inf])
def test_unknown_numbers_that_are_there_in_any_batch_are_no_mixing(unknown):
    def divided(rewards):
        spread = np.ptp(rewards, axis=-1, keepdims=True)
        centred = rewards - rewards.mean(axis=-1, keepdims=True)
        return np.where(spread > 0, centred, unknown)

    found = audit(divided)
    assert found.pays["finite"] is False
    assert found.pays["independent-groups"] is True
    assert found.pays["shift-free"] is True
