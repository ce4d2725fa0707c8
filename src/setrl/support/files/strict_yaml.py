"""Read YAML strictly: every value with its line, nothing accepted by accident."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from itertools import chain
from pathlib import Path
from typing import Any

import typing_extensions
import yaml

from setrl.support.errors import ConfigError

PROGRAMS = (".py", ".sh", ".ipynb")
MOST_CHARACTERS = 1_000_000  # of a file whose aliases and merge keys are written out


class KeyedError(ConfigError):
    """A config is wrong at `key`, a dotted path such as "arms.poly_epo.set_size"."""

    def __init__(self, message: str, key: str = ""):
        super().__init__(message)
        self.key = key


class _Loader(yaml.SafeLoader):
    """Safe YAML in which 1e-3 is a number, as in every other language."""

    @typing_extensions.override
    def construct_object(self, node: yaml.Node, deep: bool = False) -> Any:
        try:
            made = super().construct_object(node, deep)
            if isinstance(made, int):
                str(made)  # Python prints no number of thousands of digits, as an error has to
        except (ArithmeticError, AttributeError, LookupError, TypeError, ValueError) as error:
            raise _NotMade(None, None, _not_made_text(node, error), node.start_mark) from error
        return made


class _NotMade(yaml.constructor.ConstructorError):
    """YAML takes a value for something that Python cannot make, such as the 30th of February."""


def _not_made_text(node: yaml.Node, error: Exception) -> str:
    kind, text = node.tag.rpartition(":")[2], f"{node.value!s:.40}"
    words = {"timestamp": "a date", "int": "a number", "float": "a number", "bool": "true or false"}
    why = f" ({error})" if isinstance(error, ValueError) else ""
    return (
        f"{text!r} is read as {words.get(kind, kind)}, and is none{why}: correct it, or put quotes "
        f"around it if it is text"
    )


_Loader.add_implicit_resolver(
    "tag:yaml.org,2002:float",
    re.compile(r"[-+]?(?:[0-9]+\.?[0-9]*|\.[0-9]+)(?:[eE][-+]?[0-9]+)$|[-+]?[0-9]+\.[0-9]*$"),
    list("-+.0123456789"),
)


def read(path: str | Path) -> tuple[dict[str, Any], dict[str, int]]:
    """Read the mapping in a YAML file, and the line of each of its keys by dotted path.

    Raises:
        ConfigError: If the file cannot be read, is not YAML, is not a mapping, or repeats a key.
    """
    if Path(path).suffix in PROGRAMS:
        raise KeyedError(
            f"{path} is a program, not a config: this command reads a YAML file, whose keys "
            "docs/from-problems.md lists, and no settings of a script"
        )
    try:
        text = Path(path).read_text(encoding="utf-8")
    except (OSError, UnicodeDecodeError) as error:
        reason = error.strerror if isinstance(error, OSError) else error
        raise KeyedError(f"{path}: cannot read the config: {reason}") from error
    config, lines = parse(text, str(path))
    if not isinstance(config, dict):
        raise KeyedError(f"{path}: a config must be a mapping of keys to values")
    return config, lines


def parse(text: str, where: str) -> tuple[Any, dict[str, int]]:
    """Return the value of a YAML text, and the line of each of its keys by dotted path.

    Args:
        text: The text.
        where: What it is, for errors.

    Raises:
        ConfigError: If it is not YAML, repeats a key, or its aliases make much of a small text.
    """
    try:
        loader = _Loader(text)
        node = loader.get_single_node()
        if node is None:
            return None, {}
        if _expanded_size(node, {}) > MOST_CHARACTERS:
            raise KeyedError(
                f"{where}: its aliases (*name) and merge keys (<<) stand for more than "
                f"{MOST_CHARACTERS:,} characters: write the values themselves"
            )
        lines = _lines_of_keys(node, where)  # before merge keys are replaced by what they stand for
        return loader.construct_document(node), lines
    except yaml.MarkedYAMLError as error:
        line = f":{error.problem_mark.line + 1}" if error.problem_mark else ""
        wrong = "" if isinstance(error, _NotMade) else "is not YAML: "
        raise KeyedError(f"{where}{line}: {wrong}{error.problem}") from error
    except yaml.YAMLError as error:
        raise KeyedError(f"{where}: is not YAML: {' '.join(str(error).split())}") from error
    except RecursionError:
        raise KeyedError(f"{where}: is nested too deeply to be read") from None


def _expanded_size(node: yaml.Node, sizes: dict[int, float]) -> float:
    """Return the number of characters with all aliases written out, in one look at each node."""
    if id(node) not in sizes:
        sizes[id(node)] = float("inf")  # of a node that holds itself
        parts = node.value if isinstance(node, yaml.SequenceNode) else ()
        if isinstance(node, yaml.MappingNode):
            parts = chain.from_iterable(node.value)
        letters = len(node.value) if isinstance(node, yaml.ScalarNode) else 0
        sizes[id(node)] = 1 + letters + sum(_expanded_size(part, sizes) for part in parts)
    return sizes[id(node)]


def mapping(text: str, what: str) -> dict[str, Any]:
    """Read the mapping in a string such as "{method: poly_epo, set_size: 8}".

    Raises:
        ConfigError: If it is not a mapping, saying what must be one.
    """
    value, _ = parse(text, what)
    if not isinstance(value, dict):
        raise ConfigError(f"{what} must be a mapping such as {{key: value}}, got {text!r}")
    return value


def _lines_of_keys(node: yaml.Node, where: str) -> dict[str, int]:
    lines: dict[str, int] = {}

    def visit(node: yaml.Node, prefix: str) -> None:
        for key_node, value_node in node.value if isinstance(node, yaml.MappingNode) else ():
            key, line = f"{prefix}{key_node.value}", key_node.start_mark.line + 1
            if key in lines:
                raise KeyedError(f"{where}:{line}: {key} is also on line {lines[key]}", key)
            lines[key] = line
            visit(value_node, f"{key}.")

    visit(node, "")
    return lines


def override(values: dict[str, Any], assignments: Sequence[str]) -> None:
    """Set values by assignments such as "steps=10" or "arms.poly_epo.set_size=8", in place.

    Raises:
        ConfigError: If one is not of the form key=value, or goes through a value.
    """
    for assignment in assignments:
        key, equals, text = assignment.partition("=")
        if not equals:
            raise KeyedError(f"an override must look like key=value, got {assignment!r}", key)
        *path, last = key.split(".")
        target = values
        for part in path:
            target = target.setdefault(part, {})
            if not isinstance(target, dict):
                raise KeyedError(f"override {assignment!r}: {part} is not a mapping", key)
        target[last], _ = parse(text, f"override {assignment!r}")


@contextmanager
def placed(path: str | Path, assignments: Sequence[str] = ()) -> Iterator[None]:
    """Inside it, an error that names a key also names the file and the line of that key."""
    try:
        yield
    except KeyedError as error:
        where = place(error.key, path, read(path)[1], assignments)
        raise KeyedError(f"{where}: {error}", error.key) from error


def place(
    key: str, path: str | Path, lines: dict[str, int], assignments: Sequence[str] = ()
) -> str:
    """Where the value of a key, or of the mapping that it is in, was given, for an error.

    An override of the key, or of a mapping around it, replaces what the file has; an override
    inside the key changes a part.
    """
    while key:
        given = [f"{path}:{lines[key]}"] if key in lines else []
        changed: list[str] = []
        for assignment in assignments:
            target = f"{assignment.partition('=')[0]}."
            if f"{key}.".startswith(target):
                given, changed = [f"override {assignment!r}"], []
            elif target.startswith(f"{key}."):
                changed.append(f"override {assignment!r}")
        if given or changed:
            between = ", changed by " if given and changed else ""
            return "".join(given) + between + ", ".join(changed)
        key = key.rpartition(".")[0]
    return f"{path}"
