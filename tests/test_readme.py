"""The README's lines give the README's output, and its links lead somewhere."""

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


def test_links_and_the_tree_lead_somewhere():
    links = re.findall(r"\]\((?!http)([^)#]+)\)", README)
    tree = re.findall(r"^  ([a-z_]+(?:/|\.py)) ", README, re.MULTILINE)
    assert len(links) > 5
    assert len(tree) > 8
    for path in (*links, *(f"src/setrl/{name}" for name in tree)):
        assert (ROOT / path).exists(), path
