"""`LMJudge`: a language model that says which samples of a prompt use the same strategy."""

from __future__ import annotations

import asyncio
import hashlib
import json
import logging
import sqlite3
import time
import weakref
from collections.abc import Callable, Sequence
from concurrent.futures import FIRST_EXCEPTION, Future, wait
from dataclasses import dataclass
from pathlib import Path
from types import TracebackType
from typing import TypeVar

from setrl.errors import RunError
from setrl.judges.base import Group, Judgement, by_first_appearance
from setrl.judges.cache import JudgementCache
from setrl.judges.fences import harmless
from setrl.judges.parsing import ReplyError, read_clusters
from setrl.judges.policy import Policy, Skip
from setrl.judges.rendering import Message, load_style, render, shuffled_order, what_to_answer
from setrl.judges.shortening import CountTokens, approximate_tokens
from setrl.serving.background import BackgroundLoop
from setrl.serving.budget import Counts, Limits, Prices
from setrl.serving.judge_client import MISSING, ChatClient, RequestError
from setrl.serving.judge_endpoint import Endpoint

T = TypeVar("T")

log = logging.getLogger(__name__)
LOG_EVERY_S = 60.0
QUOTED_REPLY = 2000  # characters of an unreadable reply that its repair request quotes


@dataclass(frozen=True)
class Request:
    """One question: the messages, the order in which they show the samples, and their hash."""

    messages: list[Message]
    order: tuple[int, ...]
    key: str


class LMJudge:
    """A judge behind an OpenAI-compatible endpoint: one request a prompt, on all its samples.

    Samples are shown in an order that is a function of `seed` and of the group, each in a fence
    that it cannot close (`rendering`); replies are parsed strictly (`parsing`), and one that cannot
    be read is asked for once more. What fails is unknown, with a reason: never "all different".
    The reasons are "timeout", "rate_limit", "server_error", "connection", "refused" (the server
    takes no such request), "unparsable", "wrong_length", "bad_id" and "budget".

    The same samples in another order make the same request, so their labels are permuted with
    them; to see what another order would bring, use another `seed`.

    Requests run in a thread of their own. Close the judge, or use it in a `with` statement:

        with LMJudge(Endpoint("http://localhost:8000/v1", "judge"), cache="judge.sqlite") as judge:
            judgements = judge.judge(groups)

    Args:
        endpoint: Whom to ask.
        style: The instructions: "mathematics", "code", "free_text", "compact" (none, for a small
            judge trained for the task), or the path of a .md file of your own.
        cache: A SQLite file that keeps judgements, for this run and others; None: in memory.
        policy: What to do about groups that could not be judged.
        limits: How hard, how long and how often to ask.
        prices: What tokens cost.
        seed: Seed of the orders and of the jitter of pauses.
        sample_tokens: Tokens that the samples of one request may have together; the longest lose
            their middle.
        count_tokens: How many tokens a text has; by default approximately, by its bytes.

    Attributes:
        name: The model and the style.
        counts: What it has done so far.

    Poly-EPO (arXiv:2604.17654) asks a judge in this way; there a failed judgement makes all
    samples different, which pays a policy for breaking its judge.
    """

    def __init__(
        self,
        endpoint: Endpoint,
        *,
        style: str = "mathematics",
        cache: str | Path | None = None,
        policy: Policy | None = None,
        limits: Limits | None = None,
        prices: Prices | None = None,
        seed: int = 0,
        sample_tokens: int = 24_000,
        count_tokens: CountTokens = approximate_tokens,
    ):
        _require_aiohttp()
        self.endpoint, self.style, self.seed = endpoint, load_style(style), seed
        self.policy, self.limits = policy or Skip(), limits or Limits()
        self.prices, self.counts = prices or Prices(), Counts()
        self.name = f"{endpoint.model} ({self.style.name})"
        self._sample_tokens, self._count_tokens = sample_tokens, count_tokens
        self._cache = JudgementCache(cache)
        self._client = ChatClient(endpoint, self.limits, self.counts, seed)
        self._slots = asyncio.Semaphore(self.limits.concurrency)
        self._in_hand: weakref.WeakValueDictionary[str, asyncio.Lock] = (
            weakref.WeakValueDictionary()
        )
        self._is_time_to_log = _at_most_every(LOG_EVERY_S)
        self._loop = BackgroundLoop(at_close=self._client.close)
        self._finalizer = weakref.finalize(self, _close, self._loop, self._cache)

    def judge(self, groups: Sequence[Group]) -> list[Judgement]:
        """One judgement a group, in the order of the groups; blocks until all are there.

        Raises:
            RunError: If the policy is to stop and too many groups are unknown. What was judged is
                in the cache.
            KeyboardInterrupt: After Ctrl-C; open requests are cancelled.
        """
        futures = [self.submit(group) for group in groups]
        try:
            done, _ = wait(futures, return_when=FIRST_EXCEPTION)
            for future in done:
                future.result()  # where one failed, not all are done: raise it now
            return [future.result() for future in futures]
        except BaseException:
            for future in futures:
                future.cancel()
            raise

    def submit(self, group: Group) -> Future[Judgement]:
        """Ask about one group without waiting; the future brings what `judge` would."""
        return self._loop.submit(lambda: self._judge(group))

    @property
    def cost(self) -> float:
        """What the tokens so far cost, by the judge's prices."""
        return self.counts.cost(self.prices)

    def close(self) -> None:
        """Cancel open requests, close connections and cache, and end the thread."""
        self._finalizer()

    def __enter__(self) -> LMJudge:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self.close()

    # All that follows runs in the thread of the loop.

    async def _judge(self, group: Group) -> Judgement:
        self._check_policy()
        try:
            shown = await self._clusters(self._request(group)) if group.samples else ()
        except (RequestError, ReplyError) as failure:
            return self._unknown(failure.reason, str(failure))
        self.counts.groups += 1
        self.counts.known += 1
        return Judgement(by_first_appearance(shown))

    def _unknown(self, reason: str, why: str) -> Judgement:
        self.counts.groups += 1
        self.counts.unknown[reason] += 1
        if self._is_time_to_log():
            log.warning("judge %s: %s; now: %s", self.name, self._how_it_goes(), why)
        self._check_policy()
        return Judgement(None, reason=reason)

    def _check_policy(self) -> None:
        if self.policy.is_over(self.counts.unknown.total(), self.counts.groups):
            raise RunError(
                f"the judge {self.name} fails too often: {self._how_it_goes()}. "
                "What it did judge is kept in its cache."
            )

    def _how_it_goes(self) -> str:
        by_reason = ", ".join(f"{n} {reason}" for reason, n in self.counts.unknown.most_common())
        return (
            f"{self.counts.unknown.total()} of {self.counts.groups} prompts unknown ({by_reason})"
        )

    def _request(self, group: Group) -> Request:
        order = shuffled_order(group, self.seed)
        messages = render(
            group,
            self.style,
            order,
            sample_tokens=self._sample_tokens,
            count_tokens=self._count_tokens,
        )
        whole = json.dumps(self.endpoint.body(messages), sort_keys=True)
        return Request(messages, order, hashlib.sha256(whole.encode()).hexdigest())

    async def _clusters(self, request: Request) -> list[int]:
        """The labels of the group's samples in their own order, from the cache or the model."""
        lock = self._in_hand.setdefault(request.key, asyncio.Lock())
        async with lock:  # the same group twice at once is asked about once
            shown = await self._cached(self._cache.get, request.key)
            if shown is not None:
                self.counts.cached += 1
            else:
                async with self._slots:
                    shown = await self._ask_by_policy(request)
                what = (self.endpoint.model, f"{self.style.name}@{self.style.version}")
                kept = await self._cached(self._cache.put, request.key, shown, *what)
                shown = kept or shown
        labels = dict(zip(request.order, shown, strict=True))
        return [labels[i] for i in range(len(labels))]

    async def _cached(self, use: Callable[..., T], *arguments: object) -> T | None:
        """Use the cache outside the loop; a cache in trouble costs requests, but no judgement."""
        try:
            return await asyncio.to_thread(use, *arguments)
        except (sqlite3.Error, ValueError) as error:  # the file, or what is in it
            self.counts.cache_errors += 1
            if self._is_time_to_log():
                log.warning("judge %s: the cache fails (%s); judging goes on", self.name, error)
            return None

    async def _ask_by_policy(self, request: Request) -> tuple[int, ...]:
        while True:
            self._check_policy()
            try:
                return await self._ask(request)
            except RequestError as failure:
                pause_s = self.policy.pause_s(failure.reason)
                if pause_s is None:
                    raise
                if self._is_time_to_log():
                    log.warning("judge %s does not answer: %s; waiting", self.name, failure)
                await asyncio.sleep(max(pause_s, failure.retry_after_s))

    async def _ask(self, request: Request) -> tuple[int, ...]:
        """Ask, and where the reply cannot be read, once more with what was wrong with it."""
        num_samples = len(request.order)
        text = await self._client.ask(request.messages, num_samples, request.key)
        try:
            return self._read(text, num_samples)
        except ReplyError as error:
            messages = [*request.messages, *repair(text, str(error), num_samples)]
        text = await self._client.ask(messages, num_samples, f"{request.key} repair")
        clusters = self._read(text, num_samples)
        self.counts.repaired += 1
        return clusters

    def _read(self, text: str, num_samples: int) -> tuple[int, ...]:
        try:
            clusters = read_clusters(text, num_samples)
        except ReplyError as error:
            self.counts.failures[error.reason] += 1
            raise
        self.counts.read += 1
        return clusters


def repair(reply: str, why: str, num_samples: int) -> list[Message]:
    """The messages that ask for an unreadable reply once more."""
    return [
        {"role": "assistant", "content": harmless(reply[:QUOTED_REPLY])},
        {
            "role": "user",
            "content": f"This cannot be read: {why}. {what_to_answer(num_samples)}",
        },
    ]


def _close(loop: BackgroundLoop, cache: JudgementCache) -> None:
    loop.close()
    cache.close()


def _at_most_every(seconds: float) -> Callable[[], bool]:
    """A function that is true when called, but not again within `seconds`."""
    last = -seconds

    def is_time() -> bool:
        nonlocal last
        now = time.monotonic()
        if now - last < seconds:
            return False
        last = now
        return True

    return is_time


def _require_aiohttp() -> None:
    try:
        import aiohttp  # noqa: F401
    except ImportError:
        raise ImportError(MISSING) from None
