"""Every closed form against enumeration by the definition, in rational arithmetic."""

import numpy as np
import pytest

import reference
from catalogue import EXACT, cases, samples_of

SIZES = [(n, k) for n in range(1, 9) for k in range(1, n + 1)]


@pytest.mark.parametrize("entry", EXACT, ids=lambda entry: entry.name)
def test_closed_form_equals_enumeration(entry):
    """u, u − v, U and, where given, u − w and the variance; all N ≤ 8 and all K."""
    checked = 0
    for n, k in SIZES:
        if k < entry.smallest or entry.objective.set_size not in (None, k):
            continue
        listed = cases(n)
        means = entry.objective.set_means(samples_of(listed), k)
        assert means is not None
        wants_w = entry.smaller and means.gain_BN is not None and k > max(entry.smallest, 1)
        for b, case in enumerate(listed):
            want = reference.set_means(entry.definition(case), n, k, smaller=wants_w)
            check_prompt(means, b, want, whole=k == n, wants_w=wants_w)
            checked += 1
    assert checked >= len(cases(8))


def check_prompt(means, b, want, whole, wants_w):
    close(means.with_BN[b], want["u"])
    close(means.mean_B[b], want["U"][0])
    if whole:
        assert np.isnan(means.without_BN[b]).all()
    else:
        close(means.contrast_BN[b], minus(want["u"], want["v"]))
    if wants_w:
        close(means.gain_BN[b], minus(want["u"], want["w"]))
    if means.variance_B is not None:
        close(means.variance_B[b], want["variance"][0])


def minus(left, right):
    return [a - b for a, b in zip(left, right, strict=True)]


def close(found, want):
    np.testing.assert_allclose(found, np.array(want, dtype=float), atol=1e-12, rtol=0)
