"""`audit`: what it finds in estimators whose answer is known."""

from __future__ import annotations

import numpy as np
import pytest

from setrl import methods
from setrl.audit import audit
from setrl.core.method import AnyMethod


@pytest.mark.parametrize(
    ("method", "group_size", "claims", "objective"),
    [
        (methods.dr_grpo(), 4, "pass@1", "3·∇pass@1"),
        (methods.maxpo(2), 4, "pass@2", "2·∇pass@2"),
        (methods.poly_epo(2), 4, "polychromic@2", "∇polychromic@2"),
        (methods.concave_counts(0.25), 3, None, "∇concave_counts(α=0.25)@3"),
    ],
)
def test_unbiased_methods_are_named_with_their_factor(
    method: AnyMethod, group_size: int, claims: str | None, objective: str
) -> None:
    found = audit(method, group_size=group_size, claims=claims)
    assert str(found.objective) == objective
    assert found.pays["unbiased"]
    assert found.bias == 0


def test_verls_grpo_passk_is_twice_the_gradient_of_pass_at_n() -> None:
    def grpo_passk(rewards: np.ndarray) -> np.ndarray:
        first, second = np.sort(rewards)[::-1][:2]
        paid = np.where(np.arange(len(rewards)) == rewards.argmax(), first - second, 0.0)
        return paid / (rewards.std(ddof=1) + 1e-6)

    found = audit(grpo_passk, claims="pass@4")
    assert str(found.objective) == "2·∇pass@4"
    assert not found.pays["zero-sum"]
    assert found.pays["silent-if-all-right"]
