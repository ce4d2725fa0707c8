"""How large a model is, counted without its weights."""

from __future__ import annotations

import dataclasses
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import torch
from transformers import AutoConfig, AutoModelForCausalLM, PreTrainedModel

from setrl.errors import ConfigError
from setrl.lm.arm import peft_config
from setrl.lm.config import ComparisonConfig
from setrl.lm.engine import EngineSpec
from setrl.models.imitation import new_model
from setrl.models.tokenizer import make_tokenizer


@dataclass(frozen=True)
class ModelSize:
    """Numbers of a model.

    Attributes:
        weights: All its weights.
        used: Those that every token is multiplied with: all but a table of embeddings that is only
            looked up. Of a mixture of experts all experts are counted.
        trained: Those that have a gradient; with an adapter, its own.
        cached: Numbers that a token leaves in the cache of keys and values.
        vocabulary: Entries of its vocabulary.
    """

    weights: int
    used: int
    trained: int
    cached: int
    vocabulary: int


def size_of(config: ComparisonConfig, sizes: Path | None = None) -> ModelSize:
    """The size of the model that a comparison trains, with its adapter.

    Args:
        config: The comparison.
        sizes: A config.json in the place of the model's, where that is not on this machine.

    Raises:
        ConfigError: If the sizes of the model cannot be read.
    """
    model = _empty_model(config, sizes)
    found = measured_size(model)
    if config.engine is not None:
        rank = EngineSpec.of(config.engine).rank
        return dataclasses.replace(found, trained=rank * _ends_of_layers(model))
    if config.peft is not None:
        return dataclasses.replace(found, trained=_adapter_weights(config, model))
    return found


def size_in(path: Path) -> ModelSize:
    """The size of the model that a config.json describes.

    Raises:
        ConfigError: If the file is none.
    """
    return measured_size(_from_sizes(path))


def measured_size(model: Any) -> ModelSize:
    """The size of a model, which may be without weights."""
    about = model.config.get_text_config()
    weights = sum(one.numel() for one in model.parameters())
    table = 0 if about.tie_word_embeddings else model.get_input_embeddings().weight.numel()
    heads = getattr(about, "num_key_value_heads", None) or about.num_attention_heads
    width = getattr(about, "head_dim", None) or about.hidden_size // about.num_attention_heads
    cached = 2 * about.num_hidden_layers * heads * width
    return ModelSize(weights, weights - table, weights, cached, about.vocab_size)


def _empty_model(config: ComparisonConfig, sizes: Path | None) -> PreTrainedModel:
    if sizes is not None:
        return _from_sizes(sizes)
    if config.model is not None:
        return _from_sizes(config.model)
    tokenizer = make_tokenizer(config.make_domain().vocabulary)
    shape = config.base_hidden_size, config.base_mlp_size, config.base_layers
    with torch.device("meta"):
        return new_model(tokenizer, *shape)


def _from_sizes(place: str | Path) -> PreTrainedModel:
    try:
        if isinstance(place, Path) and not place.exists():  # a hub would be asked for its name
            raise FileNotFoundError("there is no such file")
        about = AutoConfig.from_pretrained(place)
        with torch.device("meta"):
            model: PreTrainedModel = AutoModelForCausalLM.from_config(about)
        return model
    except (OSError, ValueError, KeyError, AttributeError, TypeError) as error:
        why = " ".join(str(error).split())[:200]
        raise ConfigError(
            f"the sizes of the model {place} cannot be read ({why}): give its config.json by "
            "--model-sizes FILE (--judge-sizes for that of a judge)"
        ) from None


def _ends_of_layers(model: PreTrainedModel) -> int:
    """Σ (inputs + outputs) over the linear layers but the last: an adapter of rank 1."""
    last = model.get_output_embeddings()
    layers = [one for one in model.modules() if isinstance(one, torch.nn.Linear)]
    return sum(one.in_features + one.out_features for one in layers if one is not last)


def _adapter_weights(config: ComparisonConfig, model: Any) -> int:
    from peft import inject_adapter_in_model

    bare = dataclasses.replace(peft_config(config), init_lora_weights=False)
    before = {name for name, _ in model.named_parameters()}
    try:
        with torch.device("meta"):
            model = inject_adapter_in_model(bare, model)
    except (ValueError, TypeError) as error:
        raise ConfigError(f"peft: {error}") from error
    added = [one for name, one in model.named_parameters() if "lora_" in name]
    return sum(one.numel() for one in added) or sum(
        one.numel() for name, one in model.named_parameters() if name not in before
    )
