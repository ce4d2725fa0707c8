"""What `setrl train --dry-run` counts, against what small runs took."""

import pytest

from setrl.logs.run import Run
from setrl.support import files
from setrl.train.lm.preflight.plan import costs, requests_of_judge
from setrl.train.lm.run import run_comparison
from tests.at_once import at_once
from tests.judges.server import FaultyServer
from tests.tiny import tiny

NOISY = "studies.faulty:NoisyJudge"
TEST = {"test": 4}  # split → problems


def test_a_run_takes_as_much_and_at_most_as_many_tokens(base, tmp_path):
    run, sampled = tmp_path / "run", 0
    with FaultyServer() as server, at_once():
        judge = {"judge": "lm", "model": "m", "endpoint": server.url}
        resolved = tiny(
            arms={
                "grpo": {"method": "grpo"},
                "poly_epo": {"method": "poly_epo", "set_size": 2, "judge": judge},
            },
            steps=12,
            stop_rule=None,  # this base solves nothing
            samples_per_prompt=6,
            eval_splits=("test",),
            eval_problems=4,
            eval_samples=16,
        )
        run_comparison(resolved, run, cache=base.parent, show_progress=False)
    for arm in resolved.arms:
        lines = files.read_lines(Run(run).seed(arm, 0).metrics_file)
        sampled += sum(step["length/mean"] for step in lines) * 12
    found = costs(resolved, TEST)
    assert (found["prompts"], found["samples"]) == (2 * 12 * 2, 2 * 12 * 2 * 6)
    assert sampled <= found["sampled_tokens"] == found["samples"] * resolved.sample_tokens
    assert found["evaluated_samples"] == 3 * 4 * 16
    assert found["judge_requests"] == len(server.bodies) == 12 * 2


@pytest.mark.parametrize(
    ("judge", "expected"),
    [
        (None, 0),
        ("exact", 0),
        ({"judge": "lm"}, 1),
        ({"judge": NOISY, "flips": 0.1, "of": {"judge": "lm"}}, 1),
        ({"judge": "pairwise", "of": {"judge": "lm"}}, 6),
    ],
)
def test_requests_of_every_kind_of_judge(judge, expected):
    assert requests_of_judge(judge, 4) == expected
