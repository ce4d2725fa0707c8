"""Every number of docs/theory.md and docs/theory-proofs.md."""

import doctest
from pathlib import Path

import pytest

DOCS = Path(__file__).parents[2] / "docs"


@pytest.mark.parametrize(("page", "least"), [("theory.md", 50), ("theory-proofs.md", 12)])
def test_the_examples_of_the_guide_run_as_printed(page, least):
    pytest.importorskip("matplotlib")  # of the studies that the guide shows
    result = doctest.testfile(
        str(DOCS / page), module_relative=False, optionflags=doctest.NORMALIZE_WHITESPACE
    )
    assert result.attempted >= least
    assert result.failed == 0
