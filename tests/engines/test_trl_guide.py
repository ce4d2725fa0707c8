"""The block of docs/trl.md with a judge runs as it stands, with a tiny model and a fake server."""

import contextlib
import re
from pathlib import Path

from tests import tiny_model
from tests.judges.server import FaultyServer

SHORT = "max_steps=2, max_completion_length=4, logging_steps=1, use_cpu=True"
GUIDE = Path(__file__).parents[2] / "docs" / "trl.md"


def test_the_judge_of_the_guide_gives_the_strategies(tmp_path):
    blocks = re.findall(r"```python\n(.*?)```", GUIDE.read_text(encoding="utf-8"), re.DOTALL)
    [code] = [block for block in blocks if "LMJudge(" in block]
    model = tiny_model.make(tmp_path / "model")
    with FaultyServer() as server, contextlib.chdir(tmp_path):
        for given, ours in (
            ('"Qwen/Qwen3-0.6B"', repr(str(model))),
            ("http://localhost:8001/v1", server.url),
            ("max_steps=200", SHORT),
        ):
            assert given in code
            code = code.replace(given, ours)
        space = {}
        exec(compile(code, str(GUIDE), "exec"), space)
        asked = len(server.log)
    history = space["trainer"].state.log_history
    assert asked == 4  # prompts: two a step
    assert [one["judge/unknown"] for one in history if "judge/unknown" in one] == [0, 0]
    assert history[0]["strategies/per_prompt"] >= 1
    assert (tmp_path / "judge.sqlite").is_file()
