"""Every key that TRL logs with set credit, and of which reward it is.

`reward` is one thing, in training and in evaluation: the credited reward, which enters the sets.
Two rewards stand behind a gate here, and their numbers are computed again by other code.
"""

import math
import statistics

import pytest
from datasets import Dataset

from setrl.core import methods
from setrl.rewards import Combine, Truncation
from tests.engines.chat import PROMPTS

OF_NO_REWARD = "of no reward"
CREDITED = "the credited reward: combined, gated, punished where truncated"
OWN = "what one function returned"
RIGHT = "right or wrong, 1 or 0"
ABOUT = {
    "reward": CREDITED,
    "reward/mean": CREDITED,
    "reward_std": CREDITED,
    "frac_reward_zero_std": CREDITED,
    "reward/dead_groups": CREDITED,
    "rewards/right/mean": OWN,
    "rewards/right/std": OWN,
    "rewards/brief/mean": OWN,
    "rewards/brief/std": OWN,
    "reward/pass@1": RIGHT,
    "reward/pass@2": RIGHT,
    "reward/pass@4": RIGHT,
    "reward/ungraded": RIGHT,
    "reward/unknown": OWN,
    "time/reward/right": OF_NO_REWARD,
    "time/reward/brief": OF_NO_REWARD,
}
OTHERS = (  # keys of no reward, by their beginnings
    *("loss", "grad_norm", "learning_rate", "num_tokens", "epoch", "entropy", "clip_ratio/"),
    *("step_time", "runtime", "samples_per_second", "steps_per_second", "completions/", "time/"),
    *("strategies/", "advantage/", "train_", "judge/", "kl", "total_flos", "sampling/"),
)
WEIGHT, N = 0.5, 4


@pytest.fixture
def logged(make_chat):
    """The calls of both functions, and what was logged: of a step and of an evaluation."""
    calls = []

    def right(completions, **_):
        found = [float(sum(map(ord, str(one))) % 3 == 0) for one in completions]
        calls.append([found])
        return found

    def brief(completions, **_):
        found = [sum(map(ord, str(one))) % 7 / 10 for one in completions]
        calls[-1].append(found)
        return found

    trainer = make_chat(
        methods.poly_epo(2),
        [right, brief],
        combine=Combine((1.0, WEIGHT), gates=(None, "sample"), outcome=0),
        strategy_func=lambda completions, **_: list("abcd") * (len(completions) // 4),
        args={"eval_strategy": "steps", "eval_steps": 1, "per_device_eval_batch_size": 16},
        eval_dataset=Dataset.from_dict({"prompt": PROMPTS}),
    )
    trainer.train()
    [train] = [one for one in trainer.state.log_history if "grad_norm" in one]
    [evaluated] = [one for one in trainer.state.log_history if "eval_loss" in one]
    return {"": (calls[0], train), "eval_": (calls[1], evaluated)}


@pytest.mark.parametrize("mode", ["", "eval_"])
def test_each_key_says_of_which_reward_it_is(logged, mode):
    _, found = logged[mode]
    keys = {key.removeprefix(mode) for key in found} - {"step"}
    assert {key for key in keys if "reward" in key} <= ABOUT.keys()
    assert [key for key in keys - ABOUT.keys() if not key.startswith(OTHERS)] == []
    needed = {"reward", "reward_std", "frac_reward_zero_std", "reward/mean", "reward/pass@1"}
    assert needed <= keys


@pytest.mark.parametrize("mode", ["", "eval_"])
def test_every_printed_reward_is_what_other_code_computes(logged, mode):
    (right, brief), found = logged[mode]
    credited = [a + (WEIGHT * b if a == 1 else 0) for a, b in zip(right, brief, strict=True)]
    groups = [credited[at : at + N] for at in range(0, len(credited), N)]
    counts = [int(sum(right[at : at + N])) for at in range(0, len(right), N)]
    assert len(set(credited)) > 2
    expected = {
        "reward": statistics.mean(credited),
        "reward/mean": statistics.mean(credited),
        "reward_std": statistics.stdev(credited),
        "frac_reward_zero_std": statistics.mean(len(set(group)) == 1 for group in groups),
        "reward/dead_groups": statistics.mean(len(set(group)) == 1 for group in groups),
        "rewards/right/mean": statistics.mean(right),
        "rewards/right/std": statistics.stdev(right),
        "rewards/brief/mean": statistics.mean(brief),
        "rewards/brief/std": statistics.stdev(brief),
    } | {
        f"reward/pass@{k}": statistics.mean(
            1 - math.comb(N - c, k) / math.comb(N, k) for c in counts
        )
        for k in (1, 2, 4)
    }
    known = {key: value for key, value in expected.items() if f"{mode}{key}" in found}
    assert len(known) >= 9
    for key, value in known.items():
        assert found[f"{mode}{key}"] == pytest.approx(value, abs=2e-4), key


SETTINGS = {  # what is credited is not TRL's own sum
    "mask": ({"mask_truncated_completions": True}, {}),
    "punish": ({}, {"truncated": Truncation("punish", -5.0)}),
    "normalised by TRL": ({"multi_objective_aggregation": "normalize_then_sum"}, {}),
    "normalised": ({}, {"combine": Combine((1.0,), normalize="group")}),
}
OF_ALL_CUT = {"mask": None, "punish": -5.0, "normalised by TRL": 0.0, "normalised": 0.0}


@pytest.mark.parametrize("name", SETTINGS)
def test_reward_is_the_credited_one_whatever_the_setting(make_chat, name):
    """`reward` was TRL's own sum in some of these, beside `reward/mean` of what is credited."""
    options, own = SETTINGS[name]

    def length(completions, **_):
        return [len(str(one)) % 11 / 10 for one in completions]

    trainer = make_chat(
        methods.dr_grpo(),
        [length],
        args={
            "eval_strategy": "steps",
            "eval_steps": 1,
            "per_device_eval_batch_size": 16,
            **options,
        },
        eval_dataset=Dataset.from_dict({"prompt": PROMPTS}),
        **own,
    )
    trainer.train()
    [train] = [one for one in trainer.state.log_history if "grad_norm" in one]
    [evaluated] = [one for one in trainer.state.log_history if "eval_loss" in one]
    for mode, found in (("", train), ("eval_", evaluated)):
        assert found[f"{mode}completions/clipped_ratio"] == 1.0
        assert found[f"{mode}rewards/length/mean"] > 0.1
        assert found[f"{mode}reward"] == found[f"{mode}reward/mean"]
        assert found[f"{mode}reward"] == pytest.approx(OF_ALL_CUT[name], abs=1e-6)
