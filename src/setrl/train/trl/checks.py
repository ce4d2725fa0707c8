"""Whether a method can be trained with the arguments of a trainer of TRL."""

from __future__ import annotations

import warnings
from collections.abc import Collection, Sequence
from typing import Literal

from trl import GRPOConfig, RLOOConfig

from setrl import AnyMethod
from setrl.rewards import Combine, Truncation
from setrl.train.gathering.checks import check_method
from setrl.train.scoring.batch import STRATEGIES

PENALTY = "repetition_penalty"
NARROWING = {"top_p": 1.0, "top_k": 0, "min_p": None, PENALTY: 1.0}


def check_arguments(
    method: AnyMethod,
    given: Collection[str],
    args: GRPOConfig,
    has_sampler: bool,
) -> None:
    """Refuse, before anything is sampled, what a method cannot be trained with."""
    check_method(method, args.num_generations or 0, "num_generations", given)
    for name in given:
        if name not in (STRATEGIES, *method.reads):
            warnings.warn(
                f"fields[{name!r}] has no effect: {method.name} does not read it", stacklevel=3
            )
    if isinstance(args, RLOOConfig):
        _check_rloo(args, has_sampler)
    _warn_of_no_effect(method, args)
    _warn_of_narrow_sampling(args, has_sampler)


def check_combine(combine: Combine, names: Sequence[str], args: GRPOConfig | None = None) -> None:
    """Refuse `reward_weights` besides `combine`, and a wrong number of weights."""
    if args is not None and args.reward_weights is not None:
        raise ValueError("pass reward_weights or combine, not both: combine has weights")
    if len(combine.weights) != len(names):
        raise ValueError(
            f"combine needs one weight for each reward, {len(names)} ({', '.join(names)}), got "
            f"{len(combine.weights)}"
        )


def normalization(combine: Combine | None, args: GRPOConfig) -> Literal["group"] | None:
    """Decide by TRL's argument whether each reward is normalised in its group before the sum.

    `normalize_then_sum` divides the sums by their standard deviation over the batch, too, to make
    advantages of them; here the method makes the advantages, and has its own scale.
    """
    if getattr(args, "multi_objective_aggregation", None) != "normalize_then_sum":
        return None
    if combine is not None:
        raise ValueError(
            "pass multi_objective_aggregation='normalize_then_sum' or combine, not both: "
            "Combine(weights, normalize='group', missing='skip') is the same"
        )
    return "group"


def truncation(truncated: Truncation | None, args: GRPOConfig) -> Truncation:
    """Decide what cut samples count, by our argument and by TRL's argument.

    TRL's mask takes cut samples only out of the loss: their rewards would still change the
    advantages of the others. Here they leave the sets too.
    """
    if not isinstance(truncated, Truncation | None):
        raise ValueError(
            f"truncated must be a value such as rewards.Truncation('mask'), got {truncated!r}"
        )
    if truncated is None:
        return Truncation("mask" if args.mask_truncated_completions else "count")
    if args.mask_truncated_completions and truncated.policy != "mask":
        raise ValueError(
            f"mask_truncated_completions=True and truncated={truncated!r} contradict each other: "
            "pass one of them"
        )
    return truncated


def _check_rloo(args: RLOOConfig, has_sampler: bool) -> None:
    """Refuse arguments of RLOO that change rewards or advantages: a method replaces them."""
    if args.beta != 0:
        raise ValueError(
            f"RLOO puts its KL penalty into the rewards, which a method does not see: set beta=0.0 "
            f"or train with GRPO, got beta={args.beta}"
        )
    for name, off in {"normalize_advantages": False, "reward_clip_range": None}.items():
        if getattr(args, name) != off:
            raise ValueError(
                f"{name} has no effect on the advantages of a method: set {name}={off}, got "
                f"{getattr(args, name)!r}"
            )
    if has_sampler:
        raise ValueError("RLOO takes no sampler: train with GRPO")


def _warn_of_no_effect(method: AnyMethod, args: GRPOConfig) -> None:
    """Warn of a scale that was set and changes nothing."""
    scale = getattr(args, "scale_rewards", None)
    if scale == "batch" or (scale == "none" and method.scale is not None):
        warnings.warn(
            f"scale_rewards={scale!r} has no effect on training: the method decides, and "
            f"{method.name} has scale={method.scale!r}",
            stacklevel=4,
        )


def _warn_of_narrow_sampling(args: GRPOConfig, has_sampler: bool) -> None:
    """Warn that samples come from another policy than the trained one, or would without a sampler.

    With top_p, top_k or min_p only the most likely tokens are drawn, with π(y)/m, where m is their
    mass, and the loss treats them as samples of π. The ratio of the two policies is then m, which
    is never above 1, and the other tokens can never be drawn.
    """
    chosen = {name: getattr(args, name, default) for name, default in NARROWING.items()}
    narrow = {name: value for name, value in chosen.items() if value not in (NARROWING[name], None)}
    if has_sampler:
        for name, value in narrow.items():
            warnings.warn(
                f"{name}={value!r} has no effect: the sampler draws from all tokens", stacklevel=4
            )
    elif drawn := [f"{name}={value!r}" for name, value in narrow.items() if name != PENALTY]:
        warnings.warn(
            f"{', '.join(drawn)}: samples are drawn from a part of the tokens and trained on as "
            "samples of the whole policy, so ratios and gradients are biased; use top_p=1.0, "
            "top_k=0 and no min_p in training",
            stacklevel=4,
        )
