"""Estimators that mix the groups of a batch, in batches of several groups."""

from __future__ import annotations

from itertools import product

import numpy as np
import pytest

from setrl.theory.audit import audit
from setrl.theory.audit import batches as module


def whitened(rewards: np.ndarray) -> np.ndarray:
    return (rewards - rewards.mean()) / (rewards.std() + 1e-6)


GROUPS = np.array([[1.0, 1.0], [1.0, 0.0], [0.0, 0.0]])  # equally likely, if policies are uniform


def test_the_mean_over_the_other_groups_is_the_mean_over_their_policies() -> None:
    found = audit(whitened, group_size=2, groups=3, takes="batch").in_batch
    assert found is not None
    assert found.draws == 0
    beside = [
        whitened(np.array([own, *others]))[0]
        for own in GROUPS
        for others in product(GROUPS, repeat=2)
    ]
    means = np.array(beside).reshape(3, -1, 2).mean(axis=1)
    counts_SA, credit_SA = found.paid.groups.counts_SA, found.paid.credit_SA
    for own, mean in zip(GROUPS, means, strict=True):
        row = int(np.flatnonzero(counts_SA[:, 0] == own.sum())[0])
        for action, reward in ((0, 1.0), (1, 0.0)):
            if (own == reward).any():
                assert credit_SA[row, action] == pytest.approx(mean[own == reward].mean())
    assert found.all_wrong == pytest.approx(means[2].mean())


def test_larger_batches_have_less_bias(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(module, "DRAWS", 200)
    small = audit(whitened, groups=2, takes="batch")
    assert small.in_batch is not None
    assert small.in_batch.off == pytest.approx(0.01, rel=0.1)
    assert "in batches of 2 groups" in str(small)
    large = audit(whitened, groups=32, takes="batch").in_batch
    assert large is not None
    assert large.draws == 200
    assert large.off < small.in_batch.off / 3


def test_other_estimators_are_not_called_in_batches() -> None:
    assert audit(lambda rewards: rewards, group_size=2).in_batch is None


def test_what_is_required_and_said_first_is_about_batches() -> None:
    def over_mean(rewards: np.ndarray) -> np.ndarray:
        return (rewards - rewards.mean(axis=-1, keepdims=True)) / (rewards.mean() or 1)

    found = audit(over_mean, group_size=3, groups=2, claims="maxrl@2", takes="batch")
    assert found.claim is not None
    assert found.claim.holds  # of groups by themselves
    assert found.pays["unbiased"] is False
    assert found.pays["has-objective"] is True
    claim, first, second, third = found.sentences()[:4]
    assert claim.startswith("Claim (Σ pass@k/k for k ≤ 2): over_mean is biased; the nearest is")
    assert first.startswith("over_mean in batches of 2 groups")
    assert "off by" in first
    assert "It mixes the groups of a batch" in second
    assert "alone in their batch)" in third


def test_a_function_that_takes_a_group_and_a_batch_is_audited_as_both() -> None:
    found = audit(lambda rewards: rewards - rewards.mean(), claims="3*pass@1")
    assert found.claim is not None
    assert found.claim.holds
    assert found.pays["unbiased"] is False  # 31/8 in batches
    claim, headline, both = found.sentences()[:3]
    assert claim.endswith("keeps it with one group at a time, and not in batches.")
    assert "(groups of 4 samples with rewards 0 and 1). Here" in headline
    assert "as with --takes group" in both
    assert "in batches of 8 groups its mean update is 31/8·∇pass@1, exactly" in both
    assert audit(lambda rewards: rewards - rewards.mean(), takes="group").pays["unbiased"]


def test_drawn_batches_show_a_bias_and_no_unbiased_update(monkeypatch: pytest.MonkeyPatch) -> None:
    def minus_all(rewards: np.ndarray) -> np.ndarray:
        return rewards - rewards.mean()

    monkeypatch.setattr(module, "DRAWS", 200)
    assert audit(minus_all, groups=20, takes="batch").pays["unbiased"] is None
    biased = audit(minus_all, groups=20, takes="batch", claims="pass@4")
    assert biased.pays["unbiased"] is False


def test_a_function_that_fails_in_batches_is_not_said_to_be_unbiased_in_them() -> None:
    def never_eight(rewards: np.ndarray) -> np.ndarray:
        assert len(rewards) != 8
        return rewards - rewards.mean(axis=1, keepdims=True)

    found = audit(never_eight, takes="batch")
    assert str(found.objective) == "3·∇pass@1"
    assert found.pays["unbiased"] is None
    with pytest.raises(ValueError, match="at least one group"):
        audit(never_eight, takes="batch", groups=0)
