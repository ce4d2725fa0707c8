"""PPO's update from padded trajectories: minibatches hold only steps that were taken."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import jax
import jax.numpy as jnp
import optax

from setrl.control.jax.advantages import normalised
from setrl.control.jax.networks import ActorCritic, Params
from setrl.control.jax.rollouts import entropies, log_prob
from setrl.control.options import Anchor, PPOArguments
from setrl.control.steps import CreditedSteps

ADAM_EPSILON = 1e-5  # Stable-Baselines3's
MOST_INDEX_BITS = 16  # of 31: at least 15 random bits are left
CHUNK = 256  # a gradient takes so many steps at once: their layers fit into a core's cache
Metrics = dict[str, jax.Array]


@dataclass(frozen=True, kw_only=True)
class PPOOptions(PPOArguments):
    """PPO's arguments, under Stable-Baselines3's names.

    Attributes:
        num_trajectories: Trajectories of an update, which grow side by side: with vines, the vines,
            and without vines whole episodes.
        batch_size: Most steps of a minibatch; None: one minibatch. With a memory, a minibatch has
            batch_size // sequence_length pieces, at least one; the last piece of a trajectory may
            be shorter.
        n_epochs: Passes over the steps of an update.
        learning_rate: Step size of Adam.
        gamma: Discount γ.
        gae_lambda: λ of GAE.
        clip_range: ε of the clipped surrogate.
        normalize_advantage: As in PPO; set advantages are scaled once for the update.
        ent_coef: Weight of the entropy bonus.
        vf_coef: Weight of the critic's loss.
        max_grad_norm: Largest norm of the gradient.
        kl_coef: Weight of KL(anchor ‖ π).
        kl_anchor: "behaviour", the policy that sampled the steps, or "start". Both read the
            memories of the policy that sampled the steps.
        sequence_length: Steps through which gradients of a memory flow back.
    """

    num_trajectories: int = 128
    kl_coef: float = 0.0
    kl_anchor: Anchor = "behaviour"
    sequence_length: int = 16

    @property
    def optimizer(self) -> optax.GradientTransformation:
        """Adam, after the gradient's norm is cut."""
        adam = optax.adam(self.learning_rate, eps=ADAM_EPSILON)
        return optax.chain(optax.clip_by_global_norm(self.max_grad_norm), adam)


def pieces_of(parts: Sequence[CreditedSteps], length: int) -> CreditedSteps:
    """Cut trajectories into P pieces of L steps, (P, L); the last of each may be shorter.

    `memories` are those before the first step of each piece.
    """

    def cut(column: jax.Array) -> jax.Array:
        count, width, *axes = column.shape
        padded = jnp.pad(column, [(0, -count % length), (0, 0), *[(0, 0)] * len(axes)])
        pieces = padded.reshape(len(padded) // length, length, width, *axes)
        return jnp.moveaxis(pieces, 2, 0).reshape(width * len(pieces), length, *axes)

    pieces = [jax.tree.map(cut, part) for part in parts]
    joined = jax.tree.map(lambda *columns: jnp.concatenate(columns), *pieces)
    return joined._replace(memories=joined.memories[:, 0])


def learn(
    policy: ActorCritic,
    options: PPOOptions,
    params: Params,
    optimizer_state: Any,
    pieces: CreditedSteps,
    anchor: Params | None,
    key: jax.Array,
) -> tuple[Params, Any, Metrics]:
    """Pass `n_epochs` times over the usable pieces in minibatches; return means of the metrics.

    As in Stable-Baselines3, the means are over all minibatches; the mean of `approx_kl` is over the
    minibatches of the last epoch, and `loss` is the last minibatch's.
    """
    is_usable = pieces.usable.any(axis=1)
    count, length = pieces.usable.shape
    size = count if options.batch_size is None else max(1, options.batch_size // length)
    size = min(size, count)
    num_batches = -(-is_usable.sum() // size)
    optimizer = options.optimizer

    def minibatch(index: jax.Array, carry: tuple[Any, ...]) -> tuple[Any, ...]:
        order, params, state, sums = carry
        chosen = jax.lax.dynamic_slice(order, (index * size,), (size,))
        gradient, metrics = minibatch_gradient(params, policy, options, pieces, chosen, anchor)
        updates, state = optimizer.update(gradient, state, params)
        return (
            order,
            optax.apply_updates(params, updates),
            state,
            jax.tree.map(jnp.add, sums, metrics) | {LAST: metrics[LAST]},
        )

    def epoch(carry: tuple[Any, ...], key: jax.Array) -> tuple[tuple[Any, ...], None]:
        order = jnp.pad(shuffled(is_usable, key), (0, size), constant_values=count)
        params, state, sums = carry
        sums = {**sums, OF_LAST_EPOCH: jnp.zeros_like(sums[OF_LAST_EPOCH])}
        return jax.lax.fori_loop(0, num_batches, minibatch, (order, params, state, sums))[1:], None

    first = (params, optimizer_state, _no_metrics())
    (params, optimizer_state, sums), _ = jax.lax.scan(
        epoch, first, jax.random.split(key, options.n_epochs)
    )
    total = jnp.maximum(num_batches * options.n_epochs, 1)
    means = {name: sums[name] / total for name in MEASURED}
    means |= {LAST: sums[LAST], OF_LAST_EPOCH: sums[OF_LAST_EPOCH] / jnp.maximum(num_batches, 1)}
    return params, optimizer_state, {f"train/{name}": value for name, value in means.items()}


def shuffled(is_usable: jax.Array, key: jax.Array) -> jax.Array:
    """Return the indices of usable pieces in random order; P for each of the others, at the end.

    One sort of whole numbers, random bits above and the index below, is five times as fast as
    `argsort` of random numbers. Equal random bits leave two pieces in order: one pair in 2³¹/P.
    With more than 2¹⁶ pieces too few random bits would be left, and the next minibatches would
    come from neighbouring trajectories: then all random bits are sorted, and carry the indices.
    """
    count = len(is_usable)
    num_bits = (count - 1).bit_length()
    random, index = jax.random.bits(key, (count,)), jnp.arange(count, dtype=jnp.uint32)
    last = jnp.where(is_usable, jnp.uint32(0), jnp.uint32(1 << 31))
    if num_bits > MOST_INDEX_BITS:
        ranked, index = jax.lax.sort((last | random >> 1, index), num_keys=1)
    else:
        ranked = jnp.sort(last | random >> (num_bits + 1) << num_bits | index)
        index = ranked & ((1 << num_bits) - 1)
    return jnp.where(ranked >> 31 == 0, index.astype(jnp.int32), count)


def minibatch_gradient(
    params: Params,
    policy: ActorCritic,
    options: PPOOptions,
    pieces: CreditedSteps,
    chosen: jax.Array,
    anchor: Params | None,
) -> tuple[Params, Metrics]:
    """Return the gradient of the loss of the chosen pieces, and metrics; P chooses nothing.

    It sums over chunks, and stops at the last chosen piece: a minibatch that is almost empty costs
    almost nothing.
    """
    count, length = pieces.usable.shape
    size = min(len(chosen), max(1, CHUNK // length))
    chosen = jnp.pad(chosen, (0, -len(chosen) % size), constant_values=count)
    batch = jax.tree.map(lambda column: column[jnp.minimum(chosen, count - 1)], pieces)
    batch = _zero_unusable(batch._replace(usable=batch.usable & (chosen < count)[:, None]))
    if options.normalize_advantage:
        scaled = normalised(batch.advantages, batch.from_sets, batch.usable)
        batch = batch._replace(advantages=scaled)
    weight = 1.0 / jnp.maximum(batch.usable.sum(), 1)

    def add(index: jax.Array, sums: Any) -> Any:
        part = jax.tree.map(
            lambda column: jax.lax.dynamic_slice_in_dim(column, index * size, size), batch
        )
        chunk_sums = jax.grad(_loss_of_chunk, has_aux=True)(
            params, policy, options, part, weight, anchor
        )
        return jax.tree.map(jnp.add, sums, chunk_sums)

    first = (jax.tree.map(jnp.zeros_like, params), _no_metrics())
    return jax.lax.fori_loop(0, -(-(chosen < count).sum() // size), add, first)


def _zero_unusable(batch: CreditedSteps) -> CreditedSteps:
    """Return a batch with zeros where steps are not usable: 0 · NaN would be in the gradient."""
    usable = batch.usable
    columns = {
        name: jnp.where(usable.reshape(*usable.shape, *[1] * (column.ndim - 2)), column, 0)
        for name, column in batch._asdict().items()
        if name not in ("usable", "memories")
    }
    memories = jnp.where(usable.any(axis=1)[:, None], batch.memories, 0.0)
    return batch._replace(**columns, memories=memories)


LAST, OF_LAST_EPOCH = "loss", "approx_kl"
MEASURED = (
    *("loss", "policy_gradient_loss", "value_loss", "entropy_loss", "clip_fraction", "approx_kl"),
    "kl_penalty",
)


def _no_metrics() -> Metrics:
    return dict.fromkeys(MEASURED, jnp.float32(0.0))


def _loss_of_chunk(
    params: Params,
    policy: ActorCritic,
    options: PPOOptions,
    batch: CreditedSteps,
    weight: jax.Array,
    anchor: Params | None,
) -> tuple[jax.Array, Metrics]:
    """Clipped surrogate + ent_coef·(−H) + vf_coef·value loss + kl_coef·KL, as weighted sums."""

    def mean(terms: jax.Array) -> jax.Array:
        return weight * jnp.sum(jnp.where(batch.usable, terms, 0.0))

    logits, values = _logits_and_values(policy, params, batch)
    log_ratio = jnp.where(batch.usable, log_prob(logits, batch.actions) - batch.log_probs, 0.0)
    ratio = jnp.exp(log_ratio)
    clipped = jnp.clip(ratio, 1 - options.clip_range, 1 + options.clip_range)
    surrogate = -mean(jnp.minimum(batch.advantages * ratio, batch.advantages * clipped))
    error = mean((values - batch.returns) ** 2)
    disorder = -mean(entropies(logits))
    loss = surrogate + options.ent_coef * disorder + options.vf_coef * error
    penalty = jnp.float32(0.0)
    if options.kl_coef:
        target = batch.logits if anchor is None else _logits_and_values(policy, anchor, batch)[0]
        penalty = mean(_kl_divergence(jax.lax.stop_gradient(target), logits))
        loss = loss + options.kl_coef * penalty
    beyond = jnp.abs(ratio - 1) > options.clip_range
    moved = mean(ratio - 1 - log_ratio)
    measured = (loss, surrogate, error, disorder, mean(beyond), moved, penalty)
    return loss, dict(zip(MEASURED, measured, strict=True))


def _logits_and_values(
    policy: ActorCritic, params: Params, batch: CreditedSteps
) -> tuple[jax.Array, jax.Array]:
    """Return logits (P, L, A) and values (P, L) along pieces."""
    if policy.gru is None:
        _, logits, values = policy(params, batch.memories, batch.observations)
        return logits, values
    logits, values = policy.unroll(params, batch.memories, jnp.moveaxis(batch.observations, 1, 0))
    return jnp.moveaxis(logits, 0, 1), values.T


def _kl_divergence(target: jax.Array, current: jax.Array) -> jax.Array:
    """Σₐ π₁(a)·(log π₁(a) − log π₂(a)), in nats."""
    first, second = jax.nn.log_softmax(target), jax.nn.log_softmax(current)
    return (jnp.exp(first) * (first - second)).sum(axis=-1)
