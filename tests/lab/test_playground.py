"""The playground: one file, nothing from outside, and Python code that prints what it shows."""

import base64
import hashlib
import json
import re
from pathlib import Path

import pytest

from setrl.show import lab
from setrl.show.lab import page
from setrl.show.lab.page import Page

SNIPPETS = Path(__file__).parents[2] / "web" / "tests" / "snippets"


@pytest.fixture(scope="module")
def html():
    return lab.playground().html()


def test_the_page_is_one_file_below_420_kB(html):
    assert len(html.encode()) < 420_000
    assert not re.findall(r"<(?:link|img|iframe|script src)", html)
    style = re.search(r"<style>(.*?)</style>", html, re.DOTALL).group(1)
    assert "@import" not in style
    assert "url(" not in style


def test_the_policy_names_the_script_that_is_in_the_page_and_no_other(html):
    scripts = re.findall(r"<script>(.*?)</script>", html, re.DOTALL)
    assert len(scripts) == 1
    digest = base64.b64encode(hashlib.sha256(scripts[0].encode()).digest()).decode()
    policy = re.search(r'Content-Security-Policy" content="(.*?)"', html).group(1)
    assert f"script-src &#x27;sha256-{digest}&#x27;;" in policy
    assert policy.startswith("default-src &#x27;none&#x27;")


@pytest.mark.parametrize(
    "text", ["</script><script>alert(1)</script>", "<!--", "]]>", "\u2028", "\x00 \u202e", "é"]
)
def test_data_inside_a_page_stays_data(text):
    written = Page("playground", text, {"text": text}).html()
    data = re.search(r'id="data">(.*?)</script>', written, re.DOTALL).group(1)
    assert "<" not in data
    assert json.loads(data) == {"text": text}
    assert written.count("<script") == 2
    assert f"<title>{page.html.escape(text)}</title>" in written


def test_the_command_writes_the_page_and_opens_it(setrl, tmp_path, monkeypatch, html):
    opened = []
    monkeypatch.setattr("webbrowser.open", lambda address: opened.append(address) or True)
    output = tmp_path / "new" / "page.html"
    for _ in range(2):  # its own page may be written again
        code, printed, _ = setrl("playground", "--output", output)
        assert (code, printed.strip()) == (0, str(output))
    assert opened == [output.as_uri()] * 2
    assert output.read_text("utf-8") == html
    setrl("playground", "--output", output, "--no-open")
    assert len(opened) == 2


def test_no_other_file_is_overwritten(setrl, tmp_path):
    mine = tmp_path / "notes.html"
    mine.write_text("my notes")
    code, _, error = setrl("playground", "--output", mine, "--no-open")
    assert code == 2
    assert "is not a page of setrl" in error
    assert mine.read_text() == "my notes"


def test_a_folder_is_refused(setrl, tmp_path):
    code, _, error = setrl("playground", "--output", tmp_path, "--no-open")
    assert code == 2
    assert str(tmp_path) in error


@pytest.mark.parametrize("script", sorted(SNIPPETS.glob("*.py")), ids=lambda path: path.stem)
def test_copied_python_prints_what_the_page_shows(script, capsys):
    exec(compile(script.read_text("utf-8"), str(script), "exec"), {"__name__": "copied"})
    shown = json.loads(script.with_suffix(".json").read_text("utf-8"))
    printed = dict(re.findall(r"^(.{16}) (.*)$", capsys.readouterr().out, re.MULTILINE))
    assert printed.keys() == {name.ljust(16) for name in shown}
    for name, numbers in printed.items():
        assert [float(number) for number in numbers.split()] == pytest.approx(
            shown[name.strip()], abs=5.1e-5
        )
