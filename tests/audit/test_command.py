"""`setrl audit`: what it audits, what it prints, and its exit codes."""

from __future__ import annotations

import json
import re
import shlex
from pathlib import Path

import numpy as np
import pytest

from setrl import cli, methods
from setrl.core.method import AnyMethod
from setrl.theory.audit import batches

COMMANDS = re.compile(r"\$ (setrl .*?)(?=\$ setrl|\Z)", re.DOTALL)
GUIDE = (Path(__file__).parents[2] / "docs/audit.md").read_text(encoding="utf-8")


@pytest.fixture
def run(capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch, tmp_path: Path):
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(batches, "LOOKS", 20)

    def of(*arguments: str) -> tuple[int, str, str]:
        with pytest.raises(SystemExit) as left:
            cli.main(["audit", *arguments])
        return left.value.code, *capsys.readouterr()

    return of


def test_what_is_required_decides_the_exit_code(run, tmp_path: Path) -> None:
    Path("my_estimators.py").write_text(
        "def centred(rewards):\n    return rewards - rewards.mean(-1, keepdims=True)\n"
    )
    both = ("--require", "unbiased", "--require", "permutation-invariant", "--group-size", "2")
    code, said, _ = run("my_estimators:centred", "--claims", "pass@1", *both)
    assert code == 0
    assert said.startswith("Claim pass@1: centred keeps it, because it is unbiased.\ncentred optim")
    assert said.endswith("(6 more with --details)\n")
    code, _, why = run("my_estimators:centred", "--claims", "pass@2", *both)
    assert code == 1
    assert "does not hold: unbiased" in why
    Path("inside").mkdir()
    Path("my_estimators.py").rename("inside/own.py")
    assert run("inside/own.py:centred", "--claims", "pass@1", *both)[:2] == (0, said)
    code, _, why = run("grpo", "--require", "unbaised")
    assert code == 2
    assert "did you mean 'unbiased'?" in why


def test_options_of_a_method_are_set(run) -> None:
    code, said, _ = run(
        "concave_counts", "--set", "alpha=0.25", "--group-size", "3", "--labels", "2"
    )
    assert code == 0
    assert said == run("{method: concave_counts, alpha: 0.25}", "--group-size=3", "--labels=2")[1]


def test_the_guide_prints_what_it_shows(run) -> None:
    blocks = re.findall(r"```(?:python|text)\n(.*?)```", GUIDE, re.DOTALL)[:6]
    Path("mine.py").write_text("\n\n".join(blocks[::2]))
    for shown in COMMANDS.findall("".join(blocks[1::2])):
        code, said, _ = run(*shlex.split(shown.splitlines()[0])[2:])
        assert code == 0
        assert said.splitlines() == shown.splitlines()[1:]


def test_json(run) -> None:
    code, said, _ = run("dr_grpo", "--json", "--claims", "3*pass@1")
    found = json.loads(said)
    assert code == 0
    assert found["objective"]["is"] == "3·∇pass@1"
    assert found["requirements"]["unbiased"] is True
    assert np.shape(found["gradient"]) == np.shape(found["policies"])


def test_settings_and_fields_reach_the_function(run) -> None:
    Path("mine.py").write_text(
        "def powered(rewards, power=1.0):\n"
        "    centred = rewards - rewards.mean(-1, keepdims=True)\n"
        "    return centred / (rewards.std(-1, keepdims=True) + 1e-6)**power\n"
        "def long(token_level_rewards, response_mask, config=None, **_):\n"
        "    paid = token_level_rewards.sum(-1) * response_mask.sum(-1) / config.most\n"
        "    return paid[:, None] * response_mask, None\n"
        "def lengths(rewards, labels):\n"
        "    return 2 + 0 * rewards\n"
    )
    _, said, _ = run("mine:powered", "--set", "power=0", "--group-size", "3")
    assert said.startswith("powered optimises pass@1: its mean update is 2·∇pass@1")
    size = ("--group-size", "2", "--set", "most=3")
    _, said, _ = run("mine:long", *size, "--field", "length=3,1")
    assert said.startswith("long optimises pass@1: its mean update is 2·∇pass@1")
    _, said, _ = run("mine:long", *size, "--field", "length=mine:lengths", "--set", "mots=3")
    assert said.startswith("Warning: no call read the settings mots.")
    assert "4/3·∇pass@1" in said
    for wrong, message in [
        (("mine:long", "--field", "length=1,2,3"), "needs 2 numbers, one for each reward"),
        (("mine:powered", "--field", "length=1,2"), "needs a trainer that passes it"),
        (("grpo", "--trainer", "verl"), "are of functions, not of methods"),
        (("grpo", "--rewards", "0", "one"), "must be numbers, such as 0 0.5 1, got 0 one"),
    ]:
        code, _, why = run(*wrong)
        assert code == 2
        assert message in why


def test_three_rewards_and_a_setting_of_a_method(run) -> None:
    _, said, _ = run(
        "maxpo", "--set", "set_size=2", "--rewards", "0,1/2,1", "--group-size", "3", "--details"
    )
    assert said.startswith("maxpo optimises max@2: its mean update is 3/2·∇max@2, exactly (groups")
    assert "no sample of the lowest reward more than 0" in said


def _log(path: Path, method: AnyMethod | None, halves: bool = True) -> None:
    """Write groups of 4 with a method's advantages, or with others; with or without two right."""
    rng = np.random.default_rng(0)
    rows = []
    for prompt in range(60):
        rewards = (rng.random((1, 4)) < rng.random()) * 1.0
        if rewards.sum() == 2 and not halves:
            continue
        centred = rewards - rewards.mean()
        values = centred * (2 - rewards.mean())
        if method is not None:
            values = method.advantages(rewards).values_BN
        for number in range(4):
            advantage = round(float(values[0, number]), 6)
            row = {"prompt": f"{prompt}", "completion": f"{number}", "reward": rewards[0, number]}
            rows.append(json.dumps(row | {"advantage": advantage}))
    path.write_text("\n".join(rows))


def test_a_log_names_the_method_that_gave_its_advantages(run) -> None:
    _log(Path("log.jsonl"), methods.grpo())
    code, said, read = run("log.jsonl")
    assert code == 0
    assert "60 groups of 4: the recorded advantages are grpo" in read
    assert said.startswith("log.jsonl follows the gradient of no objective that we know")

    rows = [json.loads(line) for line in Path("log.jsonl").read_text().splitlines()]
    for row in rows[1:8:4]:  # a sample of each of the first two groups
        row["advantage"] = None
    Path("log.jsonl").write_text("\n".join(json.dumps(row) for row in rows[:-1]))
    code, _, read = run("log.jsonl")
    assert code == 0
    why = (
        "2 with a sample that has no reward or no advantage and 1 with more or fewer than 4 samples"
    )
    assert f"57 of 60 groups were checked; the others were not: {why}." in read
    assert "57 groups of 4: the recorded advantages are grpo" in read


def test_a_log_that_no_method_or_several_methods_explain_is_refused(run) -> None:
    _log(Path("log.jsonl"), None)
    code, _, why = run("log.jsonl")
    assert code == 2
    assert "no method with its default arguments gives the advantages of the log (60 groups" in why
    _log(Path("log.jsonl"), methods.rloo(), halves=False)
    code, _, why = run("log.jsonl")
    assert code == 2
    assert "the recorded advantages are rloo, or 0.6668 times grpo" in why
    assert "no groups that tell them apart" in why
    row = '{"prompt": "p", "completion": "c", "reward": 0, "advantage": 0}\n'
    Path("one.jsonl").write_text(2 * row)
    assert "all samples of the log have the reward 0" in run("one.jsonl")[2]
