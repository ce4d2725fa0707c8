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
