"""What the commands that use judges share: a judge from options, opened, closed, and its errors."""

from __future__ import annotations

import sys
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from setrl.cli.judging import label_file
from setrl.errors import ConfigError, DataError
from setrl.files import strict_yaml
from setrl.judges.base import Judge
from setrl.judges.config import from_config, spelled_out
from setrl.logs.judged_groups import TextKeys

# The policy where a config has none: a server that answers next to none of the first groups.
NOBODY_THERE = {"policy": "stop", "count": None, "share": 0.95, "at_least": 32}


def judge_settings(
    name: str | None, config: Path | None, options: Mapping[str, Any], cache: Path | None
) -> dict[str, Any]:
    """The settings of a judge from a name or a YAML file, and the options that were given.

    A language model that is out of reach ends the command, unless its settings have a policy.

    Raises:
        ConfigError: If neither or both are given, or the name or the file is wrong.
    """
    if (name is None) == (config is None):
        raise ConfigError("name the judge with --judge, or its YAML file with --config")
    try:
        settings = spelled_out(name) if name is not None else strict_yaml.read(config or "")[0]
    except ValueError as error:
        raise ConfigError(str(error)) from None
    settings |= {key: value for key, value in options.items() if value is not None}
    if settings.get("judge") == "lm":
        settings.setdefault("policy", dict(NOBODY_THERE))
        if cache is not None:
            settings.setdefault("cache", cache)
    return settings


@contextmanager
def opened(settings: Mapping[str, Any]) -> Iterator[Judge]:
    """The judge of some settings, closed at the end if it is one that must be.

    Raises:
        ConfigError: If the settings are wrong, or a package is missing.
    """
    try:
        judge = from_config(settings)
    except DataError:
        raise
    except (ValueError, TypeError, ImportError, OSError) as error:
        raise ConfigError(str(error)) from error
    try:
        yield judge
    finally:
        close = getattr(judge, "close", None)
        if close is not None:
            close()


def label_and_print(
    path: Path,
    output: Path,
    settings: Mapping[str, Any],
    keys: TextKeys,
    into: str,
    max_unknown: float,
) -> None:
    """Label a file and say on stderr what came of it.

    Raises:
        ConfigError: If a setting is wrong.
        DataError: If a file is wrong, or more groups than that share are unknown.
    """
    if not 0 <= max_unknown <= 1:
        raise ConfigError(f"--max-unknown must be in [0, 1], got {max_unknown}")
    with opened(settings) as judge:
        labelled = label_file(path, output, judge, keys, into)
    print(f"{judge.name}: {labelled.summary()}\n{output}", file=sys.stderr)
    unknown = labelled.unknown.total()
    if unknown > max_unknown * labelled.groups:
        raise DataError(
            f"{unknown} of {labelled.groups} groups are unknown, more than --max-unknown allows "
            f"({max_unknown:g}); the same command asks about them again"
        )
