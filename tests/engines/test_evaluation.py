"""The evaluation data of a trainer of TRL: its metrics, and its rows in TRL's table."""

import numpy as np
import pandas as pd
import pytest
from datasets import Dataset

from setrl import methods
from setrl.judges.exact import ExactJudge
from setrl.logs.importers.trl import LABEL_COLUMN
from setrl.rewards import Combine
from tests.engines.chat import PROMPTS


def first_of_each_group(n):
    def right(completions, **_):
        return [float(i % n == 0) for i in range(len(completions))]

    return right


def halves(completions, **_):
    return ["a" if i % 4 < 2 else "b" for i in range(len(completions))]


ARGS = {"eval_strategy": "steps", "eval_steps": 1, "per_device_eval_batch_size": 8}


def evaluated(make_chat, args=(), **more):
    trainer = make_chat(
        methods.poly_epo(2),
        [first_of_each_group(4)],
        args={**ARGS, **dict(args)},
        eval_dataset=Dataset.from_dict({"prompt": PROMPTS}),
        **more,
    )
    trainer.train()
    [found] = [one for one in trainer.state.log_history if "eval_loss" in one]
    return trainer, found


def test_pass_at_k_and_strategies_are_logged(make_chat):
    _, found = evaluated(make_chat, strategy_func=halves)
    passed = {k: found[f"eval_reward/pass@{k}"] for k in (1, 2, 4)}
    assert passed == {1: pytest.approx(1 / 4), 2: pytest.approx(1 / 2), 4: 1.0}
    assert found["eval_strategies/per_prompt"] == 2.0
    assert found["eval_strategies/correct_per_prompt"] == 1.0
    assert not any(key.startswith("eval_advantage/") for key in found)


def test_groups_of_another_size(make_chat):
    _, found = evaluated(make_chat, {"num_generations_eval": 2}, strategy_func=halves)
    assert found["eval_reward/pass@1"] == pytest.approx(1 / 4)  # of eight, the first and the fifth
    assert found["eval_reward/pass@2"] == pytest.approx(1 / 2)
    assert "eval_reward/pass@4" not in found


def test_single_samples_have_the_metrics_of_trl(make_chat):
    _, found = evaluated(make_chat, {"num_generations_eval": 1}, strategy_func=halves)
    assert "eval_reward" in found
    assert not any(key.startswith(("eval_reward/", "eval_strategies/")) for key in found)


def test_the_reward_of_an_evaluation_is_the_combined_one(make_chat):
    """What selects the best model is what is trained: a gated reward pays no wrong sample."""

    def formatted(completions, **_):
        return [1.0] * len(completions)

    trainer = make_chat(
        methods.poly_epo(2),
        [first_of_each_group(4), formatted],
        combine=Combine((1.0, 0.5), gates=(None, "sample"), outcome=0),
        strategy_func=halves,
        args=ARGS,
        eval_dataset=Dataset.from_dict({"prompt": PROMPTS}),
    )
    trainer.train()
    [found] = [one for one in trainer.state.log_history if "eval_loss" in one]
    assert found["eval_reward"] == found["eval_reward/mean"] == pytest.approx(1.5 / 4)
    assert found["eval_reward_std"] == pytest.approx(np.std([1.5, 0, 0, 0] * 2, ddof=1), abs=1e-4)
    assert found["eval_frac_reward_zero_std"] == 0


def test_a_judge_is_asked_only_in_training(make_chat):
    asked = []

    class Counting(ExactJudge):
        def judge(self, groups):
            asked.extend(groups)
            return super().judge(groups)

    _, found = evaluated(make_chat, judge=Counting())
    assert len(asked) == 2  # prompts of the step
    assert "eval_reward/pass@4" in found
    assert not any(key.startswith("eval_strategies/") for key in found)


def test_rows_of_the_evaluation_have_no_advantage(make_chat, tmp_path):
    trainer, _ = evaluated(make_chat, {"log_completions": True}, strategy_func=halves)
    tables = [pd.read_parquet(path) for path in (tmp_path / "completions").glob("*.parquet")]
    assert len(tables) == 1  # of the step, and then of its evaluation, too
    rows = tables[0]
    is_evaluation = rows["advantage"].isna()
    assert is_evaluation.tolist() == [False] * 8 + [True] * 16
    trained = [trainer.train_dataset[i]["prompt"][0]["content"] for i in range(2)]
    shown = map(str, rows["prompt"][~is_evaluation])  # before TRL 1.15 with the chat's template
    assert all(text in prompt for text, prompt in zip(sorted(trained * 4), shown, strict=True))
    assert set(rows[LABEL_COLUMN]) == {"a", "b"}
    assert np.isfinite(rows["advantage"][~is_evaluation]).all()
