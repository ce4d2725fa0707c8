"""Training in which samples call tools, alone and in environments."""

import json

import numpy as np
import pytest
import torch
from datasets import Dataset
from transformers import AutoTokenizer
from trl import GRPOTrainer

from setrl.core import methods
from setrl.judges import Judge, Judgement
from setrl.models.small import sampler
from setrl.train.trl import SetGRPOTrainer
from tests.engines.chat import PROMPTS, step

LONG = {"max_completion_length": 300}
ROOM = 8  # tokens that are kept for what follows the answer of a tool


def multiply(a: int, b: int) -> int:
    """Multiply two integers.

    Args:
        a: The first one.
        b: The second one.
    """
    return a * b


async def multiply_slowly(a: int, b: int) -> int:
    """Multiply two integers.

    Args:
        a: The first one.
        b: The second one.
    """
    return a * b


class Counter:
    """An environment whose reward is the sum of what was added."""

    def reset(self, start=0, **_):
        self.total = start
        return " Add."

    def add(self, number: int) -> int:
        """Add to the total.

        Args:
            number: What is added.
        """
        self.total += number
        return self.total

    def get_reward(self):
        return float(self.total)


class Doubler(Counter):
    """Another one."""

    def double(self) -> int:
        """Double the total."""
        self.total *= 2
        return self.total

    def get_reward(self):
        return 1000.0 + self.total


def call(name, **arguments):
    text = json.dumps({"name": name, "arguments": arguments})
    return f"<tool_call>\n{text}\n</tool_call><|im_end|>"


def script(monkeypatch, chat_model, texts):
    """Let the first turn of every sample be a given text; the model writes what follows."""
    encode = AutoTokenizer.from_pretrained(chat_model).encode
    original = GRPOTrainer._generate_single_turn

    def generate(self, prompt_ids, *more, **named):  # the arguments differ between versions
        if self.state.global_step in begun:
            turns.append(len(prompt_ids))
            self.generation_config.max_new_tokens = ROOM
            return original(self, prompt_ids, *more, **named)
        begun.add(self.state.global_step)
        return [encode(text) for text in texts], None

    turns, begun = [], set()
    monkeypatch.setattr(GRPOTrainer, "_generate_single_turn", generate)
    return turns


def results(completions, **_):
    """The sum of what tools answered, as a reward; 0 without a call."""
    answers = [[m["content"] for m in one if m.get("role") == "tool"] for one in completions]
    return [sum(float(a) for a in one if a.lstrip("-").isdigit()) for one in answers]


CALLS = [call("multiply", a=i, b=2) for i in range(6)] + ["no call<|im_end|>", call("divide")]
PRODUCTS = [0, 2, 4, 6, 8, 10, 0, 0]


@pytest.mark.parametrize("tool", [multiply, multiply_slowly], ids=["sync", "async"])
def test_tools_are_called_and_training_goes_on(make_chat, chat_model, monkeypatch, tool):
    texts = [text.replace("multiply", tool.__name__) for text in CALLS]
    turns = script(monkeypatch, chat_model, texts)
    trainer = make_chat(methods.maxpo(2), results, tools=[tool], args=LONG)
    before = [weight.detach().clone() for weight in trainer.model.parameters()]
    batch = step(trainer)
    assert turns == [7]  # every sample with a call goes on, also with a call of an unknown tool
    assert batch.samples.rewards.ravel().tolist() == PRODUCTS
    assert not all(map(torch.equal, before, trainer.model.parameters()))
    logged = trainer.state.log_history[0]
    assert logged["tools/call_frequency"] == 7 / 8
    assert logged["tools/failure_frequency"] == pytest.approx(1 / 7)


def test_tools_with_a_sampler(make_chat, chat_model):
    """A sampler draws what follows the answer of a tool from random numbers of its own."""
    encode = AutoTokenizer.from_pretrained(chat_model).encode
    seeds = []

    def draw(model, prompt_ids, count, **how):
        seeds.append(how["generator"].initial_seed())
        if len(seeds) == 1:
            return [[encode(text) for text in CALLS[:4]], [encode(text) for text in CALLS[4:]]]
        return sampler.sample_ids(model, prompt_ids, count, **{**how, "max_new_tokens": ROOM})

    trainer = make_chat(methods.maxpo(2), results, tools=[multiply], args=LONG, sampler=draw)
    assert step(trainer).samples.rewards.ravel().tolist() == PRODUCTS
    assert len(seeds) == len(set(seeds)) == 2


class Listener(Judge):
    """Keeps what it is asked; every sample is a strategy of its own."""

    name = "listener"

    def __init__(self):
        self.groups = []

    def judge(self, groups):
        self.groups += groups
        return [Judgement(tuple(range(len(group.texts)))) for group in groups]


def test_a_judge_sees_the_calls_and_the_answers(make_chat, chat_model, monkeypatch):
    script(monkeypatch, chat_model, CALLS)
    judge = Listener()
    make_chat(methods.poly_epo(2), results, tools=[multiply], args=LONG, judge=judge).train()
    samples = [text for group in judge.groups for text in group.texts]
    for number in range(6):
        assert f'multiply({{"a": {number}, "b": 2}})' in samples[number]
        assert f"tool multiply: {2 * number}" in samples[number]
    assert samples[6] == "no call"


def test_an_environment_counts_what_its_tools_did(make_chat, chat_model, monkeypatch):
    script(monkeypatch, chat_model, [call("add", number=i) for i in range(8)])
    data = Dataset.from_dict({"prompt": PROMPTS, "start": [10, 20, 30, 40]})
    trainer = make_chat(rewards=None, environment_factory=Counter, args=LONG, train_dataset=data)
    batch = step(trainer)
    assert batch.samples.rewards.tolist() == [[10, 11, 12, 13], [24, 25, 26, 27]]
    assert batch.samples.prompts == ["one Add.", "two Add."]
    assert trainer.state.log_history[0]["rewards/Counter/mean"] == batch.samples.rewards.mean()


def test_several_environments(make_chat, chat_model, monkeypatch):
    """Each prompt names its environment; each class of environment has a column of rewards."""
    texts = [call("add", number=i) for i in range(4)] + [call("double")] * 4
    script(monkeypatch, chat_model, texts)
    data = {"prompt": PROMPTS, "environment": ["count", "double"] * 2, "start": [1, 2, 3, 4]}
    seen = []

    def strategy(environments, **_):
        seen.extend(type(one).__name__ for one in environments)
        return [one.total for one in environments]

    batch = step(
        make_chat(
            methods.poly_epo(2),
            results,
            environment_factory={"count": Counter, "double": Doubler},
            strategy_func=strategy,
            args=LONG,
            train_dataset=Dataset.from_dict(data),
        )
    )
    totals = np.array([[1, 2, 3, 4], [4, 4, 4, 4]])
    assert batch.samples.labels("strategies") == totals.tolist()
    np.testing.assert_array_equal(batch.samples.rewards, 2 * totals + [[0], [1000]])
    assert seen == ["Counter"] * 4 + ["Doubler"] * 4


def test_an_environment_may_own_the_data(make_chat, chat_model, monkeypatch):
    script(monkeypatch, chat_model, [call("add", number=i) for i in range(8)])
    batch = step(
        make_chat(rewards=None, environment_factory=Counter, args=LONG, train_dataset=None)
    )
    assert batch.samples.rewards.ravel().tolist() == list(range(8))


@pytest.mark.parametrize("kind", [GRPOTrainer, SetGRPOTrainer])
def test_no_source_of_rewards(make_chat, kind):
    class Silent(Counter):
        get_reward = None

    with pytest.raises(ValueError, match="No reward source provided"):
        make_chat(rewards=None, kind=kind, environment_factory=Silent)
