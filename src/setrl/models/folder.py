"""Where a model is: a folder, or a name on a hub. It needs no PyTorch, so it answers at once."""

from __future__ import annotations

import hashlib
import os
from pathlib import Path

from setrl.logs.run import RECORD
from setrl.models.served.endpoint import refuse_unreachable
from setrl.support import files, wording
from setrl.support.errors import ConfigError, DataError, RunError
from setrl.support.files.digests import Digests, digest

ADAPTER, CONFIG = "adapter_config.json", "config.json"
NO_INPUTS = (RECORD, "base.json", "evaluation.json", "training_args.bin", "traceback.txt")
TRUST = "SETRL_TRUST_REMOTE_CODE"
HF_HUB = os.environ.get("HF_ENDPOINT", "https://huggingface.co")


def trusts_code() -> bool:
    """Whether code in a model's folder may run: SETRL_TRUST_REMOTE_CODE is set to 1."""
    return os.environ.get(TRUST) == "1"


def not_loaded(model_dir: str | Path, error: Exception, why: str) -> ConfigError:
    """Return the error of a model that is not loaded, also if it is refused for its own code."""
    own_code = (
        "has code of its own (auto_map in its JSON files), which setrl does not run: read it, and "
        f"allow it with the environment variable {TRUST}=1 if you trust it"
    )
    return ConfigError(f"{model_dir} {own_code if 'trust_remote_code' in str(error) else why}")


def refuse_missing(model_dir: str | Path) -> None:
    """Refuse a model that cannot be loaded: no such folder, or a name that no hub can give.

    A hub is asked only for a name that cannot be a path, and only whether it answers at all: the
    library behind it tries again for half a minute.

    Raises:
        ConfigError: If the model does not exist.
    """
    name = base_of(model_dir)
    path = Path(name)
    if path.is_dir():
        _refuse_other_folder(path)
    elif name.startswith((".", "~")) or path.is_absolute() or len(path.parts) > 2:
        raise ConfigError(f"{name} is not a model's folder or name: {_say_which_folders(path)}")
    elif not _is_cached(name):
        try:
            refuse_unreachable(HF_HUB)
        except RunError as error:
            reason = str(error).partition(": start the server")[0]
            raise ConfigError(
                f"{name} is not a model's folder or name: {reason}, the cache of this machine "
                f"lacks it, and {_say_which_folders(path)}"
            ) from None


def is_adapter(model_dir: str | Path) -> bool:
    """Return whether a folder holds an adapter (PEFT) of a model, and not a model."""
    return (Path(model_dir) / ADAPTER).is_file()


def base_of(model_dir: str | Path) -> str:
    """Return the name or folder of the whole model: for an adapter, of its base model.

    Raises:
        ConfigError: If the adapter does not say.
    """
    if not is_adapter(model_dir):
        return str(model_dir)
    base = files.read_json(Path(model_dir) / ADAPTER).get("base_model_name_or_path")
    if not base:
        raise ConfigError(f"{Path(model_dir) / ADAPTER} does not name the model of the adapter")
    return str(base)


def model_digests(name: str, folder: Path) -> Digests:
    """Return the fingerprints of the files of a model and its tokenizer; {} without the folder."""
    inside = sorted(folder.iterdir()) if folder.is_dir() else []
    return {
        f"{name}: {path.name}": digest(path)
        for path in inside
        if path.is_file() and path.suffix != ".md" and path.name not in NO_INPUTS
    }


def fingerprint(model_dir: str | Path) -> str | None:
    """Return a fingerprint of a model, wherever it is; None if this machine does not have it.

    It is that of the files in its folder, with those of the model that an adapter changes, or the
    commit of a name on a hub.
    """
    name = str(model_dir)
    if not Path(name).is_dir():
        return hub_commit(name)
    whole = hashlib.sha256(files.json_text(dict(model_digests("", Path(name)))).encode())
    if is_adapter(name):
        whole.update(str(fingerprint(base_of(name))).encode())
    return whole.hexdigest()[:16]


def _refuse_other_folder(path: Path) -> None:
    """Refuse a folder whose config names no kind of model."""
    try:
        kind = files.read_json(path / CONFIG).get("model_type")
    except (DataError, OSError):
        kind = None
    if kind is None:
        names = sorted(child.name for child in path.iterdir())
        raise ConfigError(
            f"{path} is not a model's folder or name: its {CONFIG} is missing or names no "
            f"model_type; it has {wording.first_of(names) if names else 'no file'}"
        )


def _say_which_folders(path: Path) -> str:
    """Say which folders there are where one is missing."""
    folder = next(parent for parent in path.absolute().parents if parent.is_dir())
    names = sorted(
        child.name for child in folder.iterdir() if child.is_dir() and child.name[0] != "."
    )
    return (
        f"there is no such folder, and {folder} has "
        f"{wording.first_of(names) if names else 'no folder'}"
    )


def _is_cached(name: str) -> bool:
    """Return whether the config of a name is in the cache of Hugging Face's library."""
    try:
        return hub_commit(name) is not None
    except ModuleNotFoundError:
        return True  # the extra is missing: whoever loads the model says so


def hub_commit(name: str) -> str | None:
    """Return the commit of a name on the hub that this machine's cache has; None if it has none."""
    from huggingface_hub import try_to_load_from_cache
    from huggingface_hub.errors import HFValidationError

    try:
        cached = try_to_load_from_cache(name, CONFIG)
    except HFValidationError:
        return None
    return Path(cached).parent.name if isinstance(cached, str) else None
