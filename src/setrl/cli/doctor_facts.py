"""What `setrl doctor` finds, as one JSON object."""

from __future__ import annotations

import platform
import re
import warnings
from collections.abc import Mapping
from importlib.metadata import PackageNotFoundError, distribution, version
from pathlib import Path
from typing import Any

import setrl
from setrl.cli.extras import USES

PACKAGES = (
    *("numpy", "torch", "transformers", "trl", "accelerate", "datasets", "peft", "vllm", "verl"),
    *("tinker", "deepspeed", "math-verify", "scikit-learn"),
    *("stable-baselines3", "gymnasium", "minigrid", "mujoco", "ale-py", "jax"),
)
EXTRA = re.compile(r"""extra == ['"]([\w-]+)['"]""")
OWN_EXTRAS = re.compile(r"setrl\[([\w,-]+)\]")


def facts() -> dict[str, Any]:
    """Return versions, extras, and the GPUs."""
    return {
        "setrl": setrl.__version__,
        "python": platform.python_version(),
        "platform": platform.platform(),
        "metadata": _version("setrl"),
        "installed_in": str(Path(setrl.__file__).parent),
        "packages": {name: found for name in PACKAGES if (found := _version(name))},
        "extras": _extras(),
        **_gpus(),
    }


def _version(package: str) -> str | None:
    try:
        return version(package)
    except PackageNotFoundError:
        return None


def _extras() -> dict[str, dict[str, Any]]:
    """Return what each extra is for, and its packages that are missing or have another version."""
    wanted: dict[str, list[str]] = {name: [] for name in USES}
    for requirement in _requirements():
        package, _, marker = requirement.partition(";")
        if (extra := EXTRA.search(marker)) and extra[1] in wanted:
            wanted[extra[1]].append(package.strip())
    missing: dict[str, list[str]] = {}
    for name in USES:  # an extra comes after those that it includes
        if wanted[name]:
            missing[name] = [line for one in wanted[name] for line in _lacks(one, missing)]
    return {name: {"for": USES[name], "missing": found} for name, found in missing.items()}


def _lacks(requirement: str, missing: Mapping[str, list[str]]) -> list[str]:
    """Return in words what is wrong with a package, or with extras such as setrl[cli,plot]."""
    if included := OWN_EXTRAS.match(requirement):
        return [f"the extra {name}" for name in included[1].split(",") if missing.get(name)]
    lack = _lack(requirement)
    return [] if lack is None else [lack]


def _requirements() -> list[str]:
    """Return the packages in setrl's metadata; no package if setrl was never installed."""
    try:
        return distribution("setrl").requires or []
    except PackageNotFoundError:
        return []


def _lack(requirement: str) -> str | None:
    """Return in words what is wrong with a package such as "trl==1.16.0", or None."""
    name, limits = re.match(r"([\w.-]+)(?:\[[^\]]*\])?\s*(.*)", requirement).groups()  # type: ignore[union-attr]
    found = _version(name)
    if found is None:
        return name
    try:
        from packaging.specifiers import SpecifierSet
    except ModuleNotFoundError:  # pip compared the versions when it installed them
        return None
    fits = SpecifierSet(limits).contains(found, prereleases=True)
    return None if fits else f"{name}{limits} ({found} is installed)"


def _gpus() -> dict[str, Any]:
    """Return the GPUs that PyTorch can use, or why it can use no GPU."""
    if _version("torch") is None:
        return {"gpus": [], "no_gpu": "PyTorch is not installed"}
    try:
        with warnings.catch_warnings(record=True) as said:  # of drivers that are too old
            warnings.simplefilter("always")
            import torch

            found = _torch_gpus(torch)
    except Exception as error:  # a library that is missing, a driver that fails: all are answers
        return {"gpus": [], "no_gpu": f"PyTorch does not start: {type(error).__name__}: {error}"}
    why = [str(one.message).splitlines()[0] for one in said if "CUDA" in str(one.message)]
    return {"gpus": found, "no_gpu": None if found else (why or [_reason(torch)])[0]}


def _torch_gpus(torch: Any) -> list[str]:
    if torch.cuda.is_available():
        return [torch.cuda.get_device_name(at) for at in range(torch.cuda.device_count())]
    return ["Apple GPU (MPS)"] if torch.backends.mps.is_available() else []


def _reason(torch: Any) -> str:
    built = torch.version.cuda or torch.version.hip
    return "PyTorch finds none" if built else "this PyTorch is built only for CPUs"
