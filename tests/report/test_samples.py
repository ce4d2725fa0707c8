"""Which samples are shown, and what is shown of them."""

import json

import pytest

from setrl.show.report.run import read_run
from setrl.show.report.samples import samples_by_step
from tests import fake_run


@pytest.fixture(scope="module")
def run(tmp_path_factory):
    folder = tmp_path_factory.mktemp("runs") / "r"
    return fake_run.make(folder, steps=40, evaluated=False)


def group(run, arm, step):
    path = run / arm / "seed_0" / "rollouts" / f"step_{step:06d}.jsonl"
    return json.loads(path.read_text().splitlines()[0])


def test_first_middle_and_last_step_of_every_arm(run):
    steps = samples_by_step(read_run(run))
    assert [step.step for step in steps] == [1, 20, 40]
    assert [arm.label for arm in steps[0].arms] == ["GRPO", "MaxPO", "Poly-EPO"]


def test_samples_are_those_of_the_first_prompt(run):
    last = samples_by_step(read_run(run))[-1].arms[0]
    logged = group(run, "grpo", 40)
    assert last.prompt == logged["prompt"]
    assert [s.text for s in last.samples] == [s["text"] for s in logged["samples"]]
    assert last.methods == ("used", "GRPO", "Poly-EPO", "MaxPO")
    assert last.num_correct == sum(s["reward"] > 0 for s in logged["samples"])
    names = {s["strategy"] for s in logged["samples"]} - {None}
    assert last.num_strategies == len(names)


def test_strength_is_relative_to_the_largest_of_the_column(run):
    arm = samples_by_step(read_run(run))[0].arms[1]
    for column in zip(*(sample.credits for sample in arm.samples), strict=True):
        assert max(credit.strength for credit in column) == 1
        biggest = max(column, key=lambda credit: abs(credit.value))
        assert biggest.strength == 1


def test_only_steps_that_all_arms_recorded(run, tmp_path):
    copy = fake_run.make(tmp_path / "r", steps=30, evaluated=False)
    for seed in (0, 1):
        (copy / f"maxpo/seed_{seed}/rollouts/step_000030.jsonl").unlink()
    assert [step.step for step in samples_by_step(read_run(copy))] == [1, 10, 20]
    for path in (copy / "maxpo").glob("seed_*/rollouts/*"):
        path.unlink()
    assert [len(step.arms) for step in samples_by_step(read_run(copy))] == [2, 2, 2]


def test_long_texts_and_many_samples_are_cut_and_counted(tmp_path):
    run = fake_run.make(tmp_path / "r", arms=("grpo",), seeds=(0,), steps=1, evaluated=False)
    path = run / "grpo/seed_0/rollouts/step_000001.jsonl"
    record = json.loads(path.read_text().splitlines()[0])
    record["samples"] = [{**record["samples"][0], "text": "9" * 5000} for _ in range(40)]
    path.write_text(json.dumps(record) + "\n")
    [step] = samples_by_step(read_run(run))
    assert len(step.arms[0].samples) == 32
    assert step.arms[0].left_out == 8
    assert step.arms[0].num_samples == 40
    assert len(step.arms[0].samples[0].text) < 700


def test_samples_without_strategies_or_counterfactuals(tmp_path):
    run = fake_run.make(tmp_path / "r", arms=("grpo",), seeds=(0,), steps=1, evaluated=False)
    path = run / "grpo/seed_0/rollouts/step_000001.jsonl"
    sample = {"text": "7", "reward": None, "strategy": None, "read": None, "advantage": 0.0}
    path.write_text(json.dumps({"prompt": "p", "samples": [sample] * 2}) + "\n")
    arm = samples_by_step(read_run(run))[0].arms[0]
    assert arm.methods == ("used",)
    assert (arm.num_strategies, arm.num_correct) == (None, None)
    assert arm.samples[0].credits[0].strength == 0
