"""What `setrl doctor` finds, as one JSON object."""

from __future__ import annotations

import os
import platform
import re
import warnings
from collections.abc import Mapping
from importlib.metadata import PackageNotFoundError, distribution, version
from pathlib import Path
from typing import Any

import setrl
from setrl.cli.extras import USES
from setrl.support.files.cache import cache_folder

PACKAGES = (
    *("numpy", "torch", "transformers", "trl", "accelerate", "datasets", "peft", "vllm", "verl"),
    *("tinker", "deepspeed", "math-verify", "scikit-learn"),
    *("stable-baselines3", "gymnasium", "minigrid", "mujoco", "ale-py", "jax"),
)
EXTRA = re.compile(r"""extra == ['"]([\w-]+)['"]""")
OWN_EXTRAS = re.compile(r"setrl\[([\w,-]+)\]")


def facts() -> dict[str, Any]:
    """Return versions, extras, the machine and the cache."""
    return {
        "setrl": setrl.__version__,
        "python": platform.python_version(),
        "platform": platform.platform(),
        "metadata": _version("setrl"),
        "installed_in": str(Path(setrl.__file__).parent),
        "packages": {name: found for name in PACKAGES if (found := _version(name))},
        "extras": _extras(),
        "machine": {"cores": _cores(), "memory_bytes": _memory_bytes(), **_gpus()},
        "cache": _cache(),
    }


def _cache() -> dict[str, Any]:
    """Return the folder of the cache, and the bytes in it."""
    folder = cache_folder()
    sizes = [one.lstat().st_size for one in folder.rglob("*") if not one.is_dir()]
    return {"folder": str(folder), "bytes": sum(sizes)}


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


def _cores() -> int:
    """Return the cores that this process may use."""
    affinity = getattr(os, "sched_getaffinity", None)  # not on macOS
    return len(affinity(0)) if affinity else os.cpu_count() or 1


def _memory_bytes() -> int | None:
    """Return the memory of the machine, or of the container if that is less; None if unknown."""
    try:
        total = os.sysconf("SC_PHYS_PAGES") * os.sysconf("SC_PAGE_SIZE")
    except (AttributeError, ValueError, OSError):  # Windows has no sysconf
        return None
    limit = Path("/sys/fs/cgroup/memory.max")
    text = limit.read_text().strip() if limit.is_file() else "max"
    return min(total, int(text)) if text.isdigit() else total


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


def _torch_gpus(torch: Any) -> list[dict[str, Any]]:
    if torch.cuda.is_available():
        each = map(torch.cuda.get_device_properties, range(torch.cuda.device_count()))
        return [{"name": one.name, "memory_bytes": one.total_memory} for one in each]
    if torch.backends.mps.is_available():
        return [{"name": "Apple GPU (MPS)", "memory_bytes": None}]
    return []


def _reason(torch: Any) -> str:
    built = torch.version.cuda or torch.version.hip
    return "PyTorch finds none" if built else "this PyTorch is built only for CPUs"
