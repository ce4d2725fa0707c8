"""The explorer reads any log: indexed in the background, compared and searched."""

import json
import threading

import pytest
from starlette.testclient import TestClient

from setrl.logs import LogOptions
from setrl.samples import Sample
from setrl.show.lab.view.app import application
from setrl.show.lab.view.catalogue import Catalogue
from setrl.show.lab.view.index import LogIndex, disagreement
from setrl.show.lab.view.logs import ONLY_STEP, FileLog
from setrl.show.lab.view.table import PageTable
from setrl.support.errors import DataError
from tests.logs.test_inspect_ai import sample as inspect_sample
from tests.logs.test_inspect_ai import write as write_inspect
from tests.logs.test_lighteval import row as lighteval_row
from tests.logs.test_lighteval import write as write_lighteval
from tests.logs.test_lm_eval import line as lm_eval_line
from tests.logs.test_lm_eval import write as write_lm_eval


def write_log(path, answers, problems=3):
    """A log of another program: for each problem one sample with each answer; "3" is right."""
    rows = [
        {"id": f"p{p}", "prompt": f"ask {p}", "response": f"{answer} it is", "answer": answer,
         "gold": "3", "correct": answer == "3", "strategy": f"way {i}", "extra": [1]}
        for p in range(problems) for i, answer in enumerate(answers)
    ]  # fmt: skip
    path.write_text("".join(json.dumps(row) + "\n" for row in rows))
    return path


@pytest.fixture(scope="module")
def logs(tmp_path_factory):
    folder = tmp_path_factory.mktemp("logs")
    write_log(folder / "base.jsonl", "334")
    write_log(folder / "tuned.jsonl", "35")
    (folder / "metrics.jsonl").write_text('{"step": 1, "loss": 0.5}\n' * 3)
    return folder


@pytest.fixture
def ask(logs):
    client = TestClient(application(Catalogue(logs)), base_url="http://localhost")
    [run] = client.get("/api/runs").json()["runs"]

    def get(what, arm="tuned", **query):
        about = {"run": run["id"], "split": "given", "arm": arm, "seed": 0}
        return client.get(f"/api/{what}", params=about | query)

    get.run = run
    return get


def test_every_log_of_a_folder_has_samples_and_other_files_are_left_out(ask):
    [sampled] = ask.run["samples"]
    assert (sampled["split"], [arm["name"] for arm in sampled["arms"]]) == (
        "given", ["base", "tuned"])  # fmt: skip
    found = ask("groups").json()
    assert (found["total"], found["by_step"], found["progress"]) == (3, False, None)
    assert [row["prompt"] for row in found["rows"]] == ["ask 0", "ask 1", "ask 2"]
    assert "correct" in found["notes"][0]  # how the fields were read


def test_a_table_compares_with_the_base(ask):
    """Base is right with ways 0 and 1, tuned with way 0 only."""
    row = ask("groups").json()["rows"][0]
    assert (row["pass1"], row["lost"]) == (0.5, 1)
    assert row["change"] == pytest.approx(1 / 2 - 2 / 3)
    assert row["disagreement"] == 1
    alone = ask("groups", beside="none").json()
    assert (alone["beside"], alone["rows"][0]["lost"]) == (None, None)
    key = ask("groups").json()["beside"]
    assert ask("groups", arm="base", beside=key).json()["rows"][0]["change"] == 0
    assert ask("groups", beside="no|given|base|0").status_code == 404


def test_a_search_reaches_the_samples_when_it_is_asked_to(ask):
    assert ask("groups", text="5 IT").json()["chosen"] == 0
    found = ask("groups", text="5 IT", deep=1).json()
    assert (found["chosen"], found["searched"]) == (3, 1)


def test_a_sample_has_its_answer_its_gold_and_all_fields_of_the_log(ask):
    found = ask("group", step=0, place=1).json()
    assert (found["id"], found["gold"], found["before"], found["after"]) == ("p1", "3", 0, 2)
    assert [one["answer"] for one in found["samples"]] == ["3", "5"]
    assert ask("raw", step=0, place=1, sample=1).json()["fields"]["extra"] == [1]
    assert ask("raw", step=0, place=9).status_code == 404


def test_one_more_method_credits_a_group(ask):
    found = ask("group", step=0, place=0, method="rloo").json()
    assert found["others"]["rloo"] == [1, -1]
    assert "rloo" not in ask("group", step=0, place=0).json()["others"]
    assert "order_grad" not in found["all_methods"]  # it needs weights


def test_the_same_problem_is_found_in_other_logs(ask):
    found = ask("elsewhere", step=0, place=1).json()
    assert [(one["arm"], one["place"], one["correct"]) for one in found["places"]] == [
        ("base", 1, 2)]  # fmt: skip


@pytest.mark.parametrize("kind", ["lm-eval", "inspect", "lighteval"])
def test_the_first_problems_of_a_tool_s_log_need_only_its_beginning(tmp_path, monkeypatch, kind):
    """The end of each log is damaged: who reads to the end gets an error."""
    monkeypatch.setattr("setrl.show.lab.view.logs.FIRST_ROWS", 2)
    monkeypatch.setattr("setrl.logs.log.SNIFFED", 1)
    monkeypatch.setattr("setrl.logs.importers.tools.SNIFFED", 1)
    log = FileLog(BROKEN_LATE[kind](tmp_path), LogOptions())
    assert [group.prompt for _, group in log.first_groups(ONLY_STEP)] == ["q1", "q2"]
    with pytest.raises(DataError):
        list(log.groups(ONLY_STEP))


def test_of_a_damaged_log_the_part_that_can_be_read_is_shown(tmp_path, monkeypatch):
    monkeypatch.setattr("setrl.show.lab.view.logs.FIRST_ROWS", 4)
    monkeypatch.setattr("setrl.logs.log.SNIFFED", 2)
    path = write_log(tmp_path / "cut.jsonl", "35")
    path.write_text(path.read_text() + "{\n")
    client = TestClient(application(Catalogue(path)), base_url="http://localhost")
    (run,) = client.get("/api/runs").json()["runs"]
    about = {"run": run["id"], "split": "given", "arm": "cut"}
    found = client.get("/api/groups", params=about).json()
    assert found["total"] == 2  # the problems of the first four rows
    assert "cut.jsonl:7" in found["error"]
    path.write_text("{\n")
    assert client.get("/api/groups", params=about).status_code == 422


def broken_inspect(folder):
    samples = [inspect_sample(number, 1, "is 7", "C") for number in (1, 2, 3)]
    return write_inspect(folder / "log.eval", [*samples[:2], {**samples[2], "output": 7}])


def broken_lm_eval(folder):
    path = write_lm_eval(folder, *(
        lm_eval_line(p, ["a"], ["7"], 1.0, arguments=[[f"q{p}", {}]]) for p in (1, 2)
    ))  # fmt: skip
    path.write_text(path.read_text() + "{")
    return path


def broken_lighteval(folder):
    rows = [lighteval_row(str(p), ["a"], {"pass@1": 1.0}) for p in (1, 2, 3)]
    return write_lighteval(folder, *rows[:2], {**rows[2], "metric": None})


BROKEN_LATE = {
    "lm-eval": broken_lm_eval,
    "inspect": broken_inspect,
    "lighteval": broken_lighteval,
}


def test_the_first_rows_of_a_long_log_are_there_at_once(tmp_path, monkeypatch):
    """The full pass waits in its middle: groups of the first rows are shown, and none twice."""
    path = write_log(tmp_path / "long.jsonl", "33", problems=50)
    monkeypatch.setattr("setrl.show.lab.view.logs.FIRST_ROWS", 20)
    log = FileLog(path, LogOptions())
    reached, go_on, each = threading.Event(), threading.Event(), log._numbered_groups

    def halting(opened):
        for place, group in each(opened):
            if place == 3 and len(opened) == 50:
                reached.set()
                assert go_on.wait(60)
            yield place, group

    monkeypatch.setattr(log, "_numbered_groups", halting)
    index = LogIndex(log)
    index.of_all(0)
    assert reached.wait(60)
    found, progress = index.of_all(0)
    assert found.rows["place"].tolist() == list(range(10))
    assert 0 < progress.share < 1
    assert log.group(ONLY_STEP, 7).id == "p7"  # a click while it is read
    go_on.set()
    found, progress = index.of_all()
    assert (found.rows["place"].tolist(), progress) == (list(range(50)), None)
    assert found.words[49].prompt == "ask 49"
    assert [found.right_of(i) for i in (0, 49)] == [found.right_of(7)] * 2
    write_log(path, "334", problems=4)  # the file changes: it is read again
    assert index.of_all()[0].rows["samples"].tolist() == [3] * 4


def test_a_log_that_cannot_be_read_is_refused_with_its_line(tmp_path):
    path = write_log(tmp_path / "cut.jsonl", "33")
    with path.open("a") as file:
        file.write('{"id": "p3", "prom')
    index = LogIndex(FileLog(path, LogOptions()))
    for _ in range(2):
        with pytest.raises(DataError, match=r"cut\.jsonl:7.*--allow-damaged"):
            index.of_all()


def test_disagreement_by_its_definition():
    def of(*answers):
        return disagreement([Sample(correct=one == "3", answer=one) for one in answers])

    assert of("3", "3", "3") == 0
    assert of("1", "2", "3") == 1
    assert of("3", "3", "1", "1") == pytest.approx(4 / 6)
    assert disagreement([Sample(correct=True), Sample(correct=False)]) == 1
    assert disagreement([Sample(correct=True), Sample()]) != disagreement([])  # both NaN


def test_unknown_values_come_last_in_any_order(tmp_path):
    path = tmp_path / "partly.jsonl"
    graded = {"a": [True, False], "b": [None, None], "c": [True, True]}
    path.write_text("".join(
        json.dumps({"id": name, "text": "t", "correct": one}) + "\n"
        for name, many in graded.items() for one in many
    ))  # fmt: skip
    table = PageTable.of(LogIndex(FileLog(path, LogOptions())).of_all()[0])
    for descending, wanted in ((True, [2, 0, 1]), (False, [0, 2, 1])):
        assert table.ordered(table.chosen(), "pass1", descending).tolist() == wanted
    shown = {name: table.chosen(name).tolist() for name in ("mixed", "right", "wrong", "unknown")}
    assert shown == {"mixed": [0], "right": [2], "wrong": [], "unknown": [1]}
