"""Laws that hold for every objective: permutation, relabelling, shift, zero sum, ragged groups."""

from fractions import Fraction
from math import comb

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from setrl import DEGENERATE, Samples, credit, methods, objectives, set_advantages
from setrl.core.credit.estimators import draw_sets
from setrl.core.objectives.chances import chances
from tests.core.catalogue import COMMON

every_objective = pytest.mark.parametrize(
    "objective", [entry.objective for entry in COMMON], ids=[entry.name for entry in COMMON]
)


def prompts(rng, num_prompts=5, num_samples=9):
    rewards = rng.integers(0, 3, (num_prompts, num_samples)) / 2
    return rewards, rng.integers(-1, 4, (num_prompts, num_samples))


def advantages(objective, rewards, strategies, set_size=3, **options):
    fields = {"strategies": strategies} if "strategies" in objective.reads else {}
    if "correct" in objective.reads:
        fields["correct"] = rewards > 0.5
    return set_advantages(rewards, objective=objective, set_size=set_size, **fields, **options)


@every_objective
@settings(max_examples=25)
@given(seed=st.integers(0, 10_000))
def test_permuting_samples_permutes_advantages(objective, seed):
    rng = np.random.default_rng(seed)
    rewards, strategies = prompts(rng)
    order = rng.permutation(rewards.shape[1])
    plain = advantages(objective, rewards, strategies).values_BN
    permuted = advantages(objective, rewards[:, order], strategies[:, order]).values_BN
    np.testing.assert_allclose(permuted, plain[:, order], atol=1e-13)


@pytest.mark.parametrize("objective", [objectives.distinct(), objectives.polychromic()])
def test_relabelling_strategies_changes_nothing(objective):
    rng = np.random.default_rng(0)
    rewards, strategies = prompts(rng)
    names = np.array([900_001, 7, 12_345_678, 3, DEGENERATE])
    plain = advantages(objective, rewards, strategies).values_BN
    renamed = advantages(objective, rewards, names[strategies]).values_BN
    np.testing.assert_allclose(renamed, plain, atol=1e-14)


@pytest.mark.parametrize("baseline", ["all_sets", "leave_one_out"])
@every_objective
def test_advantages_sum_to_zero(objective, baseline):
    rewards, strategies = prompts(np.random.default_rng(1))
    values = advantages(objective, rewards, strategies, baseline=baseline).values_BN
    np.testing.assert_allclose(values.sum(axis=1), 0, atol=1e-13)


@pytest.mark.parametrize("objective", [objectives.mean(), objectives.max()])
def test_a_constant_added_to_every_score_changes_nothing(objective):
    rewards, _ = prompts(np.random.default_rng(2))
    plain = advantages(objective, rewards, None)
    shifted = advantages(objective, rewards + 1000, None)
    np.testing.assert_allclose(shifted.values_BN, plain.values_BN, atol=1e-12)
    np.testing.assert_allclose(shifted.mean_B, plain.mean_B + 1000)


@every_objective
def test_leave_one_out_is_all_sets_scaled(objective):
    rewards, strategies = prompts(np.random.default_rng(3))
    whole = advantages(objective, rewards, strategies)
    left_out = advantages(objective, rewards, strategies, baseline="leave_one_out")
    np.testing.assert_allclose(whole.values_BN, left_out.values_BN * (1 - 3 / 9), atol=1e-14)
    np.testing.assert_allclose(left_out.values_BN, whole.with_BN - whole.without_BN, atol=1e-13)


@every_objective
def test_a_ragged_prompt_is_the_short_prompt(objective):
    rng = np.random.default_rng(4)
    rewards, strategies = prompts(rng)
    mask = rng.random(rewards.shape) < 0.75
    ragged = advantages(objective, rewards, strategies, mask=mask)
    for b in range(len(rewards)):
        kept = mask[b]
        short = advantages(objective, rewards[b : b + 1, kept], strategies[b : b + 1, kept])
        np.testing.assert_allclose(ragged.values_BN[b, kept], short.values_BN[0], atol=1e-15)
        assert (ragged.values_BN[b, ~kept] == 0).all()
        assert np.isnan(ragged.with_BN[b, ~kept]).all()


def test_missing_is_not_zero():
    rewards = np.array([[1.0, np.nan, 0.0, 1.0], [np.nan, np.nan, np.nan, 1.0]])
    adv = methods.maxpo(set_size=2).advantages(rewards)
    short = methods.maxpo(set_size=2).advantages(np.array([[1.0, 0.0, 1.0]]))
    np.testing.assert_array_equal(adv.values_BN[0, [0, 2, 3]], short.values_BN[0])
    np.testing.assert_array_equal(adv.usable_BN.sum(axis=1), [3, 1])
    np.testing.assert_array_equal(adv.skipped_B, [False, True])
    np.testing.assert_array_equal(adv.values_BN[1], 0)
    assert np.isnan(adv.mean_B[1])


def test_an_unknown_strategy_leaves_the_sets_only_where_strategies_are_read():
    rewards, strategies = np.array([[1.0, 1, 0, 1]]), np.array([[0, np.nan, 1, 2]])
    poly = methods.poly_epo(set_size=2).advantages(rewards, strategies=strategies)
    grpo = methods.grpo().advantages(rewards, strategies=strategies)
    np.testing.assert_array_equal(poly.usable_BN, [[True, False, True, True]])
    assert grpo.usable_BN.all()


def test_a_degenerate_sample_adds_no_strategy_but_its_reward_counts():
    rewards, strategies = np.array([[1.0, 1.0, 0.0]]), np.array([[0, -1, -1]])
    adv = methods.poly_epo(set_size=2).advantages(rewards, strategies=strategies)
    # Sets: {0,1} 1·1/2, {0,2} 1/2·1/2, {1,2} 1/2·0.
    np.testing.assert_allclose(adv.with_BN[0], [0.375, 0.25, 0.125])


@every_objective
def test_equal_samples_have_no_credit(objective):
    adv = advantages(objective, np.full((2, 7), 0.1), np.zeros((2, 7)), set_size=4)
    np.testing.assert_array_equal(adv.values_BN, 0)


@every_objective
def test_torch_in_torch_out(objective):
    torch = pytest.importorskip("torch")
    rewards, strategies = prompts(np.random.default_rng(5))
    plain = advantages(objective, rewards, strategies)
    tensor = advantages(objective, torch.tensor(rewards).float(), torch.tensor(strategies))
    assert isinstance(tensor.values_BN, torch.Tensor)
    assert tensor.values_BN.dtype == torch.float64
    np.testing.assert_array_equal(tensor.values_BN.numpy(), plain.values_BN)
    assert isinstance(tensor.skipped_B, torch.Tensor)


@every_objective
def test_sampled_sets_tend_to_the_exact_credit(objective):
    """The z-scores of 400 independent samplings look like an unbiased estimate's."""
    rewards, strategies = prompts(np.random.default_rng(6), num_prompts=1)
    exact = advantages(objective, rewards, strategies, baseline="leave_one_out").values_BN
    rng = np.random.default_rng(7)
    runs = [
        advantages(
            objective,
            rewards,
            strategies,
            baseline="leave_one_out",
            estimator=credit.Sampled(40),
            rng=rng,
        )
        for _ in range(400)
    ]
    error = np.array([run.values_BN - exact for run in runs])
    spread = error.std(axis=0)
    assert (np.abs(error.mean(axis=0)) <= 4.5 * spread / 20 + 1e-12).all()
    claimed = np.sqrt(np.mean([run.stderr_BN**2 for run in runs], axis=0))
    np.testing.assert_allclose(claimed, spread, rtol=0.2, atol=1e-8)


def test_sampling_every_set_is_exact():
    rewards, strategies = prompts(np.random.default_rng(8))
    poly = objectives.polychromic()
    exact = advantages(poly, rewards, strategies)
    sampled = advantages(poly, rewards, strategies, estimator=credit.Sampled(comb(9, 3)))
    np.testing.assert_allclose(sampled.values_BN, exact.values_BN, atol=1e-14)
    assert sampled.stderr_BN is None
    assert exact.stderr_BN is None


@pytest.mark.parametrize("num_sets", [3, 12])
def test_every_collection_of_sets_is_equally_likely(num_sets):
    """Each of the 15 pairs out of 6 is drawn with probability S/15 (both ways of drawing)."""
    rng = np.random.default_rng(9)
    times = np.zeros((6, 6))
    for _ in range(3000):
        drawn = draw_sets(6, 2, num_sets, rng)
        assert len({tuple(pair) for pair in drawn}) == num_sets
        np.add.at(times, tuple(drawn.T), 1)
    seen = times[np.triu_indices(6, 1)] / 3000
    np.testing.assert_allclose(seen, num_sets / 15, atol=0.04)


def test_an_objective_without_a_closed_form_is_enumerated_then_sampled():
    def spread(rewards):
        return rewards.max(axis=-1) - rewards.min(axis=-1)

    rewards = np.random.default_rng(10).random((2, 12))
    few = set_advantages(rewards, objective=objectives.from_function(spread), set_size=4)
    assert few.estimator == "enumerated (495 sets)"
    many = set_advantages(
        np.tile(rewards, 5),
        objective=objectives.from_function(spread),
        set_size=8,
        rng=np.random.default_rng(0),
    )
    assert many.estimator.startswith("sampled (2,000 of 2,558,620,845 sets)")
    assert (many.stderr_BN > 0).all()
    one_by_one = objectives.from_function(spread, one_set_at_a_time=True)
    slow = set_advantages(rewards, objective=one_by_one, set_size=4)
    np.testing.assert_allclose(slow.values_BN, few.values_BN, atol=1e-14)


def big_any_correct(n: int, k: int, c: int) -> tuple[Fraction, Fraction]:
    """u − v of a correct and of a wrong sample, by big integers."""
    right = Fraction(comb(n - c, k), comb(n - 1, k))
    wrong = -Fraction(c, n - k) * Fraction(comb(n - 1 - c, k - 1), comb(n - 1, k - 1))
    return right, wrong


@pytest.mark.parametrize(("k", "c"), [(8, 3), (32, 2048), (512, 40), (2048, 5), (4000, 20)])
def test_4096_samples_stay_within_1e_9_of_big_integers(k, c):
    n = 4096
    rewards = np.zeros((1, n))
    rewards[0, :c] = 1
    right, wrong = big_any_correct(n, k, c)
    for objective in (objectives.any_correct(), objectives.max()):
        adv = advantages(objective, rewards, None, set_size=k, baseline="leave_one_out")
        np.testing.assert_allclose(adv.values_BN[0, :c], float(right), rtol=1e-9)
        np.testing.assert_allclose(adv.values_BN[0, c:], float(wrong), rtol=1e-9)


def big_polychromic(n: int, k: int, sizes: list[int]) -> list[Fraction]:
    """K(u − v) of distinct/K with all samples correct: −Σ_c of the chances to miss c."""

    def missed(strategy: int, size: int) -> Fraction:
        if strategy == size:  # the sample's own strategy
            return -Fraction(comb(n - size, k), comb(n - 1, k))
        without = Fraction(comb(n - 1 - size, k), comb(n - 1, k))
        return Fraction(comb(n - 1 - size, k - 1), comb(n - 1, k - 1)) - without

    return [
        -sum(missed(own if at == i else -1, size) for i, size in enumerate(sizes))
        for at, own in enumerate(sizes)
    ]


@pytest.mark.parametrize(
    ("k", "sizes"), [(32, [4000, 90, 6]), (512, [2000, 1500, 596]), (8, [4095, 1])]
)
def test_polychromic_credit_of_4096_samples(k, sizes):
    n = sum(sizes)
    strategies = np.repeat(np.arange(len(sizes)), sizes)[None]
    adv = advantages(
        objectives.polychromic(), np.ones((1, n)), strategies, k, baseline="leave_one_out"
    )
    first = np.cumsum([0, *sizes[:-1]])
    want = [float(value) for value in big_polychromic(n, k, sizes)]
    np.testing.assert_allclose(adv.values_BN[0, first] * k, want, rtol=1e-9)


@pytest.mark.parametrize("c", [512, 900])
def test_saturated_prompts_keep_their_signs_in_float32(c):
    rewards = np.zeros((1, 1024), dtype=np.float32)
    rewards[0, :c] = 1
    values = methods.maxpo(set_size=32).advantages(rewards).values_BN
    assert (values[0, :c] > 0).all()
    assert (values[0, c:] < 0).all()


@pytest.mark.parametrize(("n", "k"), [(5, 1), (5, 3), (6, 6), (40, 7)])
def test_chances_equal_their_definition(n, k):
    table = chances(n, k)
    for m in range(n):
        with_i = Fraction(comb(n - 1 - m, k - 1), comb(n - 1, k - 1))
        assert table.missed_with[m] == pytest.approx(float(with_i), rel=1e-13)
        if k < n:
            without_i = Fraction(comb(n - 1 - m, k), comb(n - 1, k))
            assert table.missed_without[m] == pytest.approx(float(without_i), rel=1e-13)


def test_samples_keep_their_pairs_when_chosen():
    pairs = np.arange(18.0).reshape(2, 3, 3)
    samples = Samples(np.zeros((2, 3)), pairs=pairs)
    chosen = samples.choose(np.array([1]), np.array([[2, 0]]))
    np.testing.assert_array_equal(chosen.pairs[0], pairs[1][np.ix_([2, 0], [2, 0])])
    members = samples.sets(np.array([[0, 2]]))
    np.testing.assert_array_equal(members.pairs[1, 0], pairs[1][np.ix_([0, 2], [0, 2])])
