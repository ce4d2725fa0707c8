"""Methods that keep many strategies: each against its formula, and schedules as values."""

from fractions import Fraction
from itertools import product

import numpy as np
import pytest

from claims import exact
from setrl import Method, credit, methods, objectives, schedules
from setrl.core.adjusting import Gate
from setrl.core.method import STD_FLOOR
from setrl.train import method_config

RNG = np.random.default_rng(5)
BINARY = RNG.integers(0, 2, (6, 8)) * 1.0
LABELS = RNG.integers(-1, 3, (6, 8))
Z = (BINARY - BINARY.mean(1, keepdims=True)) / (BINARY.std(1, ddof=1, keepdims=True) + STD_FLOOR)


def values(method, **fields):
    return method.advantages(BINARY, **fields).values_BN


def concave(alpha, rewards, strategies):
    """f(S) = Σ_c Σ_{j≤m_c} j^(α−1) by its definition."""

    def score(members):
        right = [strategies[i] for i in members if rewards[i] > 0.5 and strategies[i] >= 0]
        counts = [right.count(c) for c in set(right)]
        return sum(j ** (alpha - 1) for m in counts for j in range(1, m + 1))

    return score


@pytest.mark.parametrize("alpha", [0, 0.25, 0.5, 1])
def test_concave_counts_are_the_gain_of_their_objective(alpha):
    """f(all) − f(all but i) is m^(α−1) for right samples; less β for wrong ones."""
    found = values(methods.concave_counts(alpha, penalty=0.125), strategies=LABELS)
    for rewards, strategies, row in zip(BINARY, LABELS, found, strict=True):
        score, everybody = concave(alpha, rewards, strategies), range(8)
        gains = [
            score(everybody) - score([j for j in everybody if j != i]) - 0.125 * (rewards[i] == 0)
            for i in everybody
        ]
        np.testing.assert_allclose(row, gains, atol=1e-14)


def test_balanced_imitation_gives_every_prompt_and_each_of_its_strategies_the_same_weight():
    """r / (m·M), M right strategies of the prompt: the weights of each prompt sum to 1."""
    rewards, strategies = (
        np.array([[1, 1, 1, 0], [1, 0, 0, 0.0]]),
        np.array([[0, 0, 1, 1], [0] * 4]),
    )
    method = methods.concave_counts(0, scale="total")
    found = method.advantages(rewards, strategies=strategies).values_BN
    want = np.array([[1 / 4, 1 / 4, 1 / 2, 0], [1, 0, 0, 0]])
    divisors = np.array([[2.0], [1.0]])
    np.testing.assert_allclose(found, want * divisors / (divisors + STD_FLOOR), atol=1e-15)


def test_what_a_wrong_sample_gets_without_a_penalty_is_0_and_no_rounding_error():
    rng = np.random.default_rng(0)
    for _ in range(50):
        correct, strategies = rng.integers(0, 2, (4, 7)), rng.integers(0, 4, (4, 7))
        found = methods.concave_counts().advantages(correct * 1.0, strategies=strategies)
        assert (found.values_BN[correct == 0] == 0).all()


def test_centred_concave_counts_lose_their_mean():
    plain = values(methods.concave_counts(0), strategies=LABELS)
    centred = values(methods.concave_counts(0, baseline="all_sets"), strategies=LABELS)
    np.testing.assert_allclose(centred, plain - plain.mean(1, keepdims=True), atol=1e-15)


def test_concave_counts_at_0_are_shapley_values_of_distinct_correct():
    """By enumeration over all orders, in fractions, and as the baseline of K = N."""
    rewards, strategies = [1, 1, 0, 1, 1, 1], [0, 0, 0, 1, -1, 0]

    def worth(members):
        return Fraction(len({strategies[i] for i in members if rewards[i] and strategies[i] >= 0}))

    n, want = 6, []
    for i in range(n):
        total = Fraction(0)
        for others in product([False, True], repeat=n - 1):
            rest = [j for j in range(n) if j != i]
            members = [j for j, holds in zip(rest, others, strict=True) if holds]
            ways = exact.factorial(len(members)) * exact.factorial(n - 1 - len(members))
            total += ways * (worth([*members, i]) - worth(members))
        want.append(total / exact.factorial(n))
    found = methods.concave_counts(0).advantages(
        np.array([rewards]), strategies=np.array([strategies])
    )
    np.testing.assert_allclose(found.values_BN[0], np.array(want, dtype=float), atol=1e-15)
    of_group = methods.set_rl(objectives.distinct_correct(), BINARY.shape[1], "shapley")
    shapley = values(of_group, strategies=LABELS)
    np.testing.assert_allclose(
        values(methods.concave_counts(0), strategies=LABELS), shapley, atol=1e-15
    )


def test_concave_counts_follow_the_gradient_of_their_objective():
    """E Σ ∇log π·A = ∇E[f + β·Σr], over every draw of four samples from three actions."""
    n, alpha, beta = 4, 0.25, 0.5
    policy, reward, strategy = [0.2, 0.3, 0.5], np.array([1.0, 1.0, 0.0]), np.array([0, 1, 1])
    draws = np.array(list(product(range(3), repeat=n)))
    method = methods.concave_counts(alpha, beta)
    found = method.advantages(reward[draws], strategies=strategy[draws]).values_BN
    chance = np.prod(np.array(policy)[draws], axis=1)
    update = np.einsum("d,dn,dna->a", chance, found, np.eye(3)[draws] - policy)
    score = concave(alpha, reward, strategy)

    def whole(drawn):
        return score(drawn) + beta * reward[list(drawn)].sum()

    np.testing.assert_allclose(
        update, np.array(exact.logit_gradient(whole, policy, n), dtype=float), atol=1e-12
    )


def test_raft_is_the_reward():
    np.testing.assert_array_equal(values(methods.raft()), BINARY)


def test_w_reinforce_weighs_what_is_right():
    want = np.where(BINARY, 0.1, -1.0)
    np.testing.assert_allclose(values(methods.w_reinforce()), want, atol=1e-15)


def test_f_grpo_weighs_hard_prompts():
    want = (1 - BINARY.mean(1, keepdims=True)) ** 1.5 * Z
    np.testing.assert_allclose(values(methods.f_grpo(1.5)), want, atol=1e-12)


def test_uarl_divides_by_the_strategy():
    sizes = (LABELS[:, :, None] == LABELS[:, None, :]).sum(-1)
    np.testing.assert_allclose(values(methods.uarl(), strategies=LABELS), Z / sizes, atol=1e-12)


def test_ucpo_pays_surprise_among_right_samples():
    log_prob = RNG.normal(size=BINARY.shape) - 900  # far from where exp has floats
    rewards = np.concatenate([BINARY, np.zeros((1, 8))])
    log_prob = np.concatenate([log_prob, log_prob[:1]])
    found = methods.ucpo(0.3).advantages(rewards, proxy=log_prob).values_BN
    want = methods.grpo().advantages(rewards).values_BN
    for b, row in enumerate(rewards > 0.5):
        if row.any():
            q = np.exp(log_prob[b, row] - log_prob[b, row].max())
            q /= q.sum()
            want[b, row] += 0.3 * (-np.log(q) + (q * np.log(q)).sum())
    np.testing.assert_allclose(found, want, atol=1e-12)


@pytest.mark.parametrize("alpha", [0.0, 0.3, 1.0])
def test_poly_mixture_is_a_sum_of_two_methods(alpha):
    n, k = 8, 3
    own = (1 - alpha) * (1 / k - 1 / n) * n / (n - 1)
    both = own * methods.dr_grpo() + alpha * methods.poly_epo(k)
    found = values(methods.poly_mixture(alpha, k), strategies=LABELS)
    np.testing.assert_allclose(found, values(both, strategies=LABELS), atol=1e-15)


def test_the_gate_clips_what_is_wrong():
    plain = Method("plain", objectives.distinct(), 3)
    gated = Method("gated", objectives.distinct(), 3, adjustment=Gate())
    before, after = values(plain, strategies=LABELS), values(gated, strategies=LABELS)
    wrong = BINARY < 0.5
    assert (before[wrong] > 0).any()
    np.testing.assert_array_equal(after, np.where(wrong, np.minimum(before, 0), before))
    assert gated.reads == ("strategies", "correct")
    named = method_config.from_config({"method": "poly_epo", "gate": True})
    assert named.adjustment == Gate()
    assert named.objective == methods.poly_epo().objective


def test_an_adjustment_scales_standard_errors():
    drawn, hard = credit.Sampled(20), methods.f_grpo().adjustment
    plain = Method("plain", objectives.max(), 3, estimator=drawn)
    scaled = Method("scaled", objectives.max(), 3, estimator=drawn, adjustment=hard)
    one, other = plain.advantages(BINARY, rng=0), scaled.advantages(BINARY, rng=0)
    share = 1 - BINARY.mean(1, keepdims=True)
    np.testing.assert_allclose(other.stderr_BN, share * one.stderr_BN, atol=1e-15)


@pytest.mark.parametrize(
    ("schedule", "numbers"),
    [
        (schedules.Linear(8, 2), [8, 6.5, 5, 3.5, 2]),
        (schedules.Linear(1, 0, begin=0.5), [1, 1, 1, 0.5, 0]),
        (schedules.Linear(0, 1, end=0.25), [0, 1, 1, 1, 1]),
        (schedules.Cosine(0, 1), [0, (1 - 0.5**0.5) / 2, 0.5, (1 + 0.5**0.5) / 2, 1]),
    ],
)
def test_schedules(schedule, numbers):
    found = [schedule(progress) for progress in (0, 0.25, 0.5, 0.75, 1)]
    np.testing.assert_allclose(found, numbers, atol=1e-15)


def test_schedules_stand_for_any_number_of_a_config():
    falling = {"schedule": "linear", "first": 1.0, "last": 0.0}
    config = {"method": "poly_mixture", "alpha": falling, "set_size": 3}
    assert method_config.from_config(config, 0.25) == methods.poly_mixture(0.75, 3)
    both = {
        "method": "sum",
        "of": [
            {"method": "grpo", "weight": falling},
            {
                "method": "poly_epo",
                "set_size": {"schedule": "cosine", "first": 7, "last": 2},
            },
        ],
    }
    halfway = method_config.from_config(both, 0.5)
    assert halfway == 0.5 * methods.grpo() + methods.poly_epo(4)
    assert schedules.has_schedule(method_config.with_schedules(both))
    assert not schedules.has_schedule(method_config.with_schedules({"method": "grpo"}))
    value = schedules.Scheduled(methods.concave_counts, {"alpha": schedules.Linear(0.5, 0)})
    assert value(0.5) == methods.concave_counts(0.25)


@pytest.mark.parametrize(
    ("size", "message"),
    [
        ({"schedule": "liner", "first": 1, "last": 2}, "unknown schedule 'liner'; did you mean"),
        ({"schedule": "linear", "first": 1}, "schedule linear needs the option 'last'"),
        (
            {"schedule": "linear", "first": "1", "last": 2},
            "first of a schedule must be a finite number",
        ),
        (
            {"schedule": "linear", "first": 1, "last": 2, "begin": 0.5, "end": 0.5},
            "a schedule needs 0 ≤ begin < end ≤ 1",
        ),
    ],
)
def test_wrong_schedules(size, message):
    with pytest.raises(ValueError, match=message):
        method_config.from_config({"method": "poly_epo", "set_size": size})


def test_objectives_by_name_make_methods():
    config = {
        "objective": "product",
        "left": "mean",
        "right": {"objective": "mean", "of": "second"},
    }
    found = method_config.from_config({"method": "set_rl", "objective": config, "set_size": 3})
    assert found.objective == objectives.mean() * objectives.mean(of="second")
    total = {"objective": "sum", "of": ["any_correct", {"objective": "distinct", "weight": 0.1}]}
    found = method_config.from_config({"method": "set_rl", "objective": total, "set_size": 3})
    assert found.objective == objectives.any_correct() + 0.1 * objectives.distinct()
    sizes = method_config.from_config(
        {"method": "set_rl", "objective": "max", "set_size": {2: 1, 3: 1}}
    )
    assert sizes.objective == objectives.over_sizes(objectives.max(), {2: 1, 3: 1})
    ranks = {"objective": "l_statistic", "a": [0, 1]}
    assert method_config.from_config({"method": "set_rl", "objective": ranks}).set_size == 2


@pytest.mark.parametrize(
    ("objective", "message"),
    [
        ("majorty", "unknown objective 'majorty'; did you mean 'majority'"),
        ({"name": "max"}, "an objective's config needs the key 'objective'"),
        (
            {"objective": "mean", "off": 1},
            "unknown option of objective mean 'off'; did you mean 'of'",
        ),
        ("from_function", "a config cannot hold the function of from_function"),
        ({"objective": "over_sizes"}, "over_sizes is written set_size"),
        ({"objective": "sum"}, "a sum of objectives needs of"),
    ],
)
def test_wrong_objectives(objective, message):
    with pytest.raises(ValueError, match=message):
        method_config.from_config({"method": "set_rl", "objective": objective})
