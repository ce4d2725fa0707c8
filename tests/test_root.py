import subprocess
import sys

import pytest

import setrl


def test_the_root_imports_what_is_used_only_when_it_is_used():
    loaded = "[name for name in ('numpy', 'setrl.core') if name in sys.modules]"
    code = f"import sys, setrl.support.names; print({loaded}); setrl.methods; print({loaded})"
    out = subprocess.check_output([sys.executable, "-c", code], text=True)
    assert out.splitlines() == ["[]", "['numpy', 'setrl.core']"]


def test_each_public_name_is_there_and_listed():
    assert set(setrl.__all__) <= set(dir(setrl))
    for name in setrl.__all__:
        value = getattr(setrl, name)
        assert getattr(value, "__name__", name).rpartition(".")[2] == name


def test_an_unknown_name_is_an_attribute_error():
    with pytest.raises(AttributeError, match="module 'setrl' has no attribute 'advantages_of'"):
        _ = setrl.advantages_of


@pytest.mark.parametrize("name", ["credit", "methods", "objectives", "schedules"])
def test_short_names_import_the_module_itself(name):
    code = f"""
import setrl.{name}, importlib, setrl.core.{name} as own
assert setrl.{name} is own and importlib.import_module("setrl.{name}") is own
assert own.__name__ == own.__spec__.name == "setrl.core.{name}"
importlib.reload(own)
from setrl.methods import poly_epo
"""
    subprocess.run([sys.executable, "-c", code], check=True)
