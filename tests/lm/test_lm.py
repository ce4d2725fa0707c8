import subprocess
import sys

import pytest

from setrl.train import lm


def test_every_public_name_is_there():
    for name in lm.__all__:
        assert callable(getattr(lm, name))
    with pytest.raises(AttributeError, match="no attribute 'ComparisonConfg'"):
        lm.ComparisonConfg  # noqa: B018


def test_a_config_needs_no_pytorch():
    program = "import sys, setrl.train.lm as t; t.ComparisonConfig; print('torch' in sys.modules)"
    said = subprocess.run([sys.executable, "-c", program], capture_output=True, check=True)
    assert said.stdout.strip() == b"False"


def test_a_missing_extra_names_its_command(monkeypatch):
    def missing(name):
        raise ModuleNotFoundError("No module named 'trl'", name="trl")

    monkeypatch.setattr("setrl.support.names.import_module", missing)
    with pytest.raises(ImportError, match=r"run_comparison needs trl: pip install"):
        lm.run_comparison  # noqa: B018
