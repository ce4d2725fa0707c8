"""Judges by name: a text such as "oracle:quadratic", or a mapping as a YAML file holds it."""

from __future__ import annotations

import inspect
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any

from setrl import domains, names
from setrl.judges import embedding, pairwise
from setrl.judges.base import Judge
from setrl.judges.ensemble import EnsembleJudge, Rule
from setrl.judges.exact import ExactJudge
from setrl.judges.lm import LMJudge
from setrl.judges.noisy import NoisyJudge
from setrl.judges.oracle import OracleJudge
from setrl.judges.policy import POLICIES
from setrl.serving.budget import Limits, Prices
from setrl.serving.judge_endpoint import Endpoint

Config = str | Mapping[str, Any]


def from_config(config: Config) -> Judge:
    """The judge that a config names; its other keys are the judge's settings.

    A text is the name, or the name and its first setting: "embedding:model".

    >>> from_config("oracle:quadratic").name
    'oracle:quadratic'
    >>> from_config({"judge": "noisy", "of": "exact", "flips": 0.2}).name
    'exact with 20% flips'

    Raises:
        ValueError: Naming the unknown judge or setting, the near miss, and all that are known.
    """
    settings = dict(spelled_out(config) if isinstance(config, str) else config)
    if "judge" not in settings:
        raise ValueError(f"a judge's config needs the key 'judge', got {settings!r}")
    name = settings.pop("judge")
    make = names.look_up("judge", name, by_name)
    return _call(f"judge {name}", make, settings)


def spelled_out(text: str) -> dict[str, Any]:
    """A text such as "exact" or "oracle:quadratic" as a mapping: the name, and its first setting.

    Raises:
        ValueError: If the judge is not known, or has no settings.
    """
    name, colon, first = text.partition(":")
    settings = inspect.signature(names.look_up("judge", name, by_name)).parameters
    if colon and not settings:
        raise ValueError(f"the judge {name} has no settings, got {text!r}")
    return {"judge": name, **({next(iter(settings)): first} if colon else {})}


def reseeded(config: Mapping[str, Any], by: int) -> dict[str, Any]:
    """The same with other seeds for language models, so that they see samples in other orders."""
    settings = dict(config)
    if settings.get("judge") == "lm":
        settings["seed"] = settings.get("seed", 0) + by
    if isinstance(settings.get("of"), Mapping):
        settings["of"] = reseeded(settings["of"], by)
    if "judges" in settings:
        settings["judges"] = [
            judge if isinstance(judge, str) else reseeded(judge, by) for judge in settings["judges"]
        ]
    return settings


def exact() -> Judge:
    """Equal final answers."""
    return ExactJudge()


def oracle(domain: str, options: Mapping[str, Any] | None = None) -> Judge:
    """A domain's own reader of strategies."""
    return OracleJudge(domains.by_name(domain, **(options or {})))


def embedding_model(model: str, threshold: float, linkage: embedding.Linkage = "average") -> Judge:
    """Near embeddings of a sentence-transformers model."""
    encode = embedding.sentence_encoder(model)
    return embedding.EmbeddingJudge(encode, threshold, linkage, name=f"embedding:{model}")


def pairs(of: Config, ask: pairwise.Ask = "representatives") -> Judge:
    """Another judge, asked about pairs of samples."""
    judge = from_config(of)
    return pairwise.PairwiseJudge(pairwise.by_judge(judge), ask, name=f"pairs by {judge.name}")


def cross_encoder(
    model: str, threshold: float = 0.5, ask: pairwise.Ask = "representatives"
) -> Judge:
    """Pairs that a sentence-transformers CrossEncoder calls the same."""
    same = pairwise.cross_encoder(model, threshold)
    return pairwise.PairwiseJudge(same, ask, name=f"cross_encoder:{model}")


def lm(
    model: str,
    endpoint: str,
    style: str = "mathematics",
    cache: str | Path | None = None,
    policy: str | Mapping[str, Any] = "skip",
    limits: Mapping[str, Any] | None = None,
    prices: Mapping[str, Any] | None = None,
    request: Mapping[str, Any] | None = None,
    seed: int = 0,
    sample_tokens: int = 24_000,
) -> Judge:
    """A language model behind an OpenAI-compatible endpoint; see `setrl.judges.LMJudge`.

    Args:
        model: Its name there.
        endpoint: Its address, up to the version: http://localhost:8000/v1.
        style: mathematics, code, free_text, compact, or the path of your own instructions.
        cache: A SQLite file of judgements.
        policy: skip, wait or stop, or {"policy": "stop", "share": 0.1}.
        limits: Settings of `Limits`: concurrency, timeout_s, attempts, max_requests, ….
        prices: Settings of `Prices`.
        request: Further settings of `Endpoint`: temperature, max_reply_tokens, ….
        seed: Of the orders in which samples are shown.
        sample_tokens: Tokens that the samples of one request may have together.
    """
    whom = _call("request", Endpoint, {"url": endpoint, "model": model, **(request or {})})
    return LMJudge(
        whom,
        style=style,
        cache=cache,
        policy=_policy(policy),
        limits=_call("limits", Limits, limits or {}),
        prices=_call("prices", Prices, prices or {}),
        seed=seed,
        sample_tokens=sample_tokens,
    )


def noisy(of: Config, flips: float, seed: int = 0) -> Judge:
    """Another judge with labels replaced at random."""
    return NoisyJudge(from_config(of), flips, seed)


def ensemble(judges: Sequence[Config], rule: Rule = "average", quorum: int | None = None) -> Judge:
    """What most of several judges say."""
    return EnsembleJudge(tuple(from_config(judge) for judge in judges), rule, quorum)


by_name: dict[str, Callable[..., Judge]] = {
    "exact": exact,
    "oracle": oracle,
    "embedding": embedding_model,
    "cross_encoder": cross_encoder,
    "pairwise": pairs,
    "lm": lm,
    "noisy": noisy,
    "ensemble": ensemble,
}


def _policy(policy: str | Mapping[str, Any]) -> Any:
    settings = {"policy": policy} if isinstance(policy, str) else dict(policy)
    name = str(settings.pop("policy", None))
    return _call(f"policy {name}", names.look_up("policy", name, POLICIES), settings)


def _call(what: str, make: Callable[..., Any], settings: Mapping[str, Any]) -> Any:
    """`make(**settings)`, with a sentence for settings that are unknown or missing."""
    parameters = inspect.signature(make).parameters
    for key in settings:
        names.look_up(f"setting of {what}", key, parameters)
    for key, parameter in parameters.items():
        if parameter.default is parameter.empty and key not in settings:
            raise ValueError(f"{what} needs the setting {key!r}")
    return make(**settings)
