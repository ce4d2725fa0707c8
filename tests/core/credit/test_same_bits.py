"""A prompt's credit is the same to the bit in any batch, memory layout, and number of threads."""

import json
import os
import subprocess
import sys

import numpy as np
import pytest

from setrl import credit, mean_set_scores, methods, objectives, set_advantages
from setrl.core.check_objective import draw_samples
from setrl.core.sums import by_member, over_rows, product, total
from tests.core.catalogue import EXACT

NUM_SAMPLES, SET_SIZE = 9, 4
SAMPLES = draw_samples(7, NUM_SAMPLES, np.random.default_rng(5))
NAMES = ("values_BN", "with_BN", "without_BN", "mean_B", "stderr_BN")
ESTIMATORS = (
    credit.Exact(), credit.Enumerated(), credit.Sampled(40), credit.Regression(60),
    credit.Regression(60, ridge=0),
)  # fmt: skip
BASELINES = ("all_sets", "leave_one_out", "others_mean", "smaller_sets", "none")
ENTRIES = [
    entry
    for entry in EXACT
    if entry.smallest < SET_SIZE and entry.objective.set_size in (None, SET_SIZE)
]


def fields_of(objective):
    return {name: getattr(SAMPLES, name) for name in objective.reads if name != "rewards"}


def credit_of(objective, fields, rewards, **options):
    return set_advantages(
        rewards, objective=objective, set_size=SET_SIZE, rng=3, **options, **fields
    )


def assert_same_bits(found, whole, rows):
    for name in NAMES:
        if getattr(whole, name) is not None:
            np.testing.assert_array_equal(getattr(found, name), getattr(whole, name)[rows], name)


CHOICES = [
    (estimator, baseline)
    for estimator in ESTIMATORS
    for baseline in (BASELINES if estimator == credit.Exact() else BASELINES[1::2])
]


@pytest.mark.parametrize("entry", ENTRIES, ids=lambda entry: entry.name)
def test_credit_does_not_depend_on_the_batch(entry):
    objective, fields = entry.objective, fields_of(entry.objective)
    for estimator, baseline in CHOICES:
        if baseline == "smaller_sets" and (not entry.smaller or objective.set_size):
            continue
        options = {"estimator": estimator, "baseline": baseline}
        whole = credit_of(objective, fields, SAMPLES.rewards, **options)
        for rows in ([6], [2, 3], [5, 1, 6, 0, 3]):
            chosen = {name: value[rows] for name, value in fields.items()}
            found = credit_of(objective, chosen, SAMPLES.rewards[rows], **options)
            assert_same_bits(found, whole, rows)


@pytest.mark.parametrize(
    "entry",
    [entry for entry in ENTRIES if {"strategies", "answers"} & set(entry.objective.reads)],
    ids=lambda entry: entry.name,
)
def test_a_prompt_without_any_label_has_the_same_credit_alone(entry):
    fields = dict(fields_of(entry.objective))
    for name in {"strategies", "answers"} & fields.keys():
        fields[name] = np.where(np.arange(7)[:, None] == 2, np.nan, fields[name])
    options = {"abstain": True}
    whole = credit_of(entry.objective, fields, SAMPLES.rewards, **options)
    alone = {name: value[[2]] for name, value in fields.items()}
    found = credit_of(entry.objective, alone, SAMPLES.rewards[[2]], **options)
    assert_same_bits(found, whole, [2])


@pytest.mark.parametrize("entry", ENTRIES, ids=lambda entry: entry.name)
def test_credit_does_not_depend_on_the_layout_in_memory_or_on_padding(entry):
    fields = fields_of(entry.objective)
    whole = credit_of(entry.objective, fields, SAMPLES.rewards)
    other = {name: np.asfortranarray(value) for name, value in fields.items()}
    turned = credit_of(entry.objective, other, np.asfortranarray(SAMPLES.rewards))
    assert_same_bits(turned, whole, slice(None))
    places = [0, 1, 3, 4, 5, 8, 9, 10, 11]  # of the samples in rows of twelve
    mask = np.zeros((7, 12), dtype=bool)
    mask[:, places] = True
    mask[3, 0] = False  # prompts of two sizes

    def padded(values):
        if values.ndim == 3:
            wide = np.full((7, 12, 12), 0.5)
            wide[:, np.ix_(places, places)[0], np.ix_(places, places)[1]] = values
            return wide
        wide = np.zeros((7, 12), dtype=values.dtype)
        wide[:, places] = values
        return wide

    wide = {name: padded(value) for name, value in fields.items()}
    found = credit_of(entry.objective, wide, padded(SAMPLES.rewards), mask=mask)
    rows = [0, 1, 2, 4, 5, 6]
    for name in ("values_BN", "with_BN", "without_BN"):
        kept = getattr(found, name)[:, places][rows]
        np.testing.assert_array_equal(kept, getattr(whole, name)[rows], name)


def test_draws_for_prompts_of_one_size_do_not_depend_on_other_sizes():
    rewards = SAMPLES.rewards.copy()
    rewards[2:4, :2] = np.nan
    drawn = methods.maxpo(4, credit.Sampled(30))
    whole = set_advantages(rewards, drawn, rng=3)
    for rows in ([0, 1], [2], [3, 4]):
        found = set_advantages(rewards[rows], drawn, rng=3)
        np.testing.assert_array_equal(found.values_BN, whole.values_BN[rows])
    spread = objectives.from_function(lambda rewards: np.ptp(rewards, axis=-1))
    means = mean_set_scores(rewards, spread, [3, 4], rng=3)
    np.testing.assert_array_equal(
        mean_set_scores(rewards[2:3], spread, [3, 4], rng=3), means[:, 2:3]
    )


def test_each_prompt_has_its_closed_form_or_not():
    """A prompt with too many compositions does not change how the others are credited."""
    few = objectives.from_counts(lambda counts: counts[..., 1].max(-1), max_compositions=15)
    strategies = np.array([[0, 0, 0, 1, 1, 1], [0, 1, 2, 3, 4, 5]])
    rewards = np.array([[1.0, 0, 1, 0, 1, 0], [1, 0, 1, 0, 1, 0]])
    how = {"objective": few, "set_size": 3, "baseline": "smaller_sets", "rng": 0}
    options = {**how, "estimator": credit.Exact(max_sets=5, num_sets=10)}
    whole = set_advantages(rewards, strategies=strategies, **options)
    assert whole.estimator == "closed form; sampled (10 of 20 sets)"
    assert not whole.is_exact
    for row in (0, 1):
        found = set_advantages(
            rewards[row : row + 1], strategies=strategies[row : row + 1], **options
        )
        np.testing.assert_array_equal(found.values_BN[0], whole.values_BN[row])


def test_sums_are_those_of_the_rows_alone():
    rng = np.random.default_rng(0)
    values = rng.normal(size=(5, 33)) * 10.0 ** rng.integers(-8, 8, (5, 33))
    sets = np.array([rng.permutation(8)[:3] for _ in range(33)])
    weights = rng.normal(size=(8, 33))
    for of in (total, lambda v: by_member(v, sets, 8), lambda v: product(v, weights)):
        whole = of(values)
        for row in range(5):
            np.testing.assert_array_equal(of(values[row : row + 1])[0], whole[row])
        np.testing.assert_array_equal(of(np.asfortranarray(values)), whole)
    down = over_rows(values.T)
    for row in range(5):
        np.testing.assert_array_equal(over_rows(values.T[:, row : row + 1])[0], down[row])
    member = (sets[:, :, None] == np.arange(8)).any(axis=1)
    np.testing.assert_allclose(by_member(values, sets, 8), values @ member, rtol=1e-12)
    np.testing.assert_allclose(product(values, weights), values @ weights.T, rtol=1e-12)


def test_processors_and_threads_give_the_same_bits():
    """NumPy without its vector instructions, OpenBLAS with another kernel and two threads."""
    features = np._core._multiarray_umath  # what NumPy may choose between on this processor
    found = [name for name in features.__cpu_dispatch__ if features.__cpu_features__.get(name)]
    plain = {"OPENBLAS_CORETYPE": "Nehalem", "NPY_DISABLE_CPU_FEATURES": " ".join(found)}
    threads = {"OPENBLAS_NUM_THREADS": "2", "OMP_NUM_THREADS": "2"}
    digests = [json.loads(printed_with(changes)) for changes in ({}, plain, threads)]
    assert len(digests[0]) == len(EQUAL_ON_PROCESSORS)
    assert digests[1] == digests[0]
    assert digests[2] == digests[0]


EQUAL_ON_PROCESSORS = (
    "mean", "max", "any_correct", "best_of", "majority", "distinct", "distinct_correct",
    "distinct_share", "mixed_share", "differ", "polychromic", "pairwise_distance",
    "rarest_correct", "family_share",
)  # fmt: skip
# The others go through exp and log, whose last bit is the processor's, or through LAPACK.

SCRIPT = """
import dataclasses, hashlib, json, sys
import numpy as np
from setrl import credit, objectives, set_advantages
from setrl.core.check_objective import draw_samples

samples = draw_samples(12, 40, np.random.default_rng(0))
pairs = np.abs(samples.rewards[:, :, None] - samples.rewards[:, None])  # the others are of BLAS
samples = dataclasses.replace(samples, pairs=pairs)
found = {}
for name in sys.argv[1:]:
    objective = objectives.by_name[name]()
    fields = {key: getattr(samples, key) for key in objective.reads if key != "rewards"}
    parts = [
        set_advantages(
            samples.rewards, objective=objective, set_size=6, estimator=estimator, rng=0,
            baseline="leave_one_out", scale="group_std", **fields,
        ).values_BN
        for estimator in (credit.Exact(), credit.Sampled(30))
    ]
    found[name] = hashlib.sha256(b"".join(part.tobytes() for part in parts)).hexdigest()
print(json.dumps(found))
"""


def printed_with(changes):
    ended = subprocess.run(
        [sys.executable, "-W", "ignore", "-c", SCRIPT, *EQUAL_ON_PROCESSORS],
        env={**os.environ, **changes}, check=True, capture_output=True, text=True,
    )  # fmt: skip
    return ended.stdout
