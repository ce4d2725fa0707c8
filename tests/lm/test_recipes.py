from pathlib import Path

import pytest

from setrl.train.lm.resolved import ResolvedConfig

CONFIGS = sorted((Path(__file__).parents[2] / "recipes").glob("*/config.yaml"))
RECIPES = [path for path in CONFIGS if not path.parent.name.startswith("control_")]


@pytest.mark.parametrize("path", RECIPES, ids=lambda path: path.parent.name)
def test_every_recipe_is_a_valid_config_of_its_own_name(path):
    if "reasoning_gym:" in path.read_text(encoding="utf-8"):
        pytest.importorskip("reasoning_gym")
    assert ResolvedConfig.load(path).name == path.parent.name
