"""The key `correct` of a task: what says which samples are right, in training and evaluation."""

import textwrap

import numpy as np
import pytest

from setrl.rewards.combine import Combine
from setrl.support.errors import ConfigError, RunError
from setrl.tasks.from_file import FileTask
from setrl.tasks.spec import TaskSpec

OWN = """
def score(completions, **_):
    return [len(one) / 4 for one in completions]

def is_right(completions, **_):
    return [len(one) > 2 for one in completions]
"""
TEXTS = ["a", "abc", "abcd"]
BOTH = ["number", {"function": "own:score", "weight": 0.5}]


@pytest.fixture
def make(tmp_path):
    (tmp_path / "own.py").write_text(textwrap.dedent(OWN))
    (tmp_path / "train.jsonl").write_text(
        "".join(f'{{"question": "{n} + 0?", "answer": "2"}}\n' for n in range(4))
    )

    def task(**keys):
        keys = {"data": "train.jsonl", "splits": {"train": 2, "test": 2}, **keys}
        return FileTask(TaskSpec.of({"folder": str(tmp_path), **keys}))

    return task


def read(task, texts=TEXTS):
    [problem] = task.training_problems(1, 1, 0)
    return [one.correct for one in task.reward_set.read(problem, texts)]


def test_one_of_several_rewards_must_be_named(make):
    with pytest.raises(ConfigError, match=r"of several rewards .* none is known to say"):
        make(reward=BOTH)
    for name in ("score", "own:score"):
        assert make(reward=BOTH, correct=name).combine == Combine((1.0, 0.5), outcome=1)
    assert make(reward=["exact", "number"], correct="number").combine.outcome == 1
    assert read(make(reward=["exact", "number"], correct="number"), ["2.0", "3"]) == [True, False]
    assert make(reward=BOTH, correct="score").correct is None


def test_a_graded_function_needs_a_function_that_says_it(make):
    with pytest.raises(RunError, match=r"'score' gave 0\.25, which is neither .* key `correct`"):
        read(make(reward={"function": "own:score"}))
    task = make(reward={"function": "own:score"}, correct="own:is_right")
    assert read(task) == [False, True, True]
    assert task.correct(prompts=["p"] * 3, completions=TEXTS) == [0.0, 1.0, 1.0]
    with pytest.raises(RunError, match=r"'score' gave 0\.25"):  # a reward by name is one of these
        read(make(reward={"function": "own:score"}, correct="score"))


@pytest.mark.parametrize(
    ("correct", "message"),
    [
        ("maths", "module:name"),
        ("own:none", "has no function 'none'"),
        (1, "must be a string or null"),
    ],
)
def test_what_names_nothing_is_refused(make, correct, message):
    with pytest.raises(ConfigError, match=message):
        _ = make(reward={"function": "own:score"}, correct=correct).rewards


def test_gates_open_where_the_function_says_it():
    combine = Combine((1.0, 1.0), (None, "group"), outcome=0)
    rewards = np.array([[[0.5, 1.0], [0.2, 1.0]], [[0.9, 1.0], [0.9, 1.0]]])
    found = combine(rewards, np.array([[1.0, 0.0], [0.0, np.nan]]))
    np.testing.assert_array_equal(found, [[1.5, 1.2], [0.9, np.nan]])
