"""Set credit through the Tinker protocol: a client of a server that samples and trains.

`setrl.train.tinker.server` finds the server and samples from it. The loop is our own: sample,
reward, judge, credit, `forward_backward`, `optim_step`, save. The server gets tokens, their
log-probabilities and one advantage for each sample; no method needs a change of the server.

Nothing is lost or trained twice: see `setrl.train.tinker.journal`. If the server does not answer,
or a reply is lost, nobody knows which part of the step the server has done. So the step is never
repeated on weights that may contain it: the saved weights are loaded into a new model, and the
batches since are trained on again, in their order.

Samples and updates do not overlap: SkyRL's server on JAX holds an adapter once, and a request for
samples from older weights overwrites the trained weights. With `staleness` above 0 a batch is
judged, not sampled, while the server trains on the batch before.
"""

from __future__ import annotations

import logging
import threading
import time
import uuid
from collections.abc import Callable, Iterator, Mapping, Sequence
from concurrent.futures import Future, ThreadPoolExecutor
from dataclasses import dataclass, field
from typing import Any, Literal

import numpy as np

from setrl.support.errors import RunError
from setrl.support.installing import install
from setrl.train.tinker.journal import CreditedSample, Journal, JournalBatch, Saved

try:
    from tinker import types

    from setrl.train.tinker.cleanup import FINAL, Saves, leave_server, unload_model
    from setrl.train.tinker.server import (
        LostError,
        SampledTokens,
        ServerSampler,
        may_be_lost,
    )
except ImportError as error:
    raise ImportError(f"this engine needs the package: {install('tinker')}") from error

log = logging.getLogger(__name__)

ClientLoss = Literal["importance_sampling", "ppo", "cispo"]
Connect = Callable[[], Any]
"""Makes a `tinker.ServiceClient`, or what behaves like one."""


@dataclass(frozen=True)
class ClientSettings:
    """How a server trains.

    Attributes:
        model: The name of the model, as the server knows it.
        steps: Steps of training.
        learning_rate: Step (from 1) → step size of AdamW.
        rank: Rank of the adapter that is trained.
        seed: Seeds the adapter's first weights.
        staleness: By how many steps the weights that write a batch may be older than the weights
            that it trains. 0 is strictly synchronous; with 1 the next batch is judged while the
            server trains on this one.
        loss: The loss of the server.
        loss_config: Its numbers, such as {clip_low_threshold: 0.8}.
        save_every: Steps between two saves of the weights, from which a run goes on after a fault.
        keep: How many saved weights stay on the server. At each save the server removes older
            weights of this run, and weights that it sampled from. None: all stay.
        reply_s: Seconds to wait for one answer; after them the answer counts as lost.
        patience_s: Seconds to try again for, when the server does not answer at all.
    """

    model: str
    steps: int
    learning_rate: Callable[[int], float]
    rank: int = 32
    seed: int = 0
    staleness: int = 0
    loss: ClientLoss = "importance_sampling"
    loss_config: Mapping[str, float] = field(default_factory=dict)
    save_every: int = 10
    keep: int | None = 2
    reply_s: float = 600.0
    patience_s: float = 900.0


def datum(sample: CreditedSample) -> Any:
    """Write a sample for the protocol: each of its tokens is a target with the same advantage.

    The model reads all tokens but the last, and predicts all but the first; the tokens of the
    prompt have the advantage 0.
    """
    before = len(sample.prompt) - 1
    tokens = [*sample.prompt, *sample.tokens]
    return types.Datum(
        model_input=types.ModelInput.from_ints(tokens[:-1]),
        loss_fn_inputs={
            "target_tokens": types.TensorData(data=tokens[1:], dtype="int64"),
            "logprobs": _make_tensor([0.0] * before + list(sample.logprobs)),
            "advantages": _make_tensor([0.0] * before + [sample.advantage] * len(sample.tokens)),
        },
    )


def _make_tensor(values: list[float]) -> Any:
    return types.TensorData(data=values, dtype="float32")


@dataclass
class _Patience:
    """How long to try again without a new step, with longer and longer pauses."""

    limit_s: float
    step: int = -1
    pause_s: float = 1.0
    since_s: float = field(default_factory=time.monotonic)
    waited: bool = False

    def reset(self, step: int) -> None:
        """Start again after a new step; a step that is repeated after a fault is not new."""
        if step > self.step:
            self.step, self.pause_s, self.waited = step, 1.0, False

    def wait(self) -> bool:
        """Wait before the next attempt; return False if the time is over."""
        if not self.waited:
            self.since_s, self.waited = time.monotonic(), True
        if time.monotonic() - self.since_s > self.limit_s:
            return False
        time.sleep(min(self.pause_s, self.limit_s))
        self.pause_s = min(2 * self.pause_s, 30.0)
        return True


@dataclass
class _Drawing:
    """A sampler that says when it has ended, and whether all samples were drawn."""

    sampler: ServerSampler
    is_whole: bool = False
    ended: threading.Event = field(default_factory=threading.Event)

    def sample(
        self, prompts: Sequence[Sequence[int]], n: int, seeds: Sequence[int]
    ) -> Iterator[SampledTokens]:
        try:
            yield from self.sampler.sample(prompts, n, seeds)
            self.is_whole = True
        finally:
            self.ended.set()


@dataclass(frozen=True)
class _Pending:
    """A batch in the making."""

    batch: Future[JournalBatch]
    drawing: _Drawing


@dataclass
class SetTinkerTrainer:
    """A loop in which a server trains on batches, in their order, that are made elsewhere.

    Attributes:
        connect: Makes a client; called again after a fault.
        settings: How the server trains.
        journal: What survives a fault.
        make_batch: (step, version, sampler) → the batch of a step: samples (in one call of the
            sampler), rewards, judges and credits. It is called in a thread, and again with another
            sampler if that is lost.
        sampler_of: Makes a sampler of a sampling client.
        on_batch: Called with each batch that is trained on and what the server measured; after a
            fault again with the same batches.
        on_restored: Called with the step from which the training goes on.
        stop: Asked after each step; True ends the training early.
    """

    connect: Connect
    settings: ClientSettings
    journal: Journal
    make_batch: Callable[[int, int, ServerSampler], JournalBatch]
    sampler_of: Callable[[Any], ServerSampler]
    on_batch: Callable[[JournalBatch, dict[str, float]], None] = lambda batch, measured: None
    on_restored: Callable[[int], None] = lambda step: None
    stop: Callable[[], bool] = lambda: False
    faults: int = field(default=0, init=False)
    _pending: dict[int, _Pending] = field(default_factory=dict, init=False)
    _client: Any = field(default=None, init=False)
    _model: str | None = field(default=None, init=False)

    def train(self) -> Saved:
        """Train to the last step; return what the server saved last.

        Raises:
            RunError: If the server did no step for `patience_s`; what is saved stays, and the same
                call goes on from there.
            ConfigError: If the folder holds another run.
        """
        patience = _Patience(self.settings.patience_s)
        # One thread makes batches. After a fault it goes on: its batches are as good as before.
        self._executor = ThreadPoolExecutor(1, "setrl-samples")
        try:
            while True:
                try:
                    return self._train_on(patience)
                except LostError as error:
                    self.faults += 1
                    log.warning("%s; going on from the saved weights", error)
                    if not patience.wait():
                        raise RunError(self._explain_giving_up(error)) from error
        finally:
            self._executor.shutdown(wait=False, cancel_futures=True)
            self._leave_server()

    def _explain_giving_up(self, error: LostError) -> str:
        saved = self.journal.saved()
        state = "nothing was saved yet" if saved is None else f"step {saved.step} is saved"
        return (
            f"the server did no step for {self.settings.patience_s:.0f} s ({error}); {state}, and "
            "the same command goes on from there once it answers"
        )

    def _train_on(self, patience: _Patience) -> Saved:
        """Train from the saved weights until the end, or the first fault."""
        training, saved = self._restore_model()
        done = saved.step
        self.on_restored(done)
        self._forget_lost_batches()
        self._ask_batches(training, done)
        while done < self.settings.steps:
            batch = self._take_batch(done + 1)
            for pending in self._pending.values():
                pending.drawing.ended.wait()
            measured = self._train_on_batch(training, batch)
            done += 1
            patience.reset(done)
            # First record, then save: a client that dies in between does both again.
            self.on_batch(batch, measured)
            stops = self.stop()
            if stops or done % self.settings.save_every == 0 or done == self.settings.steps:
                saved = self._save_weights(training, done)
            if stops:
                break
            self._ask_batches(training, done)
        return saved

    def _restore_model(self) -> tuple[Any, Saved]:
        """Make a model on the server from the saved weights."""
        saved = self.journal.saved()
        self._leave_server()
        with may_be_lost("connecting"):
            client = self.connect()
            _ = client.holder  # begins the session; if that fails, there is nothing to leave
            self._client = client
            for past in self.journal.models():
                unload_model(client, past)  # a client that was killed has left it there
            training = self._make_model(client, saved)
            self._model = training.model_id
            self.journal.add_model(training.model_id)
        return training, saved or self._save_weights(training, 0)

    def _make_model(self, client: Any, saved: Saved | None) -> Any:
        settings = self.settings
        if saved is not None:
            return client.create_training_client_from_state_with_optimizer(saved.path)
        return client.create_lora_training_client(
            base_model=settings.model, rank=settings.rank, seed=settings.seed
        )

    def _leave_server(self) -> None:
        """End the session and free its model's place on the server."""
        if self._client is not None:
            leave_server(self._client, [self._model] if self._model else [])
        self._client = self._model = None

    def final_sampler(self) -> str:
        """Save the last weights for sampling, and return their name on the server; they stay there.

        Raises:
            RunError: If the server does not answer for `patience_s`.
        """
        patience = _Patience(self.settings.patience_s)
        while True:
            try:
                training, saved = self._restore_model()
                with may_be_lost("saving weights for sampling"):
                    name = f"{FINAL}-{saved.step:06d}-{uuid.uuid4().hex[:8]}"
                    answer = training.save_weights_for_sampler(name)
                    path = str(answer.result(timeout=self.settings.reply_s).path)
                self._remove_older(training)
                return path
            except LostError as error:
                if not patience.wait():
                    raise RunError(self._explain_giving_up(error)) from error
            finally:
                self._leave_server()

    def _save_weights(self, training: Any, step: int) -> Saved:
        name = f"step-{step:06d}-{uuid.uuid4().hex[:8]}"  # after a fault a step is saved again
        with may_be_lost("saving"):
            answer = training.save_state(name).result(timeout=self.settings.reply_s)
        saved = Saved(step, str(answer.path))
        self.journal.record_saved_weights(saved)
        self._remove_older(training)
        return saved

    def _remove_older(self, training: Any) -> None:
        """Have the server remove what this run saved before and no longer needs."""
        settings = self.settings
        if settings.keep is not None:
            saves = Saves(self._client, self.journal, settings.reply_s)
            # A batch in the making is sampled from weights that are up to `staleness` steps old.
            saves.remove(training.model_id, settings.keep, settings.staleness + 2)

    def _ask_batches(self, training: Any, done: int) -> None:
        """Have the batches sampled that these weights may sample."""
        last = min(done + 1 + self.settings.staleness, self.settings.steps)
        missing = [
            step
            for step in range(done + 1, last + 1)
            if step not in self._pending and self.journal.batch(step) is None
        ]
        if not missing:
            return
        with may_be_lost("saving weights for sampling"):
            sampler = self.sampler_of(training.save_weights_and_get_sampling_client())
        for step in missing:
            drawing = _Drawing(sampler)
            future = self._executor.submit(self._make_and_record, step, done, drawing)
            self._pending[step] = _Pending(future, drawing)

    def _make_and_record(self, step: int, version: int, drawing: _Drawing) -> JournalBatch:
        try:
            batch = self.make_batch(step, version, drawing)
        finally:
            drawing.ended.set()
        self.journal.write(batch)
        return batch

    def _forget_lost_batches(self) -> None:
        """Forget batches whose samples were lost with the last model: they are sampled again."""
        for step, pending in list(self._pending.items()):
            pending.drawing.ended.wait()
            if not pending.drawing.is_whole:
                del self._pending[step]

    def _take_batch(self, step: int) -> JournalBatch:
        batch = self._pending.pop(step).batch.result() if step in self._pending else None
        batch = batch or self.journal.batch(step)
        assert batch is not None
        return batch

    def _train_on_batch(self, training: Any, batch: JournalBatch) -> dict[str, float]:
        """Train on a batch once; return what the server measured."""
        settings = self.settings
        rate = settings.learning_rate(batch.step)
        adam = types.AdamParams(learning_rate=rate, beta1=0.9, beta2=0.999, eps=1e-8)
        with may_be_lost(f"training on step {batch.step}"):
            gradient = training.forward_backward(
                [datum(sample) for sample in batch.samples],
                settings.loss,
                dict(settings.loss_config) or None,
            )
            update = training.optim_step(adam)
            answer = gradient.result(timeout=settings.reply_s)
            update.result(timeout=settings.reply_s)
        return {
            **_measure_agreement(answer, batch, settings.loss_config),
            "policy/staleness": float(batch.step - 1 - batch.version),
        }


def _measure_agreement(
    answer: Any, batch: JournalBatch, clip: Mapping[str, float]
) -> dict[str, float]:
    """Measure how far the trainer's log-probabilities are from the sampler's, if both are known.

    With equal weights the difference is rounding; with older weights it is what training did.
    """
    gaps = []
    for output, sample in zip(answer.loss_fn_outputs, batch.samples, strict=False):
        if "logprobs" not in output:
            return {}
        logprobs = np.asarray(output["logprobs"].to_numpy(), dtype=np.float64)
        gaps.append(logprobs[-len(sample.tokens) :] - sample.logprobs)
    if not gaps:
        return {}
    log_ratios = np.concatenate(gaps)
    measured = {"policy/sampler_gap": float(np.abs(log_ratios).mean())}
    if clip:
        ratios = np.exp(log_ratios)
        low, high = clip.get("clip_low_threshold", 0.0), clip.get("clip_high_threshold", np.inf)
        measured["policy/outside_clip"] = float(((ratios < low) | (ratios > high)).mean())
    return measured
