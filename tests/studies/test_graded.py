"""What a run of recipes/graded is worth, by hand; and the task of its configs."""

from math import comb

import pytest

from recipes.graded.far_points import FarPoints, family, far
from studies import graded

ROW = {  # half of the samples are right and far, the others wrong and near
    "correct": [1] * 16 + [0] * 16,
    "answers": ["(-8, 3)"] * 16 + [None] + ["(0, 4)"] * 15,
    "strategies": ["x=-8"] * 16 + [None] + ["x=0"] * 15,
}


def test_worths_by_hand():
    found = graded.worths([ROW])
    near = sum((0.1, 0.0)[i == 0] for i in range(16)) / 16
    assert found["pass@1"] == 0.5
    assert found["far"] == pytest.approx((0.9 + near) / 2)
    for k in graded.KS:
        assert found[f"max@{k}"] == pytest.approx(0.9 * (1 - comb(16, k) / comb(32, k)))
    assert found["farthest of 4 is right"] == pytest.approx(1 - comb(16, 4) / comb(32, 4))
    one, none = 16 * comb(16, 3) / comb(32, 4), comb(16, 4) / comb(32, 4)
    assert found["farthest 2 of 4 are right"] == pytest.approx(1 - one / 2 - none)
    assert found["right strategies@32"] == found["right families@32"] == 1
    sizes = [comb(16, c) * comb(16, 4 - c) / comb(32, 4) / c for c in range(1, 5)]
    assert found["f_srl@4"] == pytest.approx(0.9 * sum(sizes), abs=0.02)  # of sampled sets


def test_noise_is_averaged_over_windows():
    metrics = [{graded.NOISE: float(step)} for step in range(60)] + [{"reward/mean": 1.0}]
    assert graded.noise(metrics) == [12.0, 37.0]
    assert graded.noise(metrics[-1:]) == []


def test_a_right_point_pays_the_farther_the_more():
    task, prompt = FarPoints(), "y=x^2+x, x!=4: "
    texts = ["(0, 0)", "(-9, 72)", "(-9, 71)", "(10, 110)", "none"]
    assert task.pay(prompts=[prompt] * 5, completions=texts) == [0.1, 1.0, 0.0, 0.0, 0.0]
    assert far(texts) == [0.1, 1.0, 1.0, 0.0, 0.0]
    assert task.correct([prompt] * 5, texts) == [1, 1, 0, 1, 0]
    assert [family(f"x={x}") for x in (-1, 2, -2)] == [
        "without multiplication", "positive", "negative",
    ]  # fmt: skip
