"""Places of a server: each model takes one until it is unloaded.

The client package unloads nothing by itself. A server notices that a client has gone some minutes
after its last sign of life (SkyRL's server after five to six).
"""

from __future__ import annotations

import logging
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

from tinker.lib.client_connection_pool_type import ClientConnectionPoolType

from setrl.train.tinker.server import said

log = logging.getLogger(__name__)

UNLOAD = "/api/v1/unload_model"  # of the protocol; the client has no method for it since 0.26
UNLOAD_S = 10.0  # the longest wait for a server that does not answer


def unload(client: Any, model: str) -> None:
    """Have a server free the place of a model; what it saved stays.

    Nothing depends on it: a server that does not answer frees the place later.

    Args:
        client: `tinker.ServiceClient`.
        model: Its name on the server.
    """
    holder, options = client.holder, {"max_retries": 0, "timeout": UNLOAD_S}
    asked = {"model_id": model, "type": "unload_model"}

    async def ask() -> None:
        with holder.aclient(ClientConnectionPoolType.TRAIN) as one:
            await one.post(UNLOAD, body=asked, cast_to=object, options=options)

    try:
        holder.run_coroutine_threadsafe(ask()).result(timeout=2 * UNLOAD_S)
    except Exception as error:
        log.info("%s keeps its place on the server for now: %s", model, said(error)[:200])


def leave(client: Any, models: list[str]) -> None:
    """Unload models and end the session; otherwise it goes on, with signs of life.

    Args:
        client: `tinker.ServiceClient`.
        models: What to unload.
    """
    for model in models:
        unload(client, model)
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
            _remove_all(client.create_rest_client(), model, reply_s)
        leave(client, models)


def _remove_all(rest: Any, model: str, reply_s: float) -> None:
    try:
        for one in rest.list_checkpoints(model).result(timeout=reply_s).checkpoints:
            rest.delete_checkpoint_from_tinker_path(one.tinker_path).result(timeout=reply_s)
    except Exception as error:
        log.warning("weights of %s stay on the server: %s", model, said(error)[:200])
