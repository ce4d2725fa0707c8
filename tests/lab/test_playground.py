"""The playground: one file, nothing from outside, and Python code that prints what it shows."""

import base64
import hashlib
import json
import re
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest

from setrl.show import lab
from setrl.show.lab import page
from setrl.show.lab.page import Page
from tests.lab import published

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


LEAST = re.compile(
    " On prompts with .*, it is [0-9.]+ times the least that an unbiased estimator .*"
)
AUDITS = sorted((SNIPPETS / "audit").glob("*.py"))


@pytest.mark.parametrize("script", AUDITS, ids=lambda path: path.stem)
def test_copied_formula_has_the_audit_that_the_page_shows(script):
    copied = {"__name__": "copied", "print": lambda _: None}  # its sentences take half of the time
    exec(compile(script.read_text("utf-8"), str(script), "exec"), copied)
    found, shown = copied["found"], json.loads(script.with_suffix(".json").read_text("utf-8"))
    vars(found)["made"] = None  # the page does not look for it
    near, noise = found.nearest, found.variance
    _, first = np.unique(found._library.scores_KS.round(9), axis=0, return_index=True)
    labels = [found._library.objectives[at].label for at in sorted(first)]
    assert labels == shown["objectives"], "write new objectives into web/src/maths/audit/known.ts"
    for now, then in (
        (near.factors if near else [], shown["factors"]),
        (near.off if near else 0, shown["off"]),
        (found.gradient.values_PA[-2:], np.array(shown["gradient"])),
        (noise.values_P[-2:], shown["variance"]),
        (noise.ratio, shown["ratio"] or float("nan")),
        (found.survivors.accuracy, shown["accuracy"]),
    ):
        assert now == pytest.approx(then, rel=1e-9, abs=1e-12, nan_ok=True)
    assert found.survivors.shares == pytest.approx(shown["shares"], abs=5.1e-5)  # four digits
    holds = {law.name: law.holds for law in found.laws if law.holds is not None}
    assert holds == holds | shown["laws"]
    assert all(holds[name] for name in holds if name not in shown["laws"])
    said = [LEAST.sub("", one) for one in found.sentences()]
    said = [one.replace("Warning: estimator", "Warning: the formula", 1) for one in said]
    said = [re.sub("^estimator ", "The formula ", one) for one in said]
    assert said == shown["sentences"], "write new facts into web/src/maths/audit/text.ts, too"


def test_published_formulas_are_those_of_the_audited_table():
    for path, text in published.texts().items():
        assert path.read_text("utf-8") == text, "write it again: python -m tests.lab.published"


def test_the_first_snippet_runs_by_itself():
    ended = subprocess.run(
        [sys.executable, SNIPPETS / "start.py"], check=True, capture_output=True, text=True
    )
    assert ended.stdout.startswith("GRPO")
