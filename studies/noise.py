"""How much noise pass@K has on one prompt, and which K has the least.

On one prompt all ∇pass@K are parallel, so K decides only the noise and the length of a step. With c
correct samples of N, Σᵢ ∇log π(yᵢ)(u − v) has the length

    h(c) = c·C(N−c, K) / C(N−1, K)

along ∇p; h is stationary at c ≈ N/(K+1). So its noise is least at success rate p ≈ 1/(K+1).
"""

from __future__ import annotations

import numpy as np

from setrl.core.inputs import check_set_size
from setrl.core.objectives.chances import chances


def relative_variance(success: float, num_samples: int, set_size: int) -> float:
    """Var h / (E h)², where h is the estimate along ∇p from the N samples of a prompt.

    To first order in 1/N it is (1 − (K+1)p)² / (N·p(1−p)).

    Args:
        success: p, in (0, 1).
        num_samples: N.
        set_size: K < N.
    """
    if not 0 < success < 1:
        raise ValueError(f"success must be in (0, 1), got {success}")
    check_set_size(set_size, num_samples, needs_contrast=True)
    estimate_n = _estimates(num_samples, set_size)
    mean = num_samples * success * (1 - success) ** set_size
    return float(_binomial(num_samples, success) @ (estimate_n / mean) ** 2 - 1)


def quietest_set_size(success: float, num_samples: int) -> int:
    """Return the K < N with the smallest relative variance: about 1/p − 1, less if N·p < 4.

    >>> quietest_set_size(0.2, 32), quietest_set_size(0.1, 32), quietest_set_size(0.1, 8)
    (4, 8, 3)
    """
    check_set_size(1, num_samples, needs_contrast=True)
    sizes = range(1, num_samples)
    return min(sizes, key=lambda size: relative_variance(success, num_samples, size))


def _estimates(num_samples: int, set_size: int) -> np.ndarray:
    """h(c) up to a constant, for c = 0 … N correct samples."""
    c_N = np.arange(1, num_samples + 1)
    return np.append(0.0, c_N * chances(num_samples, set_size).missed_without[c_N - 1])


def _binomial(num: int, success: float) -> np.ndarray:
    """P(c correct of `num` samples), for c = 0 … num."""
    c_n = np.arange(num + 1)
    log_ways = np.append(0.0, np.cumsum(np.log((num - c_n[:-1]) / (c_n[:-1] + 1))))
    return np.exp(log_ways + c_n * np.log(success) + (num - c_n) * np.log1p(-success))


def leave_two_out_edge(num_samples: int, set_size: int) -> float:
    """Return the success rate below which u − v has less variance than u − w, for two actions.

    The rate is 0 if K ≥ N/2: u − v then never has less variance. For K < N/2 there is exactly one
    edge. docs/theory-proofs.md proves both, with m ~ Bin(L, p), L = N − K, from

        Var(u − w) − Var(u − v) ∝ E[(m + 1)·q(m)·((1 − p)² − (1 − m/L)²)],
        q(m) = C(N−1−m, K−1) / C(N−1, K−1).
    """
    check_set_size(set_size, num_samples, needs_contrast=True)
    if 2 * set_size >= num_samples:
        return 0.0
    low, high = 0.0, 1.0
    for _ in range(60):
        middle = (low + high) / 2
        low, high = (middle, high) if _gap(middle, num_samples, set_size) > 0 else (low, middle)
    return low


def _gap(success: float, num_samples: int, set_size: int) -> float:
    left = num_samples - set_size
    m_L = np.arange(left + 1)
    paid_L = (m_L + 1) * chances(num_samples, set_size).missed_with[m_L]
    difference_L = (1 - success) ** 2 - (1 - m_L / left) ** 2
    return float(_binomial(left, success) @ (paid_L * difference_L))
