"""The law of pass@k over k: found again in its own curve, and in a model of problems."""

import json
import math

import numpy as np
import pytest

from studies import coverage_law
from studies.coverage_law import CoverageLawConfig, Law, fit, measure

K = np.array([1, 2, 4, 8, 16, 32, 64])


@pytest.mark.parametrize(("a", "b"), [(0.2, -2.0), (1.2, -0.6), (5.0, -0.3)])
def test_its_own_curve_gives_the_law_and_the_forecast(a, b):
    found = measure(K, Law(a, b)(K), CoverageLawConfig())
    assert (found["a"], found["b"]) == pytest.approx((a, b), abs=1e-4)
    assert found["worst_error"] == found["forecast_error@64"] == pytest.approx(0, abs=1e-4)


def test_problems_with_many_hard_ones_follow_it_in_their_tail():
    """P(success) ~ Beta(β, 1): pass@k = 1 − E(1 − p)ᵏ, and 1 − pass@k ~ Γ(β + 1)·k^(−β)."""
    beta, k_M = 0.5, 2 ** np.arange(10, 17)
    logs = [math.lgamma(k + 1) - math.lgamma(k + beta + 1) for k in k_M]
    failed_M = math.gamma(beta + 1) * np.exp(logs)
    law = fit(k_M, 1 - failed_M)
    assert law.b == pytest.approx(-beta, abs=0.01)
    assert law.a == pytest.approx(math.gamma(beta + 1), rel=0.05)


def test_a_curve_that_is_nearly_1_is_not_fitted():
    assert measure(K, np.linspace(0.95, 1, 7), CoverageLawConfig()) == {"pass@1": 0.95}


def test_the_study_writes_what_is_committed(tmp_path):
    path = coverage_law.run(CoverageLawConfig(), tmp_path)
    found, kept = (
        json.loads(one.read_text(encoding="utf-8"))["fits"]
        for one in (path, coverage_law.Path("docs/results/coverage_law.json"))
    )
    for run, arms in kept.items():
        for arm, numbers in arms.items():
            assert found[run][arm] == pytest.approx(numbers, abs=2e-3)
    assert len(coverage_law.draw(json.loads(path.read_text(encoding="utf-8"))).axes) == 3
