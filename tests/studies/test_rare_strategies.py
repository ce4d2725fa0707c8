"""Rare strategies: what is counted, and which arm takes them up."""

import json
from dataclasses import replace

import numpy as np
import pytest

from studies import rare_strategies
from studies.rare_strategies import ARMS, RareConfig, train

SMALL = RareConfig(strategies=12, rare=0.01, used=0.05, updates=600, learning_rate=3.0, draws=3)


def test_shares_fall_like_the_square_of_the_rank():
    shares = RareConfig().shares
    assert shares.sum() == pytest.approx(1)
    assert shares[0] / shares[9] == pytest.approx(100)
    assert (shares < 0.001).sum() == 16


def test_concave_counts_take_up_what_the_others_do_not():
    counts, grpo = (train(SMALL, ARMS[name][0]) for name in ("counts", "grpo"))
    assert counts.taken_up_RT[:, -1].sum() >= 2
    assert not grpo.taken_up_RT.any()
    assert (grpo.kinds_R == 1).all()
    assert counts.taken_up_RT.shape == (3, 601)
    assert not counts.taken_up_RT[:, 0].any()


def test_the_study_writes_its_numbers_and_they_are_drawn(tmp_path):
    small = replace(SMALL, updates=40, draws=2)
    found = json.loads(rare_strategies.run(small, tmp_path).read_text(encoding="utf-8"))
    assert set(found["arms"]) == set(ARMS)
    assert found["rare"] == int((small.shares < small.rare).sum())
    assert np.isfinite(found["arms"]["grpo"]["success"]["mean"])
    lines = rare_strategies.draw_paths(found).axes[0].lines
    assert list(lines[0].get_xdata()) == [0, 20, 40]
    assert list(lines[0].get_ydata()) == found["paths"]["grpo"]["mean"]
