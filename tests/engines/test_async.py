"""TRL's asynchronous rollout worker, with groups as its generation loop makes them."""

import asyncio
import inspect
import os
import queue
from multiprocessing import get_context

os.environ.setdefault("TRL_EXPERIMENTAL_SILENCE", "1")

import numpy as np
import pytest
from accelerate.state import PartialState
from datasets import Dataset
from transformers import AutoTokenizer

pytest.importorskip("aiohttp")
from trl.experimental.async_grpo import async_rollout_worker as theirs

from setrl import Method, objectives
from setrl.core import methods
from setrl.rewards import Combine, Truncation
from setrl.support.errors import ConfigError, RunError
from setrl.train.trl.asynchronous import SetRolloutLoop, credit_worker
from tests.engines.chat import PROMPTS, fixed_labels

KNOWN = inspect.signature(theirs._AsyncRolloutLoop).parameters  # differ between versions
REWARDS = [1.0, 0.0, 0.0, None]
LABELS = ["a", "a", "b", "c"]


def some_rewards(completions, **_):
    return REWARDS


def some_labels(completions, gold, **_):
    assert gold == ["g"] * 4
    return LABELS


async def some_labels_later(completions, **_):
    return LABELS


@pytest.fixture
def make_worker(chat_model, monkeypatch):
    if not hasattr(theirs.AsyncRolloutWorker, "_loop_cls"):
        pytest.skip("the loop of TRL's worker is fixed before 1.10")
    monkeypatch.setattr(theirs, "is_vllm_available", lambda **_: True)

    def make(**changes):
        usual = {
            "model_name": str(chat_model),
            "dataset": Dataset.from_dict({"prompt": PROMPTS}),
            "reward_funcs": [some_rewards],
            "processing_class": AutoTokenizer.from_pretrained(chat_model),
            "num_generations": 4,
        }
        if "eos_token_ids" in KNOWN:
            usual["eos_token_ids"] = [0]
        else:
            usual["processing_class"].eos_token_id = 0
        return theirs.AsyncRolloutWorker(**{**usual, **changes})

    return make


def loop_of(worker):
    """What the worker's process makes of the worker."""
    PartialState()
    context = get_context("spawn")
    made = worker._loop_cls(
        **worker._loop_kwargs,
        rollout_buffer=queue.Queue(),
        model_version_value=context.Value("i", 0),
        heartbeat_value=context.Value("d", 0.0),
        failed_event=context.Event(),
        exception_info_queue=queue.Queue(),
        **({"metrics_queue": queue.Queue()} if "metrics_queue" in KNOWN else {}),
    )
    if hasattr(made, "_tool_pool"):
        made._tool_pool.shutdown()
    made._loop.close()
    return made


def sequence(token):
    return theirs.TrainingSequence([7, token], [0, 1], [0.0, -1.0], rollout_id="r")


def group(rows):
    """A group of conversations, with some rows each to train on."""
    return theirs.RolloutGroup(
        prompts=[PROMPTS[0]] * 4,
        reward_kwargs={"gold": ["g"] * 4},
        completions=[[{"role": "assistant", "content": str(i)}] for i in range(4)],
        completions_ids=[[i] for i in range(4)],
        completions_sequences=[
            [sequence(10 * i + j) for j in range(n)] for i, n in enumerate(rows)
        ],
        tool_call_counts=[0] * 4,
        tool_failure_counts=[0] * 4,
        model_version=3,
        group_id=9,
        env_rewards=[None] * 4,
        rollout_rewards=[None] * 4,
    )


def scored(worker, rows=(1, 2, 0, 1)):
    return asyncio.run(loop_of(worker)._score_group(group(rows)))


@pytest.mark.parametrize("labels", [some_labels, some_labels_later])
def test_every_row_gets_the_advantage_of_its_conversation(make_worker, labels):
    method = methods.poly_epo(2)
    worker = make_worker()
    plain = scored(worker)
    credit_worker(worker, method, labels)
    samples = scored(worker)
    rewards_BN = np.array([[1.0, 0.0, 0.0, np.nan]])
    [expected] = method.advantages(rewards_BN, strategies=np.array([[0, 0, 1, 2]])).values_BN
    assert np.ptp(expected) > 0
    assert [sample.input_ids[1] for sample in samples] == [0, 10, 11, 30]
    assert [sample.advantage for sample in samples] == [*expected[[0, 1, 1]], 0.0]
    for one, other in zip(samples, plain, strict=True):  # all but the credit is TRL's
        assert np.array_equal(one.input_ids, other.input_ids)
        assert np.array_equal(one.old_log_probs, other.old_log_probs)
        assert one.model_version == other.model_version == 3
        assert one.metrics.items() >= {k: v for k, v in other.metrics.items() if v == v}.items()
        assert one.metrics["strategies/per_prompt"] == 3


def test_one_group_at_a_time_is_grpo_up_to_its_scale(make_worker):
    worker = make_worker(reward_funcs=[lengths])
    plain = [sample.advantage for sample in scored(worker, (1, 1, 1, 1))]
    credit_worker(worker, methods.dr_grpo())
    ours = [sample.advantage for sample in scored(worker, (1, 1, 1, 1))]
    np.testing.assert_allclose(ours, np.multiply(plain, np.std([0, 1, 2, 3])), atol=1e-7)


def lengths(completion_ids, **_):
    return [float(ids[0]) for ids in completion_ids]


def too_few(completions, **_):
    return ["a"]


def test_a_strategy_function_that_fails_is_named(make_worker):
    worker = make_worker()
    credit_worker(worker, methods.poly_epo(2), too_few)
    with pytest.raises(RunError, match="'too_few' must return one value for each sample, 4, got 1"):
        scored(worker)


@pytest.mark.parametrize(
    ("method", "labels", "error", "message"),
    [
        (methods.maxpo(4), None, ValueError, r"in \[1, 3\] with num_generations=4, got 4"),
        (methods.poly_epo(2), None, ValueError, "poly_epo reads strategies: pass strategy_func"),
        (methods.poly_epo(2), lambda **_: LABELS, ConfigError, "use functions of a module"),
    ],
    ids=["size", "strategies", "lambda"],
)
def test_what_cannot_work_is_refused_before_anything_starts(
    make_worker, method, labels, error, message
):
    with pytest.raises(error, match=message):
        credit_worker(make_worker(), method, labels)


def test_a_worker_is_credited_once(make_worker):
    worker = make_worker()
    credit_worker(worker, methods.poly_epo(2), fixed_labels)
    assert worker._loop_cls is SetRolloutLoop
    with pytest.raises(ConfigError, match=r"own kind, .* that has not been started"):
        credit_worker(worker, methods.grpo())


def votes(completions, **_):
    return ["a", "b", "b", None]


def overlap(completions, **_):
    return 1.0 - np.eye(len(completions))


def as_one_group(method, rewards, **fields):
    return method.advantages(np.array([rewards]), abstain=True, **fields).values_BN[0].tolist()


@pytest.mark.parametrize(
    ("objective", "given", "known"),
    [
        (objectives.majority(), {"answers": votes}, {"answers": [["a", "b", "b", None]]}),
        (objectives.best_of(), {"proxy": "level"}, {"proxy": [[3, 1, 2, 4]]}),
        (
            objectives.mean() * objectives.pairwise_distance(),
            {"pairs": overlap},
            {"pairs": 1.0 - np.eye(4)[None]},
        ),
    ],
    ids=["answers", "column", "pairs"],
)
def test_fields_reach_the_method(make_worker, objective, given, known):
    method, worker = Method("own", objective, 2), make_worker(reward_funcs=[lengths])
    credit_worker(worker, method, fields=given)
    known = {key: np.array(one, dtype=object) for key, one in known.items()}
    want = as_one_group(method, [0.0, 1.0, 2.0, 3.0], **known)
    one = group((1, 1, 1, 1))
    one.reward_kwargs["level"] = [3, 1, 2, 4]
    found = asyncio.run(loop_of(worker)._score_group(one))
    assert np.ptp(want) > 0
    assert [sample.advantage for sample in found] == want


def test_rewards_are_combined_and_truncated_samples_leave(make_worker):
    combine, method = Combine((1.0, 10.0), missing="skip"), methods.dr_grpo()
    worker = make_worker(reward_funcs=[lengths, some_rewards])
    credit_worker(worker, method, combine=combine, truncated=Truncation("mask"))
    one = group((1, 2, 1, 1))
    one.completions_ids = [[0], [1, 0], [2], [3, 0]]  # the third one does not end
    found = asyncio.run(loop_of(worker)._score_group(one))
    [first, second, fourth] = as_one_group(method, [10.0, 1.0, 3.0])
    assert [sample.advantage for sample in found] == [first, second, second, fourth]
    assert [sample.input_ids[1] for sample in found] == [0, 10, 11, 30]


def test_a_combination_of_other_rewards_is_refused(make_worker):
    with pytest.raises(ValueError, match=r"one weight for each reward, 1 \(some_rewards\), got 2"):
        credit_worker(make_worker(), methods.grpo(), combine=Combine((1.0, 1.0)))
    twice = make_worker(reward_funcs=[some_rewards, some_rewards])
    with pytest.raises(ValueError, match="rewards must have different names"):
        credit_worker(twice, methods.grpo(), combine=Combine((1.0, 1.0)))


def right_ones(completions, **_):
    return [True, False, None, True]


@pytest.mark.parametrize("says", ["some_rewards", some_rewards, right_ones, "solved"])
@pytest.mark.filterwarnings("ignore:w_reinforce reads only which samples are right")
def test_what_is_right_reaches_the_method_and_the_metrics(make_worker, says):
    worker = make_worker(reward_funcs=[lengths, some_rewards])
    credit_worker(worker, methods.w_reinforce(), correct=says)
    one = group((1, 1, 1, 1))
    one.reward_kwargs["solved"] = [1, 0, 0, None]
    found = asyncio.run(loop_of(worker)._score_group(one))
    right = [True, False, None, True] if says is right_ones else REWARDS
    want = [0.0 if one is None else 0.1 if one else -1.0 for one in right]
    assert [sample.advantage for sample in found] == pytest.approx(want)
    known = [float(one) for one in right if one is not None]
    assert found[0].metrics["reward/pass@1"] == pytest.approx(np.mean(known))


def test_several_rewards_need_correct_for_methods_that_read_it(make_worker):
    worker = make_worker(reward_funcs=[lengths, some_rewards])
    with pytest.raises(ValueError, match=r"w_reinforce needs to know which .* pass correct="):
        credit_worker(worker, methods.w_reinforce())
    credit_worker(worker, methods.dr_grpo())
    assert "reward/pass@1" not in scored(worker, (1, 1, 1, 1))[0].metrics
