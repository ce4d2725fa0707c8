"""What all tests of the grader share."""

import pytest
from hypothesis import HealthCheck, settings

from setrl_grader import MathGrader

# The same examples in every run, and no limits of time: a busy machine makes no test fail.
settings.register_profile(
    "grader", derandomize=True, deadline=None, suppress_health_check=[HealthCheck.too_slow]
)
settings.load_profile("grader")


@pytest.fixture(scope="session")
def grader():
    """A grader for all tests."""
    return MathGrader()
