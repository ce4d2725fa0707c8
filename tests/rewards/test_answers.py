"""Graders in TRL's interface."""

import pickle

import pytest

from setrl.rewards import ChoiceAnswer, ExactAnswer, MathAnswer, NumberAnswer


def test_it_speaks_the_language_of_trl(grader):
    samples = [r"\boxed{2}", [{"role": "assistant", "content": r"\boxed{x+1}"}], "2", r"\boxed{2}"]
    found = grader(
        prompts=["?"] * 4,
        completions=samples,
        completion_ids=[[0]] * 4,
        answer=["2", "1+x", "2", None],
        other=[1, 2, 3, 4],
    )
    assert found == [1.0, 1.0, 0.0, None]
    assert grader.__name__ == "math_answer"


def test_a_column_declares_the_types_of_golds():
    types = {"answer": ["3e-1", "3e-1"], "gold_type": ["number", None]}
    found = MathAnswer()(prompts=["?"] * 2, completions=[r"\boxed{0.3}"] * 2, **types)
    assert found == [1.0, 0.0]


@pytest.mark.parametrize(
    ("kind", "gold", "text"),
    [(NumberAnswer, "7", "so 7"), (ChoiceAnswer, "B", "(B)"), (ExactAnswer, "a", "A.")],
)
def test_each_grader_is_a_reward(kind, gold, text):
    reward = kind(gold="right")
    found = reward(prompts=["?"] * 3, completions=[text, "9", text], right=[gold, gold, None])
    assert found == [1.0, 0.0, None]


def test_the_column_of_golds_is_named_where_it_is_missing():
    with pytest.raises(ValueError, match="in the column 'gold', but the columns are: answer"):
        NumberAnswer("gold")(prompts=["?"], completions=["1"], answer=["1"])


def test_a_column_without_golds_is_missing():
    with pytest.raises(ValueError, match="in the column 'answer'"):
        MathAnswer()(prompts=["?"], completions=["1"], answer=None)


def test_there_is_one_gold_for_each_sample():
    with pytest.raises(ValueError, match="one gold for each of 1 samples, got 2"):
        MathAnswer()(prompts=["?"], completions=["1"], answer=["1", "2"])


def test_a_reward_is_a_value():
    again = pickle.loads(pickle.dumps(MathAnswer(gold="solution")))
    assert again == MathAnswer(gold="solution") != MathAnswer()
