import pytest

from setrl.rewards import math_answer


@pytest.fixture(scope="package")
def grader():
    """A grader with workers that are started once for all tests of this folder."""
    value = math_answer(workers=2, time_limit_s=20.0)
    yield value
    value.close()
