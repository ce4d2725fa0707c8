"""Where rewards and strategies come from: functions, models and environments, or together."""

import asyncio
import re

import numpy as np
import pandas as pd
import pytest
import torch
from datasets import Dataset
from transformers import PreTrainedTokenizerFast, Qwen3ForSequenceClassification
from trl import GRPOTrainer

from setrl import DEGENERATE, Method
from setrl.core import methods, objectives
from setrl.judges import Judge, Judgement
from setrl.support.errors import RunError
from setrl.train.trl import SetGRPOTrainer
from tests.engines.chat import (
    LABELS,
    PROMPTS,
    REWARDS,
    config_of,
    fixed_labels,
    fixed_rewards,
    step,
)


class World:
    """An environment that gives the reward itself."""

    def reset(self, **_):
        return None

    def get_reward(self):
        return 100.0

    def look(self) -> str:
        """Look around."""
        return "nothing"


@pytest.mark.parametrize("factory", [World, lambda: World()], ids=["class", "function"])
def test_the_reward_of_an_environment_is_no_strategy(make_chat, factory):
    trainer = make_chat(
        methods.poly_epo(2), strategy_func=fixed_labels, environment_factory=factory
    )
    batch = step(trainer)
    np.testing.assert_array_equal(batch.samples.strategies.ravel(), LABELS)
    np.testing.assert_array_equal(batch.samples.rewards.ravel(), np.add(REWARDS, 100.0))


@pytest.mark.parametrize("rewards", [None, []])
def test_an_environment_may_own_all_rewards(make_chat, rewards):
    """TRL takes both for none."""
    trainer = make_chat(rewards=rewards, environment_factory=World)
    np.testing.assert_array_equal(step(trainer).samples.rewards, np.full((2, 4), 100.0))


def test_somebody_must_give_a_reward(make_chat):
    with pytest.raises(ValueError, match=r"No reward source provided\. Pass `reward_fu"):
        make_chat(rewards=None)


@pytest.mark.parametrize("more", [{}, {"args": None}], ids=["missing", "None"])
def test_there_may_be_no_args(chat_model, tmp_path, monkeypatch, more):
    """The arguments are TRL's, whose defaults may not fit the machine."""
    monkeypatch.chdir(tmp_path)

    def answer(kind, **own):
        data = Dataset.from_dict({"prompt": PROMPTS})
        try:
            trainer = kind(str(chat_model), fixed_rewards, train_dataset=data, **own, **more)
            return trainer.args.output_dir
        except Exception as error:
            return str(error)

    assert answer(SetGRPOTrainer, method=methods.grpo()) == answer(GRPOTrainer)


class Slow:
    """An object with an asynchronous call."""

    def __init__(self, values):
        self.values = values

    async def __call__(self, completions, **_):
        await asyncio.sleep(0)
        return self.values


@pytest.mark.parametrize("slow", [("rewards",), ("strategy_func",), ("rewards", "strategy_func")])
def test_objects_with_an_async_call(make_chat, slow):
    usual = {"rewards": fixed_rewards, "strategy_func": fixed_labels}
    slowly = {"rewards": Slow(REWARDS), "strategy_func": Slow(LABELS)}
    trainer = make_chat(methods.poly_epo(2), **usual | {part: slowly[part] for part in slow})
    batch = step(trainer)
    np.testing.assert_array_equal(batch.samples.rewards.ravel(), REWARDS)
    np.testing.assert_array_equal(batch.samples.strategies.ravel(), LABELS)


@pytest.mark.parametrize("part", ["rewards", "strategy_func"])
def test_an_async_function_that_fails_is_named(make_chat, part):
    async def broken(completions, **_):
        raise KeyError("gold")

    usual = {"rewards": fixed_rewards, "strategy_func": fixed_labels}
    trainer = make_chat(methods.poly_epo(2), **{**usual, part: broken})
    with pytest.raises(RunError, match=r"the (reward|strategy) function 'broken' raised KeyError"):
        trainer.train()


@pytest.mark.parametrize("names", ["abcdabcd", ["factor", "square"] * 4])
def test_an_async_strategy_function_may_give_names(make_chat, names):
    async def named(completions, **_):
        return list(names)

    batch = step(make_chat(methods.poly_epo(2), strategy_func=named))
    same = np.equal.outer(list(names), list(names))
    labels = batch.samples.strategies.ravel()
    np.testing.assert_array_equal(np.equal.outer(labels, labels), same)
    assert [label for row in batch.samples.labels("strategies") for label in row] == list(names)


def test_a_strategy_function_sees_what_a_reward_function_sees(make_chat):
    seen = {}

    def keep(name, values):
        def function(**fields):
            seen[name] = fields
            return values

        return function

    data = Dataset.from_dict({"prompt": PROMPTS, "gold": list("abcd")})
    trainer = make_chat(
        methods.poly_epo(2),
        rewards=keep("reward", REWARDS),
        strategy_func=keep("strategy", LABELS),
        train_dataset=data,
        environment_factory=World,
    )
    trainer.train()
    assert seen["strategy"] == seen["reward"]
    assert seen["strategy"]["gold"] == list("aaaabbbb")


@pytest.mark.parametrize("wrap", [list, lambda ones: ones[0]], ids=["list", "alone"])
def test_a_reward_model_beside_a_strategy_function(chat_model, make_chat, wrap):
    tokenizer = PreTrainedTokenizerFast.from_pretrained(chat_model)
    with torch.random.fork_rng():
        torch.manual_seed(0)
        model = Qwen3ForSequenceClassification(config_of(tokenizer, num_labels=1))
    trainer = make_chat(
        methods.poly_epo(2),
        rewards=[model],
        strategy_func=fixed_labels,
        reward_processing_classes=wrap([tokenizer]),
    )
    batch = step(trainer)
    assert np.ptp(batch.samples.rewards) > 0
    np.testing.assert_array_equal(batch.samples.strategies.ravel(), LABELS)


@pytest.mark.parametrize("method", [methods.grpo(), methods.poly_epo(2)], ids=["grpo", "poly_epo"])
def test_a_step_without_any_reward_trains_on_nothing(make_chat, method):
    def nothing(completions, **_):
        return [None] * len(completions)

    trainer = make_chat(method, rewards=nothing, strategy_func=fixed_labels, stop_rule=None)
    before = [weight.detach().clone() for weight in trainer.model.parameters()]
    with pytest.warns(UserWarning, match="no sample of step 1 got a reward from nothing: the step"):
        batch = step(trainer)
    assert (batch.advantages.values_BN == 0).all()
    assert all(map(torch.equal, before, trainer.model.parameters()))


@pytest.mark.parametrize(("scale", "method"), [("batch", methods.rloo()), ("none", methods.grpo())])
def test_a_scale_without_effect_is_announced(make_chat, scale, method):
    with pytest.warns(UserWarning, match=f"scale_rewards='{scale}' has no effect on training"):
        make_chat(method, args={"scale_rewards": scale})


def test_a_choice_of_tokens_that_a_sampler_ignores_is_announced(make_chat):
    with pytest.warns(UserWarning, match=r"top_p=0\.9 has no effect: the sampler draws from all"):
        make_chat(args={"top_p": 0.9}, sampler=lambda *_, **__: [])


def hollow(rewards):
    """An objective that is undefined."""
    return np.full(rewards.shape[:-1], np.nan)


@pytest.mark.parametrize("set_size", [1, 2])
def test_nan_of_an_objective_ends_the_step_by_name(make_chat, set_size):
    trainer = make_chat(Method("own", objectives.from_function(hollow), set_size=set_size))
    before = [weight.detach().clone() for weight in trainer.model.parameters()]
    with pytest.raises(Exception, match="hollow"):
        trainer.train()
    assert all(map(torch.equal, before, trainer.model.parameters()))


NAMES = ["factor", "square", 7, DEGENERATE, None, "factor", 7, "square"]
SHOWN = ["factor", "square", "7", "-1", None, "factor", "7", "square"]


class Namer(Judge):
    """A judge with those names for every two prompts, as far as it has any."""

    name = "namer"

    def judge(self, groups):
        first = Judgement((0, 1, 2, DEGENERATE), names_N=("factor", "square", None, None))
        return [first, Judgement(None, reason="timeout")]


def completions_table(folder):
    [path] = (folder / "completions").glob("*.parquet")
    return pd.read_parquet(path)


def test_strategies_are_names_in_the_table_of_completions(make_chat, tmp_path, capsys):
    def strategy(completions, **_):
        return NAMES

    trainer = make_chat(methods.poly_epo(2), strategy_func=strategy, args={"log_completions": True})
    batch = step(trainer)
    table = completions_table(tmp_path)
    assert [None if pd.isna(one) else one for one in table["strategy"]] == SHOWN
    np.testing.assert_array_equal(table["fixed_rewards"], REWARDS)
    np.testing.assert_allclose(table["advantage"], batch.advantages.values_BN.ravel())
    assert "-1" in capsys.readouterr().out


def test_strategies_of_a_judge_are_in_the_table_too(make_chat, tmp_path):
    make_chat(methods.poly_epo(2), judge=Namer(), args={"log_completions": True}).train()
    found = [None if pd.isna(one) else one for one in completions_table(tmp_path)["strategy"]]
    assert found == ["factor", "square", "2", "-1", None, None, None, None]


def test_a_column_that_the_user_logs_stays(make_chat, tmp_path):
    def own(completions, log_extra, **_):
        log_extra("strategy", [f"own {i}" for i in range(len(completions))])
        return LABELS

    args = {"log_completions": True, "max_steps": 2}
    make_chat(methods.poly_epo(2), strategy_func=own, args=args).train()
    for path in (tmp_path / "completions").glob("*.parquet"):
        assert list(pd.read_parquet(path)["strategy"]) == [f"own {i}" for i in range(8)]


def test_evaluation_knows_no_reward_of_strategies(make_chat):
    def strategy(completions, **_):
        return ["factor"] * len(completions)

    def length(completions, **_):
        return [float(len(one[0]["content"])) for one in completions]

    trainer = make_chat(
        methods.poly_epo(2),
        rewards=length,
        strategy_func=strategy,
        eval_dataset=Dataset.from_dict({"prompt": PROMPTS}),
        args={"per_device_eval_batch_size": 8, "num_generations_eval": 2},
    )
    metrics = trainer.evaluate()
    assert metrics["eval_reward"] == metrics["eval_rewards/length/mean"]
    assert not [key for key in metrics if "strategy" in key]


def test_a_function_that_changes_its_samples_in_place_does_not_misalign_the_next(make_chat):
    """It sorts the samples that it is given; the others get them as they were drawn."""
    seen = []

    def sorts(completions, **_):
        completions.sort(key=str)
        for message in completions:
            message[0]["content"] = "changed"
        return [0.0] * len(completions)

    def looks(completions, **_):
        seen.append([text[0]["content"] for text in completions])
        return [1.0] * len(completions)

    def labels(completions, **_):
        return looks(completions) and list("abcdabcd")

    batch = step(make_chat(rewards=[sorts, looks], strategy_func=labels))
    drawn = [text for texts in batch.samples.texts for text in texts]
    assert seen == [drawn, drawn]
    assert "changed" not in drawn


@pytest.mark.parametrize("blank", ["", " \t"])
def test_a_strategy_without_a_name_is_said_to_be_unknown(make_chat, blank):
    def labels(completions, **_):
        return [blank, "a", None, -1] * (len(completions) // 4)

    said = f"the strategy function 'labels' returned {blank!r}, which is read as unknown, so that"
    with pytest.warns(UserWarning, match=re.escape(said)):
        batch = step(make_chat(strategy_func=labels))
    assert np.isnan(batch.samples.strategies[:, 0]).all()
