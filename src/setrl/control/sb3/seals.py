"""Seals: which folders with pickles were written on this machine, and not changed since then.

Reading a pickle runs what its author wrote into it. So a folder with a pickle is sealed with a key
that never leaves the user's cache folder, and a folder without a valid seal is not read.
"""

from __future__ import annotations

import contextlib
import hashlib
import hmac
import os
import secrets
from pathlib import Path

from setrl.support.errors import RunError
from setrl.train.runs.run import cache_folder

SEAL = "seal"


def seal(folder: Path) -> None:
    """Write the seal of the files that are in a folder now."""
    (folder / SEAL).write_text(_digest(folder), encoding="utf-8")


def check_seal(folder: Path) -> None:
    """Refuse a folder that was not sealed on this machine, or was changed since then.

    Raises:
        RunError: If the seal is missing or wrong; the message names the folder.
    """
    path = folder / SEAL
    written = path.read_text(encoding="utf-8") if path.exists() else ""
    if not hmac.compare_digest(written.encode(), _digest(folder).encode()):
        raise RunError(
            f"{folder} holds pickles, which can run any code, and was not written on this machine "
            "by this version of setrl, or was changed since: train this arm again in another "
            f"folder; the key that checks seals is {_key_path()}"
        )


def _digest(folder: Path) -> str:
    """Compute HMAC-SHA256 of names and contents; the mark `complete` comes after the seal."""
    code = hmac.new(_key(), digestmod=hashlib.sha256)
    for path in sorted(folder.iterdir()):
        if path.name not in (SEAL, "complete"):
            code.update(f"{path.name} {path.stat().st_size}\n".encode())
            code.update(path.read_bytes())
    return code.hexdigest()


def _key_path() -> Path:
    return cache_folder(None) / "seal.key"


def _key() -> bytes:
    """Return the key of this user; made at the first use, and then always the same."""
    path = _key_path()
    if not path.exists():
        path.parent.mkdir(parents=True, exist_ok=True)
        own = path.with_name(f"{path.name}.{os.getpid()}")
        with os.fdopen(os.open(own, os.O_WRONLY | os.O_CREAT | os.O_TRUNC, 0o600), "wb") as file:
            file.write(secrets.token_bytes(32))
        with contextlib.suppress(FileExistsError):
            os.link(own, path)  # if several processes do this at once, the first wins
        own.unlink()
    return path.read_bytes()
