"""The judge measured against people: the statistics, the pairs, and the committed page."""

import itertools
import json
import re
from functools import partial
from pathlib import Path

import numpy as np
import pytest

from recipes.smollm2 import countdown
from recipes.smollm2.countdown import Countdown
from setrl.support import files
from studies.judge_people import pairs, scores
from studies.judge_people.page import Scored, page

RESULTS = Path(__file__).parents[2] / "docs" / "results" / "judge_people"


def test_the_page_is_made_from_the_committed_files():
    assert (RESULTS / "README.md").read_text(encoding="utf-8") == page(RESULTS)


def test_auc_is_the_share_of_ordered_pairs():
    rng = np.random.default_rng(0)
    found, same = rng.integers(5, size=40) / 4, rng.random(40) < 0.4
    ordered = [(a > b) + (a == b) / 2 for a, b in itertools.product(found[same], found[~same])]
    assert scores.auc(found, same) == pytest.approx(np.mean(ordered))


def test_no_threshold_is_better_than_the_best():
    rng = np.random.default_rng(1)
    found, same = rng.random(60), rng.random(60) < 0.5
    best = scores.accuracy(found, same, scores.best_threshold(found, same))
    assert best == max(scores.accuracy(found, same, one) for one in np.linspace(0, 1.1, 500))


def test_a_useless_score_gets_the_threshold_at_which_all_pairs_differ():
    same = np.array([True, False, False])
    assert scores.best_threshold(np.zeros(3), same) == np.inf


def test_an_interval_covers_the_mean_of_draws():
    covered = 0
    for seed in range(40):
        drawn = np.random.default_rng(seed).normal(size=50)
        found = scores.Figure.of(lambda at, drawn=drawn: drawn[at].mean(), 50)
        covered += found.low <= 0 <= found.high
    assert 34 <= covered <= 40


def test_samples_of_a_model_are_paired_where_they_are_right(tmp_path):
    (tmp_path / "samples").mkdir()
    texts = ["1+2", "2+1", "3", "1+3", "2+1"]
    row = {"id": "p", "strategies": ["1+2", "1+2", "3", "1+3", "1+2"], "correct": [1, 1, 1, 0, 1]}
    files.write_lines(tmp_path / "test.jsonl", [row])
    samples = [{"problem": 0, "sample": i, "text": text} for i, text in enumerate(texts)]
    files.write_lines(tmp_path / "samples" / "test.jsonl", [{"settings": {}}, *samples])
    found = [*pairs.pairs_of_samples(tmp_path / "test.jsonl", "smollm2")]
    assert [(one.first, one.second, one.same) for one in found] == [
        ("1+2", "2+1", True),
        ("1+2", "3", False),
    ]  # equal texts once, wrong ones never, as many of each kind


def test_wrong_samples_are_paired_by_their_strategies_and_read_to_the_end_of_the_line(tmp_path):
    (tmp_path / "samples").mkdir()
    row = {"id": "p", "strategies": ["a-b", "a-b", "b+a", -1], "correct": [0, 0, 0, 0]}
    files.write_lines(tmp_path / "test.jsonl", [row])
    texts = [" 5-3=2\n\nProblem: a", "5-3=1", "3+5=8\n", "none"]
    samples = [{"problem": 0, "sample": i, "text": text} for i, text in enumerate(texts)]
    files.write_lines(tmp_path / "samples" / "test.jsonl", [{"settings": {}}, *samples])
    of = partial(pairs.pairs_of_samples, tmp_path / "test.jsonl", "svamp", wrong=True)
    found = [(one.first, one.second, one.same) for one in of(line=True)]
    assert found == [("5-3=2", "5-3=1", True), ("5-3=2", "3+5=8", False)]
    assert [one.first for one in of()] == [texts[0], texts[0]]
    assert not [*pairs.pairs_of_samples(tmp_path / "test.jsonl", "svamp")]


def test_letters_are_swapped_in_formulas_and_nowhere_else():
    text = r"Then a point $x_{1}=\frac{a}{n}+\sin n i$ lies on a line, since $AB=CD$."
    copy = pairs.copied(text)
    assert r"$t_{1}=\frac{u}{m}+\sin m l$ lies on a line, because $AB=CD$" in copy
    formulas = re.findall(r"\$[^$]+\$", text), re.findall(r"\$[^$]+\$", copy)
    assert all(len(one) == len(two) for one, two in zip(*formulas, strict=True))


def test_renaming_twice_gives_the_formulas_back():
    text = r"$a b c d e i l m n p q r s t u v w x y z A B C$"
    assert pairs.copied(pairs.copied(text)) == text


def test_different_solutions_and_copies_are_pairs(tmp_path):
    row = {"id": "p", "solutions": ["Let $x=1$.", "Take $2$.", "Draw it."]}
    (tmp_path / "s.jsonl").write_text(json.dumps(row) + "\n")
    found = list(pairs.pairs_of_solutions(tmp_path / "s.jsonl"))
    assert [one.same for one in found] == [False, False, False, True]
    assert (found[-1].first, found[-1].second) == ("Let $x=1$.", "Suppose $t=1$.")


def test_halves_are_about_equal_and_fixed():
    halves = [pairs.Pair("people", f"x/{n}", "", "", True).half for n in range(1000)]
    assert 430 < halves.count("threshold") < 570
    assert halves[:4] == [pairs.Pair("other", f"x/{n}", "a", "b", False).half for n in range(4)]


def test_each_score_sees_what_it_is_for():
    made = [
        pairs.Pair("people", "0", "the sum is 7\n7", "the sum is 7\n7", True),
        pairs.Pair("people", "1", "one way\n7", "another path\n7", False),
        pairs.Pair("people", "2", "one way\n7", "one way\n8", False),
    ]
    vectors = np.array([[1.0, 0], [1, 0], [1, 0], [0, 1], [1, 0], [1, 1]])
    found = scores.scored(made, lambda texts: vectors[: len(texts)])
    assert [one["exact"] for one in found] == [1, 0, 0]
    assert [one["answer"] for one in found] == [1, 1, 0]
    assert [one["embedding"] for one in found] == [1.0, 0.0, 0.7071]
    assert found[0]["bigrams"] == 1
    assert found[1]["bigrams"] == 0


def test_pairs_of_a_domain_are_balanced_and_labelled_by_its_reader():
    domain = Countdown()
    found = list(pairs.pairs_of_domain(domain, problems=12, samples=8))
    labels = [one.same for one in found]
    assert labels.count(True) == labels.count(False) > 5
    for one in found:
        forms = [countdown.normal_form(countdown.parse(text)) for text in (one.first, one.second)]
        assert (forms[0] == forms[1]) is one.same
        assert one.first != one.second
    assert len({one.id for one in found}) == len(found)


def test_differences_are_paired():
    records = [
        {"source": "x", "same": same, "embedding": cosine, "bigrams": cosine}
        for same, cosine in [(True, 0.9), (False, 0.2), (True, 0.4), (False, 0.6)]
    ]
    found = Scored(records)
    nothing = found.better("embedding", 0.5, "bigrams", 0.5)
    assert (nothing.value, nothing.low, nothing.high) == (0, 0, 0)
    assert found.better("embedding", 0.3, "bigrams", 0.5).value == 0.25
    assert found.gain("embedding", "bigrams").high == 0
