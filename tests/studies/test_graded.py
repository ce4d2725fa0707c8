"""What a run of recipes/graded is worth, by hand; and the task of its configs."""

from math import comb

import pytest

from recipes.graded.far_points import (
    FarPoints,
    Sides,
    family,
    far,
    on_other_side,
    on_wished_side,
    wished_side,
)
from studies import graded

ROW = {  # half of the samples are right and far, the others wrong and near
    "correct": [1] * 16 + [0] * 16,
    "answers": ["(-8, 3)"] * 16 + [None] + ["(0, 4)"] * 15,
    "strategies": ["x=-8"] * 16 + [-1] + ["x=0"] * 15,
}
PROMPTS = {wished_side(prompt): prompt for x in range(3, 9) for prompt in [f"y=x^2+x, x!={x}: "]}


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


def test_a_right_point_pays_on_the_side_that_the_user_wishes():
    texts = ["(-1, 0)", "(1, 2)", "(1, 3)", "(0, 0)", "none"]
    for side, prompt in PROMPTS.items():
        asked = {"prompts": [prompt] * 5, "completions": texts}
        left, right = [1.0, 0.0, 0.0, 0.0, 0.0], [0.0, 1.0, 0.0, 0.0, 0.0]
        assert Sides().pay(**asked) == (right if side > 0 else left)
        assert on_other_side(**asked) == (left if side > 0 else right)
        picked = [0.0, 1.0, 1.0, 0.0, 0.0] if side > 0 else [1.0, 0.0, 0.0, 0.0, 0.0]
        assert on_wished_side(**asked) == picked
    assert set(PROMPTS) == {-1, 1}


@pytest.mark.parametrize("split", ["train", "test"])
def test_the_wished_side_is_drawn_alike_in_each_split(split):
    """Splits are drawn by a hash of the prompt, too: here ± 5 standard deviations of 200 coins."""
    found = [wished_side(one.prompt) for one in Sides().domain.problems(split, 200, seed=0)]
    assert 65 <= found.count(1) <= 135


def test_worths_on_sides_by_hand():
    """Sixteen right points on each side: a set of four has Binomial-like numbers of both."""
    answers = ["(-1, 0)"] * 16 + ["(1, 2)"] * 16
    rows = [{"prompt": p, "correct": [1] * 32, "answers": answers} for p in PROMPTS.values()]
    found = graded.worths_on_sides(rows)
    assert found["right on the wished side"] == found["right on the other side"] == 0.5
    ways = [comb(16, c) * comb(16, 4 - c) / comb(32, 4) for c in range(5)]
    both = sum(way * c * (4 - c) / 16 for c, way in enumerate(ways))
    assert found["product of both sides@4"] == pytest.approx(both)
    assert found["pick of 4 is right"] == pytest.approx(1 - ways[0])
