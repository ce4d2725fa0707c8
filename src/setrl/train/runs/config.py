"""The part of a config that every kind of run shares: arms, each trained once with each seed."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Annotated, Any, ClassVar, Self

import yaml
from annotated_types import Le

from setrl.logs.run import BASE, FIGURES, RunKind
from setrl.support.files import strict_yaml
from setrl.support.files.sections import Count, Natural, Section, blamed_on, require
from setrl.support.files.strict_yaml import KeyedError
from setrl.train import method_config

OTHER_FOLDERS = {BASE, FIGURES}  # the folders next to the arms in a run's folder
MOST_SEED = 2**32 - 1
OF_COMMAND = {  # key → the only command whose configs have it
    **dict.fromkeys(
        ("domain", "model", "steps", "prompts_per_step", "samples_per_prompt", "engine", "trainer"),
        "setrl train",
    ),
    **dict.fromkeys(
        ("total_steps", "ppo", "gru", "eval_every", "pretrain_seed", "algorithm"),
        "setrl control",
    ),
}
NO_RESULT = re.compile(r"workers|stop_rule|.+\.folder")  # keys that change no result


@dataclass(frozen=True, kw_only=True)
class RunConfig(Section):
    """A config of several arms. Subclasses add what their kind of run needs, and check it."""

    kind: ClassVar[RunKind]
    command: ClassVar[str]
    """The command that reads it."""

    name: str
    """Name of the run; by default its folder is runs/<name>."""
    arms: Mapping[str, Mapping[str, Any]]
    """Arm name → what sets this arm apart from the others."""
    seeds: tuple[Annotated[Natural, Le(MOST_SEED)], ...] = (0,)
    """Each arm is trained once with each seed."""
    workers: Count = 2
    """Processes that train side by side, one thread each. The results do not depend on it."""

    def __post_init__(self) -> None:
        super().__post_init__()
        self._check_names()
        different = bool(self.seeds) and len(set(self.seeds)) == len(self.seeds)
        require(different, "seeds", "be different numbers ≥ 0", self.seeds)
        self._check()
        for arm in self.arms:
            with blamed_on(f"arms.{arm}", f"arm {arm!r}: "):
                self._check_arm(arm)

    def _check(self) -> None:
        """Check the keys of a subclass."""

    def _check_arm(self, arm: str) -> None:
        """Check the keys of an arm."""

    def _check_names(self) -> None:
        for key, name in [("name", self.name), *(("arms", arm) for arm in self.arms)]:
            if not re.fullmatch(r"[A-Za-z0-9][\w.+-]{0,99}", name):
                raise KeyedError(
                    f"{key}: {name!r:.120} must start with a letter or digit and have only "
                    "letters, digits and ._+-, 100 at most",
                    key,
                )
        if not self.arms:
            raise KeyedError("arms must name at least one arm", "arms")
        self._check_folders()

    def _check_folders(self) -> None:
        """Refuse arms whose folders are taken; some file systems ignore the case of letters."""
        folders = {name: name for name in OTHER_FOLDERS}
        for arm in self.arms:
            other = folders.setdefault(arm.casefold(), arm)
            if arm.casefold() in OTHER_FOLDERS:
                raise KeyedError(
                    f"arms: {arm!r} is reserved for another folder of the run: choose another name",
                    "arms",
                )
            if other != arm:
                raise KeyedError(
                    f"arms: {other!r} and {arm!r} are one folder where file systems ignore the "
                    "case of letters: choose another name",
                    f"arms.{arm}",
                )

    @classmethod
    def load(cls, path: str | Path, overrides: Sequence[str] = ()) -> Self:
        """Read a config from a YAML file; unknown keys are refused.

        Args:
            path: The file.
            overrides: Assignments that replace keys, such as "arms.poly_epo.set_size=8".

        Raises:
            ConfigError: Naming the file, the line and the key; for an unknown key, the nearest one.
        """
        values, _ = strict_yaml.read(path)
        with strict_yaml.placed(path, overrides):
            strict_yaml.override(values, overrides)
            _refuse_other_command(cls.command, values)
            return cls.of(cls._with_folder(values, Path(path)))

    @classmethod
    def _with_folder(cls, values: dict[str, Any], path: Path) -> dict[str, Any]:
        """Return the values, with paths that start in the folder of the config's file."""
        return values

    def to_yaml(self) -> str:
        """Return the config with every default written out."""
        return yaml.safe_dump(_as_yaml_values(vars(self)), sort_keys=False, allow_unicode=True)

    def differences(self, other: Self) -> list[str]:
        """Return what differs in `other` and changes results that exist already, one line a key.

        Arms and seeds that `other` adds do not count.
        """
        mine, theirs = _as_yaml_values(vars(self)), _as_yaml_values(vars(other))
        theirs["arms"] = {arm: theirs["arms"].get(arm, _ABSENT) for arm in mine["arms"]}
        if set(mine["seeds"]) <= set(theirs["seeds"]):
            theirs["seeds"] = mine["seeds"]
        return [line for key in mine for line in _list_differences(key, mine[key], theirs[key])]


class _Absent:
    def __repr__(self) -> str:
        return "not given"


_ABSENT = _Absent()


def _list_differences(key: str, mine: Any, theirs: Any) -> list[str]:
    """Return one line for each key below `key` whose value differs."""
    if NO_RESULT.fullmatch(key):
        return []
    if isinstance(mine, dict) and isinstance(theirs, dict):
        return [
            line
            for name in dict.fromkeys([*mine, *theirs])
            for line in _list_differences(
                f"{key}.{name}", mine.get(name, _ABSENT), theirs.get(name, _ABSENT)
            )
        ]
    return [] if mine == theirs else [f"{key}: {mine!r} → {theirs!r}"]


def arms_with_folder(arms: Any, folder: str) -> Any:
    """Return the arms of a config's file, with the folder in which modules of methods are."""
    if not isinstance(arms, Mapping):
        return arms
    return {arm: method_config.with_folder(keys, folder) for arm, keys in arms.items()}


def _refuse_other_command(command: str, values: Mapping[str, Any]) -> None:
    """Refuse a config that another command reads, as its keys or those of its arms show."""
    places = {key: key for key in values}
    arms = values.get("arms")
    for arm, keys in arms.items() if isinstance(arms, Mapping) else ():
        places |= {key: f"arms.{arm}.{key}" for key in keys if isinstance(keys, Mapping)}
    for key, place in places.items():
        owner = OF_COMMAND.get(key, command)
        if owner != command:
            raise KeyedError(
                f"{key!r} is a key of `{owner}`, not of `{command}`: give this config to `{owner}`",
                place,
            )


def _as_yaml_values(value: Any) -> Any:
    """Return tuples as lists and mappings as dicts, as in YAML."""
    if isinstance(value, Mapping):
        return {key: _as_yaml_values(item) for key, item in value.items()}
    return [_as_yaml_values(item) for item in value] if isinstance(value, list | tuple) else value
