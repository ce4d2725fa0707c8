"""The Tinker engine against a server in this process, which dies, forgets and loses replies."""

import asyncio
import dataclasses
import re
import shutil
import sys
import threading
import traceback
import types
from pathlib import Path

import numpy as np
import pytest
import torch
from transformers import AutoTokenizer

from setrl import methods
from setrl.rewards import Combine, Truncation
from setrl.support import files
from setrl.support.errors import ConfigError, DataError, RunError
from setrl.tasks import Problem, Strategy
from setrl.train.gathering.scorer import SampledGroup, Scorer
from setrl.train.tinker import client as engine
from setrl.train.tinker import server as tinker_server
from setrl.train.tinker.journal import CreditedSample, Journal, JournalBatch, Saved
from tests.engines.fake_tinker import FakeServer
from tests.models.server import FakeServer as FakeServerOfModels
from tests.tiny_model import make

STEPS, B, N = 4, 2, 4


def length(completions, **_):
    """A reward that random texts differ in."""
    return [float(len(text) % 3 == 0) for text in completions]


def first_letter(completions, **_):
    return [text[:1] or None for text in completions]


@dataclasses.dataclass(frozen=True)
class Lengths:
    """A task in which random texts are right now and then."""

    rewards: tuple = (length,)
    combine: Combine = Combine((1.0,))  # noqa: RUF009
    strategy: Strategy = Strategy(first_letter)  # noqa: RUF009


@pytest.fixture(scope="module")
def base(tmp_path_factory):
    torch.set_num_threads(1)
    return make(tmp_path_factory.mktemp("model"))


@pytest.fixture(autouse=True)
def no_pauses(monkeypatch):
    monkeypatch.setattr(engine.time, "sleep", lambda seconds: None)


METHOD = methods.poly_epo(2)
PROMPTS = [[5, 6, 7], [8, 9]]


@pytest.fixture(scope="module")
def tokenizer(base):
    return AutoTokenizer.from_pretrained(base)


def maker(tokenizer, scored=None):
    scorer = Scorer(Lengths())

    def make_batch(step, version, sampler):
        drawn = list(sampler.sample(PROMPTS, N, [100 * step, 100 * step + 1]))
        groups = [
            SampledGroup(Problem("p"), "p", texts, one.tokens_N, one.cut_N)
            for one in drawn
            for texts in [tokenizer.batch_decode(one.tokens_N)]
        ]
        batch = scorer.score(groups, METHOD, np.random.default_rng(step))
        if scored is not None:
            scored.append(batch)
        samples = [
            CreditedSample(prompt, tokens, logprobs, float(value))
            for prompt, one, values in zip(PROMPTS, drawn, batch.advantages.values_BN, strict=True)
            for tokens, logprobs, value in zip(one.tokens_N, one.logprobs_N, values, strict=True)
        ]
        return JournalBatch(step, version, samples, {"step": step})

    return make_batch


def settings(server, **changes):
    values = {"steps": STEPS, "learning_rate": lambda step: 0.05, "save_every": 2}
    values |= {"reply_s": 20, "patience_s": 5}
    return engine.ClientSettings(server.name, **{**values, **changes})


def trainer(server, folder, tokenizer, make_batch=None, **changes):
    own = {key: changes.pop(key) for key in ("on_batch", "stop") if key in changes}
    return engine.SetTinkerTrainer(
        server.connect,
        settings(server, **changes),
        Journal(folder, {"model": server.name}),
        make_batch or maker(tokenizer),
        lambda client: tinker_server.TinkerSampler(client, 6, (1,), reply_s=20),
        **own,
    )


def weights(server, saved):
    kept = server.disk[saved.path]
    return torch.cat([one.flatten() for one in kept.model.parameters()]), kept.seen


@pytest.fixture(scope="module")
def whole(base, tokenizer, tmp_path_factory):
    """The weights of a run without faults, and the batches that are in them."""
    server = FakeServer(base)
    return weights(server, trainer(server, tmp_path_factory.mktemp("whole"), tokenizer).train())


def test_the_run_trains(base, whole):
    start = torch.cat([one.flatten() for one in FakeServer(base).base.parameters()])
    assert len(whole[1]) == STEPS
    assert (whole[0] - start).abs().max() > 0.01


FAULTS = [  # the name of a call, which of them, and what happens
    ("forward_backward", 2, "after"),
    ("optim_step", 3, "before"),
    ("optim_step", 3, "after"),
    ("optim_step", 4, "kill"),
    ("save_state", 2, "after"),
    ("sample", 4, "kill"),
    ("delete", 1, "before"),
    ("delete", 1, "after"),
    ("delete", 1, "kill"),
]


@pytest.mark.parametrize(("name", "at", "kind"), FAULTS)
def test_no_batch_is_lost_or_trained_on_twice(base, tokenizer, tmp_path, whole, name, at, kind):
    server = FakeServer(base, lambda call, count: kind if (call, count) == (name, at) else None)
    one = trainer(server, tmp_path, tokenizer)
    found, seen = weights(server, one.train())
    one.final_sampler()
    assert server.sessions == []
    assert server.places == set()
    assert steps_of(server) == ({2, 4}, 0)  # of the models before the fault there is nothing else
    assert one.faults >= (name != "delete")  # that one costs no restart
    assert seen == whole[1]
    assert torch.equal(found, whole[0])


def steps_of(server):
    """The steps of the saved weights to go on from, and how many weights for sampling there are."""
    names = [path.split("/")[-1] for path in server.disk]
    saved = {int(name[5:11]) for name in names if name.startswith("step-")}
    return saved, sum(name.startswith("ss") for name in names)


@pytest.mark.parametrize(
    ("keep", "kept"), [(1, ({4}, 2)), (2, ({3, 4}, 2)), (None, ({0, 1, 2, 3, 4}, 4))]
)
def test_older_weights_are_removed_from_the_server(base, tokenizer, tmp_path, keep, kept):
    server = FakeServer(base)
    others = {"tinker://other/weights/of-somebody": 1, "tinker://model_0/sampler_weights/final": 1}
    server.disk |= others
    trainer(server, tmp_path, tokenizer, save_every=1, keep=keep).train()
    assert others.items() <= server.disk.items()
    assert steps_of(server) == kept


@pytest.mark.parametrize("fault", ["before", "after"])
def test_weights_that_could_not_be_removed_are_removed_after_the_next_save(
    base, tokenizer, tmp_path, fault
):
    kinds = {("delete", 1): fault}
    server = FakeServer(base, lambda call, count: kinds.get((call, count)))
    trainer(server, tmp_path, tokenizer, save_every=1).train()
    assert steps_of(server) == ({3, 4}, 2)
    assert len(Journal(tmp_path, {"model": server.name}).saves()) == 2


def test_a_copied_folder_leaves_the_weights_of_the_first_run(base, tokenizer, tmp_path):
    server, done = FakeServer(base), []
    trainer(
        server,
        tmp_path / "one",
        tokenizer,
        on_batch=lambda batch, measured: done.append(batch.step),
        stop=lambda: len(done) == 2,
    ).train()
    shutil.copytree(tmp_path / "one", tmp_path / "copy")
    first = {path for path in server.disk if "/weights/" in path}
    trainer(server, tmp_path / "copy", tokenizer, save_every=1, keep=1).train()
    assert first <= set(server.disk)
    assert trainer(server, tmp_path / "one", tokenizer).train().step == STEPS


def test_each_fault_frees_a_place(base, tokenizer, tmp_path, whole):
    """More faults than the server has places."""
    server = FakeServer(
        base, lambda call, count: "after" if call == "optim_step" and count % 2 else None
    )
    one = trainer(server, tmp_path, tokenizer, save_every=1)
    found, _ = weights(server, one.train())
    assert one.faults == STEPS
    assert server.places == set()
    assert torch.equal(found, whole[0])


def test_the_model_of_a_killed_client_is_unloaded_by_the_next(base, tokenizer, tmp_path):
    def die(batch, measured):
        if batch.step == 3:
            raise KeyboardInterrupt

    server = FakeServer(base)
    one = trainer(server, tmp_path, tokenizer, on_batch=die)
    one._leave_server = lambda: None  # a killed client does not
    with pytest.raises(KeyboardInterrupt):
        one.train()
    assert len(server.places) == 1
    shutil.copytree(tmp_path, tmp_path / "copy")
    trainer(server, tmp_path / "copy", tokenizer).train()
    assert len(server.places) == 1  # a copy leaves it alone
    trainer(server, tmp_path, tokenizer).train()
    assert server.places == set()


def test_a_damaged_record_of_models(tmp_path):
    journal = Journal(tmp_path, {})
    journal.add_model("model_1")
    assert Journal(tmp_path, {}).models() == ["model_1"]
    files.write_json(tmp_path / "models.json", {"models": []})
    with pytest.raises(DataError, match=r"models.json is damaged .'folder'.: remove it"):
        journal.models()


def test_a_server_that_is_away_when_the_session_begins(base, tokenizer, tmp_path, whole):
    """The released client opens its session when it is first used, and then fails."""

    class Away:
        @property
        def holder(self):
            raise ConnectionError("connection refused")

    server = FakeServer(base)
    one = trainer(server, tmp_path, tokenizer)
    clients = iter([Away(), Away()])
    one.connect = lambda: next(clients, None) or server.connect()
    found, _ = weights(server, one.train())
    assert one.faults == 2
    assert torch.equal(found, whole[0])


def test_a_step_is_recorded_before_it_is_saved(base, tokenizer, tmp_path):
    """So a client that dies between the two has no saved step without a record."""
    recorded, server = [], FakeServer(base)

    def fault(call, count):
        if call == "save_state":
            assert len(recorded) == (0, 2, 4)[count - 1]

    server.fault = fault
    trainer(
        server, tmp_path, tokenizer, on_batch=lambda batch, measured: recorded.append(batch.step)
    ).train()
    assert recorded == [1, 2, 3, 4]


def test_faults_in_a_row(base, tokenizer, tmp_path, whole):
    def fault(call, count):
        return "after" if call == "optim_step" and count in (2, 3, 6) else None

    server = FakeServer(base, fault)
    found, seen = weights(server, trainer(server, tmp_path, tokenizer).train())
    assert seen == whole[1]
    assert torch.equal(found, whole[0])


@pytest.mark.parametrize("stopped", [3])
def test_a_stopped_run_goes_on(base, tokenizer, tmp_path, whole, stopped):
    server, done = FakeServer(base), []
    first = trainer(
        server,
        tmp_path,
        tokenizer,
        on_batch=lambda batch, measured: done.append(batch.step),
        stop=lambda: len(done) == stopped,
    )
    assert first.train().step == stopped
    found, seen = weights(server, trainer(server, tmp_path, tokenizer).train())
    assert seen == whole[1]
    assert torch.equal(found, whole[0])


def test_a_killed_client_goes_on_with_the_batches_that_it_kept(base, tokenizer, tmp_path, whole):
    def die(batch, measured):
        if batch.step == 3:
            raise KeyboardInterrupt

    server = FakeServer(base)
    with pytest.raises(KeyboardInterrupt):
        trainer(server, tmp_path, tokenizer, on_batch=die).train()
    assert Journal(tmp_path, {"model": server.name}).batch(3) is not None
    found, seen = weights(server, trainer(server, tmp_path, tokenizer).train())
    assert seen == whole[1]
    assert torch.equal(found, whole[0])


@pytest.mark.parametrize("staleness", [0, 1, 2])
def test_batches_are_never_staler_than_the_bound(base, tokenizer, tmp_path, staleness):
    versions, gaps = {}, []

    def on_batch(batch, measured):
        versions[batch.step] = batch.step - 1 - batch.version
        assert measured["policy/staleness"] == versions[batch.step]
        gaps.append(measured["policy/sampler_gap"])

    server = FakeServer(base)
    trainer(server, tmp_path, tokenizer, staleness=staleness, on_batch=on_batch).train()
    assert versions == {step: min(step - 1, staleness) for step in range(1, STEPS + 1)}
    assert gaps[0] < 1e-5  # sampler and trainer have the same weights
    assert (max(gaps) < 1e-5) == (staleness == 0)


@pytest.mark.parametrize("staleness", [0, 1, 2])
def test_no_samples_are_drawn_while_weights_change(base, tokenizer, tmp_path, staleness):
    """The server would replace the newer weights by the older ones."""
    trained, plain = [threading.Event() for _ in range(STEPS + 1)], maker(tokenizer)

    def late(step, version, sampler):
        trained[max(step - 1, 0)].wait(0.3 if staleness else 0)
        return plain(step, version, sampler)

    server = FakeServer(base)
    one = trainer(
        server,
        tmp_path,
        tokenizer,
        late,
        staleness=staleness,
        on_batch=lambda batch, measured: trained[batch.step].set(),
    )
    _, seen = weights(server, one.train())
    assert len(seen) == STEPS
    assert server.overwritten == 0


def test_batches_that_were_lost_with_their_model_are_sampled_again(base, tokenizer, tmp_path):
    """One fault, not one for each of them."""
    kinds = {("sample", 3): "before"}
    server = FakeServer(base, lambda call, count: kinds.get((call, count)))
    one = trainer(server, tmp_path, tokenizer, staleness=2)
    _, seen = weights(server, one.train())
    assert len(seen) == STEPS
    assert one.faults == 1


def test_the_share_of_ratios_that_are_clipped():
    values = np.log([0.5, 0.79, 0.81, 1.19, 1.21])
    sample = CreditedSample([1], [2] * 5, [0.0] * 5, 1.0)
    output = {"logprobs": types.SimpleNamespace(to_numpy=lambda: values)}
    answer = types.SimpleNamespace(loss_fn_outputs=[output])
    batch = JournalBatch(1, 0, [sample], {})
    clip = {"clip_low_threshold": 0.8, "clip_high_threshold": 1.2}
    assert engine._measure_agreement(answer, batch, clip)["policy/outside_clip"] == pytest.approx(
        3 / 5
    )
    assert "policy/outside_clip" not in engine._measure_agreement(answer, batch, {})


@pytest.mark.parametrize("staleness", [1])
def test_the_bound_holds_after_a_fault(base, tokenizer, tmp_path, staleness):
    def fault(call, count):
        return "kill" if call == "optim_step" and count == 3 else None

    stale = []
    server = FakeServer(base, fault)
    one = trainer(
        server,
        tmp_path,
        tokenizer,
        staleness=staleness,
        on_batch=lambda batch, measured: stale.append(measured["policy/staleness"]),
    )
    _, seen = weights(server, one.train())
    assert len(seen) == STEPS
    assert max(stale) <= staleness


def test_a_slow_judge_works_while_the_step_before_is_trained_on(base, tokenizer, tmp_path):
    trained, plain = threading.Event(), maker(tokenizer)

    def slow(step, version, sampler):
        batch = plain(step, version, sampler)
        if step == 2:
            assert trained.wait(20), "step 1 was not trained on while step 2 was judged"
        return batch

    def on_batch(batch, measured):
        trained.set()

    server = FakeServer(base)
    one = trainer(server, tmp_path, tokenizer, slow, staleness=1, on_batch=on_batch)
    assert one.train().step == STEPS


def test_the_advantages_that_are_sent_are_those_of_the_core(base, tokenizer, tmp_path):
    scored, sent = [], []
    server = FakeServer(base)
    one = trainer(
        server,
        tmp_path,
        tokenizer,
        maker(tokenizer, scored),
        on_batch=lambda batch, measured: sent.append(batch),
    )
    one.train()
    assert any(batch.advantages.values_BN.any() for batch in scored)
    for batch, samples in zip(scored, sent, strict=True):
        texts = [text for texts in batch.samples.texts for text in texts]
        rewards_BN = np.array(length(texts)).reshape(B, N)
        letters = first_letter(texts)
        strategies_BN = np.array([sorted(set(letters)).index(x) for x in letters]).reshape(B, N)
        want = METHOD.advantages(rewards_BN, strategies=strategies_BN).values_BN
        for sample, value in zip(samples.samples, want.flatten(), strict=True):
            inputs = engine.datum(sample).loss_fn_inputs
            found = max(inputs["advantages"].tolist(), key=abs)
            np.testing.assert_allclose(found, value, rtol=1e-6)


def test_a_datum_credits_each_token_of_the_sample_and_none_of_the_prompt():
    found = engine.datum(CreditedSample([5, 6, 7], [8, 1], [-0.5, -0.25], 2.0))
    assert found.model_input.to_ints() == [5, 6, 7, 8]
    values = {key: one.tolist() for key, one in found.loss_fn_inputs.items()}
    assert values == {
        "target_tokens": [6, 7, 8, 1],
        "logprobs": [0.0, 0.0, -0.5, -0.25],
        "advantages": [0.0, 0.0, 2.0, 2.0],
    }


def test_a_server_that_stays_away_is_given_up(base, tokenizer, tmp_path):
    server = FakeServer(base)
    server.down = 10**9
    with pytest.raises(RunError, match=r"did no step for 0 s .*refused.*nothing was saved yet"):
        trainer(server, tmp_path, tokenizer, patience_s=1e-9).train()


def test_a_server_of_another_model(base):
    with pytest.raises(ConfigError, match=r"serves '.*', not 'mine'"):
        tinker_server.check_server(FakeServer(base).connect(), "mine", "http://here")


def test_a_server_of_another_protocol():
    class Other:
        def get_server_capabilities(self):
            raise ValueError("404 page not found")

    versions = r"server of the protocol of tinker 0\.25 to 0\.38 .*this is tinker .*404 page"
    with pytest.raises(ConfigError, match=rf"http://here does not answer as a Tinker {versions}"):
        tinker_server.check_server(Other(), "mine", "http://here")


def test_a_server_that_sends_the_key_back(monkeypatch):
    key = "tml-0123456789abcdef"
    monkeypatch.setenv("TINKER_API_KEY", key)

    class Echoing:
        def get_server_capabilities(self):
            raise ValueError(f"no such key: {key}")

    with pytest.raises(ConfigError, match=r"no such key: \[the API key\]") as error:
        tinker_server.check_server(Echoing(), "mine", "http://here")
    with pytest.raises(tinker_server.LostError) as lost, tinker_server.may_be_lost("sampling"):
        Echoing().get_server_capabilities()
    for one in (error.value, lost.value):
        assert key not in "".join(traceback.format_exception(one))


def test_a_server_that_is_none_of_the_protocol():
    with FakeServerOfModels() as server, pytest.raises(ConfigError, match="it has no /api/v1/heal"):
        tinker_server.refuse_silence(server.url)


def test_a_group_that_is_cut_in_half(base, tokenizer, tmp_path, monkeypatch):
    server = FakeServer(base)
    monkeypatch.setattr(
        tinker_server, "_read_samples", lambda answer, n, size: plain(halved(answer), n, size)
    )
    with pytest.raises(RunError, match="returned 2 of the 4 samples of a prompt with 3 tokens"):
        trainer(server, tmp_path, tokenizer, patience_s=1e-9).train()


plain = tinker_server._read_samples


def sequence(**changes):
    return types.SimpleNamespace(
        **{"tokens": [1, 2], "logprobs": [-1, 0], "stop_reason": "stop"} | changes
    )


@pytest.mark.parametrize(
    "changes",
    [{"tokens": [1, -2]}, {"logprobs": [-1, 0.5]}, {"logprobs": [-1, np.nan]}, {"logprobs": [-1]}],
)
def test_samples_that_no_model_writes_are_lost(changes):
    with pytest.raises(tinker_server.LostError, match="the server returned"):
        plain(types.SimpleNamespace(sequences=[sequence(**changes)]), 1, 3)


def test_only_a_sample_that_the_model_ended_is_whole():
    ends = ["stop", "length", "content_filter"]
    found = plain(
        types.SimpleNamespace(sequences=[sequence(stop_reason=one) for one in ends]), 3, 3
    )
    assert found.cut_N == [False, True, True]


def halved(answer):
    return dataclasses.replace(answer, sequences=answer.sequences[:2])


def test_groups_of_different_sizes_are_refused():
    whole = SampledGroup(Problem("p"), "p", ["a", "b"], [[1], [2]], [False] * 2)
    half = SampledGroup(Problem("p"), "p", ["a"], [[1]], [False])
    with pytest.raises(RunError, match="groups of 1 and 2: a group was cut"):
        Scorer(Lengths()).score([whole, half], METHOD, np.random.default_rng(0))


def test_samples_that_were_cut_can_be_masked():
    group = SampledGroup(Problem("p"), "p", ["abc", "d", "ef"], [[1]] * 3, [True, False, False])
    scorer = Scorer(Lengths(), truncated=Truncation("mask"))
    batch = scorer.score([group], methods.dr_grpo(), np.random.default_rng(0))
    assert np.isnan(batch.samples.rewards).tolist() == [[True, False, False]]
    assert batch.advantages.values_BN[0, 0] == 0


def test_a_journal_of_other_settings(tmp_path):
    Journal(tmp_path, {"model": "a"}).record_saved_weights(Saved(3, "tinker://x"))
    assert Journal(tmp_path, {"model": "a"}).saved() == Saved(3, "tinker://x")
    with pytest.raises(ConfigError, match="model = a, not b: give another folder"):
        Journal(tmp_path, {"model": "b"}).saved()


def test_a_damaged_journal(tmp_path):
    journal = Journal(tmp_path, {})
    journal.write(JournalBatch(3, 2, [CreditedSample([1], [2], [-0.5], 0.5)], {"step": 3}))
    assert journal.batch(3).samples == [CreditedSample([1], [2], [-0.5], 0.5)]
    [path] = (tmp_path / "batches").iterdir()
    files.write_json(path, {"step": 3})
    with pytest.raises(DataError, match=r"damaged .'samples'.*sampled again"):
        journal.batch(3)
    path.write_text('{"step": 3')
    with pytest.raises(DataError, match="damaged"):
        journal.batch(3)


def test_the_snippet_for_tinker_cookbook(monkeypatch):
    """The cookbook's trainer only centres; `make cookbook` tests the released classes."""

    class Builder:
        pass

    step = types.SimpleNamespace
    module = types.ModuleType("tinker_cookbook.rl.problem_env")
    module.ProblemGroupBuilder = Builder
    for name in ("tinker_cookbook", "tinker_cookbook.rl"):
        monkeypatch.setitem(sys.modules, name, types.ModuleType(name))
    monkeypatch.setitem(sys.modules, module.__name__, module)
    docs = Path(__file__).parents[2] / "docs" / "engines.md"
    blocks = re.findall(r"```python\n(.*?)```", docs.read_text(encoding="utf-8"), re.DOTALL)
    space = {}
    exec(next(block for block in blocks if "compute_group_rewards" in block), space)
    rewards, names = [1, 1, 0, 1, 0, 0], ["a", "b", "b", "a", "a", "c"]
    group = [
        step(transitions=[step(reward=float(reward), logs={"strategy": name})])
        for reward, name in zip(rewards, names, strict=True)
    ]
    final = asyncio.run(space["SetGroupBuilder"]().compute_group_rewards(group, []))
    totals = np.array([value for value, _ in final]) + rewards
    strategies = ["abc".index(name) for name in names]
    want = methods.poly_epo(4).advantages([rewards], strategies=[strategies]).values_BN[0]
    np.testing.assert_allclose(totals - totals.mean(), want, atol=1e-12)
    assert totals.max() <= 1e-12, "a total above 0 would be lowered where a limit stopped a sample"
    with pytest.warns(UserWarning, match="needs 5 usable samples, and the largest of these grou"):
        part = asyncio.run(space["SetGroupBuilder"]().compute_group_rewards(group[:4], []))
    np.testing.assert_allclose([value for value, _ in part] + np.array(rewards[:4]), 0)
