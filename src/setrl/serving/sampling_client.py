"""The requests of one call of an endpoint: cut, sent, asked again, and given up."""

from __future__ import annotations

import asyncio
import json
import os
import random
from collections import deque
from collections.abc import Callable, Iterator, Sequence
from contextlib import suppress
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from setrl.errors import ConfigError, RunError
from setrl.serving.generators import Ask, Failure, Sample, problem_seed
from setrl.serving.judge_client import failure_kind, retry_after_s

if TYPE_CHECKING:
    from setrl.serving.sampling_endpoint import Endpoint

try:
    import aiohttp
except ImportError as error:  # pragma: no cover
    raise ImportError("asking a server needs aiohttp: pip install 'setrl[judge]'") from error

WRONG_SETUP = (401, 403, 404)  # no request of this run can succeed


@dataclass(frozen=True)
class Request:
    """Some samples of one problem, asked for at once."""

    ask: Ask
    numbers: tuple[int, ...]


@dataclass(frozen=True)
class Refusal:
    """An answer without samples: why, in a word and in the server's words, and when to ask again.

    `wait` is the server's Retry-After in seconds; `final` means that asking again is of no use.
    """

    reason: str
    detail: str
    wait: float = 0.0
    final: bool = False


def cut(asks: Sequence[Ask], size: int) -> Iterator[Request]:
    """The first samples of every problem come first: whatever is killed early covers them all."""
    most = max((len(ask.numbers) for ask in asks), default=0)
    for start in range(0, most, size):
        for ask in asks:
            if numbers := ask.numbers[start : start + size]:
                yield Request(ask, numbers)


class Client:
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
                if isinstance(answer, Refusal):
                    self._fail(request.ask, len(numbers), answer)
                    break
                self._failed_in_row.clear()
                for number, (text, finish) in zip(numbers, answer, strict=False):
                    self._put(Sample(request.ask.problem, number, text, finish))
                numbers = numbers[len(answer) :]

    def _fail(self, ask: Ask, samples: int, refusal: Refusal) -> None:
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
    ) -> list[tuple[str, str | None]] | Refusal:
        """The choices of one request, asked for again while that is of use."""
        endpoint = self._endpoint
        for attempt in range(endpoint.attempts):
            answer = await self._send(session, request)
            if not isinstance(answer, Refusal) or answer.final:
                return answer
            if attempt + 1 < endpoint.attempts:
                delay = min(endpoint.first_delay * 2**attempt, endpoint.longest_delay)
                await asyncio.sleep(max(answer.wait, delay * self._jitter.uniform(0.5, 1.5)))
        return answer

    async def _send(
        self, session: aiohttp.ClientSession, request: Request
    ) -> list[tuple[str, str | None]] | Refusal:
        address = self._endpoint.url.rstrip("/")
        address += "/chat/completions" if self._endpoint.chat else "/completions"
        try:
            async with session.post(address, json=self._body(request)) as response:
                if response.status != 200:
                    return await self._refused(response)
                return _choices(await response.read())
        except TimeoutError:
            return Refusal("timeout", f"no answer in {self._endpoint.timeout:g} s")
        except (aiohttp.ClientError, OSError) as error:
            return Refusal("connection", f"{type(error).__name__}: {error}")

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

    async def _refused(self, response: aiohttp.ClientResponse) -> Refusal:
        detail = f"HTTP {response.status}: {(await response.text(errors='replace'))[:300]}"
        if response.status in WRONG_SETUP:
            raise ConfigError(f"{response.url} answered {detail}")
        kind = failure_kind(response.status)
        wait = min(retry_after_s(response.headers.get("Retry-After")), self._endpoint.timeout)
        return Refusal(kind, detail, wait, final=kind == "refused")


def _choices(body: bytes) -> list[tuple[str, str | None]] | Refusal:
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
        return Refusal("unparsable", f"no choices with texts in the answer: {error!r}")
    if not choices or not all(isinstance(text, str) for text, _ in choices):
        return Refusal("unparsable", "no choices with texts in the answer")
    return choices
