"""`setrl check-task`, and bad problems through all commands: a sentence each, nothing lost."""

import json
import socket
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest
import yaml

from setrl import cli
from setrl.support import files
from setrl.train.lm.resolved import ResolvedConfig
from tests.tasks import models

FUNCTIONS = """
def digits(completions, **_):
    return [sum(c.isdigit() for c in text[-1]["content"]) / 4 for text in completions]

def of_trainers(completions, trainer_state):
    return [0.0 for _ in completions]

def fails(completions, **_):
    raise KeyError("score")

def half_if_empty(completions, **_):
    return [1.0 if text[-1]["content"] else 0.5 for text in completions]

FIRST = []
def half_elsewhere(prompts, completions, **_):
    FIRST or FIRST.append(prompts[0])
    return [1.0 if prompt == FIRST[0] else 0.5 for prompt in prompts]

half_elsewhere.read_answer = str
"""
ROWS = [{"problem": f"What is {i} + {i}?", "answer": str(2 * i)} for i in range(12)]
ARMS = {"grpo": {"method": "grpo"}, "poly": {"method": "poly_epo", "set_size": 2}}
TEST = [{"problem": f"What is {i} + 1?", "answer": str(i + 1)} for i in range(20, 24)]


@pytest.fixture(scope="module")
def model(tmp_path_factory):
    return models.make(tmp_path_factory.mktemp("model") / "qwen3", context=256)


@pytest.fixture
def own(tmp_path, model, monkeypatch):
    """Writes a config and its files; its rows, its task and other keys can be changed."""
    monkeypatch.chdir(tmp_path)
    (tmp_path / "my_rewards.py").write_text(FUNCTIONS)

    def write(train=ROWS, test=TEST, task=None, **changes):
        files.write_lines(tmp_path / "train.jsonl", train)
        files.write_lines(tmp_path / "test.jsonl", test)
        splits = {"train": "train.jsonl", "test": "test.jsonl"}
        reward = ["number", {"function": "my_rewards:digits", "weight": 0.5}]
        usual = {"splits": splits, "reward": reward, "correct": "number"}
        usual |= {"strategy": "final_answer"}
        if "reward" in (task or {}) and not isinstance(task["reward"], list):
            del usual["correct"]
        values = {
            "name": "own",
            "model": str(model),
            "task": {**usual, **(task or {})},
            "arms": ARMS,
            "steps": 2,
            "prompts_per_step": 2,
            "samples_per_prompt": 6,
            "max_new_tokens": 24,
            **changes,
        }
        kept = {key: value for key, value in values.items() if value is not None}
        Path("config.yaml").write_text(yaml.safe_dump(kept, sort_keys=False))
        return "config.yaml"

    return write


def run(capsys, *arguments):
    with pytest.raises(SystemExit) as left:
        cli.main(list(arguments))
    return left.value.code or 0, capsys.readouterr()


def checked(capsys, path, *options):
    code, printed = run(capsys, "check-task", path, "--json", *options)
    return code, json.loads(printed.out), printed.err


def test_nothing_wrong_ends_with_0_and_a_group_is_credited_as_in_training(own, capsys):
    path = own(arms={"grpo": {"method": "grpo"}, "poly": {"method": "poly_epo", "set_size": 2,
                                                            "judge": "exact"}})  # fmt: skip
    code, found, _ = checked(capsys, path)
    assert (code, found["problems"]) == (0, [])
    samples = found["group"]["samples"]
    assert len(samples) == 6
    for one in samples:
        assert one["reward/digits"] == sum(map(str.isdigit, one["text"])) / 4
        total = one["reward/number"] + 0.5 * one["reward/digits"]
        assert one["reward"] == pytest.approx(total)
    rewards_BN = np.array([[one["reward"] for one in samples]])
    assert np.ptp(rewards_BN) > 0
    resolved = ResolvedConfig.load(path)
    values_BN = resolved.arms["grpo"].method.advantages(rewards_BN).values_BN
    assert [one["advantage/grpo"] for one in samples] == pytest.approx(values_BN[0].tolist())
    names = [one["strategy/poly"] for one in samples]
    strategies_BN = np.array(
        [[-1 if name == "degenerate" else names.index(name) for name in names]]
    )
    credited = resolved.arms["poly"].method.advantages(rewards_BN, strategies=strategies_BN)
    assert [one["advantage/poly"] for one in samples] == pytest.approx(
        credited.values_BN[0].tolist()
    )


def test_prompts_are_shown_as_the_model_reads_them_and_cannot_act(own, capsys):
    bad = {"problem": "Clear\x1b[2J \u202eit <|end|> 3?", "answer": "3"}
    path = own(train=[bad, *ROWS[:1]])
    code, printed = run(capsys, "check-task", path, "--no-sample")
    assert code == 0
    assert "<user>What is 0 + 0?⟦<|end|>⟧<assistant>" in printed.out
    assert r"<user>Clear\x1b[2J \u202eit ⟦<|end|>⟧ 3?⟦<|end|>⟧<assistant>" in printed.out
    assert not {"\x1b", "\u202e"} & set(printed.out + printed.err)


def test_each_problem_is_a_sentence_and_warnings_are_none(own, capsys):
    long = {"problem": "x" * 250, "answer": "1"}
    twice = [{"problem": "what is 1 +  1?", "answer": "3"}, ROWS[2]]
    path = own(
        train=[*ROWS, *twice, long], test=[*TEST, ROWS[5], {"problem": "Why?", "answer": "Because"}]
    )
    code, found, _ = checked(capsys, path, "--no-sample")
    assert code == 3
    train, test = found["splits"]
    assert (train["problems"], train["twice"], test["also_in_train"]) == (15, 2, 1)
    assert test["left_out"] == 1
    for sentence in (
        "1 of the problems of train ask what another asks, with another gold, and at most one of ",
        "has 268 tokens; with 24 new ones that is more than the 256 of the model's context",
        "1 of 5 problems of test is also in train: the evaluation on test is not on new problems",
    ):
        assert any(sentence in one for one in found["problems"])
    assert len(found["problems"]) == 3
    [warning] = found["warnings"]
    assert "1 of 6 problems of test is left out, because a gold cannot be used" in warning
    assert "Because" not in warning
    lengths = [len(f"<user>{row['problem']}") + 1 + len("<assistant>") for row in [*ROWS, *twice]]
    assert (train["median"], train["longest"]) == (np.median([*lengths, 268]), 268)


def closed_port():
    with socket.create_server(("127.0.0.1", 0)) as server:
        return server.getsockname()[1]


def test_what_fails_in_the_group_is_a_problem_and_the_others_are_shown(own, capsys):
    judge = {"judge": "lm", "model": "m", "endpoint": f"http://127.0.0.1:{closed_port()}/v1"}
    judged = {"method": "poly_epo", "set_size": 2, "judge": judge}
    reward = ["number", {"function": "my_rewards:fails"}]
    code, found, errors = checked(capsys, own(task={"reward": reward}, arms=ARMS | {"own": judged}))
    assert code == 3
    assert "the reward function 'fails'" in errors
    assert "raised KeyError: 'score'" in errors
    assert "/v1 cannot be reached (Connection refused): start the server" in errors
    assert {*found["group"]["samples"][0]} == {"tokens", "cut", "text"}


@pytest.mark.parametrize("name", ["half_if_empty", "half_elsewhere"])
def test_a_graded_reward_is_found_where_the_group_has_only_1s(own, capsys, name):
    code, found, errors = checked(capsys, own(task={"reward": {"function": f"my_rewards:{name}"}}))
    assert {one["reward"] for one in found["group"]["samples"]} == {1.0}
    sentence = f"{name!r} says which samples are right, and must return 1 or 0, got 0.5: pass corr"
    assert (code, sentence in errors) == (3, True)


def test_a_field_that_only_training_knows_leaves_its_arm_without_credit(own, capsys):
    arms = {"grpo": {"method": "grpo"}, "ucpo": {"method": "ucpo"}}
    code, found, errors = checked(capsys, own(arms=arms, fields={"proxy": "mean_logprob"}))
    assert (code, found["problems"]) == (0, [])
    assert "ucpo gets no credit here: only training computes mean_logprob" in errors
    for one in found["group"]["samples"]:
        assert "advantage/ucpo" not in one
        assert one["advantage/grpo"] is not None


def test_a_task_without_a_model_and_a_domain(own, capsys):
    own(model=None)
    code, printed = run(capsys, "check-task", "config.yaml")
    assert (code, "add the key `model`, or give --no-sample" in printed.err) == (2, True)
    code, printed = run(capsys, "check-task", "config.yaml", "--no-sample", "--prompts", "1")
    assert code == 0
    assert "characters: median" in printed.out
    Path("domain.yaml").write_text("name: d\ndomain: polynomial\narms: {a: {method: grpo}}\n")
    code, printed = run(capsys, "check-task", "domain.yaml", "--no-sample")
    assert (code, "polynomial keeps the rules of a domain" in printed.out) == (0, True)


def test_a_domain_with_a_model_shows_prompts_and_a_group(model, tmp_path, monkeypatch, capsys):
    monkeypatch.chdir(tmp_path)
    arms = {"grpo": {"method": "grpo"}}
    config = {"name": "d", "domain": "polynomial", "model": str(model), "arms": arms}
    Path("domain.yaml").write_text(yaml.safe_dump({**config, "samples_per_prompt": 2}))
    code, printed = run(capsys, "check-task", "domain.yaml", "--prompts", "2")
    assert code == 0, printed.err
    assert "2 prompts of polynomial, as the model reads them" in printed.out
    assert "one group: 2 samples of this prompt, as the model is now" in printed.out
    broken = "setrl.train.lm.preflight.task_check.check_domain"
    monkeypatch.setattr(broken, lambda domain: ["it breaks a rule"])
    code, printed = run(capsys, "check-task", "domain.yaml", "--json")
    found = json.loads(printed.out)
    assert (code, found["problems"], found["splits"]) == (3, ["it breaks a rule"], [])
    first = ResolvedConfig.load(Path("domain.yaml")).training_problems(0)[0]
    assert first.prompt in found["prompts"][0]["text"]
    assert len(found["prompts"]) == 10


def without_gold(rows):
    return [{"problem": row["problem"]} for row in rows]


BAD = {
    "missing field": ({"task": {"prompt": "question"}}, 3, "has no field 'question'; it has"),
    "a row without the field": (
        {"train": [*ROWS, {"problem": "1?"}]},
        3,
        "no field 'answer' (at 13)",
    ),
    "no gold can be graded": (
        {"train": [{"problem": "Why?", "answer": "Because"}]},
        3,
        "no gold of the split 'train' can be used for grading",
    ),
    "empty split": ({"test": []}, 2, "the split 'test' of"),
    "unknown split": ({"eval_splits": ["dev"]}, 2, "eval_splits must be of train, test"),
    "no such function": (
        {"task": {"reward": {"function": "my_rewards:digit"}}},
        2,
        "has no function 'digit'; did you mean 'digits'?",
    ),
    "a function that cannot be evaluated": (
        {"task": {"reward": {"function": "my_rewards:of_trainers"}}},
        2,
        "takes 'trainer_state', which an evaluation cannot give: write trainer_state=None",
    ),
    "a spreadsheet": (
        {"task": {"splits": {"test": 0.1}, "data": "problems.xlsx"}},
        2,
        "problems.xlsx: a file of problems ends in .jsonl, .jsonl.gz, .json, .ndjson, .csv, .tsv, ",
    ),
}


@pytest.mark.parametrize("case", BAD)
@pytest.mark.parametrize("command", ["check-task", "train"])
def test_bad_problems_are_one_sentence_before_anything_is_written(own, capsys, case, command):
    changes, code, sentence = BAD[case]
    path = own(**changes)
    Path("problems.xlsx").write_text("problem,answer\n1 + 1,2\n")
    options = ["--config", path] if command == "train" else [path, "--no-sample"]
    left, printed = run(capsys, command, *options)
    assert left == code
    assert sentence in printed.err
    assert printed.err.strip().splitlines()[-1].startswith("setrl: ")
    assert not Path("runs").exists()


@pytest.mark.parametrize(
    ("changes", "options", "code"),
    [({"model": None}, ["--no-sample"], 0), ({"test": []}, [], 2)],
    ids=["no model", "an empty split"],
)
def test_without_a_model_or_with_a_wrong_file_nothing_heavy_is_imported(
    own, changes, options, code
):
    program = (
        "import sys; from setrl import cli\n"
        f"try: cli.main(['check-task', {own(**changes)!r}, *{options!r}])\n"
        f"except SystemExit as left: assert left.code == {code}, left.code\n"
        "heavy = {'torch', 'transformers', 'trl', 'datasets'} & set(sys.modules)\n"
        "print('heavy:', *heavy)"
    )
    ended = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True)
    assert ended.stdout.endswith("heavy:\n"), ended.stdout[-300:] + ended.stderr
