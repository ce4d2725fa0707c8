"""verl's rollout workers, replay buffer and TransferQueue in a local Ray: `make verl` alone.

A script writes the texts instead of a model, which would need a GPU. What is verl's
own: the actors that run a prompt's sessions, the rows that they write, TransferQueue's controller
and storage, each in a process of its own, the buffer that waits for finished prompts, and the
trainer's `_compute_advantage`.
"""

from __future__ import annotations

import asyncio
import os
from pathlib import Path
from types import SimpleNamespace

import numpy as np
import pytest

from setrl.judges import BackgroundJudge, Judgement
from setrl.train.verl import judging as verl_judging
from tests.engines.conformance.groups import DEFINITIONS, Case, Sample
from tests.engines.verl import released

ray = pytest.importorskip("ray")
transfer_queue = pytest.importorskip("transfer_queue")
agent_loop = pytest.importorskip("verl.experimental.agent_loop.agent_loop")
agent_loop_tq = pytest.importorskip("verl.trainer.ppo.v1.agent_loop_tq")
tensordict_utils = pytest.importorskip("verl.utils.tensordict_utils")

ROOT = Path(__file__).parents[3]
POLY = {"adv_estimator": "setrl_poly_epo", "setrl": {"set_size": 2}}
# Prompt → the outputs of its sessions, and their rewards; the strategy is the first letter.
WRITTEN = {
    "p": [["a1"], ["b1", "b2"], ["a2"], ["c1"]],
    "q": [["d1"], ["d2"], ["e1", "e2"], ["e3"]],
    "r": [["x1"], ["y1"], ["y2"], ["y3", "y4"]],
}
REWARDS = {"p": [1.0, 1.0, 1.0, 0.0], "q": [0.0, 1.0, 0.0, 0.0], "r": [1.0, 1.0, 1.0, 1.0]}


@pytest.fixture(scope="module", autouse=True)
def strategy():
    """Start a Ray of only this machine, whose processes find this file."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("PYTHONPATH", f"{ROOT}{os.pathsep}{os.environ.get('PYTHONPATH', '')}")
        patch.setenv("RAY_worker_niceness", "0")  # Ray's 15 starves them on a busy machine
        ray.init(num_cpus=8, include_dashboard=False, _node_ip_address="127.0.0.1")
        transfer_queue.init()
        yield
        transfer_queue.close()
        ray.shutdown()


class Writer(agent_loop_tq.AgentLoopWorkerTQ.__ray_metadata__.modified_class):
    """verl's worker, with a script instead of an agent and its model."""

    def __init__(self):
        rollout = SimpleNamespace(
            n=4, temperature=1.0, top_p=1.0, top_k=-1, calculate_log_probs=False
        )
        rollout.agent = SimpleNamespace(default_agent_loop="script")
        self.config = SimpleNamespace(actor_rollout_ref=SimpleNamespace(rollout=rollout))
        self.reward_loop_worker_handles = self.processor = None
        self.distillation_enabled = False
        self.background_tasks = set()
        transfer_queue.init()

    def process(self):
        """Which process this is, and whether verl has loaded the plug-in there."""
        from verl.trainer.ppo.core_algos import ADV_ESTIMATOR_REGISTRY

        return os.getpid(), "setrl_poly_epo" in ADV_ESTIMATOR_REGISTRY

    async def _run_agent_loop(self, sampling_params, trajectory, **fields):
        uid, session = fields["uid"], fields["session_id"]
        await asyncio.sleep(0.1 * ((session * 7) % 4))  # sessions end in another order
        outputs = [_output(uid, text) for text in WRITTEN[uid][session]]
        outputs[-1].reward_score = REWARDS[uid][session]
        strategy = WRITTEN[uid][session][0][0]
        outputs[-1].extra_fields["reward_extra_info"] = {"strategy": strategy}
        fields.pop("agent_name")
        await self._agent_loop_postprocess(outputs, trajectory["validate"], **fields)


def _output(uid, text):
    ids = list(text.encode())
    return agent_loop.AgentLoopOutput(
        prompt_ids=list(uid.encode()),
        response_ids=ids,
        response_mask=[1] * len(ids),
        metrics=agent_loop.AgentLoopMetrics(),
        extra_fields={},
    )


class JudgeActor:
    """Judges by the first letter, in a process of its own."""

    def judge(self, group):
        letters = sorted({text[0] for text in group.texts})
        return Judgement(tuple(letters.index(text[0]) for text in group.texts))


class RemoteJudge(BackgroundJudge):
    """Asks an actor."""

    name = "remote"

    def __init__(self):
        self.actor, self.asked = ray.remote(num_cpus=0.1)(JudgeActor).remote(), []

    def submit(self, group):
        self.asked.append(group)
        return self.actor.judge.remote(group).future()


class Letters:
    """A tokenizer of single bytes."""

    def decode(self, ids, skip_special_tokens):
        return bytes(int(one) for one in ids).decode()


@pytest.fixture(scope="module")
def writers():
    actor = ray.remote(num_cpus=0.1)(Writer)
    return [actor.remote() for _ in range(2)]


def sampled(trainer, writers):
    """A batch of verl's buffer, of prompts that two workers write."""
    tags = [{"is_prompt": True, "status": "pending", "global_steps": 0} for _ in WRITTEN]
    transfer_queue.kv_batch_put(keys=list(WRITTEN), partition_id="train", tags=tags)
    for uids, writer in zip((["p", "r"], ["q"]), writers, strict=True):
        rows = {"uid": uids, "index": list(range(len(uids))), "global_steps": [0] * len(uids)}
        ray.get(writer.generate_sequences.remote(tensordict_utils.get_tensordict(rows)))
    batch, _ = trainer.replay_buffer.sample(0, "train", len(WRITTEN))
    return batch


def found_advantages(trainer, batch):
    """Key → the one advantage of the row's tokens, as verl's loss finds it."""
    metrics = {}
    trainer._compute_advantage(batch, metrics)
    data = transfer_queue.kv_batch_get(
        keys=batch.keys, partition_id="train", select_fields=["advantages"]
    )
    found = {}
    for key, values in zip(batch.keys, data["advantages"], strict=True):
        (found[key],) = set(values.tolist())
    transfer_queue.kv_clear(keys=batch.keys, partition_id="train")
    return found, metrics


def expected_advantages():
    samples = [
        Sample(uid, reward, texts[0][0])
        for uid in WRITTEN
        for texts, reward in zip(WRITTEN[uid], REWARDS[uid], strict=True)
    ]
    values = iter(DEFINITIONS["poly_epo"](Case(samples)))
    return {
        f"{uid}_{session}_{output}": value
        for uid in WRITTEN
        for session, texts in enumerate(WRITTEN[uid])
        for value in [next(values)]
        for output in range(len(texts))
    }


def check(found):
    want = expected_advantages()
    assert found.keys() == want.keys()
    assert np.ptp(list(want.values())) > 0.1
    for key, value in want.items():
        assert found[key] == pytest.approx(value, abs=1e-6), key


def test_every_process_of_verl_has_the_plug_in(writers):
    processes = ray.get([writer.process.remote() for writer in writers])
    assert len({pid for pid, _ in processes} | {os.getpid()}) == 3
    assert all(is_loaded for _, is_loaded in processes)


def test_strategies_that_the_reward_function_returned(writers):
    trainer = released.make("sync", POLY)
    found, metrics = found_advantages(trainer, sampled(trainer, writers))
    check(found)
    assert metrics["setrl/advantage/left_out"] == 0


def test_a_judge_in_an_actor(writers, monkeypatch):
    judge = RemoteJudge()
    monkeypatch.setattr(verl_judging, "make_judge", lambda spec, folder: judge)
    trainer = released.make("sync", {**POLY, "setrl": {"set_size": 2, "judge": "remote"}})
    trainer.tokenizer = Letters()
    batch = sampled(trainer, writers)
    assert sorted(group.prompt for group in judge.asked) == list(WRITTEN)  # while verl waits
    check(found_advantages(trainer, batch)[0])
    assert len(judge.asked) == len(WRITTEN)
