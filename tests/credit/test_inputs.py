"""Bad input: each a sentence that names what was wrong and what would be right."""

import re

import numpy as np
import pytest

from setrl import credit, methods, objectives, set_advantages

REWARDS = np.array([[1.0, 0.0, 1.0, 0.0]])

WRONG = [
    ({"set_size": 0}, "set_size must be an integer in [1, 4], got 0"),
    ({"set_size": 5}, "set_size must be an integer in [1, 4], got 5"),
    ({"set_size": 2.0}, "set_size must be an integer in [1, 4], got 2.0"),
    ({"objective": objectives.polychromic()}, "the objective reads clusters: pass clusters=..."),
    (
        {"clusters": np.zeros((1, 3))},
        "clusters must have the shape (1, 4) of rewards_BN, got (1, 3)",
    ),
    ({"clusters": [[0, 1, -2, 0]]}, "clusters must be integers ≥ 0, -1 (degenerate) or NaN"),
    ({"clusters": [[0, 1, 0.5, 0]]}, "got 0.5"),
    ({"clusters": [["a", "b", "c", "d"]]}, "clusters must hold numbers, got dtype <U1"),
    ({"mask": np.ones((1, 4))}, "mask must be bool, got dtype float64"),
    ({"mask": np.ones((2, 4), bool)}, "mask must have the shape (1, 4)"),
    (
        {"baseline": "leave_two_out"},
        "unknown baseline 'leave_two_out'; did you mean 'leave_one_out'",
    ),
    ({"reduction": "max"}, "reduction must be one of 'mean', 'sum', got 'max'"),
    ({"scale": "std"}, "scale must be one of None, 'group_std', 'score_std', got 'std'"),
    ({"estimator": credit.Sampled(3)}, "needs rng=np.random.default_rng(seed)"),
    ({"estimator": credit.Enumerated(max_sets=5)}, "use Exact() or Sampled(num_sets)"),
    ({"pairs": np.arange(16.0).reshape(1, 4, 4)}, "pairs must be symmetric"),
    ({"pairs": np.where(np.eye(4), 1, np.nan)[None]}, "pairs is NaN between two samples"),
]


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
        (np.zeros((0, 4)), "rewards_BN must have shape (B, N)"),
        (np.array([[np.inf, 0, 0]]), "must be finite, or NaN where there is no reward"),
        (np.array([["1", "0"]]), "rewards_BN must hold numbers"),
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
    adv = {"objective": objectives.polychromic(), "set_size": 2, "clusters": [[0, 1, 1, 2]]}
    with pytest.raises(ValueError, match="no closed form for Polychromic"):
        set_advantages(REWARDS, scale="score_std", **adv)
    enumerated = set_advantages(REWARDS, scale="score_std", estimator=credit.Enumerated(), **adv)
    of_pairs = [0.5, 1.0, 0.5, 0.25, 0.0, 0.5]  # 01 02 03 12 13 23: mean reward × strategies / 2
    by_hand = (np.mean(of_pairs[:3]) - np.mean(of_pairs)) / (np.std(of_pairs) + 1e-4)
    assert enumerated.values_BN[0, 0] == pytest.approx(by_hand)


def test_a_tensor_that_needs_a_gradient_is_taken():
    import torch

    rewards = torch.tensor(REWARDS, requires_grad=True)
    assert methods.dr_grpo().advantages(rewards).values_BN.tolist() == [[0.5, -0.5, 0.5, -0.5]]


def test_answers_may_be_strings():
    answers = np.array([["12", "x+1", "12", "3"]], dtype=object)
    adv = set_advantages(REWARDS, objective=objectives.max(), set_size=2, answers=answers)
    assert adv.usable_BN.all()
