import numpy as np
import pytest

from setrl.core.objectives.ranks import rank

KEYS = {
    "binary": np.array([[1.0, 0, 0, 1, 0, 1], [0, 0, 0, 0, 0, 0]]),
    "signs": np.array([[-0.0, 0.0, -1.5, 2.5, -1.5, 1e-40]]),
    "float32": np.random.default_rng(0).normal(size=(5, 100)).astype(np.float32).astype(float),
    "float64": np.random.default_rng(0).normal(size=(5, 100)),
    "infinite": np.array([[np.inf, 0.0, -np.inf, 1.0, np.inf]]),
    "one": np.array([[3.0], [1.0]]),
}


@pytest.mark.parametrize("name", KEYS)
def test_each_row_is_sorted_and_every_sample_has_one_rank(name):
    key_BN = KEYS[name]
    ranked = rank(key_BN)
    assert (ranked.values_BN == np.sort(key_BN, axis=-1)).all()
    assert (np.sort(ranked.place_BN, axis=None) == np.arange(key_BN.size)).all()
    assert (ranked.by_sample(ranked.values_BN) == key_BN).all()


def test_values_follow_their_keys():
    ranked = rank(np.array([[2.0, 0.0, 1.0]]), np.array([[0.1, 0.2, 0.3]]))
    assert ranked.values_BN.tolist() == [[0.2, 0.3, 0.1]]
