"""What the client of a server keeps, so that each batch is trained on exactly once.

The server keeps the weights. The client keeps the step after which they were last saved, what the
run saved before (`state.json`), and every batch since then (`batches/step_000007.json`). A whole
batch is written before the server trains on it. After a fault the weights of `state.json` are
loaded, and the server trains on the batches after them in their order: the weights contain each
batch once, however often it was sent. `models.json` names the models that the run made on the
server, to clean up after them.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any, Self, TypeVar

from setrl.support import files
from setrl.support.errors import DataError

T = TypeVar("T")

SCHEMA_VERSION = 1
WEIGHTS = "remove the folder to begin again; what the run saved stays on the server"


@dataclass(frozen=True)
class Saved:
    """Weights that the server has saved.

    Attributes:
        step: The step after which they were saved.
        path: What the server calls them.
    """

    step: int
    path: str

    @classmethod
    def of(cls, record: Mapping[str, Any]) -> Self:
        """Read them from a file."""
        return cls(int(record["step"]), str(record["path"]))


@dataclass(frozen=True)
class CreditedSample:
    """One sample that is sent to a server for training.

    Attributes:
        prompt: The tokens of the prompt.
        tokens: The tokens of the sample.
        logprobs: The log-probability of each token when it was sampled.
        advantage: The credit of the sample.
    """

    prompt: Sequence[int]
    tokens: Sequence[int]
    logprobs: Sequence[float]
    advantage: float


@dataclass(frozen=True)
class JournalBatch:
    """The samples of one step, credited.

    Attributes:
        step: The step that trains on them, from 1.
        version: The step after which the weights that wrote them were saved.
        samples: The samples of all prompts.
        metrics: What is recorded about them.
        rollouts: A record of each prompt; empty if the step keeps no records.
    """

    step: int
    version: int
    samples: Sequence[CreditedSample]
    metrics: Mapping[str, Any]
    rollouts: Sequence[Mapping[str, Any]] = ()


@dataclass(frozen=True)
class Journal:
    """The folder with the state of a run and its later batches.

    Attributes:
        folder: The folder; made when something is written.
        identity: What the run must agree on to go on: the model, the method, sizes.
    """

    folder: Path
    identity: Mapping[str, Any]

    @property
    def _state_file(self) -> Path:
        return self.folder / "state.json"

    def saved(self) -> Saved | None:
        """Read the weights to go on from; None for a run that has not begun.

        Raises:
            ConfigError, DataError: As `saves`.
        """
        return next(reversed(self.saves()), None)

    def saves(self) -> list[Saved]:
        """List what the server saved for this run and still has, oldest first.

        Raises:
            ConfigError: If the folder holds a run of another model or with other settings.
            DataError: If the file is damaged.
        """

        def read(state: Any) -> tuple[dict[str, Any], list[Saved]]:
            return state["identity"], [*map(Saved.of, (*state.get("older", ()), state))]

        identity, saves = _read_file(self._state_file, read, WEIGHTS) or ({}, [])
        if saves:
            repair = "give another folder, or the same settings"
            files.refuse_other_settings(self.folder, identity, self.identity, repair)
        return saves

    def record_saved_weights(self, saved: Saved) -> None:
        """Record saved weights, and remove the batches that they contain."""
        saves = self.saves()
        if saves and files.read_json(self._state_file).get("folder") != self._own_folder:
            saves = []  # of the run of another folder, whose copy this is: it may need them
        self._write_saves([*saves, saved])
        for path in (self.folder / "batches").glob("step_*.json"):
            if int(path.stem.removeprefix("step_")) <= saved.step:
                path.unlink(missing_ok=True)

    def forget(self, older: Saved) -> None:
        """Remove older weights from the record, as the server no longer has them."""
        self._write_saves([weights for weights in self.saves() if weights != older])

    def _write_saves(self, saves: Sequence[Saved]) -> None:
        *older, saved = map(asdict, saves)
        about = {"folder": self._own_folder, "identity": dict(self.identity)}
        state = {"schema_version": SCHEMA_VERSION, **saved, "older": older, **about}
        files.write_json(self._state_file, state)

    @property
    def _own_folder(self) -> str:
        return str(self.folder.resolve())

    def models(self) -> list[str]:
        """List the models that this run made on the server and did not clean up, oldest first.

        Raises:
            DataError: If the file is damaged.
        """
        recorded = _read_file(
            self._models_file,
            lambda file: (file["folder"], list(map(str, file["models"]))),
            "remove it; what its models saved stays on the server",
        )
        # In a copy of a folder the models belong to the run of the first folder.
        return recorded[1] if recorded is not None and recorded[0] == self._own_folder else []

    def add_model(self, model: str) -> None:
        """Record a model that the server made for this run."""
        self._write_models([*self.models(), model])

    def forget_model(self, model: str) -> None:
        """Remove a model from the record: it left nothing to clean up."""
        self._write_models([name for name in self.models() if name != model])

    @property
    def _models_file(self) -> Path:
        return self.folder / "models.json"

    def _write_models(self, models: Sequence[str]) -> None:
        record = {"folder": self._own_folder, "models": list(models)}
        files.write_json(self._models_file, {"schema_version": 1, **record})

    def _batch_path(self, step: int) -> Path:
        return self.folder / "batches" / f"step_{step:06d}.json"

    def write(self, batch: JournalBatch) -> None:
        """Keep a batch: from now on the server will train on it once."""
        files.write_text(self._batch_path(batch.step), files.json_text(asdict(batch)))

    def batch(self, step: int) -> JournalBatch | None:
        """Read the batch of a step; None if it was not made yet.

        Raises:
            DataError: If its file is damaged.
        """

        def read(record: Any) -> JournalBatch:
            samples = [CreditedSample(**sample) for sample in record.pop("samples")]
            return JournalBatch(samples=samples, **record)

        return _read_file(self._batch_path(step), read, "remove it, and the step is sampled again")


def _read_file(path: Path, read: Callable[[Any], T], repair: str) -> T | None:
    """Read a file that this module wrote; None if it was not written yet."""
    if not path.exists():
        return None
    record = files.read_json(path)
    try:
        return read(record)
    except (KeyError, TypeError, ValueError, AttributeError) as error:
        raise DataError(f"{path} is damaged ({error}): {repair}") from None
