"""The map of the sources: every link leads to something that runs."""

import re
import shlex
from importlib import import_module
from importlib.util import find_spec
from pathlib import Path

import pytest

pytest.importorskip("matplotlib")  # of the studies that rows name

from claims import CLAIMS, source_map
from claims.claims import BEYOND
from setrl.cli.extras import COMMANDS
from studies.__main__ import STUDIES
from website.titles import headings

ROOT = Path(__file__).parents[2]
ROWS = source_map.read(source_map.ROWS.read_text("utf-8"))
PAGE = ROOT / "docs" / "sources.md"
NAMES = sorted({one for row in ROWS for one in row.runs if not one.startswith("$")})
LINES = sorted({one.removeprefix("$ ") for row in ROWS for one in row.runs if one.startswith("$")})
WITHOUT = {"trl": "trl", "PolyPPO": "stable_baselines3", "JaxPolyPPO": "jax"}  # name → its package


def named(name):
    """The object of a name in setrl, of a class attribute too."""
    for part, package in WITHOUT.items():
        if part in name.split("."):
            pytest.importorskip(package)
    parts = name.split(".")
    for size in reversed(range(len(parts))):  # the last part is no module
        try:
            module = import_module(".".join(["setrl", *parts[:size]]))
        except ModuleNotFoundError:
            continue
        return reached(module, parts[size:])
    raise AssertionError(name)


def reached(found, rest):
    for part in rest:
        found = getattr(found, part)
    return found


def test_the_page_is_what_its_rows_write():
    assert PAGE.read_text("utf-8") == source_map.markdown(ROWS), (
        "run `python -m claims.source_map docs/sources.md`"
    )


def test_every_claim_of_the_sources_has_a_row():
    mapped = {claim.id for row in ROWS for claim in row.claims}
    assert mapped == {claim.id for claim in CLAIMS if claim.document != BEYOND}


def test_rows_are_complete_and_in_the_order_of_the_sources():
    sources = list(dict.fromkeys(row.source for row in ROWS))
    first = [source.split()[0] for source in sources]
    assert first == ["Set", "Poly-EPO", "Poly-EPO", "Poly-EPO", "MaxPO"]
    assert all(row.place and row.what and row.runs and row.page for row in ROWS)
    found = [int(n) for row in ROWS if (n := re.sub(r"\D.*", "", row.place.partition("§")[2]))]
    note = found[: sum(row.source == sources[0] and "§" in row.place for row in ROWS)]
    assert note == sorted(note)


def test_every_name_is_there_and_its_link_is_about_it():
    for name in NAMES:
        found, documented = named(name), named(source_map.entry_of(name))
        assert found is not None, name
        member = getattr(documented, name.rpartition(".")[2], None)
        assert found in (documented, member), name


def test_a_name_that_does_not_exist_fails():
    with pytest.raises(ValueError, match=r"setrl\.methods\.set_rl_2 is not in docs/reference"):
        source_map.link("methods.set_rl_2")
    with pytest.raises(AttributeError):
        named("credit.chosen_sets")
    with pytest.raises(ValueError, match="a state is one of"):
        source_map.read("§1 | a thing | set_advantages | planned, front.md |")


def options(words):
    return [word for word in words if word.startswith("--") and word != "--help"]


def test_every_command_is_there():
    for line in LINES:
        check_command(*shlex.split(line))


def check_command(program, *words):
    if program == "setrl":
        assert words[0] in COMMANDS, words
        cli = (ROOT / "docs" / "cli.md").read_text("utf-8")
        section = cli.partition(f"<!-- setrl {words[0]} -->")[2].partition("<!-- end -->")[0]
        for option in options(words):
            assert f"`{option}" in section, (words, option)
    elif words[0] == "-m":
        assert find_spec(words[1]), words
        assert words[1] != "studies" or words[2] in STUDIES, words
    else:
        assert words[0].startswith("recipes/"), words
    for word in words:
        assert not word.startswith("recipes/") or (ROOT / word).is_file(), word


def test_every_page_and_heading_is_there():
    for place in sorted({row.page for row in ROWS if row.state != "not here"}):
        page, _, heading = place.partition("#")
        assert (ROOT / "docs" / page).is_file(), place
        assert not heading or heading in headings(f"docs/{page}"), place


@pytest.mark.parametrize("page", ["README.md", "docs/index.md"])
def test_who_read_the_note_finds_its_words_on_the_first_pages(page):
    text = " ".join((ROOT / page).read_text("utf-8").split())
    for word in ("Algorithm 1", "scaffold values", "specular sets", "sources.md"):
        assert word in text
    rows = {row.place: row for row in ROWS if row.source == "Set RL note"}
    for place in ("Algorithm 1", "Definition 3.1, Eq. 11", "Definition 5.2", "Lemma 2.2"):
        assert f"| {place} | {rows[place].what} |" in PAGE.read_text("utf-8")
