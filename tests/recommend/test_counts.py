"""Logged groups as counts, and what is refused."""

from itertools import combinations

import numpy as np
import pytest

from setrl.recommend.counts import Logged, disagreement, means_the_same
from setrl.support.errors import DataError
from tests.samples.reading import evaluation_from

ROWS = [
    ("ab", [1, 0, 1, 1], ["x", "x", "y", None]),
    ("cd", [0, 0, 1, 0], ["y", "z", "x", "x"]),
    ("ef", [1, 1, 0, 1], ["x", None, "y", "y"]),
    ("gh", [0, 1, 1, 1], ["z", "y", "x", "x"]),
    ("ij", [1, 0, 0, 1], ["x", "x", "x", "y"]),
]


def evaluation(rows=ROWS):
    return evaluation_from([(*row, [None] * len(row[1])) for row in rows])


def test_counts_are_those_of_the_definition():
    log = Logged.of(evaluation())
    assert log.labels == ("x", "y", "z")
    assert log.is_shared
    pairs = [(r, s) for _, right, labels in ROWS for r, s in zip(right, labels, strict=True)]
    for c, name in enumerate(log.labels):
        assert log.all_PC[:, c].sum() == sum(s == name for _, s in pairs)
        assert log.right_PC[:, c].sum() == sum(r for r, s in pairs if s == name)
    assert log.right_P.tolist() == [3, 1, 3, 3, 2]
    assert log.degenerate == pytest.approx(2 / 20)
    base = log.strategies()
    np.testing.assert_allclose(base.shares_C, [10 / 20, 6 / 20, 2 / 20])
    np.testing.assert_allclose(base.success_C, [6 / 10, 4 / 6, 0])


def test_groups_that_are_alike_are_counted_over_all_draws():
    log = Logged.of(evaluation())
    assert np.isnan(log.alike(9))  # no prompt has so many
    for size in (2, 3, 4):
        shares = []
        for _, right, _ in ROWS:
            drawn = list(combinations(right, size))
            shares.append(np.mean([len(set(group)) == 1 for group in drawn]))
        assert log.alike(size) == pytest.approx(np.mean(shares))


def test_labels_that_are_counted_anew_become_ranks():
    """The most frequent strategy of each prompt is number 1, under any name."""
    rows = [
        (str(p), [1, 0, 1, 0], labels)
        for p, labels in enumerate([["7", "3", "3", None], ["1", "1", "1", "2"], ["4"] * 4] * 2)
    ]
    log = Logged.of(evaluation(rows))
    assert not log.is_shared
    assert log.labels == ("no. 1", "no. 2")
    assert log.why_ranks == "all labels are whole numbers"
    assert log.all_PC.tolist() == [[2, 1], [3, 1], [4, 0]] * 2
    assert log.right_PC.tolist() == [[1, 1], [2, 0], [2, 0]] * 2
    assert Logged.of(evaluation(rows), labels="shared").labels[0] == "4"


def test_when_labels_mean_the_same():
    shared, own = np.array([[0, 1], [0, 1]]), np.array([[0, 1], [2, 3]])
    assert means_the_same(["a", "b"], shared)
    assert not means_the_same(["0", "1"], shared)
    assert not means_the_same(["a", "b", "c", "d"], own)


def test_labels_that_are_wrong_elsewhere_are_not_shared():
    """Pairs of numbers with a given sum: right for only one prompt, wrong for many."""
    rows = [
        (f"sum {n}", [1, 1, 0, 0], [f"{n}+0", f"0+{n}", f"{n - 1}+0", f"0+{n - 2}"])
        for n in range(2, 9)
    ]
    log = Logged.of(evaluation(rows))
    assert not log.is_shared
    assert log.why_ranks.startswith("fewer than half of right samples (0%) have a label")
    shared = Logged.of(evaluation(rows), "shared")
    assert shared.is_shared
    assert not shared.why_ranks


def test_half_of_right_samples_with_repeated_labels_make_them_shared():
    for repeated, is_shared in ((2, True), (1, False)):
        rows = [
            (f"p{n}", [1, 1, 1, 1], [*["x"] * repeated, *[f"own {n}"] * (4 - repeated)])
            for n in range(6)
        ]
        rows[0][1][-1] = 0
        assert Logged.of(evaluation(rows)).is_shared == is_shared


def test_resamples_keep_all_strategies():
    log = Logged.of(evaluation())
    drawn = log.resampled(50)
    assert len(drawn) == 50
    assert {one.labels for one in drawn} == {log.labels}
    shares = np.array([one.shares_C for one in drawn])
    assert (shares > 0).all()
    assert shares[:, 2].min() < 1e-6  # z is missing in some
    assert np.abs(shares.mean(axis=0) - log.strategies().shares_C).max() < 0.03


def test_problems_of_different_sizes():
    rows = [*ROWS, ("kl", [1, 0], ["x", "y"])]
    log = Logged.of(evaluation(rows))
    assert log.n_P.tolist() == [4] * 5 + [2]
    assert log.all_PC[-1].tolist() == [1, 1, 0]


def test_disagreement_is_the_share_of_samples_that_must_move():
    pytest.importorskip("scipy")
    other = [(p, right, ["x", "y", "y", None]) for p, right, _ in ROWS]
    same = [(p, right, [s and s + "!" for s in labels]) for p, right, labels in ROWS]
    assert disagreement(evaluation(), evaluation(same)) == 0
    assert disagreement(evaluation(ROWS[:1]), evaluation(other[:1])) == 1 / 4


@pytest.mark.parametrize(
    ("rows", "message"),
    [
        (ROWS[:4], "too few prompts to say something about others: 4"),
        ([(p, [1], ["x"]) for p in "abcdef"], "every prompt has one sample"),
        ([(p, [0, 0], ["x", "y"]) for p in "abcdef"], "all 12 samples are wrong.*easier problems"),
        ([(p, [1, 1], ["x", "y"]) for p in "abcdef"], "all 12 samples are right"),
    ],
)
def test_groups_that_say_nothing_are_refused(rows, message):
    with pytest.raises(DataError, match=message):
        Logged.of(evaluation(rows))
