"""Numbers that must agree with each other, in every log that the tests have.

Each is computed by its own code: a majority of one sample, the best of one, and the strategies of
one right sample are all the share of right samples.
"""

from functools import cache
from math import comb
from pathlib import Path

import numpy as np
import pytest

from setrl.evaluate.loading import load_samples
from setrl.evaluate.metrics import metric_values
from setrl.logs.options import LogOptions
from setrl.logs.roles import FieldNames
from setrl.support.errors import ConfigError, DataError
from tests import fake_run

DATA = Path(__file__).parents[1] / "data"
NO_SAMPLES = {  # problems, pairs of texts and tables of counts
    "README.md", "gsm8k_50.jsonl", "noveltybench_pairs_60.jsonl", "passk_cruxeval_counts.jsonl",
    "polaris_50.jsonl", "svamp_30.jsonl",
}  # fmt: skip
OPTIONS = {
    "tinker_cookbook": LogOptions(correct_above=0.45),
    "trl_completions": LogOptions(FieldNames(reward="short")),
}
LOGS = sorted(
    path.name
    for path in DATA.iterdir()
    if path.suffix != ".py" and path.name not in (*NO_SAMPLES, "__pycache__")
)


@pytest.fixture(scope="module")
def fake(tmp_path_factory):
    folder = fake_run.make(tmp_path_factory.mktemp("fake") / "run", ("grpo",), (0,), 2, 6, 8)
    return next(folder.rglob("evaluation/test.jsonl"))


@cache
def _loaded(path):
    evaluation = load_samples(path, OPTIONS.get(path.name))
    most = int(evaluation.size_P.max())
    return evaluation, metric_values(evaluation, range(1, most + 1)), most


@pytest.fixture(params=[*LOGS, "of a run"])
def log(request):
    if request.param == "of a run":
        return _loaded(request.getfixturevalue("fake"))
    return _loaded(DATA / request.param)


def test_the_list_has_all_logs():
    assert len(LOGS) > 6
    for name in sorted(NO_SAMPLES - {"README.md", "passk_cruxeval_counts.jsonl"}):
        with pytest.raises((ConfigError, DataError)):
            load_samples(DATA / name)


def test_pass_at_k_is_what_is_left_by_sets_that_all_fail(log):
    evaluation, values, most = log
    for k in range(1, most + 1):
        for right, n, found in zip(
            evaluation.correct_count_P, evaluation.size_P, values[f"pass@{k}"], strict=True
        ):
            if k <= n:
                all_fail = comb(int(n - right), k) / comb(int(n), k)
                assert found == pytest.approx(1 - all_fail, abs=1e-12)


@pytest.mark.parametrize("metric", ["pass", "max", "correct_strategies", "strategies"])
def test_more_samples_never_lower_it(log, metric):
    _, values, most = log
    curve_KP = np.array([values[f"{metric}@{k}"] for k in range(1, most + 1)
                         if f"{metric}@{k}" in values])  # fmt: skip
    if len(curve_KP) > 1:
        steps = np.diff(curve_KP, axis=0)
        assert (steps[~np.isnan(steps)] >= -1e-12).all()


def test_a_majority_of_one_is_the_share_of_right_samples(log):
    evaluation, values, _ = log
    answers_PN = evaluation.column("answers")
    for problem, answers_N in enumerate(answers_PN):
        present_N = evaluation.present_PN[problem]
        if not np.isnan(answers_N[present_N]).any():
            assert values["majority@1"][problem] == pytest.approx(values["pass@1"][problem])


def test_the_best_of_one_is_the_mean_reward(log):
    evaluation, values, _ = log
    if "max@1" not in values:
        return
    rewards_PN = np.where(evaluation.present_PN, evaluation.samples.rewards, np.nan)
    for problem, rewards_N in enumerate(rewards_PN):
        present_N = evaluation.present_PN[problem]
        if np.isnan(rewards_N[present_N]).any():
            continue
        assert values["max@1"][problem] == pytest.approx(rewards_N[present_N].mean())
        if set(rewards_N[present_N]) <= {0.0, 1.0}:
            right_N = evaluation.correct_PN[problem][present_N]
            if (right_N == (rewards_N[present_N] == 1)).all():
                assert values["max@1"][problem] == pytest.approx(values["pass@1"][problem])


def test_the_strategies_of_one_right_sample_are_the_share_of_right_samples(log):
    evaluation, values, _ = log
    for problem, labels_N in enumerate(evaluation.column("strategies")):
        right_N = evaluation.correct_PN[problem]
        if evaluation.knows("strategies") and (labels_N[right_N] >= 0).all():
            found = values["correct_strategies@1"][problem]
            assert found == pytest.approx(values["pass@1"][problem])
