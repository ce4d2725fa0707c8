"""--help fits a screen and names all options; --json prints one object, with the keys it states."""

import json
import re

import pytest

from setrl.cli import parser
from setrl.cli.extras import COMMANDS
from setrl.cli.help import options
from setrl.cli.output import Said, listed

NAMED = {name: parser.command_of(name) for name in COMMANDS}
every = pytest.mark.parametrize("name", NAMED)
SCREEN = 40  # lines of 100 columns


@pytest.fixture
def wide(monkeypatch):
    monkeypatch.setenv("COLUMNS", "100")


def test_the_first_help_fits_a_screen_and_gives_each_command_a_line(setrl, wide):
    code, text, _ = setrl("--help")
    lines = text.splitlines()
    assert (code, len(lines) <= SCREEN, max(map(len, lines[:-1])) <= 100) == (0, True, True)
    shown = [re.split(r"\s\s+", line)[1] for line in lines if line.startswith("  ")]
    assert shown == list(COMMANDS)
    assert "…" not in text


@every
def test_the_help_of_a_command_fits_a_screen_and_names_its_options(name, setrl, wide):
    _, text, _ = setrl(*name.split(), "--help")
    assert text.count("\n") <= SCREEN
    for shared in (True, False):
        for option in options(NAMED[name], shared=shared):
            assert option.spelled.split()[0].rstrip(",") in text


def test_the_fields_of_a_log_are_explained_apart(setrl):
    _, text, _ = setrl("evaluate", "--help-fields")
    assert "--num-correct TEXT" in text
    assert "--metrics" not in text


def test_help_after_two_dashes_is_an_answer(setrl):
    code, text, _ = setrl("grade", "--json", "--", "5", "-h")
    assert (code, json.loads(text)["verdict"]) == (10, "wrong")


@every
def test_every_command_states_what_its_json_holds(name, setrl):
    command = NAMED[name]
    assert issubclass(command, Said), f"{command.__name__} must inherit from setrl.cli.output.Said"
    keys = listed(command, "Json")
    assert len(keys) > 1, f"the docstring of {command.__name__} needs a list Json of its keys"
    _, text, _ = setrl(*name.split(), "--help-json")
    assert all(f"\n  {key} " in text for key in keys)


def test_a_run_without_dry_run_states_no_plan(setrl):
    stated = {name: setrl(*name.split(), "--help-json")[1] for name in ("train", "control")}
    assert ["plan" in text for text in stated.values()] == [True, False]


@pytest.fixture
def log(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    rows = [
        {"prompt": f"{place} + 1", "rewards": [1, 0, 1, 1, 0], "strategies": [0, 1, 2, 0, 3],
         "texts": ["a", "b", "c", "a", "d"]} for place in range(5)
    ]  # fmt: skip
    path = tmp_path / "log.jsonl"
    path.write_text("".join(f"{json.dumps(row)}\n" for row in rows))
    return path


@pytest.mark.parametrize(
    ("arguments", "code", "found"),
    [
        ("evaluate log.jsonl", 0, {"n": 5, "problems": 5}),
        ("compare log.jsonl log.jsonl", 0, {"schema_version": 2, "problems": 5}),
        ("recommend log.jsonl", 0, {"prompts": 5}),
        ("credit log.jsonl --output rows.jsonl", 0, {"groups": 5, "right": 15, "wrong": 10}),
        ("judge log.jsonl --judge exact --into label", 0, {"groups": 5, "strategies": 20}),
        ("judge-audit log.jsonl --judge exact --orders 2 --set-size 2", 0, {}),
        ("import jsonl log.jsonl --output e.jsonl", 0, {"problems": 5, "samples": [5, 5]}),
        ("audit rloo --group-size 2", 0, {"group_size": 2}),
        ("grade 1 2", 10, {"verdict": "wrong"}),
        ("playground --no-open", 0, {"page": "setrl-playground.html"}),
    ],
)
def test_json_is_all_that_is_printed(arguments, code, found, log, setrl):
    """Only keys that are stated are printed: `say_json` checks this at every call."""
    left, printed, said = setrl(*arguments.split(), "--json")
    assert left == code, said
    assert found.items() <= json.loads(printed).items()


def test_the_rows_and_the_summary_of_credit_do_not_share_a_stream(log, setrl):
    code, printed, said = setrl("credit", log, "--json")
    assert (code, printed, "--output" in said) == (2, "", True)
