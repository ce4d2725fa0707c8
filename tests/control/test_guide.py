"""The code of docs/poly-ppo.md runs."""

import re
from pathlib import Path
from typing import Any

import pytest

from setrl.control.jax import check_env

GUIDE = Path(__file__).parents[2] / "docs" / "poly-ppo.md"


def blocks() -> list[str]:
    return re.findall(r"```python\n(.*?)```", GUIDE.read_text(), re.DOTALL)


@pytest.mark.filterwarnings("ignore::UserWarning")
def test_the_ten_lines_train() -> None:
    namespace: dict[str, Any] = {"__name__": "guide"}
    code = blocks()[0].replace("20_000", "300")
    exec(compile(code, str(GUIDE), "exec"), namespace)
    assert namespace["model"].num_timesteps >= 300


def test_the_environment_of_three_functions_is_one_of_jax() -> None:
    namespace: dict[str, Any] = {"__name__": "guide"}
    exec(compile(blocks()[1], str(GUIDE), "exec"), namespace)
    assert check_env(namespace["Doors"]()) == 8
