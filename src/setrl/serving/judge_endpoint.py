"""Whom a judge asks, and how the server is told which form the answer must have."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from setrl.judges.rendering import NO_CLUSTER, Message

RUNGS = (
    "json_schema",
    "json_object",
    "plain",
)  # the strictest first; all servers take the last


@dataclass(frozen=True)
class Endpoint:
    """A model behind an OpenAI-compatible server.

    Attributes:
        url: Up to the version: "http://localhost:8000/v1".
        model: The model's name there. Cached judgements go by it, not by the url, so give models
            names of their own.
        temperature: 0 for the most probable answer.
        max_reply_tokens: Length of a reply, thoughts included. Structured output can wander
            through white space, so leave it some room.
        api_key_variable: The environment variable that holds the key, if the server wants one.
        extra_body: Further keys of the request, for instance
            {"chat_template_kwargs": {"enable_thinking": False}}; None takes a key out.
    """

    url: str
    model: str
    temperature: float = 0.0
    max_reply_tokens: int = 4096
    api_key_variable: str = "OPENAI_API_KEY"
    extra_body: Mapping[str, Any] = field(default_factory=dict)

    def __post_init__(self) -> None:
        if not self.url.startswith(("http://", "https://")):
            raise ValueError(f"url must begin with http:// or https://, got {self.url!r}")

    def body(self, messages: Sequence[Message]) -> dict[str, Any]:
        """What is asked, whichever way the answer is constrained."""
        body = {
            "model": self.model,
            "messages": list(messages),
            "temperature": self.temperature,
            "max_tokens": self.max_reply_tokens,
            **self.extra_body,
        }
        return {key: value for key, value in body.items() if value is not None}


def response_format(rung: int, num_samples: int) -> dict[str, Any]:
    """The key of the request by which a server constrains the reply; {} on the lowest rung."""
    number = {"type": "integer", "minimum": NO_CLUSTER, "maximum": num_samples}
    numbers = {"type": "array", "items": number, "minItems": num_samples, "maxItems": num_samples}
    schema = {
        "type": "object",
        "properties": {"clusters": numbers},
        "required": ["clusters"],
        "additionalProperties": False,
    }
    if RUNGS[rung] == "plain":
        return {}
    if RUNGS[rung] == "json_object":
        return {"response_format": {"type": "json_object"}}
    named = {"name": "clusters", "schema": schema, "strict": True}
    return {"response_format": {"type": "json_schema", "json_schema": named}}
