"""The command line: its exit codes, and a sentence for each thing that is wrong."""

import os
import re
import signal
import subprocess
import sys

import pytest

from setrl import cli, methods
from setrl.cli import parser
from setrl.cli.extras import COMMANDS
from setrl.evaluate.metrics import METRICS
from setrl.judges import config, rendering
from setrl.logs.importers.tools import READERS
from setrl.tasks import benchmarks, domains


def run(capsys, *arguments):
    with pytest.raises(SystemExit) as left:
        cli.main([str(argument) for argument in arguments])
    return left.value.code, capsys.readouterr()


def _printed(code):
    """What Python prints when it runs a program in a process of its own."""
    command = [sys.executable, "-c", code]
    return subprocess.run(command, check=True, capture_output=True, text=True).stdout.strip()


def test_help_imports_nothing_heavy():
    code = (
        "import sys; from setrl import cli\n"
        "try: cli.main(['--help'])\n"
        "except SystemExit as left: assert left.code == 0\n"
        "else: raise SystemExit('no help')\n"
        "heavy = {'torch', 'transformers', 'trl', 'matplotlib', 'pydantic'} & set(sys.modules)\n"
        "print('heavy:', *heavy)"
    )
    assert _printed(code).endswith("heavy:")


def test_the_core_of_setrl_needs_only_numpy():
    code = (
        "import sys; before = set(sys.modules); from setrl import methods, set_advantages\n"
        "new = {name.partition('.')[0] for name in set(sys.modules) - before}\n"
        "print(*sorted(new & {'torch', 'tyro', 'yaml', 'tqdm', 'jinja2', 'pydantic', 'numpy'}))"
    )
    assert _printed(code) == "numpy"


@pytest.mark.parametrize(
    ("arguments", "code", "message"),
    [
        (["report", "nowhere"], 2, "nowhere"),
        (["train", "--config", "nowhere.yaml"], 2, "nowhere.yaml"),
        (["sample", "--checkpoint", "nowhere", "--domain", "polynomial"], 2, "nowhere"),
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
    path.write_text('{"rewards": [1, 0, 1], "strategies": [0, 1, 2]}\n' * 2_000)
    command = [sys.executable, "-c", "from setrl import cli; cli.main()", "credit", str(path)]
    reader, writer = os.pipe()
    os.close(reader)
    ended = subprocess.run(
        [*command, "--set-size", "2", "--quiet"],
        stdout=writer,
        stderr=subprocess.PIPE,
        text=True,
        check=False,
    )
    os.close(writer)
    assert ended.returncode == 1
    assert ended.stderr == ""


@pytest.mark.parametrize(
    ("command", "registries"),
    [
        ("sample", [domains.DOMAINS, benchmarks.BENCHMARKS]),
        ("evaluate", [METRICS]),
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
    assert not set(parser.REGISTRIES) & set(re.findall(r"{\w+}", printed.out))
    for registry in registries:
        assert not [name for name in registry if name not in printed.out]


def test_no_option_lacks_its_help(capsys):
    for names in map(str.split, COMMANDS):
        _, printed = run(capsys, *names, "--help")
        assert not re.findall(r"│ --\S+[^\n]*\n?│? +\((?:default|required)", printed.out)


def test_it_is_a_module_that_can_be_run():
    command = [sys.executable, "-m", "setrl", "credit", "nowhere.jsonl"]
    ended = subprocess.run(command, capture_output=True, text=True, check=False)
    assert (ended.returncode, "nowhere.jsonl: no such file" in ended.stderr) == (3, True)


@pytest.mark.parametrize(
    ("written", "meant"),
    [("credt", "credit"), ("evalute", "evaluate"), ("judge-adit", "judge-audit")],
)
def test_a_command_that_is_nearly_right_is_recognised(capsys, written, meant):
    code, printed = run(capsys, written)
    assert code == 2
    assert f"did you mean {meant!r}?" in printed.err
    assert len(printed.err.splitlines()) == 1


def test_the_version_is_printed(capsys):
    code, printed = run(capsys, "--version")
    assert code == 0
    assert re.fullmatch(r"setrl \d+\.\d+\.\d+\S*\n", printed.out)


@pytest.mark.parametrize(
    ("number", "code", "word"),
    [(signal.SIGINT, 130, "interrupted"), (signal.SIGTERM, 143, "terminated")],
)
def test_both_signals_end_a_command_with_a_sentence(tmp_path, number, code, word):
    path = tmp_path / "groups.jsonl"
    os.mkfifo(path)  # reading it waits for a writer
    command = [sys.executable, "-m", "setrl", "credit", str(path)]
    process = subprocess.Popen(command, stderr=subprocess.PIPE, text=True)
    with path.open("w"):  # opens once the command reads
        process.send_signal(number)
        _, error = process.communicate(timeout=60)
    assert process.returncode == code
    assert error == f"setrl: {word}; {cli.STARTS_AGAIN}\n"


@pytest.mark.parametrize(
    ("arguments", "resumes"),
    [
        (["train", "--config", "config.yaml"], True),
        (["control", "--config", "config.yaml"], True),
        (["judge", "groups.jsonl", "--judge", "exact"], True),
        (["sample", "--checkpoint", "m", "--domain", "polynomial", "--output", "o.jsonl"], True),
        (["evaluate", "log.jsonl"], False),
        (["recommend", "log.jsonl"], False),
        (["compare", "a.jsonl", "b.jsonl"], False),
    ],
)
def test_what_becomes_of_an_interrupted_command_is_said(monkeypatch, capsys, arguments, resumes):
    def interrupted(self):
        raise KeyboardInterrupt

    command = cli._parse_options(*cli._split_command_name(arguments))
    monkeypatch.setattr(type(command), "run", interrupted)
    code, printed = run(capsys, *arguments)
    assert code == 130
    assert printed.err == f"setrl: interrupted; {cli.RESUMES if resumes else cli.STARTS_AGAIN}\n"


@pytest.mark.parametrize(
    ("command", "wrong"),
    [
        ("train", "task: {data: own.jsonl}\nmodel: mine\ntruncated: stepz"),  # checked last
        ("control", "stepz: 3"),
    ],
)
def test_a_wrong_config_is_refused_before_anything_heavy_is_imported(tmp_path, command, wrong):
    path = tmp_path / "config.yaml"
    path.write_text(f"name: mine\narms: {{a: {{method: grpo}}}}\n{wrong}\n")
    (tmp_path / "own.jsonl").write_text('{"problem": "1 + 1", "answer": "2"}\n')
    code = (
        "import sys; from setrl import cli\n"
        f"try: cli.main(['{command}', '--config', {str(path)!r}])\n"
        "except SystemExit as left: assert left.code == 2\n"
        "heavy = {'torch', 'transformers', 'trl', 'datasets', 'stable_baselines3', 'matplotlib'}\n"
        "assert not heavy & set(sys.modules)"
    )
    ended = subprocess.run(
        [sys.executable, "-c", code], capture_output=True, text=True, check=False
    )
    assert ended.returncode == 0, ended.stderr
    assert "stepz" in ended.stderr


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ("compare a b --k 1,2", "--k takes numbers with spaces between them: --k 1 2, not 1,2"),
        ("evaluate a --k=1,2", "--k takes numbers with spaces between them: --k 1 2, not 1,2"),
        ("evaluate a --k 1,", "--k takes numbers with spaces between them: --k 1, not 1,"),
        ("compare a b c-d", "setrl compare takes fewer arguments: c-d is too much; see setrl comp"),
        ("evaluate a b c", "setrl evaluate takes fewer arguments: b, c is too much"),
    ],
)
def test_what_is_too_much_is_named_in_a_sentence(capsys, arguments, message):
    code, printed = run(capsys, *arguments.split())
    assert code == 2
    assert printed.err.startswith(f"setrl: {message}")
    assert "│" not in printed.err


def test_what_is_too_much_is_named_beside_what_is_missing(capsys):
    code, printed = run(capsys, "train", "tiny.yaml")
    assert code == 2
    assert "--config PATH" in printed.err
    assert "tiny.yaml" in printed.err


def test_an_unknown_option_gets_a_guess(capsys):
    code, printed = run(capsys, "compare", "a", "b", "--detail")
    assert code == 2
    assert "--details" in printed.err


def test_code_of_a_user_does_not_choose_the_exit_code(capsys, tmp_path):
    """A factory that calls `sys.exit(0)` would end a command green that has done nothing."""
    (tmp_path / "own.py").write_text("import sys\n\ndef leaves():\n    sys.exit(0)\n")
    (tmp_path / "c.yaml").write_text(
        "name: mine\ndomain: polynomial\narms:\n  one: {method: 'own:leaves'}\n"
    )
    code, said = run(capsys, "train", "--config", tmp_path / "c.yaml", "--dry-run")
    assert code == 1
    assert "code that the command runs called sys.exit(0) before it was done" in said.err
