"""Sums of methods: linear, exactly; what they need follows from their parts."""

from dataclasses import replace
from fractions import Fraction

import numpy as np
import pytest

from claims import exact, scores
from setrl import credit, grouped_advantages, methods, objectives, set_advantages
from setrl.core.adjusting import Gate, InverseStrategySize
from setrl.core.advantages import MethodSum
from setrl.core.idea import Sets
from setrl.train import method_config
from tests.core.catalogue import cases

RNG = np.random.default_rng(3)
REWARDS = RNG.integers(0, 2, (5, 7)) * 1.0
LABELS = RNG.integers(-1, 3, (5, 7))
MIXED = 0.5 * methods.poly_epo(3) + 2 * methods.maxpo(2) + methods.dr_grpo()


def test_a_sum_equals_the_enumeration_of_its_parts_in_fractions():
    """½·(u − U) of polychromic, K = 3, − 3/4·(u − v) of max, K = 2, + (u − w) of max, K = 4."""
    n = 6
    both = 0.5 * methods.poly_epo(3) + (-0.75) * methods.maxpo(2) + methods.pkpo(4)
    for case in cases(n):
        poly = Sets(scores.polychromic(case.rewards, case.strategies), n, 3)
        best = Sets(scores.maximum(case.rewards), n, 2)
        gain = Sets(scores.maximum(case.rewards), n, 4)
        want = [
            Fraction(1, 2) * (poly.u[i] - poly.U)
            - Fraction(3, 4) * (best.u[i] - best.v[i])
            + gain.u[i]
            - gain.w[i]
            for i in range(n)
        ]
        found = both.advantages([case.rewards], strategies=[case.strategies])
        np.testing.assert_allclose(found.values_BN[0], np.array(want, dtype=float), atol=1e-13)
        mean = Fraction(1, 2) * poly.U - Fraction(3, 4) * best.U + gain.U
        np.testing.assert_allclose(found.mean_B, float(mean), atol=1e-13)


def test_sums_are_flat_and_scale():
    assert MIXED.weights == (0.5, 2.0, 1.0)
    assert [part.name for part in MIXED.parts] == ["poly_epo", "maxpo", "dr_grpo"]
    assert repr(MIXED) == MIXED.name == "0.5 poly_epo + 2 maxpo + 1 dr_grpo"
    assert (2 * MIXED).weights == (MIXED * 2).weights == (1.0, 4.0, 2.0)
    assert 1.0 * methods.grpo() + methods.rloo() == MethodSum(
        (methods.grpo(), methods.rloo()), (1.0, 1.0)
    )


def test_what_a_sum_needs_follows_from_its_parts():
    assert MIXED.reads == ("rewards", "strategies")
    assert (MIXED.set_size, MIXED.fewest_samples, MIXED.needs_contrast) == (3, 4, True)
    whole = methods.pkpo(8) + methods.dr_grpo()
    assert (whole.fewest_samples, whole.needs_contrast) == (8, True)
    assert not (methods.pkpo(8) + methods.raft()).needs_contrast
    assert (methods.dr_grpo() + methods.grpo()).scale == "group_std"
    with pytest.raises(ValueError, match=r"set_size must be an integer in \[1, 2\] .* got 3"):
        MIXED.advantages(REWARDS[:, :3], strategies=LABELS[:, :3])


def test_a_sample_that_one_part_cannot_use_is_left_out_by_all():
    strategies = LABELS * 1.0
    strategies[0, 2] = np.nan
    found = set_advantages(REWARDS, MIXED, strategies=strategies)
    kept = [0, 1, 3, 4, 5, 6]
    want = MIXED.advantages(REWARDS[:1, kept], strategies=LABELS[:1, kept])
    np.testing.assert_allclose(found.values_BN[0, kept], want.values_BN[0], atol=1e-15)
    assert found.values_BN[0, 2] == 0
    strategies[1, :4] = np.nan  # three are too few for one part: all parts skip the prompt
    found = set_advantages(REWARDS, MIXED, strategies=strategies)
    assert found.skipped_B.tolist() == [False, True, False, False, False]
    assert not found.values_BN[1].any()


def test_flat_batches_take_sums():
    groups = np.repeat(np.arange(5), 7)
    found = grouped_advantages(REWARDS.ravel(), groups, MIXED, strategies=LABELS.ravel())
    want = MIXED.advantages(REWARDS, strategies=LABELS).values_BN
    np.testing.assert_allclose(found.reshape(5, 7), want, atol=1e-15)


def test_the_squares_of_standard_errors_add():
    """The spread of many draws is the standard error: the parts draw independently."""
    drawn = methods.maxpo(3, credit.Sampled(25))
    both = 3 * drawn + (-2) * drawn + methods.dr_grpo()
    rewards = RNG.random((1, 7))
    runs = [both.advantages(rewards, rng=seed) for seed in range(300)]
    spread = np.std([run.values_BN[0] for run in runs], axis=0)
    stderr = np.sqrt(np.nanmean([run.stderr_BN[0] ** 2 for run in runs], axis=0))
    np.testing.assert_allclose(stderr, spread, rtol=0.15)  # a plain sum would be 39% more
    assert runs[0].estimator == "sampled (25 of 35 sets); closed form"
    assert not runs[0].is_exact
    alone = drawn.advantages(rewards, rng=0).stderr_BN
    np.testing.assert_allclose((5 * drawn).advantages(rewards, rng=0).stderr_BN, 5 * alone)


def test_a_standard_error_that_is_not_known_is_none():
    drawn = methods.pkpo(3, credit.Sampled(12))  # two samplings, both unknown
    assert (drawn + methods.maxpo(2)).advantages(REWARDS, rng=0).stderr_BN is None
    assert MIXED.advantages(REWARDS, strategies=LABELS).stderr_BN is None


def test_the_mean_update_is_the_sum_of_gradients():
    """Over every draw: N/2·∇max@2·½ + N·∇mean·¼, in a softmax of three actions."""
    n, policy, reward = 4, [0.2, 0.3, 0.5], [1.0, 0.0, 0.5]
    both = 0.5 * methods.maxpo(2) + 0.25 * methods.rloo()
    draws = np.array(np.meshgrid(*[range(3)] * n)).reshape(n, -1).T
    values = both.advantages(np.array(reward)[draws]).values_BN
    chance = np.prod(np.array(policy)[draws], axis=1)
    found = np.einsum("d,dn,dna->a", chance, values, np.eye(3)[draws] - policy)

    def gradient(size):
        score = scores.maximum(reward)
        return np.array(exact.logit_gradient(score, policy, size), dtype=float)

    np.testing.assert_allclose(
        found, 0.5 * n / 2 * gradient(2) + 0.25 * n * gradient(1), atol=1e-12
    )


@pytest.mark.parametrize(
    ("make", "message"),
    [
        (lambda: MethodSum((), ()), "a sum of methods needs a weight for each part, got 0 parts"),
        (lambda: MethodSum((methods.grpo(),), (1.0, 2.0)), "got 1 parts and 2 weights"),
        (lambda: float("nan") * methods.grpo(), "weights of a sum must be finite"),
        (lambda: MethodSum(("grpo",), (1.0,)), "parts of a sum must be methods, got 'grpo'"),
    ],
)
def test_what_is_no_sum_is_refused(make, message):
    with pytest.raises(ValueError, match=message):
        make()


def test_a_method_adds_to_methods_alone():
    with pytest.raises(TypeError):
        methods.grpo() + 1
    with pytest.raises(TypeError):
        methods.grpo() * methods.grpo()


def test_configs_name_sums():
    config = {
        "method": "sum",
        "of": [
            {"method": "grpo", "weight": 0.5},
            {"method": "set_rl", "objective": "majority", "set_size": 3},
        ],
    }
    found = method_config.from_config(config)
    majority = methods.set_rl(objectives.majority(), 3)
    assert found == 0.5 * methods.grpo() + majority
    assert found.reads == ("rewards", "answers")
    nested = {"method": "sum", "of": [{**config, "weight": 2.0}, {"method": "rloo"}]}
    rewards, answers = REWARDS, RNG.integers(0, 3, REWARDS.shape)
    want = (2 * found + methods.rloo()).advantages(rewards, answers=answers).values_BN
    got = method_config.from_config(nested).advantages(rewards, answers=answers).values_BN
    np.testing.assert_allclose(got, want, atol=1e-15)


@pytest.mark.parametrize(
    ("config", "message"),
    [
        ({"method": "sum"}, r"needs of: \[\{method: grpo, weight: 0.5\}, …\], a list .* got None"),
        ({"method": "sum", "of": ["grpo"]}, r"a list of methods, got \['grpo'\]"),
        ({"method": "sum", "of": []}, "got 0 parts"),
        ({"method": "sum", "off": []}, "unknown option of sum 'off'; did you mean 'of'"),
        ({"method": "sum", "of": [{"method": "grpo", "weight": "1"}]}, "must be a number, got '1'"),
        ({"method": "sum", "of": [{"method": "grp"}]}, "unknown method 'grp'; did you mean 'grpo'"),
    ],
)
def test_wrong_sums_in_configs(config, message):
    with pytest.raises(ValueError, match=message):
        method_config.from_config(config)


def test_a_gate_closes_after_the_sum():
    parts = (methods.poly_epo(3), methods.dr_grpo())
    plain, gated = MethodSum(parts, (2.0, -0.5)), MethodSum(parts, (2.0, -0.5), Gate())
    before = plain.advantages(REWARDS, strategies=LABELS).values_BN
    after = gated.advantages(REWARDS, strategies=LABELS).values_BN
    wrong = REWARDS < 0.5
    assert (before[wrong] > 0).any()
    np.testing.assert_array_equal(after, np.where(wrong, np.minimum(before, 0), before))
    one_by_one = [replace(part, adjustment=Gate()) for part in parts]
    other = (
        MethodSum(tuple(one_by_one), (2.0, -0.5)).advantages(REWARDS, strategies=LABELS).values_BN
    )
    assert (other[wrong] > 0).any()  # gates of the parts are not one of the sum
    assert MethodSum((methods.maxpo(2),), (1.0,), InverseStrategySize()).reads == (
        "rewards",
        "strategies",
    )
    config = {"method": "sum", "gate": True, "of": [{"method": "dr_grpo"}, {"method": "grpo"}]}
    assert method_config.from_config(config) == replace(
        methods.dr_grpo() + methods.grpo(), adjustment=Gate()
    )


def test_an_adjusted_sum_is_one_part_of_further_sums():
    gated = replace(methods.dr_grpo() + methods.grpo(), adjustment=Gate())
    twice = 2 * gated + methods.maxpo(2)
    assert twice.parts == (gated, methods.maxpo(2))
    assert twice.weights == (2.0, 1.0)
    want = 2 * gated.advantages(REWARDS).values_BN + methods.maxpo(2).advantages(REWARDS).values_BN
    np.testing.assert_array_equal(twice.advantages(REWARDS).values_BN, want)
    assert "1 dr_grpo + 1 grpo" in twice.name


def test_an_adjustment_scales_the_standard_errors_of_a_sum():
    drawn = replace(methods.maxpo(3), estimator=credit.Sampled(20))
    hard = methods.f_grpo().adjustment
    plain = (drawn + methods.dr_grpo()).advantages(REWARDS, rng=0)
    scaled = replace(drawn + methods.dr_grpo(), adjustment=hard).advantages(REWARDS, rng=0)
    share = 1 - REWARDS.mean(1, keepdims=True)
    np.testing.assert_allclose(scaled.stderr_BN, share * plain.stderr_BN, atol=1e-15)
