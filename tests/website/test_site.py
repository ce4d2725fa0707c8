"""The checks of the documentation site find what they are for."""

import pytest

import setrl

pytest.importorskip("griffe")

from website import check

PAGE = '<html><body><h2 id="here">x</h2>{}</body></html>'


@pytest.fixture
def faults(tmp_path):
    """The faults of a site with two pages and a picture; one page has the given body."""

    def of(body):
        check.read_page.cache_clear()
        (tmp_path / "a").mkdir(exist_ok=True)
        (tmp_path / "index.html").write_text(PAGE.format(body))
        (tmp_path / "a" / "b.html").write_text(PAGE.format(""))
        (tmp_path / "one.png").write_bytes(b"")
        return [
            *check.link_faults(tmp_path), *check.table_faults(tmp_path),
            *check.request_faults(tmp_path),
        ]  # fmt: skip

    return of


@pytest.mark.parametrize(
    "body",
    [
        '<a href="a/b.html#here">x</a>',
        '<a href="#here">x</a>',
        '<a href="https://example.org/x">a link is not a request</a>',
        '<img src="one.png">',
        '<link rel="canonical" href="https://example.org/">',
        "<p><code>|---|</code> is shown as code</p>",
    ],
)
def test_what_is_right_has_no_fault(faults, body):
    assert faults(body) == []


@pytest.mark.parametrize(
    ("body", "fault"),
    [
        ('<a href="a/c.html">x</a>', "index.html: a/c.html: there is no such file"),
        ('<a href="a/b.html#there">x</a>', "index.html: a/b.html#there: there is no such heading"),
        ('<a href="#there">x</a>', "index.html: #there: there is no such heading"),
        ('<img src="two.png">', "index.html: two.png: there is no such file"),
        ('<a href="/a/b.html">x</a>', "index.html: /a/b.html: begins with /"),
        ('<script src="//cdn.example/x.js"></script>', "index.html: loads //cdn.example/x.js"),
        ('<link rel="stylesheet" href="https://fonts.example/x">', "index.html: loads https://fon"),
        ("<p>| name | what |\n|---|:--|</p>", "index.html: a table is not one"),
        ('<p style="background: url(http://x.example/y.png)">', "index.html: loads http://x.exam"),
    ],
)
def test_a_fault_is_found(faults, body, fault):
    (found,) = faults(body)
    assert found.startswith(fault)


def test_a_style_sheet_that_loads_a_font_of_another_host_is_found(faults, tmp_path):
    (tmp_path / "x.css").write_text('@font-face { src: url("https://fonts.example/f.woff") }')
    assert faults("") == ["x.css: loads https://fonts.example/f.woff from another host"]


def test_a_public_name_without_a_docstring_or_a_place_is_found(monkeypatch):
    def undocumented():
        pass

    monkeypatch.setattr(setrl, "undocumented", undocumented, raising=False)
    names = ["set_advantages", "Method", "DEGENERATE", "undocumented"]
    monkeypatch.setattr(check, "public_names", lambda: ((setrl, name) for name in names))
    shown = {"setrl.set_advantages", "setrl.core.method.Method", "setrl.undocumented"}
    monkeypatch.setattr(check, "marked", lambda: shown)
    assert list(check.name_faults()) == [
        "setrl.DEGENERATE is on no page of docs/reference",
        "setrl.undocumented has no docstring",
    ]


def test_a_link_with_the_name_of_a_file_is_found(faults, tmp_path):
    assert faults('<a href="a/b.html"><code>docs/b.md</code></a> <a href="#here">B</a>') == []
    assert list(check.text_faults(tmp_path)) == [
        "index.html: a link has the text docs/b.md, not a title"
    ]


@pytest.mark.parametrize(
    ("link", "shown"),
    [
        ("[cli.md](cli.md)", "[Command line](cli.md)"),
        ("[`docs/cli.md`](cli.md)", "[Command line](cli.md)"),
        ("[cli.md](cli.md#fields-of-a-log)", "[Fields of a log](cli.md#fields-of-a-log)"),
        ("[a page](cli.md)", "[a page](cli.md)"),
        (
            "[collapse.ipynb](tutorials/collapse.ipynb)",
            "[Collapse in one minute](tutorials/collapse.ipynb)",
        ),
    ],
)
def test_a_link_gets_the_title_of_its_page(link, shown):
    pytest.importorskip("pymdownx")
    from website import titles

    assert titles.named(f"See {link}.", "docs/index.md") == f"See {shown}."


def test_a_page_for_language_models_has_one_sentence():
    pytest.importorskip("mkdocs")
    from website.llms import first_sentence

    page = "# Title\n\n```\ncode\n\n  more\n```\n\n| a |\n\n`x` is [a *link*](y.md). And more.\n"
    assert first_sentence(page) == "`x` is a link."


def test_public_names_are_those_that_users_import():
    modules = set(check.public_modules())
    assert {"setrl", "setrl.judges", "setrl.evaluate", "setrl.control"} <= modules
    assert not modules & check.INTERNAL


def test_examples_of_docstrings_become_code():
    from website.docstrings import fenced

    text = "Doubles.\n\n    f = 2x\n\n>>> 2 * 2\n4\n\nThe end."
    fence = "```"
    assert (
        fenced(text) == f"Doubles.\n\n    f = 2x\n\n{fence}pycon\n>>> 2 * 2\n4\n{fence}\n\nThe end."
    )


def test_an_output_that_changed_is_a_difference():
    nbformat = pytest.importorskip("nbformat")
    from website.notebooks import differences

    def notebook(text):
        output = nbformat.v4.new_output("stream", text=text)
        cells = [nbformat.v4.new_code_cell("print(1)", outputs=[output])]
        return nbformat.v4.new_notebook(cells=cells)

    assert differences(notebook("1\n"), notebook("1\n")) == []
    assert len(differences(notebook("1\n"), notebook("2\n"))) == 1
