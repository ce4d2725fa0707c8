"""Arrays of any library: the bits of NumPy's, in the same kind of array, or a sentence."""

import re
import subprocess
import sys

import numpy as np
import pytest

from setrl import grouped_advantages, mean_set_scores, methods, objectives, set_advantages
from setrl.samples.arrays import like, to_numpy

RNG = np.random.default_rng(0)
REWARDS = RNG.integers(0, 3, (4, 7)) / 2  # exact in every format of numbers
LABELS = RNG.integers(0, 4, (4, 7))
GROUPS = np.repeat(np.arange(4), 7)
MASK = RNG.random((4, 7)) < 0.9
METHOD = methods.poly_epo(3)
ARRAYS = ("values_BN", "with_BN", "without_BN", "mean_B", "usable_BN", "skipped_B")


def library(name):
    """A function from NumPy's arrays to the library's."""
    if name == "strict":
        return pytest.importorskip("array_api_strict").asarray
    if name == "strict, on a device":
        strict = pytest.importorskip("array_api_strict")
        return lambda array: strict.asarray(array, device=strict.Device("device1"))
    if name == "torch":
        return pytest.importorskip("torch").tensor
    return pytest.importorskip("jax").numpy.asarray


LIBRARIES = ["strict", "strict, on a device", "torch", "jax"]


def assert_same(got, want):
    """The same numbers to the bit; JAX has rounded them to float32."""
    found = to_numpy(got)
    np.testing.assert_array_equal(found, want.astype(found.dtype))
    assert found.dtype == want.dtype or "jax" in type(got).__module__


@pytest.mark.parametrize("name", LIBRARIES)
def test_set_advantages_gives_the_kind_that_it_got(name):
    of = library(name)
    want = set_advantages(REWARDS, METHOD, strategies=LABELS, mask=MASK)
    rewards = of(REWARDS)
    got = set_advantages(rewards, METHOD, strategies=of(LABELS), mask=of(MASK))
    for part in ARRAYS:
        assert type(getattr(got, part)) is type(rewards)
        assert_same(getattr(got, part), getattr(want, part))
    assert getattr(got.values_BN, "device", None) == getattr(rewards, "device", None)


@pytest.mark.parametrize("name", LIBRARIES)
def test_the_other_doors_give_the_kind_that_they_got(name):
    of = library(name)
    rewards, strategies = REWARDS.ravel(), LABELS.ravel()
    got = grouped_advantages(of(rewards), of(GROUPS), METHOD, strategies=of(strategies))
    assert_same(got, grouped_advantages(rewards, GROUPS, METHOD, strategies=strategies))
    got = mean_set_scores(of(REWARDS), objectives.max(), [1, 3])
    assert_same(got, mean_set_scores(REWARDS, objectives.max(), [1, 3]))


@pytest.mark.parametrize("dtype", ["bfloat16", "float16", "float32"])
def test_jax_numbers_of_every_precision_are_taken(dtype):
    jax = pytest.importorskip("jax")

    rewards = jax.numpy.asarray(REWARDS, dtype=dtype)
    assert_same(
        set_advantages(rewards, METHOD, strategies=LABELS).values_BN,
        set_advantages(REWARDS, METHOD, strategies=LABELS).values_BN,
    )


SHARDED = """
import jax, numpy as np
jax.config.update("jax_enable_x64", True)
jax.config.update("jax_num_cpu_devices", 2)
from jax.sharding import NamedSharding, PartitionSpec
from setrl import methods, set_advantages
rewards = np.array([[0.1, 0.7, 0.2], [0.3, 0.3, 0.9]])
spread = NamedSharding(jax.make_mesh((2,), ("prompts",)), PartitionSpec("prompts", None))
got = set_advantages(jax.device_put(rewards, spread), methods.maxpo(2))
want = set_advantages(rewards, methods.maxpo(2))
assert got.mean_B.dtype == np.float64, got.mean_B.dtype
np.testing.assert_array_equal(got.values_BN, want.values_BN)
np.testing.assert_array_equal(got.mean_B, want.mean_B)
"""


def test_jax_in_float64_on_two_devices():
    pytest.importorskip("jax")
    ended = subprocess.run([sys.executable, "-c", SHARDED], capture_output=True, text=True)
    assert ended.returncode == 0, ended.stderr


def test_a_device_without_float64_gets_float32(monkeypatch):
    torch = pytest.importorskip("torch")
    from array_api_compat import torch as namespace

    whole = namespace.asarray

    def asarray(array, **options):
        if array.dtype == np.float64:
            raise TypeError("Cannot convert a MPS Tensor to float64 dtype")
        return whole(array, **options)

    monkeypatch.setattr(namespace, "asarray", asarray)
    assert like(np.ones(2), torch.zeros(1)).dtype == torch.float32


class Cupy:
    """Stands for an array of CuPy, which NumPy must not convert by itself."""

    def __init__(self, array):
        self.array = array

    def __array__(self, *_, **__):
        raise TypeError("Implicit conversion to a NumPy array is not allowed.")

    def get(self):
        return self.array


def test_arrays_of_cupy_are_copied_by_their_own_way(monkeypatch):
    for name in ("is_cupy_array", "is_array_api_obj"):
        monkeypatch.setattr(f"array_api_compat.{name}", lambda array: isinstance(array, Cupy))
    np.testing.assert_array_equal(to_numpy(Cupy(REWARDS)), REWARDS)


def unreadable(kind):
    if kind == "meta":
        torch = pytest.importorskip("torch")
        return torch.zeros(1, 4, device="meta"), "a torch.Tensor cannot be copied to the host: "
    torch = pytest.importorskip("torch")
    return torch.ones(1, 4).to_sparse(), "Use Tensor.to_dense() first"


@pytest.mark.parametrize("kind", ["meta", "sparse"])
def test_arrays_without_numbers_are_refused_by_name(kind):
    rewards, message = unreadable(kind)
    with pytest.raises(ValueError, match=re.escape(message)) as raised:
        set_advantages(rewards, methods.maxpo(2))
    assert str(raised.value).startswith("rewards_BN: ")


@pytest.mark.parametrize("door", ["dense", "flat", "means"])
def test_inside_jit_the_wrapper_is_named(door):
    jax = pytest.importorskip("jax")
    doors = {
        "dense": lambda rewards: set_advantages(rewards[None], methods.maxpo(2)).values_BN,
        "flat": lambda rewards: grouped_advantages(rewards, [0, 0, 0], methods.maxpo(2)),
        "means": lambda rewards: mean_set_scores(rewards[None], objectives.max(), [1]),
    }
    with pytest.raises(ValueError, match=r"rewards\w*: .*call setrl.core.jax.set_advantages"):
        jax.jit(doors[door])(np.ones(3))
