"""The command line, as in the tests of `cli`."""

from tests.cli.conftest import setrl

__all__ = ["setrl"]
