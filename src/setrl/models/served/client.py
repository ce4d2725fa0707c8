"""The client of OpenAI-compatible servers: one question → its choices, with retries and counts."""

from __future__ import annotations

import asyncio
import functools
import json
import os
import random
import re
from collections.abc import Callable, Coroutine, Iterator, Mapping, Sequence
from concurrent.futures import Future
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, TypeVar

from setrl.models.served.background import BackgroundLoop
from setrl.models.served.endpoint import Endpoint, Usage, approximate_tokens
from setrl.samples.values import REASONED, was_cut_by
from setrl.support.errors import ConfigError
from setrl.support.installing import install
from setrl.support.secrets import is_reference, is_secret

if TYPE_CHECKING:
    import aiohttp

T = TypeVar("T")
Body = dict[str, Any]

SERVICE = frozenset({"timeout", "rate_limit", "server_error", "connection"})
"""Reasons for which it makes sense to ask again: the server is in trouble, not the request."""

LARGEST_BODY = 64_000_000  # bytes; a server that sends more is broken, and memory is finite
MOST_TOKENS = LARGEST_BODY  # of a request or a reply: a server that counts more is broken, too
QUOTED_BYTES = 300  # bytes of an error's body that the message quotes
SPELLED_BYTES = 6  # of a letter as \uXXXX
SHORTEST_SECRET = 8  # letters; shorter keys, such as EMPTY, are words of replies
LONGEST_RETRY_AFTER_S = 3600.0


class RequestError(Exception):
    """A question without a reply.

    Attributes:
        reason: One of `SERVICE`, or "refused" (the server does not accept the request) or "budget"
            (`Limits.max_requests` or `Limits.max_tokens` is reached).
        detail: What happened, in the server's words if it gave any.
        status: The HTTP status; None if there was no response.
        retry_after_s: Seconds that the server asks to wait.
    """

    def __init__(
        self, reason: str, detail: str = "", status: int | None = None, retry_after_s: float = 0.0
    ):
        super().__init__(f"{reason} ({detail})" if detail else reason)
        self.reason, self.detail = reason, detail
        self.status, self.retry_after_s = status, retry_after_s


@dataclass(frozen=True)
class Choice:
    """One text that the model wrote.

    Attributes:
        text: The text; "" if the model spent all its tokens on thoughts.
        finish: Why the text ended, in the server's word ("stop", "length"); None if unknown.
    """

    text: str
    finish: str | None

    @property
    def is_whole(self) -> bool:
        """Whether the model ended the text itself."""
        return not was_cut_by(self.finish)


def refuse_missing_package() -> None:
    """Check that the package that sends requests is installed.

    Raises:
        ConfigError: If aiohttp, of the extra judge, is missing.
    """
    try:
        import aiohttp  # noqa: F401
    except ImportError as error:
        raise ConfigError(f"requests need aiohttp: {install('judge')}") from error


class Client:
    """Asks one endpoint, from an event loop in its own thread.

    Args:
        endpoint: The model, and the limits of its use.
        usage: Where requests, failures and tokens are counted.
        seed: Seed of the jitter of pauses; replies do not depend on it.

    Raises:
        ConfigError: If aiohttp, of the extra judge, is missing.
    """

    def __init__(self, endpoint: Endpoint, usage: Usage | None = None, seed: int = 0):
        refuse_missing_package()
        self.endpoint, self.usage = endpoint, usage or Usage()
        _check_key(endpoint.api_key_variable)
        self._secrets = [
            _read_variable(value) for value in _find_secret_references(endpoint.extra_body)
        ]
        self._seed = seed
        self._session: aiohttp.ClientSession | None = None
        self._loop = BackgroundLoop(at_close=self._close_session)

    def submit(self, work: Callable[[], Coroutine[Any, Any, T]]) -> Future[T]:
        """Run `work()`, which may await `ask`, in the client's thread."""
        return self._loop.submit(work)

    def close(self) -> None:
        """Cancel open requests, close connections, and end the thread."""
        self._loop.close()

    # All that follows runs in the thread of the loop.

    async def ask(
        self, body: Body, key: str, adapt: Callable[[RequestError], Body | None] | None = None
    ) -> list[Choice]:
        """Return the choices of the reply to one question; ask again where that can help.

        Args:
            body: The request, see `Endpoint.body`.
            key: Seeds the jitter, so that questions which fail together are not repeated together.
            adapt: After a failure: another body to go on with, or None. A body that replaces a
                refused one is sent at once and does not count as an attempt.

        Raises:
            RequestError: If no attempt got an answer, or the budget is spent.
        """
        attempt = 1
        while True:
            try:
                return await self._send_request(body)
            except RequestError as failure:
                adapted = adapt(failure) if adapt else None
                if adapted is None or failure.reason != "refused":
                    await asyncio.sleep(self._choose_pause_s(failure, attempt, key))
                    attempt += 1
                body = adapted or body

    def _choose_pause_s(self, failure: RequestError, attempt: int, key: str) -> float:
        """Return seconds before the next attempt; raise the failure if no attempt is left."""
        limits = self.endpoint.limits
        too_long = failure.retry_after_s > limits.longest_pause_s
        if failure.reason not in SERVICE or attempt >= limits.attempts or too_long:
            raise failure
        jitter = random.Random(f"{self._seed} {key} {attempt}").uniform(0.5, 1.0)
        backoff = min(limits.backoff_s * 2 ** (attempt - 1) * jitter, limits.longest_pause_s)
        return max(backoff, failure.retry_after_s)

    async def _send_request(self, body: Body) -> list[Choice]:
        """Send and count one HTTP request; count a failure by its kind."""
        if not self.usage.is_within(self.endpoint.limits):
            raise RequestError("budget")
        self.usage.requests += 1
        try:
            reply = await self._post_body(body)
            choices = read_choices(reply, self.endpoint.chat)
        except RequestError as failure:
            self.usage.failures[failure.reason] += 1
            raise
        except asyncio.CancelledError:
            self.usage.failures["cancelled"] += 1
            raise
        self._count_tokens(reply.get("usage"), body, choices)
        return choices

    async def _post_body(self, body: Body) -> Any:
        import aiohttp

        data, address = json.dumps(_fill_in_secrets(body)).encode(), self.endpoint.address
        try:
            async with self._open_session().post(
                address, data=data, allow_redirects=False
            ) as response:
                if response.status != 200:
                    raise await _read_refusal(response, self._keys)
                return _remove_keys_inside(
                    _parse_json(await _read_whole_reply(response)), self._keys
                )
        except TimeoutError:
            waited = f"no answer in {self.endpoint.limits.timeout_s:g} s"
            raise RequestError("timeout", waited) from None
        except (aiohttp.ClientError, OSError) as error:
            message = without_keys(self._keys, f"{type(error).__name__}: {error}")  # may quote it
            raise RequestError("connection", message) from None

    @property
    def _key(self) -> str:
        return os.environ.get(self.endpoint.api_key_variable, "")

    @property
    def _keys(self) -> list[str]:
        """All secrets that a server may send back."""
        return [self._key, *self._secrets]

    def _open_session(self) -> aiohttp.ClientSession:
        import aiohttp

        if self._session is None:
            headers = {"Content-Type": "application/json"}
            if self._key:
                headers["Authorization"] = f"Bearer {self._key}"
            self._session = aiohttp.ClientSession(
                headers=headers,
                timeout=aiohttp.ClientTimeout(total=self.endpoint.limits.timeout_s),
                # `Limits.concurrency` is kept by the caller. A second limit here would let requests
                # wait for a connection while their time-out runs.
                connector=aiohttp.TCPConnector(limit=0),
                trust_env=True,  # the usual environment variables for proxies
            )
        return self._session

    async def _close_session(self) -> None:
        if self._session is not None:
            await self._session.close()

    def _count_tokens(self, counted: Any, body: Body, choices: Sequence[Choice]) -> None:
        counted = counted if isinstance(counted, dict) else {}
        sent, received = counted.get("prompt_tokens"), counted.get("completion_tokens")
        if not _is_count(sent) or not _is_count(received):
            self.usage.estimated += 1
            messages = body.get("messages") or [{"content": body["prompt"]}]
            sent = sum(approximate_tokens(message["content"]) for message in messages)
            received = sum(approximate_tokens(choice.text) for choice in choices)
        self.usage.prompt_tokens += sent
        self.usage.reply_tokens += received


def read_choices(reply: Any, chat: bool) -> list[Choice]:
    """Read the texts of a completion.

    Raises:
        RequestError: If the reply is not a completion, which is the server's error.
    """
    try:
        choices = [
            _make_choice(choice["message"], choice.get("finish_reason"))
            if chat
            else Choice(choice["text"], choice.get("finish_reason"))
            for choice in reply["choices"]
        ]
    except (LookupError, TypeError, AttributeError):
        choices = []
    if not choices or not all(isinstance(choice.text, str) for choice in choices):
        raise _make_completion_error("the reply has no choices with text")
    return choices


def _make_choice(message: Mapping[str, Any], finish: str | None) -> Choice:
    """Return the text of a message, and whether the server took the whole text for thoughts."""
    text = message.get("content") or ""
    has_thoughts = any(message.get(key) for key in ("reasoning_content", "reasoning"))
    is_bare = not text and has_thoughts and not was_cut_by(finish)
    return Choice(text, REASONED if is_bare else finish)


def _parse_json(data: bytes) -> Any:
    try:
        return json.loads(data)
    except (ValueError, RecursionError) as error:
        raise _make_completion_error(f"the reply is not JSON: {error}") from None


def _make_completion_error(detail: str) -> RequestError:
    return RequestError("server_error", detail, status=200)


def _is_count(tokens: Any) -> bool:
    """Return whether a server's number of tokens can be one."""
    is_whole = isinstance(tokens, int) and not isinstance(tokens, bool)
    return is_whole and 0 <= tokens <= MOST_TOKENS


def without_key(key: str, text: str) -> str:
    r"""Return what a server sent without the key, which it may send back to be printed and kept.

    The letters of the key may be spelled as JSON allows it, also in JSON inside of JSON.

    >>> without_key("sk-123456", r"no sk-123456, \u0073k-123456")
    'no [the API key], [the API key]'
    """
    if len(key) < SHORTEST_SECRET:
        return text
    letters = (rf"(?:\\*{re.escape(letter)}|\\+u{ord(letter):04x})" for letter in key)
    return re.sub("".join(letters), "[the API key]", text, flags=re.IGNORECASE)


def without_keys(keys: Sequence[str], text: str) -> str:
    """Return what a server sent without any of some keys."""
    return functools.reduce(lambda left, key: without_key(key, left), keys, text)


def _check_key(variable: str) -> None:
    """Refuse a key that no header can hold, such as one with the end of its line.

    Raises:
        ConfigError: Naming the variable.
    """
    if not re.fullmatch(r"[\x21-\x7e]*", os.environ.get(variable, "")):
        raise ConfigError(f"the key in {variable} holds a space, a line break or a letter that no "
                          "key has: set the variable without it")  # fmt: skip


def _find_secret_references(body: Any) -> Iterator[str]:
    """Yield the names of environment variables in a request, such as $MY_KEY for api_key."""
    if isinstance(body, Mapping):
        for name, value in body.items():
            if is_secret(str(name)) and is_reference(value):
                yield value
            else:
                yield from _find_secret_references(value)


def _read_variable(reference: str) -> str:
    """Return the value of an environment variable, such as of $MY_KEY.

    Raises:
        ConfigError: If it is not set.
    """
    if not (value := os.environ.get(reference[1:])):
        raise ConfigError(f"the environment variable {reference[1:]} of extra_body is not set")
    return value


def _fill_in_secrets(body: Any) -> Any:
    """Return a request with the secrets that it names."""
    if not isinstance(body, Mapping):
        return body
    return {
        name: _read_variable(value)
        if is_secret(str(name)) and is_reference(value)
        else _fill_in_secrets(value)
        for name, value in body.items()
    }


def _remove_keys_inside(value: Any, keys: Sequence[str]) -> Any:
    """Return a value of JSON whose texts are without the keys, and can be written as UTF-8."""
    if isinstance(value, str):
        return without_keys(keys, value.encode("utf-8", "replace").decode())  # half a letter: ?
    if isinstance(value, list):
        return [_remove_keys_inside(item, keys) for item in value]
    if isinstance(value, dict):
        return {
            _remove_keys_inside(name, keys): _remove_keys_inside(item, keys)
            for name, item in value.items()
        }
    return value


async def _read_whole_reply(response: aiohttp.ClientResponse) -> bytes:
    data = await _read_first_bytes(response, LARGEST_BODY + 1)
    if len(data) > LARGEST_BODY:
        raise _make_completion_error(f"the reply is longer than {LARGEST_BODY} bytes")
    return data


async def _read_first_bytes(response: aiohttp.ClientResponse, most: int) -> bytes:
    """Return the first bytes of a reply, in however many parts it comes."""
    parts, size = [], 0
    async for part in response.content.iter_any():
        parts.append(part)
        size += len(part)
        if size >= most:
            break
    return b"".join(parts)[:most]


async def _read_refusal(response: aiohttp.ClientResponse, keys: Sequence[str]) -> RequestError:
    longest = SPELLED_BYTES * max(map(len, keys))  # no part of a key that is cut
    start = await _read_first_bytes(response, QUOTED_BYTES + longest)
    quoted = without_keys(keys, start.decode(errors="replace"))[:QUOTED_BYTES]
    detail = f"HTTP {response.status}: {' '.join(quoted.split())}"
    pause_s = retry_after_s(response.headers.get("Retry-After"))
    return RequestError(failure_kind(response.status), detail, response.status, pause_s)


def failure_kind(status: int) -> str:
    """Return what a failed request's status means; asking again can help unless it is "refused".

    >>> failure_kind(429), failure_kind(503), failure_kind(400)
    ('rate_limit', 'server_error', 'refused')
    """
    kinds = {408: "timeout", 429: "rate_limit", 409: "server_error", 425: "server_error"}
    return kinds.get(status, "server_error" if status >= 500 else "refused")


def retry_after_s(header: str | None) -> float:
    """Return the seconds that a Retry-After header asks for, up to an hour; 0 for another form.

    >>> retry_after_s("1.5"), retry_after_s("soon")
    (1.5, 0.0)
    """
    try:
        seconds = float(header or 0)
    except ValueError:  # a date, which servers of models do not send
        return 0.0
    return min(seconds, LONGEST_RETRY_AFTER_S) if seconds > 0 else 0.0
