"""Samples from a model behind an OpenAI-compatible server (vLLM, SGLang, hosted services)."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import Future
from dataclasses import dataclass, field, replace
from queue import SimpleQueue
from typing import Any

from setrl.models.generators import Ask, Completion, Failure, problem_seed
from setrl.models.served.client import Choice, Client, RequestError
from setrl.models.served.endpoint import ChatMessage, Endpoint, Limits, refuse_unreachable
from setrl.samples.values import LENGTH
from setrl.support.errors import ConfigError, RunError

REFUSED = "refused"
WRONG_SETUP = (401, 403, 404)  # every request of this call would fail
NO_TEMPLATE = re.compile(r"chat[ _]template", re.IGNORECASE)  # servers say so with 400 or 500

PATIENT = Limits(timeout_s=1800.0, attempts=6, longest_pause_s=3600.0)
"""Limits for evaluation: long samples take minutes, and no training step waits for them."""


@dataclass(frozen=True)
class ServedModel:
    """A generator of samples that asks a server.

    Sample i of a problem is requested with seed s + i, where s is the problem's seed. A server that
    gives the choices of one request consecutive seeds (vLLM) then returns the same samples however
    they are split into requests. Servers that ignore `seed` return other samples at each call.

    Attributes:
        endpoint: The model, with the temperature, top_p and max_reply_tokens of the samples.
        samples_per_request: Samples in one request. Finished requests are kept: with fewer samples
            in each, a killed process loses less; with more, the server shares more work.
        give_up_after: Number of requests failing in a row at which the run ends with `RunError`. A
            prompt that the server refuses does not count: its problem is left out.
        system: A system message before each prompt, for an endpoint that takes messages.
    """

    endpoint: Endpoint
    samples_per_request: int = 8
    give_up_after: int = 20
    system: str | None = None

    def __post_init__(self) -> None:
        for name in ("samples_per_request", "give_up_after"):
            if getattr(self, name) < 1:
                raise ConfigError(f"{name} must be at least 1, got {getattr(self, name)}")
        if self.system is not None and not self.endpoint.chat:
            raise ConfigError("a system message needs chat messages: leave out --no-chat")

    @property
    def settings(self) -> dict[str, Any]:
        """What the samples depend on; not the address, because a server may move."""
        endpoint = self.endpoint
        sent = {
            "temperature": endpoint.temperature,
            "top_p": endpoint.top_p,
            "max_tokens": endpoint.max_reply_tokens,
        }
        return {
            "model": endpoint.model,
            **{key: endpoint.extra_body.get(key, value) for key, value in sent.items()},
            "chat": endpoint.chat,
            **({} if self.system is None else {"system": self.system}),
            **({"extra_body": dict(endpoint.extra_body)} if endpoint.extra_body else {}),
        }

    @property
    def weights(self) -> None:
        """What a server loads is unknown; the settings have its name."""

    def generate(self, asks: Sequence[Ask], seed: int) -> Iterator[Completion | Failure]:
        """Yield samples in order of arrival. Closing the iterator cancels the open requests.

        Raises:
            ConfigError: If the server does not know the model, the address or the key, or has no
                chat template.
            RunError: If the server cannot be reached, or `give_up_after` requests failed in a row.
        """
        refuse_unreachable(self.endpoint.url)
        events: SimpleQueue[Completion | Failure | Future[None]] = SimpleQueue()
        client = Client(self.endpoint, seed=seed)
        work = _Work(self, client, split(asks, self.samples_per_request), seed, events.put)
        running = self.endpoint.limits.concurrency
        try:
            for _ in range(running):
                client.submit(work.until_none_is_left).add_done_callback(events.put)
            while running:
                event = events.get()
                if isinstance(event, Future):
                    event.result()  # raises what ended the worker
                    running -= 1
                else:
                    yield event
        finally:
            client.close()


def split(asks: Sequence[Ask], size: int) -> Iterator[Ask]:
    """Split the samples into requests of at most `size`, the first samples of all problems first.

    A call that is killed early then has some samples of every problem.
    """
    most = max((len(ask.numbers) for ask in asks), default=0)
    for start in range(0, most, size):
        for ask in asks:
            if numbers := ask.numbers[start : start + size]:
                yield replace(ask, numbers=numbers)


@dataclass
class _Work:
    """The requests of one call, which several workers take in turn."""

    model: ServedModel
    client: Client
    requests: Iterator[Ask]
    seed: int
    put: Callable[[Completion | Failure], None]
    failed_in_row: int = 0
    most: int | None = None  # samples of one request, of a server that refuses more
    took_several: bool = False  # whether it has answered a request for several
    refused: set[int] = field(default_factory=set)  # problems, as by a filter of their prompts

    async def until_none_is_left(self) -> None:
        """One worker."""
        for request in self.requests:
            remaining = request
            if remaining.problem in self.refused:
                self.put(Failure(remaining.problem, len(remaining.numbers), REFUSED))
                continue
            while remaining.numbers:  # some servers return fewer choices than requested
                try:
                    choices = await self._ask_for_choices(remaining)
                except RequestError as failure:
                    self._put_failure(remaining, failure)
                    break
                self.failed_in_row = 0
                for number, choice in zip(remaining.numbers, choices, strict=False):
                    self.put(_make_completion(remaining.problem, number, choice))
                remaining = replace(remaining, numbers=remaining.numbers[len(choices) :])

    def _make_request(self, ask: Ask) -> tuple[dict[str, Any], str]:
        first = problem_seed(self.seed, ask.problem) + ask.numbers[0]
        count, seed = min(len(ask.numbers), self.most or len(ask.numbers)), first % 2**31
        prompt: str | list[ChatMessage] = ask.prompt
        if self.model.system is not None:
            system = {"role": "system", "content": self.model.system}
            prompt = [system, {"role": "user", "content": ask.prompt}]
        body = self.model.endpoint.body(prompt, n=count, seed=seed)
        return body, f"{ask.problem} {ask.numbers[0]}"

    async def _ask_for_choices(self, ask: Ask) -> list[Choice]:
        """Return what the server wrote; a server that refuses several samples at once gets one.

        Raises:
            RequestError: If it refuses one sample, too, or fails.
        """
        is_one = len(ask.numbers) == 1 or self.most == 1
        try:
            choices = await self.client.ask(*self._make_request(ask), self._refuse_wrong_setup)
            self.took_several |= not is_one
        except RequestError as failure:
            if failure.reason != REFUSED or is_one or self.took_several:
                raise
            single = replace(ask, numbers=ask.numbers[:1])
            choices = await self.client.ask(*self._make_request(single), self._refuse_wrong_setup)
            self.most = 1
        return choices

    def _refuse_wrong_setup(self, failure: RequestError) -> None:
        """End the run at a failure that every request would repeat."""
        endpoint = self.model.endpoint
        no_template = endpoint.chat and bool(NO_TEMPLATE.search(failure.detail))
        if failure.status in WRONG_SETUP or no_template:
            hint = ": --no-chat sends plain text, which needs no template" if no_template else ""
            raise ConfigError(f"{endpoint.address} answered {failure.detail}{hint}") from None

    def _put_failure(self, ask: Ask, failure: RequestError) -> None:
        self.put(Failure(ask.problem, len(ask.numbers), failure.reason, failure.detail))
        if failure.reason == REFUSED:  # this prompt, as by a filter; the server is well
            self.refused.add(ask.problem)
            return
        self.failed_in_row += 1
        if self.failed_in_row == self.model.give_up_after:
            raise RunError(
                f"{self.model.endpoint.url}: {self.failed_in_row} requests in a row failed, the "
                f"last with {failure}; finished samples are kept, and the same command continues "
                "from them"
            ) from None


def _make_completion(problem: int, number: int, choice: Choice) -> Completion | Failure:
    """Return a sample; what the service ended, such as by a filter, is not the model's."""
    if choice.is_whole or choice.finish == LENGTH:
        return Completion(problem, number, choice.text, choice.finish)
    return Failure(problem, 1, "filtered", f"the text was ended by {choice.finish!r}")
