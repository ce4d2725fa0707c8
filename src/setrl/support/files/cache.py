"""The folder of what setrl made once and can make again: base models, pretrained policies."""

from __future__ import annotations

import os
from pathlib import Path

CACHE = "SETRL_CACHE"  # the environment variable that names this folder


def cache_folder(cache: str | Path | None = None) -> Path:
    """Return `cache`, or else $SETRL_CACHE, or else ~/.cache/setrl."""
    return Path(cache or os.environ.get(CACHE) or Path.home() / ".cache" / "setrl")
