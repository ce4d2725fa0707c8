"""What several studies start from."""

import pytest


@pytest.fixture(scope="session")
def finished(base, tmp_path_factory):
    """A finished run of one arm with two seeds."""
    from setrl.train.lm.run import run_comparison
    from tests.at_once import at_once
    from tests.tiny import tiny

    resolved = tiny(
        arms={"grpo": {"method": "grpo", "entropy_coef": 1.0}},  # moves weights without rewards
        seeds=[1, 2],
        steps=2,
        learning_rate=1e-2,
        eval_splits=["test", "shifted"],
        eval_problems=3,
        eval_samples=32,
        workers=1,
    )
    folder = tmp_path_factory.mktemp("runs") / "run"
    with at_once():
        return run_comparison(resolved, folder, cache=base.parent, show_progress=False)
