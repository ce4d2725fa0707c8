"""The README's lines give the README's output; its links and the picture of packages hold."""

import contextlib
import io
import re
from pathlib import Path

ROOT = Path(__file__).parent.parent
README = (ROOT / "README.md").read_text(encoding="utf-8")


def test_the_ten_lines_print_what_stands_below_them():
    code, output = re.search(r"```python\n(.*?)```\n\n```\n(.*?)```", README, re.DOTALL).groups()
    printed = io.StringIO()
    with contextlib.redirect_stdout(printed):
        exec(compile(code, "README.md", "exec"), {})
    assert printed.getvalue() == output


def test_links_lead_somewhere():
    links = re.findall(r"\]\((?!http)([^)#]+)\)", README)
    assert len(links) > 5
    for path in links:
        assert (ROOT / path).exists(), path


def test_the_picture_of_the_packages_names_them_all():
    page = (ROOT / "docs" / "architecture.md").read_text(encoding="utf-8")
    named = re.findall(r"^([a-z]+)(?: \| ([a-z]+))?  ", page.split("```")[1], re.MULTILINE)
    packages = {path.parent.name for path in (ROOT / "src" / "setrl").glob("*/__init__.py")}
    assert {name for line in named for name in line if name} == packages
