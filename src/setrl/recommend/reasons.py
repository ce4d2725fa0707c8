"""Why a method is recommended, and how sure that is: sentences for those who ask for details."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

import numpy as np

from setrl.recommend.choice import (
    ERROR_LOST,
    ERROR_STRATEGIES,
    HARDEST,
    REFERENCE,
    SAMPLES,
    TOLERATED,
    Recommendation,
    is_trained,
)
from setrl.support.wording import first_of, percent, plain
from setrl.theory.survival import (
    counts_shares,
    critical_success,
    polychromic_shares,
    water_filling,
)

ERRORS = f"{100 * ERROR_LOST:.1f} points of pass@1 and {ERROR_STRATEGIES:.1f} strategies"


def reasons(found: Recommendation) -> Iterator[str]:
    """Yield the reasons, in sentences from the theory; docs/theory-proofs.md proves them."""
    assert found.choice is not None
    chosen, reference = found.candidates[found.choice], found.candidates[REFERENCE]
    yield (
        f"the forecast: pass@1 {percent(chosen.pass_1)} and {plain(chosen.strategies)} right "
        f"strategies in {SAMPLES} samples; GRPO has {percent(reference.pass_1)} and "
        f"{plain(reference.strategies)}"
    )
    yield f"it keeps, with at least 1% of the samples: {first_of(chosen.kept, 10)}"
    name, size = chosen.config["method"], chosen.config.get("set_size", 0)
    success_C = np.array([row.success for row in found.strategies])
    labels = [row.label for row in found.strategies]
    if success_C.max(initial=0) > 0:
        yield _water(labels, success_C)
    if name in ("poly_epo", "poly_mixture"):
        yield _invasion(success_C, size)
    yield from _paid_wrong(found)
    if name == "concave_counts" and chosen.config["alpha"] < 1:
        yield _counts(labels, success_C, found.training.num_samples, chosen.config["alpha"])
    if name == "maxpo":
        yield _quiet(found)


def _water(labels: Sequence[str], success_C: np.ndarray) -> str:
    shares = water_filling(success_C, 1.0)
    kept = [label for label, share in zip(labels, shares, strict=True) if share > 0]
    lost = 100 * (success_C.max() - shares @ success_C)
    return (
        f"water-filling: if each strategy kept its success, the best shares for sets of two would "
        f"keep {len(kept)} of {len(labels)} ({first_of(kept)}), at a cost of {lost:.1f} points of "
        "pass@1 against only the best strategy; training raises success, and lowers this cost"
    )


def _invasion(success_C: np.ndarray, size: int) -> str:
    edge = critical_success(polychromic_shares(success_C, size), success_C, size)
    if edge < 0:
        return (
            f"invasion: with K = {size} even a new strategy that is always wrong has a positive "
            "advantage, because so few strategies are there: give wrong samples no strategy, or "
            "take a smaller K"
        )
    return (
        f"invasion: with K = {size} a new strategy has a positive advantage in the long run if it "
        f"is right more often than {percent(edge)}"
    )


def _paid_wrong(found: Recommendation) -> Iterator[str]:
    """Say which candidates pay for wrong strategies in too many prompts, and what removes that."""
    assert found.choice is not None
    if not found.wrong_have_strategies:
        yield "wrong samples of the log have no strategy, so no method pays for wrong strategies"
        return
    paid = found.candidates[found.choice].pays_wrong
    left_out = [name for name in found.candidates if not found.is_safe(name)]
    if not paid and not left_out:
        return
    rule = (
        "Poly-EPO pays a wrong sample with a new strategy in prompts with at most K − 2 right "
        f"strategies (column pays wrong); of the choice these are {paid} of {found.prompts} prompts"
    )
    if left_out:
        rule += (
            f", and {'; '.join(left_out)} {'is' if len(left_out) == 1 else 'are'} not chosen, "
            f"because there it is more than {TOLERATED:.0%}"
        )
    yield (
        f"{rule}. Prompts may have right strategies that their samples do not show. With −1 as the "
        "strategy of wrong samples, every K is safe"
    )


def _counts(labels: Sequence[str], success_C: np.ndarray, num_samples: int, alpha: float) -> str:
    shares = counts_shares(success_C, num_samples, alpha)
    kept = [label for label, share in zip(labels, shares, strict=True) if share > 1e-4]
    return (
        f"concave counts: with {num_samples} samples and these success rates their fixed point "
        f"keeps {len(kept)} of {len(labels)} ({first_of(kept)})"
    )


def _quiet(found: Recommendation) -> str:
    size, (low, _, high) = found.quiet_set_size
    spread = "" if low == high else f", and from {high} to {low} over prompts (`adaptive_k`)"
    return (
        f"pass@K has the least noise near K = 1/p̂ − 1, with {found.training.num_samples} samples "
        f"at K = {size}{spread}"
    )


def doubts(found: Recommendation) -> Iterator[str]:
    """Say how sure the choice is."""
    assert found.choice is not None
    chosen = found.candidates[found.choice]
    yield (
        f"it is chosen in {chosen.wins} of {found.resamples} resamples of the prompts (column "
        "wins; intervals are over the same resamples, one run of each)"
    )
    yield from _more_wins(found)
    yield (
        f"forecasts were wrong by {ERRORS} on average (docs/recommend.md); within such errors "
        + (f"these are as good: {'; '.join(found.near)}" if found.near else "no other is as good")
    )
    if found.success.value < HARDEST:
        yield (
            f"these errors hold for bases that are right in {HARDEST:.0%} of samples or more, and "
            f"this base is right in {percent(found.success.value)}: expect fewer strategies and "
            "less pass@1 than forecast (docs/recommend.md)"
        )
    named = [found.choice, *found.near]
    if any(found.candidates[name].config["method"] == "concave_counts" for name in named):
        yield (
            "where methods are tied, concave counts are taken, except against GRPO, because their "
            "forecasts of pass@1 are too low (docs/recommend.md)"
        )
    if untested := [name for name in named if not is_trained(found.candidates[name].config)]:
        yield (
            f"forecasts of {'; '.join(untested)} were not compared with training runs of several "
            "seeds, so such methods are chosen only if they lead by more than the errors "
            "(docs/recommend.md)"
        )


def _more_wins(found: Recommendation) -> Iterator[str]:
    """Say why a candidate with more wins is not the choice, nor always tied with it."""
    least = found.candidates[found.choice or ""].wins
    more = [f"{name} ({one.wins})" for name, one in found.candidates.items() if one.wins > least]
    if more:
        yield (
            f"{'; '.join(more)} {'wins' if len(more) == 1 else 'win'} more resamples: wins do not "
            "count for the choice, which is by the forecast from all prompts, nor for ties, which "
            "are by the errors of forecasts"
        )
