"""The public names of `setrl.groups`, each from the module that defines it."""

import subprocess
import sys

import setrl.groups


def test_every_public_name_can_be_imported_from_the_package():
    for name in setrl.groups.__all__:
        assert getattr(setrl.groups, name).__module__.startswith("setrl.groups."), name


def test_the_package_alone_imports_none_of_its_modules():
    code = (
        "import sys, setrl.groups; print([m for m in sys.modules if m.startswith('setrl.groups.')])"
    )
    ended = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert ended.stdout == "[]\n"
