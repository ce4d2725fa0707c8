"""What a training run saved on a server and no longer needs: the server removes it.

Only what this run saved itself: the weights that its journal records, and the weights for sampling
of the models that it made. Nothing depends on it: what cannot be removed now is tried again later.
"""

from __future__ import annotations

import contextlib
import logging
from dataclasses import dataclass
from typing import Any

import tinker

from setrl.engines.journal import Journal

log = logging.getLogger(__name__)

FINAL = "final"  # how the names of weights for sampling begin that outlive the training


@dataclass(frozen=True)
class Saves:
    """The saved weights of a run on a server.

    Attributes:
        rest: `tinker.RestClient`.
        journal: The record of the run.
        reply_s: Seconds to wait for one answer.
    """

    rest: Any
    journal: Journal
    reply_s: float

    def remove(self, model: str, keep: int, samplers: int) -> None:
        """Remove all but the last.

        Args:
            model: The model of the server that the run trains now.
            keep: How many weights to go on from stay, at least 1.
            samplers: How many weights for sampling stay.
        """
        try:
            self._older(keep)
            self._samplers(model, samplers)
        except Exception as error:
            log.warning("old weights stay on the server for now: %s", str(error)[:200])

    def _older(self, keep: int) -> None:
        older = self.journal.older()
        for saved in older[: max(0, len(older) + 1 - keep)]:
            self._delete(saved.path)
            self.journal.forget(saved)

    def _samplers(self, model: str, samplers: int) -> None:
        """Servers may keep the weights that they sampled from, under names of their own."""
        found = self.rest.list_checkpoints(model).result(timeout=self.reply_s).checkpoints
        own = [
            one
            for one in found
            if one.checkpoint_type == "sampler"
            and not one.tinker_path.rpartition("/")[2].startswith(FINAL)
        ]
        own.sort(key=lambda one: one.time)
        for one in own[: max(0, len(own) - samplers)]:
            self._delete(one.tinker_path)

    def _delete(self, path: str) -> None:
        with contextlib.suppress(tinker.NotFoundError):  # or the reply to an earlier try was lost
            self.rest.delete_checkpoint_from_tinker_path(path).result(timeout=self.reply_s)
