"""The address of the repository stands in one file; all places are written from it."""

import json
import tomllib

import pytest

from website import address

SOME = "https://github.com/owner/name"
PLACES = address.places()
each_place = pytest.mark.parametrize("path", PLACES, ids=lambda path: path.name)


@each_place
def test_the_files_have_the_address_that_is_set(path):
    text = path.read_text(encoding="utf-8")
    assert PLACES[path](text, address.ADDRESS) == text, "python -m website.address writes it"


@each_place
def test_an_address_is_written_and_taken_back(path):
    text = PLACES[path](path.read_text(encoding="utf-8"), None)
    written = PLACES[path](text, SOME)
    assert SOME in written
    assert PLACES[path](written, SOME) == written
    assert PLACES[path](written, None) == text


def test_an_index_gets_links():
    text = (address.ROOT / "pyproject.toml").read_text(encoding="utf-8")
    urls = tomllib.loads(address.project(text, SOME))["project"]["urls"]
    assert (urls["Repository"], urls["Issues"]) == (SOME, f"{SOME}/issues")


def test_the_badge_is_of_a_workflow_that_exists():
    badge = address.readme("<!-- badges -->\n<!-- end -->", SOME)
    assert "/workflows/checks.yml/badge.svg" in badge
    assert (address.ROOT / ".github" / "workflows" / "checks.yml").is_file()


@pytest.mark.parametrize(
    "path", sorted(address.TUTORIALS.glob("*.ipynb")), ids=lambda path: path.stem
)
def test_a_tutorial_starts_with_the_cell_that_installs(path):
    text = path.read_text(encoding="utf-8")
    first = next(cell for cell in json.loads(text)["cells"] if cell["cell_type"] == "code")
    assert "%pip install" in "".join(first["source"])
    with_colab = json.loads(address.tutorial(text, SOME, path.stem))["cells"]
    where = f"colab.research.google.com/github/owner/name/blob/main/docs/tutorials/{path.name}"
    assert where in with_colab[1]["source"][0]
    assert f"git+{SOME}" in "".join(with_colab[2]["source"])
