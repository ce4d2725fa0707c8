"""Calls that do not agree, and numbers that are none: no sentence may claim more than they show."""

from __future__ import annotations

import random
from collections import Counter
from collections.abc import Callable

import numpy as np
import pytest

from setrl.theory.audit import Audit, audit

N = 3  # the smallest groups that can show each fault


def centred(rewards: np.ndarray) -> np.ndarray:
    return rewards - rewards.mean(axis=-1, keepdims=True)


def in_batches_of(is_bad: Callable[[int], bool]) -> Callable[[np.ndarray], np.ndarray]:
    """Return an estimator that mixes only batches of some sizes."""

    def mixes(rewards: np.ndarray) -> np.ndarray:
        is_batch = rewards.ndim == 2 and is_bad(len(rewards))
        return centred(rewards) / (rewards.std() + 1e-6 if is_batch else 1)

    return mixes


def once(rewards: np.ndarray) -> np.ndarray:
    """Pay equal groups of a batch only once."""
    paid, seen = centred(np.atleast_2d(rewards)), set()
    for row, group in zip(paid, np.atleast_2d(rewards), strict=True):
        row *= tuple(group) not in seen
        seen.add(tuple(group))
    return paid


def beside_the_last(rewards: np.ndarray) -> np.ndarray:
    """Pay twice beside a group with one right sample, which is the one before in the batch."""
    before = np.roll(np.atleast_2d(rewards).sum(axis=-1), 1)
    return (
        centred(np.atleast_2d(rewards)) * np.where((before == 1) & (len(before) > 1), 2, 1)[:, None]
    )


@pytest.mark.parametrize(
    "function",
    [in_batches_of(lambda size: size == 2), in_batches_of(lambda size: size > 100), once,
     in_batches_of(lambda size: size > 6), beside_the_last],
)  # fmt: skip
def test_groups_that_are_mixed_only_sometimes(function) -> None:
    found = audit(function, group_size=N, groups=2)
    assert found.pays["independent-groups"] is False
    assert found.pays["permutation-invariant"]
    assert str(found.objective) == "2·∇pass@1"  # of groups by themselves


class Forgets:
    """Pays a group twice as much from the fourth call on."""

    def __init__(self) -> None:
        self.calls: Counter[bytes] = Counter()

    def __call__(self, rewards: np.ndarray) -> np.ndarray:
        self.calls[rewards.tobytes()] += 1
        return centred(rewards) * (2 if self.calls[rewards.tobytes()] > 3 else 1)


def seldom(rewards: np.ndarray) -> np.ndarray:
    return centred(rewards) * (3 if random.random() < 1e-9 else 1)


def seeds(rewards: np.ndarray) -> np.ndarray:
    np.random.seed(0)  # noqa: NPY002
    return centred(rewards)


def of_its_own(rewards: np.ndarray, draw: np.random.Generator = np.random.default_rng(0)):  # noqa: B008
    return centred(rewards) * draw.random()


@pytest.mark.parametrize("function", [Forgets(), seldom, seeds, of_its_own])
def test_an_unsteady_function_is_nothing_exactly(function) -> None:
    found = audit(function, group_size=N)
    assert found.objective is None
    assert not found.pays["unbiased"]
    assert found.pays["deterministic"] is False
    assert found.pays["scale-free"] is found.pays["permutation-invariant"] is None
    assert found.sentences()[0].startswith("Warning: ")
    assert found.made is None


def test_a_gradient_in_the_other_direction_keeps_no_claim() -> None:
    found = audit(np.negative, group_size=N, claims="pass@1")
    assert found.claim is not None
    assert found.claim.is_exact
    assert not found.pays["unbiased"]
    claim, headline = found.sentences()[:2]
    assert claim == "Claim pass@1: negative goes in the opposite direction, −3·∇pass@1."
    assert headline.startswith("negative minimises pass@1: its mean update is −3·∇pass@1")


def test_groups_without_numbers_keep_no_claim() -> None:
    def no_right(rewards):
        return centred(rewards) if rewards.any() else rewards * np.nan

    found = audit(no_right, group_size=N, claims="pass@1", takes="group")
    assert found.objective is not None
    assert "if NaN counts as 0" in str(found)
    assert not found.pays["unbiased"]


def test_nearly_is_not_equal() -> None:
    def nearly(rewards):
        return centred(rewards) * (1 + 1e-3 * (rewards.sum() == 1))

    found = audit(nearly, group_size=4, takes="group")
    assert found.objective is None
    assert "(up to 0.0" in str(found.made)
    assert "0% off" not in str(found)


@pytest.mark.parametrize("favoured", [lambda labels: 1, lambda labels: np.median(labels)])
def test_labels_are_permuted_and_renamed(favoured) -> None:
    def favours(rewards, strategies):
        return centred(rewards) * (1 + (strategies == favoured(strategies)))

    found = audit(favours, group_size=3, labels=3, takes="group")  # the same if they are reversed
    assert found.pays["label-invariant"] is False


def test_labels_that_a_function_does_not_take() -> None:
    def counts(rewards, strategies):
        return centred(rewards) / np.eye(3)[strategies].sum(axis=0)[strategies]

    found = audit(counts, group_size=2, labels=3, takes="group")
    law = next(law for law in found.laws if law.name == "label-invariant")
    assert law.holds is None
    assert law.says == "fails if its labels are 5, 12, 19"


@pytest.mark.parametrize(
    ("function", "message"),
    [
        (lambda rewards, group_ids: rewards, "needs rewards, group_ids, and an audit has only"),
        (lambda rewards: rewards + 1j, "an array of real numbers"),
        (lambda rewards: exit(3), "raised SystemExit: 3"),
    ],
)
def test_what_would_be_misread_is_refused(function, message) -> None:
    with pytest.raises(ValueError, match=message):
        audit(function)


def test_masked_samples_are_missing() -> None:
    found = audit(lambda rewards: np.ma.masked_equal(centred(rewards), 0), group_size=N)
    assert found.pays["finite"] is False


def test_strength_is_along_the_gradient() -> None:
    def max_rl(rewards):
        mean = rewards.mean(axis=-1, keepdims=True)
        return centred(rewards) / np.where(mean > 0, mean, 1)

    found: Audit = audit(max_rl, claims="pass@1")  # 4·(1 + (1 − p) + (1 − p)²)·∇pass@1
    low, high = found.strength[0.1], found.strength[0.9]
    assert low / high == pytest.approx((1 + 0.9 + 0.81) / (1 + 0.1 + 0.01))
