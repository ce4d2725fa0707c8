"""Copies share nothing that can change; machinery is not taken for state."""

from collections import deque

import numpy as np
import pytest

pytest.importorskip("gymnasium")

from setrl.control.envs.layers import copied, is_plain


def test_nothing_that_changes_is_shared():
    value = {"a": [np.zeros(2), {1}], "b": (deque([[0]], maxlen=3), "text", None, np.float32(1))}
    copy = copied(value)
    value["a"][0][:] = 9
    value["a"][1].add(2)
    value["b"][0][0].append(7)
    assert copy["a"][0].tolist() == [0, 0]
    assert copy["a"][1] == {1}
    assert copy["b"] == (deque([[0]]), "text", None, 1)
    assert copy["b"][0].maxlen == 3
    objects = np.array([[1], None], dtype=object)
    again = copied(objects)
    objects[0].append(2)
    assert again[0] == [1]


@pytest.mark.parametrize("plain", [1, "x", None, np.ones(2), [1, (2.0, {"a": deque()})], {1}])
def test_plain_data(plain):
    assert is_plain(plain)


@pytest.mark.parametrize("other", [len, object(), [len], {"a": int}, np.array([len])])
def test_machinery(other):
    assert not is_plain(other)
