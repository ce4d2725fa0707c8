"""Arms that a server trains: their folders, and keys that a server would not follow."""

import shutil
from dataclasses import replace
from itertools import chain

import numpy as np
import pytest
from transformers import GenerationConfig

from setrl import methods
from setrl.evaluate.collecting import draw_and_read
from setrl.logs.log import open_log
from setrl.logs.run import Seed
from setrl.support import files
from setrl.support.errors import ConfigError, RunError
from setrl.train.lm.resolved import ResolvedConfig
from setrl.train.lm.served_policy import ServedPolicy
from setrl.train.lm.server_arm import check_server_of, learning_rates, train_on_server
from setrl.train.lm.trl_arm import train_arm
from setrl.train.runs.pool import Stop
from tests.engines.fake_tinker import FakeServer
from tests.tiny import tiny

ENGINE = {"tinker": "http://127.0.0.1:9", "rank": 4}


def server_config(model, **changes):
    return tiny(model=str(model), **{"engine": ENGINE, "steps": 3, **changes})


@pytest.fixture(scope="module")
def trained(base, tmp_path_factory):
    """A config, the folder of a run that a server trained, and the server."""
    resolved, server = server_config(base), FakeServer(base)
    run, steps = Seed(tmp_path_factory.mktemp("run") / "poly_epo" / "seed_0"), []
    assert train_on_server(resolved, "poly_epo", 0, run, steps.append, Stop(), server.connect)
    assert steps == [0, 1, 2, 3]
    return resolved, run, server


def test_metrics_are_those_of_every_engine(trained):
    _, run, _ = trained
    records = list(files.read_lines(run.metrics_file))
    assert [record["step"] for record in records] == [1, 2, 3]
    for key in ("reward/mean", "strategies/per_prompt", "advantage/dead_groups", "length/mean"):
        assert all(key in record for record in records)
    assert max(record["policy/sampler_gap"] for record in records) < 1e-5


def test_recorded_advantages_are_those_of_the_core(trained):
    _, run, _ = trained
    assert list(run.rollouts) == [1, 3]
    for group in chain.from_iterable(map(open_log, run.rollouts.values())):
        rewards_BN = np.array([group.column("reward")])
        strategies_BN = np.array([group.column("strategy")])
        want = methods.poly_epo(2).advantages(rewards_BN, strategies=strategies_BN).values_BN[0]
        np.testing.assert_allclose(group.column("advantage"), want, atol=1e-12)


def test_a_finished_run_is_not_trained_again(trained):
    resolved, run, server = trained
    before, steps = dict(server.counts), []
    assert train_on_server(resolved, "poly_epo", 0, run, steps.append, Stop(), server.connect)
    assert steps == [resolved.config.steps]
    assert server.counts == before


def test_the_last_model_is_evaluated_through_the_server(trained, tmp_path):
    resolved, run, server = trained
    served = ServedPolicy.of(resolved, run.final)
    assert served.path.startswith("tinker://")
    problems = resolved.task.problems("test", 2, 0)
    model, held = replace(served, connect=server.connect), set(server.disk)
    drawn = draw_and_read(problems, model, 3, 0, tmp_path / "test.jsonl", show_progress=False)
    assert (drawn.problems, drawn.unfinished) == (2, 0)
    assert ServedPolicy.of(resolved, None).path is None
    assert (server.places, server.sessions, set(server.disk)) == (set(), [], held)


def test_a_sample_of_a_server_ends_with_any_token_that_the_model_names(trained, tmp_path):
    served = ServedPolicy.of(trained[0])
    own = served._tokenizer.eos_token_id
    assert served.sampler(None).ends == (own,)
    shutil.copytree(served.model, tmp_path / "model")
    GenerationConfig(eos_token_id=[own, own + 1]).save_pretrained(tmp_path / "model")
    named = replace(served, model=str(tmp_path / "model"))
    assert named.sampler(None).ends == (own, own + 1)


@pytest.mark.parametrize("schedule", ["constant", "linear", "cosine"])
def test_learning_rates_are_those_of_transformers(base, schedule):
    import torch
    from transformers import get_scheduler

    resolved = server_config(base, lr_schedule=schedule, steps=5)
    optimizer = torch.optim.SGD([torch.zeros(1)], lr=resolved.config.learning_rate)
    theirs = get_scheduler(schedule, optimizer, num_warmup_steps=0, num_training_steps=5)
    rate = learning_rates(schedule, resolved.config.learning_rate, 5)
    for step in range(1, 6):
        assert rate(step) == pytest.approx(theirs.get_last_lr()[0], rel=1e-9)
        optimizer.step()
        theirs.step()


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"engine": {"tinkr": "http://x"}}, "unknown key of engine 'tinkr'; did you mean 'tinker'"),
        ({"engine": {}}, "the key 'tinker' of engine is missing"),
        ({"engine": {"tinker": "localhost:8000"}}, "must be a URL such as"),
        ({"engine": {**ENGINE, "staleness": -1}}, "staleness must be at least 0, got -1"),
        ({"engine": {**ENGINE, "loss": "dro"}}, "loss"),
        ({"num_iterations": 2}, "num_iterations must be 1 with the key `engine`, got 2"),
        ({"loss_type": "dapo"}, "loss_type must be 'dr_grpo' with the key `engine`"),
        ({"arms": {"a": {"method": "grpo", "beta": 0.1}}}, "beta must be 0 with the key"),
    ],
)
def test_what_a_server_would_not_follow_is_refused(changes, message):
    with pytest.raises(ConfigError, match=message):
        server_config("mine", **changes)


def test_an_engine_needs_a_model():
    with pytest.raises(ConfigError, match="model must name the model of the server"):
        tiny(engine=ENGINE)


def test_an_address_at_which_nothing_answers(base):
    with pytest.raises(ConfigError, match=r"nothing answers at http://127.0.0.1:9 .*start the"):
        check_server_of(server_config(base).engine, str(base))


def test_an_engine_is_read_from_a_file(tmp_path):
    path = tmp_path / "config.yaml"
    path.write_text(
        "name: a\ndomain: polynomial\nmodel: m\narms: {g: {method: grpo}}\n"
        "engine: {tinker: 'http://127.0.0.1:8000', staleness: 1}\n"
    )
    spec = ResolvedConfig.load(path).engine
    assert (spec.tinker, spec.staleness, spec.rank) == ("http://127.0.0.1:8000", 1, 32)


def quarter(reward):
    """A graded outcome."""

    def graded(completions, **_):
        return [0.25] * len(completions)

    return graded


def test_a_graded_outcome_stops_before_an_update_as_in_this_process(base, make_resolved, tmp_path):
    """Training could go on, but evaluation asks which samples are right."""
    keys = {"wrap_reward": {"function": "tests.lm.test_server:quarter"}}
    keys |= {"arms": {"maxpo": {"method": "maxpo", "set_size": 2}}}
    sentence = "'graded' says which samples are right, and must return 1 or 0, got 0.25"
    resolved, server = server_config(base, **keys), FakeServer(base)
    run, here = Seed(tmp_path / "server"), Seed(tmp_path / "here")
    with pytest.raises(RunError, match=sentence):
        train_on_server(resolved, "maxpo", 0, run, lambda _: None, Stop(), server.connect)
    assert not server.counts.get("optim_step")
    with pytest.raises(RunError, match=sentence):
        train_arm(make_resolved(**keys), "maxpo", 0, base, here, lambda _: None, Stop())
