"""A run whose credit is missing stops, in every engine, and goes on after the repair."""

import asyncio
import os

os.environ.setdefault("TRL_EXPERIMENTAL_SILENCE", "1")

import numpy as np
import pytest
from datasets import Dataset
from transformers import AutoTokenizer

from setrl import methods
from setrl.judges import Judge, Judgement
from setrl.logs.run import Run
from setrl.models.small import sampler
from setrl.support import files
from setrl.support.errors import RunError
from setrl.tasks import Problem
from setrl.train.gathering.scorer import SampledGroup, Scorer
from setrl.train.lm.run import LanguageModelArms
from setrl.train.lm.server_arm import train_on_server
from setrl.train.lm.trl_arm import train_arm
from setrl.train.runs.pool import Stop
from setrl.train.runs.resume import usable_checkpoint
from setrl.train.runs.run import arm_job
from setrl.train.scoring import StopRule
from setrl.train.trl import SetGRPOTrainer
from tests.at_once import do_at_once
from tests.engines.fake_tinker import FakeServer
from tests.engines.test_trainer import PROMPTS, arguments, first_letters, length
from tests.judges.helpers import make_judge
from tests.judges.server import FaultyServer
from tests.lm.test_server import server_config

PROSE = "the first answer of the judge was 'I would put the first two together.'"


def trainer_with(base, folder, judge=None, labels=None, steps=12, saves="no", **own):
    own = {"method": methods.poly_epo(2), **own}
    return SetGRPOTrainer(
        str(base),
        length,
        arguments(folder, max_steps=steps, save_strategy=saves, save_steps=1),
        Dataset.from_dict({"prompt": PROMPTS * 12}),
        judge=judge,
        strategy_func=labels,
        sampler=sampler.sample_ids,
        judge_parts=1,
        **own,
    )


def nothing(completions, **_):
    return [None] * len(completions)


@pytest.mark.parametrize(
    ("faults", "limits", "reason"),
    [
        ({"no_json": 1.0}, {}, "judge: unparsable: 20"),
        ({"hang": 1.0}, {"timeout_s": 0.1, "attempts": 1}, "judge: timeout: 20"),
        ({"server_error": 1.0}, {"attempts": 1}, "judge: server_error: 20"),
    ],
)
def test_a_judge_that_fails_stops_the_training(base, tmp_path, faults, limits, reason):
    with FaultyServer(faults) as server, make_judge(server.url, limits) as judge:
        trainer = trainer_with(base, tmp_path, judge)
        with pytest.raises(RunError, match=f"20 of the last 20 prompts \\({reason}\\)") as error:
            trainer.train()
    assert trainer.state.global_step == 4
    assert ("no_json" in faults) == (PROSE in str(error.value))


def test_a_server_that_dies_in_the_middle_and_the_same_run_again(base, tmp_path):
    with FaultyServer() as server, make_judge(server.url, {"attempts": 1}) as judge:
        trainer = trainer_with(base, tmp_path, judge, saves="steps")
        trainer.on_batch = lambda _: (
            server.faults.update(server_error=1.0) if trainer.state.global_step == 3 else None
        )
        with pytest.raises(
            RunError, match=r"20 of the last 32 prompts \(judge: server_error: 20\)"
        ):
            trainer.train()
    saved = trainer.state.global_step
    assert saved == 8
    with FaultyServer() as server, make_judge(server.url) as judge:
        again = trainer_with(base, tmp_path, judge)
        again.train(resume_from_checkpoint=True)
        assert len(server.log) <= (12 - saved) * 4  # fewer where groups are equal
    assert again.state.global_step == 12


def test_labels_of_none_stop_the_training(base, tmp_path):
    with pytest.raises(RunError, match=r"20 of the last 20 prompts \(no strategy: 20\)"):
        trainer_with(base, tmp_path, labels=nothing).train()
    with pytest.raises(RunError, match=r"8 of the last 8 prompts"):  # at the last step
        trainer_with(base, tmp_path, labels=nothing, steps=2).train()


@pytest.mark.parametrize("rule", [None, StopRule(max_unknown=None, max_without_signal=None)])
def test_a_training_goes_on_if_the_rule_is_off(base, tmp_path, rule):
    trainer = trainer_with(base, tmp_path, labels=nothing, steps=10, stop_rule=rule)
    trainer.train()
    assert trainer.state.global_step == 10


def test_a_constant_reward_stops_a_training_at_its_end(base, tmp_path):
    def constant(completions, **_):
        return [0.0] * len(completions)

    trainer = SetGRPOTrainer(
        str(base),
        constant,
        arguments(tmp_path, max_steps=8),
        Dataset.from_dict({"prompt": PROMPTS * 12}),
        method=methods.maxpo(2),
        sampler=sampler.sample_ids,
    )
    with pytest.raises(RunError, match="no signal: in the last 8 steps"):
        trainer.train()


class Converging:
    """Reward functions of a policy that learns for some steps, and then fails at every sample."""

    def __init__(self, steps):
        self.steps = steps

    def reward(self, completions, **_):
        self.steps -= 1
        known = [float(i % 2) for i in range(len(completions))]
        return known if self.steps >= 0 else [0.0] * len(completions)


FLAT = StopRule(max_without_signal=16)


def converging(base, folder, signal, steps, logging_steps=2):
    every = {"save_strategy": "steps", "save_steps": 2, "logging_steps": logging_steps}
    return SetGRPOTrainer(
        str(base),
        Converging(signal).reward,
        arguments(folder, max_steps=steps, **every),
        Dataset.from_dict({"prompt": PROMPTS * 12}),
        method=methods.maxpo(2),
        sampler=sampler.sample_ids,
        stop_rule=FLAT,
    )


@pytest.mark.parametrize("logging_steps", [2, 3])  # 3: nothing is logged before the checkpoint
def test_a_training_that_converged_and_resumes_is_not_stopped(base, tmp_path, logging_steps):
    converging(base, tmp_path, 1, 2, logging_steps).train()
    again = converging(base, tmp_path, 0, 12, logging_steps)
    again.train(resume_from_checkpoint=True)
    assert again.state.global_step == 12


def test_a_training_that_never_learned_and_resumes_is_stopped(base, tmp_path):
    converging(base, tmp_path, signal=0, steps=2).train()
    with pytest.raises(RunError, match="no signal: in the last 8 steps"):
        converging(base, tmp_path, signal=0, steps=12).train(resume_from_checkpoint=True)


def test_the_asynchronous_worker_stops(make_worker):
    from setrl.train.trl.asynchronous import credit_worker
    from tests.engines.test_async import group, loop_of

    worker = make_worker()
    credit_worker(worker, methods.poly_epo(2), nothing)
    loop = loop_of(worker)

    async def run():
        for _ in range(40):
            await loop._score_group(group((1, 1, 1, 1)))

    with pytest.raises(RunError, match=r"17 of the last 17 prompts \(no strategy: 17\)"):
        asyncio.run(run())
    free = make_worker()
    credit_worker(free, methods.poly_epo(2), nothing, stop_rule=None)
    loop = loop_of(free)
    asyncio.run(run())


def never_right(completions, **_):
    return [0.0] * len(completions)


def test_the_asynchronous_worker_of_a_training_that_resumes_goes_on(make_worker):
    from setrl.train.trl.asynchronous import credit_worker
    from tests.engines.test_async import group, loop_of

    worker = make_worker(reward_funcs=[never_right])
    credit_worker(worker, methods.maxpo(2), stop_rule=FLAT)

    async def run():
        loop = loop_of(worker)
        for _ in range(20):
            await loop._score_group(group((1, 1, 1, 1)))

    with pytest.raises(RunError, match="no signal: in the last 16 steps"):
        asyncio.run(run())
    worker._loop_kwargs["dataset_start_index"] = 1  # as TRL sets it from a checkpoint
    asyncio.run(run())


@pytest.fixture
def make_worker(chat_model, monkeypatch):
    pytest.importorskip("aiohttp")
    from tests.engines import test_async

    return test_async.make_worker.__wrapped__(chat_model, monkeypatch)


class Failing(Judge):
    """Knows letters up to a prompt count, and then fails."""

    name = "failing"

    def __init__(self, known):
        self.known = known

    def judge(self, groups):
        found = []
        for group in groups:
            self.known -= 1
            labels = tuple(first_letters(group.texts))
            gone = Judgement(None, reason="timeout", detail="Gone")
            found.append(Judgement(labels) if self.known >= 0 else gone)
        return found


def failing(known):
    return Failing(known)


JUDGE = {"judge": "tests.engines.test_stop_rule:failing", "known": 6}
ARMS = {"poly_epo": {"method": "poly_epo", "set_size": 2, "judge": JUDGE}}


def test_an_arm_stops_and_goes_on_with_the_same_command(make_resolved, base, tmp_path):
    resolved = make_resolved(arms=ARMS, steps=20, model=str(base))
    arms = LanguageModelArms(resolved, tmp_path, tmp_path)
    with pytest.raises(RunError, match=r"18 of the last 24 prompts \(judge: timeout: 18\)"):
        do_at_once([arm_job(arms, "poly_epo")])
    run = Run(tmp_path).seed("poly_epo", 0)
    record = files.read_json(run.path / "run.json")
    assert record["status"] == "failed"
    assert "the credit is missing" in record["error"]
    assert usable_checkpoint(run) == run.checkpoint(10)
    off = make_resolved(arms=ARMS, steps=20, model=str(base), stop_rule=None)
    assert train_arm(off, "poly_epo", 0, base, run, lambda _: None, Stop())
    assert files.read_json(run.path / "run.json")["status"] == "finished"
    assert [one["step"] for one in files.read_lines(run.metrics_file)] == list(range(1, 21))


def test_an_arm_of_a_server_stops_and_goes_on(base, tmp_path):
    resolved, server = server_config(base, arms=ARMS, steps=20), FakeServer(base)
    run = Run(tmp_path).seed("poly_epo", 0)
    with pytest.raises(RunError, match=r"24 prompts \(judge: timeout: 18\).*judge was 'Gone'"):
        train_on_server(resolved, "poly_epo", 0, run, lambda _: None, Stop(), server.connect)
    off = server_config(base, arms=ARMS, steps=20, stop_rule=None)
    assert train_on_server(off, "poly_epo", 0, run, lambda _: None, Stop(), server.connect)
    assert [one["step"] for one in files.read_lines(run.metrics_file)] == list(range(1, 21))


@pytest.mark.parametrize("had_signal", [True, False])
def test_an_arm_of_a_server_that_resumes(base, tmp_path, had_signal):
    config = server_config(base, steps=12, checkpoint_every=2, stop_rule={"max_without_signal": 16})
    server, stop = FakeServer(base), Stop()
    run = Run(tmp_path).seed("grpo", 0)

    def train(stop, on_step=lambda _: None):
        return train_on_server(config, "grpo", 0, run, on_step, stop, server.connect)

    assert not train(stop, lambda step: stop.ask() if step == 2 else None)
    if had_signal:  # this base solves nothing
        before = [
            one | {"advantage/dead_groups": 0.5} for one in files.read_lines(run.metrics_file)
        ]
        files.write_lines(run.metrics_file, before)
        assert train(Stop())
        return
    with pytest.raises(RunError, match="no signal"):
        train(Stop())


def test_a_scorer_stops_a_client_of_a_user(base):
    from tests.engines.test_tinker import Lengths

    tokenizer = AutoTokenizer.from_pretrained(base)
    scorer = Scorer(Lengths(), Failing(0))
    ids = [[5, 6], [7], [8, 9], [6]]
    texts = tokenizer.batch_decode(ids)
    group = SampledGroup(Problem("p"), "p", texts, ids, [False] * 4)
    rng = np.random.default_rng(0)
    for _ in range(16):
        scorer.score([group], methods.poly_epo(2), rng)
    with pytest.raises(RunError, match="17 of the last 17 prompts"):
        scorer.score([group], methods.poly_epo(2), rng)
