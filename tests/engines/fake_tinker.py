"""A server of the Tinker protocol in this process: a real model, real gradients, and faults.

As SkyRL's server on JAX it has few places for models, samples only from models that have one, and
loads what it samples from into the place of what it trains.

Its methods take what the methods of the released client take (each call is bound to their
signatures) and return the client's own types.
"""

import asyncio
import copy
import inspect
import itertools
from concurrent.futures import Future
from contextlib import contextmanager
from datetime import datetime

import httpx
import numpy as np
import tinker
import torch
from tinker import types
from tinker._client import AsyncTinker
from tinker.lib.public_interfaces.rest_client import RestClient
from transformers import AutoModelForCausalLM

from setrl.models.small.sampler import sample_ids
from setrl.train.tinker import cleanup

PLACES = 7  # of eight on SkyRL's server, the base model has one


class FaultError(Exception):
    pass


def bound(kind, name, *args, **named):
    """The arguments, as the released client takes them."""
    signature = inspect.signature(getattr(kind, name))
    arguments = signature.bind(None, *args, **named)
    arguments.apply_defaults()
    return {key: value for key, value in arguments.arguments.items() if key != "self"}


def done(value):
    future = Future()
    if isinstance(value, Exception):
        future.set_exception(value)
    else:
        future.set_result(value)
    return future


def parameters_of(model):
    return torch.cat([one.detach().flatten() for one in model.parameters()])


def copy_of(model):
    """A copy of the weights; the config, which takes longer to copy than they do, is shared."""
    shared = {id(one.config): one.config for one in model.modules() if hasattr(one, "config")}
    return copy.deepcopy(model, shared)


class Weights:
    """A model with its optimiser, and the batches that are in it."""

    def __init__(self, model, seen=()):
        self.model = model
        self.optimizer = torch.optim.AdamW(model.parameters(), weight_decay=0.0)
        self.seen = list(seen)
        self.trained = parameters_of(model)

    def copied(self):
        other = Weights(copy_of(self.model), self.seen)
        other.optimizer.load_state_dict(copy.deepcopy(self.optimizer.state_dict()))
        return other


class FakeServer:
    """What runs and what is on its disk.

    Args:
        base: Folder of the model.
        fault: (name of the call, how often it was called) → None, "before" (it is not done),
            "after" (it is done, the reply is lost) or "kill" (the server dies, and comes back).
    """

    def __init__(self, base, fault=lambda name, count: None):
        self.name = str(base)
        self.base = AutoModelForCausalLM.from_pretrained(base, dtype=torch.float32).eval()
        self.disk, self.counts, self.fault, self.down, self.life = {}, {}, fault, 0, 0
        self.numbers, self.sessions = itertools.count(), []
        self.places, self.overwritten = set(), 0

    def connect(self):
        if self.down:
            self.down -= 1
            raise ConnectionError("connection refused")
        return FakeService(self, self.life)

    def call(self, name, life, act):
        """Do what a call asks for, unless there is a fault."""
        self.counts[name] = self.counts.get(name, 0) + 1
        if life != self.life:
            raise FaultError("no such model")
        kind = self.fault(name, self.counts[name])
        if kind == "kill":
            self.life, self.down, self.places = self.life + 1, 2, set()
        if kind in ("kill", "before"):
            raise FaultError(f"{name}: {kind}")
        value = act()
        if kind == "after":
            raise FaultError(f"{name}: reply lost")
        return value


class FakeService:
    def __init__(self, server, life):
        self.server, self.life = server, life
        self.holder = self  # the released client's has what ends its session
        server.sessions.append(self)

    def close(self):
        self.server.sessions.remove(self)

    @contextmanager
    def aclient(self, pool):
        yield self

    def run_coroutine_threadsafe(self, coroutine):
        return done(asyncio.run(coroutine))

    async def post(self, *args, **named):
        given = bound(AsyncTinker, "post", *args, **named)
        assert given["path"] == cleanup.UNLOAD
        self.server.places.discard(given["body"]["model_id"])

    def made(self, weights):
        """A training client of weights, which takes a place."""
        if len(self.server.places) == PLACES:
            raise FaultError(f"Maximum number of LoRA adapters ({PLACES}) reached")
        training = FakeTraining(self, weights)
        self.server.places.add(training.model_id)
        return training

    def get_server_capabilities(self):
        model = types.SupportedModel(model_name=self.server.name)
        return types.GetServerCapabilitiesResponse(supported_models=[model])

    def create_lora_training_client(self, *args, **named):
        given = bound(tinker.ServiceClient, "create_lora_training_client", *args, **named)
        assert given["base_model"] == self.server.name
        return self.made(Weights(copy_of(self.server.base)))

    def create_training_client_from_state_with_optimizer(self, *args, **named):
        name = "create_training_client_from_state_with_optimizer"
        given = bound(tinker.ServiceClient, name, *args, **named)
        restored = self.server.call(
            name, self.life, lambda: self.server.disk[given["path"]].copied()
        )
        return self.made(restored)

    def create_training_client_from_state(self, *args, **named):
        name = "create_training_client_from_state"
        given = bound(tinker.ServiceClient, name, *args, **named)
        return self.made(Weights(copy.deepcopy(self.server.disk[given["path"]].model)))

    def create_sampling_client(self, *args, **named):
        given = bound(tinker.ServiceClient, "create_sampling_client", *args, **named)
        assert given["model_path"] is None, "the model that saved it may be gone"
        return FakeSampling(self, self.server.base)

    def create_rest_client(self):
        return FakeRest(self)


class FakeRest:
    def __init__(self, service):
        self.service = service

    def delete_checkpoint_from_tinker_path(self, *args, **named):
        name = "delete_checkpoint_from_tinker_path"
        given = bound(RestClient, name, *args, **named)
        path = given["tinker_path"]
        try:
            return done(
                self.service.server.call("delete", self.service.life, lambda: self._gone(path))
            )
        except (FaultError, tinker.NotFoundError) as fault:
            return done(fault)

    def list_checkpoints(self, *args, **named):
        given = bound(RestClient, "list_checkpoints", *args, **named)
        start = f"tinker://{given['training_run_id']}/"
        disk = self.service.server.disk
        found = [path for path in disk if path.startswith(start)]
        kinds = {"weights": "training", "sampler_weights": "sampler"}
        return done(
            types.CheckpointsListResponse(
                checkpoints=[
                    types.Checkpoint(
                        checkpoint_id=path.split("/")[-1],
                        checkpoint_type=kinds[path.split("/")[-2]],
                        time=datetime.fromtimestamp(1 + number),
                        tinker_path=path,
                    )
                    for number, path in enumerate(found)
                ]
            )
        )

    def _gone(self, path):
        if path not in self.service.server.disk:
            request = httpx.Request("DELETE", "http://here")
            response = httpx.Response(404, request=request)
            raise tinker.NotFoundError("no", response=response, body=None)
        del self.service.server.disk[path]


class FakeTraining:
    def __init__(self, service, weights):
        self.service, self.weights, self.waiting = service, weights, []
        self.model_id, self.loaded = f"model_{next(service.server.numbers)}", None

    def _later(self, name, act):
        try:
            return done(self.service.server.call(name, self.service.life, act))
        except FaultError as fault:
            return done(fault)

    def forward_backward(self, *args, **named):
        given = bound(tinker.TrainingClient, "forward_backward", *args, **named)
        return self._later("forward_backward", lambda: self._gradients(**given))

    def _gradients(self, data, loss_fn, loss_fn_config):
        assert loss_fn == "importance_sampling"
        assert loss_fn_config is None
        outputs, held = [], parameters_of(self.weights.model)
        self.service.server.overwritten += not torch.equal(held, self.weights.trained)
        for one in data:
            inputs = {key: torch.tensor(v.tolist()) for key, v in one.loss_fn_inputs.items()}
            ids = torch.tensor([one.model_input.to_ints()])
            logits = self.weights.model(ids).logits[0].log_softmax(-1)
            logprobs = logits.gather(1, inputs["target_tokens"][:, None])[:, 0]
            ratio = (logprobs - inputs["logprobs"]).exp()
            (-(ratio * inputs["advantages"]).sum()).backward()
            values = types.TensorData(data=logprobs.tolist(), dtype="float32")
            outputs.append({"logprobs": values})
        self.waiting.append([one.model_input.to_ints() for one in data])
        return types.ForwardBackwardOutput("ArrayRecord", outputs)

    def optim_step(self, *args, **named):
        given = bound(tinker.TrainingClient, "optim_step", *args, **named)
        adam = given.get("optim_params") or given["adam_params"]  # newer clients, older ones
        return self._later("optim_step", lambda: self._updated(adam))

    def _updated(self, adam):
        for group in self.weights.optimizer.param_groups:
            group.update(lr=adam.learning_rate, betas=(adam.beta1, adam.beta2), eps=adam.eps)
        self.weights.optimizer.step()
        self.weights.optimizer.zero_grad()
        self.weights.trained = parameters_of(self.weights.model)
        self.weights.seen += self.waiting
        self.waiting = []
        return types.OptimStepResponse()

    def save_state(self, *args, **named):
        given = bound(tinker.TrainingClient, "save_state", *args, **named)
        return self._later("save_state", lambda: self._saved("weights", given["name"]))

    def save_weights_for_sampler(self, *args, **named):
        given = bound(tinker.TrainingClient, "save_weights_for_sampler", *args, **named)
        return self._later(
            "save_for_sampler", lambda: self._saved("sampler_weights", given["name"])
        )

    def _saved(self, kind, name):
        path = f"tinker://{self.model_id}/{kind}/{name}"
        assert path not in self.service.server.disk
        self.service.server.disk[path] = self.weights.copied()
        reply = types.SaveWeightsResponse
        return (reply if kind == "weights" else types.SaveWeightsForSamplerResponse)(path=path)

    def save_weights_and_get_sampling_client(self, *args, **named):
        bound(tinker.TrainingClient, "save_weights_and_get_sampling_client", *args, **named)
        # Under a name of its own, and kept, as SkyRL's server does on JAX.
        self._saved("sampler_weights", f"ss{next(self.service.server.numbers)}")
        return FakeSampling(self.service, copy_of(self.weights.model), self)


class FakeSampling:
    def __init__(self, service, model, training=None):
        self.service, self.model, self.training = service, model, training

    def sample(self, *args, **named):
        given = bound(tinker.SamplingClient, "sample", *args, **named)
        draw = lambda: self._drawn(given["prompt"], given["num_samples"], given["sampling_params"])  # noqa: E731
        try:
            return done(self.service.server.call("sample", self.service.life, draw))
        except FaultError as fault:
            return done(fault)

    def _load(self):
        """Put the weights into the place of those that are trained, unless they were last there."""
        training = self.training
        if training is None:
            return
        if training.model_id not in self.service.server.places:
            raise FaultError(f"Model {training.model_id} not loaded")
        if training.loaded is not self:
            training.weights.model.load_state_dict(self.model.state_dict())
            training.loaded = self

    def _drawn(self, prompt, n, params):
        self._load()
        ids, generator = prompt.to_ints(), torch.Generator().manual_seed(params.seed)
        [group] = sample_ids(self.model, [ids], n, params.max_tokens, params.temperature, generator)
        return types.SampleResponse([self._sequence(ids, one, params) for one in group])

    def _sequence(self, ids, tokens, params):
        with torch.inference_mode():
            logits = self.model(torch.tensor([[*ids, *tokens]])).logits[0, len(ids) - 1 : -1]
        logprobs = logits.log_softmax(-1)[torch.arange(len(tokens)), torch.tensor(tokens)]
        ended = tokens[-1] in params.stop
        known = inspect.signature(types.SampledSequence).parameters
        new = {"sequence_id": "one"} if "sequence_id" in known else {}  # of newer clients
        return types.SampledSequence(
            **new,
            stop_reason="stop" if ended else "length",
            tokens_np=np.array(tokens, dtype=np.int32),
            logprobs_np=logprobs.numpy().astype(np.float32),
        )
