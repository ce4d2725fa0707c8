"""What the policy says of samples: a field for methods, and ratios to the policy that drew them."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import torch
from accelerate import Accelerator
from torch import Tensor

MODALITIES = (
    "pixel_values",
    "image_grid_thw",
    "num_images",
    "pixel_attention_mask",
    "spatial_shapes",
    "num_tiles",
    "image_sizes",
    "token_type_ids",
    "mm_token_type_ids",
    "image_position_ids",
)  # what TRL passes to a model besides tokens


def ratio_metrics(output: dict[str, Any], accelerator: Accelerator) -> dict[str, float]:
    """Measure how far samples are from the trained policy, over the tokens of all processes.

    With ρ = π(token)/π_sampled(token), from TRL's correction for vLLM or from a rollout function
    that gives log-probabilities:

        sampling/log_ratio_std    the standard deviation of log ρ
        sampling/masked           the share of tokens whose ratio TRL has set to 0
        sampling/masked_credit    the same share, each token weighted by |advantage|

    Args:
        output: What TRL's `_generate_and_score_completions` returns, with the method's advantages.
        accelerator: The accelerator of the trainer.

    Returns:
        The metrics; empty if the log-probabilities of the sampled policy are not known.
    """
    sampled, trained = output.get("sampling_per_token_logps"), output.get("old_per_token_logps")
    if sampled is None or trained is None:
        return {}
    log_ratio = trained.double() - sampled.double()
    used = trained_tokens(output) & log_ratio.isfinite()
    credit = output["advantages"].double().abs()[:, None].expand_as(log_ratio)
    ratio = output.get("importance_sampling_ratio")
    masked = used & (torch.zeros_like(used) if ratio is None else ratio.expand_as(used) == 0)
    logs = log_ratio[used]
    sums = [used.sum(), logs.sum(), (logs**2).sum(), masked.sum()]
    sums += [credit[masked].sum(), credit[used].sum()]
    reduced = accelerator.reduce(torch.stack([part.double() for part in sums]), reduction="sum")
    count, total, squares, masks, masked_credit, all_credit = reduced.tolist()
    if count == 0:
        return {}
    variance = max(squares / count - (total / count) ** 2, 0.0)
    return {
        "sampling/log_ratio_std": variance**0.5,
        "sampling/masked": masks / count,
        "sampling/masked_credit": masked_credit / all_credit if all_credit else float("nan"),
    }


def trained_tokens(output: dict[str, Any]) -> Tensor:
    """Return which tokens the model wrote itself, (samples, tokens)."""
    mask = output["completion_mask"].bool()
    return mask & output["tool_mask"].bool() if "tool_mask" in output else mask


def mask_samples(output: dict[str, Any], rows: Tensor, accelerator: Accelerator) -> None:
    """Take samples out of the loss: mask their tokens, and count them no longer.

    Args:
        output: What TRL returns; its mask and its number of tokens are replaced.
        rows: Which samples of this process leave, (samples,) bool.
        accelerator: The accelerator of the trainer.
    """
    keep = ~rows.to(output["completion_mask"].device)[:, None]
    output["completion_mask"] = output["completion_mask"] * keep
    trained = trained_tokens(output).sum()
    output["num_items_in_batch"] = accelerator.gather(trained).sum()


@dataclass(frozen=True)
class MeanLogprob:
    """The mean log-probability of a sample's tokens under the policy, as the field `proxy`.

    `methods.ucpo` and `methods.unlikeliness` read it. It costs a forward pass, unless TRL knows the
    log-probabilities already. A sample whose tokens are all masked is left out.
    """

    def values(self, trainer: Any, output: dict[str, Any]) -> Tensor:
        """Return one number for each sample of this process, (samples,) float64.

        Args:
            trainer: A trainer of TRL.
            output: What its `_generate_and_score_completions` returns.
        """
        mask = trained_tokens(output)
        logprobs = _find_logprobs(output)
        if logprobs is None:
            logprobs = _compute_logprobs(trainer, output)
        total = torch.where(mask, logprobs.double(), 0.0).sum(1)
        return total / mask.sum(1)  # 0/0 is NaN, which is unknown


def _find_logprobs(output: dict[str, Any]) -> Tensor | None:
    """Return the log-probabilities that TRL knows from vLLM or for several updates of a batch."""
    sampled = output.get("sampling_per_token_logps")
    return output.get("old_per_token_logps") if sampled is None else sampled


def _compute_logprobs(trainer: Any, output: dict[str, Any]) -> Tensor:
    """Compute the log-probability of each token of the samples, (samples, tokens)."""
    ids = torch.cat([output["prompt_ids"], output["completion_ids"]], 1)
    mask = torch.cat([output["prompt_mask"], output["completion_mask"]], 1)
    inputs = {key: output[key] for key in MODALITIES if key in output}
    with torch.no_grad():
        outputs = trainer._get_per_token_logps_and_entropies(
            trainer.model,
            ids,
            mask,
            output["completion_ids"].shape[1],
            batch_size=trainer.args.per_device_train_batch_size,  # TRL 1.14 takes it by name only
            **inputs,
        )
    return outputs[0]
