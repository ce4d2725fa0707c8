"""How trainers call their estimators, so that an estimator of theirs can be audited.

A trainer is data: for each argument, how it is made from groups of samples, and how advantages are
read back. `trainer_shape` makes the shape that an audit calls.
"""

from __future__ import annotations

import inspect
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from types import SimpleNamespace
from typing import Any

import numpy as np
from typing_extensions import override

from setrl.samples.samples import Samples
from setrl.support.names import look_up
from setrl.theory.audit.calling import Shape

GivenField = Callable[[np.ndarray, np.ndarray], Any]


class TrainerSettings(dict[str, Any]):
    """Options that an estimator reads as `settings.gamma`, `settings["gamma"]` or with `get`.

    Attributes:
        used: The names that were read.
    """

    used: set[str]

    def __init__(self, *given: Any, **named: Any) -> None:
        super().__init__(*given, **named)
        object.__setattr__(self, "used", set())

    @override
    def __getitem__(self, name: str) -> Any:
        self.used.add(name)
        return super().__getitem__(name)

    @override
    def get(self, name: str, default: Any = None) -> Any:
        self.used.add(name)
        return super().get(name, default)

    def __getattr__(self, name: str) -> Any:
        try:
            return self[name]
        except KeyError:
            raise AttributeError(
                f"no setting {name!r}; given: {', '.join(self) or 'none'}"
            ) from None


@dataclass(frozen=True)
class TrainerCall:
    """What a trainer has when it calls an estimator.

    Attributes:
        samples: B groups of N samples: their rewards, strategies (from 0) and tokens.
        log_probs_BN: The mean of the log-probabilities of each sample's tokens.
        settings: Options of the estimator.
        group_M: The group of each sample, if rows of groups are not one after the other.
    """

    samples: Samples
    log_probs_BN: np.ndarray
    settings: TrainerSettings
    group_M: np.ndarray | None = None

    @classmethod
    def of(
        cls,
        rewards_BN: np.ndarray,
        labels_BN: np.ndarray,
        fields: Mapping[str, GivenField],
        settings: TrainerSettings,
    ) -> TrainerCall:
        """Return the call for these rewards and labels; tokens are 1 each, unless given."""
        defaults = {"length": 1.0, "log_prob": -1.0}
        tokens_BN, log_probs_BN = (
            np.asarray(fields[name](rewards_BN, labels_BN), float)
            if name in fields
            else np.full(rewards_BN.shape, number)
            for name, number in defaults.items()
        )
        samples = Samples(rewards_BN, labels_BN, tokens=tokens_BN.astype(int))
        return cls(samples, log_probs_BN, settings)

    @property
    def mask_MT(self) -> np.ndarray:
        """1 for each token of a sample; the others are padding."""
        tokens_M = self.samples.tokens.ravel()
        return (np.arange(tokens_M.max()) < tokens_M[:, None]).astype(np.int64)

    def in_order(self, order_M: np.ndarray) -> TrainerCall:
        """Return the call with the rows of all groups in another order."""

        def moved(column_BN: np.ndarray) -> np.ndarray:
            return column_BN.ravel()[order_M].reshape(column_BN.shape)

        before = self.samples
        rewards_BN, labels_BN, tokens_BN, log_probs_BN = map(
            moved, (before.rewards, before.strategies, before.tokens, self.log_probs_BN)
        )
        samples, group_M = Samples(rewards_BN, labels_BN, tokens=tokens_BN), groups_M(self)[order_M]
        return TrainerCall(samples, log_probs_BN, self.settings, group_M)


@dataclass(frozen=True)
class Trainer:
    """How one library calls its estimators.

    Attributes:
        name: What commands and tables call it.
        seam: The place where a user's function enters.
        arguments: Name → how the argument is made. A function gets those that it takes.
        read: (what the function returned, its arguments) → one advantage for each sample.
        known_by: Parameters that only functions for this trainer have.
        settings: Options that the trainer always passes.
        dtype: The numbers in which it computes: exact fits allow for the rounding of float32.
        takes_batches: Whether it passes several groups at once.
    """

    name: str
    seam: str
    arguments: Mapping[str, Callable[[TrainerCall], Any]]
    read: Callable[[Any, Mapping[str, Any]], Any]
    known_by: frozenset[str]
    settings: Mapping[str, Any] = field(default_factory=dict)
    dtype: str = "float32"
    takes_batches: bool = True


def _tensor(values: Any) -> Any:
    import torch

    # It shares memory: what a function edits in its argument is edited in the caller's array.
    return torch.as_tensor(values)


def _rewards_M(batch: TrainerCall) -> Any:
    return _tensor(batch.samples.rewards.reshape(-1))


def token_rewards(batch: TrainerCall) -> Any:
    """Put the reward of a sample on its last token, as trainers do; of shape (B·N, T)."""
    mask_MT = batch.mask_MT
    if mask_MT.shape[1] == 1:
        return _tensor(batch.samples.rewards.reshape(-1, 1))
    rewards_MT = np.zeros(mask_MT.shape)
    rewards_MT[np.arange(len(mask_MT)), mask_MT.sum(-1) - 1] = batch.samples.rewards.ravel()
    return _tensor(rewards_MT)


def token_mask(batch: TrainerCall) -> Any:
    """Return 1 for each token of each sample, and 0 for padding, of shape (B·N, T)."""
    return _tensor(batch.mask_MT)


def _token_log_probs(batch: TrainerCall) -> Any:
    return _tensor(batch.log_probs_BN.reshape(-1, 1) * batch.mask_MT)


def groups_M(batch: TrainerCall) -> np.ndarray:
    """Return the group of each row, from 0, of shape (B·N,)."""
    if batch.group_M is not None:
        return batch.group_M
    return np.repeat(np.arange(len(batch.samples.rewards)), batch.samples.num_samples)


def _names_M(batch: TrainerCall) -> np.ndarray:
    return np.array([f"prompt {group}" for group in groups_M(batch)], dtype=object)


def _settings(batch: TrainerCall) -> TrainerSettings:
    return batch.settings


def _make_members(batch: TrainerCall, **of_samples: Sequence[Any]) -> list[SimpleNamespace]:
    """Return an object for each sample, with its reward, its group and further attributes."""
    columns = {"reward": batch.samples.rewards.ravel().tolist(), "group": groups_M(batch).tolist()}
    rows = zip(*(columns | of_samples).values(), strict=True)
    return [SimpleNamespace(**dict(zip(columns | of_samples, row, strict=True))) for row in rows]


def _make_episodes(batch: TrainerCall) -> list[SimpleNamespace]:
    """Return episodes of one trace of one node each, as prime-rl's algorithms score them."""
    lengths = batch.mask_MT.sum(-1).tolist()
    traces = _make_members(batch, num_output_tokens=lengths, num_total_tokens=lengths)
    for trace, length in zip(traces, lengths, strict=True):
        node = SimpleNamespace(mask=[True] * length, token_ids=[0] * length, advantages=None)
        vars(trace).update(
            nodes=[node], has_error=False, num_turns=1, id=f"trace of group {trace.group}",
            agent=SimpleNamespace(trainable=True, name="policy"),
        )  # fmt: skip
    return [SimpleNamespace(id=trace.group, traces=[trace]) for trace in traces]


def _make_exps(batch: TrainerCall) -> list[SimpleNamespace]:
    """Return what Trinity-RFT's advantage functions write advantages into."""
    masks = list(token_mask(batch))
    log_probs = list(_token_log_probs(batch))
    members = _make_members(batch, action_mask=masks, logprobs=log_probs)
    for member in members:
        vars(member).update(advantages=0.0, returns=None)  # 0 stays if the sample is left out
        member.eid = SimpleNamespace(tid=member.group, task=member.group)
    return members


def _make_sample_objects(batch: TrainerCall) -> list[SimpleNamespace]:
    samples = _make_members(batch)
    for sample in samples:
        sample.get_reward_value = lambda _args, value=sample.reward: value
    return samples


def _make_trajectory_groups(batch: TrainerCall) -> list[SimpleNamespace]:
    rows = batch.samples.rewards.tolist()
    return [SimpleNamespace(get_total_rewards=lambda row=row: row) for row in rows]


def _reduce_to_samples(values: Any, masks: Any = None) -> np.ndarray:
    """Return one number for each sample from one for each of its tokens, which must be equal."""
    array = _to_numpy(values)
    if array.ndim == 1:
        return array
    rows = (
        array
        if masks is None
        else [row[mask] for row, mask in zip(array, _to_numpy(masks) > 0, strict=True)]
    )
    if any(np.ptp(row) > 1e-9 for row in rows):
        raise ValueError(
            "the advantages of one sample differ between its tokens; an audit reads one number "
            "for each sample"
        )
    return np.array([row[0] for row in rows])


def _to_numpy(values: Any) -> np.ndarray:
    return np.asarray(values.detach().cpu() if hasattr(values, "detach") else values, float)


def _read_tokens(result: Any, arguments: Mapping[str, Any]) -> np.ndarray:
    """Read (advantages, returns) or advantages: one for each token, or for each sample."""
    advantages = result[0] if isinstance(result, tuple) else result
    return _reduce_to_samples(advantages, arguments.get("response_mask", arguments.get("mask")))


def _read_groups(result: Any, _arguments: Mapping[str, Any]) -> np.ndarray:
    groups = result[0] if isinstance(result, tuple) else result
    return np.concatenate([np.asarray(group, float) for group in groups])


def _read_rewards(result: Any, _arguments: Mapping[str, Any]) -> np.ndarray:
    return np.asarray(result[1], float)  # (raw rewards, what takes the place of the rewards)


def _read_episodes(_result: Any, arguments: Mapping[str, Any]) -> np.ndarray:
    nodes = (episode.traces[0].nodes[0] for episode in arguments["episodes"])
    return np.concatenate([_reduce_to_samples([node.advantages or [0.0]]) for node in nodes])


def _read_experiences(_result: Any, arguments: Mapping[str, Any]) -> np.ndarray:
    rows = ((np.broadcast_to(_to_numpy(exp.advantages), exp.action_mask.shape), exp.action_mask)
            for exp in arguments["exps"])  # fmt: skip
    return np.concatenate([_reduce_to_samples(values[None], mask[None]) for values, mask in rows])


_VERL: Mapping[str, Callable[[TrainerCall], Any]] = {
    "token_level_rewards": token_rewards,
    "response_mask": token_mask,
    "index": _names_M,
    "config": _settings,
    "old_log_probs": _token_log_probs,
}

NAMES_GROUPS = frozenset({"index", "prompt_ids", "exps"})  # arguments that name rows' groups

TRAINERS: Mapping[str, Trainer] = {
    trainer.name: trainer
    for trainer in (
        Trainer("verl", "verl, verl-recipe, EasyR1: `register_adv_est`", _VERL, _read_tokens,
              frozenset({"token_level_rewards", "response_mask"}), {"gamma": 1.0}),
        Trainer("skyrl", "SkyRL: `AdvantageEstimatorRegistry.register`", _VERL, _read_tokens,
              frozenset({"token_level_rewards", "response_mask", "grpo_norm_by_std"}),
              {"gamma": 1.0, "lambd": 1.0, "grpo_norm_by_std": True}),
        Trainer("trl", "TRL's trainers, ms-swift: rewards of M samples and F functions",
              {"rewards_per_func": lambda batch: _rewards_M(batch)[:, None],
               "reward_weights": lambda batch: _tensor(np.ones(1)),
               "num_generations": lambda batch: batch.samples.num_samples},
              _read_tokens, frozenset({"rewards_per_func", "num_generations"})),
        Trainer("rllm", "rLLM: `register_rllm_adv_estimator`",
              {"rewards": lambda batch: list(batch.samples.rewards), "algorithm_config": _settings},
              _read_groups, frozenset({"rewards", "algorithm_config"}),
                {"norm_adv_by_std_in_grpo": True}, "float64"),
        Trainer("nemo_rl", "NeMo-RL: `compute_advantage` of an advantage estimator",
              {"prompt_ids": lambda batch: _tensor(groups_M(batch)[:, None]),
               "rewards": _rewards_M, "mask": token_mask},
              _read_tokens, frozenset({"prompt_ids", "rewards", "mask"})),
        Trainer("prime_rl", "prime-rl: `score_group` of an algorithm", {"episodes": _make_episodes},
              _read_episodes, frozenset({"episodes"}), takes_batches=False),
        Trainer("trinity", "Trinity-RFT: `process` of a group advantage", {"exps": _make_exps},
              _read_experiences, frozenset({"exps"})),
        Trainer("slime", "slime, Miles: `--custom-reward-post-process-path`",
              {"args": _settings, "samples": _make_sample_objects}, _read_rewards,
              frozenset({"samples"})),
        Trainer("tinker_cookbook", "tinker-cookbook: `compute_advantages`",
              {"trajectory_groups_P": _make_trajectory_groups}, _read_groups,
              frozenset({"trajectory_groups_P"})),
        Trainer("flat", "a list of the rewards of all samples, group after group",
              {"rewards": lambda batch: batch.samples.rewards.ravel().tolist(),
               "group_size": lambda batch: batch.samples.num_samples},
              _read_tokens, frozenset({"rewards", "group_size"}), dtype="float64"),
    )
}  # fmt: skip
"""Name → the trainer."""


def trainer_of(function: Callable[..., Any]) -> Trainer | None:
    """Return the trainer whose parameters a function has, or None.

    >>> def loop(token_level_rewards, response_mask, index, config=None): ...
    >>> trainer_of(loop).name
    'verl'
    """
    parameters = _read_parameters(function).keys()
    trainers = [trainer for trainer in TRAINERS.values() if trainer.known_by <= parameters]
    return max(trainers, key=lambda trainer: len(trainer.known_by), default=None)


def trainer_shape(
    function: Callable[..., Any],
    trainer: str | Trainer | None = None,
    fields: Mapping[str, GivenField] | None = None,
    **settings: Any,
) -> Shape:
    """Return the shape in which a trainer calls this function, for `audit` and `estimator`.

    >>> def centred(rewards, group_size):
    ...     return [reward - sum(rewards) / group_size for reward in rewards]
    >>> shape = trainer_shape(centred)
    >>> shape.call(centred, np.array([[1.0, 0.0, 0.0, 1.0]]), np.zeros((1, 4), int))
    array([[ 0.5, -0.5, -0.5,  0.5]])

    Args:
        function: The estimator; a method of an object is one, too.
        trainer: A name of `TRAINERS`, or your own trainer; by the parameters if None.
        fields: Numbers of each sample that the trainer passes with the rewards, "length" in tokens
            and "log_prob": {"length": lambda rewards, labels: 1 + 2 * labels}.
        settings: Options, such as `norm_adv_by_std_in_grpo=False`. They go to the parameters of
            their name, and into the config that the trainer passes.

    Raises:
        ValueError: If the name is unknown, the function has the parameters of no trainer, or the
            trainer does not pass an argument that the function needs.
    """
    owner = look_up("trainer", trainer, TRAINERS) if isinstance(trainer, str) else trainer
    owner = owner or trainer_of(function)
    if owner is None:
        signatures = "; ".join(
            f"{known.name}: {', '.join(sorted(known.known_by))}" for known in TRAINERS.values()
        )
        raise ValueError(
            f"{_name(function)} has the parameters of no trainer. Known trainers, with their "
            f"parameters: {signatures}"
        )
    options = TrainerSettings({**owner.settings, **settings})
    _check_arguments(function, owner, options)

    extra = fields or {}

    def call(function: Any, rewards_BN: np.ndarray, labels_BN: np.ndarray) -> np.ndarray:
        return _call_trainer(function, owner, TrainerCall.of(rewards_BN, labels_BN, extra, options))

    def mixed(function: Any, rewards_BN: np.ndarray, labels_BN: np.ndarray) -> np.ndarray:
        batch = TrainerCall.of(rewards_BN, labels_BN, extra, options)
        order_M = np.random.default_rng(0).permutation(rewards_BN.size)
        values_M = np.empty(rewards_BN.size)
        values_M[order_M] = _call_trainer(function, owner, batch.in_order(order_M)).ravel()
        return values_M.reshape(rewards_BN.shape)

    def unread() -> list[str]:
        return [
            name for name in settings if name not in {*_read_parameters(function), *options.used}
        ]

    mixes = mixed if NAMES_GROUPS & owner.arguments.keys() else None
    name = f"{owner.name} calls it"
    return Shape(name, call, bool(fields), owner.takes_batches, unread, mixes)


def known_shape(function: Any) -> Shape | None:
    """Return the shape of the trainer whose parameters a function has, None for other values."""
    return trainer_shape(function) if callable(function) and trainer_of(function) else None


def _check_arguments(function: Any, trainer: Trainer, settings: TrainerSettings) -> None:
    named = (inspect.Parameter.POSITIONAL_OR_KEYWORD, inspect.Parameter.KEYWORD_ONLY)
    needed = [name for name, parameter in _read_parameters(function).items()
              if parameter.default is parameter.empty and parameter.kind in named]  # fmt: skip
    missing = [name for name in needed if name not in {*trainer.arguments, *settings}]
    if missing:
        raise ValueError(
            f"{_name(function)} needs {', '.join(missing)}, which {trainer.name} does not pass: "
            "give a setting of this name"
        )


def _call_trainer(function: Any, trainer: Trainer, batch: TrainerCall) -> np.ndarray:
    """Return the advantages, (B, N); what the function edits is edited in the caller's array."""
    given_BN = batch.samples.rewards
    rewards_BN = given_BN.astype(trainer.dtype)
    passed = replace(batch, samples=replace(batch.samples, rewards=rewards_BN))
    arguments = _make_arguments(function, trainer, passed)
    advantages = np.asarray(trainer.read(_finish_coroutine(function(**arguments)), arguments))
    if not np.array_equal(rewards_BN, given_BN.astype(trainer.dtype), equal_nan=True):
        given_BN[...] = rewards_BN
    if advantages.size != rewards_BN.size:
        raise ValueError(f"{advantages.size} advantages for {rewards_BN.size} samples")
    return advantages.reshape(rewards_BN.shape).astype(trainer.dtype)


def _make_arguments(function: Any, trainer: Trainer, batch: TrainerCall) -> dict[str, Any]:
    """Return what a function takes of the trainer's arguments, and of the settings."""
    params = _read_parameters(function)
    takes_all = any(parameter.kind is parameter.VAR_KEYWORD for parameter in params.values())
    of_trainer = {name: make(batch) for name, make in trainer.arguments.items()
                  if takes_all or name in params}  # fmt: skip
    return of_trainer | {name: value for name, value in batch.settings.items() if name in params}


def _read_parameters(function: Any) -> Mapping[str, inspect.Parameter]:
    try:
        return inspect.signature(function).parameters
    except (TypeError, ValueError):  # a function in C has none
        return {}


def _name(function: Any) -> str:
    return str(getattr(function, "__qualname__", function))


def _finish_coroutine(result: Any) -> Any:
    """Return what a coroutine returns that waits for nothing; other results unchanged."""
    if not inspect.iscoroutine(result):
        return result
    try:
        result.send(None)
    except StopIteration as done:
        return done.value
    result.close()
    raise ValueError("the function waits for something; an audit calls it without an event loop")
