import subprocess
import sys

import pytest

from setrl import training


def test_every_public_name_is_there():
    for name in training.__all__:
        assert callable(getattr(training, name))
    with pytest.raises(AttributeError, match="no attribute 'SetGRPOTriner'"):
        training.SetGRPOTriner  # noqa: B018


def test_a_config_needs_no_pytorch():
    program = "import sys, setrl.training as t; t.ComparisonConfig; print('torch' in sys.modules)"
    said = subprocess.run([sys.executable, "-c", program], capture_output=True, check=True)
    assert said.stdout.strip() == b"False"


def test_a_missing_extra_names_its_command(monkeypatch):
    def missing(name):
        raise ModuleNotFoundError("No module named 'trl'", name="trl")

    monkeypatch.setattr(training, "import_module", missing)
    with pytest.raises(ImportError, match=r"SetGRPOTrainer needs trl: pip install"):
        training.SetGRPOTrainer  # noqa: B018
