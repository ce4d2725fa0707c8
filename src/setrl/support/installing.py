"""The command for an extra: setrl is on no index, so it names where setrl came from."""

from __future__ import annotations

import json
from pathlib import Path
from shlex import quote
from typing import Any
from urllib.parse import unquote, urlsplit

GRADER = "packages/grader"
CONSTRAINTS = "constraints.txt"  # of a clone: the versions that the tests use


def install(extra: str) -> str:
    """Return the command for an extra, from where this setrl came from: a clone, a wheel, a URL.

    The grader, setrl-grader, is in the same clone, or its wheel in the same folder. A clone has the
    versions that were tested, which newer ones need not work like. pip and uv
    write the origin into direct_url.json (PEP 610). Where it is unknown, or no longer exists, the
    sentence names both a clone and a wheel.

    Args:
        extra: Name of the extra, or several names, such as "cli,plot".
    """
    origin = _read_origin()
    url, path = str(origin.get("url", "")), Path(unquote(urlsplit(str(origin.get("url"))).path))
    if "vcs_info" in origin:
        where = "@".join([f"{origin['vcs_info']['vcs']}+{url}", origin["vcs_info"]["commit_id"]])
        grader = quote(f"setrl-grader @ {where}#subdirectory={GRADER}")
        return f"pip install {grader} {quote(f'setrl[{extra}] @ {where}')}"
    if url.startswith("file:") and path.is_dir():
        editable = "-e " if origin.get("dir_info", {}).get("editable") else ""
        grader, tested = quote(str(path / GRADER)), path / CONSTRAINTS
        limits = f"-c {quote(str(tested))} " if tested.is_file() else ""
        return f"pip install {limits}{editable}{grader} {editable}{quote(f'{path}[{extra}]')}"
    if url.startswith("file:") and path.exists():
        return f"pip install --find-links {quote(str(path.parent))} {quote(f'{path}[{extra}]')}"
    return (
        f"pip install -c {CONSTRAINTS} ./{GRADER} '.[{extra}]' in a clone of setrl, or pip install "
        f"--find-links FOLDER 'WHEEL[{extra}]' with the path of a wheel and its folder, where the "
        "grader's is"
    )


def _read_origin() -> dict[str, Any]:
    """Read direct_url.json; empty where setrl is not installed, or came from an index."""
    from importlib import metadata  # slow to import, and rarely needed

    try:
        text = metadata.distribution("setrl").read_text("direct_url.json")
    except metadata.PackageNotFoundError:
        return {}
    return json.loads(text) if text else {}
