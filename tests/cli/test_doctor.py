"""`setrl doctor`: what is missing for what, without any package and with odd ones."""

import json
import sys
from types import SimpleNamespace

import pytest

import setrl as package
from setrl.cli import doctor
from setrl.cli.doctor import doctor_text
from setrl.cli.extras import MODULES
from tests.cli.test_extras import without


@pytest.fixture
def lab_without_starlette(monkeypatch):
    """The metadata of a setrl of now, with two extras; starlette is missing, trl is too new."""
    versions = {"setrl": package.__version__, "trl": "1.17.0", "uvicorn": "0.40.0"}
    monkeypatch.setattr(doctor, "_installed_version", versions.get)
    requires = [
        "numpy>=1.26",
        "starlette>=0.40; extra == 'lab'",
        'uvicorn>=0.30; extra == "lab"',
        "trl==1.16.0; extra == 'train'",
        "uvicorn>=0.30; extra == 'cli'",
        "pytest>=8; extra == 'dev'",
    ]
    monkeypatch.setattr(doctor, "_requirements", lambda: requires)


def test_it_needs_numpy_alone():
    commands = [["doctor"], ["doctor", "--json"], ["doctor", "--help"]]
    (code, text, errors), (_, found, _), (_, helped, _) = ended = without(MODULES, commands)
    assert [one[0] for one in ended] == [0] * 3, errors
    assert text.startswith(f"setrl {package.__version__}, Python 3.")
    assert "no GPU: PyTorch does not start: ModuleNotFoundError" in text  # of a broken environment
    assert json.loads(found)["gpus"] == []
    assert "--json" in helped
    assert code == 0


def test_a_missing_package_is_said_with_what_needs_it(lab_without_starlette, setrl):
    code, text, _ = setrl("doctor")
    assert code == 0
    lines = [" ".join(line.split()) for line in text.splitlines()]
    assert "no lab `setrl view` starlette" in lines
    [train] = (line for line in lines if line.startswith("no train `setrl train`, "))
    assert train.endswith(" trl==1.16.0 (1.17.0 is installed)")
    assert "works cli all commands but `setrl doctor`, and configs" in lines
    assert "to add one: pip install " in text
    assert "dev" not in json.loads(setrl("doctor", "--json")[1])["extras"]
    assert "no GPU: PyTorch is not installed" in text


def test_without_packaging_versions_are_not_compared(lab_without_starlette, monkeypatch):
    monkeypatch.setitem(sys.modules, "packaging.specifiers", None)
    extras = doctor.facts()["extras"]
    assert extras["train"]["missing"] == []
    assert extras["lab"]["missing"] == ["starlette"]


@pytest.mark.parametrize(
    ("metadata", "said"), [("0.0.1", "setrl is of 0.0.1"), (None, "setrl is missing")]
)
def test_extras_are_unknown_where_the_metadata_is_of_another_version(metadata, said):
    found = doctor.facts() | {"metadata": metadata}
    assert f"extras: unknown, since the metadata of {said}" in doctor_text(found)


def torch_with(*names, built="13.0", fails=None):
    def available():
        if fails:
            raise fails
        return bool(names)

    cuda = SimpleNamespace(
        is_available=available,
        device_count=lambda: len(names),
        get_device_name=names.__getitem__,
    )
    mps = SimpleNamespace(mps=SimpleNamespace(is_available=lambda: False))
    return SimpleNamespace(cuda=cuda, backends=mps, version=SimpleNamespace(cuda=built, hip=None))


@pytest.mark.parametrize(
    ("torch", "said"),
    [
        (torch_with("NVIDIA A", "NVIDIA B"), "GPU: NVIDIA A\nGPU: NVIDIA B"),
        (torch_with(), "no GPU: PyTorch finds none"),
        (torch_with(built=None), "no GPU: this PyTorch is built only for CPUs"),
        (torch_with(fails=OSError("libcuda.so")), "PyTorch does not start: OSError: libcuda.so"),
    ],
)
def test_gpus_are_pytorchs_and_none_is_no_error(torch, said, monkeypatch, setrl):
    monkeypatch.setattr(doctor, "_installed_version", {"torch": "2.13.0"}.get)
    monkeypatch.setitem(sys.modules, "torch", torch)
    code, text, _ = setrl("doctor")
    assert code == 0
    assert said in text


def test_wrong_usage_is_refused(setrl):
    code, _, errors = setrl("doctor", "--clear")
    assert code == 2
    assert "unrecognized arguments: --clear" in errors


def test_no_extra_is_installed_whose_own_extras_are_missing(monkeypatch):
    versions = {"setrl": package.__version__, "peft": "1.0", "tyro": "1.0"}
    monkeypatch.setattr(doctor, "_installed_version", versions.get)
    requires = [
        "setrl[cli,plot]; extra == 'train'",
        "trl; extra == 'train'",
        "setrl[train]; extra == 'peft'",
        "peft; extra == 'peft'",
        "setrl[cli]; extra == 'lab'",
        "tyro; extra == 'cli'",
        "matplotlib; extra == 'plot'",
    ]
    monkeypatch.setattr(doctor, "_requirements", lambda: requires)
    found = doctor._missing_by_extra()
    assert {name: extra["missing"] for name, extra in found.items()} == {
        "cli": [],
        "plot": ["matplotlib"],
        "train": ["the extra plot", "trl"],
        "peft": ["the extra train"],
        "lab": [],
    }
