"""How a model sees a prompt, the same in training and in evaluation."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from setrl.samples.conversation import Conversation, Text
from setrl.support.errors import ConfigError

if TYPE_CHECKING:
    from transformers import PreTrainedTokenizerBase


@dataclass(frozen=True)
class PromptForm:
    """A prompt as plain text, or as a user's message in the chat template of the model.

    Attributes:
        system: The system message before it.
        chat: Whether it is a user's message; None: if the model has a chat template.
        options: Further arguments of the chat template, such as {enable_thinking: false}.
    """

    system: str | None = None
    chat: bool | None = None
    options: Mapping[str, Any] = field(default_factory=dict)

    def is_chat(self, tokenizer: PreTrainedTokenizerBase) -> bool:
        """Whether this model gets messages.

        Raises:
            ConfigError: If messages are wanted, but the model has no chat template.
        """
        has_template = tokenizer.chat_template is not None
        if self.chat and not has_template:
            raise ConfigError(
                "chat: true needs a chat template, and the tokenizer of the model has none: take "
                "an instruction-tuned model, or set chat: false"
            )
        is_chat = has_template if self.chat is None else self.chat
        if self.system is not None and not is_chat:
            why = "chat is false" if has_template else "the model has no chat template"
            raise ConfigError(
                f"system needs messages, and {why}: write the text into the template of `prompt`"
            )
        return is_chat

    def prompt(self, text: str, is_chat: bool) -> Text:
        """Return the prompt as TRL's trainer takes it: text, or messages.

        Raises:
            ConfigError: If a prompt of several turns meets a model without messages, or has a
                system message next to `system`.
        """
        turns = text.messages if isinstance(text, Conversation) else None
        if not is_chat:
            if turns:
                raise ConfigError("prompts of several turns need a model with a chat template")
            return text
        system = [] if self.system is None else [{"role": "system", "content": self.system}]
        if turns and system and turns[0]["role"] == "system":
            raise ConfigError("a prompt has a system message already: leave out task.system")
        return [*system, *(turns or [{"role": "user", "content": text}])]

    def token_ids(self, text: str, tokenizer: PreTrainedTokenizerBase) -> list[int]:
        """Return the tokens that the model reads; TRL's trainer makes the same."""
        prompt = self.prompt(text, self.is_chat(tokenizer))
        if isinstance(prompt, str):
            return list(tokenizer(prompt)["input_ids"])
        encoding: Any = tokenizer.apply_chat_template(
            prompt, tokenize=True, return_dict=True, add_generation_prompt=True, **self.options
        )
        return list(encoding["input_ids"])
