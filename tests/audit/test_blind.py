"""Estimators that nobody wrote for this audit: it is right about each, or says that it drew."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
import pytest

from setrl.theory.audit import Audit, audit, batches
from setrl.theory.audit.field import Field
from tests.audit.blind import BATCH, CHANCE, ORDER, PLAIN, centred
from tests.audit.test_planted import gradient

POLICIES = np.array([[0.2, 0.8], [0.5, 0.5], [0.9, 0.1]])
FACTORS = {"nearly 5": "4.99…·∇pass@1", "small bias": "2.00…·∇pass@1", "constant": "None"}


def update(found: Audit) -> np.ndarray:
    """Return the mean update that the first sentence is about."""
    return Field((found.in_batch or found).paid, POLICIES).values_PA


@pytest.mark.parametrize("name", [*ORDER, *BATCH, *PLAIN])
def test_the_update_is_that_of_the_definition(name: str) -> None:
    function = (ORDER | BATCH | PLAIN)[name]
    found = audit(function, group_size=2, groups=2)
    assert found.estimator.is_steady
    assert found.in_batch is None or found.in_batch.draws == 0
    truth_PA = gradient(function, 2, 1, POLICIES)
    np.testing.assert_allclose(update(found), truth_PA, atol=1e-6)
    assert str(found.nearest) == FACTORS.get(name, str(found.nearest))


@pytest.mark.parametrize("name", ["means ascend", "third group", "repeated group", "chessboard"])
def test_the_update_in_larger_batches(name: str) -> None:
    found = audit(BATCH[name], group_size=3, groups=3)
    truth_PA = gradient(BATCH[name], 3, 1, POLICIES, size=3)
    np.testing.assert_allclose(update(found), truth_PA, atol=1e-9)


def test_every_order_of_a_long_group_is_tried() -> None:
    found = audit(ORDER["late samples"], group_size=12)
    assert found.pays["permutation-invariant"] is False
    assert str(found.objective) == "9·∇pass@1"


def simulated(function: Callable, draws: int) -> np.ndarray:
    """Return the mean update in batches of two groups of two samples, towards right samples.

    A group is a prompt's whose success rate is even from 0 to 1: with one right sample, of which
    the place is by chance, in a third of the cases, as with none and two.
    """
    rng, paid = np.random.default_rng(7), np.zeros((3, 2))
    for _ in range(draws):
        rewards = (rng.random((2, 2)) < rng.random((2, 1))) * 1.0
        values = np.asarray(function(rewards.copy()))
        right = np.stack([(values * rewards).sum(axis=1), values.sum(axis=1)], axis=1)
        np.add.at(paid, rewards.sum(axis=1).astype(int), right)
    p = POLICIES[:, :1]
    chances = np.hstack([(1 - p) ** 2, 2 * p * (1 - p), p**2])
    right, every = paid.T / (2 * draws / 3)
    return (chances * (right - p * every)).sum(axis=1)


@pytest.mark.parametrize("name", CHANCE)
def test_chance_and_state_are_noticed_and_drawn(name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(batches, "TIMES", 1)
    monkeypatch.setattr(batches, "DRAWS", 400)
    found = audit(CHANCE[name](), group_size=2, groups=2)
    assert found.objective is None
    assert found.pays["unbiased"] is False
    assert found.sentences()[0].startswith("Warning: ")
    batch = found.in_batch
    assert batch is not None
    assert batch.draws == batches.DRAWS
    error = batch.noise * np.linalg.norm(Field(batch.paid, found.gradient.policies_PA).values_PA)
    apart = update(found)[:, 0] - simulated(CHANCE[name](), batch.draws)
    assert np.linalg.norm(apart) < 3 * error


def test_what_is_drawn_has_an_interval_and_its_limit() -> None:
    found = audit(CHANCE["sign in batches"](), group_size=3, groups=8)
    assert "which may be 0 (4,000 batches were drawn: what fewer than 1 of 1,333 do" in str(found)
    found = audit(lambda r: centred(r) + (r[0] != r[-1]).all() * r, group_size=3, groups=8)
    assert found.in_batch is not None
    assert found.in_batch.match is not None
    assert found.in_batch.match.errors[0] > 0
    assert " ± " in str(found.in_batch)
    same = audit(centred, groups=8)
    assert "the same in 1,000 drawn batches of 8 groups: what fewer than 1 of 333 do" in str(same)
    assert "the same in all 256 batches of 2 groups)" in str(audit(centred, groups=2))
    assert "the same in all 512 batches of 3 groups)" in str(audit(centred, group_size=3, groups=3))
    mixes_5 = audit(lambda r: centred(r) * (1 + (len(r) == 5)), group_size=2, groups=3)
    assert mixes_5.mixes_groups
    assert str(mixes_5.in_batch) == "∇pass@1, exactly"


def test_no_update_is_no_small_one() -> None:
    for name in ("place", "places that cancel"):
        found = audit(PLAIN[name], groups=2, claims="pass@1")
        assert found.sentences()[0] == "Claim pass@1: <lambda> gives no update at all."
        assert "0 for every policy" in found.sentences()[1]


def test_json_is_about_batches_that_were_asked_for() -> None:
    found = audit(BATCH["batch mean"], groups=2).to_json()
    assert found["objective"]["is"] == "7/2·∇pass@1"
    assert found["factor"] == pytest.approx(3.5)
    assert found["alone"]["objective"]["is"] == "3·∇pass@1"
    assert np.abs(found["gradient"]).max() == pytest.approx(3.5 / 4)
