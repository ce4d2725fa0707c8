"""Every picture that a page of docs/ names is in the tree, or drawn from committed numbers."""

import re

import numpy as np
import pytest
from PIL import Image

pytest.importorskip("matplotlib")
pytest.importorskip("torch")

from studies.figures import COMMITTED, PICTURES, RESULTS, Picture, picture
from tests import fake_run
from website import pictures

DOCS = RESULTS.parent
PAGES = {path.relative_to(DOCS).as_posix(): path.read_text("utf-8") for path in DOCS.rglob("*.md")}
LINK = re.compile(r"\]\((?!https?:)([^)\s]+\.(?:png|svg|gif|jpg))\)")


def test_every_mark_names_a_picture_that_something_draws():
    named = {one for page, text in PAGES.items() for one in pictures.named(page, text)}
    drawn = {one for one in named if picture(one.removeprefix("results/").removesuffix(".svg"))}
    assert named == drawn != set()
    shown = {one.removeprefix("results/").removesuffix(".svg") for one in named}
    assert set(PICTURES) == (shown & set(PICTURES)) | set(COMMITTED)  # none is drawn for nobody


def test_every_picture_of_the_tree_is_on_a_page():
    linked = {
        (DOCS / page).parent.joinpath(link).resolve()
        for page, text in PAGES.items() for link in LINK.findall(text)
    } | {
        (DOCS.parent / link).resolve()
        for link in LINK.findall((DOCS.parent / "README.md").read_text("utf-8"))
    }  # fmt: skip
    kept = {path for end in ("png", "svg", "gif") for path in DOCS.rglob(f"*.{end}")}
    assert kept - linked == set()
    assert linked - kept == set()


def test_screenshots_are_small(tmp_path):
    large = {path.name for path in DOCS.rglob("*.png") if path.stat().st_size > 100_000}
    assert large == set(), "make them small: python -m website.pictures"
    colours = np.random.default_rng(0).integers(0, 256, (64, 64, 3), dtype=np.uint8)
    Image.fromarray(colours).save(tmp_path / "one.png")
    pictures.make_small(tmp_path / "one.png")
    with Image.open(tmp_path / "one.png") as found:
        assert (found.mode, found.size) == ("P", (64, 64))


def test_the_pale_areas_of_curves_keep_their_colours(tmp_path):
    """Many colours of thin lines do not take the palette from the intervals."""
    lines = np.array([[213, 94, 0], [230, 159, 0], [0, 114, 178], [128, 128, 128]])
    pale = np.repeat(255 - (255 - lines) // 7, 100, axis=0)
    rng = np.random.default_rng(0)
    share = rng.random((400, 80, 1))  # of a line at its edge, over the area
    edges = share * lines[rng.integers(0, 4, (400, 80))] + (1 - share) * pale[:, None]
    colours = np.concatenate([np.repeat(pale[:, None], 320, axis=1), edges], axis=1)
    Image.fromarray(colours.astype(np.uint8)).save(tmp_path / "one.png")
    pictures.make_small(tmp_path / "one.png")
    with Image.open(tmp_path / "one.png") as found:
        error = np.abs(np.asarray(found.convert("RGB")) - colours)[:, :320]
    assert error.max() <= 5


def test_a_mark_that_nothing_draws_names_page_and_picture():
    with pytest.raises(ValueError, match=r"docs/theory\.md .* results/theory/none\.svg"):
        pictures.drawn("results/theory/none.svg", "theory.md")


@pytest.mark.parametrize("name", COMMITTED)
def test_a_committed_picture_shows_the_present_numbers(name):
    head = (RESULTS / f"{name}.svg").read_text("utf-8")[:400]
    assert PICTURES[name].digest() in head, "draw it again: python -m website.pictures"


def test_a_picture_is_the_same_twice_and_has_dark_colours():
    first, second = (PICTURES["theory/tree"].svg() for _ in range(2))
    assert first == second
    assert "prefers-color-scheme: dark" in first
    body = first.partition("</style>")[2]
    assert not {"#ffffff", "#000000"} & set(re.findall(r"#[0-9a-f]{6}", body))


def test_a_second_build_draws_nothing(tmp_path, monkeypatch):
    monkeypatch.setattr(pictures, "CACHE", tmp_path)
    first = pictures.drawn("results/theory/tree.svg", "theory.md")
    monkeypatch.setattr(Picture, "svg", lambda _: pytest.fail("drawn again"))
    assert pictures.drawn("results/theory/tree.svg", "theory.md") == first


@pytest.mark.usefixtures("unsaved_figures")
def test_a_published_run_is_left_to_the_site(tmp_path):
    from setrl.show.report import publish_report

    run = fake_run.make(tmp_path / "run", ("grpo", "poly_epo"), problems=4, n=32, steps=1)
    folder = publish_report(run, tmp_path / "published").parent
    pictures.leave_to_the_site(folder)
    page = (folder / "README.md").read_text("utf-8")
    marked = {path.removesuffix(".svg") for _, path in pictures.MARK.findall(page)}
    assert marked == {f"{n}_{s}" for n in ("pass_at_k", "frontier") for s in ("test", "shifted")}
    # summary.json has no samples, from which the figure of support is made
    assert [path.name for path in folder.glob("*.png")] == ["support_shifted.png"]
    assert "](support_shifted.png)" in page
    assert pictures.shown(page).count("![pass@k on the") == 2
