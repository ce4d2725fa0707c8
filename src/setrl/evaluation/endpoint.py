"""Samples from any OpenAI-compatible server (vLLM, SGLang, hosted), some requests at a time."""

from __future__ import annotations

import asyncio
import json
import os
import queue
import random
import threading
from collections import deque
from collections.abc import Callable, Iterator, Sequence
from contextlib import suppress
from dataclasses import dataclass
from datetime import UTC, datetime
from email.utils import parsedate_to_datetime
from typing import Any

from setrl.errors import ConfigError, RunError
from setrl.evaluation.generators import Ask, Failure, Sample, problem_seed

try:
    import aiohttp
except ImportError as error:  # pragma: no cover
    raise ImportError("asking a server needs aiohttp: pip install 'setrl[judge]'") from error

RETRIED = {408: "timeout", 409: "server_error", 425: "server_error", 429: "rate_limit"}
WRONG_SETUP = (401, 403, 404)  # no request of this run can succeed


@dataclass(frozen=True)
class Request:
    """Some samples of one problem, asked for at once."""

    ask: Ask
    numbers: tuple[int, ...]


@dataclass(frozen=True)
class _Refusal:
    """An answer without samples: why, in a word and in the server's words, and when to ask again.

    `wait` is the server's Retry-After in seconds; `final` means that asking again is of no use.
    """

    reason: str
    detail: str
    wait: float = 0.0
    final: bool = False


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
        client = _Client(self, seed, _cut(asks, self.samples_per_request), events.put)
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


def _cut(asks: Sequence[Ask], size: int) -> Iterator[Request]:
    """The first samples of every problem come first: whatever is killed early covers them all."""
    most = max((len(ask.numbers) for ask in asks), default=0)
    for start in range(0, most, size):
        for ask in asks:
            if numbers := ask.numbers[start : start + size]:
                yield Request(ask, numbers)


class _Client:
    """One run of an endpoint: an event loop in a thread of its own."""

    def __init__(
        self,
        endpoint: Endpoint,
        seed: int,
        requests: Iterator[Request],
        put: Callable[[Sample | Failure | BaseException | None], None],
    ) -> None:
        self._endpoint, self._seed, self._put = endpoint, seed, put
        self._jitter = random.Random(seed)  # spreads the attempts; decides no sample
        self._failed_in_row: deque[str] = deque(maxlen=endpoint.give_up_after)
        self._loop = asyncio.new_event_loop()
        self._main = self._loop.create_task(self._send_all(requests))

    def run(self) -> None:
        """Send all requests; ends with None in the queue, after an exception if there was one."""
        try:
            self._loop.run_until_complete(self._main)
        except asyncio.CancelledError:  # by `stop`: the reader has gone
            pass
        except BaseExceptionGroup as group:
            self._put(group.exceptions[0])
        except Exception as error:
            self._put(error)
        finally:
            self._loop.close()
            self._put(None)

    def stop(self) -> None:
        """Drop what is under way; callable from any thread, also after the end."""
        with suppress(RuntimeError):  # the loop is closed when all was sent
            self._loop.call_soon_threadsafe(self._main.cancel)

    async def _send_all(self, requests: Iterator[Request]) -> None:
        key = os.environ.get(self._endpoint.key_variable)
        async with (
            aiohttp.ClientSession(
                headers={"Authorization": f"Bearer {key}"} if key else {},
                timeout=aiohttp.ClientTimeout(total=self._endpoint.timeout),
                connector=aiohttp.TCPConnector(limit=self._endpoint.concurrency),
            ) as session,
            asyncio.TaskGroup() as group,
        ):
            for _ in range(self._endpoint.concurrency):
                group.create_task(self._work(session, requests))

    async def _work(self, session: aiohttp.ClientSession, requests: Iterator[Request]) -> None:
        for request in requests:
            numbers = request.numbers
            while numbers:  # some servers give fewer choices than they are asked for
                answer = await self._insist(session, Request(request.ask, numbers))
                if isinstance(answer, _Refusal):
                    self._fail(request.ask, len(numbers), answer)
                    break
                self._failed_in_row.clear()
                for number, (text, finish) in zip(numbers, answer, strict=False):
                    self._put(Sample(request.ask.problem, number, text, finish))
                numbers = numbers[len(answer) :]

    def _fail(self, ask: Ask, samples: int, refusal: _Refusal) -> None:
        self._put(Failure(ask.problem, samples, refusal.reason))
        self._failed_in_row.append(refusal.reason)
        if len(self._failed_in_row) == self._endpoint.give_up_after:
            raise RunError(
                f"{self._endpoint.url}: {self._endpoint.give_up_after} requests in a row failed, "
                f"the last with {refusal.reason}: {refusal.detail}; "
                "what was drawn is kept and the same command goes on"
            )

    async def _insist(
        self, session: aiohttp.ClientSession, request: Request
    ) -> list[tuple[str, str | None]] | _Refusal:
        """The choices of one request, asked for again while that is of use."""
        endpoint = self._endpoint
        for attempt in range(endpoint.attempts):
            answer = await self._send(session, request)
            if not isinstance(answer, _Refusal) or answer.final:
                return answer
            if attempt + 1 < endpoint.attempts:
                delay = min(endpoint.first_delay * 2**attempt, endpoint.longest_delay)
                await asyncio.sleep(max(answer.wait, delay * self._jitter.uniform(0.5, 1.5)))
        return answer

    async def _send(
        self, session: aiohttp.ClientSession, request: Request
    ) -> list[tuple[str, str | None]] | _Refusal:
        address = self._endpoint.url.rstrip("/")
        address += "/chat/completions" if self._endpoint.chat else "/completions"
        try:
            async with session.post(address, json=self._body(request)) as response:
                if response.status != 200:
                    return await self._refused(response)
                return _choices(await response.read())
        except TimeoutError:
            return _Refusal("timeout", f"no answer in {self._endpoint.timeout:g} s")
        except aiohttp.ClientError as error:
            return _Refusal("connection", f"{type(error).__name__}: {error}")

    def _body(self, request: Request) -> dict[str, Any]:
        endpoint, prompt = self._endpoint, request.ask.prompt
        asked = {"messages": [{"role": "user", "content": prompt}]} if endpoint.chat else {
            "prompt": prompt
        }  # fmt: skip
        first = problem_seed(self._seed, request.ask.problem) + request.numbers[0]
        return {
            "model": endpoint.model,
            **asked,
            "n": len(request.numbers),
            "temperature": endpoint.temperature,
            "top_p": endpoint.top_p,
            **({"max_tokens": endpoint.max_tokens} if endpoint.max_tokens else {}),
            "seed": first % 2**31,
        }

    async def _refused(self, response: aiohttp.ClientResponse) -> _Refusal:
        detail = f"HTTP {response.status}: {(await response.text(errors='replace'))[:300]}"
        if response.status in WRONG_SETUP:
            raise ConfigError(f"{response.url} answered {detail}")
        if response.status < 500 and response.status not in RETRIED:
            return _Refusal("refused", detail, final=True)
        wait = min(retry_after(response.headers.get("Retry-After", "")), self._endpoint.timeout)
        return _Refusal(RETRIED.get(response.status, "server_error"), detail, wait)


def _choices(body: bytes) -> list[tuple[str, str | None]] | _Refusal:
    """The text of each choice, and why it ended.

    A choice without content was spent on reasoning, or is empty: it is a sample with no text.
    """
    try:
        choices = [
            (
                (choice["message"]["content"] if "message" in choice else choice["text"]) or "",
                choice.get("finish_reason"),
            )
            for choice in json.loads(body)["choices"]
        ]
    except (ValueError, LookupError, TypeError, AttributeError) as error:
        return _Refusal("unparsable", f"no choices with texts in the answer: {error!r}")
    if not choices or not all(isinstance(text, str) for text, _ in choices):
        return _Refusal("unparsable", "no choices with texts in the answer")
    return choices


def retry_after(header: str, now: datetime | None = None) -> float:
    """Seconds that a Retry-After header asks to wait, given in seconds or as a date; else 0.

    >>> retry_after("2"), retry_after("soon"), retry_after("")
    (2.0, 0.0, 0.0)
    """
    try:
        return max(0.0, float(header))
    except ValueError:
        pass
    try:
        date = parsedate_to_datetime(header)
    except ValueError:
        return 0.0
    date = date if date.tzinfo else date.replace(tzinfo=UTC)
    return max(0.0, (date - (now or datetime.now(UTC))).total_seconds())
