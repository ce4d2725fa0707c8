"""Coarse pictures: the tests look at what is drawn, not at pixels."""

import pytest

from setrl.report import drawing


@pytest.fixture(autouse=True, scope="session")
def coarse_pictures():
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(drawing, "DPI", 40)
        yield
