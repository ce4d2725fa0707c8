import json
import threading
from concurrent.futures import Future, ThreadPoolExecutor

import numpy as np
import pytest
import torch
from datasets import Dataset

from setrl import methods
from setrl.judges import Group, Judge, Judgement
from setrl.logs import open_log
from setrl.models.served.endpoint import Endpoint, Prices, Usage
from setrl.models.small import sampler
from setrl.support import files
from setrl.train.gathering.judging import JudgeQueue, length_of_union, make_judge, strategies_of
from setrl.train.gathering.metrics import batch_metrics, rollout_records
from setrl.train.scoring.batch import JudgingTimes
from setrl.train.trl import SetGRPOTrainer
from tests.engines.test_trainer import PROMPTS, arguments, first_letters, length, make, weights


class Letters(Judge):
    """A judge like `first_letters`; it can fail on prompts, and answer in the background."""

    name = "letters"

    def __init__(self, fails=()):
        self.fails, self.asked = fails, []

    def judge(self, groups):
        self.asked += groups
        return [self._one(group) for group in groups]

    def _one(self, group):
        if group.prompt in self.fails:
            return Judgement(None, reason="timeout")
        return Judgement(tuple(first_letters(group.texts)))


class Background(Letters):
    """The same, whose answers come when `gate` opens."""

    def __init__(self):
        super().__init__()
        self.gate, self.threads = threading.Event(), ThreadPoolExecutor(4)

    def submit(self, group) -> Future:
        self.asked.append(group)

        def answer():
            self.gate.wait(10)
            return self._one(group)

        return self.threads.submit(answer)


def trainer_with(base, folder, judge, **changes):
    return SetGRPOTrainer(
        str(base),
        length,
        arguments(folder, **changes),
        Dataset.from_dict({"prompt": PROMPTS * 6}),
        method=methods.poly_epo(2),
        judge=judge,
        sampler=sampler.sample_ids,
        judge_parts=1,
    )


def test_a_judge_trains_as_the_same_labels_from_a_function_do(base, tmp_path):
    by_function = make(base, tmp_path, methods.poly_epo(2), sampler=sampler.sample_ids)
    by_function.train()
    judge = Letters()
    by_judge = trainer_with(base, tmp_path, judge)
    by_judge.train()
    torch.testing.assert_close(weights(by_judge), weights(by_function), rtol=0, atol=0)
    assert all(isinstance(group, Group) and len(group.texts) <= 4 for group in judge.asked)
    assert len(judge.asked) == 3 * 4  # once about each prompt of each step


def test_a_prompt_that_cannot_be_judged_is_left_out_and_counted(base, tmp_path):
    batches = []
    trainer = trainer_with(base, tmp_path, Letters(fails={PROMPTS[1]}), max_steps=1)
    trainer.on_batch = batches.append
    trainer.train()
    batch = batches[0]
    failed = [prompt == PROMPTS[1] for prompt in batch.samples.prompts]
    assert batch.judging.unknown == pytest.approx(np.mean(failed))
    assert any(failed)
    assert np.isnan(batch.samples.strategies[failed]).all()
    assert (batch.advantages.values_BN[failed] == 0).all()
    assert batch.advantages.skipped_B.tolist() == failed


def test_groups_are_asked_about_once_while_samples_are_drawn(base, tmp_path):
    judge = Background()
    trainer = trainer_with(base, tmp_path, judge, max_steps=1)
    trainer.judge_parts = 4
    drawn = []

    def draw(model, prompt_ids, *more, **options):
        drawn.append(len(judge.asked))
        if len(drawn) == 4:
            judge.gate.set()
        return sampler.sample_ids(model, prompt_ids, *more, **options)

    trainer.sampler = draw
    batches = []
    trainer.on_batch = batches.append
    trainer.train()
    assert drawn == [0, 1, 2, 3]  # each part was asked about before the next was drawn
    assert len(judge.asked) == 4 == len(set(judge.asked))
    asked_for = {(group.prompt, group.texts) for group in judge.asked}
    batch = batches[0]
    assert asked_for == set(
        zip(batch.samples.prompts, map(tuple, batch.samples.texts), strict=True)
    )
    assert batch.judging.worked_s > 0


@pytest.mark.parametrize("name", ["exact", "oracle:quadratic"])
def test_a_name_in_the_place_of_a_judge_is_answered_in_words(base, tmp_path, name):
    with pytest.raises(TypeError, match=rf"judge must be a judge, such as .*, got '{name}'"):
        trainer_with(base, tmp_path, name)


def test_a_queue_counts_time_and_keeps_the_order():
    judge = Background()
    judge.gate.set()
    queue = JudgeQueue(judge)
    groups = [Group.of_texts(str(i), (f"{i}a", f"{i}b")) for i in range(3)]
    queue.ask(groups[2])
    judgements, times = queue.collect(groups)
    assert [one.labels_N for one in judgements] == [
        tuple(first_letters(group.texts)) for group in groups
    ]
    assert len(judge.asked) == 3
    assert times.worked_s >= 0
    assert times.hidden <= 1


def test_time_in_which_no_question_is_open_is_not_the_judge_s():
    rng = np.random.default_rng(0)
    for _ in range(20):
        starts = rng.integers(0, 30, size=rng.integers(0, 6))
        spans = [(int(start), int(start + rng.integers(0, 8))) for start in starts]
        moments = {moment for start, stop in spans for moment in range(start, stop)}
        assert length_of_union(spans) == len(moments)


def test_labels_of_judgements():
    unknown = Judgement(None, reason="timeout")
    shared = Judgement((0, 1), names_N=("plan", "plan"))  # a name that does not tell them apart
    named = Judgement((0, -1), names_N=("plan", None))
    odd = Judgement((0, 1), names_N=("-1", None))  # a name that would be no strategy
    assert strategies_of([Judgement((0, -1)), unknown, shared, named, odd], 2) == [
        *(0, -1),
        *(None, None),
        *(0, 1),
        *("plan", -1),
        *(0, 1),
    ]


def test_strategy_function_and_judge_exclude_each_other(base, tmp_path):
    with pytest.raises(ValueError, match="strategy_func or judge, not both"):
        SetGRPOTrainer(
            str(base),
            length,
            arguments(tmp_path),
            Dataset.from_dict({"prompt": PROMPTS}),
            method=methods.poly_epo(2),
            strategy_func=first_letters,
            judge=Letters(),
        )


NOISY = "studies.faulty:NoisyJudge"


@pytest.mark.parametrize(
    ("spec", "message"),
    [
        ("orcale", "unknown judge 'orcale'; did you mean 'oracle'"),
        ({"flips": 0.5}, "needs the key 'judge'"),
        ({"judge": NOISY, "of": "exact", "flip": 0.5}, "'flip'; did you mean 'flips'"),
        ({"judge": NOISY, "of": "exact"}, "needs the option 'flips'"),
        ({"judge": NOISY, "of": "exact", "flips": 2}, r"flips must be in \[0, 1\], got 2"),
        ({"judge": "lm", "endpoint": "here", "model": "m"}, "url must start with http"),
    ],
)
def test_wrong_judges_are_named(spec, message, tmp_path):
    with pytest.raises(ValueError, match=message):
        make_judge(spec, tmp_path)


def test_a_comparison_trains_with_a_judge(make_resolved, base, tmp_path):
    from setrl.logs.run import Seed
    from setrl.train.lm.trl_arm import train_arm
    from setrl.train.runs.pool import Stop

    judge = {"judge": NOISY, "of": "oracle:polynomial", "flips": 0.5}
    arm = {"method": "poly_epo", "set_size": 2, "judge": judge}
    resolved = make_resolved(arms={"noisy": arm}, steps=2)
    run = Seed(tmp_path / "run")
    train_arm(resolved, "noisy", 0, base, run, lambda _: None, Stop())
    records = [json.loads(line) for line in run.metrics_file.read_text().splitlines()]
    assert [record["judge/unknown"] for record in records] == [0.0, 0.0]
    assert all("time/judging" in record for record in records)


def test_a_record_says_that_a_prompt_was_not_judged(base, tmp_path):
    batches = []
    trainer = trainer_with(base, tmp_path, Letters(fails={PROMPTS[1]}), max_steps=1)
    trainer.on_batch = batches.append
    trainer.train()
    path = tmp_path / "rollouts.jsonl"
    files.write_lines(path, rollout_records(batches[0], None, 1))
    for group, prompt in zip(open_log(path), batches[0].samples.prompts, strict=True):
        is_unknown = any(sample.strategy is None for sample in group.samples)
        assert is_unknown == (prompt == PROMPTS[1])


def test_the_hidden_share_is_a_share():
    assert JudgingTimes(waited_s=1.0, worked_s=4.0, unknown=0).hidden == 0.75
    assert JudgingTimes(waited_s=1.01, worked_s=1.0, unknown=0).hidden == 0
    assert np.isnan(JudgingTimes(waited_s=0.0, worked_s=0.0, unknown=0).hidden)


class Counted(Letters):
    """A judge that asks a server: two requests a group, 100 tokens sent and 10 got."""

    def __init__(self, prices):
        super().__init__()
        self.counts = Usage()
        self.endpoint = Endpoint("http://localhost/v1", "m", prices=prices)

    def judge(self, groups):
        self.counts.requests += 2 * len(groups)
        self.counts.prompt_tokens += 100 * len(groups)
        self.counts.reply_tokens += 10 * len(groups)
        return super().judge(groups)


@pytest.mark.parametrize("prices", [Prices(), Prices(prompt=2.0, reply=10.0)])
def test_what_a_judge_asked_of_its_server_is_logged_a_step(base, tmp_path, prices):
    batches = []
    trainer = trainer_with(base, tmp_path, Counted(prices), max_steps=2)
    trainer.on_batch = batches.append
    trainer.train()
    assert len(batches) == 2
    for batch in batches:  # the same in every step: a difference, not a total
        groups = len(batch.samples.prompts)
        found = batch_metrics(batch)
        assert found["judge/requests"] == 2 * groups
        assert (found["judge/prompt_tokens"], found["judge/reply_tokens"]) == (
            100 * groups, 10 * groups,
        )  # fmt: skip
        if prices == Prices():
            assert "judge/cost" not in found
        else:
            assert found["judge/cost"] == pytest.approx(groups * 300 / 1e6)


def test_a_judge_without_a_server_logs_no_tokens(base, tmp_path):
    batches = []
    trainer = trainer_with(base, tmp_path, Letters(), max_steps=1)
    trainer.on_batch = batches.append
    trainer.train()
    assert not {"judge/requests", "judge/cost"} & batch_metrics(batches[0]).keys()
