"""What a run began with besides its config, so that it goes on with nothing else.

The record of a run keeps a fingerprint of the code that its config names, of its model and of its
problems. A run that went on after one of them changed would mix the results of both.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from setrl.logs.run import RECORD
from setrl.support import files
from setrl.support.errors import ConfigError
from setrl.support.files.digests import Digests, digest
from setrl.support.files.loading import code_of

INPUTS, ACCEPTED = "inputs", "accepted_changes"  # in the record of a run
NO_INPUTS = (RECORD, "base.json", "evaluation.json", "training_args.bin", "traceback.txt")


def check_inputs(
    run_dir: Path, found: Digests, *, accept: bool = False, keep: bool = False
) -> None:
    """Refuse to go on with other inputs than those that a run began with.

    Args:
        run_dir: The folder of the run.
        found: The fingerprints of the inputs now.
        accept: Go on nevertheless.
        keep: Write the fingerprints into the record; then an input that is missing is refused, too.

    Raises:
        ConfigError: Naming what changed.
    """
    record = files.read_json(run_dir / RECORD)
    known = record.get(INPUTS, {})
    changed = [name for name, one in known.items() if found.get(name, None if keep else one) != one]
    if changed and not accept:
        raise ConfigError(
            f"{run_dir} holds a run that began with something else:\n  "
            + "\n  ".join(f"{name} {'changed' if name in found else 'is gone'}" for name in changed)
            + "\nput it back, give another --run-dir, or go on with what is there now by "
            "--accept-changes, which the record of the run then says"
        )
    if keep:
        now = datetime.now(UTC).isoformat(timespec="seconds")
        accepted = [*record.get(ACCEPTED, []), *({"time": now, "what": one} for one in changed)]
        later = {ACCEPTED: accepted} if accepted else {}
        files.write_json(run_dir / RECORD, {**record, INPUTS: dict(found), **later})


def inputs_of(config: Any) -> Digests:
    """Return the fingerprints of the code that a config names, and of its judges' files."""
    inputs = code_of(vars(config))
    for text in _texts(config.arms):
        path = Path(text)
        if path.suffix and path.is_file():  # the instructions of a judge
            inputs[f"file {text}"] = digest(path)
        elif (path / "config.json").is_file():
            inputs |= model_digests(text, path)
    return inputs


def _texts(value: Any) -> Iterator[str]:
    """Yield the texts in a config, but not where a judge keeps what it said."""
    if isinstance(value, Mapping):
        value = [one for key, one in value.items() if key != "cache"]
    if isinstance(value, list | tuple):
        for item in value:
            yield from _texts(item)
    elif isinstance(value, str):
        yield value


def model_digests(name: str, folder: Path) -> Digests:
    """Return the fingerprints of the files of a model and its tokenizer; {} without the folder."""
    inside = sorted(folder.iterdir()) if folder.is_dir() else []
    return {
        f"{name}: {path.name}": digest(path)
        for path in inside
        if path.is_file() and path.suffix != ".md" and path.name not in NO_INPUTS
    }
