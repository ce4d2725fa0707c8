"""What commands print: nothing that a terminal obeys, and no locale ends them."""

import json
import os
import subprocess
import sys
import warnings

import pytest

from setrl import cli
from setrl.cli.output import warnings_as_notes
from setrl.support import files
from setrl.support.wording import printable

HOSTILE = "\x1b[31mred\x1b]0;title\x07\x9b2J\r\x7f"


@pytest.fixture
def log(tmp_path):
    """A log whose file, fields, ids, prompts and texts hold escape codes, and bytes of no text."""
    record = {
        "id": HOSTILE,
        "prompt": HOSTILE,
        "samples": [HOSTILE] * 4,
        "rewards": [0.0, 1.0, 0.0, 1.0],
        HOSTILE: 1,
    }
    path = tmp_path / os.fsdecode(b"mine-\xff\x1b[31m.jsonl")
    files.write_lines(path, [record, {**record, "id": "second", "prompt": "other"}])
    return path


COMMANDS = ["evaluate LOG", "evaluate LOG --json", "compare LOG LOG", "credit LOG --method grpo"]
COMMANDS += ["judge LOG --judge exact", "import trl LOG -o out.jsonl", "recommend LOG"]


@pytest.mark.parametrize("command", COMMANDS)
def test_no_escape_code_of_a_log_reaches_the_terminal(log, capsys, monkeypatch, command):
    monkeypatch.chdir(log.parent)
    with pytest.raises(SystemExit):
        cli.main([str(log) if word == "LOG" else word for word in command.split()])
    printed = capsys.readouterr()
    assert printed.out + printed.err != ""
    for text in (printed.out, printed.err):
        assert text == printable(text, keep="\r")
        assert "\x1b" not in text


def test_credit_printed_as_json_is_what_the_log_holds(log, capsys):
    with pytest.raises(SystemExit):
        cli.main(["credit", str(log), "--method", "grpo"])
    first = json.loads(capsys.readouterr().out.splitlines()[0])
    assert first["id"] == HOSTILE


def test_warnings_are_notes_without_the_place_in_the_code(capsys):
    with warnings.catch_warnings():
        warnings.simplefilter("always")
        with warnings_as_notes():
            warnings.warn("alpha is 0", stacklevel=1)
            warnings.warn("gone soon", DeprecationWarning, stacklevel=1)
    printed = capsys.readouterr().err
    assert printed.startswith("note: alpha is 0\n")
    assert "note: gone" not in printed


@pytest.mark.parametrize("arguments", [["evaluate", "--help"], ["compare", "LOG", "LOG"]])
def test_a_locale_without_unicode_ends_no_command(log, arguments):
    environment = {**os.environ, "PYTHONUTF8": "0", "LC_ALL": "POSIX"}
    code = "from setrl.cli import main; main()"
    words = [str(log) if word == "LOG" else word for word in arguments]
    done = subprocess.run(
        [sys.executable, "-c", code, *words], env=environment, capture_output=True
    )
    assert done.returncode == 0, done.stderr.decode()
    assert not done.stdout.isascii()
    assert "setrl" in done.stdout.decode() or "pass@1" in done.stdout.decode()
