"""The vectors that the page's maths is tested on are what the core computes now."""

import json

import numpy as np
import pytest

from setrl import objectives
from setrl.theory.tabular import ActionTable, TabularObjective
from tests.lab.vectors import FILE, vectors


@pytest.fixture(scope="module")
def written():
    return json.loads(FILE.read_text("utf-8"))


def assert_same(now, then, where):
    if isinstance(now, dict):
        assert now.keys() == then.keys(), where
        for key in now:
            assert_same(now[key], then[key], f"{where}/{key}")
    elif isinstance(now, list) and not (now and isinstance(now[0], int | float)):
        assert len(now) == len(then), where
        for at, (one, other) in enumerate(zip(now, then, strict=True)):
            assert_same(one, other, f"{where}/{at}")
    elif isinstance(now, str | bool | None):
        assert now == then, where
    else:
        np.testing.assert_allclose(now, then, rtol=1e-12, atol=1e-12, err_msg=where)


def test_the_written_vectors_are_current(written):
    remedy = "python -m tests.lab.vectors"
    assert_same(vectors(), written, f"write the vectors again with `{remedy}`; they differ at ")


def test_the_shares_of_water_filling_are_the_optimum(written):
    """At the optimum every strategy that is kept gains equally, and no other would gain more."""
    for row in written["water_filling"]:
        success, alpha = np.array(row["success"]), row["alpha"]
        size = len(success)
        # A sample of strategy a is worth its chance of success, on average and in a product.
        table = ActionTable(success, strategies=np.arange(size))
        objective = (1 - alpha) * objectives.mean() + alpha * objectives.polychromic()
        shares = np.array(row["shares"])
        gain = TabularObjective(objective, table, 2).advantages(shares / shares.sum())
        kept = shares > 0
        np.testing.assert_allclose(gain[kept], 0, atol=1e-9)
        assert (gain[~kept] <= 1e-9).all()
