"""What a judge in a config asks a server for: requests and tokens of one group."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from setrl.judges.base import Group
from setrl.judges.config import Config, spelled_out
from setrl.judges.rendering import load_style, render
from setrl.judges.serving.usage import BYTES_PER_TOKEN

SAMPLE_TOKENS = 24_000  # LMJudge's default of `sample_tokens`


@dataclass(frozen=True)
class JudgeRequests:
    """The requests that language models get.

    Attributes:
        requests: Their number, if none is repeated; for a judge of pairs, the most.
        read: The tokens of all requests together, at `BYTES_PER_TOKEN` bytes of text each.
    """

    requests: int
    read: float


def asked(spec: Config, samples: int, prompt_bytes: float, sample_bytes: float) -> JudgeRequests:
    """Return what the language models behind a judge are asked about one group."""
    settings = spelled_out(spec) if isinstance(spec, str) else dict(spec)
    if settings["judge"] == "lm":
        return JudgeRequests(1, _tokens(settings, samples, prompt_bytes, sample_bytes))
    if "of" not in settings:
        return JudgeRequests(0, 0.0)
    times = 1
    if settings["judge"] == "pairwise":
        times, samples = samples * (samples - 1) // 2, 2
    found = asked(settings["of"], samples, prompt_bytes, sample_bytes)
    return JudgeRequests(times * found.requests, times * found.read)


def _tokens(
    settings: Mapping[str, Any], samples: int, prompt_bytes: float, sample_bytes: float
) -> float:
    style = load_style(settings.get("style", "mathematics"))
    around = render(Group.of_texts("", ("",) * samples), style, tuple(range(samples)))
    frame = sum(len(message["content"].encode()) for message in around)
    room = settings.get("sample_tokens", SAMPLE_TOKENS) * BYTES_PER_TOKEN
    return (frame + prompt_bytes + min(samples * sample_bytes, room)) / BYTES_PER_TOKEN
