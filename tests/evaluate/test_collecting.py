"""Samples on disk and records from them: interrupted, killed, and gone on with."""

import json
import os
import signal
import subprocess
import sys
import time

import pytest

from setrl.evaluate.collecting import draw_and_read
from setrl.evaluate.loading import load_evaluation
from setrl.logs.records import read_records
from setrl.models.generators import Completion, Failure
from setrl.models.sample_file import SampleFile
from setrl.support.errors import ConfigError, DataError, RunError
from setrl.tasks import Problem
from setrl.tasks.base import ProblemSet
from setrl.tasks.domains import Reading
from tests.models.samples import SampleServer


class FakeModel:
    """Writes "<prompt>/<number>"; stops after some samples; of some problems it gives but one."""

    def __init__(self, stop_after=None, fails=(), temperature=0.5):
        self.stop_after, self.fails = stop_after, fails
        self.settings, self.weights = {"temperature": temperature}, None
        self.asked = []

    def generate(self, asks, seed):
        drawn = 0
        for ask in reversed(asks):
            fails = ask.problem in self.fails
            if fails:
                yield Failure(ask.problem, len(ask.numbers) - 1, "timeout")
            for number in ask.numbers[:1] if fails else ask.numbers:
                if drawn == self.stop_after:
                    raise KeyboardInterrupt
                drawn += 1
                self.asked.append((ask.problem, number))
                finish = "length" if number == 0 else "stop"
                yield Completion(ask.problem, number, f"{ask.prompt}/{number}\u2028é", finish)


def read(problem, texts):
    """Right is the sample whose number is the gold."""
    return [Reading(f"/{problem.gold}\u2028" in text, "s", text[-4:]) for text in texts]


PROBLEMS = tuple(Problem(f"p{i}", "k", id=f"t/{i}", gold=str(i)) for i in range(3))
TASK = ProblemSet("t", "test", PROBLEMS, read)


def draw(path, model=None, task=TASK, n=4, seed=1):
    return draw_and_read(task, model or FakeModel(), n, seed, path, show_progress=False)


@pytest.fixture
def whole(tmp_path):
    path = tmp_path / "whole" / "t.jsonl"
    draw(path)
    return path


def read_some(problem, texts):
    """Of sample i of four: an unknown grade, an unknown strategy, no strategy, all known."""
    known = Reading(True, "s", "7")
    partly = (Reading(None, "s", "7"), Reading(True, None, None), Reading(False, -1, "7"), known)
    return [partly[int(text.partition("/")[2][0])] for text in texts]


def test_what_is_unknown_of_a_sample_is_unknown_in_the_record_and_counted(tmp_path):
    task = ProblemSet("t", "test", PROBLEMS[:1], read_some)
    path = draw(tmp_path / "t.jsonl", task=task).path
    [record] = read_records(path)
    assert record["correct"] == [None, 1, 0, 1]
    assert record["strategies"] == ["s", None, -1, "s"]
    assert record["answers"] == ["7", None, "7", "7"]
    found = load_evaluation(path)
    assert found.ungraded_P.tolist() == [1]
    assert found.samples.correct.tolist() == [[1, 0, 1]]
    assert found.samples.labels("strategies") == [[None, -1, "s"]]
    assert found.samples.labels("answers") == [[None, "7", "7"]]


def test_records_and_samples(whole):
    records = read_records(whole)
    assert [record["id"] for record in records] == ["t/0", "t/1", "t/2"]
    assert records[1]["correct"] == [0, 1, 0, 0]
    assert records[1]["texts"][3] == "p1/3\u2028é"
    assert (records[0]["temperature"], records[0]["seed"], records[0]["gold"]) == (0.5, 1, "0")
    assert load_evaluation(whole).n == 4
    lines = (whole.parent / "samples" / "t.jsonl").read_text(encoding="utf-8").split("\n")
    assert json.loads(lines[0])["settings"]["task"] == "t"
    assert json.loads(lines[1]) == {
        "id": "t/2/0", "problem": 2, "sample": 0, "text": "p2/0\u2028é", "finish": "length",
    }  # fmt: skip


@pytest.mark.parametrize("stop_after", [0, 1, 5, 11])
def test_an_interrupted_call_goes_on_and_asks_nothing_twice(whole, tmp_path, stop_after):
    path, first, second = tmp_path / "t.jsonl", FakeModel(stop_after), FakeModel()
    with pytest.raises(KeyboardInterrupt):
        draw(path, first)
    assert not path.exists()
    drawn = draw(path, second)
    assert sorted(first.asked + second.asked) == [(p, i) for p in range(3) for i in range(4)]
    assert path.read_bytes() == whole.read_bytes()
    assert (drawn.problems, drawn.unfinished, drawn.cut, drawn.alike) == (3, 0, 3, 0)


def test_a_file_cut_at_any_byte_goes_on(whole, tmp_path):
    samples = (whole.parent / "samples" / "t.jsonl").read_bytes()
    for size in range(0, len(samples), 37):
        path = tmp_path / str(size) / "t.jsonl"
        (path.parent / "samples").mkdir(parents=True)
        (path.parent / "samples" / "t.jsonl").write_bytes(samples[:size])
        model = FakeModel()
        draw(path, model)
        assert path.read_bytes() == whole.read_bytes()
        assert len(model.asked) == 12 - max(0, samples[:size].count(b"\n") - 1)


def test_a_finished_file_asks_and_reads_nothing(whole):
    def no_reader(problem, texts):
        raise AssertionError("read again")

    model = FakeModel()
    drawn = draw(whole, model, ProblemSet("t", "test", PROBLEMS, no_reader))
    assert (model.asked, drawn.problems) == ([], 3)


def test_without_the_records_samples_are_read_again_and_not_drawn(whole):
    before = whole.read_bytes()
    whole.unlink()
    model = FakeModel()
    draw(whole, model)
    assert (model.asked, whole.read_bytes()) == ([], before)


def test_a_failed_problem_is_unfinished_and_not_filled(whole, tmp_path):
    path = tmp_path / "t.jsonl"
    drawn = draw(path, FakeModel(fails=(0, 1)))
    assert (drawn.problems, drawn.unfinished, drawn.failures) == (1, 2, {"timeout": 6})
    assert [record["id"] for record in read_records(path)] == ["t/2"]
    draw(path, FakeModel(fails=(1,)))
    assert [record["id"] for record in read_records(path)] == ["t/0", "t/2"]
    draw(path)
    assert path.read_bytes() == whole.read_bytes()


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"n": 5}, "made with n = 4, not 5"),
        ({"seed": 2}, "made with seed = 1, not 2"),
        ({"model": FakeModel(temperature=1)}, "made with temperature = 0.5, not 1"),
        ({"task": ProblemSet("t", "test", PROBLEMS[:2], read)}, "made with problems = .*, not "),
        ({"task": ProblemSet("u", "test", PROBLEMS, read)}, "made with task = t, not u"),
    ],
)
def test_files_of_other_settings_are_refused(whole, changes, message):
    before = whole.read_bytes()
    with pytest.raises(ConfigError, match=message):
        draw(whole, **changes)
    assert whole.read_bytes() == before


@pytest.mark.parametrize(("before", "after"), [({}, {"system": "Be brief."}), ({"top_k": 2}, {})])
def test_a_setting_that_is_added_or_removed_is_another_setting(tmp_path, before, after):
    """A system prompt that was taken away again was not noticed: samples of both were one file."""
    model, path = FakeModel(stop_after=5), tmp_path / "t.jsonl"
    model.settings |= before
    with pytest.raises(KeyboardInterrupt):
        draw(path, model)
    model.settings, model.stop_after = {"temperature": 0.5, **after}, None
    with pytest.raises(ConfigError, match=r"made with (system = None, not Be|top_k = 2, not None)"):
        draw(path, model)


def test_records_without_their_samples_are_not_overwritten(whole):
    (whole.parent / "samples" / "t.jsonl").unlink()
    with pytest.raises(ConfigError, match="holds records whose samples are not in"):
        draw(whole)


@pytest.mark.parametrize(
    ("line", "message"),
    [
        ("{]", "t.jsonl:3: is not JSON"),
        ("[]", "t.jsonl:3: a line must be an object"),
        ('{"id": "t/9/0", "problem": 9, "sample": 0}', "t.jsonl:3: is not a sample of this task"),
        ('{"id": "u/0/0", "problem": 0, "sample": 0}', "3: is sample u/0/0, not t/0/0 of this"),
    ],
)
def test_a_whole_line_that_is_no_sample_is_named(tmp_path, line, message):
    path = tmp_path / "t.jsonl"
    ids = [problem.id for problem in PROBLEMS]
    SampleFile(path, ids, {}).append(Completion(0, 1, "x"))
    path.write_text(path.read_text() + line + "\n")
    with pytest.raises(DataError, match=message):
        SampleFile(path, ids, {})


@pytest.mark.parametrize("text", ['{"mine": 1}', "mine", '\n{"mine": 1}', '{"mine": 1}\n', "[1]"])
def test_a_file_of_somebody_is_refused_and_stays(tmp_path, text):
    """A last line without its newline was cut off before anybody looked whose file it is."""
    path = tmp_path / "samples" / "t.jsonl"
    path.parent.mkdir()
    path.write_text(text)
    with pytest.raises(DataError, match=r"t\.jsonl:1: is not the first line of a file of samples"):
        draw(tmp_path / "t.jsonl")
    assert path.read_text() == text


def test_a_sample_is_kept_once(tmp_path):
    store = SampleFile(tmp_path / "t.jsonl", ["t/0"], {})
    for text in ("first", "second"):
        store.append(Completion(0, 2, text))
    assert (store.count, store.missing(0, 3)) == (1, (0, 1))
    assert [sample.text for sample in store.samples(0)] == ["first"]


@pytest.mark.skipif(os.name != "posix", reason="needs fcntl")
def test_a_second_call_on_one_output_is_refused_while_the_first_draws(whole, tmp_path):
    """Two wrote into each other's places: a sample was read as one of another problem."""
    path, refused = tmp_path / "t.jsonl", []

    class FirstModel(FakeModel):
        def generate(self, asks, seed):
            for event in super().generate(asks, seed):
                with pytest.raises(RunError) as raised:
                    draw(path)
                refused.append(str(raised.value))
                yield event

    draw(path, FirstModel())
    assert len(refused) == 12
    assert f"{tmp_path}/samples/t.jsonl: another process draws samples into it" in refused[0]
    assert path.read_bytes() == whole.read_bytes()
    draw(path)


def test_a_sample_is_not_read_as_one_of_another_problem(tmp_path):
    store = SampleFile(tmp_path / "t.jsonl", ["t/0", "t/1"], {})
    for problem in (0, 1):
        store.append(Completion(problem, 0, "same"))
    lines = store.path.read_text().splitlines(keepends=True)
    store.path.write_text("".join([lines[0], lines[2], lines[1]]))  # by another program
    with pytest.raises(DataError, match="was changed while it was read"):
        store.samples(0)


@pytest.mark.skipif(os.name != "posix", reason="kills a process")
def test_a_killed_command_goes_on(tmp_path):
    """`kill -9` in the middle of requests: what is on disk is not asked for again."""
    data, out = tmp_path / "d.jsonl", tmp_path / "out" / "d.jsonl"
    rows = [{"problem": f"p{i} \\boxed{{{i}}}", "answer": i} for i in range(6)]
    data.write_text("".join(json.dumps(row) + "\n" for row in rows))
    samples = out.parent / "samples" / "d.jsonl"
    with SampleServer(delay=0.1) as server:
        command = [
            sys.executable, "-c", "from setrl.cli import main; main()",
            "sample", "--endpoint", server.url,
            "--model", "m", "--data", str(data), "--samples", "12", "--concurrency", "2",
            "--output", str(out),
        ]  # fmt: skip
        process = subprocess.Popen(command, stderr=subprocess.DEVNULL)
        for _ in range(1000):
            if samples.exists() and samples.read_bytes().count(b"\n") > 14:
                break
            time.sleep(0.02)
        process.send_signal(signal.SIGKILL)
        process.wait()
        kept = {json.loads(line)["text"] for line in samples.read_text().split("\n")[1:-1]}
        assert 12 <= len(kept) < 72
        subprocess.run(command, check=True, capture_output=True)
        again = [
            f"{prompt.partition(chr(10))[0]} #{seed}"
            for (prompt, seed), count in server.given.items()
            if count > 1
        ]
    assert not kept & set(again)
    assert load_evaluation(out).correct_PN.shape == (6, 12)


def test_a_place_that_cannot_be_written_is_found_before_anything_is_drawn(tmp_path):
    (tmp_path / "file").write_text("")
    model = FakeModel()
    with pytest.raises(OSError, match="file"):
        draw(tmp_path / "file" / "t.jsonl", model)
    assert model.asked == []
