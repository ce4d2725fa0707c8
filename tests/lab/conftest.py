"""The command line, as in the tests of `cli`."""

from tests.conftest import setrl

__all__ = ["setrl"]
