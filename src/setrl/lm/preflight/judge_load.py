"""What a judge in a config asks a server for: requests and tokens of one group."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from setrl.judges.base import Group
from setrl.judges.config import Config, spelled_out
from setrl.judges.rendering import load_style, render
from setrl.serving.usage import BYTES_PER_TOKEN, approximate_tokens

SAMPLE_TOKENS = 24_000  # LMJudge's default of `sample_tokens`


@dataclass(frozen=True)
class JudgeLoad:
    """What one language model is asked about a group.

    Attributes:
        model: Its name.
        requests: Requests for a group, if none must be repeated; of pairs the most.
        read: Tokens of one request.
        written: Tokens of one reply.
        price_read, price_written: What a million of these tokens cost, by the config.
        concurrency: Requests that are open at the same time.
    """

    model: str
    requests: int
    read: float
    written: float
    price_read: float
    price_written: float
    concurrency: int


@dataclass(frozen=True)
class Shown:
    """What a judge is shown of a group, in bytes of text.

    Attributes:
        samples: N.
        prompt: Of the prompt.
        sample: Of a sample.
        per_token: Bytes of a token of the judge.
        reply_tokens: Tokens of a reply; None for that of the JSON object alone.
    """

    samples: int
    prompt: float
    sample: float
    per_token: float
    reply_tokens: float | None = None


def loads(spec: Config | None, shown: Shown) -> list[JudgeLoad]:
    """What each language model behind a judge is asked; none behind judges that ask nobody."""
    if spec is None:
        return []
    settings = spelled_out(spec) if isinstance(spec, str) else dict(spec)
    kind = settings["judge"]
    if kind == "lm":
        return [_asked(settings, shown)]
    inner = [settings["of"]] if "of" in settings else list(settings.get("judges") or ())
    if kind == "pairwise":
        pairs = shown.samples * (shown.samples - 1) // 2
        two = Shown(2, shown.prompt, shown.sample, shown.per_token, shown.reply_tokens)
        return [_times(load, pairs) for one in inner for load in loads(one, two)]
    return [load for one in inner for load in loads(one, shown)]


def _times(load: JudgeLoad, pairs: int) -> JudgeLoad:
    return JudgeLoad(**{**vars(load), "requests": load.requests * pairs})


def _asked(settings: Mapping[str, Any], shown: Shown) -> JudgeLoad:
    prices, limits = settings.get("prices") or {}, settings.get("limits") or {}
    style = load_style(settings.get("style", "mathematics"))
    order = range(shown.samples)
    around = render(Group("", ("",) * shown.samples), style, tuple(order))
    frame = sum(len(message["content"].encode()) for message in around)
    room = settings.get("sample_tokens", SAMPLE_TOKENS) * BYTES_PER_TOKEN
    texts = frame + shown.prompt + min(shown.samples * shown.sample, room)
    numbers = ",".join(str(1 + one) for one in order)
    reply = approximate_tokens(f'{{"clusters":[{numbers}]}}')
    return JudgeLoad(
        model=str(settings.get("model")),
        requests=1,
        read=texts / shown.per_token,
        written=reply if shown.reply_tokens is None else shown.reply_tokens,
        price_read=float(prices.get("prompt", 0.0)),
        price_written=float(prices.get("reply", 0.0)),
        concurrency=int(limits.get("concurrency", 32)),
    )
