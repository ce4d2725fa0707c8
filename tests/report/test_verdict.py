"""The verdict in words: more and fewer only where the interval excludes 0."""

from dataclasses import replace

from setrl.evaluate.summary import ArmDifference
from setrl.show.report.verdict import seeds_needed, verdict_in_words
from tests.report.test_headlines import arm, data, difference, split


def test_arms_with_one_verdict_share_a_sentence_with_the_best_first():
    one = split(poly=(0.1, 0.1, 0.1, 0.1))
    two = replace(
        one,
        arms={**one.arms, "maxpo": arm("maxpo", 4.0, pass_1=0.99)},
        differences=(*one.differences, replace(one.differences[0], arm="maxpo")),
    )
    [first, *_] = verdict_in_words(data(two))
    start = "With one try on shifted problems, which forbid the most frequent strategies, "
    assert first.startswith(start)
    assert "solve more problems than GRPO (" in first
    assert first.index("Poly-EPO") > 0
    assert "MaxPO (" in first
    assert first.endswith(": +10.0 points [5.0, 15.0] and +10.0 points [5.0, 15.0].")


def test_fewer_and_not_told_apart():
    below, *_ = verdict_in_words(data(split(poly=(-0.1, -0.1, -0.1, -0.1))))
    assert "Poly-EPO (" in below
    assert "solves fewer problems than GRPO (" in below
    unclear, *_ = verdict_in_words(data(split(poly=(0.0, 0.04, 0.04, 0.0))))
    assert unclear.endswith(
        "it is open whether Poly-EPO (50.0%) solves more problems than GRPO (50.0%), or fewer: "
        "0.0 points [−5.0, 5.0]."
    )


def test_what_is_open_says_how_many_seeds_would_decide_it():
    one = split()
    wide = {**one.differences[0].metrics, "pass@1": difference(0.6, reach=1.2)}
    one = replace(one, differences=(replace(one.differences[0], metrics=wide),))
    first, *_ = verdict_in_words(data(one))
    assert first.endswith("If the differences stay so, about 11 seeds decide it, instead of 2.")
    # 2.228 = t(10), 2.262 = t(9); the standard error of 2 seeds is 0.6, of R it is 0.6·√(2/R)
    assert 2.228 * 0.6 * (2 / 11) ** 0.5 < 0.6 < 2.262 * 0.6 * (2 / 10) ** 0.5
    assert seeds_needed(difference(0.0), 2) is None


def test_the_hardest_problems_come_first_then_what_it_costs():
    first, second, *_ = verdict_in_words(data(split("test", poly=(-0.1,) * 4), split()))
    assert "on shifted problems" in first
    assert "solves more problems than GRPO" in first
    assert second.startswith("With one try on test problems, Poly-EPO (50.0%) solves fewer")


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
        "Before training, the base solves 50.0% of shifted problems with one try"
    )
    assert second.endswith("with 8 tries.")


def test_trained_arms_are_compared_with_the_base_at_the_same_low_temperature():
    one = split(poly=(0.1, 0.1, 0.1, 0.1))
    colder = {
        name: replace(arm(name, 6.3, pass_1=rate, seeds=()), temperature=0.5)
        for name, rate in (("base_temperature_0.5", 0.85), ("poly_epo_temperature_0.5", 0.9))
    }
    gap = ArmDifference(*reversed(colder), {"pass@1": difference(0.05)})
    one = replace(one, arms={**one.arms, **colder}, differences=(*one.differences, gap))
    said = verdict_in_words(data(one))
    assert said[2] == (
        "Sampled at temperature 0.5, the base solves 85.0% with one try, without any training; "
        "Poly-EPO 90.0%, +5.0 points [0.0, 10.0]."
    )
    assert "temperature" not in "".join([*said[:2], *said[3:]])  # they are no arms of curves
