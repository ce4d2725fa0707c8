"""`wrap_reward` with a faulty grader: engines train with it, and evaluation grades without it."""

import pytest

from setrl.logs.log import open_log
from setrl.logs.run import Run, Seed
from setrl.support import files
from setrl.support.errors import ConfigError, RunError
from setrl.tasks import domains
from setrl.train.lm.base_model import base_model
from setrl.train.lm.run import LanguageModelArms
from setrl.train.lm.server_arm import train_on_server
from setrl.train.lm.trl_arm import train_arm
from setrl.train.runs.pool import Stop
from studies.faulty import Misgraded
from tests.engines.fake_tinker import FakeServer
from tests.tiny import tiny

FAULTY = {"function": "studies.faulty:Misgraded"}
ALL_WRONG = {"false_positives": 1, "false_negatives": 1}
ERRORS = {"false_positives": 0.3, "false_negatives": 0.2, "seed": 5}
SIZE = {"steps": 4, "prompts_per_step": 4, "samples_per_prompt": 16, "rollouts_every": 1}
DOMAIN = domains.by_name("polynomial")


def faulty_config(**changes):
    taught = {"base_corpus": 2_500}  # enough for a few correct samples
    return tiny(**{**SIZE, **taught, "wrap_reward": {**FAULTY, **ERRORS}, **changes})


@pytest.fixture(scope="module")
def taught(tmp_path_factory):
    return base_model(faulty_config().base, tmp_path_factory.mktemp("cache"), show_progress=False)


def train(resolved, base, folder, stop_at=None):
    run, stop = Seed(folder), Stop()

    def on_step(step):
        if step == stop_at:
            stop.ask()

    train_arm(resolved, "poly_epo", 0, str(base), run, on_step, stop)
    return run


def graded_samples(run):
    """Return prompt, text, reward and truth of each recorded sample."""
    for path in run.rollouts.values():
        for group in open_log(path):
            for sample in group.samples:
                true = DOMAIN.read(group.prompt, sample.text).correct
                yield group.prompt, sample.text, sample.reward, true


def check_rewards(run):
    """Every reward is the truth, or turned round where the errors say so; both happen."""
    errors, kinds = Misgraded(print, **ERRORS), set()
    for prompt, text, reward, true in graded_samples(run):
        is_wrong = errors.is_misgraded(prompt, text, true)
        assert reward == float(true != is_wrong)
        kinds.add((true, is_wrong))
    return kinds


@pytest.fixture(scope="module")
def whole(taught, tmp_path_factory):
    return train(faulty_config(), taught, tmp_path_factory.mktemp("whole"))


def test_training_sees_the_errors_and_records_their_share(whole):
    kinds = check_rewards(whole)
    assert kinds == {(True, True), (True, False), (False, True), (False, False)}
    for line in files.read_lines(whole.metrics_file):
        graded = [
            sample.reward != DOMAIN.read(group.prompt, sample.text).correct
            for group in open_log(whole.rollout_file(line["step"]))
            for sample in group.samples
        ]
        assert line["reward/misgraded"] == pytest.approx(sum(graded) / len(graded))


def test_a_resumed_run_is_the_same(whole, taught, tmp_path):
    stopped = train(faulty_config(), taught, tmp_path, stop_at=2)
    assert not stopped.final.exists()
    train(faulty_config(), taught, tmp_path)
    assert (stopped.final / "model.safetensors").read_bytes() == (
        whole.final / "model.safetensors"
    ).read_bytes()
    assert list(graded_samples(stopped)) == list(graded_samples(whole))


def test_without_errors_no_reward_changes(taught, tmp_path):
    run = train(faulty_config(wrap_reward=None, steps=1), taught, tmp_path)
    assert all(reward == float(true) for _, _, reward, true in graded_samples(run))
    assert "reward/misgraded" not in files.read_lines(run.metrics_file)[0]


def test_evaluation_grades_without_errors(taught, tmp_path):
    found = {}
    for name, errors in (
        ("none", None),
        ("all", {**FAULTY, **ALL_WRONG}),
    ):
        resolved = faulty_config(
            wrap_reward=errors, eval_splits=["test"], eval_problems=4, eval_samples=16
        )
        arms = LanguageModelArms(resolved, tmp_path / name, tmp_path)
        run = Run(tmp_path / name).seed("poly_epo", 0)
        arms.evaluate_model(taught, run.path)
        found[name] = files.read_lines(run.path / "evaluation" / "test.jsonl")
    assert found["none"] == found["all"]
    assert {correct for line in found["all"] for correct in line["correct"]} == {0, 1}


def test_a_server_trains_with_the_same_errors(taught, tmp_path):
    engine = {"tinker": "http://127.0.0.1:9", "rank": 4}
    resolved = faulty_config(model=str(taught), engine=engine, steps=2)
    run, server = Seed(tmp_path / "run"), FakeServer(taught)
    assert train_on_server(resolved, "poly_epo", 0, run, lambda _: None, Stop(), server.connect)
    assert len(check_rewards(run)) == 4


@pytest.mark.parametrize(
    ("wrap", "message"),
    [
        ({**FAULTY, "false_positive": 0.1}, "did you mean 'false_positives'"),
        ({**FAULTY, "false_positives": 10}, r"wrap_reward: false_positives must be a number in"),
        ({"function": "studies.faulty:Misgradet"}, "did you mean 'Misgraded'"),
        ({"false_positives": 0.1}, "wrap_reward: a function is given as 'module:name'"),
        (0.1, "wrap_reward must be a mapping or null"),
    ],
)
def test_what_wraps_nothing_is_refused(wrap, message):
    with pytest.raises(ConfigError, match=message):
        tiny(wrap_reward=wrap)


def test_a_reward_that_is_no_verdict_ends_the_run(base, tmp_path):
    (tmp_path / "half_right.py").write_text(
        "def half(prompts, completions):\n    return [0.5] * len(prompts)\n"
    )
    (tmp_path / "train.jsonl").write_text('{"question": "y=x^2+3x+7, x!=4: "}\n' * 1)
    task = {
        "data": "train.jsonl",
        "splits": {"train": 1},
        "folder": str(tmp_path),
        "prompt": "question",
        "reward": {"function": "half_right:half"},
    }
    resolved = tiny(
        domain=None,
        task=task,
        model=str(base),
        arms={"grpo": {"method": "grpo"}},
        prompts_per_step=1,
        max_new_tokens=8,
        wrap_reward={**FAULTY, "false_positives": 0.1},
    )
    run = Seed(tmp_path / "run")
    with pytest.raises(RunError, match=r"needs a reward of 0 or 1, got 0\.5 from .*'half'"):
        train_arm(resolved, "grpo", 0, str(base), run, lambda _: None, Stop())
