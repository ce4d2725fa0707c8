"""What decides a base model that is made from scratch."""

from __future__ import annotations

import hashlib
import inspect
import json
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from setrl.tasks import domains
from setrl.tasks.domains import Author


@dataclass(frozen=True)
class BaseSpec:
    """A small model from scratch: the keys `base_…` of a config, which document each value."""

    author: Author
    hidden_size: int = 128
    layers: int = 2
    mlp_size: int = 256
    corpus: int = 80_000
    epochs: int = 1
    batch_size: int = 128
    learning_rate: float = 0.02
    seed: int = 0

    @property
    def sizes(self) -> tuple[int, int, int]:
        """Width of the model, width of its feed-forward layers, and number of its layers."""
        return self.hidden_size, self.mlp_size, self.layers

    def as_record(self) -> dict[str, Any]:
        """Return the record in the model's folder: these values, and a hash of the domains."""
        keys = {f"base_{key}": value for key, value in vars(self).items() if key != "author"}
        domain = {"domain": repr(self.author), "source": _source_hash(self.author)}
        return {"schema_version": 1, **domain, **keys}

    @property
    def fingerprint(self) -> str:
        """A hash of the record."""
        return hashlib.sha256(json.dumps(self.as_record()).encode()).hexdigest()[:12]

    def folder(self, cache: Path) -> Path:
        """Return the folder of this model in a cache, whether the model was made or not."""
        return cache / f"base-{self.author.name}-{self.fingerprint}"


def _source_hash(author: Author) -> str:
    """Return a hash of the source files that decide what an author writes.

    Our domains share files. Domains of a user may use ours, and other modules next to their own.
    """
    own, ours = Path(inspect.getfile(type(author))), Path(domains.__file__).parent
    sources = sorted(ours.rglob("*.py"))
    if not own.is_relative_to(ours):
        is_user = not own.is_relative_to(ours.parent)
        sources = [*sources, *sorted(own.parent.glob("*.py"))] if is_user else [own]
    return hashlib.sha256(b"\0".join(path.read_bytes() for path in sources)).hexdigest()[:12]
