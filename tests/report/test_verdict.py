"""The verdict in words: more and fewer only where the interval excludes 0."""

from dataclasses import replace

from setrl.show.report.verdict import verdict_in_words
from tests.report.test_headlines import arm, data, split


def test_arms_with_one_verdict_share_a_sentence_with_the_best_first():
    one = split(poly=(0.1, 0.1, 0.1, 0.1))
    two = replace(
        one,
        arms={**one.arms, "maxpo": arm("maxpo", 4.0, pass_1=0.99)},
        differences=(*one.differences, replace(one.differences[0], arm="maxpo")),
    )
    [first, *_] = verdict_in_words(data(two))
    assert first.startswith("With 8 tries on shifted problems, ")
    assert "solve more problems than GRPO (" in first
    assert first.index("Poly-EPO") > 0
    assert "MaxPO (" in first
    assert first.endswith(": +10.0 points [5.0, 15.0] and +10.0 points [5.0, 15.0].")


def test_fewer_and_not_told_apart():
    below, *_ = verdict_in_words(data(split(poly=(-0.1, -0.1, -0.1, -0.1))))
    assert "Poly-EPO (" in below
    assert "solves fewer problems than GRPO (" in below
    unclear, *_ = verdict_in_words(data(split(poly=(0.0, 0.04, 0.04, 0.0))))
    assert unclear.endswith("cannot be distinguished: 0.0 points [−5.0, 5.0].")
    assert "more" not in unclear


def test_nothing_is_compared_without_a_partner():
    alone = split()
    alone = replace(alone, arms={"poly_epo": alone.arms["poly_epo"]}, differences=())
    sentence, strategies = verdict_in_words(data(alone))
    assert sentence.startswith("Poly-EPO solves ")
    assert sentence.endswith(" with 8 tries.")
    assert strategies == "Correct strategies in 8 samples on the shifted split: Poly-EPO finds 8.1."
    assert verdict_in_words(data()) == []


def test_the_base_stands_in_the_second_sentence():
    one = split(poly=(0.1, 0.1, 0.1, 0.1))
    second = verdict_in_words(data(one))[1]
    assert second.startswith(
        "Before training, the base solves 50.0% of these problems with one try"
    )
    assert second.endswith("with 8 tries.")
    cold = replace(arm("cold", 6.3, pass_1=0.85, seeds=()), temperature=0.5)
    first, second, *more = verdict_in_words(
        data(replace(one, arms={**one.arms, "base_temperature_0.5": cold}))
    )
    assert second.endswith(
        "; at temperature 0.5, it solves 85.0% with one try and 85.0% with 8 tries."
    )
    assert "temperature" not in "".join([first, *more])  # it was not trained: it is no arm
