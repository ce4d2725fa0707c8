"""The recipe of the calculator: conversations with tools are the members of a group."""

import functools
import importlib
import inspect
import re
from pathlib import Path

import numpy as np
import pytest
from transformers import PreTrainedTokenizerBase
from trl.chat_template_utils import parse_response

from setrl.core import methods
from setrl.models.small.imitation import new_model
from tests.engines.chat import step

HAS_TEMPLATES = "response_template" in inspect.getsource(PreTrainedTokenizerBase)
templates = pytest.mark.skipif(not HAS_TEMPLATES, reason="needs templates of responses")
RECIPE = Path(__file__).parents[2] / "recipes" / "calculator"


@pytest.fixture
def recipe(monkeypatch):
    monkeypatch.syspath_prepend(str(RECIPE))
    return importlib.import_module("train"), importlib.import_module("calculator")


def test_every_written_way_is_right_and_has_a_strategy(recipe):
    _, calculator = recipe
    for problem in [calculator.Problem(2, 3, 14), calculator.Problem(3, 5, 4)]:
        found = []
        for calls in calculator.ways(problem):
            completion = calculator.conversation(problem, calls)[1:]
            assert calculator.is_right(completion, problem.result)
            found.append(calculator.strategy_of(completion))
        assert len(set(found)) == len(found)
        assert {"multiply → multiply → add", "add → multiply"} < set(found)


def test_calls_whose_answers_nobody_uses_are_no_strategy(recipe):
    _, calculator = recipe
    problem = calculator.Problem(2, 3, 14)
    idle = [("multiply", 9, 11), ("add", 3, 14), ("multiply", 2, 17)]
    completion = calculator.conversation(problem, idle)[1:]
    assert calculator.strategy_of(completion) == "add → multiply"
    assert calculator.strategy_of([{"role": "assistant", "content": "34"}]) == -1
    assert calculator.is_right([{"role": "assistant", "content": "34"}], 34)
    assert not calculator.is_right(completion[:-1], 34)  # it ends with the answer of a tool


@templates
def test_the_tokenizer_writes_what_the_parser_reads(recipe):
    _, calculator = recipe
    tokenizer = calculator.make_calculator_tokenizer()
    for example in calculator.examples(tokenizer, 5, seed=0):
        assert tokenizer.unk_token_id not in [*example.prompt, *example.sample]
        turn = parse_response(tokenizer, example.sample, prefix=example.prompt)
        assert bool(turn.get("tool_calls")) != bool(turn["content"])


@templates
def test_groups_of_conversations_are_credited(recipe, tmp_path):
    """Samples follow the written ways; the last one of each group states a wrong result."""
    train, calculator = recipe
    tokenizer = calculator.make_calculator_tokenizer()
    turns = functools.partial(written_turns, calculator, tokenizer)
    wrong = tokenizer("1", add_special_tokens=False)["input_ids"] + [tokenizer.eos_token_id]

    def follow(model, prompt_ids, count, **_):
        if count == 1:  # after the answer of a tool
            return [[turns(tuple(ids))[0]] for ids in prompt_ids]
        started = [turns(tuple(ids)) for ids in prompt_ids]
        return [[*(s[i % len(s)] for i in range(count - 1)), wrong] for s in started]

    method = methods.poly_epo(4)
    model = new_model(tokenizer, 64, 64, 1)
    trainer = train.make_trainer(model, tokenizer, method, 1, 0, tmp_path, 1)
    trainer.sampler = follow
    batch = step(trainer)
    assert batch.samples.rewards.shape == (train.B, train.N)
    assert (batch.samples.rewards == [1.0] * (train.N - 1) + [0.0]).all()
    for labels, strategies in zip(
        batch.samples.labels("strategies"), batch.samples.strategies, strict=True
    ):
        assert "multiply → multiply → add" in labels
        assert "add → multiply" in labels
        assert labels[-1] == -1
        assert len(set(strategies)) >= 3
    expected = method.advantages(
        batch.samples.rewards, strategies=batch.samples.strategies
    ).values_BN
    np.testing.assert_array_equal(batch.advantages.values_BN, expected)
    assert np.ptp(expected[0][:-1]) > 0  # strategies differ in their credit
    assert "add(" in batch.samples.texts[0][1]
    assert trainer.state.log_history[0]["tools/failure_frequency"] == 0


def written_turns(calculator, tokenizer, before):
    """The turns with which the ways of a problem go on after some tokens."""
    a, b, c = map(int, re.match(r"(\d)\*(\d+)\+\d\*(\d+)=", tokenizer.decode(before)).groups())
    problem, found = calculator.Problem(a, b, c), []
    for calls in calculator.ways(problem):
        messages = calculator.conversation(problem, calls)
        turns = [i for i, message in enumerate(messages) if message["role"] == "assistant"]
        written = [calculator._turn(tokenizer, messages[:i], messages[i]) for i in turns]
        found += [one.sample for one in written if tuple(one.prompt) == before]
    return found
