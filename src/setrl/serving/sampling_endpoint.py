"""Samples from any OpenAI-compatible server (vLLM, SGLang, hosted), some requests at a time."""

from __future__ import annotations

import queue
import threading
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any

from setrl.errors import ConfigError
from setrl.serving.generators import Ask, Failure, Sample
from setrl.serving.sampling_client import Client, cut


@dataclass(frozen=True)
class Endpoint:
    """A model behind an OpenAI-compatible server.

    Sample i of a problem is asked for with seed s + i, s being the problem's own: a server that
    gives the choices of one request consecutive seeds (vLLM) draws the same samples however they
    are cut into requests. Servers that ignore `seed` draw others at each call.

    Attributes:
        url: The base address, "http://localhost:8000/v1".
        model: The name that the server knows the model by.
        temperature: Divides the logits.
        top_p: The share of the probability that is drawn from.
        max_tokens: Where a sample is cut; None leaves it to the server.
        chat: Whether the prompt goes as a user's message (/chat/completions), or as it is
            (/completions).
        concurrency: Requests under way at once.
        samples_per_request: Samples asked for at once; what arrives is kept, so that fewer lose
            less when the process is killed, and more let the server share the prompt's work.
        timeout: Seconds that one request may take.
        attempts: How often a request is sent before its samples count as failed.
        first_delay: Seconds before the second attempt; doubled at each further one, with jitter.
            A longer Retry-After of the server is honoured.
        longest_delay: The most that doubling comes to.
        give_up_after: Requests failing in a row at which the run ends with `RunError`.
        key_variable: The environment variable that holds the key, where the server wants one.
    """

    url: str
    model: str
    temperature: float = 1.0
    top_p: float = 1.0
    max_tokens: int | None = None
    chat: bool = True
    concurrency: int = 32
    samples_per_request: int = 8
    timeout: float = 1800.0
    attempts: int = 6
    first_delay: float = 1.0
    longest_delay: float = 60.0
    give_up_after: int = 20
    key_variable: str = "OPENAI_API_KEY"

    def __post_init__(self) -> None:
        if not self.url.startswith(("http://", "https://")):
            raise ConfigError(f"endpoint must start with http:// or https://, got {self.url!r}")
        if self.temperature < 0 or not 0 < self.top_p <= 1:
            raise ConfigError("temperature must be at least 0 and top_p in (0, 1], "
                              f"got {self.temperature:g} and {self.top_p:g}")  # fmt: skip
        for name in ("concurrency", "samples_per_request", "attempts", "give_up_after"):
            if getattr(self, name) < 1:
                raise ConfigError(f"{name} must be at least 1, got {getattr(self, name)}")

    @property
    def settings(self) -> dict[str, Any]:
        """What the samples depend on; the address does not count, a server may move."""
        return {
            "model": self.model,
            "temperature": self.temperature,
            "top_p": self.top_p,
            "max_tokens": self.max_tokens,
            "chat": self.chat,
        }

    def generate(self, asks: Sequence[Ask], seed: int) -> Iterator[Sample | Failure]:
        """Samples in order of arrival. Closing the iterator drops the requests under way.

        Raises:
            ConfigError: When the server does not know the model, the address or the key.
            RunError: When `give_up_after` requests failed in a row.
        """
        events: queue.Queue[Sample | Failure | BaseException | None] = queue.Queue()
        client = Client(self, seed, cut(asks, self.samples_per_request), events.put)
        thread = threading.Thread(target=client.run)
        thread.start()
        try:
            while (event := events.get()) is not None:
                if isinstance(event, BaseException):
                    raise event
                yield event
        finally:
            client.stop()
            thread.join()
