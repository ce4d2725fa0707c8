"""Every number of docs/theory.md."""

import doctest
from pathlib import Path

import pytest

GUIDE = Path(__file__).parents[2] / "docs" / "theory.md"


def test_the_examples_of_the_guide_run_as_printed():
    pytest.importorskip("matplotlib")  # of the studies that the guide shows
    result = doctest.testfile(
        str(GUIDE), module_relative=False, optionflags=doctest.NORMALIZE_WHITESPACE
    )
    assert result.attempted > 40
    assert result.failed == 0
