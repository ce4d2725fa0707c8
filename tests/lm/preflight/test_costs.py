"""What `setrl train --dry-run` counts, against what small runs took."""

import pytest

from setrl.support import files
from setrl.support.files.run_folder import TrainingRun, training_run
from setrl.train.lm.preflight.costs import costs
from setrl.train.lm.preflight.model_size import size_of
from setrl.train.lm.run import run_comparison
from setrl.train.lm.server import train_on_server
from setrl.train.runs.pool import Stop
from tests.at_once import at_once
from tests.engines.fake_tinker import FakeServer
from tests.judges.server import FaultyServer
from tests.tasks import models
from tests.tiny import tiny

NOISY = "studies.faulty:NoisyJudge"
TEST = {"test": 4}  # split → problems


class CountingServer(FaultyServer):
    """A judge that counts the tokens of its requests, of three bytes each."""

    read = 0

    async def answer(self, request, body):
        self.read += sum(len(one["content"].encode()) for one in body["messages"]) / 3
        return await super().answer(request, body)


def bytes_in(*paths):
    return sum(path.stat().st_size for path in paths if path.is_file())


@pytest.fixture(scope="module")
def small(base, tmp_path_factory):
    """The config of a small run with a judge, its folder, and what its judge counted."""
    folder = tmp_path_factory.mktemp("small")
    with CountingServer() as server, at_once():
        judge = {"judge": "lm", "model": "m", "endpoint": server.url}
        resolved = tiny(
            arms={
                "grpo": {"method": "grpo"},
                "poly_epo": {"method": "poly_epo", "set_size": 2, "judge": judge},
            },
            steps=12,
            stop_rule=None,  # this base solves nothing
            checkpoint_every=4,
            rollouts_every=2,
            samples_per_prompt=6,
            eval_splits=("test",),
            eval_problems=4,
            eval_samples=16,
        )
        run_comparison(resolved, folder / "run", cache=base.parent, show_progress=False)
    return resolved, folder / "run", server


def test_the_most_tokens_are_an_upper_bound_that_is_not_far_off(small):
    resolved, run, _ = small
    found, sampled = costs(resolved, TEST), 0
    for arm in resolved.arms:
        lines = files.read_lines(training_run(run, arm, 0).metrics)
        sampled += sum(step["length/mean"] for step in lines) * 12
    assert (found.runs, found.prompts, found.samples) == (2, 2 * 12 * 2, 2 * 12 * 2 * 6)
    assert sampled <= found.sampled == found.samples * resolved.sample_tokens < 3 * sampled
    assert found.sampled < found.trained < found.sampled + found.samples * 100
    assert found.evaluated_samples == 3 * 4 * 16
    assert found.evaluated == found.evaluated_samples * resolved.sample_tokens


def test_the_judge_is_asked_as_often_and_reads_no_more(small):
    resolved, _, server = small
    found = costs(resolved, TEST).judged
    assert found.requests == len(server.bodies) == 12 * 2
    assert server.read <= found.read < 2 * server.read


def test_the_disk_holds_no_more(small):
    resolved, run, _ = small
    runs = [training_run(run, arm, 0) for arm in resolved.arms]
    found = costs(resolved, TEST).disk
    checkpoints = bytes_in(*(path for one in runs for path in one.checkpoints.rglob("*")))
    models = bytes_in(*(p for one in runs for p in one.final.rglob("*")), *run.glob("base/*"))
    samples = bytes_in(*run.rglob("rollouts/*"), *run.rglob("evaluation/**/*.jsonl"))
    assert found.checkpoints == pytest.approx(checkpoints, rel=0.3)
    assert found.models == pytest.approx(models, rel=0.3)
    assert samples <= found.samples < 4 * samples
    assert found.here == found.checkpoints + found.models + found.samples


def test_a_server_is_sent_adapters_and_batches(base, tmp_path):
    engine = {"tinker": "http://127.0.0.1:9", "rank": 4}
    resolved = tiny(
        model=str(base),
        engine=engine,
        steps=5,
        checkpoint_every=5,
        samples_per_prompt=16,
        rollouts_every=10,
    )
    run, kept = TrainingRun(tmp_path / "grpo" / "seed_0"), []
    watch = lambda _: kept.append(bytes_in(*run.checkpoints.rglob("step_*.json")))  # noqa: E731
    train_on_server(resolved, "grpo", 0, run, watch, Stop(), FakeServer(base).connect)
    found, size = costs(resolved, {}).disk, size_of(resolved)
    length = sum(step["length/mean"] for step in files.read_lines(run.metrics)) / 5
    longest = resolved.sample_tokens / length
    assert max(kept) <= found.checkpoints < 2 * longest * max(kept)
    assert 0 < size.trained < size.weights
    assert found.on_server == 2 * (2 * 3 + 1) * 4 * size.trained  # two arms


def test_adapters_of_peft(tmp_path):
    model = models.make(tmp_path / "model")
    resolved = tiny(model=str(model), peft={"r": 2, "target_modules": ["q_proj", "v_proj"]})
    assert size_of(resolved).trained == 2 * 2 * (32 + 32)  # A and B of two layers of 32 × 32


@pytest.mark.parametrize(
    ("judge", "requests"),
    [
        (None, 0),
        ("exact", 0),
        ({"judge": "lm"}, 1),
        ({"judge": NOISY, "flips": 0.1, "of": {"judge": "lm"}}, 1),
        ({"judge": "pairwise", "of": {"judge": "lm"}, "ask": "all_pairs"}, 6),
    ],
)
def test_requests_of_every_kind_of_judge(judge, requests):
    def filled(spec):
        if not isinstance(spec, dict):
            return spec
        if spec["judge"] == "lm":
            return {**spec, "model": "m", "endpoint": "http://127.0.0.1:9/v1"}
        return {key: filled(value) for key, value in spec.items()}

    resolved = tiny(arms={"a": {"method": "grpo", "judge": filled(judge)}})
    found = costs(resolved, TEST)
    assert found.judged.requests == requests * 6 * 2
