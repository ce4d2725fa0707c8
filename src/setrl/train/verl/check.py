"""Whether verl has loaded setrl, and why not: verl writes that only to its debug log."""

from __future__ import annotations

import importlib
import os
from importlib import metadata

from setrl.support.errors import ConfigError
from setrl.train.verl import estimators as ours

GROUP, NAME = "verl.plugins", "setrl"
POLICY = "VERL_USE_EXTERNAL_PLUGINS"
NEEDS_REINSTALL = (
    f"the installed setrl has no entry point {GROUP}: install it again in this environment "
    "(pip install -e packages/grader -e '.[cli]' in a clone of setrl, or pip install WHEEL)"
)


def check_verl() -> list[str]:
    """List what verl finds of setrl, one line each.

    Raises:
        ConfigError: If verl would not find it, or not all of it; it says why.
    """
    version = _import_verl()
    _check_entry_point()
    _check_policy()
    _check_plugin()
    estimators, trainers = _list_estimators(), _list_trainers()
    lines = [f"verl {version} has {len(estimators)} estimators and {len(trainers)} trainers"]
    lines[0] += f" of setrl: {', '.join(trainers)}"
    if version != ours.WRITTEN_FOR_VERL:
        lines.append(
            f"note: setrl is tested with verl {ours.WRITTEN_FOR_VERL}; run `make verl` of setrl's "
            "repository with yours"
        )
    return lines


def _import_verl() -> str:
    try:
        return str(importlib.import_module("verl").__version__)
    except ImportError as error:
        raise ConfigError(
            f"verl cannot be imported here: {error}; run this in the environment in which verl "
            "trains"
        ) from None


def _check_entry_point() -> None:
    if NAME not in metadata.entry_points(group=GROUP).names:
        raise ConfigError(NEEDS_REINSTALL)


def _check_policy() -> None:
    """Refuse a setting of verl's switch of plug-ins that keeps setrl out."""
    policy = os.environ.get(POLICY, "auto").strip()
    chosen = {name.strip() for name in policy.lower().split(",")}
    if policy.lower() != "auto" and NAME not in chosen:
        raise ConfigError(
            f"{POLICY}={policy!r} keeps setrl out: unset it, or add setrl to its list"
        )


def _check_plugin() -> None:
    """Load the plug-in as verl does, but show its error."""
    try:
        importlib.import_module("setrl.train.verl.plugin")
    except ImportError as error:
        missing = getattr(error, "name", None)
        raise ConfigError(
            f"verl's v1 trainers cannot be imported, so that trainers of setrl are not registered: "
            f"{error}" + ("; install TransferQueue" if missing == "transfer_queue" else "")
        ) from error
    except Exception as error:
        raise ConfigError(f"the plug-in fails: {type(error).__name__}: {error}") from error
    missing_names = set(ours.names_of_estimators()) - set(_list_estimators())
    if missing_names:
        raise ConfigError(f"verl's registry lacks {', '.join(sorted(missing_names))}")


def _list_estimators() -> list[str]:
    from verl.trainer.ppo.core_algos import ADV_ESTIMATOR_REGISTRY

    return [name for name in ours.names_of_estimators() if name in ADV_ESTIMATOR_REGISTRY]


def _list_trainers() -> list[str]:
    from verl.trainer.ppo.v1 import get_trainer_cls

    names = [f"{ours.PREFIX}_{mode}" for mode in ours.MODES]
    for name in names:
        try:
            get_trainer_cls(name)
        except (KeyError, ValueError):
            raise ConfigError(f"verl's registry has no trainer {name}") from None
    return names
