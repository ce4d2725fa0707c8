"""`LMJudge`: a language model that says which samples of a prompt use the same strategy."""

from __future__ import annotations

import asyncio
import hashlib
import json
import logging
import sqlite3
import time
import weakref
from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from concurrent.futures import FIRST_EXCEPTION, Future, wait
from contextlib import AbstractContextManager
from dataclasses import dataclass, field
from functools import partial
from pathlib import Path
from typing import Any, TypeVar

from typing_extensions import override

from setrl.judges.base import BackgroundJudge, Group, Judgement, changed_settings, labelled_settings
from setrl.judges.cache import JudgementCache
from setrl.judges.rendering import harmless, load_style, render, shuffled_order, what_to_answer
from setrl.judges.replies import (
    FAMILIES,
    STRATEGIES,
    ReplyError,
    ReplyFormat,
    read_levels,
    read_reply,
)
from setrl.models.served.client import SERVICE, Choice, Client, RequestError
from setrl.models.served.endpoint import ChatMessage, Endpoint, Limits, Prices, Usage
from setrl.samples.labels import by_first_appearance
from setrl.samples.values import LENGTH
from setrl.support import names
from setrl.support.errors import RunError
from setrl.support.wording import count

T = TypeVar("T")

log = logging.getLogger(__name__)
LOG_EVERY_S = 60.0
SHOWN_ANSWER = 200  # characters of what failed, in messages
QUOTED_REPLY = 2000  # characters of an unreadable reply that its repair request quotes
NOT_IN_A_REQUEST = ("url", "api_key_variable", "limits", "prices")  # settings of an endpoint


@dataclass(frozen=True)
class RetryRule:
    """What to do when a judgement fails, after all attempts of `Limits`.

    By default the group is unknown and the run continues: its prompt teaches nothing in this step.

    Attributes:
        wait_s: Ask again every so many seconds until the service answers, however long that takes;
            None: do not. The judge does not wait after a reply that cannot be read, after a request
            that the server refuses (it would refuse it again) or when the budget is spent.
        max_share: The run stops with `RunError` when more than this share of the groups asked about
            is unknown; None: no such limit.
        at_least: Groups that must have been asked about before the share counts.

    >>> RetryRule(max_share=0.1).is_over(unknown=3, asked=20)
    True
    """

    wait_s: float | None = None
    max_share: float | None = None
    at_least: int = 20

    def __post_init__(self) -> None:
        if self.max_share is not None and not 0 <= self.max_share < 1:
            raise ValueError(f"max_share must be in [0, 1), got {self.max_share}")

    def pause_s(self, reason: str) -> float | None:
        """Return the seconds until a group is asked about again; None if it stays unknown."""
        return self.wait_s if reason in SERVICE else None

    def is_over(self, unknown: int, asked: int) -> bool:
        """Return whether the run must stop, with `unknown` of `asked` groups unknown so far."""
        if self.max_share is None or asked < self.at_least:
            return False
        return unknown > self.max_share * asked


@dataclass
class JudgeCounts(Usage):
    """What one judge has done so far, besides what its client has used.

    A reply that cannot be read is a failure, too.

    Attributes:
        groups: Groups that were judged, or given up.
        unknown: … whose labels are not known, by reason.
        cached: Groups that needed no request.
        repaired: Groups whose first reply could not be read, and whose second could.
    """

    groups: int = 0
    unknown: Counter[str] = field(default_factory=Counter)
    cached: int = 0
    repaired: int = 0

    def __str__(self) -> str:
        by_reason = ", ".join(f"{n} {reason}" for reason, n in self.unknown.most_common())
        return f"{self.unknown.total()} of {count(self.groups, 'prompt')} unknown ({by_reason})"


@dataclass(frozen=True)
class Question:
    """The messages about one group, the order in which they show its samples, and their hash."""

    messages: list[ChatMessage]
    order: tuple[int, ...]
    key: str


class LMJudge(BackgroundJudge, AbstractContextManager["LMJudge"]):
    """A judge behind an OpenAI-compatible endpoint: one request per prompt, on all its samples.

    Samples are shown in an order that is a function of `seed` and of the group, each in a fence
    that it cannot close (`rendering`). Replies are parsed strictly (`replies`), and after one that
    cannot be read the model is asked once more. What fails is unknown, with a reason: never "all
    different". The reasons are "timeout", "rate_limit", "server_error", "connection", "refused"
    (the server does not accept the request), "unparsable", "truncated" (cut off by its limit of
    tokens), "wrong_length", "bad_id" and "budget".

    The same samples in another order make the same request, so their labels are permuted with
    them; to see what another order would give, use another `seed`.

    Requests run in a separate thread. Close the judge, or use it in a `with` statement:

        with LMJudge(Endpoint("http://localhost:8000/v1", "judge"), cache="judge.sqlite") as judge:
            judgements = judge.judge(groups)

    Args:
        endpoint: The model, with its limits and prices.
        style: The instructions: "mathematics", "code", "free_text", "compact" (none, for a small
            judge trained for the task), or the path of your .md file.
        cache: A SQLite file that keeps judgements, for this run and others; None: in memory.
        retry_rule: What to do about groups that could not be judged.
        seed: Seed of the orders and of the jitter of pauses.
        sample_tokens: Tokens (three bytes each) that the samples of one request may have together;
            the longest lose their middle.
        families: Also ask for macro-strategies, the families of strategies. The reply has a second
            list of N numbers.

    Attributes:
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
        retry_rule: RetryRule | None = None,
        seed: int = 0,
        sample_tokens: int = 24_000,
        families: bool = False,
    ):
        if families and style == "compact":
            raise ValueError(
                "families=True needs a style with instructions, and the style is 'compact'"
            )
        self.endpoint, self.style, self.seed = endpoint, load_style(style), seed
        self.retry_rule, self.counts = retry_rule or RetryRule(), JudgeCounts()
        self._sample_tokens, self.gives_families = sample_tokens, families
        self._client = Client(endpoint, self.counts, seed)
        self._cache = JudgementCache(cache)
        self._format = ReplyFormat((STRATEGIES, FAMILIES) if families else (STRATEGIES,))
        self._slots = asyncio.Semaphore(endpoint.limits.concurrency)
        # A lock per question that is open now; it disappears with its last user, so that the
        # dictionary does not grow with the run.
        self._open_questions: weakref.WeakValueDictionary[str, asyncio.Lock] = (
            weakref.WeakValueDictionary()
        )
        self._logged = -LOG_EVERY_S
        # Closes a judge that nobody closed. It must not refer to the judge, or the judge would
        # never be collected.
        self._finalizer = weakref.finalize(self, _close_all, self._client, self._cache)

    @property
    @override
    def name(self) -> str:
        """The model, its instructions, and all else of a request that is not at its default."""
        settings: dict[str, Any] = {
            "style": f"{self.style.name}@{self.style.version}",
            "seed": self.seed,
            "sample_tokens": self._sample_tokens,
            **({"families": True} if self.gives_families else {}),
            **changed_settings(self.endpoint, leave_out=("model", *NOT_IN_A_REQUEST)),
        }
        return ", ".join([f"lm:{self.endpoint.model}", *labelled_settings(settings)])

    @override
    def judge(self, groups: Sequence[Group]) -> list[Judgement]:
        """Return one judgement per group, in the order of the groups; block until all are made.

        Raises:
            RunError: If more groups are unknown than the retry rule allows. Finished judgements are
                in the cache.
            KeyboardInterrupt: After Ctrl-C; open requests are cancelled.
        """
        futures = [self.submit(group) for group in groups]
        try:
            done, _ = wait(futures, return_when=FIRST_EXCEPTION)
            for future in done:
                future.result()  # an error is raised now and does not wait for the others
            return [future.result() for future in futures]
        except BaseException:
            for future in futures:
                future.cancel()
            raise

    @override
    def submit(self, group: Group) -> Future[Judgement]:
        return self._client.submit(lambda: self._judge(group))

    @override
    def close(self) -> None:
        """Cancel open requests, close connections and cache, and end the thread."""
        self._finalizer()

    @override
    def __exit__(self, *_: object) -> None:
        self.close()

    # All that follows runs in the client's thread. Only one coroutine runs at a time there and none
    # is interrupted between two awaits, so that counts need no lock.

    async def _judge(self, group: Group) -> Judgement:
        self._stop_if_over()
        try:
            labels = await self._find_labels(self._make_question(group)) if group.texts else []
        except (RequestError, ReplyError) as failure:
            return self._make_unknown_judgement(failure)
        self.counts.groups += 1
        n = len(group.texts)
        families_N = by_first_appearance(labels[n:]) if self.gives_families else None
        return Judgement(by_first_appearance(labels[:n]), families_N=families_N)

    def _make_unknown_judgement(self, failure: RequestError | ReplyError) -> Judgement:
        self.counts.groups += 1
        self.counts.unknown[failure.reason] += 1
        if self._is_time_to_log():
            counts = str(self.counts)  # counts go on changing, and a record may be written later
            log.warning("judge %s: %s; now: %s", self.name, counts, failure)
        self._stop_if_over()
        answered = failure.reply if isinstance(failure, ReplyError) else failure.detail
        return Judgement(None, reason=failure.reason, detail=answered[:SHOWN_ANSWER] or None)

    def _is_time_to_log(self) -> bool:
        """Return True, but not again within `LOG_EVERY_S`."""
        now = time.monotonic()
        is_time = now - self._logged >= LOG_EVERY_S
        self._logged = now if is_time else self._logged
        return is_time

    def _stop_if_over(self) -> None:
        if self.retry_rule.is_over(self.counts.unknown.total(), self.counts.groups):
            raise RunError(
                f"the judge {self.name} fails too often: {self.counts}. "
                "Finished judgements are kept in its cache."
            )

    def _make_question(self, group: Group) -> Question:
        order = shuffled_order(group, self.seed)
        messages = render(
            group,
            self.style,
            order,
            sample_tokens=self._sample_tokens,
            families=self.gives_families,
        )
        # The key is a hash of all that decides the answer. It leaves out the address, so that a
        # model that moves keeps its judgements, and the format, which `read_reply` makes
        # irrelevant.
        whole = json.dumps(self.endpoint.body(messages), sort_keys=True)
        return Question(messages, order, hashlib.sha256(whole.encode()).hexdigest())

    async def _find_labels(self, question: Question) -> list[int]:
        """Return the labels of the group's samples in their order, from the cache or the model.

        The families of the samples follow, if they are asked for.
        """
        n = len(question.order)
        levels = 1 + self.gives_families
        lock = self._open_questions.setdefault(question.key, asyncio.Lock())
        # The second of two equal questions waits here, and then finds the answer in the cache.
        async with lock:
            shown = await self._use_cache(self._cache.get, question.key, levels * n)
            if shown is not None:
                self.counts.cached += 1
            else:
                # A slot is held through pauses, retries and the repair: a server in trouble gets
                # fewer requests, not more.
                async with self._slots:
                    shown = await self._ask_by_rule(question)
                about = (self.endpoint.model, f"{self.style.name}@{self.style.version}")
                # Another process may have been first with another answer; all use the first.
                kept_labels = await self._use_cache(self._cache.put, question.key, shown, *about)
                shown = kept_labels or shown
        place = {i: at for at, i in enumerate(question.order)}
        return [shown[level * n + place[i]] for level in range(levels) for i in range(n)]

    async def _use_cache(self, use: Callable[..., T], *arguments: object) -> T | None:
        """Use the cache in another thread: SQLite may wait for other processes.

        A cache in trouble costs requests, but no judgement.
        """
        try:
            return await asyncio.to_thread(use, *arguments)
        except (sqlite3.Error, ValueError) as error:  # the file, or its content
            if self._is_time_to_log():
                log.warning("judge %s: the cache fails (%s); judging continues", self.name, error)
            return None

    async def _ask_by_rule(self, question: Question) -> tuple[int, ...]:
        while True:
            self._stop_if_over()
            try:
                return await self._ask(question)
            except RequestError as failure:
                pause_s = self.retry_rule.pause_s(failure.reason)
                if pause_s is None:
                    raise
                if self._is_time_to_log():
                    log.warning("judge %s does not answer: %s; waiting", self.name, failure)
                await asyncio.sleep(max(pause_s, failure.retry_after_s))

    async def _ask(self, question: Question) -> tuple[int, ...]:
        """Ask; if the reply cannot be read, ask once more and say what was wrong with it."""
        num_samples = len(question.order)
        ask = partial(self._format.ask, self._client, num_samples=num_samples)
        reply = await ask(question.messages, key=question.key)
        try:
            return self._read_labels(reply, num_samples)
        except ReplyError as error:
            again = repair(reply.text, str(error), num_samples, self.gives_families)
        reply = await ask([*question.messages, *again], key=f"{question.key} repair")
        labels = self._read_labels(reply, num_samples)
        self.counts.repaired += 1
        return labels

    def _read_labels(self, reply: Choice, num_samples: int) -> tuple[int, ...]:
        try:
            if not reply.is_whole:  # what it would have gone on to say is not known
                raise ReplyError("truncated", _explain_cut(reply.finish))
            read_labels = read_levels if self.gives_families else read_reply
            labels = read_labels(reply.text, num_samples)
        except ReplyError as error:
            self.counts.failures[error.reason] += 1
            error.reply = reply.text
            raise
        return labels


def _explain_cut(finish: str | None) -> str:
    if finish == LENGTH:
        return "it was cut off by its limit of tokens"
    return f"it did not end by itself, but by {finish!r}"


def repair(reply: str, why: str, num_samples: int, families: bool = False) -> list[ChatMessage]:
    """Return the messages that ask again after an unreadable reply.

    The reply may quote a sample, and a sample may hold control tokens: `harmless` breaks them up.
    """
    return [
        {"role": "assistant", "content": harmless(reply[:QUOTED_REPLY])},
        {
            "role": "user",
            "content": f"This cannot be read: {why}. {what_to_answer(num_samples, families)}",
        },
    ]


def from_settings(
    model: str,
    endpoint: str,
    style: str = "mathematics",
    cache: str | Path | None = None,
    retry_rule: Mapping[str, Any] | None = None,
    limits: Mapping[str, Any] | None = None,
    prices: Mapping[str, Any] | None = None,
    request: Mapping[str, Any] | None = None,
    seed: int = 0,
    sample_tokens: int = 24_000,
    families: bool = False,
) -> LMJudge:
    """Ask a language model behind an OpenAI-compatible endpoint; see `LMJudge`.

    Args:
        model: Its name there.
        endpoint: Its address, up to the version: http://localhost:8000/v1.
        style: mathematics, code, free_text, compact, or the path of your own instructions.
        cache: A SQLite file of judgements.
        retry_rule: Settings of `RetryRule`: wait_s, max_share, at_least.
        limits: Settings of `Limits`: concurrency, timeout_s, attempts, max_requests, ….
        prices: Settings of `Prices`.
        request: Further settings of `Endpoint`: temperature, max_reply_tokens, ….
        seed: Seed of the orders in which samples are shown.
        sample_tokens: Tokens that the samples of one request may have together.
        families: Also ask for macro-strategies, which `poly_families` reads.
    """
    settings = {
        "url": endpoint,
        "model": model,
        "limits": names.call("limits", Limits, limits or {}),
        "prices": names.call("prices", Prices, prices or {}),
        **(request or {}),
    }
    return LMJudge(
        names.call("request", Endpoint, settings),
        style=style,
        cache=cache,
        retry_rule=names.call("retry_rule", RetryRule, retry_rule or {}),
        seed=seed,
        sample_tokens=sample_tokens,
        families=families,
    )


def _close_all(client: Client, cache: JudgementCache) -> None:
    client.close()
    cache.close()
