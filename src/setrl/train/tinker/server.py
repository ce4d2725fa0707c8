"""A server of the Tinker protocol: found, checked, and asked for samples.

Tested with the client package `tinker` 0.25 and 0.38. `setrl.train.tinker` trains through it.
"""

from __future__ import annotations

import os
import urllib.error
import urllib.request
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any, Protocol

import numpy as np

from setrl.models.served.client import without_key
from setrl.samples.values import was_cut_by
from setrl.support.errors import ConfigError, DataError, RunError
from setrl.support.installing import install

try:
    import tinker
    from tinker import types
except ImportError as error:
    raise ImportError(f"this engine needs the package: {install('tinker')}") from error

TESTED_TINKER = "0.25 to 0.38"
KEY = "TINKER_API_KEY"
ROUNDED = 1e-3  # how far above 0 the rounding of a server puts a log-probability
PROBE = "/api/v1/healthz"  # what every server of the protocol answers
PROBE_S = 10.0  # the longest wait for its answer


class LostError(RuntimeError):
    """The server did not do what it was asked, or nobody knows whether it did."""


class ServerSampler(Protocol):
    """Samples from the weights of one version."""

    def sample(
        self, prompts: Sequence[Sequence[int]], n: int, seeds: Sequence[int]
    ) -> Iterator[SampledTokens]:
        """Draw n samples of each prompt in turn, with a seed for each prompt."""


@dataclass(frozen=True)
class SampledTokens:
    """The samples of one prompt, with log-probabilities, and which were cut at the limit."""

    tokens_N: list[list[int]]
    logprobs_N: list[list[float]]
    cut_N: list[bool]


@dataclass(frozen=True)
class TinkerSampler:
    """A sampling client of a server.

    Attributes:
        client: `tinker.SamplingClient`.
        max_tokens: The length at which a sample is cut.
        ends: Tokens that end a sample; the sample keeps the first of them.
        temperature: Divides the logits.
        reply_s: Seconds to wait for the samples of a prompt.
    """

    client: Any
    max_tokens: int
    ends: tuple[int, ...]
    temperature: float = 1.0
    reply_s: float = 600.0

    def sample(
        self, prompts: Sequence[Sequence[int]], n: int, seeds: Sequence[int]
    ) -> Iterator[SampledTokens]:
        """Draw n samples of each prompt in turn; all prompts are sent at once."""
        with may_be_lost("sampling"):
            futures = [self._send(ids, n, seed) for ids, seed in zip(prompts, seeds, strict=True)]
        for future, ids in zip(futures, prompts, strict=True):
            with may_be_lost("sampling"):
                answer = future.result(timeout=self.reply_s)
            yield _read_samples(answer, n, len(ids))

    def _send(self, ids: Sequence[int], n: int, seed: int) -> Any:
        params = types.SamplingParams(
            max_tokens=self.max_tokens,
            temperature=self.temperature,
            seed=seed,
            stop=list(self.ends),
        )
        return self.client.sample(types.ModelInput.from_ints(list(ids)), n, params)


def _read_samples(answer: Any, n: int, prompt_tokens: int) -> SampledTokens:
    """Read the samples of an answer.

    Raises:
        LostError: If the group is not whole.
    """
    drawn = answer.sequences
    if len(drawn) != n:
        raise LostError(
            f"the server returned {len(drawn)} of the {n} samples of a prompt with {prompt_tokens} "
            "tokens; credit needs the whole group"
        )
    logprobs = [sample.logprobs for sample in drawn]
    for sample, values in zip(drawn, logprobs, strict=True):
        if values is None or len(values) != len(sample.tokens) or not _are_logprobs(values):
            raise LostError(
                f"the server returned a sample of {len(sample.tokens)} tokens without a "
                "log-probability for each, at most 0 and finite"
            )
        if min(sample.tokens, default=0) < 0:
            raise LostError(f"the server returned the token {min(sample.tokens)}, which is none")
    return SampledTokens(
        [list(map(int, sample.tokens)) for sample in drawn],
        [list(map(float, values)) for values in logprobs],
        [was_cut_by(sample.stop_reason) for sample in drawn],
    )


def _are_logprobs(values: Sequence[float]) -> bool:
    return bool(np.isfinite(values).all()) and max(values, default=0.0) <= ROUNDED


@contextmanager
def may_be_lost(what: str) -> Iterator[None]:
    """Turn an error of the client package into `LostError`: the request may be done or not."""
    try:
        yield
    except (LostError, ConfigError, DataError, RunError):
        raise
    except Exception as error:
        raise LostError(f"{what}: {words_of_error(error)}"[:300]) from error_to_show(error)


def words_of_error(error: Exception) -> str:
    """Return what an error of the client package says, without the key that servers send back."""
    key, text = os.environ.get(KEY, ""), f"{type(error).__name__}: {error}"
    return without_key(key, text)


def error_to_show(error: Exception) -> Exception | None:
    """Return an error that a traceback may show: None if it quotes the key."""
    return error if str(error) in words_of_error(error) else None


def connect_to(url: str, api_key: str | None = None) -> Any:
    """Make a client of the server at a URL.

    Args:
        url: Such as http://127.0.0.1:8000.
        api_key: The key that the server asks for. None: $TINKER_API_KEY, or a placeholder, which is
            enough for your own server.
    """
    key = api_key or os.environ.get(KEY) or "tml-none"
    return tinker.ServiceClient(base_url=url, api_key=key)


def refuse_silence(url: str) -> None:
    """Refuse an address at which nothing answers; the client package would try for five minutes.

    Raises:
        ConfigError: Naming the address.
    """
    try:
        with urllib.request.urlopen(f"{url.rstrip('/')}{PROBE}", timeout=PROBE_S):
            pass
    except urllib.error.HTTPError as error:
        if error.code == 404:
            raise ConfigError(
                f"{url} does not answer as a Tinker server does: it has no {PROBE} "
                f"({error}); start one there, or correct the URL"
            ) from error
    except (OSError, ValueError) as error:
        raise ConfigError(
            f"nothing answers at {url} ({error}): start the server, or correct the URL"
        ) from error


def check_server(client: Any, model: str, url: str) -> None:
    """Refuse a server that does not speak the protocol, or serves another model.

    Raises:
        ConfigError: Naming the server, and what it serves.
    """
    try:
        models = client.get_server_capabilities().supported_models
        served = [supported.model_name for supported in models]
    except Exception as error:
        raise ConfigError(
            f"{url} does not answer as a Tinker server of the protocol of tinker "
            f"{TESTED_TINKER} does (this is tinker {tinker.__version__}): "
            f"{words_of_error(error)[:200]}"
        ) from error_to_show(error)
    if model not in served:
        raise ConfigError(
            f"the server at {url} serves {', '.join(map(repr, served)) or 'no model'}, not "
            f"{model!r}: start it with that model, or name one that it serves"
        )
