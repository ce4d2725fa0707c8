"""Poly-PPO on an environment of your own in forty lines: two doors, and the nearer one tempts.

python recipes/jax_poly_ppo.py
"""

from functools import partial
from types import SimpleNamespace
from typing import NamedTuple

import jax
import jax.numpy as jnp

from setrl import methods
from setrl.control import VineChoices
from setrl.control.jax import ActorCritic, JaxPolyPPO, PPOOptions


class Corridor(NamedTuple):  # a state: any pytree of arrays
    place: jax.Array


class Doors:
    """Walk left or right from the middle: a door at −2 and a door at 5, both worth 1."""

    num_actions, max_steps = 2, 30

    def reset(self, key):
        return Corridor(jnp.int32(0))

    def step(self, key, state, action):
        place = state.place + 2 * action - 1
        ended = (place == -2) | (place == 5)
        return Corridor(place), ended.astype(jnp.float32), ended

    def observe(self, state):
        return jax.nn.one_hot(state.place + 2, 8)


def label(state):  # which door: an integer, −1 for none
    return jnp.where(state.place == -2, 0, jnp.where(state.place == 5, 1, -1))


def train(credit, steps=60_000, seeds=4):
    """Return the share of episodes that end at each door, for each seed."""
    env = Doors()
    task = SimpleNamespace(env=env, label=label)
    vines = VineChoices(num_vines=8, num_states=1, window=None, credit=credit)
    options = PPOOptions(num_trajectories=64, learning_rate=3e-3, batch_size=256, n_epochs=4)
    model = JaxPolyPPO(task, ActorCritic(2, (32,)), options, methods.poly_epo(4), vines)
    training = jax.vmap(model.init)(jax.random.split(jax.random.key(0), seeds))
    update = jax.jit(jax.vmap(model.update))
    while training.steps.min() < steps:
        training, _ = update(training)
    for seed in range(seeds):
        params = jax.tree.map(partial(jnp.take, indices=seed, axis=0), training.params)
        ends = label(model.player(params).play_resets(1000, seed=seed).ends)
        yield [round(float((ends == door).mean()), 2) for door in (0, 1)]


if __name__ == "__main__":
    for credit in ("gae", "marginal"):
        print(credit, *train(credit))
