"""The part of a config that every kind of run shares: arms, each trained once with each seed."""

from __future__ import annotations

import dataclasses
import re
import warnings
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any, ClassVar, Self, get_type_hints

import yaml

from setrl.core import method_config
from setrl.support import names
from setrl.support.errors import DataError
from setrl.support.files import strict_yaml
from setrl.support.files.run_folder import BASE, FIGURES, RECORD, Kind
from setrl.support.files.strict_yaml import KeyedError
from setrl.support.files.typed import typed

OTHER_FOLDERS = {BASE, FIGURES}  # the folders next to the arms in a run's folder
MOST_SEED = 2**32 - 1
NO_RESULT = re.compile(r"workers|stop_rule|.+\.folder|task\.render")  # keys that change no result


@dataclass(frozen=True, kw_only=True)
class RunConfig:
    """A config of several arms. Subclasses add what their kind of run needs, and check it."""

    kind: ClassVar[Kind]
    gone: ClassVar[Mapping[str, str]] = {}
    """Key of an earlier version → what to write instead; null is read, as saved configs have it."""

    name: str
    """Name of the run; by default its folder is runs/<name>."""
    arms: Mapping[str, Mapping[str, Any]]
    """Arm name → what sets this arm apart from the others."""
    seeds: tuple[int, ...] = (0,)
    """Each arm is trained once with each seed."""
    workers: int = 2
    """Processes that train side by side, one thread each. The results do not depend on it."""

    def __post_init__(self) -> None:
        hints = get_type_hints(type(self))
        for name, value in list(vars(self).items()):
            object.__setattr__(self, name, typed(name, value, hints[name]))
        self._check_names()
        self._check_numbers()
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

    def _check_numbers(self) -> None:
        different = bool(self.seeds) and len(set(self.seeds)) == len(self.seeds)
        require(different and min(self.seeds) >= 0, "seeds", "be different numbers ≥ 0", self.seeds)
        must = f"be at most {MOST_SEED}, the largest one of NumPy"
        require(max(self.seeds) <= MOST_SEED, "seeds", must, max(self.seeds))
        for name, value in vars(self).items():
            is_number = isinstance(value, int | float) and not isinstance(value, bool)
            if is_number and not (value == 0 and name.endswith("seed")):
                require(0 < value < float("inf"), name, "be a number above 0", value)

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
            values = cls._without_gone(values)
            cls._check_keys(values)
            values["arms"] = _with_defaults(values["arms"], Path(path))
            return cls(**cls._located(values, Path(path)))

    @classmethod
    def _located(cls, values: dict[str, Any], path: Path) -> dict[str, Any]:
        """Return the values, with paths that start in the folder of the config's file."""
        return values

    @classmethod
    def _without_gone(cls, values: dict[str, Any]) -> dict[str, Any]:
        for key, instead in cls.gone.items():
            if values.get(key) is not None:
                raise KeyedError(f"the key {key!r} has gone: {instead}", key)
        return {key: value for key, value in values.items() if key not in cls.gone}

    @classmethod
    def _check_keys(cls, values: Mapping[str, Any]) -> None:
        fields = dataclasses.fields(cls)
        refuse_unknown(values, [field.name for field in fields])
        for field in fields:
            is_required = field.default is field.default_factory is dataclasses.MISSING
            if is_required and field.name not in values:
                raise KeyedError(f"the key {field.name!r} is missing")

    def to_yaml(self) -> str:
        """Return the config with every default written out."""
        return yaml.safe_dump(_plain(vars(self)), sort_keys=False, allow_unicode=True)

    def differences(self, other: Self) -> list[str]:
        """Return what differs in `other` and changes results that exist already, one line a key.

        Arms and seeds that `other` adds do not count.
        """
        mine, theirs = _plain(vars(self)), _plain(vars(other))
        theirs["arms"] = {arm: theirs["arms"].get(arm, _ABSENT) for arm in mine["arms"]}
        if set(mine["seeds"]) <= set(theirs["seeds"]):
            theirs["seeds"] = mine["seeds"]
        return [line for key in mine for line in _differences(key, mine[key], theirs[key])]


class _Absent:
    def __repr__(self) -> str:
        return "not given"


_ABSENT = _Absent()


def _differences(key: str, mine: Any, theirs: Any) -> list[str]:
    """Return one line for each key below `key` whose value differs."""
    if NO_RESULT.fullmatch(key):
        return []
    if isinstance(mine, dict) and isinstance(theirs, dict):
        return [
            line
            for name in dict.fromkeys([*mine, *theirs])
            for line in _differences(
                f"{key}.{name}", mine.get(name, _ABSENT), theirs.get(name, _ABSENT)
            )
        ]
    return [] if mine == theirs else [f"{key}: {mine!r} → {theirs!r}"]


@contextmanager
def blamed_on(key: str, said: str = "") -> Iterator[None]:
    """Inside it, an error is an error of this key, unless it names its own key or a file."""
    try:
        yield
    except (KeyedError, DataError):
        raise
    except (ValueError, TypeError) as error:
        raise KeyedError(f"{said}{error}", key) from error


def located_arms(arms: Any, folder: str) -> Any:
    """Return the arms of a config's file, with the folder in which modules of methods are."""
    if not isinstance(arms, Mapping):
        return arms
    return {arm: method_config.located(keys, folder) for arm, keys in arms.items()}


def _with_defaults(arms: Any, path: Path) -> Any:
    """Return the arms of a config's file with the defaults that have changed written out.

    A config in the folder of a run has them since they changed: without them it is older, and
    keeps its meaning.
    """
    is_older = (path.parent / RECORD).exists()
    if not isinstance(arms, Mapping):
        return arms
    found = {arm: method_config.with_defaults(keys, is_older) for arm, keys in arms.items()}
    if found != arms and not is_older:
        changed = [arm for arm in arms if found[arm] != arms[arm]]
        warnings.warn(
            f"{path}: arms {', '.join(changed)}: concave_counts without alpha has alpha: 0; before "
            "version 0.5 it had 0.25",
            stacklevel=4,
        )
    return found


def require(holds: bool, key: str, must: str, value: Any) -> None:
    """Refuse the value of a key unless a condition holds, with what it must be."""
    if not holds:
        raise KeyedError(f"{key.rpartition('.')[2]} must {must}, got {value!r}", key)


def refuse_unknown(given: Iterable[str], known: Collection[str], prefix: str = "") -> None:
    """Refuse a key that is not known, and name the nearest known one."""
    for key in given:
        try:
            names.look_up("key", key, dict.fromkeys(known))
        except ValueError as error:
            raise KeyedError(str(error), f"{prefix}.{key}".removeprefix(".")) from error


def _plain(value: Any) -> Any:
    """Return tuples as lists and mappings as dicts, as in YAML."""
    if isinstance(value, Mapping):
        return {key: _plain(item) for key, item in value.items()}
    return [_plain(item) for item in value] if isinstance(value, list | tuple) else value
