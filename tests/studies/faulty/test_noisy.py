"""Noise: its rate, where moved samples go, and that a resumed run sees the same."""

import subprocess
import sys
from collections import Counter
from itertools import product

import numpy as np
import pytest

from setrl.evaluate.judge_audit import flips
from setrl.judges import Group, Judgement
from setrl.judges.exact import ExactJudge
from studies.faulty import NoisyJudge


def groups_of(texts, count):
    return [Group.of_texts(f"prompt {number}", tuple(texts)) for number in range(count)]


def test_no_flips_change_nothing_but_names():
    (group,) = groups_of(["a", "b", "", "a"], 1)
    (judgement,) = NoisyJudge(ExactJudge(), 0.0).judge([group])
    assert judgement == Judgement((0, 1, -1, 0))


def test_moves_go_evenly_to_every_place_that_makes_a_difference():
    # Sample 0 is with 1; it may join sample 2, join sample 3, or found a strategy: a third each.
    judge, count = NoisyJudge(ExactJudge(), 1.0, seed=3), 6000
    judgements = judge.judge(groups_of(["a", "a", "b", "c"], count))
    # Samples 2 and 3 are alone: their places are the two other strategies, by labels before moves.
    places = Counter()
    for labels in (judgement.labels_N for judgement in judgements):
        places["0 with 1"] += labels[0] == labels[1]
        places["all apart"] += len(set(labels)) == 4
    # 0 and 1 are together again where both joined b, or both joined c: 2 · (1/3)².
    assert places["0 with 1"] / count == pytest.approx(2 / 9, abs=0.02)
    # Independent enumeration of the 3·3·2·2 equally likely outcomes.
    options = [("b", "c", "n0"), ("b", "c", "n1"), ("a", "c"), ("a", "b")]
    apart = np.mean([len(set(outcome)) == 4 for outcome in product(*options)])
    assert places["all apart"] / count == pytest.approx(apart, abs=0.02)


def test_a_sample_alone_in_its_strategy_never_stays_alone_by_a_new_name():
    moved = NoisyJudge(ExactJudge(), 1.0).judge(groups_of(["a", "b"], 200))
    # Both are alone, and change places with each other's strategy: the same partition.
    assert {judgement.labels_N for judgement in moved} == {(0, 1)}


def test_the_rate_is_that_of_single_samples():
    texts = ["a"] * 8 + ["b"] * 8 + ["c"] * 8
    judge = NoisyJudge(ExactJudge(), 0.05)
    truth = tuple([0] * 8 + [1] * 8 + [2] * 8)
    shares = [flips(one.labels_N, truth) for one in judge.judge(groups_of(texts, 800))]
    assert np.mean(shares) == pytest.approx(0.05, abs=0.005)


def test_degenerate_samples_are_moved_and_none_becomes_degenerate():
    judgements = NoisyJudge(ExactJudge(), 0.5, seed=1).judge(groups_of(["", "", "a", "a"], 500))
    stayed = np.mean([[label == -1 for label in one.labels_N[:2]] for one in judgements])
    assert stayed == pytest.approx(0.5, abs=0.05)
    assert all(-1 not in judgement.labels_N[2:] for judgement in judgements)


def test_a_lone_sample_stays():
    judgements = NoisyJudge(ExactJudge(), 1.0).judge(
        [Group.of_texts("p", ("a",)), Group.of_texts("p", ())]
    )
    assert [one.labels_N for one in judgements] == [(0,), ()]


def test_noise_depends_on_seed_and_group_alone():
    groups = groups_of("abcabcab", 20)
    first = NoisyJudge(ExactJudge(), 0.3, seed=5).judge(groups)
    again = NoisyJudge(ExactJudge(), 0.3, seed=5).judge(groups[::-1])[::-1]
    other = NoisyJudge(ExactJudge(), 0.3, seed=6).judge(groups)
    assert first == again
    assert first != other
    assert len({judgement.labels_N for judgement in first}) > 5
    same_prompt = [
        Group.of_texts("p", tuple(f"{letter}{n}" for letter in "ab" * 4)) for n in range(20)
    ]
    noisy = NoisyJudge(ExactJudge(), 0.3).judge(same_prompt)
    assert len({judgement.labels_N for judgement in noisy}) > 5  # samples count, too


def test_noise_is_the_same_in_another_process():
    code = (
        "from setrl.judges import Group; from studies.faulty import NoisyJudge;"
        "from setrl.judges.exact import ExactJudge;"
        "group = Group.of_texts('p', tuple('abcabc'));"
        "print(NoisyJudge(ExactJudge(), 0.5).judge([group])[0].labels_N)"
    )
    ran = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    (here,) = NoisyJudge(ExactJudge(), 0.5).judge([Group.of_texts("p", tuple("abcabc"))])
    assert ran.stdout.strip() == str(here.labels_N)


def test_unknown_stays_unknown():
    class Silent:
        name = "silent"

        def judge(self, groups):
            return [Judgement(None, reason="timeout") for _ in groups]

    (judgement,) = NoisyJudge(Silent(), 0.5).judge(groups_of("ab", 1))
    assert judgement == Judgement(None, reason="timeout")


def test_a_rate_that_is_none_is_refused():
    with pytest.raises(ValueError, match=r"flips must be in \[0, 1\], got 20"):
        NoisyJudge(ExactJudge(), 20)
