"""The run explorer: what each address answers, and what it refuses."""

import asyncio
import json
import math
import socket
import threading
import tracemalloc
from pathlib import Path

import numpy as np
import pytest
import uvicorn
from starlette.testclient import TestClient

from setrl import methods
from setrl.logs import FieldNames, LogOptions
from setrl.samples import Group, Sample
from setrl.samples.types import against
from setrl.show.lab.view import metrics, serve
from setrl.show.lab.view.app import application
from setrl.show.lab.view.catalogue import Catalogue
from setrl.show.lab.view.credit import Origin, methods_in_log
from setrl.show.lab.view.group_page import branch_points, group_page, shared_prefix
from setrl.show.lab.view.index import LogIndex
from setrl.show.lab.view.logs import FileLog, Rollouts
from setrl.show.lab.view.table import SHOWN
from setrl.support.errors import ConfigError, DataError

DATA = Path(__file__).parents[1] / "data"

HOSTILE = [
    "<script>alert(1)</script>",
    '<img src=x onerror="alert(1)">',
    "left \u202e right \u2066 more",
    "\x1b[31mred\x1b[0m",
    "nul \x00 and half a pair \ud800",
    "line\u2028separator\r\n</pre>",
]
REWARDS = [1, 1, 1, 1, 1, 0]
LABELS = [3, 3, 3, 3, 3, 9]  # only the wrong sample has another strategy


def sample(text, reward, label, advantage=0.5):
    strategy = None if label is None else f"way {label}"
    return {
        "text": text,
        "reward": reward,
        "strategy": label,
        "read": strategy,
        "advantage": advantage,
        "counterfactual": {},
    }


def made(text, reward, advantage, strategy):
    correct = {0.0: False, 1.0: True}.get(reward)
    return Sample(text, correct, reward, strategy, advantage=advantage)


def group(step, number, samples, prompt="1 + 1"):
    about = {"schema_version": 1, "step": step, "group": number, "prompt": prompt}
    return {**about, "samples": samples}


def write(path, records):
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text("".join(json.dumps(record) + "\n" for record in records))


def evaluation(prompt, correct):
    n = len(correct)
    return {
        "schema_version": 1,
        "prompt": prompt,
        "split": "test",
        "n": n,
        "correct": correct,
        "strategies": [None] * n,
        "answers": [None] * n,
    }


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    root = tmp_path_factory.mktemp("view")
    run = root / "deep" / "mine"
    about = {"schema_version": 1, "kind": "comparison", "name": "mine", "status": "finished"}
    run.mkdir(parents=True)
    (run / "run.json").write_text(json.dumps(about))
    (run / "config.yaml").write_text("name: mine\nsteps: 2\narms: {grpo: {method: grpo}, poly: "
                                     "{method: poly_epo, set_size: 3}}\n")  # fmt: skip
    advantages = methods.poly_epo(3).advantages([REWARDS], strategies=[LABELS]).values_BN[0]
    credited = [
        sample(f"y = {i}", *both)
        for i, both in enumerate(zip(REWARDS, LABELS, advantages.tolist(), strict=True))
    ]
    dead = [sample("same", 1, 0, 0.0)] * 4
    hostile = [sample(text, 1, i, 0.1) for i, text in enumerate(HOSTILE)]
    unjudged = group(2, 1, [sample("a", 1, None, 0.01), sample("b", 0, None, -0.01)], "unjudged")
    unjudged["judged"] = {"strategy": {"unknown": "the judge failed"}}
    seed = run / "poly" / "seed_0"
    write(seed / "rollouts" / "step_000001.jsonl",
          [group(1, 0, dead, "dead"), group(1, 1, credited, "Surprise <b>")])  # fmt: skip
    write(seed / "rollouts" / "step_000002.jsonl", [group(2, 0, hostile, HOSTILE[0]), unjudged])
    write(seed / "metrics.jsonl", [{"step": i, "reward/mean": i / 4, "policy/entropy": 1.0,
                                    "length/mean": math.nan} for i in range(1, 4)])  # fmt: skip
    write(run / "grpo" / "seed_0" / "metrics.jsonl", [{"step": 1}])
    for arm, right in {"poly": [1, 1, 0, 1], "grpo": [1, 0, 0, 0]}.items():
        write(run / arm / "seed_0" / "evaluation" / "test.jsonl", [
            evaluation("p", right), evaluation("q", right[::-1]), evaluation("r", [0, 0, 0, 1]),
        ])  # fmt: skip
    other = root / "other"
    other.mkdir()
    (other / "run.json").write_text(json.dumps({**about, "name": "other"}))
    (other / "config.yaml").write_text("name: other\nsteps: 2\narms: {grpo: {method: grpo}}\n")
    (other / "poly").mkdir()
    write(root / "given" / "small.jsonl", [evaluation("p", [1, 0]), evaluation("q", [1, 1])])
    control = root / "control"
    control.mkdir()
    (control / "run.json").write_text(json.dumps({**about, "kind": "control", "name": "maze"}))
    write(control / "poly" / "seed_0" / "metrics.jsonl", [{"step": 5, "evaluation/success": 0.5}])
    write(control / "poly" / "seed_0" / "rollouts" / "step_000005.jsonl", [{"reset_seed": 1}])
    return root


@pytest.fixture(scope="module")
def client(folder):
    return TestClient(application(Catalogue(folder)), base_url="http://127.0.0.1:8710")


@pytest.fixture(scope="module")
def ids(client):
    return {run["name"]: run["id"] for run in client.get("/api/runs").json()["runs"]}


@pytest.fixture
def ask(client, ids):
    """Ask about a training run of the run `mine`."""

    def get(what, **query):
        about = {"run": ids["mine"], "arm": "poly", "seed": 0}
        return client.get(f"/api/{what}", params=about | query)

    return get


def test_everything_in_the_folder_is_listed(client, ids):
    found = client.get("/api/runs").json()
    assert ids.keys() == {"mine", "other", "given", "maze"}
    mine = next(run for run in found["runs"] if run["name"] == "mine")
    assert mine["where"] == "deep/mine"
    assert [one["split"] for one in mine["samples"]] == ["", "test"]
    assert [arm["name"] for arm in mine["arms"]] == ["grpo", "poly"]
    assert mine["arms"][1]["set_size"] == 3
    assert mine["arms"][1]["seeds"] == [{"seed": 0, "has_metrics": True, "steps": [1, 2]}]


def test_a_damaged_run_is_a_note_and_hides_no_other(folder, client):
    damaged = folder / "damaged"
    damaged.mkdir()
    (damaged / "run.json").write_text('{"schema_version": 1, "ki')
    try:
        found = client.get("/api/runs").json()
    finally:
        (damaged / "run.json").unlink()
    assert len(found["runs"]) == 4
    assert "is damaged" in found["notes"][0]


def test_groups_are_summed_up_sorted_and_filtered(ask):
    found = ask("groups", sort="surprise", desc=1).json()
    assert (found["total"], found["chosen"]) == (4, 4)
    first = found["rows"][0]
    assert (first["prompt"], first["samples"], first["correct"]) == ("Surprise <b>", 6, 5)
    assert (first["strategies"], first["dead"], first["strip"]) == (2, 0, "A+A+A+A+A+B-")
    advantages = methods.poly_epo(3).advantages([REWARDS], strategies=[LABELS]).values_BN[0]
    assert first["largest"] == pytest.approx(np.abs(advantages).max())
    assert first["surprise"] == pytest.approx(advantages[5])  # wrong, and credited
    assert advantages[5] > 0
    prompts = [row["prompt"] for row in ask("groups", show="dead").json()["rows"]]
    assert prompts == ["dead"]
    unjudged = ask("groups", step=2, text="UNJ").json()["rows"][0]
    assert (unjudged["strategies"], unjudged["strip"]) == (None, "?+?-")
    assert [ask("groups", show=kind).json()["chosen"] for kind in SHOWN] == [
        4, 1, 1, 2, 2, 0, 0, 3, 1]  # fmt: skip
    assert first["wrong_up"] == first["surprise"]
    assert "groups can be all" in ask("groups", show="x").json()["error"]
    assert ask("groups", sort="prompt").json()["rows"][0]["prompt"] == HOSTILE[0]
    assert ask("groups", **{"from": 3}).json()["rows"][0]["prompt"] == "unjudged"


def test_credit_against_correctness():
    def one(reward, advantage):
        return against(made("", reward, advantage, None))

    assert [one(0.0, 2.0), one(1.0, -3.0), one(1.0, 2.0), one(0.0, -3.0)] == [2, 3, 0, 0]
    assert [one(None, 2.0), one(1.0, None)] == [0, 0]


def place_of(ask, prompt):
    rows = ask("groups", text=prompt).json()["rows"]
    return {"step": rows[0]["step"], "place": rows[0]["place"]}


def test_one_group_has_what_the_core_computes(ask):
    found = ask("group", **place_of(ask, "Surprise"), set_size=3).json()
    wanted = {
        "grpo": methods.grpo(),
        "dr_grpo": methods.dr_grpo(),
        "maxpo": methods.maxpo(3),
        "poly_epo": methods.poly_epo(3),
        "grpo_div": methods.grpo_div(),
        "concave_counts": methods.concave_counts(alpha=0),
    }
    assert found["others"].keys() == wanted.keys() == found["methods"].keys()
    for name, method in wanted.items():
        strategies = [LABELS] if "strategies" in method.reads else None
        values = method.advantages(np.array([REWARDS], float), strategies=strategies).values_BN[0]
        assert found["others"][name] == pytest.approx(values.tolist()), name
    used = [one["advantage"] for one in found["samples"]]
    assert used == pytest.approx(found["others"]["poly_epo"])
    parts = found["parts"]
    together = np.add(np.add(parts["reward"], parts["diversity"]), parts["covariance"])
    assert together == pytest.approx(parts["total"])
    assert parts["total"] == pytest.approx(found["others"]["poly_epo"])
    assert [one["against"] for one in found["samples"]] == [a * (r - 0.5) < 0 for a, r in zip(
        used, REWARDS, strict=True)]  # fmt: skip
    assert found["shared_prefix"] == 4  # "y = "
    assert (found["before"], found["after"], found["number"]) == (0, None, 1)
    assert found["notes"] == []


def test_the_set_size_is_made_to_fit_the_group(ask):
    place = place_of(ask, "Surprise")
    for asked, used in [(1, 1), (5, 5), (99, 5), (-3, 1)]:
        assert ask("group", **place, set_size=asked).json()["set_size"] == used


def test_what_a_log_lacks_is_said(ask):
    found = ask("group", **place_of(ask, "unjudged")).json()
    assert found["notes"] == [
        "The strategies are unknown: the judge failed.",
        "The log does not hold strategies: methods that read them are left out.",
    ]
    assert "poly_epo" not in found["others"]
    assert found["parts"] == {}


def of(*samples):
    return group_page(Group("p", "p", tuple(samples), step=1))


def test_groups_that_no_method_can_credit():
    alone = of(made("a", 1.0, 0.0, 0))
    assert alone["others"] == {}
    bare = of(made("a", None, None, None), made("b", None, None, None))
    assert bare["others"] == {}
    assert len(bare["notes"]) == 3
    gapped = tuple(made("a", 0.3, 1.0, c) for c in (0, None, 1, 1))
    gap = group_page(Group("p", "p", gapped, step=1), chosen="poly_epo")
    assert "concave_counts" not in gap["others"]
    assert {one["correct"] for one in gap["samples"]} == {None}
    assert gap["others"]["poly_epo"][1] is None
    assert gap["others"]["maxpo"][1] is not None
    assert gap["parts"]["total"][1] is None
    assert any("does not say which samples are correct" in note for note in gap["notes"])
    json.dumps(gap, allow_nan=False)


def test_hostile_samples_arrive_as_they_are(ask, client):
    answer = ask("group", **place_of(ask, "<script>"))
    assert answer.headers["content-type"] == "application/json"
    assert answer.headers["x-content-type-options"] == "nosniff"
    assert [one["text"] for one in json.loads(answer.content)["samples"]] == HOSTILE
    assert "alert" not in client.get("/").text


def test_a_long_sample_comes_in_parts(tmp_path, ask):
    long = "é" * 1_200_000
    path = tmp_path / "step_000001.jsonl"
    write(path, [group(1, 0, [sample(long, 1, 0), sample("short", 0, 1)])])
    log = Rollouts({1: path})
    page = group_page(log.group(1, 0))
    assert page["samples"][0]["length"] == 1_200_000
    assert len(page["samples"][0]["text"]) == 20_000
    place = place_of(ask, "Surprise")
    found = ask("text", **place, sample=1, **{"from": 2}).json()
    assert found == {"text": "= 1", "from": 2, "length": 5}
    assert ask("text", **place, sample=99).status_code == 404


def shared(text, other):
    return max(n for n in range(min(len(text), len(other)) + 1) if text[:n] == other[:n])


@pytest.mark.parametrize("number", [0, 1, 2, 6])
def test_shared_prefixes_and_branch_points_by_their_definition(number):
    rng = np.random.default_rng(0)
    for _ in range(50):
        texts = ["".join(rng.choice(["a", "b"], rng.integers(0, 6))) for _ in range(number)]
        pairs = [[shared(text, other) for other in texts] for text in texts]
        assert shared_prefix(texts) == min(map(min, pairs), default=0)
        apart = [
            max([*row[:place], *row[place + 1 :]], default=0) for place, row in enumerate(pairs)
        ]
        assert branch_points(texts) == apart


@pytest.mark.parametrize(
    ("query", "status"),
    [
        ({"run": "../../etc"}, 404),
        ({"arm": "../grpo"}, 404),
        ({"arm": "grpo"}, 422),  # it has logged no groups
        ({"seed": "9"}, 404),
        ({"step": "7"}, 404),
        *(({"place": place}, 404) for place in (-1, 1, 7, 10**9)),  # no group begins there
        *(({"step": number}, 400) for number in ("--5", "-", "", "5-", "\u0663", "1e3", "1" * 30)),
    ],
)
def test_wrong_questions_are_refused_in_a_sentence(ask, query, status):
    answer = ask("group", **{"step": 1, "place": 0, **query})
    assert answer.status_code == status
    assert len(answer.json()["error"]) > 20


def test_a_key_that_is_missing_is_refused(client):
    for name in ("groups", "group", "text", "metrics"):
        assert client.get(f"/api/{name}").status_code == 404


def test_unknown_sorts_are_refused_and_pages_end(ask):
    assert "sorted by step" in ask("groups", sort="place").json()["error"]
    assert ask("groups", **{"from": 10_000}).json()["rows"] == []


@pytest.mark.parametrize(
    ("wrong", "says"),
    [
        ({"samples": None}, "'samples' must be a list of objects"),
        ({"samples": [1]}, "'samples' must be a list of objects"),
        ({"samples": [{"text": "a"}]}, "has no 'correct'"),
        ({"samples": [{"reward": 1, "strategy": 1.5}]}, "strategies must be names or integers"),
        ({"n": 1, "rewards": [1], "strategies": [math.inf]}, "strategies must be names or integ"),
        ({"n": 1, "rewards": [10**400]}, "rewards must be a finite number"),
        ({"n": 2, "rewards": [1]}, "'rewards' must have n = 2 entries, got 1"),
        ({"n": 1, "rewards": [1], "step": "no"}, "step must be a whole number"),
        ({"n": 1, "rewards": [1], "texts": ["a", "b"]}, "'texts' must have at most n = 1 entries"),
        ({"rewards": [1]}, "has no 'n'"),
    ],
)
def test_a_line_that_is_no_group_is_a_sentence_with_its_place(tmp_path, wrong, says):
    path = tmp_path / "step_000001.jsonl"
    write(path, [{"schema_version": 2, "prompt": "p", **wrong}])
    log = Rollouts({1: path})
    with pytest.raises(DataError, match=rf"step_000001\.jsonl:1: {says}"):
        list(log.groups(1))
    with pytest.raises(DataError, match=says):
        log.group(1, 0)


def test_rewards_may_be_of_any_kind_and_texts_unknown(tmp_path):
    path = tmp_path / "step_000001.jsonl"
    odd = {"rewards": [True, "1"], "advantages": [None, math.nan], "texts": [None, "a"]}
    write(path, [{"schema_version": 2, "prompt": None, "n": 2, **odd}])
    index, _ = LogIndex(Rollouts({1: path})).of_all()
    assert index.rows["samples"].tolist() == [2]
    for place in index.rows["place"].tolist():
        json.dumps(group_page(Rollouts({1: path}).group(1, place)), allow_nan=False)


def test_a_log_that_grows_is_indexed_again(tmp_path):
    path = tmp_path / "step_000001.jsonl"
    write(path, [group(1, 0, [sample("a", 1, 0)])])
    index = LogIndex(Rollouts({1: path}))
    assert len(index.of_step(1).rows) == 1
    with path.open("a") as file:
        file.write(json.dumps(group(1, 1, [sample("b", 1, 0)])) + '\n{"step": 1, "sam')
    assert len(index.of_step(1).rows) == 2  # the line that is still written is passed over
    assert index.log.group(1, int(index.of_step(1).rows["place"][1])).samples[0].text == "b"


def test_memory_does_not_grow_with_the_texts(tmp_path):
    path = tmp_path / "step_000001.jsonl"
    write(path, (group(1, i, [sample("text " * 4_000, 1, 0)] * 4) for i in range(40)))
    tracemalloc.start()
    index = LogIndex(Rollouts({1: path}))
    assert len(index.of_all()[0].rows) == 40
    kept, most = tracemalloc.get_traced_memory()
    tracemalloc.stop()
    assert path.stat().st_size > 3_000_000
    assert most < 1_000_000
    assert kept < 60_000


def events(text):
    found = [dict(line.split(": ", 1) for line in part.split("\n")) for part in
             text.strip().split("\n\n") if not part.startswith(":")]  # fmt: skip
    return [(one["event"], int(one["id"]), json.loads(one["data"])) for one in found]


def test_metrics_come_from_a_byte_on(ask, folder, client, ids):
    first, steps, end = events(ask("metrics", follow=0).text)
    assert first == ("restart", 0, {"keys": ["reward/mean", "policy/entropy", "length/mean"]})
    assert [step["step"] for step in steps[2]] == [1, 2, 3]
    assert steps[2][0]["length/mean"] is None
    assert end[:2] == ("end", steps[1])
    path = folder / "deep" / "mine" / "poly" / "seed_0" / "metrics.jsonl"
    after_two = sum(len(line) + 1 for line in path.read_bytes().split(b"\n")[:2])
    query = {"run": ids["mine"], "arm": "poly", "seed": 0, "follow": 0}
    again = client.get("/api/metrics", params=query, headers={"last-event-id": str(after_two)})
    assert [step["step"] for _, _, data in events(again.text)[:1] for step in data] == [3]


def test_metrics_follow_a_file_that_grows_and_one_that_shrinks(tmp_path):
    path = tmp_path / "metrics.jsonl"
    write(path, [{"step": 1, "loss": 1.0}, {"step": 2, "loss": 2.0}])

    async def never():
        return False

    async def story():
        seen, kinds = [], []
        async for text in metrics.events(path, 0, True, never, every=0.001):
            if text.startswith(":"):
                if seen == [1, 2]:
                    with path.open("a") as file:
                        file.write('{"step": 3, "loss": 3.0}\n{"step": 4')
                elif seen == [1, 2, 3]:  # half a line waits; a resumed run writes the file anew
                    write(path, [{"step": 1, "loss": 9.0}])
                elif len(seen) == 4:
                    break
                continue
            kind, _, data = events(text)[0]
            kinds.append(kind)
            seen += [step["step"] for step in data] if kind == "steps" else []
        return seen, kinds

    seen, kinds = asyncio.run(asyncio.wait_for(story(), 5))
    assert seen == [1, 2, 3, 1]
    assert kinds == ["restart", "steps", "steps", "restart", "steps"]


def test_a_metrics_file_of_control_shows_its_evaluation_first():
    record = {"step": 1, "a": 1.0, "evaluation/success": 0.5, "on": True, "text": "x"}
    assert metrics.chosen(record) == ["evaluation/success", "a"]


def test_control_runs_have_metrics_and_no_groups(client, ids):
    query = {"run": ids["maze"], "arm": "poly", "seed": 0}
    assert "no groups" in client.get("/api/groups", params=query).json()["error"]
    assert "success" in client.get("/api/metrics", params={**query, "follow": 0}).text


def test_completions_of_trl_open_with_the_advantages_that_were_used():
    folder = Catalogue(DATA / "trl_completions")
    unnamed = TestClient(application(folder), base_url="http://localhost")
    run = unnamed.get("/api/runs").json()["runs"][0]
    query = {"run": run["id"], "arm": run["arms"][0]["name"], "seed": 0}
    assert "--reward" in unnamed.get("/api/groups", params=query).json()["error"]
    graded = LogOptions(FieldNames(correct="brevity"), correct_above=0.03)  # as in evaluate
    page = TestClient(application(Catalogue(DATA / "trl_completions", graded)),
                      base_url="http://localhost").get("/api/groups", params=query)  # fmt: skip
    assert {row["correct"] is not None for row in page.json()["rows"]} == {True}
    named = Catalogue(DATA / "trl_completions", LogOptions(FieldNames(reward="short")))
    client = TestClient(application(named), base_url="http://localhost")
    rows = client.get("/api/groups", params=query).json()["rows"]
    assert len({row["step"] for row in rows}) == 3
    assert all(row["largest"] is not None and row["strategies"] for row in rows)
    assert "no metrics" in client.get("/api/metrics", params=query).json()["error"]


def test_a_log_of_tinker_cookbook_opens_with_groups_metrics_and_test_sets():
    options = LogOptions(FieldNames(reward="correct", strategy="strategy"))
    log = TestClient(application(Catalogue(DATA / "tinker_cookbook", options)),
                     base_url="http://localhost")  # fmt: skip
    [run] = log.get("/api/runs").json()["runs"]
    splits = {one["split"]: one["arms"] for one in run["samples"]}
    assert (run["name"], list(splits)) == ("tinker_cookbook", ["", "tinker", "eval_products"])
    [arm] = run["arms"]
    assert arm["seeds"] == [{"seed": 0, "has_metrics": True, "steps": [0, 1, 2]}]
    about = {"run": run["id"], "arm": arm["name"], "seed": 0}
    found = log.get("/api/group", params=about | {"step": 2, "place": 0}).json()
    assert found["prompt"] == "group 0 of step 2 (products), whose prompt is not logged"
    assert {one["strategy"] for one in found["samples"]} == {"sum", "product"}
    assert "The log does not hold the advantages that entered the loss." in found["notes"]
    assert "env/all/by_group/frac_mixed" in log.get(
        "/api/metrics", params={**about, "follow": 0}).text  # fmt: skip
    assert [one["name"] for one in splits["eval_products"]] == ["iteration 0", "iteration 2"]


def test_a_log_of_verl_opens_and_says_what_it_lacks(tmp_path):
    line = {"input": "q", "gts": "7", "step": 3}
    write(tmp_path / "3.jsonl", [{**line, "output": str(i), "score": i % 2} for i in range(4)])
    client = TestClient(application(Catalogue(tmp_path)), base_url="http://localhost")
    run = client.get("/api/runs").json()["runs"][0]
    query = {"run": run["id"], "arm": run["arms"][0]["name"], "seed": 0, "step": 3}
    (row,) = client.get("/api/groups", params=query).json()["rows"]
    assert (row["samples"], row["correct"], row["largest"]) == (4, 2, None)
    found = client.get("/api/group", params={**query, "place": 0}).json()
    assert found["notes"][0] == "The log does not hold the advantages that entered the loss."
    assert client.get("/api/group", params={**query, "place": 5}).status_code == 404


def test_files_that_are_left_out_are_named_with_the_reason(tmp_path):
    rows = [{"id": i // 2, "correct": i % 2, "text": f"t{i}"} for i in range(4)]
    bare = [{key: row[key] for key in ("id", "correct")} for row in rows]
    for name, lines in (("good", rows), ("bare", bare), ("other", [{"x": 1}])):
        (tmp_path / f"{name}.jsonl").write_text("".join(json.dumps(row) + "\n" for row in lines))
    (tmp_path / "table.csv").write_text("id,correct,text\n1,1,a\n1,0,b\n")
    found = Catalogue(tmp_path).look()
    [entry] = found.entries.values()
    assert {arm for _, arm, _ in entry.logs} == {"good", "table"}
    [note] = found.notes
    assert "left out: bare.jsonl (its samples have no texts), other.jsonl (no field says" in note


@pytest.mark.parametrize(
    ("host", "status"),
    [
        ("localhost", 200),
        ("127.0.0.1:8710", 200),
        ("[::1]:8710", 200),
        ("LocalHost:1", 200),
        ("evil.example", 403),
        ("localhost.evil.example", 403),
        ("127.0.0.1.evil.example:8710", 403),
        ("localhost:80@evil.example", 403),
        ("", 403),
    ],
)
def test_a_server_of_this_machine_answers_to_its_own_names_alone(client, host, status):
    for path in ("/", "/api/runs"):
        answer = client.get(path, headers={"host": host})
        assert answer.status_code == status
        assert "default-src 'self'" in answer.headers["content-security-policy"]
        assert "script-src 'self';" in answer.headers["content-security-policy"]
        assert "access-control-allow-origin" not in answer.headers


def test_beyond_this_machine_a_token_is_needed(folder):
    app = application(Catalogue(folder), token="secret")
    client = TestClient(app, base_url="http://10.0.0.5:8710")
    for path in ("/", "/?token=wrong", "/?token=", "/api/runs", "/static/view.js"):
        assert client.get(path).status_code == 403
    assert client.get("/api/runs", headers={"cookie": "setrl_view=wrong"}).status_code == 403
    answer = client.get("/?token=secret")
    assert answer.status_code == 200
    assert "HttpOnly; SameSite=Strict" in answer.headers["set-cookie"]
    assert client.get("/api/runs").status_code == 200  # by the cookie
    assert "set-cookie" not in client.get("/api/runs").headers


@pytest.mark.parametrize("path", ["/static/../page.py", "/static/%2e%2e%2fpage.py", "/static/x",
                                  "/api/nothing", "/static/..%2f..%2fetc%2fpasswd"])  # fmt: skip
def test_no_path_reaches_the_disk(client, path):
    assert client.get(path).status_code == 404


def test_the_explorer_only_reads(client):
    for method in ("POST", "PUT", "DELETE", "PATCH"):
        assert client.request(method, "/api/group").status_code == 405


def test_a_connection_that_asks_nothing_is_closed(folder, monkeypatch):
    monkeypatch.setattr(serve, "SILENCE", 0.1)
    listening = serve.bound("127.0.0.1", 0)
    server = uvicorn.Server(serve._server_config(application(Catalogue(folder))))
    threading.Thread(target=serve.run, args=(server, listening), daemon=True).start()
    answered = socket.create_connection(listening.getsockname(), timeout=10)
    silent = socket.create_connection(listening.getsockname(), timeout=10)
    half = socket.create_connection(listening.getsockname(), timeout=10)
    half.sendall(b"GET / HTTP/1.1\r\nHost: localhost")
    answered.sendall(b"GET / HTTP/1.1\r\nHost: localhost\r\n\r\n")
    assert answered.recv(100).startswith(b"HTTP/1.1 200")
    assert [one.recv(100) for one in (silent, half)] == [b"", b""]  # closed, before the time is up
    server.should_exit = True


@pytest.mark.parametrize(
    ("host", "is_ours"),
    [("127.0.0.1", True), ("127.9.9.9", True), ("::1", True), ("localhost", True),
     ("0.0.0.0", False), ("::", False), ("192.168.1.2", False), ("my.host", False)],
)  # fmt: skip
def test_which_addresses_only_this_machine_can_reach(host, is_ours):
    assert serve.is_loopback(host) is is_ours


def test_a_port_in_use_is_an_error_unless_any_port_will_do():
    with socket.socket() as taken:
        taken.bind(("127.0.0.1", 0))
        taken.listen()
        port = taken.getsockname()[1]
        with pytest.raises(ConfigError, match=f"port {port} is in use"):
            serve.bound("127.0.0.1", port)
    serve.bound("127.0.0.1", 0).close()
    with pytest.raises(ConfigError, match="--port must be"):
        serve.bound("127.0.0.1", 70_000)
    with pytest.raises(ConfigError, match="cannot listen on"):
        serve.bound("203.0.113.7", 0)


def test_a_folder_without_runs_is_refused(tmp_path, setrl):
    code, _, error = setrl("view", tmp_path / "none", "--no-open")
    assert (code, "no such folder" in error) == (2, True)
    (tmp_path / "notes.txt").write_text("hello")
    code, _, error = setrl("view", tmp_path, "--no-open")
    assert code == 2
    assert "holds no run of setrl" in error


def test_a_file_without_samples_is_refused_at_once(tmp_path, setrl):
    (tmp_path / "notes.txt").write_text("hello")
    code, _, error = setrl("view", tmp_path / "notes.txt", "--no-open")
    assert code == 3
    assert "not JSON" in error


def test_streams_end_with_the_server(folder, ids):
    app = application(Catalogue(folder), is_ending=lambda: True)
    client = TestClient(app, base_url="http://localhost")
    query = {"run": ids["mine"], "arm": "poly", "seed": 0}  # without follow=0 it has no end
    assert client.get("/api/metrics", params=query).text == ""


def test_ctrl_c_ends_the_server_without_an_error(folder, setrl, monkeypatch):
    async def interrupted(server, sockets):
        raise KeyboardInterrupt

    monkeypatch.setattr("uvicorn.Server.serve", interrupted)
    code, printed, error = setrl("view", folder, "--no-open", "--port", "0")
    assert (code, error) == (0, "")
    assert printed.startswith("http://127.0.0.1:")
    assert "token" not in printed
    code, printed, _ = setrl("view", folder, "--no-open", "--port", "0", "--host", "0.0.0.0")
    assert "?token=" in printed


def page(method, advantages=None, origin=None, **asked):
    """The page of a group with the credit of a method."""
    labels = {"strategies": [LABELS]} if "strategies" in method.reads else {}
    found = method.advantages(np.array([REWARDS], float), **labels).values_BN[0]
    values = found if advantages is None else advantages
    samples = tuple(map(made, "abcdef", map(float, REWARDS), values, LABELS))
    return group_page(Group("p", "p", samples, step=1), origin=origin or Origin("loss"), **asked)


def test_why_explains_the_method_of_the_log():
    arm = {"method": "rloo", "judge": {"name": "exact"}}
    found = page(methods.rloo(), origin=Origin("loss", arm))
    one = found["explained"]
    assert (one["method"], found["in_log"], found["parts"]) == ("rloo", ["rloo"], {})
    right = REWARDS[0]
    assert (one["with"][0], one["all"]) == (right, pytest.approx(np.mean(REWARDS)))
    assert one["without"][0] == pytest.approx((sum(REWARDS) - right) / (len(REWARDS) - 1))
    assert one["values"] == pytest.approx(found["others"]["rloo"])
    assert page(methods.dr_grpo())["explained"]["method"] == "dr_grpo"  # by its values
    other = page(methods.rloo(), [0.1] * len(REWARDS), Origin("loss", arm))
    assert (other["explained"]["method"], other["in_log"]) == ("rloo", [])
    assert page(methods.rloo(), [0.1] * len(REWARDS))["explained"] is None
    assert page(methods.rloo(), [None] * len(REWARDS))["explained"]["method"] == "poly_epo"
    assert (
        page(methods.rloo(), [None] * len(REWARDS), chosen="rloo")["explained"]["method"] == "rloo"
    )


@pytest.mark.parametrize(
    ("kind", "logged", "grpo", "same"),
    [
        ("loss", [0.1, -0.2], [1, -1], ["poly_epo"]),
        ("loss", [0.1, -0.2], [0.1, -0.2], ["grpo", "poly_epo"]),
        ("loss", [0.1, 0.2], [1, -1], []),
        ("loss", [None, -0.2], [0, -0.2], []),  # what is unknown is not 0
        ("log", [None, None], [None, None], []),
    ],
)
def test_the_methods_that_give_what_the_log_has(kind, logged, grpo, same):
    credits = {"grpo": np.array(grpo, float), "poly_epo": np.array([0.1, -0.2])}
    assert methods_in_log(Origin(kind), np.array(logged, float), credits) == same


@pytest.mark.parametrize(("kind", "left_out"), [("credit", None), ("loss", 0.0)])
def test_a_sample_without_a_label_does_not_make_the_credit_another(kind, left_out):
    """It has no credit in the log, nor by the method; in a loss it counts 0."""
    labels = [*LABELS[:-1], np.nan]
    values = methods.poly_epo(2).advantages(np.array([REWARDS], float), strategies=[labels])
    given = [*values.values_BN[0, :-1].tolist(), left_out]
    known = [*LABELS[:-1], None]
    samples = [*map(made, "abcdef", map(float, REWARDS), given, known)]
    origin = Origin(kind, {"method": "poly_epo", "set_size": 2})
    found = group_page(Group("p", "p", tuple(samples)), origin=origin)
    assert "poly_epo" in found["in_log"]
    assert found["others"]["poly_epo"][-1] is None
    other = [one._replace(advantage=0.5) if one.strategy is None else one for one in samples]
    found = group_page(Group("p", "p", tuple(other)), origin=origin)
    assert found["in_log"] == []


def test_the_k_of_the_log_is_the_usual_one():
    credit = Origin("credit", {"method": "poly_epo", "set_size": 3, "skipped": False})
    assert page(methods.poly_epo(3), origin=credit)["set_size"] == 3
    found = page(methods.poly_epo(3), origin=credit, set_size=5)
    assert (found["set_size"], found["in_log"]) == (5, [])
    assert found["origin"] == {"kind": "credit", "method": "poly_epo", "set_size": 3}
    shrinking = {"schedule": "linear", "first": 6, "last": 2}
    assert Origin("loss", {"method": "maxpo", "set_size": shrinking}).method().set_size == 6


@pytest.mark.parametrize("method", [
    {}, {"method": "tests.lab.nowhere:boom"}, {"method": "set_rl", "objective": "os:system"},
    {"method": "set_rl", "objective": {"objective": "os:system"}}, {"method": ["poly_epo"]},
    {"method": "poly_epo", "set_size": "x y"}, {"method": "poly_epo", "set_size": -1},
])  # fmt: skip
def test_a_log_names_nothing_that_is_imported(method):
    assert Origin("credit", method).method() is None


def test_credited_samples_are_no_arm_beside_their_own_log(tmp_path, setrl):
    rows = [{"id": "p", "prompt": "p", "response": one, "correct": one == "a", "strategy": one}
            for one in "aabc"]  # fmt: skip
    write(tmp_path / "log.jsonl", rows)
    credited = tmp_path / "credited_log.jsonl"
    setrl("credit", tmp_path / "log.jsonl", "--set-size", 2, "--output", credited)
    client = TestClient(application(Catalogue(tmp_path)), base_url="http://localhost")
    (run,) = client.get("/api/runs").json()["runs"]
    assert [(one["split"], [arm["name"] for arm in one["arms"]]) for one in run["samples"]] == [
        ("given", ["log"]), ("credited", ["credited_log"])]  # fmt: skip
    about = {"run": run["id"], "split": "credited", "arm": "credited_log", "step": 0, "place": 0}
    found = client.get("/api/group", params=about).json()
    assert found["origin"] == {"kind": "credit", "method": "poly_epo", "set_size": 2}
    assert found["in_log"] == ["poly_epo"]
    alone = Catalogue(credited).look().entries
    assert next(iter(alone.values())).splits == ["given"]


def test_credit_beside_credit_keeps_its_method(tmp_path, setrl):
    """Also in a file of an earlier version, whose only record is of the later credit."""
    rows = [{"id": "p", "response": one, "correct": one == "a", "strategy": one} for one in "aabc"]
    log, once, twice = (tmp_path / f"{name}.jsonl" for name in ("log", "once", "twice"))
    write(log, rows)
    setrl("credit", log, "--set-size", 2, "--output", once)
    setrl("credit", once, "--method", "maxpo", "--set-size", 3, "--output", twice)
    assert FileLog(twice, LogOptions()).origin(0, 0).name == "poly_epo"
    rows = [json.loads(line) for line in twice.read_text().splitlines()]
    write(log, [{**row, "credit": row["credit"]["advantage_maxpo"]} for row in rows])
    assert FileLog(log, LogOptions()).origin(0, 0) == Origin("log")
    write(log, [{**row, "credit": row["credit"]["advantage"], "advantage_maxpo": 0}
                for row in rows])  # fmt: skip
    assert FileLog(log, LogOptions()).origin(0, 0).name == "poly_epo"


def test_the_report_of_a_run_is_shown_where_there_is_one(client, folder, ids):
    report = folder / "deep" / "mine" / "report.html"
    about = {"run": ids["mine"]}
    assert client.get("/report", params=about).status_code == 404
    assert client.get("/report", params={"run": "none"}).status_code == 404
    report.write_text("<p>all of it</p>")
    try:
        assert client.get("/report", params=about).text == "<p>all of it</p>"
        runs = {run["name"]: run for run in client.get("/api/runs").json()["runs"]}
        assert runs["mine"]["has_report"] is True
        assert runs["mine"]["titles"]["reward/pass@1"] == "pass@1 in training"
        unnamed = {key for key in metrics.CURATED if key not in runs["mine"]["titles"]}
        assert all(key.startswith(("env/", "optim/", "time/total")) for key in unnamed)
    finally:
        report.unlink()
