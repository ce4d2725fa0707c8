"""Bad input: each a sentence that names what was wrong and what would be right."""

import dataclasses
import inspect
import re

import numpy as np
import pytest

from setrl import (
    Method,
    Samples,
    credit,
    grouped_advantages,
    methods,
    objectives,
    set_advantages,
)
from setrl.core.inputs import Fields
from setrl.samples.columns import FIELDS
from setrl.theory.tabular import ActionTable

REWARDS = np.array([[1.0, 0.0, 1.0, 0.0]])

WRONG = [
    ({"set_size": 0}, "set_size must be an integer of at least 1, got 0"),
    (
        {"set_size": 4},
        "set_size must be an integer in [1, 3] with num_samples=4, got 4: sets with and without",
    ),
    (
        {"set_size": 5, "baseline": "none"},
        "set_size must be an integer in [1, 4] with num_samples=4, got 5",
    ),
    ({"set_size": "4"}, "set_size must be an integer of at least 1, got '4'"),
    ({"set_size": -1}, "set_size must be an integer of at least 1, got -1"),
    ({"set_size": 2.0}, "set_size must be an integer of at least 1, got 2.0"),
    ({"set_size": True}, "set_size must be an integer of at least 1, got True"),
    ({"objective": "max"}, "objective must be a value such as objectives.max(), or"),
    ({"objective": objectives.max}, "objective must be a value such as objectives.max(), or"),
    ({"objective": np.max}, "or objectives.from_function(f) for a function, got <function max"),
    ({"estimator": credit.Exact}, "estimator must be a value such as credit.Exact(), got <class"),
    ({"estimator": {"num_sets": 9}}, "estimator must be a value such as credit.Exact(), got {"),
    ({"answers": [["a", None, 1, 1j]]}, "answers must hold texts, numbers or None (unknown)"),
    (
        {"strategies": [[1, 2], [1]]},
        "strategies must have rows of one length: fill short ones with NaN",
    ),
    (
        {"objective": objectives.polychromic()},
        "the objective reads strategies: pass strategies=...",
    ),
    (
        {"strategies": np.zeros((1, 3))},
        "strategies must have the shape (1, 4) of rewards_BN, got (1, 3)",
    ),
    (
        {"strategies": [[0, 1, -2, 0]]},
        "strategies must hold names or integers from",
    ),
    ({"strategies": [[0, 1, 0.5, 0]]}, "−1 (degenerate) or None (unknown), got 0.5"),
    ({"strategies": [[0, 1, np.inf, 0]]}, "(unknown), got inf"),
    ({"strategies": np.full((1, 4), 2**63, np.uint64)}, "got 9223372036854775808"),
    ({"method": "maxpo"}, "method must be a value such as methods.poly_epo(set_size=4), or"),
    ({"method": methods.maxpo(2)}, "a method has its own objective, set_size: use dataclasses."),
    ({"mask": np.ones((1, 4))}, "mask must be bool, got dtype float64"),
    ({"mask": np.ones((2, 4), bool)}, "mask must have the shape (1, 4)"),
    (
        {"baseline": "leave_two_out"},
        "unknown baseline 'leave_two_out'; did you mean 'leave_one_out'",
    ),
    ({"reduction": "max"}, "reduction must be one of 'mean', 'sum', got 'max'"),
    ({"scale": "std"}, "scale must be one of None, 'group_std', 'score_std', 'total', got 'std'"),
    ({"estimator": credit.Sampled(3)}, "needs rng=np.random.default_rng(seed)"),
    ({"estimator": credit.Enumerated(max_sets=5)}, "use Exact() or Sampled(num_sets)"),
    ({"pairs": np.arange(16.0).reshape(1, 4, 4)}, "pairs must hold a symmetric matrix"),
    (
        {"pairs": np.where(np.eye(4), 1, np.nan)[None]},
        "pairs must hold finite numbers between samples that",
    ),
]


def test_an_argument_that_is_unknown_is_named():
    with pytest.raises(TypeError, match="unexpected keyword argument 'strategy'"):
        set_advantages(REWARDS, methods.maxpo(2), strategy=[[0, 1, 1, 2]])
    with pytest.raises(ValueError, match="unknown argument 'strategy'; did you mean 'strategies'"):
        methods.maxpo(2).advantages(REWARDS, strategy=[[0, 1, 1, 2]])


@pytest.mark.parametrize(("changes", "message"), WRONG, ids=[m for _, m in WRONG])
def test_wrong_arguments_are_named(changes, message):
    arguments = {"objective": objectives.max(), "set_size": 2, **changes}
    with pytest.raises(ValueError, match=re.escape(message)):
        set_advantages(REWARDS, **arguments)


@pytest.mark.parametrize(
    ("rewards", "message"),
    [
        (
            REWARDS[0],
            "shape (B, N): prompts, samples; got (4,) (for one prompt pass rewards[None])",
        ),
        (np.zeros((4, 0)), "rewards_BN must have shape (B, N)"),
        ([[1.0, 0.0], [1.0]], "rewards_BN must have rows of one length"),
        (np.array([[np.inf, 0, 0]]), "must be finite, or NaN where there is no reward"),
        (np.array([["1", "maybe"]]), "rewards_BN must hold a finite number, true or false"),
    ],
)
def test_wrong_rewards_are_named(rewards, message):
    with pytest.raises(ValueError, match=re.escape(message)):
        set_advantages(rewards, objective=objectives.mean(), set_size=1)


def test_an_objective_that_forgets_the_set_axis_is_named():
    def total(rewards):
        return rewards.sum()

    with pytest.raises(ValueError, match="the objective total must give one score a set"):
        set_advantages(REWARDS, objective=objectives.from_function(total), set_size=2)


def test_a_sum_that_has_no_float_is_refused():
    with pytest.raises(ValueError, match="use reduction='mean'"):
        set_advantages(
            np.zeros((1, 4096)), objective=objectives.max(), set_size=2048, reduction="sum"
        )


def test_the_objective_s_variance_is_asked_for():
    adv = {"objective": objectives.polychromic(), "set_size": 2, "strategies": [[0, 1, 1, 2]]}
    with pytest.raises(ValueError, match="no closed form for polychromic"):
        set_advantages(REWARDS, scale="score_std", **adv)
    enumerated = set_advantages(REWARDS, scale="score_std", estimator=credit.Enumerated(), **adv)
    of_pairs = [0.5, 1.0, 0.5, 0.25, 0.0, 0.5]  # 01 02 03 12 13 23: mean reward × strategies / 2
    by_hand = (np.mean(of_pairs[:3]) - np.mean(of_pairs)) / (np.std(of_pairs) + 1e-4)
    assert enumerated.values_BN[0, 0] == pytest.approx(by_hand)


def test_a_tensor_that_needs_a_gradient_is_taken():
    torch = pytest.importorskip("torch")

    rewards = torch.tensor(REWARDS, requires_grad=True)
    assert methods.dr_grpo().advantages(rewards).values_BN.tolist() == [[0.5, -0.5, 0.5, -0.5]]


def test_answers_may_be_strings():
    answers = np.array([["12", "x+1", "12", "3"]], dtype=object)
    adv = set_advantages(REWARDS, objective=objectives.max(), set_size=2, answers=answers)
    assert adv.usable_BN.all()


@pytest.mark.parametrize("kind", [list, lambda rows: np.array(rows, dtype=object)])
def test_strategies_may_be_names(kind):
    method, rewards = methods.poly_epo(2), np.array([[1.0, 0, 1, 0, 1, 0]])
    named = kind([["try", "sum", "try", None, -1, float("nan")]])
    numbered = np.array([[1, 0, 1, np.nan, -1, np.nan]])
    found, want = (method.advantages(rewards, strategies=labels) for labels in (named, numbered))
    np.testing.assert_array_equal(found.values_BN, want.values_BN)
    assert found.usable_BN.tolist() == [[True, True, True, False, True, False]]


def test_a_method_without_an_objective_is_asked_for():
    with pytest.raises(ValueError, match=r"or give objective=\.\.\. instead; got None"):
        set_advantages(REWARDS, set_size=2)


def test_answers_that_nobody_gave_are_left_out():
    def credit_of(rewards, answers):
        voting = {"objective": objectives.majority(), "set_size": 2}
        return set_advantages(np.array([rewards]), answers=np.array([answers], object), **voting)

    some = credit_of([1.0, 0, 0, 1, 0], ["a", None, "b", "a", float("nan")])
    assert some.usable_BN.tolist() == [[True, False, True, True, False]]
    kept = credit_of([1.0, 0, 1], ["a", "b", "a"]).values_BN
    np.testing.assert_array_equal(some.values_BN[some.usable_BN], kept[0])
    none = credit_of([1.0, 0, 0], [None, None, None])
    assert none.skipped_B.all()
    assert not none.usable_BN.any()


LARGE = [2**60, 2**60 + 1, 2**60, 5]  # float64 takes the first two for one


@pytest.mark.parametrize("unknown", [None, float("nan")])
def test_large_answers_stay_apart_beside_what_is_unknown(unknown):
    voting = Method("majority", objectives.majority(), set_size=2)
    want = set_advantages([[1.0, 0, 0, 1]], voting, answers=[["a", "b", "a", "c"]]).values_BN[0]
    found = set_advantages([[1.0, 0, 0, 1, 0]], voting, answers=[[*LARGE, unknown]])
    np.testing.assert_array_equal(found.values_BN[0], [*want, 0])
    flat = np.array(LARGE)
    np.testing.assert_array_equal(
        grouped_advantages([1.0, 0, 0, 1], [0] * 4, voting, answers=flat), want
    )


def test_what_an_array_masks_is_unknown():
    rewards, labels = np.array([[1.0, 5, 0, 1]]), np.array([[0, 1, 1, 7]])
    hidden = np.ma.masked_array(rewards, rewards == 5), np.ma.masked_array(labels, labels == 7)
    found = set_advantages(hidden[0], methods.poly_epo(1), strategies=hidden[1])
    want = set_advantages(
        np.where(rewards == 5, np.nan, rewards),
        methods.poly_epo(1),
        strategies=np.where(labels == 7, np.nan, labels),
    )
    np.testing.assert_array_equal(found.values_BN, want.values_BN)
    assert found.usable_BN.tolist() == [[True, False, True, False]]


@pytest.mark.parametrize("kind", ["M8[ns]", "m8[ns]"])
@pytest.mark.parametrize("make", [np.array, list])
def test_times_are_no_numbers(kind, make):
    """NumPy takes those in nanoseconds for integers."""
    times = make(np.array([1, 2, 3], kind))
    with pytest.raises(ValueError, match=r"rewards_BN must hold a finite number.*got np\."):
        set_advantages(make([times]), methods.dr_grpo())
    with pytest.raises(ValueError, match=r"must hold a finite number.*got np\."):
        grouped_advantages(times, [0, 0, 0], methods.dr_grpo())


@pytest.mark.parametrize(
    ("pairs", "message"),
    [
        ([[[0, 10**400], [10**400, 0]]], "pairs must hold a finite number"),
        ([np.ones((3, 3))], "pairs must hold 2 × 2 numbers for a prompt, got the shape (3, 3)"),
        ([None, None], "pairs must have the shape (1, 2, 2) of rewards_BN, got (2, 2, 2)"),
        (np.ones((1, 3, 3)), "pairs must have the shape (1, 2, 2) of rewards_BN, got (1, 3, 3)"),
    ],
)
def test_wrong_pairs_are_named(pairs, message):
    with pytest.raises(ValueError, match=re.escape(message)):
        set_advantages([[1.0, 0]], objective=objectives.pairwise_distance(), set_size=1,
                       pairs=pairs)  # fmt: skip


def test_none_is_what_nan_is():
    method = methods.poly_epo(2)
    rewards, strategies = [1.0, np.nan, 0, 1, 0], [0, 1, np.nan, 2, 0]
    nan = method.advantages(np.array([rewards]), strategies=np.array([strategies]))
    none = method.advantages([[1.0, None, 0, 1, 0]], strategies=[[0, 1, None, 2, 0]])
    np.testing.assert_array_equal(none.values_BN, nan.values_BN)
    assert none.usable_BN.tolist() == [[True, False, False, True, True]]


@pytest.mark.parametrize("dtype", ["float64", "float32", "float16", "bfloat16"])
def test_tensors_of_every_precision_are_taken(dtype):
    torch = pytest.importorskip("torch")

    rewards = torch.tensor(REWARDS).to(getattr(torch, dtype))
    adv = methods.maxpo(2).advantages(rewards)
    want = methods.maxpo(2).advantages(REWARDS).values_BN
    assert adv.values_BN.dtype == torch.float64
    np.testing.assert_array_equal(adv.values_BN.numpy(), want)


def test_float64_tensors_keep_their_digits():
    torch = pytest.importorskip("torch")

    rewards = np.array([[0.1, 0.2, 0.7]])
    got = methods.dr_grpo().advantages(torch.tensor(rewards)).values_BN
    np.testing.assert_array_equal(got.numpy(), methods.dr_grpo().advantages(rewards).values_BN)


@pytest.mark.parametrize("name", ["exact", "sampled", "enumerated"])
def test_a_batch_without_prompts_has_no_advantages(name):
    estimator = {"exact": None, "sampled": credit.Sampled(3), "enumerated": credit.Enumerated()}
    method = methods.poly_epo(2, estimator=estimator[name])
    adv = method.advantages(np.zeros((0, 4)), strategies=np.zeros((0, 4)), rng=0)
    assert adv.values_BN.shape == adv.with_BN.shape == (0, 4)
    assert adv.mean_B.shape == adv.skipped_B.shape == (0,)


def test_a_seed_is_a_generator():
    drawn = {"objective": objectives.max(), "set_size": 2, "estimator": credit.Sampled(3)}
    rewards = np.random.default_rng(3).random((2, 8))
    one = set_advantages(rewards, rng=7, **drawn).values_BN
    other = set_advantages(rewards, rng=np.random.default_rng(7), **drawn).values_BN
    np.testing.assert_array_equal(one, other)


def hollow(rewards):
    """An objective with a hole: undefined for every set without a reward."""
    return np.where(rewards.max(-1) > 0, rewards.mean(-1), np.nan)


def hollow_counts(counts):
    """The same, of counts."""
    correct = counts[..., 1].sum(-1)
    return np.where(correct > 0, correct, np.inf)


OWN = [objectives.from_function(hollow), objectives.from_counts(hollow_counts)]


@pytest.mark.parametrize("estimator", [None, credit.Sampled(4), credit.Regression(4)])
@pytest.mark.parametrize("objective", OWN, ids=["from_function", "from_counts"])
def test_nan_of_an_objective_is_refused_by_name(objective, estimator):
    method = Method("own", objective, set_size=2, estimator=estimator)
    rewards, strategies = np.array([1.0, 0, 0, 0, 0]), np.zeros(5)
    with pytest.raises(ValueError, match=r"must give finite scores, and .*hollow"):
        method.advantages(rewards[None], strategies=strategies[None], rng=0)
    with pytest.raises(ValueError, match=r"must give finite scores, and .*hollow"):
        grouped_advantages(rewards, [0] * 5, method, strategies=strategies, rng=0)


def test_every_door_of_arrays_takes_the_same_fields():
    """What `Samples` holds, `Fields` documents, `set_advantages` and a table of actions take."""
    others = {*FIELDS} - {"rewards"}
    assert {*Fields.__annotations__} == others | {"mask", "abstain"}
    assert others | {"mask", "abstain"} < {*inspect.signature(set_advantages).parameters}
    assert {one.name for one in dataclasses.fields(ActionTable)} == {*FIELDS}
    assert {*FIELDS} < {one.name for one in dataclasses.fields(Samples)}


def test_samples_are_credited_as_their_columns_are():
    samples = Samples(
        np.array([[1.0, 0, 1, np.nan], [0, 0, 1, 1]]),
        strategies=np.array([[0, -1, 1, 0], [0, np.nan, 1, 1.0]]),
        answers=np.array([[0, 1, np.nan, 0], [0, 0, 1, 1.0]]),
        mask=np.array([[True] * 4, [True, True, True, False]]),
    )
    for method in (methods.poly_epo(2), methods.maxpo(2), methods.set_rl(objectives.majority(), 2)):
        columns = samples.columns
        want = method.advantages(columns.pop("rewards"), abstain=True, **columns)
        found = method.advantages(samples, abstain=True)
        np.testing.assert_array_equal(found.values_BN, want.values_BN)
        np.testing.assert_array_equal(found.usable_BN, want.usable_BN)
