"""What an arm of a language model begins with: code, base model and problems."""

from __future__ import annotations

from pathlib import Path

from setrl.logs.run import BASE
from setrl.models.folder import hub_commit
from setrl.support.files.digests import Digests
from setrl.train.lm.resolved import ResolvedConfig
from setrl.train.runs.inputs import inputs_of, model_digests


def base_of_run(resolved: ResolvedConfig, run_dir: Path) -> str:
    """Return the absolute folder of the model that arms start from, or its name on a hub."""
    model = resolved.config.model
    folder = run_dir / BASE if model is None else Path(model)
    return str(folder.absolute()) if model is None or folder.is_dir() else model


def run_inputs(resolved: ResolvedConfig, run_dir: Path) -> Digests:
    """Return the fingerprints of all that a run's results depend on besides its config."""
    base, name = base_of_run(resolved, run_dir), resolved.config.model or BASE
    found = dict(inputs_of(resolved.config))
    if Path(base).is_absolute():
        found |= model_digests(name, Path(base))
    elif (commit := hub_commit(base)) is not None:
        found[name] = commit
    for split in resolved.used_splits:
        if problems := resolved.task.digest(split):
            found[f"the problems of the split {split!r} of {resolved.task.name}"] = problems
    return found
