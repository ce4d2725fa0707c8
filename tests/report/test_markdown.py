"""The published page: the summary's numbers, whole tables, and no picture that is not there."""

import json
import re

import pytest

from setrl.show.report import publish_report, style
from setrl.support.errors import ConfigError
from setrl.support.wording import percent
from tests import fake_run


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    root = tmp_path_factory.mktemp("published")
    run = fake_run.make(root / "run", problems=4, n=8, steps=12)
    with (run / "config.yaml").open("a") as file:
        file.write("judge: {judge: lm, endpoint: 'http://me:hunter2@h/v1', api_key: hunter2}\n")
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(style, "DPI", 40)
        page = publish_report(root / "run", root / "docs" / "results")
    assert page == root / "docs" / "results" / "README.md"
    return page.parent


def test_numbers_are_those_of_the_summary(folder):
    text, summary = (
        (folder / "README.md").read_text(),
        json.loads((folder / "summary.json").read_text()),
    )
    for split in summary["splits"].values():
        for arm in split["arms"].values():
            assert f"| {percent(arm['metrics']['pass@1']['value'])}<br>" in text


def test_every_row_of_a_table_has_its_columns(folder):
    tables = re.findall(r"(?:^\|.*\|\n)+", (folder / "README.md").read_text(), re.MULTILINE)
    assert len(tables) == 5
    for table in tables:
        assert len({line.count("|") for line in table.splitlines()}) == 1


def test_every_picture_is_beside_the_page(folder):
    named = set(re.findall(r"\]\((.*?\.png)\)", (folder / "README.md").read_text()))
    assert named == {path.name for path in folder.glob("*.png")} != set()


def test_no_file_holds_a_secret(folder):
    assert "http://[secret]@h/v1" in (folder / "config.yaml").read_text()
    page = folder.parents[1] / "run/report.html"
    assert "[secret]" in page.read_text()
    for path in (*folder.iterdir(), page):
        assert b"hunter2" not in path.read_bytes()


def test_no_such_run(tmp_path):
    with pytest.raises(ConfigError, match="nowhere"):
        publish_report(tmp_path / "nowhere", tmp_path / "out")
    assert not (tmp_path / "out").exists()
