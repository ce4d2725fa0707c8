"""A training loop of JAX with set credit inside `jit`: a policy that keeps several right answers.

    python recipes/jax_loop.py                      # Poly-EPO, sets of 4
    python recipes/jax_loop.py --method dr_grpo     # the same loop, another value

The policy is a table of logits over ten answers, and four answers are right. An answer is its own
strategy. The whole run is one compiled `lax.scan`; credit is computed on the host at each step.
"""

import argparse
from functools import partial

import jax
import jax.numpy as jnp

import setrl.core.jax
from setrl import methods

NUM_PROMPTS, NUM_SAMPLES, STEPS, LEARNING_RATE = 8, 16, 300, 2.0
RIGHT = jnp.array([1, 1, 1, 1, 0, 0, 0, 0, 0, 0])


def step(method, logits_C, key):
    answers_BN = jax.random.categorical(key, logits_C, shape=(NUM_PROMPTS, NUM_SAMPLES))
    rewards_BN = RIGHT[answers_BN]
    credit = setrl.core.jax.set_advantages(rewards_BN, method, strategies=answers_BN)

    def loss(logits_C):
        return -(jax.nn.log_softmax(logits_C)[answers_BN] * credit.values_BN).mean()

    return logits_C - LEARNING_RATE * jax.grad(loss)(logits_C), rewards_BN.mean()


@partial(jax.jit, static_argnums=0)
def train(method, key):
    keys = jax.random.split(key, STEPS)
    return jax.lax.scan(partial(step, method), jnp.zeros(len(RIGHT)), keys)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--method", choices=["poly_epo", "dr_grpo"], default="poly_epo")
    name = parser.parse_args().method
    method = methods.poly_epo(set_size=4) if name == "poly_epo" else methods.dr_grpo()
    logits_C, accuracy_T = train(method, jax.random.key(0))
    print(f"accuracy {accuracy_T[0]:.2f} → {accuracy_T[-1]:.2f}")
    print("chances of the right answers:", jax.nn.softmax(logits_C)[:4].round(2))


if __name__ == "__main__":
    main()
