"""Blocks and commands of guides print what they show; links and names of files lead somewhere."""

import contextlib
import io
import re
from pathlib import Path

import pytest

from setrl import methods

DOCS = Path(__file__).parents[1] / "docs"
GUIDE = DOCS / "your-own-objective.md"
METHODS = DOCS / "methods.md"
LOG = DOCS / "from-a-log.md"
BLOCK = re.compile(r"```python\n(.*?)```\n(?:```text\n(.*?)```)?", re.DOTALL)


def without_times(text: str) -> str:
    return re.sub(r"[\d,…]+ µs", "… µs", text).strip()


@pytest.mark.parametrize(("guide", "least"), [(GUIDE, 8), (METHODS, 1), (LOG, 1)])
def test_every_block_of_the_guide_prints_what_it_shows(monkeypatch, guide, least):
    monkeypatch.chdir(DOCS.parent / "tests" / "data")
    blocks = BLOCK.findall(guide.read_text())
    assert len(blocks) >= least
    namespace: dict = {"__name__": "guide"}
    for code, shown in blocks:
        printed = io.StringIO()
        with contextlib.redirect_stdout(printed):
            exec(compile(code, str(guide), "exec"), namespace)
        if without_times(printed.getvalue()) != without_times(shown):
            pytest.fail(f"this block:\n{code}\nprints:\n{printed.getvalue()}")


def test_every_command_of_the_log_session_prints_what_it_shows(monkeypatch, capsys):
    pytest.importorskip("tyro")
    from tests import sessions

    monkeypatch.chdir(DOCS.parent / "tests" / "data")
    blocks = sessions.commands("from-a-log.md")
    assert len(blocks) == 3
    for command, shown in blocks:
        assert sessions.printed(capsys, command) == shown.rstrip(), command


def test_the_judge_of_the_guide_prints_what_it_shows(monkeypatch, capsys, tmp_path):
    pytest.importorskip("tyro")
    pytest.importorskip("aiohttp")
    from tests import sessions

    monkeypatch.chdir(tmp_path)
    [lines] = re.findall(r"```json\n(.*?)```", (DOCS / "judges.md").read_text("utf-8"), re.DOTALL)
    Path("samples.jsonl").write_text(lines, "utf-8")
    [(command, shown)] = sessions.commands("judges.md")
    printed = re.sub(r"\r?judge: .*\n", "", sessions.printed(capsys, command))  # the progress bar
    assert printed == shown.rstrip()


def test_every_method_has_a_line_in_the_table():
    table = METHODS.read_text()
    for name in methods.by_name:
        assert f"| `{name}(" in table


def test_the_glossary_s_advantages_of_pass_at_k_are_the_methods():
    text = (DOCS / "glossary.md").read_text("utf-8").partition("### pass@K as an objective")[2]
    rows = re.findall(r"^\| `(\w+)` \|.*?\|(.*)\|$", text.partition("\n### ")[0], re.MULTILINE)
    assert [name for name, _ in rows] == ["maxpo", "pkpo", "pass_k_training"]
    for name, cells in rows:
        for right, cell in zip((1, 4, 5), cells.split("|"), strict=True):
            rewards = [[1.0] * right + [0.0] * (6 - right)]
            found = methods.by_name[name](2).advantages(rewards).values_BN[0]
            shown = [float(number.replace("−", "-")) for number in cell.split(",")]
            assert shown == [round(float(found[0]), 2) + 0.0, round(float(found[-1]), 2) + 0.0]


ROOT = DOCS.parent
PAGES = {
    page: page.read_text("utf-8")
    for page in (*ROOT.glob("*.md"), *DOCS.rglob("*.md"), *ROOT.glob("recipes/*/*.md"))
}


def named(pattern):
    """What the pattern finds, with the page of each."""
    return [(page, name) for page, text in PAGES.items() for name in re.findall(pattern, text)]


def test_links_of_pages_lead_somewhere():
    links = named(r"\]\((?!https?:|#)([\w./-]+)(?:#[\w-]+)?\)")
    assert len(links) > 500
    assert [one for one in links if not (one[0].parent / one[1]).exists()] == []


def test_source_files_that_pages_name_exist():
    # Without those of an environment in the same folder.
    folders = [path for path in ROOT.iterdir() if path.is_dir() and not path.name.startswith(".")]
    ends = {
        "/".join(path.relative_to(ROOT).parts[at:])
        for folder in folders
        for path in folder.rglob("*.py")
        for at in range(len(path.relative_to(ROOT).parts))
    }
    files = named(r"`((?:[a-z_0-9]+/)+[a-z_0-9]+\.py)`")
    assert len(files) > 50
    assert [one for one in files if one[1] not in ends] == []


def test_no_table_takes_the_text_below_it_as_a_row():
    row_before_text = re.compile(r"^\|.*\n(?![|\n]|<!--)(.+)", re.MULTILINE)
    for page, text in PAGES.items():
        outside = re.sub(r"```.*?```", "", text, flags=re.DOTALL)
        assert row_before_text.findall(outside) == [], page
