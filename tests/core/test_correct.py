"""Which samples are right is a field: it is given, or rewards of 0 and 1 are it; no threshold."""

import re
from fractions import Fraction
from itertools import combinations
from pathlib import Path

import numpy as np
import pytest

from setrl import (
    Samples,
    grouped_advantages,
    mean_set_scores,
    methods,
    objectives,
    set_advantages,
)
from setrl.core.adjusting import Gate

CORRECT = np.array([[True, False, False, True, False, True, False, True]])
GRADED = np.array([[0.2, 0.9, 0.7, 1.4, -1.0, 0.4, 0.6, 0.0]])  # no threshold says CORRECT
OUTCOMES = CORRECT * 1.0
LABELS = np.array([[0, 0, 1, 1, 2, 0, 3, -1]])
FIELDS = {"strategies": LABELS, "families": LABELS, "proxy": GRADED[:, ::-1]}
METHODS = {
    name: make([0.0, 0.5, 1.0]) if name == "order_grad" else make()
    for name, make in methods.by_name.items()
}
PAGE, SECTION = "docs/methods.md", "Right, wrong and graded rewards"
OF_CORRECT = [
    objectives.any_correct(),
    objectives.distinct_correct(),
    objectives.rarest_correct(),
    objectives.from_counts(lambda counts: counts[..., :-1, 1].max(-1)),
    objectives.from_function(lambda correct: correct.sum(-1) * 1.0, reads=("correct",)),
]


def given(method, **more):
    return {name: FIELDS[name] for name in method.reads if name in FIELDS} | more


def values(method, rewards, **more):
    return method.advantages(rewards, **given(method, **more)).values_BN


@pytest.mark.parametrize("objective", OF_CORRECT, ids=repr)
def test_credit_by_enumeration_follows_the_field_and_not_the_rewards(objective):
    """u of rewards that say nothing, from the score of every set in integers."""
    found = set_advantages(
        GRADED, objective=objective, set_size=3, strategies=LABELS, correct=CORRECT
    )
    right, labels = CORRECT[0], LABELS[0]

    def score(members):
        held = [i for i in members if right[i]]
        strategies = {labels[i] for i in held} - {-1}
        sizes = [(labels[list(members)] == c).sum() for c in strategies]
        of_each = [sum(labels[i] == c for i in held) for c in strategies]
        definitions = [
            lambda: Fraction(bool(held)),
            lambda: Fraction(len(strategies)),
            lambda: max((Fraction(1, int(n)) for n in sizes), default=Fraction(0)),
            lambda: Fraction(int(max(of_each, default=0))),
            lambda: Fraction(len(held)),
        ]
        return definitions[OF_CORRECT.index(objective)]()

    sets = list(combinations(range(8), 3))
    for i in range(8):
        of_i = [score(members) for members in sets if i in members]
        assert found.with_BN[0, i] == pytest.approx(float(sum(of_i) / len(of_i)), abs=1e-13)
    same = set_advantages(OUTCOMES, objective=objective, set_size=3, strategies=LABELS)
    np.testing.assert_array_equal(found.values_BN, same.values_BN)


@pytest.mark.parametrize("name", METHODS)
def test_a_method_reads_right_and_wrong_or_the_reward_as_it_is(name):
    """It refuses graded rewards without `correct=`, or it does not read `correct` at all."""
    method = METHODS[name]
    if "correct" not in method.reads:
        rewards = np.abs(GRADED)
        plain = values(method, rewards)
        np.testing.assert_array_equal(values(method, rewards, correct=CORRECT), plain)
        # Two rewards grow: a method need not react to only the largest one.
        assert (values(method, rewards + 0.3 * (rewards >= 1)) != plain).any()
        return
    for rewards, shown in ((GRADED, "0.2"), (OUTCOMES * 2 - 1, "-1"), (OUTCOMES * 0.5, "0.5")):
        with pytest.raises(ValueError, match=f"got {shown}: pass correct=.*correct=rewards > 0.5"):
            values(method, rewards)
    assert values(method, GRADED, correct=CORRECT).any()
    np.testing.assert_array_equal(
        values(method, OUTCOMES), values(method, OUTCOMES, correct=CORRECT)
    )
    if "rewards" not in method.reads:  # right and wrong are all that it reads
        np.testing.assert_array_equal(
            values(method, GRADED, correct=CORRECT), values(method, OUTCOMES)
        )


def test_the_page_of_methods_says_what_a_graded_reward_means_for_each():
    text = (Path(__file__).parents[2] / PAGE).read_text()
    section = text.partition(f"## {SECTION}\n")[2].partition("\n## ")[0]
    rows = [
        line.strip("| ").split(" | ") for line in section.splitlines() if line.startswith("| `")
    ]
    told = {name: row[1] for row in rows for name in re.findall(r"`(\w+)`", row[0])}
    assert told.keys() == METHODS.keys(), f"each needs a row in {PAGE}, section {SECTION!r}"
    for name, method in METHODS.items():
        reads = {"correct", "rewards"} & set(method.reads)
        assert (
            told[name]
            == {
                frozenset({"rewards"}): "no",
                frozenset({"correct"}): "yes; it reads nothing else of rewards",
                frozenset({"correct", "rewards"}): "yes, and unchanged rewards",
            }[frozenset(reads)]
        )


def test_a_sample_of_unknown_outcome_leaves_the_sets():
    unknown = np.where(np.arange(8) == 3, np.nan, OUTCOMES)
    method = methods.concave_counts(0.25)
    found = method.advantages(GRADED, strategies=LABELS, correct=unknown)
    assert not found.usable_BN[0, 3]
    kept = np.arange(8) != 3
    other = method.advantages(OUTCOMES[:, kept], strategies=LABELS[:, kept])
    np.testing.assert_array_equal(found.values_BN[:, kept], other.values_BN)
    as_none = [[None if one != one else bool(one) for one in unknown[0]]]
    again = method.advantages(GRADED, strategies=LABELS, correct=as_none)
    np.testing.assert_array_equal(again.values_BN, found.values_BN)


def test_only_rewards_that_count_must_be_0_and_1():
    rewards = np.array([[1.0, 0.0, np.nan, 0.7]])
    mask = np.array([[True, True, True, False]])
    found = mean_set_scores(rewards, objectives.any_correct(), [1, 2], mask=mask)
    np.testing.assert_array_equal(found, [[0.5], [1.0]])
    with pytest.raises(ValueError, match=r"got 0\.7: pass correct="):
        mean_set_scores(rewards, objectives.any_correct(), [1])


@pytest.mark.parametrize(
    ("correct", "message"),
    [
        (
            GRADED,
            r"correct must hold True or False \(1 or 0\), .* got 0\.2: compare it",
        ),
        (CORRECT[0], r"correct must have the shape \(1, 8\) of rewards_BN, got \(8,\)"),
        ([["maybe"] * 8], "correct must hold True or False .* got 'maybe'"),
    ],
)
def test_what_is_no_outcome_is_refused(correct, message):
    with pytest.raises(ValueError, match=message):
        set_advantages(GRADED, methods.pass_k_training(2), correct=correct)


def test_a_flat_batch_has_it_too():
    order = np.random.default_rng(0).permutation(16)
    groups = np.repeat(["a", "b"], 8)[order]
    rewards, right = np.tile(GRADED[0], 2)[order], np.tile(CORRECT[0], 2)[order]
    found = grouped_advantages(rewards, groups, methods.pass_k_training(3), correct=right)
    want = methods.pass_k_training(3).advantages(GRADED, correct=CORRECT).values_BN[0]
    np.testing.assert_array_equal(found, np.tile(want, 2)[order])


def test_rules_about_what_is_right_read_it_too():
    gated = Gate()(np.ones((1, 8)), Samples(GRADED, correct=CORRECT))[0]
    np.testing.assert_array_equal(gated[0] == 0, ~CORRECT[0])
