"""The command line: its exit codes, and a sentence for each thing that is wrong."""

import os
import re
import subprocess
import sys

import pytest

from setrl import cli, domains, methods
from setrl.evaluation.metrics import METRICS
from setrl.judges import config, rendering
from setrl.logs.tools import READERS
from setrl.rewards import benchmarks


def run(capsys, *arguments):
    with pytest.raises(SystemExit) as left:
        cli.main([str(argument) for argument in arguments])
    return left.value.code, capsys.readouterr()


def test_help_imports_nothing_heavy():
    code = (
        "import sys; from setrl import cli\n"
        "try: cli.main(['--help'])\n"
        "except SystemExit as left: assert left.code == 0\n"
        "assert not {'torch', 'transformers', 'trl', 'matplotlib'} & set(sys.modules)"
    )
    subprocess.run([sys.executable, "-c", code], check=True, capture_output=True)


def test_import_setrl_needs_numpy_alone():
    code = (
        "import sys; before = set(sys.modules); import setrl\n"
        "new = {name.partition('.')[0] for name in set(sys.modules) - before}\n"
        "assert not new & {'torch', 'tyro', 'yaml', 'tqdm', 'jinja2', 'matplotlib'}, new"
    )
    subprocess.run([sys.executable, "-c", code], check=True, capture_output=True)


@pytest.mark.parametrize(
    ("arguments", "code", "message"),
    [
        (["report", "nowhere"], 2, "nowhere"),
        (["train", "--config", "nowhere.yaml"], 2, "nowhere.yaml"),
        (["evaluate", "--checkpoint", "nowhere", "--domain", "polynomial"], 2, "nowhere"),
    ],
)
def test_what_is_wrong_is_said(capsys, arguments, code, message):
    left, printed = run(capsys, *arguments)
    assert left == code
    assert message in printed.err


def test_an_unknown_flag_leaves_with_2(capsys):
    code, printed = run(capsys, "report", "run", "--refrence", "base")
    assert code == 2
    assert "--reference" in printed.err


def test_a_reader_who_leaves_gets_no_traceback(tmp_path):
    path = tmp_path / "groups.jsonl"
    path.write_text('{"rewards": [1, 0, 1], "clusters": [0, 1, 2]}\n' * 2_000)
    command = [sys.executable, "-c", "from setrl import cli; cli.main()", "credit", str(path)]
    reader, writer = os.pipe()
    os.close(reader)
    ended = subprocess.run(
        [*command, "--set-size", "2"], stdout=writer, stderr=subprocess.PIPE, text=True, check=False
    )
    os.close(writer)
    assert ended.returncode == 1
    assert ended.stderr == ""


@pytest.mark.parametrize(
    ("command", "registries"),
    [
        ("train-judge", [domains.DOMAINS]),
        ("evaluate", [domains.DOMAINS, benchmarks.BENCHMARKS, METRICS]),
        ("compare", [METRICS]),
        ("credit", [methods.by_name]),
        ("judge", [config.by_name, rendering.STYLES]),
        ("judge-audit", [config.by_name, rendering.STYLES]),
        ("import", [READERS]),
    ],
)
def test_help_names_all_that_is_registered(capsys, command, registries):
    code, printed = run(capsys, command, "--help")
    assert code == 0
    assert not set(cli.REGISTRIES) & set(re.findall(r"{\w+}", printed.out))
    for registry in registries:
        assert not [name for name in registry if name not in printed.out]


def test_no_option_lacks_its_help(capsys):
    for names in ([name] for name in cli.COMMANDS):
        _, printed = run(capsys, *names, "--help")
        assert not re.findall(r"│ --\S+[^\n]*\n?│? +\((?:default|required)", printed.out)


def test_it_is_a_module_that_can_be_run():
    command = [sys.executable, "-m", "setrl", "credit", "nowhere.jsonl"]
    ended = subprocess.run(command, capture_output=True, text=True, check=False)
    assert (ended.returncode, "nowhere.jsonl: cannot be read" in ended.stderr) == (3, True)
