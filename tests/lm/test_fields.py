"""Arms whose methods read answers, proxies, second rewards, pairs and families."""

import pickle
import shutil
from pathlib import Path

import numpy as np
import pytest

from setrl.logs import open_log
from setrl.logs.run import Seed
from setrl.support import files
from setrl.support.errors import ConfigError
from setrl.tasks import domains
from setrl.train.gathering.metrics import rollout_records
from setrl.train.lm.preflight.checks import check_problems
from setrl.train.lm.resolved import ResolvedConfig
from setrl.train.lm.trl_arm import make_trainer, train_arm
from setrl.train.runs.pool import Stop
from setrl.train.scoring.credit import credit_groups
from tests.judges.test_families import TwoLevels
from tests.lm import fields_of_mine as mine
from tests.tiny import tiny_config

ARMS = {
    "majority": {"method": "set_rl", "objective": "majority", "set_size": 3},
    "best_of": {"method": "set_rl", "objective": "best_of", "set_size": 2},
    "both": {
        "method": "set_rl",
        "objective": {
            "objective": "product",
            "left": {"objective": "mean", "of": "proxy"},
            "right": {"objective": "mean", "of": "second"},
        },
        "set_size": 3,
    },
    "distance": {"method": "set_rl", "objective": "pairwise_distance", "set_size": 2},
    "families": {
        "method": "sum",
        "of": [
            {"method": "dr_grpo", "weight": 0.5},
            {"method": "set_rl", "objective": "family_share", "set_size": 2},
        ],
    },
}
FIELDS = {
    "proxy": {"function": "fields_of_mine:length"},
    "second": {"function": "fields_of_mine:length"},
    "pairs": {"function": "fields_of_mine:overlap"},
    "families": {"function": "fields_of_mine:family"},
}
OF_TEXTS = {
    "answers": mine.family,
    "proxy": mine.length,
    "second": mine.length,
    "families": mine.family,
}


@pytest.fixture
def load(tmp_path):
    """A config read from a folder that has the functions."""
    shutil.copy(Path(mine.__file__), tmp_path)

    def load(**changes):
        own = {key: changes.pop(key) for key in ("answers", "proxy") if key in changes}
        config = tiny_config(**{"steps": 2, "arms": ARMS, "fields": {**FIELDS, **own}, **changes})
        (tmp_path / "config.yaml").write_text(config.to_yaml())
        return ResolvedConfig.load(tmp_path / "config.yaml")

    return load


@pytest.fixture
def problems(tmp_path):
    """A task in a file, in which every sample earns something."""
    rows = [{"question": f"y={i}x, x!={i}: ", "difficulty": i} for i in range(1, 5)]
    files.write_lines(tmp_path / "train.jsonl", rows)
    return {
        "splits": {"train": "train.jsonl"},
        "folder": str(tmp_path),
        "prompt": "question",
        "reward": {"function": "fields_of_mine:length"},
        "correct": "fields_of_mine:half_are_right",
        "strategy": {"function": "fields_of_mine:family"},
    }


@pytest.mark.parametrize("arm", ARMS)
def test_every_objective_trains_and_its_advantages_are_the_cores(
    load, problems, base, tmp_path, arm
):
    own = {"domain": None, "task": problems, "model": str(base), "max_new_tokens": 8}
    resolved, batches = load(answers={"function": "fields_of_mine:family"}, **own), []
    trainer = make_trainer(resolved, arm, 0, str(base), Seed(tmp_path / "run"))
    trainer.on_batch = batches.append
    trainer.train()
    method = resolved.arms[arm].method
    assert len(batches) == 2
    for batch in batches:
        given = {
            "pairs": [mine.overlap(texts) for texts in batch.samples.texts],
            **{k: [of(texts) for texts in batch.samples.texts] for k, of in OF_TEXTS.items()},
        }
        read = {name: np.array(one, dtype=object) for name, one in given.items()}
        read = {name: one for name, one in read.items() if name in method.reads}
        want = method.advantages(
            batch.samples.rewards,
            correct=batch.samples.correct,
            strategies=batch.samples.strategies,
            abstain=True,
            **read,
        ).values_BN
        assert np.ptp(want) > 0
        np.testing.assert_array_equal(batch.advantages.values_BN, want)
        if arm != "distance":  # matrices of pairs are not recorded
            files.write_lines(tmp_path / "step.jsonl", rollout_records(batch, None, 1))
            again = credit_groups(list(open_log(tmp_path / "step.jsonl")), method)
            np.testing.assert_array_equal(again.values_BN, want)
    assert list(trainer._logs["advantages"])[-8:] == pytest.approx(want.ravel(), abs=1e-12)


def test_families_come_from_a_judge_of_two_levels_and_from_nowhere_else(load, base, tmp_path):
    batches = []
    with TwoLevels() as server:
        judge = {"judge": "lm", "model": "m", "endpoint": server.url, "families": True}
        arms = {"levels": {"method": "poly_families", "set_size": 2, "judge": judge}}
        resolved = load(arms=arms, fields={})
        assert resolved.arms["levels"].fields == {}
        trainer = make_trainer(resolved, "levels", 0, str(base), Seed(tmp_path / "run"))
        trainer.on_batch = batches.append
        trainer.train()
    for batch in batches:
        for texts, found in zip(batch.samples.texts, batch.samples.families, strict=True):
            first = [text[:1] for text in texts]  # by which the server tells families
            assert len({*zip(first, found, strict=True)}) == len({*first}) == len({*found})


@pytest.mark.parametrize("mask", [False, True])
def test_groups_without_credit_leave_the_loss_if_the_config_says_so(
    load, problems, base, tmp_path, mask
):
    problems["reward"] = {"function": "fields_of_mine:nothing"}
    own = {"domain": None, "task": problems, "model": str(base), "max_new_tokens": 8}
    resolved = load(arms={"grpo": {"method": "grpo"}}, mask_dead_groups=mask, **own)
    trainer = make_trainer(resolved, "grpo", 0, str(base), Seed(tmp_path / "run"))
    entered, loss = [], trainer.compute_loss
    trainer.compute_loss = lambda model, inputs, **more: (
        entered.append(inputs["completion_mask"].sum().item()) or loss(model, inputs, **more)
    )
    trainer.train()
    assert len(entered) == 2
    assert [tokens > 0 for tokens in entered] == [not mask] * 2


def test_columns_of_a_file_are_fields(load, problems, base):
    own = {"domain": None, "task": problems, "model": str(base), "max_new_tokens": 8}
    resolved = load(proxy={"column": "difficulty"}, **own)
    check_problems(resolved)
    assert resolved.arms["best_of"].fields == {"proxy": "difficulty"}


def test_functions_of_a_user_reach_another_process(load, problems, base):
    """Their modules cannot be pickled: the keys are, and the functions are loaded again."""
    own = {"domain": None, "task": problems, "model": str(base), "max_new_tokens": 8}
    resolved = load(answers={"function": "fields_of_mine:family"}, **own)
    again = pickle.loads(pickle.dumps(resolved))
    assert again.config == resolved.config
    assert again.training_problems(0) == resolved.training_problems(0)
    texts = ["ab", "c"]
    for name in ("best_of", "families"):
        [(field, function)] = again.arms[name].fields.items()
        given = resolved.arms[name].fields[field](completions=texts, prompts=texts)
        assert function(completions=texts, prompts=texts) == given


def test_the_proxy_can_be_the_mean_log_probability(load, base, tmp_path):
    resolved = load(arms={"ucpo": {"method": "ucpo"}}, fields={"proxy": "mean_logprob"})
    run = Seed(tmp_path / "run")
    assert train_arm(resolved, "ucpo", 0, str(base), run, lambda _: None, Stop())
    with pytest.raises(ConfigError, match=r"fields: second must be .* got 'mean_logprob'"):
        load(fields={"second": "mean_logprob"})
    own = {"engine": {"tinker": "http://127.0.0.1:1"}, "model": str(base)}
    own |= {"arms": resolved.config.arms, "fields": resolved.config.fields, "loss_type": "dr_grpo"}
    with pytest.raises(ConfigError, match="proxy must be a function or a column"):
        load(**own)


def test_the_answers_of_a_domain_are_those_that_it_reads(load):
    resolved, domain = load(), domains.by_name("polynomial")
    [problem] = domain.problems("train", 1, 0)
    rng = np.random.default_rng(0)
    texts = [*(domain.write(problem, rng).text for _ in range(3)), "no answer"]
    read = resolved.arms["majority"].fields["answers"]
    found = read(prompts=[problem.prompt] * 4, completions=texts)
    assert found == [domain.read(problem.prompt, text).answer for text in texts]
    assert found[-1] is None


def test_an_arm_of_majority_runs_to_its_end(load, base, tmp_path):
    run = Seed(tmp_path / "run")
    assert train_arm(load(), "majority", 0, str(base), run, lambda _: None, Stop())
    assert len(files.read_lines(run.metrics_file)) == 2


def test_a_resolved_config_reads_back_as_itself(load, tmp_path):
    resolved = load()
    assert resolved.config.fields["proxy"] == {**FIELDS["proxy"], "folder": str(tmp_path)}
    (tmp_path / "deeper").mkdir()
    (tmp_path / "deeper" / "resolved.yaml").write_text(resolved.config.to_yaml())
    assert ResolvedConfig.load(tmp_path / "deeper" / "resolved.yaml").config == resolved.config


@pytest.mark.parametrize(
    ("fields", "message"),
    [
        ({}, "arm 'best_of': set_rl reads proxy: add fields: {proxy: …}"),
        ({"proxi": FIELDS["proxy"]}, "unknown field 'proxi'; did you mean 'proxy'"),
        ({"strategies": FIELDS["proxy"]}, "strategies come from a judge, or from the task"),
        (
            {"proxy": "length"},
            r"proxy must be mean_logprob, \{function: module:name\} or .*, got 'length'",
        ),
        ({"proxy": {"function": "length"}}, "a function is given as 'module:name'"),
        ({"answers": "first"}, "answers must be final_answer, {function.*got 'first'"),
        ({"pairs": {"column": "x"}}, "pairs must be ngrams, {function: module:name}, got"),
    ],
)
def test_what_is_wrong_is_named(make_resolved, fields, message):
    with pytest.raises(ConfigError, match=message):
        make_resolved(arms={"best_of": ARMS["best_of"]}, fields=fields)


def test_functions_and_columns_that_are_not_there(make_resolved, tmp_path):
    arms = {"best_of": ARMS["best_of"]}
    resolved = make_resolved(arms=arms, fields={"proxy": {"column": "difficulty"}})
    with pytest.raises(ConfigError, match="have no column 'difficulty'; they have prompt"):
        check_problems(resolved)
    own = {"function": "no_such_module_of_mine:length", "folder": str(tmp_path)}
    with pytest.raises(ConfigError, match="no module 'no_such_module_of_mine'"):
        make_resolved(arms=arms, fields={"proxy": own})


def test_schedules_are_part_of_an_arm(make_resolved):
    falling = {"schedule": "linear", "first": 1.0, "last": 0.0}
    arms = {"mixed": {"method": "poly_mixture", "alpha": falling, "set_size": 2}}
    mixed = make_resolved(arms=arms).arms["mixed"]
    weights = [mixed.method_at(step / 4).objective.weights[1] for step in range(5)]
    assert weights == [1.0, 0.75, 0.5, 0.25, 0.0]
