"""`setrl sample` from options to a file of samples and printed numbers."""

import json

import numpy as np
import pytest

from setrl.cli.evaluate import Evaluate
from setrl.cli.sample import SampleModel
from setrl.evaluate.loading import load_evaluation
from setrl.evaluate.metrics import metric_values
from setrl.logs.records import read_records
from setrl.support.errors import ConfigError, RunError
from tests import tiny_model
from tests.models.samples import ReasoningServer, SampleServer


@pytest.fixture(scope="module")
def tiny_checkpoint(tmp_path_factory):
    return tiny_model.make(tmp_path_factory.mktemp("checkpoint"))


@pytest.fixture
def data(tmp_path):
    """Problems that the server answers by repeating them: one rightly, one wrongly."""
    path = tmp_path / "mine.jsonl"
    rows = [{"problem": r"Say \boxed{8}.", "answer": 8},
            {"problem": r"Say \boxed{7}.", "answer": 8}]  # fmt: skip
    path.write_text("".join(json.dumps(row) + "\n" for row in rows))
    return path


def sample(**options):
    SampleModel(**options).run()


def test_prints_what_the_file_holds_and_summarises_it(tiny_checkpoint, tmp_path, capsys):
    path = tmp_path / "model" / "evaluation" / "test.jsonl"
    sample(checkpoint=tiny_checkpoint, domain="polynomial", problems=3, samples=8, output=path)
    printed = capsys.readouterr().out
    assert "3 problems × 8 samples, temperature 1" in printed
    values = metric_values(load_evaluation(path))
    _, over_k, *_ = printed.split("\n\n")
    rows = {line.split()[0]: line for line in over_k.splitlines()}
    for k in (1, 2, 4, 8):
        assert f"{100 * values[f'pass@{k}'].mean():.1f}% [" in rows[str(k)]
    assert "strategies@k" in printed  # 0: a random model writes texts of no strategy, as was read
    assert values["degenerate"].tolist() == [1, 1, 1]
    assert np.isnan(values["top_share"]).all()
    summary = json.loads((path.parent / "summary.json").read_text())
    assert summary["splits"]["test"]["arms"]["model"]["n"] == 8


def test_an_endpoint_on_one_s_own_problems(data, tmp_path, capsys):
    path = tmp_path / "out" / "mine.jsonl"
    with SampleServer() as server:
        options = {"endpoint": server.url, "model": "m", "data": data, "samples": 4}
        sample(**options, output=path, temperature=0.6, top_p=0.95)
        asked = len(server.bodies)
        sample(**options, output=path, temperature=0.6, top_p=0.95)
        assert len(server.bodies) == asked == 2
    printed, err = capsys.readouterr()
    assert "note: 2 problems: `setrl recommend` needs 5, better 50" in err
    assert printed.startswith(f"{path}\n")
    assert "2 problems × 4 samples, temperature 0.6" in printed
    assert "50.0% [" in printed
    assert "strategies" not in printed
    right, wrong = read_records(path)
    assert (right["correct"], wrong["correct"]) == ([1] * 4, [0] * 4)
    assert (right["answers"], wrong["answers"]) == (["8"] * 4, ["7"] * 4)
    assert (right["id"], right["gold"], right["top_p"]) == ("mine/0", "8", 0.95)


def test_json_is_all_that_goes_to_stdout(data, tmp_path, capsys):
    with SampleServer() as server:
        sample(endpoint=server.url, model="m", data=data, samples=2, output=tmp_path / "out.jsonl")
    capsys.readouterr()
    Evaluate(file=tmp_path / "out.jsonl", json=True).run()
    printed = json.loads(capsys.readouterr().out)
    assert printed["metrics"]["pass@1"]["value"] == 0.5
    assert (printed["problems"], printed["n"]) == (2, 2)


def test_unfinished_problems_are_said_and_left_out(data, tmp_path, capsys):
    with SampleServer(["400", "400"]) as server:
        options = {"endpoint": server.url, "model": "m", "data": data, "samples": 2}
        options["output"] = tmp_path / "out.jsonl"
        with pytest.raises(
            RunError, match=r"unfinished and not .*: 1 problem .*refused: 2 samples, .*HTTP 400: no"
        ):
            sample(**options, concurrency=1)
        assert "1 problem × 2 samples" in capsys.readouterr().out
        sample(**options)
    assert "2 problems × 2 samples" in capsys.readouterr().out


@pytest.mark.parametrize(("what", "temperature"), [("greedy", 1.0), ("greedy", 0.0), ("ok", 1.0)])
def test_a_server_that_does_not_sample_is_noticed(data, tmp_path, capsys, what, temperature):
    with SampleServer([what], forever=True) as server:
        sample(endpoint=server.url, model="m", data=data, samples=4, temperature=temperature,
                 output=tmp_path / "out.jsonl")  # fmt: skip
    noticed = "all samples of each problem have the same text" in capsys.readouterr().err
    assert noticed == (what == "greedy" and temperature > 0)


def test_samples_that_are_all_thoughts_have_no_figures(data, tmp_path, capsys):
    """keep#6670: pass@1 0% of a server whose parser puts the whole text into reasoning_content."""
    options = {"model": "m", "data": data, "samples": 2, "concurrency": 1}
    with ReasoningServer() as server:
        output = tmp_path / "all.jsonl"
        with pytest.raises(RunError, match="all 4 samples are empty: the server puts the whole"):
            SampleModel(endpoint=server.url, output=output, **options).run()
        assert not output.exists()
    with ReasoningServer() as server:
        server.is_reasoning = lambda body: "7" in body["messages"][0]["content"]
        SampleModel(endpoint=server.url, output=tmp_path / "some.jsonl", **options).run()
    assert "note: 2 samples without an answer: the server puts" in capsys.readouterr().err


def test_further_keys_of_a_request(tiny_checkpoint, data, tmp_path):
    options = {"model": "m", "data": data, "samples": 1, "output": tmp_path / "out.jsonl"}
    with SampleServer() as server:
        further = "{top_k: 20, temperature: null}"
        SampleModel(endpoint=server.url, extra_body=further, **options).run()
        assert {(body["top_k"], "temperature" in body) for body in server.bodies} == {(20, False)}
        with pytest.raises(ConfigError, match="--extra-body must be a mapping"):
            SampleModel(endpoint=server.url, extra_body="3", **options).run()
    with pytest.raises(ConfigError, match="--extra-body needs --endpoint"):
        SampleModel(checkpoint=tiny_checkpoint, extra_body="{a: 1}", domain="polynomial").run()


def test_nothing_finished_is_a_failed_run(data, tmp_path):
    with (
        SampleServer(["400"], forever=True) as server,
        pytest.raises(
            RunError, match="no problem was finished: refused: 4 samples, the first: HTTP 400"
        ),
    ):
        sample(endpoint=server.url, model="m", data=data, samples=2,
                 output=tmp_path / "out.jsonl")  # fmt: skip


def test_a_domain_through_an_endpoint(tmp_path, capsys):
    with SampleServer() as server:
        sample(endpoint=server.url, model="m", domain="polynomial", problems=2, samples=2,
                 chat=False, output=tmp_path / "p.jsonl")  # fmt: skip
        assert {"prompt", "model"} <= set(server.bodies[0])
    assert "2 problems × 2 samples" in capsys.readouterr().out


def test_a_checkpoint_on_a_file(tiny_checkpoint, data, tmp_path, capsys):
    sample(checkpoint=tiny_checkpoint, data=data, samples=2, max_tokens=4,
             output=tmp_path / "out.jsonl")  # fmt: skip
    assert "2 problems × 2 samples" in capsys.readouterr().out


def test_the_file_prints_the_same_figures_without_the_model(data, tmp_path, capsys):
    path = tmp_path / "out.jsonl"
    with SampleServer() as server:
        sample(endpoint=server.url, model="m", data=data, samples=4, output=path)
    first = capsys.readouterr().out
    Evaluate(file=path).run()
    assert capsys.readouterr().out == first


def test_problems_whose_gold_cannot_be_graded_are_left_out(tmp_path, capsys):
    path = tmp_path / "mine.jsonl"
    path.write_text('{"problem": "p", "answer": "\\\\frac{}{2}"}\n{"problem": "q", "answer": 3}\n')
    with SampleServer() as server:
        sample(endpoint=server.url, model="m", data=path, samples=1, output=tmp_path / "o.jsonl")
    printed = capsys.readouterr()
    assert "mine: 1 of 2 problems is left out" in printed.err
    assert "mine/0 (an empty group)" in printed.err
    assert "1 problem × 1 sample" in printed.out


TASK = """
task:
  splits: {test: own.jsonl}
  reward: number
  strategy: final_answer
  system: Be brief.
  max_new_tokens: 7
"""


def test_the_problems_of_a_config(tiny_checkpoint, tmp_path, capsys):
    (tmp_path / "config.yaml").write_text(TASK)
    (tmp_path / "own.jsonl").write_text(
        '{"question": "2 + 2", "answer": 4}\n{"question": "x", "answer": "x"}\n'
    )
    with SampleServer() as server:
        where = {"endpoint": server.url, "model": "m", "samples": 3}
        out = tmp_path / "evaluation" / "test.jsonl"
        sample(**where, task=tmp_path / "config.yaml", output=out)
        [request, *_] = server.bodies
    assert request["messages"] == [
        {"role": "system", "content": "Be brief."},
        {"role": "user", "content": "2 + 2"},
    ]
    assert request["max_tokens"] == 7
    [record] = read_records(out)
    assert (record["gold"], record["split"], record["system"]) == ("4", "test", "Be brief.")
    assert "1 of 2 problems of test is left out" in capsys.readouterr().err
    with pytest.raises(ConfigError, match="has no split 'dev', but test"):
        sample(**where, task=tmp_path / "config.yaml", split="dev", output=out)
    with pytest.raises(ConfigError, match="the model has no chat template"):
        sample(checkpoint=tiny_checkpoint, samples=1, task=tmp_path / "config.yaml", output=out)


def graded(folder, url, says, reward="{function: own_reward:score}", answer=1):
    """The grades of two problems' samples by a task of the folder `says`, whose reward says so."""
    (folder / says).mkdir(exist_ok=True)
    code = f"def score(completions, **_): return [{says}] * len(completions)"
    (folder / says / "own_reward.py").write_text(code)
    rows = [{"question": f"Say \\boxed{{{i}}}.", "answer": answer} for i in (1, 2)]
    (folder / says / "own.jsonl").write_text("".join(json.dumps(row) + "\n" for row in rows))
    config = folder / says / "config.yaml"
    config.write_text(f"task: {{splits: {{test: own.jsonl}}, reward: {reward}}}")
    sample(endpoint=url, model="m", samples=2, task=config, output=folder / "test.jsonl")
    return [record["correct"] for record in read_records(folder / "test.jsonl")]


def test_samples_are_read_again_by_another_reward_and_none_is_drawn(tmp_path, capsys):
    """Grades by an earlier reward stayed, beside those of problems that were finished later."""
    again = "note: 2 problems had been graded by another reward or with another answer"
    with SampleServer() as server:
        assert graded(tmp_path, server.url, "0") == [[0, 0], [0, 0]]
        asked = len(server.bodies)
        before = (tmp_path / "test.jsonl").stat().st_mtime_ns
        assert graded(tmp_path, server.url, "0") == [[0, 0], [0, 0]]
        assert (tmp_path / "test.jsonl").stat().st_mtime_ns == before
        assert again not in capsys.readouterr().err
        assert graded(tmp_path, server.url, "1") == [[1, 1], [1, 1]]  # other code of the function
        assert graded(tmp_path, server.url, "0", "math") == [[1, 1], [0, 0]]  # another reward
        assert graded(tmp_path, server.url, "0", "math", 2) == [[0, 0], [1, 1]]  # other golds
        assert capsys.readouterr().err.count(again) == 3
        assert len(server.bodies) == asked


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"split": "dev"}, "split must be one of train, test, shifted, got 'dev'"),
        ({"domain": "chess"}, "unknown domain .chess."),
        ({"samples": 0}, "problems and samples must be at least 1, got 2 and 0"),
        ({"problems": 0}, "problems and samples must be at least 1, got 0 and 2"),
        ({"checkpoint": "nowhere"}, "nowhere is not a model's folder or name"),
        ({"checkpoint": None}, "give --checkpoint or --endpoint, got neither"),
        ({"endpoint": "http://x", "model": "m"}, "got --checkpoint and --endpoint"),
        ({"domain": None}, "give --domain or --task or --benchmark or --data, got neither"),
        ({"benchmark": "gsm8k"}, "got --domain and --benchmark or --data"),
        ({"model": "m"}, "--endpoint and --model go together"),
        ({"top_p": 0.5}, "--top-p needs --endpoint"),
        ({"domain": None, "benchmark": "gsm8"}, "did you mean 'gsm8k'"),
    ],
)
def test_wrong_options_are_config_errors(tiny_checkpoint, tmp_path, changes, message):
    options = {
        "checkpoint": tiny_checkpoint,
        "domain": "polynomial",
        "problems": 2,
        "samples": 2,
        "output": tmp_path / "test.jsonl",
        **changes,
    }
    if changes.get("checkpoint"):
        options["checkpoint"] = tmp_path / "nowhere"
    with pytest.raises(ConfigError, match=message):
        sample(**options)


def test_nothing_is_written_for_a_model_that_does_not_exist(tmp_path):
    nowhere = tmp_path / "nowhere"
    with pytest.raises(ConfigError, match="nowhere is not a model's folder or name"):
        sample(checkpoint=nowhere, domain="polynomial")
    assert not nowhere.exists()
