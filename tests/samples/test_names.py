"""The public names of `setrl.samples` and `setrl.logs`, each from the module that defines it."""

import subprocess
import sys

import pytest

import setrl.logs
import setrl.samples


@pytest.mark.parametrize("package", [setrl.samples, setrl.logs])
def test_every_public_name_can_be_imported_from_the_package(package):
    for name in package.__all__:
        assert getattr(package, name).__module__.startswith(f"{package.__name__}."), name


@pytest.mark.parametrize("package", ["setrl.samples", "setrl.logs"])
def test_the_package_alone_imports_none_of_its_modules(package):
    own = f"[m for m in sys.modules if m.startswith('{package}.')]"
    code = f"import sys, {package}; print({own})"
    ended = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert ended.stdout == "[]\n"
