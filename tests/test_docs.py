"""The guide to one's own objective prints what it shows, and every method is in the table."""

import contextlib
import io
import re
from pathlib import Path

import pytest

from setrl import methods

DOCS = Path(__file__).parents[1] / "docs"
GUIDE = DOCS / "your-own-objective.md"
BLOCK = re.compile(r"```python\n(.*?)```\n(?:```text\n(.*?)```)?", re.DOTALL)


def without_times(text: str) -> str:
    return re.sub(r"[\d,…]+ µs", "… µs", text).strip()


def test_every_block_of_the_guide_prints_what_it_shows():
    blocks = BLOCK.findall(GUIDE.read_text())
    assert len(blocks) >= 8
    namespace: dict = {"__name__": "guide"}
    for code, shown in blocks:
        printed = io.StringIO()
        with contextlib.redirect_stdout(printed):
            exec(compile(code, str(GUIDE), "exec"), namespace)
        if without_times(printed.getvalue()) != without_times(shown):
            pytest.fail(f"this block:\n{code}\nprints:\n{printed.getvalue()}")


def test_every_method_has_a_line_in_the_table():
    table = (DOCS / "methods.md").read_text()
    for name in methods.by_name:
        assert f"| `{name}(" in table
