"""Fields of samples that the policy gives instead of functions and columns."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import torch
from torch import Tensor

from setrl.train.trl.importance import trained_tokens

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
        logprobs = _known(output)
        if logprobs is None:
            logprobs = _computed(trainer, output)
        total = torch.where(mask, logprobs.double(), 0.0).sum(1)
        return total / mask.sum(1)  # 0/0 is NaN, which is unknown


def _known(output: dict[str, Any]) -> Tensor | None:
    """Return the log-probabilities that TRL knows from vLLM or for several updates of a batch."""
    sampled = output.get("sampling_per_token_logps")
    return output.get("old_per_token_logps") if sampled is None else sampled


def _computed(trainer: Any, output: dict[str, Any]) -> Tensor:
    """Compute the log-probability of each token of the samples, (samples, tokens)."""
    ids = torch.cat([output["prompt_ids"], output["completion_ids"]], 1)
    mask = torch.cat([output["prompt_mask"], output["completion_mask"]], 1)
    others = {key: output[key] for key in MODALITIES if key in output}
    with torch.no_grad():
        found = trainer._get_per_token_logps_and_entropies(
            trainer.model,
            ids,
            mask,
            output["completion_ids"].shape[1],
            batch_size=trainer.args.per_device_train_batch_size,  # TRL 1.14 takes it by name only
            **others,
        )
    return found[0]
