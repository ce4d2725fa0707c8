"""The lists of docs/reference say what the docstrings say, and the site shows the docstrings."""

import pytest

pytest.importorskip("griffe")

from website import reference

PAGE = """# setrl.support.errors

Two.

- [`RunError`](../../src/setrl/support/errors.py): Old.
    - `old`: Old.

<!-- docstrings
::: setrl.support.errors.ConfigError

::: setrl.samples.values.DEGENERATE
    options:
      heading_level: 3
-->
"""
pages = pytest.mark.parametrize("path", sorted(reference.FOLDER.glob("*.md")), ids=lambda p: p.name)


@pages
def test_the_lists_say_what_the_docstrings_say(path):
    page = path.read_text(encoding="utf-8")
    assert reference.filled(page) == page, "python -m website.reference writes the lists anew"


@pages
def test_every_mark_is_in_a_comment_below_a_list(path):
    page = path.read_text(encoding="utf-8")
    blocks = reference.BLOCK.findall(page)
    assert all(listed for listed, _ in blocks)
    marks = [one for _, block in blocks for one in reference.MARK.findall(block)]
    assert marks == reference.MARK.findall(page)


def test_a_list_has_an_entry_for_each_mark_and_no_other():
    filled = reference.filled(PAGE)
    assert "\n\n- [`ConfigError`](../../src/setrl/support/errors.py): A config" in filled
    assert (
        "\n- [`setrl.samples.values.DEGENERATE`](../../src/setrl/samples/values.py): The" in filled
    )
    assert "Old" not in filled
    assert reference.filled(filled) == filled


def test_an_entry_has_signature_arguments_shape_and_default():
    name = "setrl.credit.Credit"
    first, means, *_, last = reference._entry("setrl.credit", name, [name])
    assert "`(means: SetMeans, num_sets: float | np.ndarray, share_N: np.ndarray, " in first
    assert first.endswith(
        "stderr_contrast_BN: np.ndarray | None = None)`: What an estimator found."
    )
    assert means.startswith("    - `means`: u, u − v, U and, where known")
    assert (
        last == "    - `stderr_contrast_BN`: Standard error of u − v; None when every set counted."
    )
    name = "setrl.methods.maxpo"
    (only,) = reference._entry("setrl.methods", name, [name])
    assert "`(set_size: SetSize = 4, estimator: Estimator | None = None) -> Method`: u − v" in only


def test_the_site_has_the_marks_and_links_names_to_them():
    shown = reference.for_site(reference.filled(PAGE))
    assert "\n\n- [`ConfigError`](#setrl.support.errors.ConfigError): A config" in shown
    assert "- [`setrl.samples.values.DEGENERATE`](#setrl.samples.values.DEGENERATE): The" in shown
    assert "<!--" not in shown
    assert "-->" not in shown
    assert "\n\n::: setrl.support.errors.ConfigError\n" in shown


def test_the_site_says_arguments_only_in_docstrings():
    page = "# setrl.methods\n\n<!-- docstrings\n::: setrl.methods.maxpo\n-->\n"
    (listed,) = [
        line for line in reference.for_site(reference.filled(page)).splitlines() if "- " in line
    ]
    assert listed.startswith("- [`maxpo`](#setrl.methods.maxpo): u − v of max@K")


def test_a_name_without_a_docstring_is_named():
    with pytest.raises(ValueError, match=r"setrl\.samples\.values\.RIGHT has no docstring"):
        reference.filled(PAGE.replace("DEGENERATE", "RIGHT"))
