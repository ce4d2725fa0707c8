import itertools
import math
from statistics import mean, stdev

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from setrl.rewards import Combine
from setrl.rewards.truncation import truncation_from_config
from setrl.support.errors import ConfigError

NAN = float("nan")


def combined(group, weights, gates, normalize, missing):
    """The definition, sample by sample: `group` holds the rewards of each sample."""
    gates = gates or [None] * len(weights)
    columns = []
    for place, gate in enumerate(gates):
        is_open = [
            gate is None
            or (gate == "sample" and row[0] > 0.5)
            or (gate == "group" and any(other[0] > 0.5 for other in group))
            for row in group
        ]
        values = [row[place] for row in group]
        if normalize:
            used = [v for v, o in zip(values, is_open, strict=True) if o and not math.isnan(v)]
            std = stdev(used) if len(used) > 1 else 0.0
            values = [(v - mean(used)) / (std + 1e-4) if used else NAN for v in values]
        columns.append([v if o else None for v, o in zip(values, is_open, strict=True)])
    return [
        total(parts, weights, missing, any(gates) and math.isnan(row[0]), row)
        for parts, row in zip(zip(*columns, strict=True), group, strict=True)
    ]


def total(parts, weights, missing, is_outcome_unknown, row):
    lacks = [p is not None and math.isnan(p) for p in parts]
    unknown = [lack and weight != 0 for lack, weight in zip(lacks, weights, strict=True)]
    if is_outcome_unknown or all(math.isnan(value) for value in row):
        return NAN
    if missing == "unknown" and any(unknown):
        return NAN
    terms = zip(parts, weights, lacks, strict=True)
    return sum(w * p for p, w, lack in terms if p is not None and not lack)


outcomes = st.sampled_from([0.0, 1.0, NAN])
shapings = st.sampled_from([-1.0, 0.0, 0.25, 0.75, 1.0, NAN])
groups = st.integers(1, 5).flatmap(
    lambda n: st.lists(st.tuples(outcomes, shapings, shapings), min_size=n, max_size=n)
)


@settings(max_examples=150)
@given(
    groups,
    st.sampled_from([(1.0, 0.2, -0.5), (1.0, 0.0, 2.0)]),
    st.sampled_from([(), (None, "sample", None), (None, "group", "sample"), (None, "group", None)]),
    st.sampled_from([None, "group"]),
    st.sampled_from(["unknown", "skip"]),
)
def test_it_is_its_definition(group, weights, gates, normalize, missing):
    combine = Combine(weights, gates, normalize, missing, 0)
    expected = combined(group, weights, gates, normalize, missing)
    columns = np.array([group])
    [found] = combine(columns, columns[..., 0])
    np.testing.assert_allclose(found, expected, rtol=1e-12, atol=1e-12)


def test_groups_do_not_mix():
    rng = np.random.default_rng(0)
    columns = rng.integers(0, 2, size=(4, 6, 3)).astype(float)
    combine = Combine((1.0, 0.3, 0.3), (None, "group", "sample"), "group", outcome=0)
    alone = [combine(one[None], one[None, :, 0])[0] for one in columns]
    np.testing.assert_array_equal(combine(columns, columns[..., 0]), alone)


@pytest.mark.parametrize("normalize", [None, "group"])
@pytest.mark.parametrize("gate", ["sample", "group"])
def test_shaping_never_pays_in_a_group_that_is_all_wrong(gate, normalize):
    """For all groups of four with two values of shaping."""
    combine = Combine((1.0, 0.5), (None, gate), normalize, outcome=0)
    for shaping in itertools.product([-1.0, 0.5], repeat=4):
        columns = np.stack([np.zeros(4), shaping], axis=-1)[None]
        assert (combine(columns, columns[..., 0]) == 0).all()


def test_without_a_gate_it_does_pay():
    columns = np.array([[[0, 1], [0, 0]]], dtype=float)
    assert np.ptp(Combine((1.0, 0.5))(columns, columns[..., 0])) == 0.5


def test_skipping_is_the_weighted_nansum():
    rng = np.random.default_rng(1)
    columns = rng.normal(size=(3, 5, 4))
    columns[rng.random(columns.shape) < 0.5] = np.nan
    weights = (0.3, 1.0, -2.0, 0.1)
    expected = np.nansum(columns * np.array(weights), axis=-1)
    expected[np.isnan(columns).all(axis=-1)] = np.nan
    found = Combine(weights, missing="skip")(columns, np.full((3, 5), np.nan))
    np.testing.assert_array_equal(found, expected)


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"weights": ()}, "weights must be finite numbers, one for each reward"),
        ({"weights": (1.0, NAN)}, "weights must be finite"),
        ({"gates": (None,)}, "gates must be one for each reward, 2, got 1"),
        ({"gates": (None, "prompt")}, "gate must be one of sample, group, got 'prompt'"),
        ({"gates": ("group", None), "outcome": 0}, "the outcome cannot be gated"),
        ({"normalize": "batch"}, "normalize must be group or null, got 'batch'"),
        ({"missing": "zero"}, "missing must be one of unknown, skip, got 'zero'"),
        ({"outcome": 2}, "outcome must be one of the rewards, got 2"),
    ],
)
def test_what_is_refused(options, message):
    with pytest.raises(ConfigError, match=message):
        Combine(**{"weights": (1.0, 2.0), **options})


def test_other_shapes_are_refused():
    with pytest.raises(ValueError, match=r"must have shape \(B, N, 2\), got \(3, 2\)"):
        Combine((1.0, 2.0))(np.zeros((3, 2)), np.zeros(3))


REWARDS = np.array([[1.0, 0.5, NAN, 2.0], [-1.0, -3.0, NAN, 0.0]])
CUT = np.array([[True, True, True, False], [True, False, True, False]])


@pytest.mark.parametrize(
    ("spec", "expected"),
    [
        ("count", REWARDS),
        ("mask", [[NAN, NAN, NAN, 2], [NAN, -3, NAN, 0]]),
        ("punish", [[0, 0, NAN, 2], [-3, -3, NAN, 0]]),
        ({"punish": -0.5}, [[-0.5, -0.5, NAN, 2], [-0.5, -3, NAN, 0]]),
        ({"punish": 0}, [[0, 0, NAN, 2], [0, -3, NAN, 0]]),
    ],
)
def test_what_truncated_samples_get(spec, expected):
    np.testing.assert_array_equal(truncation_from_config(spec)(REWARDS, CUT), expected)


@pytest.mark.parametrize(
    ("spec", "message"),
    [
        ("punsh", "truncated must be one of count, mask, punish, got 'punsh'"),
        (None, r"must be a name, or \{punish: a reward\}, got None"),
        ({"mask": 1}, r"as in \{punish: -1.0\}, got \{mask: 1\}"),
        ({"punish": "low"}, "must be a finite number"),
        ({"punish": True}, "must be a finite number"),
        ({"punish": NAN}, "must be a finite number"),
        ({"punish": 1, "mask": 2}, "must be a name"),
    ],
)
def test_truncations_that_are_refused(spec, message):
    with pytest.raises(ConfigError, match=message):
        truncation_from_config(spec)


def test_the_outcome_has_no_default_among_several():
    """The first reward need not say which samples are right."""
    gates = ("sample", None)
    named = Combine((1.0, 1.0), gates, outcome="correct")
    assert named.place(["formatted", "correct"]) == 1
    for names in (["formatted", "right"], ["correct", "correct"]):
        with pytest.raises(ConfigError, match="outcome must be the name of one reward of"):
            named.place(names)
    with pytest.raises(ConfigError, match="the outcome cannot be gated"):
        named.place(["correct", "formatted"])
    assert Combine((1.0,)).place() == 0
    assert Combine((1.0, 1.0)).place(["formatted", "correct"]) is None
