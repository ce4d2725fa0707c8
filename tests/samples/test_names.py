"""The public names of `setrl.samples`, each from the module that defines it."""

import subprocess
import sys

import setrl.samples


def test_every_public_name_can_be_imported_from_the_package():
    for name in setrl.samples.__all__:
        assert getattr(setrl.samples, name).__module__.startswith("setrl.samples."), name


def test_the_package_alone_imports_none_of_its_modules():
    own = "[m for m in sys.modules if m.startswith('setrl.samples.')]"
    code = f"import sys, setrl.samples; print({own})"
    ended = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert ended.stdout == "[]\n"
