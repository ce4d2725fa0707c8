"""A majority of judges: over pairs, over degenerate samples, and when judges are silent."""

from itertools import combinations

import numpy as np
import pytest

from setrl.judges import Group, Judge, Judgement
from setrl.judges.ensemble import EnsembleJudge
from setrl.judges.exact import ExactJudge
from studies.faulty import NoisyJudge


class Fixed:
    """Says the same of every group."""

    name = "fixed"

    def __init__(self, *clusters):
        self.judgement = Judgement(clusters) if clusters else Judgement(None, reason="timeout")

    def judge(self, groups):
        return [self.judgement for _ in groups]


def majority(*judges, **options):
    size = max(len(judge.judgement.labels_N or ()) for judge in judges)
    (judgement,) = EnsembleJudge(judges, **options).judge(
        [Group.of_texts("p", tuple(map(str, range(size))))]
    )
    return judgement


def test_two_of_three_win():
    judges = Fixed(0, 0, 1, 1), Fixed(0, 0, 1, 2), Fixed(0, 1, 2, 2)
    assert isinstance(EnsembleJudge(judges), Judge)
    assert majority(*judges).labels_N == (0, 0, 1, 1)


def test_half_is_no_majority():
    assert majority(Fixed(0, 0), Fixed(0, 1)).labels_N == (0, 1)


def test_one_sample_between_two_does_not_join_them():
    # 0 with 1: two of three; 1 with 2: two of three; 0 with 2: one of three.
    judges = Fixed(0, 0, 0), Fixed(0, 0, 1), Fixed(0, 1, 1)
    assert len(set(majority(*judges).labels_N)) == 2


def test_degenerate_needs_a_majority_too():
    assert majority(Fixed(-1, 0), Fixed(-1, 0), Fixed(0, 0)).labels_N == (-1, 0)
    # Two of three have it in a cluster; one of three has it together with the other sample.
    assert majority(Fixed(-1, 0), Fixed(1, 0), Fixed(0, 0)).labels_N == (0, 1)


def test_too_few_judges_make_a_group_unknown():
    silent, first = Fixed(), Fixed(0, 0)
    assert majority(silent, silent, first) == Judgement(None, reason="too_few_judges")
    assert majority(silent, first, first).labels_N == (0, 0)
    assert majority(silent, silent, first, quorum=1).labels_N == (0, 0)
    assert majority(silent, first, first, quorum=3) == Judgement(None, reason="too_few_judges")


def test_one_judge_is_itself():
    assert majority(Fixed(0, 1, -1, 0, 2)).labels_N == (0, 1, -1, 0, 2)


def test_many_noisy_judges_are_better_than_one():
    truth = ("a",) * 5 + ("b",) * 5 + ("c",) * 5
    groups = [Group.of_texts(f"p{number}", truth) for number in range(40)]
    exact = [judgement.labels_N for judgement in ExactJudge().judge(groups)]

    def wrong_pairs(judge):
        found = [judgement.labels_N for judgement in judge.judge(groups)]
        return np.mean([
            (ours[i] == ours[j]) != (right[i] == right[j])
            for ours, right in zip(found, exact, strict=True)
            for i, j in combinations(range(15), 2)
        ])  # fmt: skip

    noisy = tuple(NoisyJudge(ExactJudge(), 0.2, seed) for seed in range(7))
    assert wrong_pairs(EnsembleJudge(noisy)) < wrong_pairs(noisy[0]) / 2


def test_settings_are_checked():
    with pytest.raises(ValueError, match="at least one judge"):
        EnsembleJudge(())
    with pytest.raises(ValueError, match=r"quorum must be in \[1, 1\], got 2"):
        EnsembleJudge((Fixed(0),), quorum=2)
