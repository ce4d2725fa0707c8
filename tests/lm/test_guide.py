"""docs/your-own-task.md runs unchanged, with a tiny model instead of its own."""

import contextlib
import io
import re
from pathlib import Path
from types import SimpleNamespace

import pytest

from tests import tiny_model

GUIDE = Path(__file__).parents[2] / "docs" / "your-own-task.md"
BLOCK = re.compile(r"```python\n(.*?)```\n(?:```text\n(.*?)```)?", re.DOTALL)
NAMED = '"Qwen/Qwen3-0.6B"'
LONG = "max_steps=200"


@pytest.fixture(scope="module")
def guide(tmp_path_factory):
    """What the blocks leave behind, and what each printed next to what the page shows."""
    folder = tmp_path_factory.mktemp("guide")
    model, namespace, printed = tiny_model.make(folder / "model"), {}, []
    with contextlib.chdir(folder):
        for code, shown in BLOCK.findall(GUIDE.read_text(encoding="utf-8")):
            out = io.StringIO()
            code = code.replace(NAMED, repr(str(model))).replace(LONG, "max_steps=2, use_cpu=True")
            with contextlib.redirect_stdout(out):
                exec(compile(code, str(GUIDE), "exec"), namespace)
            printed.append((out.getvalue(), shown))
    return SimpleNamespace(printed=printed, **namespace)


def test_blocks_print_what_they_show(guide):
    text = GUIDE.read_text(encoding="utf-8")
    assert NAMED in text
    assert LONG in text
    shown = [(printed, expected) for printed, expected in guide.printed if expected]
    assert len(shown) == 3
    for printed, expected in shown:
        assert printed == expected


def test_the_task_is_read_as_the_guide_says(guide):
    texts, totals = ["3 and 31", "31, 3", "17+17", "4+30", "", "5 5 5", "3 31"], [34] * 6 + [36]
    assert guide.correct(texts, totals) == [1, 1, 1, 0, 0, 0, 0]
    names = guide.strategy(texts)
    assert names[0] == names[1] != names[2]
    assert names[4] == -1
    history = guide.trainer.state.log_history
    assert history[0]["strategies/per_prompt"] >= 0
    assert guide.trainer.state.global_step == 2
