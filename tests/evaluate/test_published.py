"""Numbers that others have published, from their own samples (see tests/data/README.md)."""

import json
from fractions import Fraction
from math import comb
from pathlib import Path

import numpy as np
import pytest

from setrl import mean_set_scores, objectives
from setrl.evaluate.estimators import majority_answer, pass_at_k
from tests.subsets import best_by_proxy, mean_over_subsets

DATA = Path(__file__).parents[1] / "data"


def rows(name):
    return [json.loads(line) for line in (DATA / name).read_text().splitlines()]


@pytest.mark.parametrize("row", rows("passk_cruxeval_counts.jsonl"), ids=lambda row: row["id"])
@pytest.mark.parametrize("k", [1, 5])
def test_pass_at_k_of_cruxeval_in_every_digit(row, k):
    """CodeLlama-7b, 800 problems, 10 samples; published as a sum of floats, so to its rounding."""
    value = pass_at_k(row["correct"], row["n"], k).mean()
    exact = sum(1 - Fraction(comb(10 - c, k), comb(10, k)) for c in row["correct"]) / 800
    published = row["published"][f"pass@{k}"]
    assert f"{value:.14f}" == f"{published:.14f}" == f"{float(exact):.14f}"
    assert abs(value - float(exact)) <= abs(published - float(exact)) + 1e-16


def test_all_fifty_majority_answers_of_svamp():
    """Codex, 30 samples per problem; one problem (svamp_sc/832) ties 14 to 14."""
    problems = rows("generations_svamp_50x30.jsonl")
    found = [majority_answer(problem["finals"]) for problem in problems]
    assert found == [problem["published_majority"] for problem in problems]
    assert len(found) == 50


def test_majority_at_all_samples_is_their_majority_but_for_the_tie():
    problems = rows("generations_svamp_50x30.jsonl")
    answers = np.array([problem["finals"] for problem in problems], dtype=object)
    right = [[f is not None and float(f) == float(p["answer"]) for f in p["finals"]]
             for p in problems]  # fmt: skip
    [accuracy] = mean_set_scores(
        np.array(right), objectives.majority(), [30], answers=answers, abstain=True
    )
    for problem, value in zip(problems, accuracy, strict=True):
        is_right = float(problem["published_majority"]) == float(problem["answer"])
        expected = {is_right, 0.5} if problem["id"] == "svamp_sc/832" else {is_right}
        assert value in expected


@pytest.mark.parametrize("k", [1, 2, 4, 8])
def test_best_of_k_of_a_reward_model_on_math(k):
    problems = rows("reward_model_math_20x8.jsonl")
    correct, scores = ([p[key] for p in problems] for key in ("correct", "scores"))
    expected = [
        float(mean_over_subsets(best_by_proxy(c, s), 8, k))
        for c, s in zip(correct, scores, strict=True)
    ]
    [found] = mean_set_scores(correct, objectives.best_of(), [k], proxy=scores)
    np.testing.assert_allclose(found, expected, atol=1e-14)
    if k == 8:
        assert found.tolist() == [
            c[int(np.argmax(s))] for c, s in zip(correct, scores, strict=True)
        ]
