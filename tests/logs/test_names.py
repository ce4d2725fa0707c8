"""The public names of `setrl.logs`, each from the module that defines it."""

import subprocess
import sys

import setrl.logs


def test_every_public_name_can_be_imported_from_the_package():
    for name in setrl.logs.__all__:
        assert getattr(setrl.logs, name).__module__.startswith("setrl.logs."), name


def test_the_package_alone_imports_none_of_its_modules():
    code = "import sys, setrl.logs; print([m for m in sys.modules if m.startswith('setrl.logs.')])"
    ended = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert ended.stdout == "[]\n"
