import math
from dataclasses import replace

import numpy as np
import pytest

from setrl import methods
from setrl.judges import Judgement
from setrl.logs.records import group_of
from setrl.rewards import Combine
from setrl.train.gathering.judging import with_judgements
from setrl.train.gathering.metrics import (
    batch_metrics,
    evaluation_metrics,
    mean_of,
    rollout_records,
)
from setrl.train.scoring import samples_of, score
from setrl.train.scoring.batch import JudgingTimes

NAN = math.nan
REWARDS_BN = np.array([[1.0, 1, 0, 0], [0, 0, 0, NAN]])
LABELS_BN = np.array([[5.0, 5, 7, -1], [5, NAN, 7, 7]])
NAMES_BN = [["x=5", "x=5", "x=7", None], ["x=5", None, "x=7", "x=7"]]


def labels(strategies_BN):
    return [None if math.isnan(one) else int(one) for one in strategies_BN.ravel()]


def make_batch(method, rewards_BN=REWARDS_BN, strategies_BN=LABELS_BN):
    samples = samples_of(
        [rewards_BN.ravel()],
        4,
        strategies=None if strategies_BN is None else labels(strategies_BN),
        prompts=["p", "q"],
        texts=[["a", "b", "c", "d"], ["e", "f", "g", "h"]],
    )
    return score(samples, method)


def test_metrics_by_hand():
    metrics = batch_metrics(make_batch(methods.dr_grpo()), NAMES_BN)
    assert metrics["reward/mean"] == pytest.approx(2 / 7)  # the sample without reward is left out
    assert metrics["reward/pass@1"] == pytest.approx(2 / 7)
    assert metrics["strategies/per_prompt"] == 2
    assert metrics["strategies/correct_per_prompt"] == 0.5
    assert metrics["strategies/top_share"] == pytest.approx((2 / 4 + 2 / 3) / 2)
    assert metrics["strategies/degenerate"] == 1 / 7  # the unknown label is left out
    assert metrics["strategies/share/x=5"] == 3 / 8
    assert metrics["strategies/share/x=7"] == 3 / 8
    assert metrics["advantage/wrong_positive"] == 0
    assert metrics["advantage/correct_negative"] == 0
    assert metrics["advantage/dead_groups"] == 0.5
    assert metrics["advantage/left_out"] == 1 / 8
    assert metrics["advantage/skipped"] == 0


def test_credit_that_goes_against_correctness_is_counted():
    """The worked example of seven like correct samples and a lone wrong one: all signs are off."""
    rewards, strategies = [1.0] * 7 + [0], [0] * 7 + [1]
    samples = samples_of([rewards], 8, strategies=strategies)
    metrics = batch_metrics(score(samples, methods.poly_epo(4)))
    assert metrics["advantage/wrong_positive"] == 1
    assert metrics["advantage/correct_negative"] == 1


def test_a_sample_of_unknown_outcome_is_neither_right_nor_wrong():
    outcomes, shaping = [1.0, 0, None, 0], [0.0, 0, 5, 0]  # the third has the highest reward
    samples = samples_of([outcomes, shaping], 4)
    combine = Combine((1.0, 1.0), missing="skip", outcome=0)
    batch = score(samples, methods.dr_grpo(), combine=combine)
    assert batch.advantages.values_BN[0, 2] > 0
    metrics = batch_metrics(batch)
    assert metrics["advantage/wrong_positive"] == 0
    assert metrics["reward/pass@1"] == pytest.approx(1 / 3)


def test_what_is_unknown_is_counted_and_decides_nothing():
    """The second prompt has no grade, and one function said nothing about the first sample."""
    samples = samples_of(
        [[1.0, 1, 0, None, None, None], [None, 0, 0, 0, 0, 0]],
        3,
        strategies=["x", "y", "y", "x", "y", "z"],
        correct=[True, True, False, None, None, None],
    )
    batch = score(samples, methods.dr_grpo(), combine=Combine((1.0, 1.0)))
    metrics = batch_metrics(batch)
    assert metrics["strategies/correct_per_prompt"] == 2
    assert (metrics["reward/ungraded"], metrics["reward/unknown"]) == (1 / 2, 4 / 12)
    assert metrics["reward/dead_groups"] == 0  # of the only prompt with a reward
    half_BN = np.array([[0.0, 0, 1, -1], [NAN] * 4])
    [_, record] = rollout_records(make_batch(methods.dr_grpo(), strategies_BN=half_BN), None, 1)
    assert "judged" not in record  # nobody asked a judge


def test_pass_at_k_of_an_evaluation_takes_the_graded_samples_of_each_prompt():
    samples = samples_of(
        [[1, 1, 1, 0] + [0] * 8],
        4,
        correct=[True, True, True, None] + [False] * 4 + [None, True, False, None],
    )
    values = evaluation_metrics(score(samples, methods.dr_grpo()))
    assert values["reward/pass@1"] == [1, 0, 1 / 2]
    assert values["reward/pass@2"] == [1, 0, 1]
    assert values["reward/pass@4"] == [0]
    assert values["reward/ungraded"] == [pytest.approx(3 / 12)]


def test_what_is_undefined_is_nan():
    batch = make_batch(methods.dr_grpo(), np.ones((2, 4)))
    assert math.isnan(batch_metrics(batch)["advantage/wrong_positive"])  # there is no wrong sample


def test_what_was_never_judged_is_nan():
    nobody_BN = np.full((2, 4), NAN)
    metrics = batch_metrics(make_batch(methods.poly_epo(2), strategies_BN=nobody_BN))
    measured = {key: value for key, value in metrics.items() if key.startswith("strategies/")}
    assert len(measured) == 5
    assert all(math.isnan(value) for value in measured.values())
    assert metrics["advantage/skipped"] == 1
    half_BN = np.array([[0.0, 0, 1, -1], [NAN] * 4])
    metrics = batch_metrics(make_batch(methods.poly_epo(2), strategies_BN=half_BN))
    assert metrics["strategies/per_prompt"] == 2
    assert metrics["strategies/correct_per_prompt"] == 1
    assert metrics["strategies/top_share"] == 1 / 2
    assert metrics["strategies/degenerate"] == 1 / 4
    assert metrics["advantage/skipped"] == 1 / 2


def test_samples_of_no_strategy_are_degenerate_and_have_no_commonest_one():
    metrics = batch_metrics(make_batch(methods.dr_grpo(), strategies_BN=np.full((2, 4), -1.0)))
    assert (metrics["strategies/degenerate"], metrics["strategies/per_prompt"]) == (1, 0)
    assert math.isnan(metrics["strategies/top_share"])


def test_without_strategies():
    batch = make_batch(methods.dr_grpo(), strategies_BN=None)
    assert not [key for key in batch_metrics(batch) if key.startswith("strategies/")]
    [record, _] = rollout_records(batch, None, 1)
    assert "strategies" not in record
    assert set(record["counterfactual"]) == {"grpo", "maxpo@3"}


def test_rare_strategies_are_added_up():
    names_BN = [[f"x={i}" for i in range(24)] + ["x=0"]]
    batch = make_batch(methods.dr_grpo())
    shares = {
        key: value
        for key, value in batch_metrics(batch, names_BN).items()
        if key.startswith("strategies/share/")
    }
    assert len(shares) == 21
    assert shares["strategies/share/x=0"] == 2 / 25
    assert shares["strategies/share/other"] == 4 / 25
    assert sum(shares.values()) == pytest.approx(1)


def test_records_of_samples():
    method = methods.poly_epo(2)
    batch = make_batch(method)
    first, second = rollout_records(batch, NAMES_BN, 30)
    assert (first["step"], first["id"], first["prompt"]) == (30, "30/0", "p")
    assert second["texts"] == ["e", "f", "g", "h"]
    assert group_of(second, "here").column("strategy") == [5, None, 7, 7]
    assert first["read"] == NAMES_BN[0]
    maxpo, poly_epo = methods.maxpo(3), methods.poly_epo(3)  # whatever K the arm has
    others = {"grpo": methods.dr_grpo(), "maxpo@3": maxpo, "poly_epo@3": poly_epo}
    assert first["counterfactual"].keys() == others.keys()
    for b, record in enumerate((first, second)):
        assert record["advantages"] == batch.advantages.values_BN[b].tolist()
        for name, other in others.items():
            values_BN = other.advantages(REWARDS_BN, strategies=LABELS_BN).values_BN
            assert record["counterfactual"][name] == values_BN[b].tolist()


@pytest.mark.parametrize(
    ("strategies", "names"),
    [
        (["sum", "12", -1, None], ["sum", 12, -1, None]),
        ([Judgement((0, 1, 2, -1), ("plan", None, None, None))], ["plan", 1, 2, -1]),
    ],
)
def test_records_have_the_names_that_a_function_or_a_judge_gives(strategies, names):
    method = methods.dr_grpo()
    rewards, given = [[1.0, 0, 0, 0]], {"prompts": ["p"], "texts": ["abcd"]}
    if isinstance(strategies[0], Judgement):
        samples, _ = with_judgements(samples_of(rewards, 4, **given), strategies)
        batch = replace(score(samples, method), judging=JudgingTimes(1.0, 1.0, 0.0))
    else:
        batch = score(samples_of(rewards, 4, strategies=strategies, **given), method)
    [record] = rollout_records(batch, None, 1)
    assert group_of(record, "here").column("strategy") == names


def test_records_have_the_tokens_that_somebody_counted():
    method = methods.dr_grpo()
    samples = samples_of([[1.0, 0.0] * 2], 2, tokens=[1, 2, 3, 4], prompts="pq", texts=["ab"] * 2)
    records = rollout_records(score(samples, method), None, 1)
    assert [record["tokens"] for record in records] == [[1, 2], [3, 4]]


def test_the_mean_of_normalised_rewards_is_0_and_no_rounding_error():
    normalised = np.array([0.1, 0.7, -0.4, 1.3, 0.2]) - np.mean([0.1, 0.7, -0.4, 1.3, 0.2])
    assert np.mean(normalised) != 0
    assert mean_of(normalised) == 0
    assert mean_of([1e-17, 0.0]) == 5e-18
    assert math.isnan(mean_of([float("nan")]))
