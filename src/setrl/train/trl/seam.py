"""The seam between set credit and a trainer of TRL, checked when the trainer is made.

Set credit extends private methods of TRL, which any release and any library that patches TRL may
change. Version numbers say little about that. So the class must have the methods, with the
arguments that set credit passes; and the trainer scores two made-up samples of each process, whose
rewards are known. What comes out says whether rewards of all processes are gathered, whether the
trainer makes its advantages where set credit replaces them, and whether it logs them.
"""

from __future__ import annotations

import copy
import inspect
import warnings
from collections import ChainMap
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from typing import Any

import numpy as np
import torch
import trl
from packaging.version import Version
from trl import RLOOConfig

from setrl.rewards import Truncation
from setrl.support.errors import ConfigError
from setrl.train.gathering.gather import Sources

FIRST, LAST = "1.9.2", "1.16.0"  # `make trl-matrix` tests these and two between them
NEEDED = {
    "_generate": ("prompts",),
    "_calculate_rewards": ("inputs", "prompts", "completions", "completion_ids_list"),
    "_generate_and_score_completions": ("inputs",),
}
EACH = 2  # made-up samples of a process
NEEDS_TRITON = "1.15.0"  # its log-probabilities, which the other versions also make without Triton

ScoreFunction = Callable[[list[dict[str, Any]]], dict[str, Any]]


def missing_method(classes: Sequence[type]) -> str | None:
    """Return in words which method is missing or has other arguments; None if all fit.

    Args:
        classes: The class of the trainer and those it inherits from, in their order.
    """
    methods: ChainMap[str, Any] = ChainMap(*(dict(vars(base)) for base in classes))
    for name, arguments in NEEDED.items():
        expected = f"{name}({', '.join(arguments)})"
        if name not in methods:
            return f"{classes[0].__name__} has no method {expected}"
        signature = inspect.signature(methods[name])
        try:
            signature.bind(None, *arguments)
        except TypeError:
            return f"{classes[0].__name__} has {name}{signature} instead of {expected}"
    return None


def check_seam(trainer: Any, classes: Sequence[type], score: ScoreFunction) -> None:
    """Let a new trainer score made-up samples, and refuse it if the scores are not where they were.

    Args:
        trainer: A trainer with set credit, before it trains.
        classes: The class of the trainer without set credit and those it inherits from.
        score: Its `_generate_and_score_completions`.

    Raises:
        ConfigError: If a method is missing, or the samples were not scored as set credit needs it;
            also for the one version of TRL that trains only on GPUs, on a CPU.

    Warns:
        UserWarning: If set credit was not tested with this version of TRL, or if the trial failed
            with an error of a trainer that changes a version that was tested.
    """
    device = trainer.accelerator.device.type
    if trl.__version__ == NEEDS_TRITON and device in ("cpu", "mps"):
        raise ConfigError(
            f"TRL {NEEDS_TRITON} does not train on the device {device}, because its "
            f"log-probabilities need Triton: install another version, such as trl=={LAST}"
        )
    is_tested = Version(FIRST) <= Version(trl.__version__) <= Version(LAST)
    fault = missing_method(classes)
    if fault is None:
        try:
            fault = _find_scoring_fault(trainer, score)
        except Exception as error:
            fault = f"{classes[0].__name__} cannot score made-up samples ({error!r})"
            if is_tested:  # what cannot be tried may still work; `compute_loss` checks it again
                warnings.warn(f"{fault}: set credit was not checked before training", stacklevel=4)
                return
    if fault is not None:
        raise ConfigError(
            f"set credit does not fit this trainer of TRL {trl.__version__}: {fault}; it was "
            f"tested with TRL {FIRST} to {LAST}"
        )
    if not is_tested:
        warnings.warn(
            f"set credit was tested with TRL {FIRST} to {LAST}, and this is {trl.__version__}: "
            "what it needs of TRL was tried with made-up samples, and fits",
            stacklevel=4,
        )


def _find_scoring_fault(trainer: Any, score: ScoreFunction) -> str | None:
    """ScoreFunction made-up samples; return in words what is not as it must be."""
    total = EACH * trainer.accelerator.num_processes
    with _use_made_up_samples(trainer):
        advantages = score([{"prompt": "1"} for _ in range(EACH)]).get("advantages")
        samples = trainer._generation.samples
        logged = trainer._logs["advantages"]
    if samples is None:
        return "its rewards do not come from `_calculate_rewards`"
    rewards = samples.components.ravel().tolist()
    if len(rewards) != total or rewards != sorted(rewards):  # a subclass may scale them
        return f"`_calculate_rewards` must give the {total} rewards in order, and gave {rewards}"
    values: Any = advantages.tolist() if torch.is_tensor(advantages) else advantages
    if np.shape(values) != (EACH,):
        return f"the key 'advantages' must hold {EACH} numbers, and holds {values}"
    if not values[0] < 0 < values[1]:
        return f"a worse and a better sample must have advantages around 0, and have {values}"
    if len(logged) != total:
        return f"it must log {total} advantages, and logs {len(logged)}"
    return None


@contextmanager
def _use_made_up_samples(trainer: Any) -> Iterator[None]:
    """Replace, inside the block, all that samples, calls functions of the user, or keeps numbers.

    The model stays idle: it may be large, sharded, or not on its device yet.
    """
    before, tokens_seen = dict(trainer.__dict__), trainer.state.num_input_tokens_seen
    absent = ("rollout_func", "tools", "environments", "environment_factories")
    trainer.__dict__.update(
        dict.fromkeys(absent),
        sources=Sources(),
        truncated=Truncation(),
        reward_funcs=[_make_numbering_reward(trainer)],
        reward_func_names=["made_up"],
        reward_processing_classes=[None],
        reward_weights=torch.ones(1),
        scale_rewards="none",
        multi_objective_aggregation="sum_then_normalize",
        num_generations=EACH,
        num_generations_eval=EACH,
        beta=0.0,
        use_vllm=False,
        mask_truncated_completions=False,
        _metrics=copy.deepcopy(trainer._metrics),
        _logs=copy.deepcopy(trainer._logs),
        _generate_single_turn=_make_generation(trainer),
        _get_per_token_logps_and_entropies=_no_logprobs,
    )
    try:
        yield
    finally:
        trainer.__dict__.clear()
        trainer.__dict__ |= before
        trainer.state.num_input_tokens_seen = tokens_seen


def _make_numbering_reward(trainer: Any) -> Callable[..., list[float]]:
    """Return a reward function that numbers the samples of all processes from 0."""
    first = float(EACH * trainer.accelerator.process_index)
    return lambda completions, **_: [first + place for place in range(len(completions))]


def _make_generation(trainer: Any) -> Callable[..., Any]:
    """Return a generation of one token for each prompt, as TRL returns it."""
    token, is_rloo = trainer._tokenizer.pad_token_id, isinstance(trainer.args, RLOOConfig)

    def samples(prompt_ids: list[Any], *_: Any, **__: Any) -> Any:
        ids = [[token] for _ in prompt_ids]
        return ids if is_rloo else (ids, None)

    return samples


def _no_logprobs(
    model: Any, ids: Any, mask: Any, kept: int, *_: Any, **__: Any
) -> tuple[Any, None, None]:
    return torch.zeros(len(ids), kept, device=ids.device), None, None
