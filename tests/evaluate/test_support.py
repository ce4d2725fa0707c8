"""Support dynamics against counting by hand, on public logs and on a run of ours."""

import json
from fractions import Fraction
from itertools import combinations, product
from math import comb
from pathlib import Path

import numpy as np
import pytest

from setrl.evaluate import Evaluation, compare_paths, load_evaluation, support_of
from setrl.evaluate.comparison import STATES
from setrl.evaluate.text import support_text
from setrl.samples.samples import Samples
from tests import fake_run

DATA = Path(__file__).parents[1] / "data"
PUBLIC = DATA / "log_cruxeval_input.jsonl", DATA / "log_cruxeval_output.jsonl"


def counted(path):
    """Problem → (right samples, samples), read without setrl."""
    rows = map(json.loads, path.read_text().splitlines())
    return {row["task_id"]: (row["num_correct"], row["num_samples"]) for row in rows}


def test_two_public_logs_with_all_samples():
    first, second = map(counted, PUBLIC)
    of_state = {state: set() for state in STATES}
    for name, (right, _) in first.items():
        in_a, in_b = right > 0, second[name][0] > 0
        state = {(1, 1): "preserved", (1, 0): "lost", (0, 1): "gained", (0, 0): "outside"}
        of_state[state[in_a, in_b]].add(name)
    found = compare_paths(*PUBLIC, ks=[1, 10], support=True).support
    for state in STATES:
        assert getattr(found.rows[-1], state) == pytest.approx(len(of_state[state]))
        assert {one.id for one in found.problems if one.state == state} == of_state[state]
    assert len(of_state["lost"]) == 188
    lost = next(one for one in found.problems if one.state == "lost")
    assert lost.right[0] > 0 == lost.right[1]
    assert lost.samples == (10, 10)
    assert (1 - lost.at_most) ** 10 == pytest.approx(0.05)


def test_two_public_logs_with_one_sample():
    first, second = map(counted, PUBLIC)
    lost = sum(Fraction(c, n) * (1 - Fraction(*second[name])) for name, (c, n) in first.items())
    row = compare_paths(*PUBLIC, ks=[1, 10], support=True).support.rows[0]
    assert row.lost == pytest.approx(float(lost))
    assert row.kept == pytest.approx(row.preserved / (row.preserved + row.lost))


def evaluation(correct_PN):
    correct = np.array(correct_PN, dtype=float)
    ids = [f"p{i}" for i in range(len(correct))]
    return Evaluation(Samples(correct, correct=correct, ids=ids, prompts=ids))


def test_every_k_is_the_mean_over_subsets():
    first, second = (
        [[1, 0, 0, 1], [0, 0, 0, 1], [0, 0, 0, 0]],
        [[0, 0, 0, 0], [1, 1, 0, 0], [0, 1, 0, 0]],
    )
    for k in (1, 2, 3):
        row = support_of([evaluation(first)], [evaluation(second)], [k]).rows[0]
        sets = list(combinations(range(4), k))
        tally = dict.fromkeys(STATES, Fraction(0))
        for a, b in zip(first, second, strict=True):
            for s, t in product(sets, repeat=2):
                in_a, in_b = any(a[i] for i in s), any(b[i] for i in t)
                tally[STATES[2 * (not in_a) + (not in_b)]] += Fraction(1, len(sets) ** 2)
        for state, number in tally.items():
            assert getattr(row, state) == pytest.approx(float(number)), (k, state)


def test_what_chance_loses_is_counted_over_disjoint_subsets():
    right = [[1, 0, 0, 1], [0, 0, 0, 1]]
    for k in (1, 2):
        pairs = [
            (s, t) for s, t in product(combinations(range(4), k), repeat=2) if not set(s) & set(t)
        ]
        assert len(pairs) == comb(4, k) * comb(4 - k, k)
        lost = sum(
            Fraction(any(row[i] for i in s) and not any(row[i] for i in t), len(pairs))
            for row in right
            for s, t in pairs
        )
        found = support_of([evaluation(right)], [evaluation(right)], [k]).rows[0]
        assert found.lost_again == pytest.approx(float(lost))
    assert np.isnan(support_of([evaluation(right)], [evaluation(right)], [3]).rows[0].lost_again)


def test_a_run_of_ours_with_two_seeds(tmp_path):
    """Seeds are averaged, and the state of a problem counts all their samples."""
    run = fake_run.make(tmp_path / "run", problems=6, n=8, steps=2)
    arms = [sorted((run / arm).glob("seed_*")) for arm in ("grpo", "poly_epo")]
    evaluations = [
        [load_evaluation(seed / "evaluation/test.jsonl") for seed in arm] for arm in arms
    ]
    right_ARP = [[one.correct_PN.any(axis=1) for one in arm] for arm in evaluations]
    a_P, b_P = (np.mean(right_RP, axis=0) for right_RP in right_ARP)
    found = compare_paths(run / "grpo", run / "poly_epo", support=True).support
    assert found.rows[-1].k == 8
    assert found.rows[-1].lost == pytest.approx((a_P * (1 - b_P)).sum())
    assert [one.right[1] > 0 for one in found.problems] == list(np.any(right_ARP[1], axis=0))
    assert found.problems[0].samples == (8 * len(arms[0]), 8 * len(arms[1]))


def test_the_text_says_how_sure_lost_is():
    first, second = evaluation([[1, 1, 0], [1, 1, 1]]), evaluation([[0, 0, 0], [1, 0, 0]])
    text = support_text(support_of([first], [second], [1, 3]), details=True)
    assert "1 problem lost with all samples: none of B's 3 samples is right" in text
    assert "up to 63.2% (95% confidence)" in text
    assert text.endswith("lost: p0")
    assert "lost with all" not in support_text(support_of([second], [first], [3]))
