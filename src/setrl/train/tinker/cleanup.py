"""What a run frees on a server: the places of its models, and saved weights that it needs no more.

Each model takes a place until it is unloaded, and the client package unloads nothing by itself. A
server notices that a client has gone some minutes after its last sign of life (SkyRL's server
after five to six). A run removes only what it saved itself: the weights that its journal records,
and what else its models have saved. What cannot be removed now is tried again later.
"""

from __future__ import annotations

import contextlib
import logging
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any

import tinker
from tinker.lib.client_connection_pool_type import ClientConnectionPoolType

from setrl.train.tinker.journal import Journal
from setrl.train.tinker.server import words_of_error

UNLOAD = "/api/v1/unload_model"  # of the protocol; the client has no method for it since 0.26
UNLOAD_S = 10.0  # the longest wait for a server that does not answer
FINAL = "final"  # begins the names of weights for sampling that outlive the training run

log = logging.getLogger(__name__)


def unload_model(client: Any, model: str) -> None:
    """Have a server free the place of a model; what it saved stays.

    Nothing depends on it: a server that does not answer frees the place later.

    Args:
        client: `tinker.ServiceClient`.
        model: Its name on the server.
    """
    holder, options = client.holder, {"max_retries": 0, "timeout": UNLOAD_S}
    request = {"model_id": model, "type": "unload_model"}

    async def ask() -> None:
        with holder.aclient(ClientConnectionPoolType.TRAIN) as connection:
            await connection.post(UNLOAD, body=request, cast_to=object, options=options)

    try:
        holder.run_coroutine_threadsafe(ask()).result(timeout=2 * UNLOAD_S)
    except Exception as error:
        log.info("%s keeps its place on the server for now: %s", model, words_of_error(error)[:200])


def leave_server(client: Any, models: list[str]) -> None:
    """Unload models and end the session; otherwise it goes on, with signs of life.

    Args:
        client: `tinker.ServiceClient`.
        models: What to unload.
    """
    for model in models:
        unload_model(client, model)
    client.holder.close()


@contextmanager
def sampling_client(
    client: Any, base_model: str, state: str | None, reply_s: float
) -> Iterator[Any]:
    """Open a client that samples from saved weights; at the end its session ends.

    SkyRL's server on JAX samples from weights only while the model that saved them is loaded. So
    the weights are loaded into a new model. At the end this model is unloaded, and what it saved
    for sampling is removed.

    Args:
        client: `tinker.ServiceClient`.
        base_model: The model of the server.
        state: The name of the weights on the server; None for the base model.
        reply_s: Seconds to wait for one answer.
    """
    models: list[str] = []
    try:
        if state is None:
            yield client.create_sampling_client(base_model=base_model)
        else:
            training = client.create_training_client_from_state(state)
            models.append(training.model_id)
            yield training.save_weights_and_get_sampling_client()
    finally:
        for model in models:
            _remove_all_saves(client.create_rest_client(), model, reply_s)
        leave_server(client, models)


def _remove_all_saves(rest: Any, model: str, reply_s: float) -> None:
    try:
        for save in rest.list_checkpoints(model).result(timeout=reply_s).checkpoints:
            rest.delete_checkpoint_from_tinker_path(save.tinker_path).result(timeout=reply_s)
    except Exception as error:
        log.warning("weights of %s stay on the server: %s", model, words_of_error(error)[:200])


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
            self._remove_older_states(keep)
            self._remove_samplers(model, samplers)
            for past in self.journal.models():
                if past != model:
                    self._remove_saves_of_past(past)
        except Exception as error:
            log.warning("old weights stay on the server for now: %s", words_of_error(error)[:200])

    def _remove_older_states(self, keep: int) -> None:
        for saved in self.journal.saves()[:-keep]:
            self._delete_save(saved.path)
            self.journal.forget(saved)

    def _remove_samplers(self, model: str, samplers: int) -> None:
        """Remove weights that the server sampled from and kept under its own names."""
        saves = [
            save for save in self._list_removable_saves(model) if save.checkpoint_type == "sampler"
        ]
        saves.sort(key=lambda save: save.time)
        for save in saves[: max(0, len(saves) - samplers)]:
            self._delete_save(save.tinker_path)

    def _remove_saves_of_past(self, model: str) -> None:
        """Remove what a model left: weights for sampling, and saves whose replies were lost."""
        needed = {save.path for save in self.journal.saves()}
        for save in self._list_removable_saves(model):
            if save.tinker_path not in needed:
                self._delete_save(save.tinker_path)
        self.journal.forget_model(model)

    def _list_removable_saves(self, model: str) -> list[Any]:
        """List what the server keeps for a model, without the weights that outlive the run."""
        saves = self.rest.list_checkpoints(model).result(timeout=self.reply_s).checkpoints
        return [save for save in saves if not save.tinker_path.rpartition("/")[2].startswith(FINAL)]

    def _delete_save(self, path: str) -> None:
        with contextlib.suppress(tinker.NotFoundError):  # or the reply to an earlier try was lost
            self.rest.delete_checkpoint_from_tinker_path(path).result(timeout=self.reply_s)
