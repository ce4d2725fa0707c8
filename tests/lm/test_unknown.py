"""What a user's function does not know is unknown in training, in evaluation, and in every output.

The same functions judge the samples of a run's training and of its evaluation: what they say of a
text must stand in its record, and the same number of unknown samples in whatever reads the record.
"""

import json

import pytest
from starlette.testclient import TestClient

from setrl.logs.log import open_log
from setrl.logs.run import Run
from setrl.show.lab.view.app import application
from setrl.show.lab.view.catalogue import Catalogue
from setrl.train.lm.config import ComparisonConfig
from setrl.train.lm.resolved import resolve
from setrl.train.lm.run import LanguageModelArms
from setrl.train.runs.pool import Stop
from tests.tasks import models

FUNCTIONS = """
OUTCOMES, STRATEGIES, ANSWERS = (None, 0, 1), (None, -1, "a", "b"), (None, "7")

def of(text, values):
    return values[sum(map(ord, text)) % len(values)]

def right(completions, **_):
    return [of(text, OUTCOMES) for text in completions]

def way(completions, **_):
    return [of(text, STRATEGIES) for text in completions]

right.read_answer = lambda text: of(text, ANSWERS)
"""


@pytest.fixture(scope="module")
def said():
    found = {}
    exec(FUNCTIONS, found)
    return found


@pytest.fixture(scope="module")
def run(tmp_path_factory):
    folder = tmp_path_factory.mktemp("unknown")
    (folder / "unknowns.py").write_text(FUNCTIONS)
    rows = [{"question": f"{i} + {i} ="} for i in range(12)]
    (folder / "own.jsonl").write_text("".join(json.dumps(row) + "\n" for row in rows))
    task = {
        "data": "own.jsonl",
        "folder": str(folder),
        "prompt": "question",
        "splits": {"train": 8, "test": 4},
        "reward": {"function": "unknowns:right"},
        "strategy": {"function": "unknowns:way"},
    }
    config = {
        "name": "own",
        "model": str(models.make(folder / "model", chat=False)),
        "task": task,
        "arms": {"maxpo": {"method": "maxpo", "set_size": 2}},
        "steps": 1,
        "prompts_per_step": 4,
        "samples_per_prompt": 8,
        "max_new_tokens": 8,
        "eval_problems": 4,
        "eval_samples": 8,
        "stop_rule": None,
    }
    run = Run(folder / "run").seed("maxpo", 0)
    arms = LanguageModelArms(resolve(ComparisonConfig(**config)), folder / "run", folder)
    arms.train("maxpo", 0, run, lambda _: None, Stop())
    return run


@pytest.fixture(scope="module")
def evaluation(run):
    return run.evaluations["test"]


@pytest.fixture(scope="module")
def counts(evaluation, said):
    """How many samples of the evaluation have an unknown outcome, strategy and answer."""
    texts = [text for record in lines(evaluation) for text in record["texts"]]
    assert len(texts) == 32
    values = {name: [said["of"](text, said[name]) for text in texts] for name in NAMES}
    return {name: found.count(None) for name, found in values.items()}


NAMES = ("OUTCOMES", "STRATEGIES", "ANSWERS")


def lines(path):
    return [json.loads(line) for line in path.read_text().splitlines()]


def test_training(run, said):
    samples = [sample for group in open_log(run.rollouts[1]) for sample in group.samples]
    assert {sample.reward for sample in samples} == {None, 0, 1}
    assert {sample.strategy for sample in samples} == {None, -1, "a", "b"}
    for sample in samples:
        outcome, strategy = (said["of"](sample.text, said[name]) for name in NAMES[:2])
        assert (sample.reward, sample.correct, sample.strategy) == (outcome, outcome, strategy)


def test_the_evaluation_of_the_run_says_the_same_of_a_text(evaluation, said, counts):
    for record in lines(evaluation):
        of_texts = [[said["of"](text, said[name]) for text in record["texts"]] for name in NAMES]
        assert [record["correct"], record["strategies"], record["answers"]] == of_texts
    assert all(0 < number < 32 for number in counts.values())


def test_every_command_counts_the_same_unknown_samples(setrl, evaluation, counts, tmp_path):
    unknown = counts["OUTCOMES"]
    found = json.loads(setrl("evaluate", evaluation, "--json")[1])
    assert (found["ungraded"]["samples"], found["ungraded"]["of_all"]) == (unknown, 32)
    arm = evaluation.parents[2]
    found = json.loads(setrl("compare", arm, arm, "--k", 1, "--json")[1])
    assert found["ungraded"]["A"]["samples"] == unknown
    copy = tmp_path / "copy.jsonl"
    copy.write_bytes(evaluation.read_bytes())
    setrl("report", evaluation, copy, "--output", tmp_path / "report")
    summary = json.loads((tmp_path / "report" / "summary.json").read_text())
    for arm in summary["splits"]["given"]["arms"].values():
        assert arm["ungraded"]["samples"] == unknown


def test_a_log_and_a_page_show_the_same_unknown_samples(evaluation, counts):
    samples = [sample for group in open_log(evaluation) for sample in group.samples]
    roles = {"OUTCOMES": "correct", "STRATEGIES": "strategy", "ANSWERS": "answer"}
    for name, role in roles.items():
        assert [getattr(sample, role) for sample in samples].count(None) == counts[name]
    client = TestClient(application(Catalogue(evaluation)), base_url="http://localhost")
    [run] = client.get("/api/runs").json()["runs"]
    about = {"run": run["id"], "split": "given", "arm": run["samples"][0]["arms"][0]["name"]}
    pages = [client.get("/api/group", params=about | {"seed": 0, "step": 0, "place": place}).json()
             for place in range(4)]  # fmt: skip
    shown = [sample for page in pages for sample in page["samples"]]
    for name, role in {**roles, "STRATEGIES": "label"}.items():
        assert [sample[role] for sample in shown].count(None) == counts[name]
