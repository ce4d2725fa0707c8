"""A small client for OpenAI-compatible chat endpoints: asks until there is one answer."""

from __future__ import annotations

import asyncio
import json
import os
import random
from collections.abc import Sequence
from datetime import UTC, datetime
from email.utils import parsedate_to_datetime
from typing import TYPE_CHECKING, Any

from setrl.judges.policy import SERVICE
from setrl.judges.rendering import Message
from setrl.judges.shortening import approximate_tokens
from setrl.serving.budget import Counts, Limits
from setrl.serving.judge_endpoint import RUNGS, Endpoint, response_format

if TYPE_CHECKING:
    import aiohttp

MISSING = "LMJudge needs aiohttp: pip install 'setrl[judge]'"
LARGEST_BODY = 4_000_000  # bytes; no answer of a judge is as long
SAID = 300  # bytes of an error's body that are kept for the log
LONGEST_RETRY_AFTER_S = 3600.0
NOT_SUPPORTED = {400: 2, 422: 2, 501: 2, 500: 1}  # weights; a rung is left at 2


class RequestError(Exception):
    """A request that brought no reply.

    Attributes:
        reason: What a `Judgement` gives as its reason.
        status: The HTTP status; None where there was none.
        retry_after_s: Seconds that the server asks to be left alone.

    Its text adds what the server said.
    """

    def __init__(
        self, reason: str, status: int | None = None, retry_after_s: float = 0.0, said: str = ""
    ):
        words = f"HTTP {status} {said}".strip() if status else said
        super().__init__(f"{reason} ({words})" if words else reason)
        self.reason, self.status, self.retry_after_s = reason, status, retry_after_s


class ChatClient:
    """Asks one endpoint; lives in one event loop.

    How the answer is constrained is found out as it goes: by JSON schema, else as any JSON object,
    else not at all. The first kind that the endpoint answers is used from then on. (A server may
    ignore it and answer all the same; replies are parsed strictly anyhow.)
    """

    def __init__(self, endpoint: Endpoint, limits: Limits, counts: Counts, seed: int):
        self._endpoint, self._limits, self._counts, self._seed = endpoint, limits, counts, seed
        self._rung: int | None = None  # what the endpoint is known to take
        self._session: aiohttp.ClientSession | None = None

    async def ask(self, messages: Sequence[Message], num_samples: int, key: str) -> str:
        """The text of the reply; `key` seeds the jitter of the pauses.

        Raises:
            RequestError: If no attempt was answered, or the budget is spent.
        """
        tried, refusals, attempt = 0, 0, 1
        while True:
            rung = tried if self._rung is None else self._rung
            try:
                text = await self._request(messages, num_samples, rung)
            except RequestError as failure:
                refusals += NOT_SUPPORTED.get(failure.status or 0, 0)
                lowers = refusals >= 2 and self._rung is None and rung + 1 < len(RUNGS)
                if lowers:
                    tried, refusals = rung + 1, 0
                if not (lowers and failure.reason == "refused"):
                    await asyncio.sleep(self._pause_s(failure, attempt, key))
                    attempt += 1
            else:
                self._rung = rung if self._rung is None else self._rung
                return text

    def _pause_s(self, failure: RequestError, attempt: int, key: str) -> float:
        """Seconds before the next attempt, or the failure itself where there is none."""
        limits = self._limits
        too_long = failure.retry_after_s > limits.longest_pause_s
        if failure.reason not in SERVICE or attempt >= limits.attempts or too_long:
            raise failure
        jitter = random.Random(f"{self._seed} {key} {attempt}").uniform(0.5, 1.0)
        backoff = min(limits.backoff_s * 2 ** (attempt - 1) * jitter, limits.longest_pause_s)
        return max(backoff, failure.retry_after_s)

    async def _request(self, messages: Sequence[Message], num_samples: int, rung: int) -> str:
        """One HTTP request, counted; a failed one by its kind."""
        if not self._counts.allow(self._limits):
            raise RequestError("budget")
        body = self._endpoint.body(messages) | response_format(rung, num_samples)
        self._counts.requests += 1
        try:
            reply = await self._post(body)
        except RequestError as failure:
            self._counts.failures[failure.reason] += 1
            raise
        except asyncio.CancelledError:
            self._counts.failures["cancelled"] += 1
            raise
        self._count_tokens(reply, messages)
        return reply["choices"][0]["message"]["content"]

    async def _post(self, body: dict[str, Any]) -> dict[str, Any]:
        import aiohttp

        url = f"{self._endpoint.url.rstrip('/')}/chat/completions"
        data = json.dumps(body).encode()
        try:
            async with self._open_session().post(url, data=data, allow_redirects=False) as response:
                if response.status != 200:
                    said = await response.content.read(SAID)
                    retry_after = response.headers.get("Retry-After")
                    raise _by_status(response.status, retry_after, said)
                return _checked(await _read(response))
        except TimeoutError:
            raise RequestError("timeout") from None
        except (aiohttp.ClientError, OSError) as error:
            raise RequestError("connection", said=str(error)) from None

    def _open_session(self) -> aiohttp.ClientSession:
        import aiohttp

        if self._session is None:
            headers = {"Content-Type": "application/json"}
            if key := os.environ.get(self._endpoint.api_key_variable):
                headers["Authorization"] = f"Bearer {key}"
            self._session = aiohttp.ClientSession(
                headers=headers,
                timeout=aiohttp.ClientTimeout(total=self._limits.timeout_s),
                connector=aiohttp.TCPConnector(limit=0),  # `Limits.concurrency` bounds them
                trust_env=True,  # proxies, as other clients take them
            )
        return self._session

    def _count_tokens(self, reply: dict[str, Any], messages: Sequence[Message]) -> None:
        told = reply.get("usage")
        usage = told if isinstance(told, dict) else {}
        sent, received = usage.get("prompt_tokens"), usage.get("completion_tokens")
        if not isinstance(sent, int) or not isinstance(received, int):
            self._counts.estimated += 1
            sent = sum(approximate_tokens(message["content"]) for message in messages)
            received = approximate_tokens(reply["choices"][0]["message"]["content"])
        self._counts.prompt_tokens += sent
        self._counts.reply_tokens += received

    async def close(self) -> None:
        """Close all connections."""
        if self._session is not None:
            await self._session.close()


def _by_status(status: int, retry_after: str | None, said: bytes) -> RequestError:
    words = " ".join(said.decode(errors="replace").split())
    return RequestError(failure_kind(status), status, retry_after_s(retry_after), words)


def failure_kind(status: int) -> str:
    """What a failed request's status means; asking again is of use for all but "refused".

    >>> failure_kind(429), failure_kind(503), failure_kind(400)
    ('rate_limit', 'server_error', 'refused')
    """
    kinds = {408: "timeout", 429: "rate_limit", 409: "server_error", 425: "server_error"}
    return kinds.get(status, "server_error" if status >= 500 else "refused")


def retry_after_s(header: str | None, now: datetime | None = None) -> float:
    """Seconds that a Retry-After header asks for, in either of its forms, up to an hour.

    0 where there is no header, or one that cannot be read.

    >>> retry_after_s("1.5"), retry_after_s("soon")
    (1.5, 0.0)
    """
    if header is None:
        return 0.0
    try:
        seconds = float(header)
    except ValueError:
        seconds = _seconds_until(header, now or datetime.now(UTC))
    return min(seconds, LONGEST_RETRY_AFTER_S) if seconds > 0 else 0.0


def _seconds_until(date: str, now: datetime) -> float:
    try:
        until = parsedate_to_datetime(date)
    except ValueError:
        return 0.0
    return ((until if until.tzinfo else until.replace(tzinfo=UTC)) - now).total_seconds()


async def _read(response: aiohttp.ClientResponse) -> bytes:
    parts, size = [], 0
    async for part in response.content.iter_any():
        parts.append(part)
        size += len(part)
        if size > LARGEST_BODY:
            raise RequestError("server_error", response.status)
    return b"".join(parts)


def _checked(body: bytes) -> dict[str, Any]:
    """A chat completion with a text in it; a reply without one (thoughts alone) has the text ""."""
    try:
        reply = json.loads(body)
        message = reply["choices"][0]["message"]
        message["content"] = message.get("content") or ""
        if not isinstance(message["content"], str):
            raise TypeError("content is not a text")
    except (ValueError, LookupError, TypeError, AttributeError, RecursionError):
        raise RequestError("server_error", 200) from None
    return reply
