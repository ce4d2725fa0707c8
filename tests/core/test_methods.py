"""Each method against the formula of its paper, and configs that name methods."""

from itertools import product
from math import comb, sqrt

import numpy as np
import pytest

from claims import exact, scores
from setrl import credit, methods, objectives, set_advantages
from setrl.core.advantages import STD_FLOOR
from setrl.train import method_config

RNG = np.random.default_rng(0)
BINARY = RNG.integers(0, 2, (6, 8)) * 1.0
GRADED = RNG.random((6, 8))
LABELS = RNG.integers(0, 4, (6, 8))


def values(method, rewards, **fields):
    return method.advantages(rewards, **fields).values_BN


def test_grpo_is_the_z_score():
    want = (GRADED - GRADED.mean(1, keepdims=True)) / (GRADED.std(1, ddof=1, keepdims=True) + 1e-4)
    np.testing.assert_allclose(values(methods.grpo(), GRADED), want, atol=1e-12)


def test_dr_grpo_is_centred():
    want = GRADED - GRADED.mean(1, keepdims=True)
    np.testing.assert_allclose(values(methods.dr_grpo(), GRADED), want, atol=1e-15)


def test_rloo_leaves_one_out():
    others = (GRADED.sum(1, keepdims=True) - GRADED) / 7
    np.testing.assert_allclose(values(methods.rloo(), GRADED), GRADED - others, atol=1e-15)


def test_grpo_div_adds_the_rarity():
    counts = (LABELS[:, :, None] == LABELS[:, None, :]).sum(-1)
    shaped = BINARY + 0.3 * (8 / counts - 1) / 7
    found = values(methods.grpo_div(0.3), BINARY, strategies=LABELS)
    np.testing.assert_allclose(found, shaped - shaped.mean(1, keepdims=True), atol=1e-15)


def test_poly_epo_golden_values():
    """N = 8, K = 4, two forms of the diversity; worked out by hand-written enumeration."""
    rewards, strategies = [[1.0, 0, 1, 0, 1, 0, 0, 1]], [[1, 2, 1, 3, 2, -1, 1, 4]]
    fields = {"strategies": np.array(strategies)}
    code = methods.poly_epo(4).advantages(np.array(rewards), **fields)
    want = [0.030357, -0.048214, 0.030357, -0.008929, 0.057143, -0.080357, -0.069643, 0.089286]
    assert code.mean_B[0] == pytest.approx(0.3410714, abs=1e-7)
    np.testing.assert_allclose(code.values_BN[0], want, atol=1e-6)
    paper = methods.poly_epo(4, diversity=objectives.mixed_share())
    paper = paper.advantages(np.array(rewards), **fields)
    want = [0.028571, -0.046429, 0.028571, -0.007143, 0.058929, -0.082143, -0.071429, 0.091071]
    assert paper.mean_B[0] == pytest.approx(0.3392857, abs=1e-7)
    np.testing.assert_allclose(paper.values_BN[0], want, atol=1e-6)


def test_max_at_k_golden_values():
    """Six rewards, K = 3: MaxPO's L2O, and PKPO's s, s_loo and s_loo−1, from its public code."""
    rewards, n, k = np.array([[0.1, 0.7, 0.2, 0.9, 0.4, 0.3]]), 6, 3
    l2o = [-0.11, 0.09, -0.11, 0.33, -0.09, -0.11]
    np.testing.assert_allclose(values(methods.maxpo(k), rewards)[0], l2o, atol=1e-12)
    less_one = [0, 0.11, 0, 0.21, 0.02, 0.005]
    found = k / n * values(methods.pkpo(k), rewards)[0]
    np.testing.assert_allclose(found, less_one, atol=1e-12)
    plain = set_advantages(rewards, objective=objectives.max(), set_size=k, baseline="none")
    s = [0.34, 0.39, 0.34, 0.45, 0.345, 0.34]
    np.testing.assert_allclose(k / n * plain.values_BN[0], s, atol=1e-12)
    s_loo = k / n * plain.with_BN[0] - k / (n - 1) * plain.without_BN[0]
    want = [-0.134, -0.024, -0.134, 0.108, -0.123, -0.134]
    np.testing.assert_allclose(s_loo, want, atol=1e-12)


def test_naive_leave_one_out_of_expected_improvement_is_another_gradient():
    """Some public ports of PKPO subtract the batch mean of EI; that mixes K and K − 1."""
    n, k, policy, reward = 4, 2, [0.2, 0.3, 0.5], [1.0, 0.5, 0.0]
    draws = np.array(list(product(range(3), repeat=n)))
    gain = values(methods.pkpo(k), np.array(reward)[draws])
    naive = gain - (gain.sum(1, keepdims=True) - gain) / (n - 1)
    chance = np.prod(np.array(policy)[draws], axis=1)
    found = np.einsum("d,dn,dna->a", chance, naive, np.eye(3)[draws] - policy)

    def gradient(size):
        score = lambda draw: float(scores.maximum([reward[a] for a in draw])(range(size)))  # noqa: E731
        return np.array(exact.logit_gradient(score, policy, size), dtype=float)

    mixed = n / k * (1 - (k - 1) / (n - 1)) * gradient(k) + n / (n - 1) * gradient(k - 1)
    np.testing.assert_allclose(found, mixed, atol=1e-12)


@pytest.mark.parametrize(("n", "k"), [(8, 4), (32, 8), (6, 1)])
def test_pass_k_training_is_its_formula(n, k):
    for wrong in range(n + 1):
        rewards = np.array([[0.0] * wrong + [1.0] * (n - wrong)])
        rate = 1 - comb(wrong, k) / comb(n, k)
        sigma = sqrt(rate * (1 - rate)) + STD_FLOOR
        right = (1 - rate) / sigma
        lost = (1 - rate - comb(max(wrong - 1, 0), k - 1) / comb(n - 1, k - 1)) / sigma
        found = values(methods.pass_k_training(k), rewards)[0]
        np.testing.assert_allclose(found, [lost] * wrong + [right] * (n - wrong), atol=1e-10)


def test_pass_k_training_golden_values():
    rewards = np.array([[1.0, 1, 0, 0, 0, 0, 0, 0]])
    found = values(methods.pass_k_training(4), rewards)[0]
    np.testing.assert_allclose(found[[0, 7]], [0.522233, -0.174078], rtol=3e-4)


def test_set_rl_as_the_note_writes_it_sums_over_sets():
    """Eq. 8 and 9: the sum of f(G) − mean f over the sets G that hold a sample, in fractions."""
    n, k = 6, 3
    sets = exact.all_sets(n, k)
    method = method_config.from_config(
        {"method": "set_rl", "objective": "polychromic", "set_size": k, "reduction": "sum"}
    )
    assert method == methods.set_rl(set_size=k, reduction="sum")
    for rewards, strategies in zip(BINARY[:, :n], LABELS[:, :n], strict=True):
        score = scores.polychromic([int(r) for r in rewards], strategies.tolist())
        mean = exact.average(map(score, sets))
        want = [float(sum(score(s) - mean for s in sets if i in s)) for i in range(n)]
        found = values(method, rewards[None], strategies=strategies[None])[0]
        np.testing.assert_allclose(found, want, atol=1e-12)


def test_order_grad_is_the_leave_one_out_advantage_of_the_weights():
    """The paper's a_i is the statistic with i minus the statistic of the sets without i."""
    method = methods.order_grad([0.25, -1.0, 2.0])
    found = values(method, GRADED)
    want = set_advantages(
        GRADED,
        objective=objectives.from_function(
            lambda rewards: np.sort(rewards, axis=-1) @ [0.25, -1.0, 2.0]
        ),
        set_size=3,
        baseline="leave_one_out",
    )
    assert want.estimator == "enumerated (56 sets)"
    np.testing.assert_allclose(found, want.values_BN, atol=1e-12)


def test_darling_multiplies_by_the_floored_diversity():
    strategies = np.array([[0, 0, 0, 0, 0, 0, 0, 0], [0, 0, 1, 1, 1, 2, 3, -1]])
    counts = np.array([[8] * 8, [2, 2, 3, 3, 3, 1, 1, 8]])
    shaped = GRADED[:2] * np.maximum((8 - counts) / 7, 0.1)
    found = values(methods.darling(), GRADED[:2], strategies=strategies)
    np.testing.assert_allclose(found, shaped - shaped.mean(1, keepdims=True), atol=1e-15)


def test_maxrl_divides_by_the_mean():
    rewards = np.concatenate([BINARY, np.zeros((1, 8))])
    mean = rewards.mean(1, keepdims=True)
    want = np.where(mean > 0, (rewards - mean) / np.where(mean > 0, mean, 1), 0)
    np.testing.assert_allclose(values(methods.maxrl(), rewards), want, atol=1e-12)
    with pytest.raises(ValueError, match="maxrl needs rewards of at least 0, got -1"):
        values(methods.maxrl(), -rewards)


def test_maxrl_is_pass_at_k_over_all_sizes_below_n():
    """(r − mean)/mean = (N − 1)·(u − v) of Σ_{K<N} pass@K / K, sample by sample."""
    sizes = objectives.over_sizes(objectives.any_correct(), {k: 1 / k for k in range(1, 8)})
    whole = set_advantages(BINARY, objective=sizes, baseline="leave_one_out")
    np.testing.assert_allclose(values(methods.maxrl(), BINARY), 7 * whole.values_BN, atol=1e-12)


def test_unlikeliness_takes_from_the_likelier():
    log_prob = RNG.normal(size=(6, 8))
    rank = log_prob.argsort(1).argsort(1)
    shaped = BINARY * (1 - 0.25 * rank / 8)
    std = shaped.std(1, ddof=1, keepdims=True)
    found = values(methods.unlikeliness(), BINARY, proxy=log_prob)
    want = (shaped - shaped.mean(1, keepdims=True)) / (std + STD_FLOOR)
    np.testing.assert_allclose(found, want, atol=1e-12)
    tied = methods.unlikeliness().shaping(
        objectives_samples(np.ones((1, 4)), np.array([[0.0, 0, 1, 2]]))
    )
    np.testing.assert_allclose(tied[0], 1 - 0.25 * np.array([0.5, 0.5, 2, 3]) / 4)


def objectives_samples(rewards, proxy):
    from setrl import Samples

    return Samples(rewards, proxy=proxy)


def test_every_method_has_its_name_and_makes_advantages():
    fields = {
        "strategies": LABELS,
        "proxy": GRADED,
        "families": LABELS // 2,
        "correct": BINARY,
    }
    for name, make in methods.by_name.items():
        method = make([0.0, 1.0]) if name == "order_grad" else make()
        assert method.name == name
        adv = method.advantages(
            BINARY, **{key: fields[key] for key in set(method.reads) - {"rewards"}}
        )
        assert np.isfinite(adv.values_BN).all()
        assert adv.values_BN.any()


def test_a_method_of_several_sizes_is_that_of_over_sizes():
    rewards, strategies = np.array([[1.0, 0, 1, 0, 1]]), np.array([[0, 0, 1, 2, 1]])
    weights = {1: 0.25, 3: 0.75}
    method = method_config.from_config({"method": "poly_epo", "set_size": weights})
    found = method.advantages(rewards, strategies=strategies).values_BN
    parts = [
        weight
        * (k / 3)
        * methods.poly_epo(k).advantages(rewards, strategies=strategies).values_BN
        / (1 - k / 5)
        for k, weight in weights.items()
    ]  # u − U of K is (1 − K/N)(u − v), and u − v of the mixture weighs sizes by n_c / K
    assert method.set_size == 3
    np.testing.assert_allclose(found, (1 - 3 / 5) * np.sum(parts, axis=0), atol=1e-15)
    assert methods.maxpo({2: 1.0}).baseline == "leave_one_out"


def test_configs_name_methods():
    assert method_config.from_config({"method": "poly_epo", "set_size": 8}) == methods.poly_epo(8)
    mixed = method_config.from_config({"method": "poly_epo", "diversity": "mixed_share"})
    assert mixed == methods.poly_epo(diversity=objectives.mixed_share())
    assert method_config.from_config({"method": "order_grad", "weights": [0, 1]}).set_size == 2


@pytest.mark.parametrize(
    ("config", "message"),
    [
        ({}, "needs the key 'method'"),
        ({"method": "polyepo"}, "unknown method 'polyepo'; did you mean 'poly_epo'"),
        ({"method": "maxpo", "setsize": 2}, "did you mean 'set_size'"),
        ({"method": "order_grad"}, "order_grad needs the option 'weights'"),
        ({"method": ["grpo"]}, r"unknown method \['grpo'\]; did you mean 'grpo'"),
        ({"method": "poly_epo", "diversity": 1}, "diversity must be a value such as .*, got 1"),
        ({"method": "poly_epo", "diversity": "mixed"}, "unknown diversity 'mixed'; did you mean"),
    ],
)
def test_wrong_configs_are_answered_with_what_is_near(config, message):
    with pytest.raises(ValueError, match=message):
        method_config.from_config(config)


def test_a_method_s_estimator_is_used():
    adv = methods.maxpo(4, credit.Sampled(20)).advantages(BINARY, rng=np.random.default_rng(0))
    assert adv.estimator == "sampled (20 of 70 sets)"
    assert adv.stderr_BN is not None
