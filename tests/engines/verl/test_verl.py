"""The plug-in in verl: with a stand-in here, with the released package in `make verl`."""

from __future__ import annotations

import importlib
import uuid
from concurrent.futures import Future
from dataclasses import replace

import numpy as np
import pytest
import torch

from setrl import methods
from setrl.judges import BackgroundJudge, Group, Judgement
from setrl.support.errors import ConfigError, RunError
from setrl.train.scoring.batch import Missing
from setrl.train.verl import estimators as ours
from setrl.train.verl import judging as verl_judging
from tests.engines.conformance.groups import CASES, DEFINITIONS, Case, Sample
from tests.engines.verl import released, standin

VERL = released.chosen()
POLY = {"adv_estimator": "setrl_poly_epo", "setrl": {"set_size": 2}}


@pytest.fixture
def store(monkeypatch):
    """TransferQueue in memory, and verl with the plug-in."""
    made = VERL.Store()
    VERL.install(monkeypatch, made)
    importlib.import_module("setrl.train.verl.plugin")
    return made


def put(store, case, labels=True):
    """The rows of a case, as verl's agent loops write them, and the batch of them."""
    keys, tags, members = [], [], {}
    for place, sample in enumerate(case.samples):
        session = members.setdefault(sample.group, []).__len__()
        members[sample.group].append(place)
        for output in range(sample.rows):
            key = f"{sample.group}_{session}_{output}"
            extra = {"strategy": sample.label} if labels else {"acc": 1.0}
            last = output == sample.rows - 1
            _put_row(store, key, sample.group, sample.reward if last else 0.125, extra, 1 + place)
            keys.append(key)
            tags.append({"status": "success"})
    pad = f"pad{uuid.UUID(int=7).hex}"
    for i in range(case.padding):
        _put_row(store, f"{pad}_{i}_0", pad, 0.0, {"strategy": "a"}, 1, mask=0)
        keys.append(f"{pad}_{i}_0")
        tags.append({"is_padding": True})
    kind = torch.bfloat16 if "bf16" in case.needs else torch.float32
    for key in keys:
        store.rows[key]["rm_scores"] = store.rows[key]["rm_scores"].to(kind)
    return VERL.batch_of(keys, tags)


def _put_row(store, key, uid, reward, extra, length, mask=1):
    scores = torch.zeros(length)
    scores[-1] = reward
    store.rows[key] = {
        "uid": uid,
        "rm_scores": scores,
        "response_mask": torch.full((length,), mask),
        "extra_fields": {"reward_extra_info": extra},
    }


def trained_on(store, case, changes, metrics=None):
    """The advantages of each sample's rows, and of padding, as verl's loss finds them."""
    batch = put(store, case)
    trainer = VERL.make("sync", changes)
    trainer._compute_advantage(batch, {} if metrics is None else metrics)
    found = []
    for key in batch.keys:
        row = store.rows[key]
        length = len(row["response_mask"])
        values = row["advantages"][:length].tolist()
        assert len(set(values)) == 1
        assert row["returns"][:length].tolist() == values
        found.append(values[0])
    return found


@pytest.mark.parametrize("case", CASES)
def test_trainers_give_every_row_the_advantage_of_its_sample(store, case):
    groups = CASES[case]
    for name, definition in DEFINITIONS.items():
        size = {} if name == "grpo" else {"setrl": {"set_size": 2}}
        found = trained_on(store, groups, {"adv_estimator": f"setrl_{name}", **size})
        pairs = zip(definition(groups), groups.samples, strict=True)
        rows = [value for value, one in pairs for _ in range(one.rows)]
        np.testing.assert_allclose(found, rows + [0.0] * groups.padding, rtol=0, atol=1e-6)


@pytest.mark.parametrize("name", ["maxpo", "grpo"])
def test_estimators_of_rewards_need_no_trainer_of_ours(store, name):
    from verl.trainer.ppo.core_algos import ADV_ESTIMATOR_REGISTRY

    case = CASES["any order"]
    uids = np.array([one.group for one in case.samples] + [f"pad{uuid.UUID(int=7).hex}"], object)
    mask = (torch.arange(3) < torch.tensor([[1 + i % 3] for i in range(9)])).long()
    rewards = torch.zeros(9, 3)
    rewards[:8, 0] = torch.tensor([float(one.reward) for one in case.samples])
    size = {} if name == "grpo" else {"setrl": {"set_size": 2}}
    config = {"norm_adv_by_std_in_grpo": False, **size}
    advantages, returns = ADV_ESTIMATOR_REGISTRY[f"setrl_{name}"](
        token_level_rewards=rewards, response_mask=mask, config=config, index=uids, new=1
    )
    expected = torch.tensor([*DEFINITIONS[name](case), 0.0])[:, None] * mask
    np.testing.assert_allclose(advantages, expected, atol=1e-6)
    assert returns is advantages
    assert advantages.dtype == torch.float32


@pytest.mark.parametrize("name", ["maxpo", "grpo", "rloo"])
def test_a_uid_for_each_row_is_refused_at_the_first_step(store, name):
    """All groups would have one sample, and all advantages would be 0, without a word."""
    from verl.trainer.ppo.core_algos import ADV_ESTIMATOR_REGISTRY

    config = {"norm_adv_by_std_in_grpo": False}
    uids = np.array([uuid.UUID(int=row).hex for row in range(8)], object)
    estimate = ADV_ESTIMATOR_REGISTRY[f"setrl_{name}"]
    with pytest.raises(RunError, match="each of 8 rows has a uid of its own, so that every group"):
        estimate(
            token_level_rewards=torch.rand(8, 3),
            response_mask=torch.ones(8, 3),
            config=config,
            index=uids,
        )


@pytest.mark.parametrize("mode", ours.MODES)
def test_verl_reads_its_own_settings_of_the_mode(store, mode):
    """Under a name of ours it would take the asynchronous buffer, and drop the mode's settings."""
    trainer = VERL.make(mode, POLY)
    assert trainer.trainer_mode == mode
    assert trainer.config.trainer.v1.trainer_mode == mode
    assert trainer.replay_buffer.trainer_mode == mode


def test_every_method_has_an_estimator(store):
    from verl.trainer.ppo.core_algos import ADV_ESTIMATOR_REGISTRY

    assert {f"setrl_{name}" for name in methods.by_name} | {"setrl"} <= set(ADV_ESTIMATOR_REGISTRY)


def test_a_sum_and_other_keys(store):
    parts = [{"method": "dr_grpo"}, {"method": "poly_epo", "set_size": 2, "weight": 0.5}]
    both = {"method": "sum", "of": parts, "fields": {"strategies": "strategy"}}
    case = CASES["names of strategies"]
    found = trained_on(store, case, {"adv_estimator": "setrl", "setrl": both})
    poly = np.array(DEFINITIONS["poly_epo"](case))
    rewards = np.reshape([one.reward for one in case.samples], (2, 4))
    plain = (rewards - rewards.mean(1, keepdims=True)).ravel()
    np.testing.assert_allclose(found, plain + 0.5 * poly, atol=1e-6)


def test_a_schedule_follows_verls_steps(store):
    size = {"schedule": "linear", "first": 3, "last": 1}
    changes = {"adv_estimator": "setrl_maxpo", "setrl": {"set_size": size}}
    batch = put(store, CASES["names of strategies"])
    trainer = VERL.make("sync", changes)
    trainer.global_steps, trainer.total_training_steps = 5, 10
    assert trainer._read_rows(batch).method == methods.maxpo(2)


def test_what_is_logged(store):
    metrics = {}
    trained_on(store, CASES["a strategy is unknown"], POLY, metrics)
    assert metrics["setrl/advantage/left_out"] == pytest.approx(3 / 8)
    assert metrics["setrl/advantage/dead_groups"] == 0.5


def test_a_training_that_learns_nothing_stops(store):
    """Each step has two prompts, and no strategy of them is known."""
    case = CASES["a strategy is unknown"]
    unknown = Case([replace(one, label=None) for one in case.samples])
    batch = put(store, unknown)
    trainer = VERL.make("sync", POLY)
    assert "18 of the last 18 prompts (no strategy: 18)" in stopped(trainer, batch, range(1, 20))
    assert trainer.global_steps == 9
    off = VERL.make("sync", {**POLY, "setrl": {"set_size": 2, "stop_rule": None}})
    assert stopped(off, batch, range(1, 20)) is None


def stopped(trainer, batch, steps):
    """Why a trainer stops within some steps; None if it does not."""
    for trainer.global_steps in steps:
        try:
            trainer._compute_advantage(batch, {})
        except RunError as error:
            return str(error)
    return None


@pytest.mark.parametrize(("first", "stops"), [(1, True), (7, False)])
def test_a_training_without_signal_stops_unless_it_resumed(store, first, stops):
    flat = Case([replace(one, reward=0.0) for one in CASES["names of strategies"].samples])
    batch = put(store, flat)
    rule = {"set_size": 2, "stop_rule": {"max_without_signal": 16}}
    trainer = VERL.make("sync", {"adv_estimator": "setrl_maxpo", "setrl": rule})
    trainer.total_training_steps = 100
    why = stopped(trainer, batch, range(first, first + 12))
    assert (why is not None) == stops
    assert not stops or "no signal: in the last 8 steps" in why


class Later(BackgroundJudge):
    """Answers on request: equal samples are one strategy; "?" is not judged."""

    name = "later"

    def __init__(self):
        self.asked = []

    def submit(self, group):
        self.asked.append(group)
        answer = Future()
        letters = sorted(set(group.texts))
        strategies = tuple(map(letters.index, group.texts))
        unsure = Judgement(None, reason="unsure", detail="Who knows?")
        answer.set_result(unsure if "?" in letters else Judgement(strategies))
        return answer


class LaterInTwoLevels(Later):
    """Families, too: of what is alike in upper and lower case."""

    gives_families = True

    def submit(self, group):
        answer = super().submit(group)
        alike = sorted({text.lower() for text in group.texts})
        families = tuple(alike.index(text.lower()) for text in group.texts)
        told: Future[Judgement] = Future()
        judgement = answer.result()
        told.set_result(judgement if judgement.reason else replace(judgement, families_N=families))
        return told


class Letters:
    """A tokenizer of single bytes."""

    def decode(self, ids, skip_special_tokens):
        assert skip_special_tokens
        return bytes(int(one) for one in ids).decode()


TEXTS = {"p": ["a", "b", "a", "c"], "q": ["d", "d", "?", "e"], "r": ["x", "y", "y", "y"]}


def test_a_judge_is_asked_while_others_are_sampled(store, monkeypatch):
    judge = Later()
    monkeypatch.setattr(verl_judging, "make_judge", lambda spec, folder: judge)
    trainer = VERL.make("sync", {**POLY, "setrl": {"set_size": 2, "judge": "later"}})
    trainer.tokenizer = Letters()
    samples = [Sample(g, 1.0, None, 1 + (g == "p")) for g in TEXTS for _ in range(4)]
    batch = put(store, Case(samples, padding=2), labels=False)
    for key in batch.keys[:-2]:
        uid, session, output = key.rsplit("_", 2)
        text = TEXTS[uid][int(session)] if output == "0" else "+"
        store.rows[key] |= {
            "prompts": torch.tensor(list(uid.encode())),
            "responses": torch.tensor(list(text.encode())),
        }
    store.tags = dict(zip(batch.keys[:-2], batch.tags, strict=False))
    for uid, status in {"p": "finished", "q": "running", "r": "pending"}.items():
        store.tags[uid] = {"is_prompt": True, "status": status, "global_steps": 1}
    look = trainer.replay_buffer._sync_metadata_from_transfer_queue
    look()
    assert judge.asked == [
        Group.of_texts("p", ("a\n\n+", "b\n\n+", "c\n\n+"))
    ]  # the first text twice
    store.tags["q"]["status"] = "finished"
    look()
    assert [group.prompt for group in judge.asked] == ["p", "q"]  # each once
    rows = trainer._read_rows(batch)
    assert [group.prompt for group in judge.asked] == ["p", "q", "r"]  # the rest when needed
    found = rows.samples.labels("strategies")
    assert found == [[0, 1, 0, 2], [None] * 4, [0, 1, 1, 1]]
    assert rows.sample_M == [0, 0, 1, 1, 2, 2, 3, 3, *range(4, 12), -1, -1]
    assert rows.unjudged_B == [None, Missing("judge: unsure", "Who knows?"), None]
    look()
    assert len(judge.asked) == 5  # answers are given away once
    for key in batch.keys[:-2]:
        store.rows[key]["responses"] = torch.tensor(list(b"?"))
    why = stopped(trainer, batch, range(1, 20))
    assert "18 of the last 27 prompts (judge: unsure: 18)" in why
    assert "the first answer of the judge was 'Who knows?'" in why


def test_a_judge_of_two_levels_gives_what_the_method_reads(store, monkeypatch):
    judge = LaterInTwoLevels()
    monkeypatch.setattr(verl_judging, "make_judge", lambda spec, folder: judge)
    for name, families in {"setrl_poly_families": [[0, 0, 1, 1]], "setrl_poly_epo": None}.items():
        trainer = VERL.make(
            "sync", {"adv_estimator": name, "setrl": {"set_size": 2, "judge": "later"}}
        )
        trainer.tokenizer = Letters()
        batch = put(store, Case([Sample("p", 1.0, None) for _ in range(4)]), labels=False)
        for key, text in zip(batch.keys, ["a", "A", "b", "b"], strict=True):
            store.rows[key] |= {
                "prompts": torch.tensor(list(b"p")),
                "responses": torch.tensor(list(text.encode())),
            }
        samples = trainer._read_rows(batch).samples
        assert samples.labels("strategies") == [[1, 0, 2, 2]]
        assert samples.labels("families") == families


def test_a_group_without_a_judgement_has_no_families_either(store, monkeypatch):
    monkeypatch.setattr(verl_judging, "make_judge", lambda spec, folder: LaterInTwoLevels())
    name = {"adv_estimator": "setrl_poly_families", "setrl": {"set_size": 2, "judge": "later"}}
    trainer = VERL.make("sync", name)
    trainer.tokenizer = Letters()
    batch = put(store, Case([Sample("p", 1.0, None) for _ in range(4)]), labels=False)
    for key in batch.keys:
        store.rows[key] |= {"prompts": torch.tensor([65]), "responses": torch.tensor(list(b"?"))}
    rows = trainer._read_rows(batch)
    assert rows.samples.labels("families") == [[None] * 4]
    assert rows.unjudged_B == [Missing("judge: unsure", "Who knows?")]


def test_a_language_model_s_judgements_are_kept_beside_the_checkpoints(
    store, tmp_path, monkeypatch
):
    monkeypatch.chdir(tmp_path)
    judge = {"judge": "lm", "endpoint": "http://localhost:9/v1", "model": "m"}
    trainer = VERL.make("sync", {**POLY, "setrl": {"set_size": 2, "judge": judge}})
    with trainer.judging.judge:
        folder = tmp_path / trainer.config.trainer.default_local_dir
        assert folder != tmp_path
        assert (folder / "judge.sqlite").is_file()
    assert not [path for path in tmp_path.iterdir() if path.is_file()]


REFUSED = [
    ({"adv_estimator": "grpo"}, "needs algorithm.adv_estimator=setrl or setrl_"),
    ({**POLY, "norm_adv_by_std_in_grpo": True}, "set algorithm.norm_adv_by_std_in_grpo=false"),
    ({**POLY, "use_kl_in_reward": True}, "puts the KL penalty into the rewards"),
    ({**POLY, "setrl": {"set_size": 9}}, "set_size must be .* actor_rollout_ref.rollout.n=4"),
    ({**POLY, "setrl": {"set_sise": 2}}, "did you mean 'set_size'"),
    ({**POLY, "setrl": 3}, "algorithm.setrl must be a mapping"),
    ({**POLY, "setrl": {"method": "maxpo"}}, "both name a method"),
    ({**POLY, "setrl": {"set_size": 2, "judge": "exakt"}}, "did you mean 'exact'"),
    ({"adv_estimator": "setrl_maxpo", "setrl": {"set_size": 2, "judge": "exact"}}, "no effect"),
    ({**POLY, "setrl": {"set_size": 2, "stop_rule": {"windou": 3}}}, "did you mean 'window'"),
    ({**POLY, "filter_groups": {"enable": True, "metric": "reward"}}, "still learns"),
]


@pytest.mark.parametrize(("changes", "message"), REFUSED)
def test_what_cannot_work_is_refused_before_anything_starts(store, changes, message):
    with pytest.raises(ConfigError, match=message):
        VERL.make("sync", changes)


def test_a_method_of_strategies_says_what_it_needs(store):
    config = {"setrl": {"set_size": 2}}
    with pytest.raises(ConfigError, match=r"trainer_mode=setrl_sync .* return 'strategy' beside"):
        ours.make_estimator("setrl_poly_epo")(
            torch.zeros(2, 1), torch.ones(2, 1), config=config, index=["p", "p"]
        )
    config = {"setrl": {"set_size": 2, "stop_rule": None}}
    with pytest.raises(ConfigError, match=r"setrl.stop_rule has no effect with verl's own"):
        ours.make_estimator("setrl_maxpo")(
            torch.zeros(2, 1), torch.ones(2, 1), config=config, index=["p", "p"]
        )
    batch = put(store, CASES["names of strategies"], labels=False)
    with pytest.raises(RunError, match="must return 'strategy' besides 'score'; it returned 'acc'"):
        VERL.make("sync", POLY)._compute_advantage(batch, {})


def test_a_schedule_needs_a_trainer_that_knows_the_step():
    settings = {"set_size": {"schedule": "linear", "first": 3, "last": 1}}
    with pytest.raises(ConfigError, match="estimators do not know the step"):
        ours.make_estimator("setrl_maxpo")(
            torch.zeros(2, 1), torch.ones(2, 1), config={"setrl": settings}, index=["p", "p"]
        )


def test_the_stand_in_calls_as_verl_does(store, monkeypatch):
    """Names, types and shapes of the arguments; in `make verl`, from the released package."""
    from verl.trainer.ppo.core_algos import ADV_ESTIMATOR_REGISTRY

    seen = {}
    real = ADV_ESTIMATOR_REGISTRY["setrl_maxpo"]

    def estimate(**arguments):
        seen.update(arguments)
        return real(**arguments)

    monkeypatch.setitem(ADV_ESTIMATOR_REGISTRY, "setrl_maxpo", estimate)
    trained_on(
        store,
        CASES["names of strategies"],
        {"adv_estimator": "setrl_maxpo", "setrl": {"set_size": 2}},
    )
    assert set(seen) == {"token_level_rewards", "response_mask", "config", "index"}
    assert seen["token_level_rewards"].shape == seen["response_mask"].shape == (8, 8)
    assert list(seen["index"]) == ["p"] * 4 + ["q"] * 4
    assert seen["config"]["setrl"]["set_size"] == 2
    assert VERL is standin or type(seen["config"]).__module__.startswith("omegaconf")


COUNTS = {"adv_estimator": "setrl_concave_counts", "setrl": {"alpha": 0}}


@pytest.mark.parametrize(("key", "named"), [("correct", {}), ("acc", {"correct": "acc"})])
def test_a_key_of_the_result_says_which_samples_are_right(store, key, named):
    """The scores are graded; without the key they would have to be 0 and 1."""
    case = CASES["bf16 rewards"]
    right = [True, False, False, True, 1, 0, None, 1]
    batch = put(store, case)
    trainer = VERL.make("sync", {**COUNTS, "setrl": {"alpha": 0, "fields": named}})
    for place, row in enumerate(batch.keys):
        store.rows[row]["extra_fields"]["reward_extra_info"][key] = right[place]
    trainer._compute_advantage(batch, {})
    found = [store.rows[row]["advantages"][0].item() for row in batch.keys]
    correct = np.array(right, dtype=object).reshape(2, 4)
    strategies = np.array([one.label for one in case.samples], dtype=object).reshape(2, 4)
    want = methods.concave_counts(0).advantages(
        np.zeros((2, 4)), correct=correct, strategies=strategies
    )
    np.testing.assert_allclose(found, want.values_BN.ravel(), atol=1e-6)


def test_other_scores_say_nothing_about_what_is_right(store):
    with pytest.raises(RunError, match=r"gave the score 0\.5, .* return 'correct' besides 'score'"):
        trained_on(store, CASES["bf16 rewards"], COUNTS)
