"""Every Python program that a page or a docstring names starts as it is written there.

Each is loaded as its command loads it, from a clone with the documented install: a module by
`python -m` finds the packages of the clone, a file only what is installed and its own folder.
"""

import os
import re
import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).parents[1]
COMMAND = re.compile(r"\bpython (?:-m (?P<module>[a-z][\w.]*)|(?P<file>[\w/]+\.py))")
OF_BEFORE = re.compile(r"[^`\n]*` of setrl \d")  # after a command that only an older version has
OF_OTHERS = ("venv", "pip", "verl")  # packages whose modules are run, too
OWN = ("benchmarks", "claims", "recipes", "studies", "website")
MODULES = """
import importlib, importlib.util, sys
for name in sys.argv[1:]:
    main = f"{name}.__main__"
    try:
        importlib.import_module(name)
        found = importlib.util.find_spec(name)
        if found.submodule_search_locations and importlib.util.find_spec(main) is None:
            raise ImportError("it is a package without __main__")
    except Exception as error:
        print(f"python -m {name}: {type(error).__name__}: {error}")
"""
FILES = """
import os, runpy, sys
path, known = list(sys.path), set(sys.modules)
for file in sys.argv[1:]:
    home = os.path.dirname(file)
    sys.path[:] = [home, *path]
    try:
        runpy.run_path(file, run_name="loaded")
    except Exception as error:
        print(f"python {file}: {type(error).__name__}: {error}")
    for name, module in list(sys.modules.items()):  # the next file finds its own neighbours
        if os.path.dirname(getattr(module, "__file__", None) or "") == home:
            del sys.modules[name]
"""


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


def loaded(program, names, folder):
    source = os.pathsep.join(str(ROOT / place) for place in ("src", "packages/grader/src"))
    done = subprocess.run(
        [sys.executable, "-c", program, *names],
        cwd=folder,
        env={**os.environ, "PYTHONPATH": source, "OMP_NUM_THREADS": "1"},
        capture_output=True,
        text=True,
    )
    assert done.returncode == 0, done.stderr
    return done.stdout


def test_modules_start_as_pages_say():
    names = named("module")
    assert len(names) > 30
    assert loaded(MODULES, names, ROOT) == ""


def test_files_start_as_pages_say(tmp_path):
    names = {file: page for file, page in named("file").items() if (ROOT / file).exists()}
    assert len(names) > 10
    assert loaded(FILES, [str(ROOT / file) for file in names], tmp_path) == ""
