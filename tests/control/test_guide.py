"""The ten lines of docs/poly-ppo.md run."""

import re
from pathlib import Path
from typing import Any

import pytest

GUIDE = Path(__file__).parents[2] / "docs" / "poly-ppo.md"


@pytest.mark.filterwarnings("ignore::UserWarning")
def test_the_ten_lines_train() -> None:
    (code,) = re.findall(r"```python\n(.*?)```", GUIDE.read_text(), re.DOTALL)
    namespace: dict[str, Any] = {"__name__": "guide"}
    exec(compile(code.replace("20_000", "300"), str(GUIDE), "exec"), namespace)
    assert namespace["model"].num_timesteps >= 300
