"""`setrl doctor`; it needs only NumPy, so it also runs where nothing else is installed."""

from __future__ import annotations

import argparse
import dataclasses
import platform
import re
import warnings
from collections.abc import Mapping
from dataclasses import dataclass
from importlib.metadata import PackageNotFoundError, distribution, version
from pathlib import Path
from typing import Any

import setrl
from setrl.cli.extras import USES
from setrl.cli.output import Said, listed
from setrl.support.installing import install
from setrl.support.wording import first_of, table

NO = "no"
WHOLE, SHOWN = "all", 2  # the extra of all others; packages that a line names
PACKAGES = (
    *("numpy", "torch", "transformers", "trl", "accelerate", "datasets", "peft", "vllm", "verl"),
    *("tinker", "deepspeed", "math-verify", "scikit-learn"),
    *("stable-baselines3", "gymnasium", "minigrid", "mujoco", "ale-py", "jax"),
)
EXTRA = re.compile(r"""extra == ['"]([\w-]+)['"]""")
OWN_EXTRAS = re.compile(r"setrl\[([\w,-]+)\]")


@dataclass(frozen=True, kw_only=True)
class Doctor(Said):
    """Print what is installed, what is missing, and which GPUs can be used.

    It works without any extra, changes nothing, and sends nothing.

    Json:
        setrl: The version.
        python: The version of Python.
        platform: The operating system.
        metadata: The version that the installed package states.
        installed_in: The folder of the package.
        packages: Package → version.
        extras: Extra → what it is for, and which packages are missing.
        gpus: The GPUs that PyTorch can use.
        no_gpu: Why it can use no GPU; null if it can.
    """

    def run(self) -> None:
        """Print what was found."""
        installation = facts()
        self.tell(doctor_text(installation), **installation)


def parsed(arguments: list[str]) -> Doctor:
    """Return the command with its options; wrong ones end the process with exit code 2."""
    help_of = listed(Doctor, "Attributes")
    parser = argparse.ArgumentParser("setrl doctor", allow_abbrev=False)
    for field in dataclasses.fields(Doctor):
        name = f"--{field.name.replace('_', '-')}"
        parser.add_argument(name, action="store_true", help=help_of[field.name])
    return Doctor(**vars(parser.parse_args(arguments)))


def facts() -> dict[str, Any]:
    """Return versions, extras, and the GPUs."""
    return {
        "setrl": setrl.__version__,
        "python": platform.python_version(),
        "platform": platform.platform(),
        "metadata": _installed_version("setrl"),
        "installed_in": str(Path(setrl.__file__).parent),
        "packages": {
            name: installed for name in PACKAGES if (installed := _installed_version(name))
        },
        "extras": _missing_by_extra(),
        **_find_gpus(),
    }


def _installed_version(package: str) -> str | None:
    try:
        return version(package)
    except PackageNotFoundError:
        return None


def _missing_by_extra() -> dict[str, dict[str, Any]]:
    """Return what each extra is for, and its packages that are missing or have another version."""
    requirements: dict[str, list[str]] = {name: [] for name in USES}
    for requirement in _requirements():
        package, _, marker = requirement.partition(";")
        if (extra := EXTRA.search(marker)) and extra[1] in requirements:
            requirements[extra[1]].append(package.strip())
    missing: dict[str, list[str]] = {}
    for name in USES:  # an extra comes after those that it includes
        if requirements[name]:
            missing[name] = [
                line
                for requirement in requirements[name]
                for line in _missing_texts(requirement, missing)
            ]
    return {name: {"for": USES[name], "missing": lacking} for name, lacking in missing.items()}


def _missing_texts(requirement: str, missing: Mapping[str, list[str]]) -> list[str]:
    """Return in words what is wrong with a package, or with extras such as setrl[cli,plot]."""
    if included := OWN_EXTRAS.match(requirement):
        return [f"the extra {name}" for name in included[1].split(",") if missing.get(name)]
    lack = _missing_package_text(requirement)
    return [] if lack is None else [lack]


def _requirements() -> list[str]:
    """Return the packages in setrl's metadata; no package if setrl was never installed."""
    try:
        return distribution("setrl").requires or []
    except PackageNotFoundError:
        return []


def _missing_package_text(requirement: str) -> str | None:
    """Return in words what is wrong with a package such as "trl==1.16.0", or None."""
    name, limits = re.match(r"([\w.-]+)(?:\[[^\]]*\])?\s*(.*)", requirement).groups()  # type: ignore[union-attr]
    installed = _installed_version(name)
    if installed is None:
        return name
    try:
        from packaging.specifiers import SpecifierSet
    except ModuleNotFoundError:  # pip compared the versions when it installed them
        return None
    fits = SpecifierSet(limits).contains(installed, prereleases=True)
    return None if fits else f"{name}{limits} ({installed} is installed)"


def _find_gpus() -> dict[str, Any]:
    """Return the GPUs that PyTorch can use, or why it can use no GPU."""
    if _installed_version("torch") is None:
        return {"gpus": [], "no_gpu": "PyTorch is not installed"}
    try:
        with warnings.catch_warnings(record=True) as caught:  # of drivers that are too old
            warnings.simplefilter("always")
            import torch

            gpus = _names_of_torch_gpus(torch)
    except Exception as error:  # a library that is missing, a driver that fails: all are answers
        return {"gpus": [], "no_gpu": f"PyTorch does not start: {type(error).__name__}: {error}"}
    why = [
        str(warning.message).splitlines()[0] for warning in caught if "CUDA" in str(warning.message)
    ]
    return {"gpus": gpus, "no_gpu": None if gpus else (why or [_reason_for_no_gpu(torch)])[0]}


def _names_of_torch_gpus(torch: Any) -> list[str]:
    if torch.cuda.is_available():
        return [torch.cuda.get_device_name(at) for at in range(torch.cuda.device_count())]
    return ["Apple GPU (MPS)"] if torch.backends.mps.is_available() else []


def _reason_for_no_gpu(torch: Any) -> str:
    built = torch.version.cuda or torch.version.hip
    return "PyTorch finds none" if built else "this PyTorch is built only for CPUs"


def doctor_text(installation: dict[str, Any]) -> str:
    """Return the whole answer."""
    packages = ", ".join(f"{name} {version}" for name, version in installation["packages"].items())
    return "\n".join(
        [
            f"setrl {installation['setrl']}, Python {installation['python']}, "
            f"{installation['platform']}",
            f"in {installation['installed_in']}",
            "",
            f"packages: {packages}",
            "",
            *_extras_table(installation),
            "",
            *(
                [f"GPU: {name}" for name in installation["gpus"]]
                or [f"no GPU: {installation['no_gpu']}"]
            ),
        ]
    )


def _extras_table(installation: dict[str, Any]) -> list[str]:
    extras, metadata = installation["extras"], installation["metadata"]
    if metadata != installation["setrl"]:
        state = f"is of {metadata}" if metadata else "is missing"
        return [f"extras: unknown, since the metadata of setrl {state}: install setrl again"]
    shown = {name: extra for name, extra in extras.items() if name != WHOLE}
    rows = [_extra_row(name, extra) for name, extra in shown.items()]
    rows.sort(key=lambda row: row[0] == NO)
    lines = table([["", "extra", "for", "needs"], *rows], left=range(4)).splitlines()
    lacking = [name for name, extra in shown.items() if extra["missing"]]
    if not lacking:
        return lines
    return [*lines, f"what you do not use may stay missing; to add one: {install('EXTRA')}"]


def _extra_row(name: str, extra: dict[str, Any]) -> list[str]:
    """Return whether what an extra is for works, and which packages are missing."""
    missing = extra["missing"]
    return [NO if missing else "works", name, extra["for"], first_of(missing, SHOWN)]
