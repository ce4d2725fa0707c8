"""What a config calls `module:name`: of its own folder, installed, or of the current folder."""

from __future__ import annotations

import importlib
import importlib.util
import multiprocessing
import os
import re
import sys
import threading
from collections.abc import Iterator, Mapping
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from difflib import get_close_matches
from modulefinder import ModuleFinder
from pathlib import Path
from types import ModuleType
from typing import Any

from typing_extensions import override

from setrl.support.errors import ConfigError
from setrl.support.files.digests import digests

_REFERENCE = re.compile(r"(?P<module>[^\W\d]\w*(?:\.[^\W\d]\w*)*):(?P<name>[^\W\d]\w*)\Z")
_LOCK = threading.RLock()
_own_modules: dict[Path, dict[str, ModuleType]] = {}  # a config's folder → its modules by name
_announced: set[tuple[str, str]] = set()
_fingerprints: dict[tuple[str, str], dict[str, str]] = {}  # reference, file → those of its code
_last_file: dict[str, str] = {}  # reference → the file that it was loaded from last


@dataclass(frozen=True)
class LoadedFunction:
    """A value of a user's module, and where it came from.

    Attributes:
        value: The value.
        path: The file of its module.
    """

    value: Any
    path: str


def load_function(reference: str, config_dir: str | Path) -> LoadedFunction:
    """Load the function `module:name`, as `load` does.

    Raises:
        ConfigError: If it cannot be loaded, or is not a function.
    """
    loaded = load(reference, config_dir)
    if not callable(loaded.value):
        name = reference.partition(":")[2]
        raise ConfigError(
            f"{reference}: {loaded.path}: {name} must be a function, got {loaded.value!r:.80}"
        )
    return loaded


def load(reference: str, config_dir: str | Path) -> LoadedFunction:
    """Load the value `module:name`: of the config's folder, installed, or of the current folder.

    This runs the module, as any import does; one line on stderr says so before, once, with the
    file. `sys.path` has these folders only during the import, so a function that imports another
    module of the folder must do so at the top of its file. Two folders may have a `rewards.py`.

    Args:
        reference: The name of the module, a colon, and the name of a value in it.
        config_dir: The folder of the config.

    Raises:
        ConfigError: If the reference is not of this form, the module cannot be imported, or has no
            such value.
    """
    check_reference(reference)
    module_name, _, name = reference.partition(":")
    folder = Path(config_dir).resolve()
    module = _import_module(module_name, folder, reference)
    path = getattr(module, "__file__", None) or f"the module {module_name}, which has no file"
    _keep_fingerprints(reference, module_name, path, folder)
    return LoadedFunction(_value_of_module(module, name, f"{reference}: {path}"), path)


def code_of(value: Any) -> dict[str, str]:
    """Return "module:name (file)" → fingerprint, for each reference inside that was loaded.

    The files are the module's file and the files of its folder or package that it imports, as they
    were when Python read them.
    """
    if isinstance(value, Mapping):
        value = list(value.values())
    if isinstance(value, list | tuple):
        return {name: fingerprint for item in value for name, fingerprint in code_of(item).items()}
    fingerprints = (
        _fingerprints[value, _last_file[value]]
        if is_reference(value) and value in _last_file
        else {}
    )
    return {f"{value} ({file})": fingerprint for file, fingerprint in fingerprints.items()}


def _keep_fingerprints(reference: str, name: str, path: str, folder: Path) -> None:
    """Keep the fingerprints of the code behind a reference when it is loaded first."""
    _last_file[reference] = path
    if (reference, path) in _fingerprints:
        return
    home, package = Path(path).parent, Path(path).name == "__init__.py"
    for _ in range(name.count(".") + package):
        home = home.parent
    is_ours = reference.startswith("setrl.") or not Path(path).is_file()
    finder = _Finder(home, None if home == folder else name.partition(".")[0])
    if not is_ours:
        with suppress(ImportError):
            finder.import_hook(name)
    modules: list[Any] = list(finder.modules.values())  # modules of modulefinder, not of Python
    files = {Path(module.__file__) for module in modules if module.__file__}
    _fingerprints[reference, path] = {} if is_ours else digests(home, {Path(path), *files})


class _Finder(ModuleFinder):
    """The modules that a module of a user imports from the same folder or package; runs nothing."""

    def __init__(self, home: Path, package: str | None):
        super().__init__([str(home)])
        self.package = package

    @override
    def find_module(self, name: str, path: Any, parent: Any = None) -> Any:
        if path is None and self.package not in (None, name):  # of another package
            raise ImportError(name)
        try:
            return super().find_module(name, path, parent)
        except AttributeError as error:  # it cannot read a folder without __init__.py
            raise ImportError(name) from error


def is_reference(name: Any) -> bool:
    """Return whether a name of a config has the form `module:name`."""
    return isinstance(name, str) and _REFERENCE.match(name) is not None


def check_reference(reference: Any) -> None:
    """Refuse what is not of the form `module:name`; runs no code.

    Raises:
        ConfigError: If it is not.
    """
    if not is_reference(reference):
        raise ConfigError(
            "a function is given as 'module:name', such as 'my_rewards:score' for the function "
            f"score of my_rewards.py next to the config; got {reference!r}"
        )


def _value_of_module(module: ModuleType, name: str, where: str) -> Any:
    """Return the value of a module; `where` begins the message if it is missing."""
    if not hasattr(module, name):
        home = f"{module.__name__}."  # of a package, one of its modules
        functions = [
            function
            for function, value in vars(module).items()
            if callable(value) and f"{getattr(value, '__module__', None)}.".startswith(home)
        ]
        near = get_close_matches(name, functions, n=1)
        guess = (
            f"; did you mean {near[0]!r}?" if near else f": it has {', '.join(functions) or 'none'}"
        )
        raise ConfigError(f"{where} has no function {name!r}{guess}")
    return getattr(module, name)


def _import_module(name: str, folder: Path, reference: str) -> ModuleType:
    with _LOCK, _search_folder_first(folder):
        _announce_once(reference, _file_of_module(name))
        try:
            module = importlib.import_module(name)
        except ModuleNotFoundError as error:
            if error.name and (name == error.name or name.startswith(f"{error.name}.")):
                raise ConfigError(
                    f"{reference}: no module {name!r}, neither in {folder} nor in the "
                    "current folder nor installed"
                ) from None
            raise ConfigError(f"{reference}: {name} needs {error.name!r}, which is not installed, "
                              f"nor in {folder}") from error  # fmt: skip
        except (Exception, SystemExit) as error:  # code of the user may raise anything
            raise ConfigError(
                f"{reference}: importing {name} failed with {type(error).__name__}: {error}"
            ) from error
    _refuse_other_file(module, name, folder)
    return module


def _refuse_other_file(module: ModuleType, name: str, folder: Path) -> None:
    """Refuse a module of the folder if Python has already loaded another one of that name."""
    top = name.partition(".")[0]
    files = (folder / f"{top}.py", folder / top / "__init__.py")
    own_file = next((file for file in files if file.exists()), None)
    if own_file and not _is_within(module, folder):
        raise ConfigError(
            f"{own_file} has the name of a module that Python already uses "
            f"({getattr(module, '__file__', None) or 'built in'}): rename it"
        )


@contextmanager
def _search_folder_first(folder: Path) -> Iterator[None]:
    """Let imports find the modules of this folder first, modules of the current folder last.

    They find no modules of other configs. Modules stay in `sys.modules` afterwards, where pickle
    and dataclasses look for them.
    """
    for modules in _own_modules.values():
        for name, module in modules.items():
            if sys.modules.get(name) is module:
                del sys.modules[name]
    folder_modules = _own_modules.setdefault(folder, {})
    sys.modules.update(folder_modules)
    before, path = set(sys.modules), list(sys.path)
    sys.path[:] = [str(folder), *path, ""]
    importlib.invalidate_caches()  # the file may be younger than what Python knows of the folder
    try:
        yield
    finally:
        sys.path[:] = path
        new = {name: sys.modules[name] for name in set(sys.modules) - before}
        folder_modules |= {
            name: module for name, module in new.items() if _is_within(module, folder)
        }


def _is_within(module: ModuleType | None, folder: Path) -> bool:
    file = getattr(module, "__file__", None)
    return file is not None and Path(file).resolve().is_relative_to(folder)


def _file_of_module(name: str) -> str | None:
    """Return the file that an import would run, without running it; None if no file is found."""
    top, _, rest = name.partition(".")
    try:
        spec = importlib.util.find_spec(top)
    except ValueError:  # a module that was made without a file, such as __main__
        return None
    if spec is None or spec.origin is None:
        return None
    inside = Path(spec.origin).parent.joinpath(*rest.split(".")) if rest else None
    files = [inside.with_suffix(".py"), inside / "__init__.py"] if inside else []
    return str(next((file for file in files if file.is_file()), spec.origin))


def _announce_once(reference: str, path: str | None) -> None:
    """Say once whose code runs, before it does; workers and other ranks are silent."""
    if reference.startswith("setrl."):  # our own function is not the user's code
        return
    is_first = multiprocessing.parent_process() is None and os.environ.get("RANK", "0") == "0"
    if path is not None and is_first and (reference, path) not in _announced:
        print(f"this runs your code: {reference}, loaded from {path}", file=sys.stderr)
    _announced.add((reference, str(path)))
