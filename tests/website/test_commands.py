"""docs/cli.md has every command, with an example and with the options that its parser accepts."""

import re
import shlex

import pytest

pytest.importorskip("tyro")

from setrl import cli
from setrl.cli import parser
from website import commands

PAGE = commands.PAGE.read_text(encoding="utf-8")
TYRO = re.compile(r"^[│ ] {1,8}(--[a-z-]+)(?:, (--[a-z-]+))?", re.MULTILINE)  # its own help
ITEM = re.compile(r"^- `(--[a-z-]+)(?:, (--[a-z-]+))?.*: \S", re.MULTILINE)
WHOLE_ITEM = re.compile(r"^- .+(?:\n  .+)*", re.MULTILINE)


def block(name):
    """What the page has to say of a command."""
    return commands.filled(f"<!-- setrl {name} -->\n<!-- end -->")


def test_the_page_says_what_the_commands_say():
    assert commands.filled(PAGE) == PAGE, "python -m website.commands writes docs/cli.md anew"


def test_the_page_has_every_command():
    known = [*commands.COMMANDS, commands.FIELDS]
    assert sorted(commands.BLOCK.findall(PAGE)) == sorted(known)
    for name in known:
        assert re.search(rf"^### {name}$", PAGE, re.MULTILINE | re.IGNORECASE), name


@pytest.mark.parametrize("name", commands.COMMANDS)
def test_its_options_are_those_that_the_parser_accepts(name, capsys):
    with pytest.raises(SystemExit):
        parser.parsed(name, ["--help"])
    accepted = {one for row in TYRO.findall(capsys.readouterr().out) for one in row} - {""}
    options, _, lacking = re.sub(r"\s+(?=\S)", " ", block(name)).partition(commands.SHARED)
    as_elsewhere = options.partition(" As in [")[2]
    listed = {one for row in ITEM.findall(block(name)) for one in row} | {"--json"}
    listed |= set(re.findall("`(--[a-z-]+)", as_elsewhere))
    if lacking:
        fields = {commands.flag(one.name) for one in commands.LOG_FIELDS}
        listed |= fields - set(re.findall("`(--[a-z-]+)`", lacking))
    switched_on = {f"--no-{one.removeprefix('--')}" for one in listed}
    assert listed - {""} == accepted - {"--help"} - (switched_on - listed)


@pytest.mark.parametrize("example", re.findall(r"^```\nsetrl (.+)\n```$", PAGE, re.MULTILINE))
def test_its_examples_are_accepted(example):
    assert cli._parse_options(*cli._split_command_name(shlex.split(example))) is not None


def test_every_command_has_an_example():
    for name in commands.COMMANDS:
        assert f"\n```\nsetrl {name}" in PAGE


def test_an_option_is_explained_once():
    items = [one for name in commands.COMMANDS for one in WHOLE_ITEM.findall(block(name))]
    assert len(items) == len(set(items)) > 60
    assert "`--overwrite`" in block("control").partition("As in [train](#train): ")[2]


def test_a_value_is_shown_as_it_is_written():
    assert "- `--steps FIRST:LAST`: " in block("import")
    assert "- `--output PATH` (required): " in block("import")
    assert "- `--seed INT` (default `0`): " in block("sample")
    assert "- `--open, --no-open` (default `--open`): " in block("view")
    assert "`runs/<name>` by default" in block("train")
