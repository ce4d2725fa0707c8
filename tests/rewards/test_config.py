import subprocess
import sys
from dataclasses import replace

import pytest

from setrl.rewards import Combine
from setrl.rewards.config import combine_of, rewards_from_config, terms_of
from setrl.support.errors import ConfigError, DataError
from setrl.tasks import Problem

OWN = """
def long(completions, **_):
    return [float(len(text)) for text in completions]

def as_gold(prompts, completions, answer, level=None):
    seen.append((prompts[0], level))
    return [float(text == one) for text, one in zip(completions, answer, strict=True)]

def of_chat(prompts, completions, **_):
    return [float(p[-1]["role"] == "user" and c[0]["content"] == "7")
            for p, c in zip(prompts, completions, strict=True)]

def some(completions, **_):
    return [None if c == "?" else float(c == "7") for c in completions]

seen = []
"""


@pytest.fixture
def folder(tmp_path):
    (tmp_path / "own.py").write_text(OWN)
    yield tmp_path
    sys.modules.pop("own", None)


@pytest.mark.parametrize(
    ("kind", "right"),
    [("math", r"\boxed{7}"), ("number", "so 7"), ("exact", "7"), ("choice", "(B)")],
)
def test_rewards_by_name(folder, kind, right):
    gold = "B" if kind == "choice" else "7"
    rewards = rewards_from_config(kind, "gold", folder)
    [function] = rewards.functions
    assert function(prompts=["?"] * 2, completions=[right, "none"], gold=[gold] * 2) == [1, 0]
    readings = rewards.read(Problem("?", id="a", gold=gold), [right, "none"])
    assert [reading.correct for reading in readings] == [True, False]
    assert readings[0].answer == ("B" if kind == "choice" else "7")


def test_math_reads_errors(folder):
    rewards = rewards_from_config("math", "answer", folder)
    problem = Problem("?", id="a", gold="4.2", error=0.2)
    assert [r.correct for r in rewards.read(problem, [r"\boxed{4.3}", r"\boxed{4.5}"])] == [1, 0]


@pytest.mark.parametrize("kind", ["math", "number"])
def test_a_bad_gold_is_no_wrong_answer(folder, kind):
    rewards = rewards_from_config(kind, "answer", folder)
    good, bad = rewards.gold_problems(["7", ""])
    assert good is None
    assert bad
    with pytest.raises(DataError, match="gold '' cannot be used for grading"):
        rewards.read(Problem("?", id="a", gold=""), [r"\boxed{7}"])


def test_several_rewards(folder):
    spec = ["number", {"function": "own:long", "weight": 0.2, "timeout": 5, "on_error": "unknown"}]
    said = r"of several rewards \(number, long\) none .* add the line 'correct: number' to the task"
    with pytest.raises(ConfigError, match=said):
        rewards_from_config(spec, "answer", folder)
    rewards = rewards_from_config(spec, "answer", folder, "number")
    assert [function.__name__ for function in rewards.functions] == ["number", "long"]
    assert rewards.combine == Combine((1.0, 0.2), outcome=0)
    own = rewards.functions[1]
    assert (own.timeout, own.on_error, own.path) == (5, "unknown", str(folder / "own.py"))


def test_gates_and_normalisation(folder):
    entries = ["math", {"function": "own:long", "weight": 0.2, "gate": "group"}]
    gated = Combine((1.0, 0.2), (None, "group"), outcome=0)
    assert rewards_from_config(entries, "answer", folder, "math").combine == gated
    spec = {"rewards": entries, "normalize": "group"}
    assert combine_of(spec, "math") == replace(gated, normalize="group")
    assert combine_of("math") == Combine((1.0,))


SUM = Problem("3 + 4", gold="7", columns={"level": "easy"})


def test_a_function_reads_a_problem_with_its_columns(folder):
    rewards = rewards_from_config({"function": "own:as_gold"}, "answer", folder)
    readings = rewards.read(SUM, ["7", "8"])
    assert [r.correct for r in readings] == [True, False]
    assert [r.answer for r in readings] == [None, None]  # nobody says where the answer is
    assert [r.reason for r in readings] == ["", "reward 0"]
    rewards.outcome.function.read_answer = str.strip
    assert [r.answer for r in rewards.read(SUM, [" 7", "8 "])] == ["7", "8"]
    del rewards.outcome.function.read_answer
    assert sys.modules["own"].seen == [("3 + 4", ["easy", "easy"])] * 2


def test_what_a_function_does_not_know_is_unknown(folder):
    rewards = rewards_from_config({"function": "own:some"}, None, folder)
    readings = rewards.read(SUM, ["7", "8", "?"])
    assert [reading.correct for reading in readings] == [True, False, None]
    assert readings[2].reason == "the reward function gave no reward"


def test_a_function_of_conversations(folder):
    rewards = rewards_from_config({"function": "own:of_chat"}, None, folder)
    assert [r.correct for r in rewards.read(SUM, ["7", "8"], chat=True)] == [True, False]


def test_columns_that_the_data_do_not_have(folder):
    rewards = rewards_from_config({"function": "own:as_gold"}, None, folder)
    [missing] = rewards.missing_columns(["prompt", "level"])
    assert missing.startswith("the reward function 'as_gold'")
    assert missing.endswith("takes 'answer'")
    assert rewards.missing_columns(["answer"]) == []


@pytest.mark.parametrize(
    ("spec", "message"),
    [
        ("mth", "unknown reward 'mth'; did you mean 'math'?"),
        (3, r"a reward must be a name \(math, number, choice, exact\) or a mapping .* got 3"),
        (None, "got None"),
        ([], "at least one reward, got an empty list"),
        ({}, "needs either 'reward', with a name, or 'function'"),
        ({"reward": "math", "function": "own:long"}, "needs either"),
        ({"function": "own:long", "wieght": 1}, "'wieght'; did you mean 'weight'?"),
        ({"function": "own"}, "given as 'module:name'"),
        ({"function": "own:long", "weight": "1"}, "weight must be a number, got '1'"),
        (
            {"function": "own:long", "weight": float("nan")},
            "weight must be a finite number",
        ),
        ({"function": "own:long", "timeout": True}, "timeout must be a number or null, got True"),
        (
            {"function": "own:long", "timeout": -1},
            "timeout must be a number above 0 or",
        ),
        (
            {"function": "own:long", "on_error": "skip"},
            "on_error must be 'stop' or 'unknown'",
        ),
        ({"function": "own:long", "name": 3}, "name must be a string or null"),
        (
            {"function": "own:long", "gate": "prompt"},
            "gate must be 'sample' or 'group' or",
        ),
        ([{"reward": "math", "gate": "group"}], "the outcome cannot be gated"),
        ({"rewards": ["math"], "normalise": "group"}, "'normalise'; did you mean 'normalize'?"),
        ({"rewards": ["math"], "normalize": "batch"}, "normalize must be group or null"),
        ({"rewards": []}, "at least one reward"),
        (
            {"reward": "math", "timeout": 3},
            "timeout, on_error and own_process belong to a function",
        ),
        ([{"function": "own:long"}] * 2, "two rewards are called 'long': give one of them a 'n"),
        ({"function": "own:longg"}, "has no function 'longg'; did you mean 'long'?"),
    ],
)
def test_what_is_refused(folder, spec, message):
    with pytest.raises(ConfigError, match=message):
        rewards_from_config(spec, "answer", folder)


def test_a_reward_by_name_needs_golds(folder):
    with pytest.raises(ConfigError, match="the reward 'number' compares samples with gold answers"):
        rewards_from_config("number", None, folder)


def test_checking_a_spec_runs_no_code(tmp_path):
    assert terms_of([{"function": "absent:f"}])[0].function == "absent:f"


def test_a_spec_is_read_without_torch():
    code = "import sys, setrl.rewards.config; sys.exit('torch' in sys.modules)"
    assert subprocess.run([sys.executable, "-c", code]).returncode == 0
