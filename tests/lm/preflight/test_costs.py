"""`setrl plan`: what it says of small runs is within 30% of what they took."""

import json
import math
from pathlib import Path

import pytest
from aiohttp import web

from setrl import cli, files
from setrl.errors import ConfigError, DataError
from setrl.files.run_folder import TrainingRun, training_run
from setrl.lm.config import ComparisonConfig
from setrl.lm.preflight.costs import Assumptions, costs
from setrl.lm.run import run_comparison
from setrl.lm.server import train_on_server
from setrl.runs.pool import Stop
from tests.engines.fake_tinker import FakeServer
from tests.judges.server import FaultyServer
from tests.tasks import models
from tests.tiny import tiny_config

WITHIN = 0.3
RECIPE = Path(__file__).parents[3] / "recipes" / "qwen3_4b_polaris"
SIZES = RECIPE / "qwen3_4b_base.json"
DATA = "task.data=polaris_2000.jsonl.gz"


def is_near(planned, taken):
    return planned == pytest.approx(taken, rel=WITHIN)


class CountingServer(FaultyServer):
    """A judge that counts the tokens of its requests and replies, and says them."""

    def __init__(self, bytes_of_token=3, thoughts=""):
        super().__init__()
        self.read = self.written = 0
        self.bytes_of_token, self.thoughts = bytes_of_token, thoughts

    def tokens(self, text):
        return -(-len(text.encode()) // self.bytes_of_token)

    async def answer(self, request, body):
        read = sum(self.tokens(message["content"]) for message in body["messages"])
        response = json.loads((await super().answer(request, body)).text)
        message = response["choices"][0]["message"]
        message["content"] = self.thoughts + message["content"]
        written = self.tokens(message["content"])
        self.read, self.written = self.read + read, self.written + written
        response["usage"] = {"prompt_tokens": read, "completion_tokens": written}
        return web.json_response(response)


def do_at_once(jobs, *_, **__):
    for job in jobs:
        job.do(lambda _: None, Stop())


def bytes_in(*paths):
    return sum(path.stat().st_size for path in paths if path.is_file())


@pytest.fixture(scope="module")
def small(base, tmp_path_factory):
    """The config of a small run with a judge, its folder, and what its judge counted."""
    folder = tmp_path_factory.mktemp("small")
    with CountingServer() as server, pytest.MonkeyPatch.context() as patch:
        patch.setattr("setrl.runs.run.run_jobs", do_at_once)
        judge = {
            "judge": "lm", "model": "m", "endpoint": server.url,
            "prices": {"prompt": 1.0, "reply": 4.0},
        }  # fmt: skip
        config = tiny_config(
            arms={
                "grpo": {"method": "grpo"},
                "poly_epo": {"method": "poly_epo", "set_size": 2, "judge": judge},
            },
            steps=12,
            checkpoint_every=4,
            rollouts_every=2,
            samples_per_prompt=6,
            eval_splits=("test",),
            eval_problems=4,
            eval_samples=16,
        )
        run_comparison(config, folder / "run", cache=base.parent, show_progress=False)
    return config, folder / "run", server


@pytest.fixture(scope="module")
def planned(small):
    config, run, _ = small
    return costs(config, Assumptions(like=run))


def test_tokens_are_those_that_were_sampled_and_trained_on(small, planned):
    config, run, _ = small
    sampled = trained = 0
    for arm in config.arms:
        folder = training_run(run, arm, 0)
        sampled += sum(step["length/mean"] for step in files.read_lines(folder.metrics)) * 12
        history = json.loads((folder.checkpoint(12) / "trainer_state.json").read_text())
        trained += max(step.get("num_tokens", 0) for step in history["log_history"])
    assert is_near(planned.sampled, sampled)
    assert is_near(planned.trained, trained)
    assert planned.samples == 2 * 12 * 2 * 6
    limit = costs(config, Assumptions())
    assert limit.sampled == limit.samples * config.sample_tokens >= sampled
    assert any("the limit, which is the most" in sentence for sentence in limit.assumed)


def test_the_judge_is_asked_as_often_and_for_as_much(small, planned):
    _, _, server = small
    assert planned.judged.requests == len(server.bodies) == 12 * 2
    assert is_near(planned.judged.read, server.read)
    assert is_near(planned.judged.written, server.written)
    assert is_near(planned.judged.cost, (server.read + 4 * server.written) / 1e6)
    without = costs(small[0], Assumptions(sample_tokens=planned.texts.sample_tokens))
    assert is_near(without.judged.read, server.read)  # at 3 bytes a token, as the server counts
    assert is_near(without.judged.written, server.written)
    given = costs(small[0], Assumptions(like=small[1], judge_prices=(2.0, 8.0)))
    assert is_near(given.judged.cost, 2 * (server.read + 4 * server.written) / 1e6)


def test_a_pilot_foretells_the_tokens_of_another_tokenizer_and_of_thoughts(
    base, tmp_path, monkeypatch
):
    monkeypatch.setattr("setrl.runs.run.run_jobs", do_at_once)
    taken = []
    for steps, n in ((2, 4), (6, 8)):
        with CountingServer(bytes_of_token=5, thoughts="Let me see. " * 20) as server:
            judge = {"judge": "lm", "model": "m", "endpoint": server.url}
            arms = {"poly_epo": {"method": "poly_epo", "set_size": 2, "judge": judge}}
            config = tiny_config(arms=arms, steps=steps, samples_per_prompt=n)
            run = tmp_path / str(steps)
            run_comparison(config, run, cache=base.parent, show_progress=False)
            taken.append((server.read, server.written))
    found = costs(config, Assumptions(like=tmp_path / "2")).judged
    assert is_near(found.read, taken[1][0])
    assert found.written >= taken[1][1] > 0  # thoughts may grow with the samples, or not
    assert not is_near(costs(config, Assumptions()).judged.read, taken[1][0])


def test_the_disk_holds_as_much(small, planned):
    config, run, _ = small
    runs = [training_run(run, arm, 0) for arm in config.arms]
    taken = {
        "checkpoints": bytes_in(*(p for one in runs for p in one.checkpoints.rglob("*"))),
        "models": bytes_in(*(p for one in runs for p in one.final.rglob("*")), *run.glob("base/*")),
        "samples": bytes_in(*run.rglob("rollouts/*"), *run.rglob("judge.sqlite")),
        "metrics": bytes_in(*run.rglob("metrics.jsonl")),
        "evaluations": bytes_in(*run.rglob("evaluation/**/*")),
    }
    for part, size in taken.items():
        assert is_near(getattr(planned.disk, part), size), (part, planned.disk, taken)
    assert is_near(planned.disk.here - planned.disk.report, sum(taken.values()))


def test_a_pilot_foretells_a_longer_run_of_longer_batches(small, tmp_path, monkeypatch, base):
    """Of a run with other sizes: tokens, bytes and the form of what is printed."""
    _, run, _ = small
    longer = tiny_config(
        arms={"poly_epo": {"method": "poly_epo", "set_size": 2}},
        steps=10,
        prompts_per_step=3,
        samples_per_prompt=8,
        checkpoint_every=5,
        rollouts_every=1,
    )
    monkeypatch.setattr("setrl.runs.run.run_jobs", do_at_once)
    made = run_comparison(longer, tmp_path / "run", cache=base.parent, show_progress=False)
    found = costs(longer, Assumptions(like=run))
    folder = training_run(made, "poly_epo", 0)
    lengths = [step["length/mean"] for step in files.read_lines(folder.metrics)]
    assert is_near(found.sampled, sum(lengths) * 3 * 8)
    taken = bytes_in(*(path for path in made.rglob("*") if path.name != ".lock"))
    assert is_near(found.disk.here - found.disk.report, taken)
    seconds, _ = found.measured_s
    assert 0 < seconds < math.inf  # how good it is depends on what else the machine does


def plan(capsys, *options):
    with pytest.raises(SystemExit) as left:
        cli.main(["plan", *map(str, options)])
    return left.value.code, capsys.readouterr()


FULL = (RECIPE / "trl.yaml", "--set", DATA, "--model-sizes", SIZES)


def test_the_recipe_at_full_size_needs_no_model_and_no_server(capsys):
    code, printed = plan(capsys, *FULL, "--gpus", 4, "--judge-sizes", SIZES, "--json")
    assert code == 0, printed.err
    found = json.loads(printed.out)
    assert found["samples"] == 2 * 850 * 128 * 8
    assert found["judged"]["requests"] == 2 * 850 * 128
    size = found["size"]["weights"]
    assert size == pytest.approx(4.02e9, rel=0.01)
    assert found["work"]["sampling"] == pytest.approx(2 * size * (found["sampled"] + found["read"]))
    forwards = 2 + 2  # before the update for vLLM's correction, and for activations
    assert found["work"]["training"] == pytest.approx((6 + forwards) * size * found["trained"])
    memory = found["memory"]
    held = [memory[part] for part in ("weights", "gradients", "moments", "sampler")]
    assert held == pytest.approx([4 * size, 4 * size, 8 * size, 2 * size])
    assert memory["logits"] == 4096 * 151_936 * 4
    assert found["disk"]["checkpoints"] == pytest.approx(2 * 2 * 12 * size, rel=0.01)
    judge = 2 * size * (found["judged"]["read"] + found["judged"]["written"])
    assert found["work"]["judge"] == pytest.approx(judge)
    hours = found["work"]["training"] / (4 * 989e12 * 0.3) / 3600
    assert found["work"]["training_s"] / 3600 == pytest.approx(hours)


def test_many_gpus_wait_for_the_longest_sample(capsys):
    config = ComparisonConfig.load(RECIPE / "trl.yaml", [DATA])
    few, many = (costs(config, Assumptions(model_sizes=SIZES, gpus=n)) for n in (8, 512))
    assert few.work.sampling_s == pytest.approx(few.work.sampling / (8 * 989e12 * 0.1))
    assert many.work.sampling_s == many.work.least_sampling_s
    token_s = 2 * many.size.weights / 3.35e12  # of 850 batches in each of two arms
    assert many.work.sampling_s == pytest.approx(2 * 850 * 4096 * token_s)
    assert many.work.training_s == pytest.approx(few.work.training_s / 64)
    _, printed = plan(capsys, *FULL, "--gpus", 512)
    assert "more GPUs make it no faster" in printed.out


def test_a_server_is_sent_adapters_and_batches(base, tmp_path):
    """What waits for it on this disk is within 30% of what a client keeps."""
    engine = {"tinker": "http://127.0.0.1:9", "rank": 4}
    config = tiny_config(
        model=str(base),
        engine=engine,
        steps=5,
        checkpoint_every=5,
        samples_per_prompt=16,
        rollouts_every=10,
    )
    run, kept = TrainingRun(tmp_path / "grpo" / "seed_0"), []
    watch = lambda _: kept.append(bytes_in(*run.checkpoints.rglob("step_*.json")))  # noqa: E731
    server = FakeServer(base)
    train_on_server(config, "grpo", 0, run, watch, Stop(), server.connect)
    steps = list(files.read_lines(run.metrics))
    length = sum(step["length/mean"] for step in steps) / 5
    found = costs(config, Assumptions(sample_tokens=length, train_price=3.0, sample_price=1.0))
    assert is_near(found.open_batches * 4 / 6, max(kept))  # four, of at most six
    assert 0 < found.size.trained < found.size.weights
    paid = (found.sampled + found.evaluated) * 1.0 + found.trained * 3.0
    assert found.engine_cost == pytest.approx(paid / 1e6)
    assert found.disk.on_server > found.disk.checkpoints
    assert found.memory.weights == 2 * found.size.weights
    assert found.memory.logits == config.sample_tokens * found.size.vocabulary * 4


def test_adapters_of_peft(tmp_path):
    model = models.make(tmp_path / "model")
    config = tiny_config(model=str(model), peft={"r": 2, "target_modules": ["q_proj", "v_proj"]})
    found = costs(config, Assumptions())
    assert found.size.trained == 2 * 2 * (32 + 32)  # A and B of two layers of 32 × 32
    assert found.memory.moments == 2 * 4 * found.size.trained


@pytest.mark.parametrize(
    ("judge", "requests"),
    [
        (None, 0),
        ("exact", 0),
        ({"judge": "lm"}, 1),
        ({"judge": "noisy", "flips": 0.1, "of": {"judge": "lm"}}, 1),
        ({"judge": "ensemble", "judges": [{"judge": "lm"}, "exact", {"judge": "lm"}]}, 2),
        ({"judge": "pairwise", "of": {"judge": "lm"}, "ask": "all_pairs"}, 6),
    ],
)
def test_requests_of_every_kind_of_judge(judge, requests):
    def filled(spec):
        if not isinstance(spec, dict):
            return spec
        if spec["judge"] == "lm":
            return {**spec, "model": "m", "endpoint": "http://127.0.0.1:9/v1"}
        return {k: list(map(filled, v)) if k == "judges" else filled(v) for k, v in spec.items()}

    config = tiny_config(arms={"a": {"method": "grpo", "judge": filled(judge)}})
    found = costs(config, Assumptions())
    assert found.judged.requests == requests * 6 * 2


@pytest.mark.parametrize(
    ("options", "code", "sentence"),
    [
        (("--gpus", 0), 2, "--gpus must be a number above 0, got 0"),
        (("--training-utilisation", 30), 2, "--training-utilisation is a share, at most 1, got 30"),
        (("--sample-price", -1), 2, "--sample-price must be at least 0, got -1"),
        (("--sample-tokens", 5000), 2, "--sample-tokens 5000 is above max_new_tokens, 4,096"),
        (("--like", "nowhere"), 2, "nowhere is not a run directory"),
        (("--model-sizes", "none.json"), 2, "the sizes of the model none.json cannot be read"),
        (("--set", "stepz=3"), 2, "did you mean 'steps'"),
    ],
)
def test_what_cannot_be_planned(capsys, options, code, sentence):
    left, printed = plan(capsys, *FULL, *options)
    assert (left, sentence in printed.err) == (code, True), printed.err


def test_a_run_without_steps_cannot_be_likened(tmp_path):
    run = tmp_path / "run"
    (run / "grpo" / "seed_0").mkdir(parents=True)
    (run / "config.yaml").write_text(tiny_config().to_yaml())
    with pytest.raises(ConfigError, match="holds no training run"):
        costs(tiny_config(), Assumptions(like=run))
    (run / "grpo" / "seed_0" / "metrics.jsonl").touch()
    with pytest.raises(DataError, match="no step is recorded"):
        costs(tiny_config(), Assumptions(like=run))


def test_the_table_of_the_guide_is_what_its_command_prints():
    from benchmarks import scaling

    page = (RECIPE.parents[1] / "docs" / "scaling.md").read_text(encoding="utf-8")
    assert "\n".join(scaling.plan_lines()) in page
