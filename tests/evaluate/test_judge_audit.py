"""The audit: what other orders change, by judges whose faults are known."""

from fractions import Fraction
from itertools import combinations, permutations, product
from math import isnan, nan, sqrt

import numpy as np
import pytest

from setrl import methods
from setrl.evaluate.judge_audit import (
    advantage_change,
    agreement,
    audit,
    flips,
    rejudge,
    signs_changed,
)
from setrl.judges import Group, Judgement
from setrl.judges.exact import ExactJudge
from setrl.judges.pairwise import ByJudge, PairwiseJudge
from studies.faulty import NoisyJudge

LABELINGS = [
    (first, second)
    for size in (2, 3, 4)
    for first in product(range(-1, 2), repeat=size)
    for second in product(range(-1, 3), repeat=size)
]
SOME = LABELINGS[:: len(LABELINGS) // 400]
GROUPS = [Group.of_texts(f"p{n}", tuple("aabbccdd")) for n in range(6)]
GOLD = [(0, 0, 1, 1, 2, 2, 3, 3)] * 6
REWARDS = [[1, 1, 1, 1, 1, 1, 1, 0]] * 6  # so that diversity decides about signs


class ByPlace:
    """A judge with a bias: the first half of what it is shown is one strategy."""

    name = "by place"

    def judge(self, groups):
        sizes = [len(group.texts) for group in groups]
        return [Judgement(tuple(int(i >= n // 2) for i in range(n))) for n in sizes]


class Sometimes:
    """Answers every second call."""

    name = "sometimes"

    def __init__(self):
        self.calls = 0

    def judge(self, groups):
        self.calls += 1
        if self.calls % 2:
            return ExactJudge().judge(groups)
        return [Judgement(None, reason="timeout") for _ in groups]


def always(judge):
    return lambda number: judge


def test_labels_come_back_in_the_group_s_own_order():
    for labelings in rejudge(GROUPS, always(ExactJudge()), orders=4, seed=0):
        assert labelings == [(0, 0, 1, 1, 2, 2, 3, 3)] * 4


def test_orders_are_shuffled_and_the_first_is_as_given():
    asked = []

    class Noting(ExactJudge, sees_copies=True):
        def judge(self, groups):
            asked.append([group.texts for group in groups])
            return super().judge(groups)

    rejudge(GROUPS, always(Noting()), orders=3, seed=0)
    assert asked[0] == [group.texts for group in GROUPS]
    assert (
        len({samples for order in asked for samples in order}) > 2 * len(GROUPS) - 3
    )  # a few may be equal by chance
    assert {tuple(sorted(samples)) for order in asked for samples in order} == {tuple("aabbccdd")}


def test_a_judge_without_faults_agrees_with_everything():
    pairs = PairwiseJudge(ByJudge(ExactJudge()))
    found = audit(
        GROUPS,
        always(ExactJudge()),
        pairwise=pairs,
        gold=GOLD,
        rewards=REWARDS,
        method=methods.poly_epo(4),
    )
    for table in (found.itself, found.pairwise, found.gold):
        assert set(table["adjusted_rand"]) == set(table["f1"]) == {1.0}
        assert set(table["flips"]) == set(table["signs_changed"]) == {0.0}
        assert set(table["advantage_change"]) == {0.0}
    assert found.unknown == 0
    assert found.strategies == [4.0] * 6


def test_pairs_are_not_blamed_for_degenerate_samples():
    groups = [Group.of_texts("p", ("a", "?", "b", "a", "??"))]
    judge = ExactJudge(key=lambda text: None if "?" in text else text)
    pairs = PairwiseJudge(ByJudge(judge))
    assert pairs.judge(groups)[0].labels_N == (0, 1, 2, 0, 3)
    assert audit(groups, always(judge), pairwise=pairs).pairwise["flips"] == [0.0]


def test_a_judge_that_goes_by_places_is_found_out():
    found = audit(GROUPS, always(ByPlace()), orders=8, gold=GOLD)
    assert np.mean(found.itself["adjusted_rand"]) == pytest.approx(0, abs=0.1)
    assert np.mean(found.itself["flips"]) > 0.2


def test_values_are_means_over_pairs_of_orders_by_hand():
    judge, method = NoisyJudge(ExactJudge(), 0.3), methods.poly_epo(3)
    labelings_GR = rejudge(GROUPS, always(judge), orders=4, seed=7)
    found = audit(
        GROUPS, always(judge), orders=4, seed=7, gold=GOLD, rewards=REWARDS, method=method
    )
    for place, labelings in enumerate(labelings_GR):
        pairs = list(combinations(labelings, 2))
        flips = np.mean([agreement(*pair).flips for pair in pairs])
        assert found.itself["flips"][place] == pytest.approx(flips)
        precision = [agreement(labels, GOLD[place]).precision for labels in labelings]
        assert found.gold["precision"][place] == pytest.approx(np.mean(precision))
        rewards = np.array([REWARDS[place]] * 4)
        credited = method.advantages(rewards, strategies=np.array(labelings)).values_BN
        changed = np.mean([
            np.mean(np.sign(first.round(12)) != np.sign(second.round(12)))
            for first, second in combinations(credited, 2)
        ])  # fmt: skip
        assert found.itself["signs_changed"][place] == pytest.approx(changed)
    assert 0 < np.mean(found.itself["signs_changed"]) < 1


def test_unknown_judgements_are_left_out_and_counted():
    found = audit(GROUPS, always(Sometimes()), orders=4, gold=GOLD)
    assert found.unknown == 12
    assert set(found.itself["flips"]) == set(found.gold["flips"]) == {0.0}
    once = audit(GROUPS, always(Sometimes()), orders=2, gold=GOLD)
    assert all(isnan(value) for value in once.itself["flips"])
    assert set(once.gold["flips"]) == {0.0}


def test_groups_without_gold_or_with_too_few_rewards_have_no_value():
    rewards = [[1, nan, nan, nan, nan, 0, 1, 0], *REWARDS[1:]]
    gold = [None, *GOLD[1:]]
    known = {"gold": gold, "rewards": rewards, "method": methods.poly_epo(4)}
    found = audit(GROUPS, always(NoisyJudge(ExactJudge(), 0.3)), **known)
    assert isnan(found.gold["flips"][0])
    assert not isnan(found.gold["flips"][1])
    assert isnan(found.itself["signs_changed"][0])
    assert not isnan(found.itself["signs_changed"][1])
    for set_size in (8, 9):  # as large as a group, and larger
        method = methods.poly_epo(set_size)
        larger = audit(GROUPS, always(ExactJudge()), rewards=REWARDS, method=method)
        assert all(isnan(value) for value in larger.itself["signs_changed"])


def test_every_order_has_its_judge():
    numbers = []

    def judge_for(number):
        numbers.append(number)
        return ExactJudge()

    audit(GROUPS, judge_for, orders=3)
    assert numbers == [0, 1, 2]


def test_signs_are_minus_zero_and_plus():
    first, second = np.array([-1, 0.0, 1, 2]), np.array([-2, 1e-15, -1, 0])
    assert signs_changed(first, second) == signs_changed(second, first) == 0.5
    assert isnan(signs_changed(np.zeros(0), np.zeros(0)))


def test_change_of_advantages_at_its_landmarks():
    first = np.array([1.0, -1.0])
    assert advantage_change(first, first) == 0
    assert advantage_change(first, -first) == pytest.approx(2)
    assert advantage_change(first, np.zeros(2)) == pytest.approx(sqrt(2))
    assert advantage_change(first, np.array([1.0, 1.0])) == pytest.approx(sqrt(2))
    assert isnan(advantage_change(np.zeros(2), np.zeros(2)))


def test_no_orders_are_refused():
    with pytest.raises(ValueError, match="orders must be at least 1, got 0"):
        audit(GROUPS, always(ExactJudge()), orders=0)


def alone(labels):
    """Each degenerate sample with a label that no other has."""
    return [100 + place if label == -1 else label for place, label in enumerate(labels)]


def pairs(labels):
    names = alone(labels)
    return {(i, j) for i, j in combinations(range(len(names)), 2) if names[i] == names[j]}


def flips_by_enumeration(first, second):
    """The fewest changes of `first` after which it is `second` under some renaming."""
    names, targets = sorted({*first} - {-1}), sorted({*second} - {-1})
    targets += [f"unused {place}" for place in range(len(names))]
    best = 0
    for choice in permutations(targets, len(names)):
        renamed = dict(zip(names, choice, strict=True)) | {-1: -1}
        best = max(best, sum(renamed[a] == b for a, b in zip(first, second, strict=True)))
    return Fraction(len(first) - best, len(first))


def rand_by_definition(first, second):
    """(both − e) / (mean − e), e = first · second / pairs; 0/0 of equal partitions is 1."""
    ours, theirs, every = pairs(first), pairs(second), len(first) * (len(first) - 1) // 2
    expected = Fraction(len(ours) * len(theirs), every)
    largest = Fraction(len(ours) + len(theirs), 2)
    apart = largest - expected
    return (len(ours & theirs) - expected) / apart if apart else 1


def ratio(part, whole):
    return float(Fraction(part, whole)) if whole else nan


def test_agreement_is_its_definition_with_degenerate_samples_alone():
    large = np.random.default_rng(0).integers(-1, 6, size=(20, 2, 60)).tolist()
    for first, second in (*SOME, *large):
        ours, theirs, found = pairs(first), pairs(second), agreement(first, second)
        both = len(ours & theirs)
        scores = [found.adjusted_rand, found.precision, found.recall, found.f1]
        expected = [
            float(rand_by_definition(first, second)),
            ratio(both, len(ours)),
            ratio(both, len(theirs)),
            ratio(2 * both, len(ours) + len(theirs)),
        ]
        assert scores == pytest.approx(expected, abs=1e-12, nan_ok=True)


def test_flips_are_the_fewest_changes_under_any_renaming():
    for first, second in SOME:
        expected = float(flips_by_enumeration(first, second))
        assert flips(first, second) == pytest.approx(expected, abs=1e-12)
        assert flips(second, first) == pytest.approx(expected, abs=1e-12)


def test_renaming_and_reordering_change_nothing():
    rng = np.random.default_rng(1)
    first, second = rng.integers(-1, 4, size=(2, 25))
    order = rng.permutation(25)
    renamed = np.where(first == -1, -1, (first + 1) % 4 + 7)
    assert agreement(renamed[order], second[order]) == agreement(first, second)


def test_flips_tell_degenerate_from_alone_and_pairs_do_not():
    found = agreement([0, 0, -1], [0, 0, 1])
    assert found.adjusted_rand == found.f1 == 1.0
    assert found.flips == pytest.approx(1 / 3)


def test_equal_partitions_agree_whatever_they_are():
    for labels in ([0, 0, 0], [0, 1, 2], [-1, -1, -1], [0, 1, 0]):
        assert agreement(labels, labels).adjusted_rand == 1.0
        assert flips(labels, labels) == 0.0
    assert isnan(agreement([0, 1, 2], [0, 1, 2]).f1)


def test_what_is_undefined_is_nan():
    assert isnan(agreement([0], [0]).adjusted_rand)
    assert isnan(flips([], []))
    assert flips([0], [-1]) == 1.0


def test_labelings_of_different_samples_are_refused():
    with pytest.raises(ValueError, match=r"of the same samples, got \(2,\) and \(3,\)"):
        agreement([0, 1], [0, 1, 1])
