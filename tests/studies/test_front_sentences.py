"""Sentences of docs/front.md about votes and shares follow from the committed numbers."""

import json
from pathlib import Path

DOCS = Path(__file__).parents[2] / "docs"
RESULTS = DOCS / "results" / "front"
PAGE = (DOCS / "front.md").read_text("utf-8")


def test_majority_votes_and_their_shares():
    domains = ("polynomial", "multiplication", "quadratic")
    for arm, label in (("grpo", "GRPO"), ("poly_epo_4", "Poly-EPO, K = 4")):
        cells = []
        for domain in domains:
            found = json.loads((RESULTS / f"{domain}.json").read_text("utf-8"))["arms"]["shifted"][
                arm
            ]
            right, share = (found[f"{name}@32"]["value"] for name in ("majority", "vote_share"))
            cells.append(f"{100 * right:.1f} ({100 * share:.1f})")
        assert f"| {label} | {' | '.join(cells)} |" in PAGE


def strategies_by_step(arm):
    """Step → choices of x with at least 1% of the samples; the rarest are counted as one."""
    found = json.loads((RESULTS / "polynomial_shares.json").read_text("utf-8"))
    shares = found["arms"][arm]["shares"].values()
    return {step: sum(one[at] >= 0.01 for one in shares) for at, step in enumerate(found["steps"])}


def test_when_strategies_go():
    grpo = strategies_by_step("grpo")
    assert (grpo[1], grpo[22]) == (9, 3)
    assert {number for step, number in grpo.items() if step >= 35} == {1}
    assert all(number > 1 for step, number in grpo.items() if step < 35)
    assert set(strategies_by_step("poly_epo_4").values()) == {9}
    assert "nine at step 1, three at step 22, and one from step 35 on" in PAGE


def test_nothing_comes_late():
    found = json.loads((RESULTS / "late.json").read_text("utf-8"))
    seeds = found["arms"]["poly_epo_4"].values()
    assert len(seeds) == 3
    assert not any(seed["late"] or seed["growing"] for seed in seeds)
