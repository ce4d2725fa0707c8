"""How large a model is, counted without its weights."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import torch
from transformers import AutoConfig, AutoModelForCausalLM, PreTrainedModel

from setrl.support.errors import ConfigError
from setrl.tasks.models.imitation import new_model
from setrl.tasks.models.tokenizer import make_tokenizer
from setrl.train.lm.adapter import peft_config, with_adapter
from setrl.train.lm.resolved import ResolvedConfig


@dataclass(frozen=True)
class ModelSize:
    """The size of a model.

    Attributes:
        weights: The number of weights.
        trained: The number of weights with a gradient; with an adapter, only the weights
            of the adapter.
    """

    weights: int
    trained: int


def size_of(resolved: ResolvedConfig) -> ModelSize:
    """Return the size of the model that a comparison trains, with its adapter.

    Raises:
        ConfigError: If the shape of the model cannot be read.
    """
    model, options = _empty_model(resolved), resolved.config.peft
    weights = sum(one.numel() for one in model.parameters())
    if resolved.engine is not None:
        return ModelSize(weights, resolved.engine.rank * _ends_of_layers(model))
    if options is not None:
        return ModelSize(weights, _adapter_weights(options, model))
    return ModelSize(weights, weights)


def _empty_model(resolved: ResolvedConfig) -> PreTrainedModel:
    if resolved.base is None:
        return _without_weights(str(resolved.config.model))
    tokenizer = make_tokenizer(resolved.base.author.vocabulary)
    with torch.device("meta"):
        return new_model(tokenizer, *resolved.base.sizes)


def _without_weights(name: str) -> PreTrainedModel:
    try:
        about = AutoConfig.from_pretrained(name)
        with torch.device("meta"):
            model: PreTrainedModel = AutoModelForCausalLM.from_config(about)
        return model
    except (OSError, ValueError, KeyError, AttributeError, TypeError) as error:
        why = " ".join(str(error).split())[:200]
        raise ConfigError(f"the config.json of the model {name} cannot be read: {why}") from None


def _ends_of_layers(model: PreTrainedModel) -> int:
    """Return Σ (inputs + outputs) over all linear layers but the last: an adapter of rank 1."""
    last = model.get_output_embeddings()
    layers = [one for one in model.modules() if isinstance(one, torch.nn.Linear)]
    return sum(one.in_features + one.out_features for one in layers if one is not last)


def _adapter_weights(options: Mapping[str, Any], model: Any) -> int:
    before = {name for name, _ in model.named_parameters()}
    model = with_adapter(peft_config(options), model)
    added = [one for name, one in model.named_parameters() if "lora_" in name]
    return sum(one.numel() for one in added) or sum(
        one.numel() for name, one in model.named_parameters() if name not in before
    )
