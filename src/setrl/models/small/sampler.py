"""Sample many texts per prompt: a compact sampler for small Qwen3 models, `generate` for others.

The compact sampler reads each prompt once, whatever the number of samples, and drops samples that
have ended; see `setrl.models.small.decoder`. It samples the same distribution as `generate`.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING, Any

import torch
from torch import Tensor

from setrl.models.small.decoder import CompactDecoder, pad_left

if TYPE_CHECKING:
    from transformers import PreTrainedModel, PreTrainedTokenizerBase

ROWS = 1024  # samples at once: more would not fit into one core's cache


def sample(
    model: PreTrainedModel,
    tokenizer: PreTrainedTokenizerBase,
    prompts: Sequence[str],
    n: int,
    max_new_tokens: int,
    temperature: float = 1.0,
    seed: int = 0,
) -> list[list[str]]:
    """Sample `n` texts for each prompt; the same seed gives the same texts.

    Args:
        model: A causal language model.
        tokenizer: Its tokenizer.
        prompts: The texts to continue.
        n: Samples per prompt, at least 1.
        max_new_tokens: The length, in tokens, at which a sample is cut.
        temperature: Divides the logits; 0 takes the most probable token.
        seed: Seeds a separate generator; the global generator is not used.
    """
    prompt_ids = [tokenizer(prompt, add_special_tokens=False)["input_ids"] for prompt in prompts]
    generator = torch.Generator(device=model.device).manual_seed(seed)
    groups = sample_ids(model, prompt_ids, n, max_new_tokens, temperature, generator)
    return [tokenizer.batch_decode(group, skip_special_tokens=True) for group in groups]


def sample_ids(
    model: PreTrainedModel,
    prompt_ids: Sequence[Sequence[int]],
    n: int,
    max_new_tokens: int,
    temperature: float,
    generator: torch.Generator,
) -> list[list[list[int]]]:
    """Sample as `sample` does, in token ids; a finished sample keeps its end-of-sequence token."""
    if n < 1 or max_new_tokens < 1 or temperature < 0:
        raise ValueError(
            "n and max_new_tokens must be at least 1 and temperature at least 0, "
            f"got {n}, {max_new_tokens} and {temperature}"
        )
    sample_some = _sample_compactly if is_compact(model) else _sample_by_generate
    groups: list[list[list[int]]] = []
    with torch.inference_mode():
        for some_prompts, count in _split_into_calls(prompt_ids, n):
            drawn = sample_some(model, some_prompts, count, max_new_tokens, temperature, generator)
            if count < n and groups and len(groups[-1]) < n:
                groups[-1].extend(drawn[0])
            else:
                groups.extend(drawn)
    return groups


def _split_into_calls(
    prompt_ids: Sequence[Sequence[int]], n: int
) -> Iterator[tuple[Sequence[Sequence[int]], int]]:
    """Yield prompts with the number of their samples in one call: whole groups, or parts of one."""
    at_once = ROWS // n
    if at_once:
        for start in range(0, len(prompt_ids), at_once):
            yield prompt_ids[start : start + at_once], n
        return
    for prompt in prompt_ids:
        for start in range(0, n, ROWS):
            yield [prompt], min(ROWS, n - start)


def is_compact(model: PreTrainedModel) -> bool:
    """Return whether the compact sampler can compute this model."""
    config = model.config
    return (
        type(model).__name__ == "Qwen3ForCausalLM"
        and model.device.type == "cpu"
        and model.dtype == torch.float32
        and not config.attention_bias
        and config.hidden_act == "silu"
        and config.rope_parameters["rope_type"] == "default"
        and set(config.layer_types) == {"full_attention"}
    )


def _sample_compactly(
    model: PreTrainedModel,
    prompt_ids: Sequence[Sequence[int]],
    n: int,
    max_new_tokens: int,
    temperature: float,
    generator: torch.Generator,
) -> list[list[list[int]]]:
    ends = _list_end_ids(model)
    decoder = CompactDecoder(model)
    logits = decoder.read(prompt_ids, max_new_tokens).repeat_interleave(n, 0)
    decoder.select(torch.arange(len(prompt_ids)).repeat_interleave(n))
    tokens_RT = torch.full((len(prompt_ids) * n, max_new_tokens), -1)
    row = torch.arange(len(tokens_RT))  # the sample that each row of the cache belongs to
    for position in range(max_new_tokens):
        token = _draw_tokens(logits, temperature, generator)
        tokens_RT[row, position] = token
        going = ~torch.isin(token, ends)
        if position + 1 == max_new_tokens or not going.any():
            break
        if going.sum() < 0.8 * len(going):
            rows = going.nonzero()[:, 0]
            decoder.select(rows)
            row, token = row[rows], token[rows]
        logits = decoder.step(token)
    return _cut_after_end(tokens_RT, ends, n)


def _draw_tokens(logits: Tensor, temperature: float, generator: torch.Generator) -> Tensor:
    """Draw one token per row ~ softmax(logits / temperature): the first of exponential clocks.

    argmax pᵢ/eᵢ with eᵢ ~ Exp(1) is distributed as p.
    """
    if temperature == 0:
        return logits.argmax(-1)
    probabilities = (logits / temperature).softmax(-1)
    clocks = torch.empty_like(probabilities).exponential_(generator=generator)
    return (probabilities / clocks).argmax(-1)


def _cut_after_end(tokens_RT: Tensor, ends: Tensor, n: int) -> list[list[list[int]]]:
    """Cut token lists after their first end token, in groups of `n`."""
    is_end = torch.isin(tokens_RT, ends)
    length = torch.where(is_end.any(1), is_end.int().argmax(1) + 1, tokens_RT.shape[1])
    rows = [row[:stop] for row, stop in zip(tokens_RT.tolist(), length.tolist(), strict=True)]
    return [rows[start : start + n] for start in range(0, len(rows), n)]


def end_ids(*configs: Any) -> list[int]:
    """Return the tokens that end a sample, by the first config that names some."""
    values = (config.eos_token_id for config in configs if config is not None)
    ends: Any = next((value for value in values if value is not None), [])
    return [ends] if isinstance(ends, int) else list(ends)


def _list_end_ids(model: PreTrainedModel) -> Tensor:
    return torch.tensor(end_ids(model.generation_config, model.config), dtype=torch.long)


def _sample_by_generate(
    model: PreTrainedModel,
    prompt_ids: Sequence[Sequence[int]],
    n: int,
    max_new_tokens: int,
    temperature: float,
    generator: torch.Generator,
) -> list[list[list[int]]]:
    ends = _list_end_ids(model)
    ids, mask = (padded.repeat_interleave(n, 0) for padded in pad_left(prompt_ids))
    pad = model.generation_config.pad_token_id
    how = {"temperature": temperature, "top_k": 0, "top_p": 1.0} if temperature else {}
    devices = [model.device] if model.device.type != "cpu" else []
    # `generate` uses the global generator: seed it from ours, and restore it afterwards.
    with torch.random.fork_rng(devices=devices):
        torch.manual_seed(int(torch.randint(2**62, (1,), generator=generator, device=model.device)))
        tokens: Tensor = model.generate(  # type: ignore[operator]
            ids.to(model.device),
            attention_mask=mask.to(model.device),
            do_sample=temperature > 0,
            max_new_tokens=max_new_tokens,
            pad_token_id=pad if pad is not None else int(ends[0]),
            **how,
        )
    return _cut_after_end(tokens[:, ids.shape[1] :].cpu(), ends, n)
