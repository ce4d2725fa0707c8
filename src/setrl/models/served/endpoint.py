"""A model behind an OpenAI-compatible server: address, limits, prices, use; and if it answers."""

from __future__ import annotations

import socket
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any
from urllib.parse import urlsplit
from urllib.request import getproxies, proxy_bypass

from setrl.support.errors import ConfigError, RunError
from setrl.support.secrets import has_user, secrets_in, without_secrets

ChatMessage = dict[str, str]
"""One turn of a chat: {"role": …, "content": …}."""

BYTES_PER_TOKEN = 3  # a safe estimate: prose has about 4, formulas and code about 3

TIMEOUT_S = 2.0  # for each of a name's addresses, usually one or two
PORTS = {"http": 80, "https": 443}


def check_address(url: str) -> None:
    """Refuse an address that cannot be used, or that holds a password.

    Raises:
        ConfigError: Without the password.
    """
    if not url.startswith(("http://", "https://")):
        raise ConfigError(f"url must start with http:// or https://, got {without_secrets(url)!r}")
    if has_user(url):
        raise ConfigError(
            f"url must not hold a user and a password, which would be written into reports, got "
            f"{without_secrets(url)!r}: put them into ~/.netrc, or a key into the environment "
            "variable OPENAI_API_KEY"
        )
    try:
        is_whole = bool(urlsplit(url).hostname and (urlsplit(url).port or True))
    except ValueError:
        is_whole = False
    if not is_whole:
        raise ConfigError(f"url must be an address such as http://localhost:8000/v1, got {url!r}")


@dataclass(frozen=True)
class Limits:
    """How many questions a server gets, how often, and how long each may take.

    Attributes:
        concurrency: Questions that are open at the same time. A question that waits for its next
            attempt counts too, so that a server in trouble gets fewer requests.
        timeout_s: Seconds that one request may take, to the last byte of its reply.
        attempts: Requests for one reply before giving up.
        backoff_s: Seconds before the second attempt, doubled for each further attempt and
            multiplied by a jitter in [0.5, 1].
        longest_pause_s: Longest pause. If a server's Retry-After asks for a longer one, the client
            gives the question up.
        max_requests: Requests in all, retries included; None: no limit.
        max_tokens: Tokens in all, of requests and replies. Requests that are open when the limit is
            reached are finished, so up to `concurrency` of them exceed it. None: no limit.
    """

    concurrency: int = 32
    timeout_s: float = 120.0
    attempts: int = 5
    backoff_s: float = 1.0
    longest_pause_s: float = 60.0
    max_requests: int | None = None
    max_tokens: int | None = None

    def __post_init__(self) -> None:
        for name in ("concurrency", "attempts"):
            if getattr(self, name) < 1:
                raise ConfigError(f"{name} must be at least 1, got {getattr(self, name)}")
        if self.timeout_s <= 0:
            raise ConfigError(f"timeout_s must be above 0, got {self.timeout_s}")


@dataclass(frozen=True)
class Prices:
    """What a million tokens cost, in your currency."""

    prompt: float = 0.0
    reply: float = 0.0


@dataclass(frozen=True)
class Endpoint:
    """A model behind an OpenAI-compatible server, and how it is asked.

    Attributes:
        url: The address up to the version: "http://localhost:8000/v1".
        model: The name by which the server knows the model. Cached judgements are found by this
            name and not by the url, so give different models different names.
        temperature: Divides the logits; 0 for the most probable reply.
        max_reply_tokens: Length of a reply, thoughts included; None leaves it to the server.
            Structured output can contain much white space, so allow for some.
        api_key_variable: The environment variable that holds the key, if the server needs one.
        extra_body: Further keys of the request, for instance
            {"chat_template_kwargs": {"enable_thinking": False}}; None removes a key. A secret is
            the name of an environment variable: {"api_key": "$MY_KEY"}.
        top_p: The share of the probability mass to sample from; None leaves it to the server.
        chat: Whether prompts are chat messages (/chat/completions) or plain text (/completions).
        limits: How many questions the server gets, how often, and how long each may take.
        prices: What the server's tokens cost.
    """

    url: str
    model: str
    temperature: float = 0.0
    max_reply_tokens: int | None = 4096
    api_key_variable: str = "OPENAI_API_KEY"
    extra_body: Mapping[str, Any] = field(default_factory=dict)
    top_p: float | None = None
    chat: bool = True
    limits: Limits = Limits()
    prices: Prices = Prices()

    def __post_init__(self) -> None:
        check_address(self.url)
        for path in secrets_in(self.extra_body):
            raise ConfigError(
                f"extra_body must not hold {path} itself, which would be written into reports and "
                "rows: put it into an environment variable, and write $ and the name of the "
                "variable; api_key_variable names the variable of the server's own key"
            )
        if self.temperature < 0:
            raise ConfigError(f"temperature must be at least 0, got {self.temperature:g}")
        if self.top_p is not None and not 0 < self.top_p <= 1:
            raise ConfigError(f"top_p must be in (0, 1], got {self.top_p:g}")

    @property
    def address(self) -> str:
        """The URL to which requests are sent; a query, such as ?api-version=1, stays at the end."""
        parts = urlsplit(self.url)
        path = f"{parts.path.rstrip('/')}/{'chat/completions' if self.chat else 'completions'}"
        return parts._replace(path=path, fragment="").geturl()

    def body(self, prompt: str | Sequence[ChatMessage], **more: Any) -> dict[str, Any]:
        """Return the request for a prompt; a string becomes one message of a user.

        >>> Endpoint("http://localhost/v1", "m", chat=False).body("1 + 1 =", n=2)["prompt"]
        '1 + 1 ='
        """
        if self.chat and isinstance(prompt, str):
            prompt = [{"role": "user", "content": prompt}]
        body = {
            "model": self.model,
            "messages" if self.chat else "prompt": prompt,
            "temperature": self.temperature,
            "top_p": self.top_p,
            "max_tokens": self.max_reply_tokens,
            **more,
            **self.extra_body,
        }
        return {key: value for key, value in body.items() if value is not None}


def approximate_tokens(text: str) -> int:
    """Estimate how many tokens a string has: its UTF-8 bytes over 3, which is rather too many.

    The estimate is good enough to fit a context window; where the number must be exact, count with
    a tokenizer.

    >>> approximate_tokens("x = 7 or x = -7")
    5
    """
    return -(-len(text.encode()) // BYTES_PER_TOKEN)


@dataclass
class Usage:
    """What one client has used so far.

    Attributes:
        requests: HTTP requests sent.
        failures: Requests without a usable reply, by kind; "cancelled" ones were open when the
            client was closed.
        prompt_tokens: Tokens sent, as the server counts them.
        reply_tokens: Tokens of replies, thoughts included.
        estimated: Replies without token counts from the server; they are estimated from the text.
    """

    requests: int = 0
    failures: Counter[str] = field(default_factory=Counter)
    prompt_tokens: int = 0
    reply_tokens: int = 0
    estimated: int = 0

    def is_within(self, limits: Limits) -> bool:
        """Return whether one more request is allowed."""
        tokens = self.prompt_tokens + self.reply_tokens
        return (limits.max_requests is None or self.requests < limits.max_requests) and (
            limits.max_tokens is None or tokens < limits.max_tokens
        )

    def cost(self, prices: Prices) -> float:
        """Return what the tokens cost; tokens of failed requests are unknown and not included.

        >>> Usage(prompt_tokens=2_000_000, reply_tokens=100_000).cost(Prices(0.1, 0.4))
        0.24
        """
        return (self.prompt_tokens * prices.prompt + self.reply_tokens * prices.reply) / 1e6


def refuse_unreachable(url: str) -> None:
    """Open one connection to a server and close it again, and raise an error if that fails.

    A server behind a proxy is not checked, since the proxy would answer for it.

    Raises:
        ConfigError: If it is no address.
        RunError: If there is no connection, with the reason.
    """
    check_address(url)
    parts = urlsplit(url)
    host = parts.hostname or ""
    if parts.scheme in getproxies() and not proxy_bypass(host):
        return
    try:
        socket.create_connection((host, parts.port or PORTS[parts.scheme]), TIMEOUT_S).close()
    except OSError as error:
        raise RunError(
            f"{without_secrets(url)} cannot be reached ({error.strerror or error}): start the "
            "server, or correct the address, and run the same command again"
        ) from None
