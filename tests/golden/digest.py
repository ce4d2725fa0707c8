"""Figures made short enough to commit: hashes of long lists, sums of large trees."""

from __future__ import annotations

import hashlib
import io
import json
import math
import zipfile
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

LONGEST = 160  # characters of a list that is written in full


def sha(data: bytes | str) -> str:
    """16 hexadecimal digits."""
    return hashlib.sha256(data.encode() if isinstance(data, str) else data).hexdigest()[:16]


def pack(values: list[Any]) -> Any:
    """A short list itself; of a long one its hash, its length and the sum of its numbers."""
    text = json.dumps(values, sort_keys=True)  # a float's shortest decimal has all its bits
    if len(text) <= LONGEST:
        return values
    flat = [value for _, value in leaves({"": values})]
    return {"bits": sha(text), "length": len(values), "sum": math.fsum(flat)}


def leaves(tree: Any, name: str = "") -> Iterator[tuple[str, float]]:
    """The numbers of a tree, each with the nearest key above it."""
    if isinstance(tree, dict):
        for key, value in tree.items():
            yield from leaves(value, key)
    elif isinstance(tree, list):
        for value in tree:
            yield from leaves(value, name)
    elif isinstance(tree, int | float) and math.isfinite(tree):
        yield name, float(tree)


def sums(tree: Any) -> dict[str, list[float]]:
    """Return nearest key → its count of numbers in a tree, their sum, and the sum of squares."""
    found: dict[str, list[float]] = {}
    for name, value in leaves(tree):
        found.setdefault(name, []).append(value)
    return {
        name: [len(all_), math.fsum(all_), math.fsum(value**2 for value in all_)]
        for name, all_ in sorted(found.items())
    }


def columns(records: list[dict[str, Any]], without: tuple[str, ...] = ()) -> dict[str, Any]:
    """Records as one packed list a key, None where a record lacks it."""
    keys = dict.fromkeys(key for record in records for key in record)
    kept = [key for key in keys if not key.startswith(without or ("\0",))]
    return {key: pack([record.get(key) for record in records]) for key in kept}


def tensors(state: Mapping[str, Any]) -> dict[str, Any]:
    """A model: a hash of all names and bytes, and each tensor's norm in a few digits."""
    arrays = {name: state[name].detach().contiguous().numpy() for name in sorted(state)}
    parts = [name.encode() + array.tobytes() for name, array in arrays.items()]
    norms = [
        float(f"{math.sqrt(float((a.astype(float) ** 2).sum())):.6g}") for a in arrays.values()
    ]
    return {"bits": sha(b"".join(parts)), "norms": norms}


def safetensors(path: Path) -> dict[str, Any]:
    """The model of a .safetensors file."""
    from safetensors.torch import load_file

    return tensors(load_file(path))


def policy(path: Path) -> dict[str, Any]:
    """The policy of a Stable-Baselines3 archive, whose own bytes hold times."""
    import torch

    with zipfile.ZipFile(path) as archive:
        return tensors(torch.load(io.BytesIO(archive.read("policy.pth")), weights_only=True))


def lines(path: Path) -> list[dict[str, Any]]:
    """The objects of a JSON Lines file."""
    return [json.loads(line) for line in path.read_text(encoding="utf-8").splitlines()]
