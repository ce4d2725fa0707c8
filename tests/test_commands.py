"""Every Python program that a page or a docstring names starts as it is written there.

Each is loaded as its command loads it, from a clone with the documented install: a file finds only
what is installed and its own folder, a module by `python -m` the packages of the clone, too. Files
come first, and all are loaded by one process, which begins with what training imports.
"""

import importlib
import importlib.util
import os
import re
import runpy
import sys
from pathlib import Path

ROOT = Path(__file__).parents[1]
COMMAND = re.compile(r"\bpython (?:-m (?P<module>[a-z][\w.]*)|(?P<file>[\w/]+\.py))")
OF_BEFORE = re.compile(r"[^`\n]*` of setrl \d")  # after a command that only an older version has
OF_OTHERS = ("venv", "pip", "verl")  # packages whose modules are run, too
OWN = ("benchmarks", "claims", "recipes", "studies", "website")


def load(files, modules, report):
    """Load all as their commands load them, and write a line for each that fails."""
    os.chdir(report.parent)
    of_tests = {"", *map(str, (ROOT, ROOT / "packages" / "grader" / "tests"))}
    sources = [str(ROOT / place) for place in ("src", "packages/grader/src")]
    path = sources + [place for place in sys.path if place not in of_tests]
    failed = [load_file(file, path) for file in files]
    sys.path[:] = [str(ROOT), *path]
    failed += [load_module(name) for name in modules]
    report.write_text("".join(failed))


def load_file(file, path):
    """Load a program, which finds what is installed and its neighbours; the next one must not."""
    home = os.path.dirname(file)
    sys.path[:] = [home, *path]
    failed = ""
    try:
        runpy.run_path(file, run_name="loaded")
    except Exception as error:
        failed = f"python {file}: {type(error).__name__}: {error}\n"
    for name, module in list(sys.modules.items()):
        if os.path.dirname(getattr(module, "__file__", None) or "") == home:
            del sys.modules[name]
    return failed


def load_module(name):
    """Load a module, or a package that has a `__main__`."""
    try:
        importlib.import_module(name)
        is_package = importlib.util.find_spec(name).submodule_search_locations
        if is_package and importlib.util.find_spec(f"{name}.__main__") is None:
            raise ImportError("it is a package without __main__")
    except Exception as error:
        return f"python -m {name}: {type(error).__name__}: {error}\n"
    return ""


def named(what):
    """The modules or the files that commands name, with the page of each."""
    pages = [page for page in ROOT.rglob("*.md") if page.name != "CHANGELOG.md"]
    sources = [path for folder in OWN for path in (ROOT / folder).rglob("*.py")]
    found = {}
    for page in sorted(pages + sources):
        if {".venv", "node_modules", "site", "runs"} & set(page.parts):
            continue
        text = page.read_text(encoding="utf-8")
        for command in COMMAND.finditer(text):
            name = command[what]
            is_past = OF_BEFORE.match(text, command.end())
            if name and not is_past and name.partition(".")[0] not in OF_OTHERS:
                found.setdefault(name, page.relative_to(ROOT))
    return found


def test_programs_start_as_pages_say(forkserver, tmp_path):
    modules = named("module")
    files = [str(ROOT / file) for file in named("file") if (ROOT / file).exists()]
    assert len(modules) > 30
    assert len(files) > 10
    report = tmp_path / "report.txt"
    process = forkserver.Process(target=load, args=(files, list(modules), report), daemon=True)
    process.start()
    process.join()
    assert process.exitcode == 0
    assert report.read_text() == ""
