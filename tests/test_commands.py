"""Every Python program that a page or a docstring names starts as it is written there.

Each is loaded as its command loads it, from a clone with the documented install: a file finds only
what is installed and its own folder, a module by `python -m` the packages of the clone, too. Files
come first, so that one process imports the large packages for all.
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
LOADED = """
import importlib, importlib.util, os, runpy, sys
path, root = list(sys.path), sys.argv[1]
files = [file for file in sys.argv[2:] if file.endswith(".py")]
for file in files:
    home = os.path.dirname(file)
    sys.path[:] = [home, *path]
    try:
        runpy.run_path(file, run_name="loaded")
    except Exception as error:
        print(f"python {file}: {type(error).__name__}: {error}")
    for name, module in list(sys.modules.items()):  # the next file finds its own neighbours
        if os.path.dirname(getattr(module, "__file__", None) or "") == home:
            del sys.modules[name]
sys.path[:] = [root, *path]
for name in sys.argv[2 + len(files):]:
    main = f"{name}.__main__"
    try:
        importlib.import_module(name)
        found = importlib.util.find_spec(name)
        if found.submodule_search_locations and importlib.util.find_spec(main) is None:
            raise ImportError("it is a package without __main__")
    except Exception as error:
        print(f"python -m {name}: {type(error).__name__}: {error}")
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


def test_programs_start_as_pages_say(tmp_path):
    modules = named("module")
    files = [str(ROOT / file) for file in named("file") if (ROOT / file).exists()]
    assert len(modules) > 30
    assert len(files) > 10
    source = os.pathsep.join(str(ROOT / place) for place in ("src", "packages/grader/src"))
    done = subprocess.run(
        [sys.executable, "-c", LOADED, str(ROOT), *files, *modules],
        cwd=tmp_path,
        env={**os.environ, "PYTHONPATH": source, "OMP_NUM_THREADS": "1"},
        capture_output=True,
        text=True,
    )
    assert done.returncode == 0, done.stderr
    assert done.stdout == ""
