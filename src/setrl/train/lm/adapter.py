"""The key `peft`: an adapter that is trained instead of all weights."""

from __future__ import annotations

import dataclasses
from collections.abc import Mapping
from typing import Any

import torch
from transformers import AutoModelForCausalLM

from setrl.models.folder import is_adapter, trusts_code
from setrl.models.local import load_config
from setrl.support.errors import ConfigError
from setrl.support.installing import install


def peft_config(options: Mapping[str, Any] | None) -> Any:
    """Return PEFT's LoraConfig with these options; None without them.

    Raises:
        ConfigError: If PEFT is not installed, or refuses an option.
    """
    if options is None:
        return None
    try:
        from peft import LoraConfig
    except ImportError:
        raise ConfigError(f"peft needs the package: {install('peft')}") from None
    try:
        return LoraConfig(**{"task_type": "CAUSAL_LM", **options})
    except (ValueError, TypeError) as error:
        raise ConfigError(f"peft: {error}") from error


def check_adapter(options: Mapping[str, Any] | None, model: str | None) -> None:
    """Refuse an adapter that does not fit the model; the model is made without its weights.

    Raises:
        ConfigError: If the adapter does not fit; the message is PEFT's.
    """
    adapter = peft_config(options)
    if adapter is None or model is None or is_adapter(model):
        return
    try:
        with torch.device("meta"):
            empty = AutoModelForCausalLM.from_config(
                load_config(model), trust_remote_code=trusts_code()
            )
    except ValueError:  # of another kind, which TRL loads by its own class
        return
    from peft import inject_adapter_in_model

    bare = dataclasses.replace(adapter, init_lora_weights=False)  # others need the weights
    try:
        with torch.device("meta"):
            inject_adapter_in_model(bare, empty)
    except (ValueError, TypeError) as error:
        raise ConfigError(f"peft: {error}") from error
