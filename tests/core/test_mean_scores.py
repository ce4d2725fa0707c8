"""Mean set scores through the public door against enumeration in rational arithmetic."""

from fractions import Fraction
from itertools import combinations
from math import comb

import numpy as np
import pytest

from claims import scores
from claims.exact import average
from setrl import DEGENERATE, Samples, credit, mean_set_scores, objectives, set_advantages
from tests.core.catalogue import EXACT, cases, samples_of

FIELDS = ("correct", "strategies", "answers", "proxy", "pairs", "families", "second")


def fields_of(listed):
    samples = samples_of(listed)
    return samples.rewards, {name: getattr(samples, name) for name in FIELDS}


def mean_over_sets(score, n, k):
    """The definition: the score of every set, averaged exactly."""
    return average(Fraction(score(s)) for s in combinations(range(n), k))


@pytest.mark.parametrize("entry", EXACT, ids=lambda entry: entry.name)
def test_equals_enumeration_at_every_size_at_once(entry):
    """All N ≤ 7; the sizes of a prompt are asked for together."""
    for n in range(1, 8):
        sizes = [k for k in range(entry.smallest, n + 1) if entry.objective.set_size in (None, k)]
        if not sizes:
            continue
        listed = cases(n)
        rewards, fields = fields_of(listed)
        found = mean_set_scores(rewards, entry.objective, sizes, **fields)
        want = [[mean_over_sets(entry.definition(case), n, k) for case in listed] for k in sizes]
        np.testing.assert_allclose(found, np.array(want, dtype=float), atol=1e-13, rtol=0)


def test_an_objective_without_a_closed_form_is_enumerated_or_sampled():
    rewards = np.random.default_rng(0).random((2, 40))
    product = objectives.from_function(lambda rewards: rewards.prod(-1))
    expected = np.array([[(a * b).mean() for a, b in [(r[:1], r[1:2])]] for r in rewards])
    pairs = mean_set_scores(rewards[:, :2], product, [2])
    np.testing.assert_allclose(pairs, expected.T)
    with pytest.raises(ValueError, match="drawing sets needs rng"):
        mean_set_scores(rewards, product, [20])
    assert mean_set_scores(rewards, product, [20], rng=0).shape == (1, 2)


def test_missing_samples_leave_the_sets_and_short_prompts_have_no_value():
    rewards = [[1.0, np.nan, 0.0, 0.0], [0.0, 1.0, 2.0, 3.0], [np.nan] * 4]
    mask = [[True] * 4, [True, True, False, False], [True] * 4]
    found = mean_set_scores(np.array(rewards), objectives.max(), [1, 2, 3], mask=np.array(mask))
    expected = [[1 / 3, 1 / 2, np.nan], [2 / 3, 1, np.nan], [1, np.nan, np.nan]]
    np.testing.assert_allclose(found, expected)


def test_a_sample_without_an_answer_leaves_the_sets_or_abstains():
    rewards, answers = np.array([[1.0, 0.0, 0.0]]), np.array([["a", "b", None]], dtype=object)
    score = objectives.majority()
    left = mean_set_scores(rewards, score, [1, 2], answers=answers)
    np.testing.assert_allclose(left[:, 0], [1 / 2, 1 / 2])
    abstained = mean_set_scores(rewards, score, [1, 2, 3], answers=answers, abstain=True)
    np.testing.assert_allclose(abstained[:, 0], [1 / 3, 1 / 2, 1 / 2])


def winning_reward(rewards, answers, ties):
    """The mean reward of the winning answer among those that vote; 0 where nobody does."""

    def score(s):
        voting = tuple(i for i in s if not np.isnan(answers[i]))
        return scores.majority(rewards.tolist(), answers, ties)(voting) if voting else 0

    return score


def winning_share(rewards, answers, ties):
    return lambda s: Fraction(max(sum(answers[i] == answers[j] for i in s) for j in s), len(s))


@pytest.mark.parametrize(
    ("objective", "definition"),
    [
        (objectives.majority(), winning_reward),
        (objectives.majority("lexicographic"), winning_reward),
        (objectives.vote_share(), winning_share),
    ],
)
def test_abstentions_equal_the_definition(objective, definition):
    rng, ties = np.random.default_rng(1), getattr(objective, "ties", "")
    rewards = rng.integers(-2, 3, (12, 6))
    answers = rng.integers(0, 4, (12, 6)).astype(float)
    answers[answers == 3] = np.nan
    sizes = range(1, 7)
    found = mean_set_scores(rewards, objective, sizes, answers=answers, abstain=True)
    of_row = [definition(rewards[b], answers[b], ties) for b in range(12)]
    want = [[mean_over_sets(score, 6, k) for score in of_row] for k in sizes]
    np.testing.assert_allclose(found, np.array(want, dtype=float), atol=1e-13, rtol=0)
    labels = np.nan_to_num(answers, nan=DEGENERATE).astype(int)
    by_score = credit.Enumerated()(objective, Samples(rewards * 1.0, answers=labels), 3, None)
    np.testing.assert_allclose(by_score.means.mean_B, found[2], atol=1e-13)


def test_large_sizes_keep_the_digits_of_small_chances():
    n = 4096
    rewards = np.zeros((1, n))
    rewards[0, 7] = 1
    found = mean_set_scores(rewards, objectives.any_correct(), [2])[0, 0]
    assert found == pytest.approx(float(1 - Fraction(comb(n - 1, 2), comb(n, 2))), rel=1e-14)


def test_means_grow_with_the_size():
    rng = np.random.default_rng(1)
    rewards, strategies = rng.normal(size=(30, 64)), rng.integers(-1, 12, (30, 64))
    for objective in (objectives.any_correct(), objectives.max(), objectives.distinct_correct()):
        found = mean_set_scores(
            rewards, objective, range(1, 65), strategies=strategies, correct=rewards > 0
        )
        assert (np.diff(found, axis=0) >= -1e-12).all()


def test_best_of_an_informed_a_contrary_and_a_constant_proxy():
    rewards = np.random.default_rng(0).integers(0, 5, (10, 12)).astype(float)
    sizes = (1, 3, 12)
    best, worst, blind = (
        mean_set_scores(rewards, objectives.best_of(), sizes, proxy=proxy)
        for proxy in (rewards, -rewards, np.zeros_like(rewards))
    )
    np.testing.assert_allclose(best, mean_set_scores(rewards, objectives.max(), sizes))
    np.testing.assert_allclose(worst, -mean_set_scores(-rewards, objectives.max(), sizes))
    np.testing.assert_allclose(blind, np.tile(rewards.mean(axis=1), (3, 1)))


def test_is_the_mean_of_set_advantages_and_of_its_kind():
    torch = pytest.importorskip("torch")
    rewards = torch.rand(3, 9, generator=torch.Generator().manual_seed(0))
    objective = objectives.max() + 0.5 * objectives.any_correct()
    found = mean_set_scores(rewards, objective, [2, 4], correct=rewards > 0.5)
    assert isinstance(found, torch.Tensor)
    for row, k in zip(found, (2, 4), strict=True):
        whole = set_advantages(rewards, objective=objective, set_size=k, correct=rewards > 0.5)
        torch.testing.assert_close(row, whole.mean_B, rtol=1e-13, atol=0)


def test_errors_name_what_is_wrong():
    rewards = np.zeros((1, 4))
    with pytest.raises(ValueError, match=r"set_size must be .*\[1, .*4.*got 5"):
        mean_set_scores(rewards, objectives.max(), [1, 5])
    with pytest.raises(ValueError, match="at least one set size"):
        mean_set_scores(rewards, objectives.max(), [])
    with pytest.raises(ValueError, match="the objective reads strategies"):
        mean_set_scores(rewards, objectives.distinct(), [1])
