"""recipes/trl: from a base model to a comparison, at a tiny size; docs/trl.md shows its lines."""

import contextlib
import importlib
import io
import json
import re
import sys
from pathlib import Path
from types import SimpleNamespace

import numpy as np
import pytest
import torch
from transformers import AutoModelForCausalLM

from setrl import cli, methods

ROOT = Path(__file__).parents[2]
RECIPE = ROOT / "recipes" / "trl"
GUIDE = ROOT / "docs" / "trl.md"


@pytest.fixture
def pilot(monkeypatch, tmp_path):
    monkeypatch.syspath_prepend(str(RECIPE))
    torch.set_num_threads(1)
    tiny, found = importlib.import_module("tiny"), importlib.import_module("pilot")
    monkeypatch.setattr(tiny, "WRITTEN", 40)
    sizes = {"STEPS": 2, "PROMPTS": 2, "N": 4, "SAMPLES": 8, "TOTALS": list(range(20, 52, 2))}
    for name, value in {**sizes, "OUT": tmp_path / "pilot"}.items():
        monkeypatch.setattr(found, name, value)
    return found


def in_process(command, stdout):
    """A command without a process of its own: each would import everything again."""
    assert command[:3] == [sys.executable, "-m", "setrl"]
    with contextlib.redirect_stdout(io.StringIO()) as printed, pytest.raises(SystemExit) as left:
        cli.main(command[3:])
    if stdout is None:
        print(printed.getvalue())
    return SimpleNamespace(stdout=printed.getvalue(), returncode=left.value.code)


def weights(folder):
    model = AutoModelForCausalLM.from_pretrained(folder)
    return torch.cat([weight.detach().flatten() for weight in model.parameters()])


def history(folder):
    return json.loads((folder / "trainer_state.json").read_text())["log_history"]


def records(path):
    return [json.loads(line) for line in path.read_text().splitlines()]


def test_the_pilot_goes_from_the_base_to_a_comparison(pilot, monkeypatch, capsys):
    monkeypatch.setattr(pilot.subprocess, "run", in_process)
    pilot.main()
    printed, out = capsys.readouterr().out, pilot.OUT
    for name, count in (("base", 12), ("grpo_held_out", 4), ("chosen_held_out", 4)):
        found = records(out / f"{name}.jsonl")
        assert (len(found), {record["n"] for record in found}) == (count, {8})
        assert any(label for record in found for label in record["strategies"])
    held_out, seen = (
        {record["prompt"] for record in records(out / f"{name}.jsonl")}
        for name in ("grpo_held_out", "base")
    )
    assert not held_out & seen
    base = weights(out / "model")
    arms = [weights(out / arm / "final") for arm in ("grpo", "chosen")]
    assert not torch.equal(arms[0], base)
    assert not torch.equal(arms[0], arms[1])  # two methods
    assert "B − A" in printed
    rates = {
        name: [one["learning_rate"] for one in history(out / name) if "learning_rate" in one]
        for name in ("base", "chosen", "chosen_held_out")
    }
    assert (set(rates["base"]), set(rates["chosen_held_out"])) == ({0}, {0})  # only sampled
    assert len(rates["chosen"]) == 2
    assert rates["chosen"][0] == 1e-3

    [shown] = re.findall(r"```console\n(\$ setrl import trl runs/pilot.*?)```",
                         GUIDE.read_text("utf-8"), re.DOTALL)  # fmt: skip
    commands = [re.findall(r"^\$ .*", text, re.MULTILINE) for text in (printed, shown)]
    ours = [line.replace(str(out), "runs/pilot") for line in commands[0]]
    assert [re.sub(r"\d+", "n", line) for line in ours] == [
        re.sub(r"\d+", "n", line) for line in commands[1]
    ]


def test_a_command_that_fails_ends_the_pilot_with_its_sentence(
    pilot, monkeypatch, tmp_path, capsys
):
    monkeypatch.setattr(pilot.subprocess, "run", in_process)
    with pytest.raises(SystemExit) as left:
        pilot.setrl("recommend", tmp_path / "none.jsonl")
    assert left.value.code == 3
    assert "none.jsonl: no such file" in capsys.readouterr().err


def test_the_guide_shows_lines_of_the_pilot():
    source = (RECIPE / "pilot.py").read_text("utf-8")
    section = GUIDE.read_text("utf-8").partition("## A pilot")[2].partition("\n## ")[0]
    blocks = re.findall(r"```python\n(.*?)```", section, re.DOTALL)
    assert len(blocks) == 1
    for block in blocks:
        assert block in source
    assert sum(block.count("\n") for block in blocks) <= 64


def test_the_written_answers_are_right_as_often_as_they_should_be(pilot):
    """Each prompt has at least two right pairs, and the reward knows them."""
    import random

    import tiny

    rng = random.Random(0)
    answers = [tiny.answer(total, rng) for total in [50] * 400]
    rewards = pilot.correct(answers, [50] * 400)
    assert np.mean(rewards) == pytest.approx(1 - tiny.WRONG, abs=0.06)
    assert len({a for a, reward in zip(answers, rewards, strict=True) if reward}) == 4
    assert pilot.correct(["3 and 47", "47 and 3", "25 and 25", "3 and 49", "50"], [50] * 5) == [
        *(1, 1, 0, 0, 0)
    ]
    assert pilot.strategy(["47 and 3", "3 and 47", "50"]) == ["3 + 47", "3 + 47", -1]


def test_sizes_are_those_of_the_credit(pilot, monkeypatch, tmp_path):
    sizes = importlib.import_module("sizes")
    monkeypatch.setattr(sizes, "STEPS", 1)
    base = pilot.tiny_model(tmp_path / "model", pilot.TOTALS)
    one, ten = (sizes.measured(base, factor * methods.concave_counts(0.25)) for factor in (1, 10))
    assert one.size > 0
    assert ten.size == pytest.approx(10 * one.size)
    assert ten.norms[0] == pytest.approx(10 * one.norms[0], rel=1e-3)
    start = sizes.measured(base, 0 * methods.dr_grpo())
    assert start.norms == [0]
    assert torch.equal(start.weights, weights(base))
    assert sizes.moved(start.weights, one, one) == 0
