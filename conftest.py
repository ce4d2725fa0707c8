"""What the tests of all packages share."""

import logging

import pytest


class Logged(logging.Handler):
    """What is logged; see `addopts` in pyproject.toml for why it is not pytest's own."""

    def __init__(self):
        super().__init__()
        self.records = []

    def emit(self, record):
        self.records.append(record)

    @property
    def messages(self):
        return [record.getMessage() for record in self.records]

    @property
    def text(self):
        return "\n".join(map(self.format, self.records))


@pytest.fixture
def caplog():
    """What is logged during a test."""
    handler = Logged()
    logging.getLogger().addHandler(handler)
    yield handler
    logging.getLogger().removeHandler(handler)
