"""Saved weights that a run no longer needs: the server removes them.

A run removes only what it saved itself: the weights that its journal records, and what else its
models have saved. What cannot be removed now is tried again later.
"""

from __future__ import annotations

import contextlib
import logging
from dataclasses import dataclass
from typing import Any

import tinker

from setrl.train.tinker.journal import Journal
from setrl.train.tinker.server import said

log = logging.getLogger(__name__)

FINAL = "final"  # begins the names of weights for sampling that outlive the training run


@dataclass(frozen=True)
class Saves:
    """The saved weights of a run on a server.

    Attributes:
        client: `tinker.ServiceClient`.
        journal: The record of the run.
        reply_s: Seconds to wait for one answer.
    """

    client: Any
    journal: Journal
    reply_s: float

    @property
    def rest(self) -> Any:
        """`tinker.RestClient`; the package asks the server when it makes one, which may fail."""
        return self.client.create_rest_client()

    def remove(self, model: str, keep: int, samplers: int) -> None:
        """Remove all saved weights but the last.

        Args:
            model: The model of the server that the run trains now.
            keep: How many saved states stay, at least 1.
            samplers: How many weights for sampling stay.
        """
        try:
            self._older(keep)
            self._samplers(model, samplers)
            for past in self.journal.models():
                if past != model:
                    self._past(past)
        except Exception as error:
            log.warning("old weights stay on the server for now: %s", said(error)[:200])

    def _older(self, keep: int) -> None:
        older = self.journal.older()
        for saved in older[: max(0, len(older) + 1 - keep)]:
            self._delete(saved.path)
            self.journal.forget(saved)

    def _samplers(self, model: str, samplers: int) -> None:
        """Remove weights that the server sampled from and kept under its own names."""
        own = [one for one in self._passing(model) if one.checkpoint_type == "sampler"]
        own.sort(key=lambda one: one.time)
        for one in own[: max(0, len(own) - samplers)]:
            self._delete(one.tinker_path)

    def _past(self, model: str) -> None:
        """Remove what a model left: weights for sampling, and saves whose replies were lost."""
        saved = self.journal.saved()
        needed = {one.path for one in (*self.journal.older(), *([saved] if saved else []))}
        for one in self._passing(model):
            if one.tinker_path not in needed:
                self._delete(one.tinker_path)
        self.journal.forget_model(model)

    def _passing(self, model: str) -> list[Any]:
        """List what the server keeps for a model, without the weights that outlive the run."""
        found = self.rest.list_checkpoints(model).result(timeout=self.reply_s).checkpoints
        return [one for one in found if not one.tinker_path.rpartition("/")[2].startswith(FINAL)]

    def _delete(self, path: str) -> None:
        with contextlib.suppress(tinker.NotFoundError):  # or the reply to an earlier try was lost
            self.rest.delete_checkpoint_from_tinker_path(path).result(timeout=self.reply_s)
