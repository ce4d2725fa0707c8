"""Strategies in families: the laws of the two-level objective, and its method and config.

Its closed form is compared with enumeration in tests/core/objectives/test_exact.py, by its entries
in the catalogue.
"""

import numpy as np
import pytest

from setrl import DEGENERATE, Samples, methods, objectives, set_advantages
from setrl.train import method_config

RNG = np.random.default_rng(1)
REWARDS = RNG.integers(0, 2, (6, 8)) * 1.0
FAMILIES = RNG.integers(-1, 3, (6, 8))
LABELS = RNG.integers(-1, 3, (6, 8))


def score(families, strategies, weight=0.25):
    fields = {"families": np.array(families), "strategies": np.array(strategies)}
    return objectives.family_share(weight)(Samples(np.ones(len(families)), **fields)).item()


def test_a_family_costs_more_than_a_variant():
    whole = score([0, 0, 0, 1], [0, 1, 2, 0])
    without_variant = score([0, 0, 0, 1], [0, 1, 1, 0])
    without_family = score([0, 0, 0, 0], [0, 1, 2, 2])
    assert whole - without_variant == 0.25 / 4
    assert whole - without_family == 1 / 4
    assert score([0, 0, 1, 1], [0, 1, 0, 1]) - score([0, 0, 0, 0], [0, 1, 0, 1]) == 1.25 / 4


def test_it_never_falls_with_a_new_variant_and_rises_with_the_weight():
    for _ in range(200):
        families, strategies = RNG.integers(0, 3, 5), RNG.integers(0, 3, 5)
        copied = families.copy(), strategies.copy()
        copied[0][0], copied[1][0] = families[1], strategies[1]  # one member copies another
        assert score(*copied) <= score(families, strategies)
        assert score(families, strategies, 0.2) <= score(families, strategies, 0.7)


def test_the_same_label_in_two_families_is_two_variants():
    assert score([0, 1], [5, 5], 1.0) == 1.0


def test_degenerate_at_either_level_is_in_neither():
    assert score([0, DEGENERATE, 1], [DEGENERATE, 0, DEGENERATE]) == 0


@pytest.mark.parametrize(
    ("weight", "families", "strategies"),
    [
        (1.0, LABELS // 2, LABELS),  # all variants alike: the families make no difference
        (0.0, FAMILIES, np.where(LABELS < 0, -1, FAMILIES)),  # only the families
    ],
)
def test_at_its_ends_it_is_poly_epo(weight, families, strategies):
    found = methods.poly_families(3, weight).advantages(
        REWARDS, strategies=LABELS, families=families
    )
    want = methods.poly_epo(3).advantages(REWARDS, strategies=strategies)
    np.testing.assert_allclose(found.values_BN, want.values_BN, atol=1e-15)
    assert found.estimator == "closed form"


def test_within_one_family_it_is_a_mixture_of_mean_and_poly_epo():
    """(1 + α(V − 1))/K: α·polychromic, and (1 − α)/K of the mean reward."""
    strategies = np.abs(LABELS)
    one = methods.poly_families(3, 0.25).advantages(
        REWARDS, strategies=strategies, families=np.full(strategies.shape, 7)
    )
    mixed = 0.25 * objectives.polychromic() + 0.75 / 3 * objectives.mean()
    want = set_advantages(REWARDS, objective=mixed, set_size=3, strategies=strategies)
    np.testing.assert_allclose(one.values_BN, want.values_BN, atol=1e-15)


def test_names_and_hashes_are_labels_too():
    named = np.array(["sum", "product", "table"], dtype=object)[np.abs(FAMILIES)]
    named[FAMILIES < 0] = -1
    hashed = np.where(LABELS < 0, -1, LABELS * 2**49 + 12345)
    method = methods.poly_families(3)
    found = method.advantages(REWARDS, strategies=hashed, families=named)
    numbered = np.where(FAMILIES < 0, -1, np.abs(FAMILIES))
    want = method.advantages(REWARDS, strategies=LABELS, families=numbered)
    np.testing.assert_allclose(found.values_BN, want.values_BN, atol=1e-15)


def test_a_config_names_it():
    assert method_config.from_config({"method": "poly_families", "variant_weight": 0.1}) == (
        methods.poly_families(variant_weight=0.1)
    )
    diversity = {"objective": "family_share", "variant_weight": 0.1}
    named = method_config.from_config({"method": "poly_epo", "diversity": diversity})
    assert named == methods.poly_epo(diversity=objectives.family_share(0.1))


def test_what_is_wrong_is_named():
    with pytest.raises(ValueError, match=r"variant_weight=\.\.\.\) must be from 0 to 1, got 2"):
        objectives.family_share(2)
    with pytest.raises(ValueError, match=r"reads families: pass families=\.\.\."):
        methods.poly_families(3).advantages(REWARDS, strategies=LABELS)
    with pytest.raises(ValueError, match=r"families must hold .* got 0.5"):
        methods.poly_families(3).advantages(
            REWARDS, strategies=LABELS, families=np.full(LABELS.shape, 0.5)
        )
