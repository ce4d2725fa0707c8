"""`setrl.core.jax`: inside `jit`, `vmap`, `scan` and `grad` the numbers are those of the core."""

import re
import subprocess
import sys

import numpy as np
import pytest

import setrl
from setrl import Method, credit, methods, objectives
from tests.test_docs import DOCS

jax = pytest.importorskip("jax")
from setrl.core.jax import set_advantages  # noqa: E402

RNG = np.random.default_rng(0)
REWARDS = RNG.integers(0, 2, (3, 2, 6)).astype(np.float64)
LABELS = RNG.integers(-1, 3, (3, 2, 6))
MASK = RNG.random((3, 2, 6)) < 0.8
PAIRS = np.abs(LABELS[..., None] - LABELS[..., None, :])
METHOD = methods.poly_epo(2)
RECIPE = DOCS.parent / "recipes" / "jax_loop.py"


def core(*batch, method=METHOD, names=("strategies", "mask"), rng=None):
    """What the core gives each of the three batches, in float32."""
    found = [
        setrl.set_advantages(rewards, method, rng=rng, **dict(zip(names, fields, strict=True)))
        for rewards, *fields in zip(*batch, strict=True)
    ]
    return np.stack([one.values_BN for one in found]).astype(np.float32)


def traced(rewards, strategies, mask):
    return set_advantages(rewards, METHOD, strategies=strategies, mask=mask)


@pytest.mark.parametrize(
    "transformed",
    [
        traced,
        jax.jit(traced),
        jax.vmap(traced),
        jax.jit(jax.vmap(jax.vmap(traced))),
    ],
    ids=["eager", "jit", "vmap over batches", "vmap over prompts"],
)
def test_the_numbers_are_those_of_the_core(transformed):
    got = transformed(REWARDS, LABELS, MASK)
    np.testing.assert_array_equal(got.values_BN, core(REWARDS, LABELS, MASK))
    assert got.mean_B.shape == got.skipped_B.shape == (3, 2)
    assert got.usable_BN.dtype == bool
    np.testing.assert_array_equal(got.usable_BN, MASK)


def test_fields_that_are_not_mapped_serve_every_batch():
    got = jax.vmap(traced, in_axes=(0, None, None))(REWARDS, LABELS[0], MASK[0])
    want = core(REWARDS, [LABELS[0]] * 3, [MASK[0]] * 3)
    np.testing.assert_array_equal(got.values_BN, want)


def test_pairs_and_abstention():
    apart = Method("apart", objectives.pairwise_distance(), set_size=2)
    got = jax.jit(jax.vmap(lambda r, p: set_advantages(r, apart, pairs=p).values_BN))(
        REWARDS, PAIRS
    )
    np.testing.assert_array_equal(got, core(REWARDS, PAIRS, method=apart, names=("pairs",)))
    voting = Method("vote", objectives.majority(), set_size=2)
    answers = np.where(MASK, LABELS, np.nan)
    got = set_advantages(REWARDS, voting, answers=answers, abstain=True)
    want = setrl.set_advantages(
        REWARDS.reshape(6, 6), voting, answers=answers.reshape(6, 6), abstain=True
    )
    np.testing.assert_array_equal(got.values_BN.reshape(6, 6), want.values_BN.astype(np.float32))


def test_the_seed_may_be_traced_and_mapped():
    drawn = methods.maxpo(2, estimator=credit.Sampled(5))

    def sampled(rewards, seed):
        return set_advantages(rewards, drawn, rng=seed).values_BN

    got = jax.jit(jax.vmap(sampled))(REWARDS, np.arange(3))
    for seed in range(3):
        want = core(REWARDS[seed : seed + 1], method=drawn, names=(), rng=seed)
        np.testing.assert_array_equal(got[seed], want[0])
    bits = jax.random.bits(jax.random.key(1))
    assert jax.jit(sampled)(REWARDS[0], bits).shape == (2, 6)


def test_credit_is_a_constant_of_the_gradient():
    def loss(weight):
        return (weight * set_advantages(weight * REWARDS[0], methods.maxpo(2)).values_BN[0]).sum()

    weight = np.arange(1.0, 7.0, dtype=np.float32)
    values = set_advantages(weight * REWARDS[0], methods.maxpo(2)).values_BN[0]
    np.testing.assert_array_equal(jax.jit(jax.grad(loss))(weight), values)


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ({"strategies": LABELS[0]}, "strategies must have the shape (3, 2, 6) of rewards_BN"),
        ({}, "the objective reads strategies: pass strategies=..."),
        ({"strategy": LABELS}, "unknown argument 'strategy'; did you mean 'strategies'"),
        ({"method": methods.poly_epo(6)}, "set_size must be an integer in [1, 5]"),
        ({"method": "maxpo"}, "method must be a value such as methods.poly_epo(set_size=4)"),
        ({"rewards_BN": 1.0}, "rewards_BN must have shape (B, N), or (N,) for one prompt"),
    ],
)
def test_mistakes_are_named_while_jax_traces(arguments, message):
    rewards = arguments.pop("rewards_BN", REWARDS)
    method = arguments.pop("method", METHOD)
    with pytest.raises(ValueError, match=re.escape(message)):
        jax.make_jaxpr(lambda rewards: set_advantages(rewards, method, **arguments))(rewards)


def test_a_mistake_in_the_numbers_is_named_when_they_are_known():
    with pytest.raises(Exception, match="rewards_BN must be finite"):
        jax.jit(lambda rewards: set_advantages(rewards, methods.maxpo(2)).values_BN)(
            np.array([[np.inf, 0.0, 1.0]])
        ).block_until_ready()


def test_without_jax_the_extra_is_named():
    code = "import sys; sys.modules['jax'] = None; import setrl; import setrl.core.jax"
    ended = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True)
    assert "setrl.core.jax needs JAX: pip install" in ended.stderr.splitlines()[-1]


@pytest.mark.parametrize(("method", "keeps_all"), [("poly_epo", True), ("dr_grpo", False)])
def test_the_loop_of_the_recipe_trains(method, keeps_all):
    namespace = {"__name__": "recipe"}
    exec(compile(RECIPE.read_text(), str(RECIPE), "exec"), namespace)
    namespace["STEPS"] = 100
    value = METHOD if keeps_all else getattr(methods, method)()
    logits_C, accuracy_T = namespace["train"](value, jax.random.key(0))
    assert accuracy_T[-1] > 0.9 > 0.5 > accuracy_T[0]
    chances = np.asarray(jax.nn.softmax(logits_C)[:4])
    assert (chances.min() > 0.2) == keeps_all
