"""The tables of docs/reference say what the docstrings say, and the site shows the docstrings."""

import pytest

pytest.importorskip("griffe")

from website import reference

PAGE = """# setrl.support.errors

Two.

| name | what it is |
|---|---|
| [`RunError`](../../src/setrl/support/errors.py) | Old. |

<!-- docstrings
::: setrl.support.errors.ConfigError

::: setrl.samples.values.DEGENERATE
    options:
      heading_level: 3
-->
"""
pages = pytest.mark.parametrize("path", sorted(reference.FOLDER.glob("*.md")), ids=lambda p: p.name)


@pages
def test_the_tables_say_what_the_docstrings_say(path):
    page = path.read_text(encoding="utf-8")
    assert reference.filled(page) == page, "python -m website.reference writes the tables anew"


@pages
def test_every_mark_is_in_a_comment_below_a_table(path):
    page = path.read_text(encoding="utf-8")
    blocks = reference.BLOCK.findall(page)
    assert all(table for table, _ in blocks)
    marks = [one for _, block in blocks for one in reference.MARK.findall(block)]
    assert marks == reference.MARK.findall(page)


def test_a_table_has_a_row_for_each_mark_and_no_other():
    filled = reference.filled(PAGE)
    assert "| [`ConfigError`](../../src/setrl/support/errors.py) | A config" in filled
    assert (
        "| [`setrl.samples.values.DEGENERATE`](../../src/setrl/samples/values.py) | The" in filled
    )
    assert "RunError" not in filled
    assert reference.filled(filled) == filled


def test_a_bar_of_an_equation_does_not_end_a_cell():
    name = "setrl.objectives.distinct_share"
    row = reference._row("setrl.objectives", name, [name])
    assert r"f(S) = \|{cᵢ : i∈S}\| / K" in row


def test_the_site_has_the_marks_and_links_names_to_them():
    shown = reference.for_site(reference.filled(PAGE))
    assert "| [`ConfigError`](#setrl.support.errors.ConfigError) | A config" in shown
    assert "| [`setrl.samples.values.DEGENERATE`](#setrl.samples.values.DEGENERATE) |" in shown
    assert "<!--" not in shown
    assert "-->" not in shown
    assert "\n\n::: setrl.support.errors.ConfigError\n" in shown


def test_a_name_without_a_docstring_is_named():
    with pytest.raises(ValueError, match=r"setrl\.samples\.values\.RIGHT has no docstring"):
        reference.filled(PAGE.replace("DEGENERATE", "RIGHT"))
