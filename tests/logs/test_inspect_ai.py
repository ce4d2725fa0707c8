"""inspect_ai's logs; the samples are made by hand in the format of its EvalLog, version 2."""

import json
import struct
import sys
import zipfile
from pathlib import Path

import pytest

from setrl.logs import open_log
from setrl.support.errors import ConfigError, DataError
from tests.logs.reading import read_log


def sample(identity, epoch, text, value, **changes):
    fields = {
        "id": identity,
        "epoch": epoch,
        "input": f"q{identity}",
        "target": "7",
        "output": {
            "model": "m",
            "choices": [{"message": {"role": "assistant", "content": text}, "stop_reason": "stop"}],
        },
        "scores": {"match": {"value": value, "answer": text[-1:], "explanation": text}},
        "attachments": {},
    }
    return {**fields, **changes}


SAMPLES = [
    sample(1, 1, "is 7", "C"), sample(2, 1, "is 8", "I"),
    sample(1, 2, "is 9", "N"), sample(2, 2, "is 7", "C"),
]  # fmt: skip


def write(path, samples, status="success"):
    if path.suffix == ".json":
        log = {"version": 2, "status": status, "eval": {"task": "t"}, "samples": samples}
        path.write_text(json.dumps(log))
        return path
    with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED) as archive:
        if status != "started":  # it is written at the end
            archive.writestr("header.json", json.dumps({"status": status}))
        for each in samples:
            archive.writestr(f"samples/{each['id']}_epoch_{each['epoch']}.json", json.dumps(each))
    return path


def read(path, **options):
    return read_log("inspect", path, **options)


@pytest.mark.parametrize("suffix", [".json", ".eval"])
def test_the_epochs_of_a_problem_are_its_group(tmp_path, suffix):
    imported = read(write(tmp_path / f"log{suffix}", SAMPLES))
    assert imported.notes == []
    first, second = imported.records
    assert (first["id"], first["prompt"], first["gold"]) == ("log/1", "q1", "7")
    assert (first["texts"], first["answers"]) == (["is 7", "is 9"], ["7", "9"])
    assert (first["correct"], second["correct"]) == ([1, 0], [0, 1])


@pytest.mark.parametrize("suffix", [".json", ".eval"])
@pytest.mark.parametrize("status", ["cancelled", "error", "started"])
def test_a_log_that_did_not_end_well_is_announced(tmp_path, suffix, status):
    [note] = read(write(tmp_path / f"log{suffix}", SAMPLES, status)).notes
    assert note == f"log{suffix}: the status of the log is {status}: samples may be missing"


def test_a_sample_without_output_has_no_text(tmp_path):
    path = write(tmp_path / "log.json", [*SAMPLES[:3], sample(2, 2, "is 7", "C", output={})])
    assert [group.column("text") for group in open_log(path)] == [["is 7", "is 9"], ["is 8", None]]


def test_partly_correct_is_graded(tmp_path):
    path = write(tmp_path / "log.json", [*SAMPLES[:2], sample(1, 2, "7?", "P"), SAMPLES[3]])
    first, second = read(path, correct_above=0.75).records
    assert (first["rewards"], second["rewards"]) == ([1.0, 0.5], [0.0, 1.0])
    assert first["correct"] == [1, 0]


def test_samples_that_failed_are_null_and_said(tmp_path):
    failed = sample(1, 3, "", "I", error={"message": "timeout"}, scores=None)
    imported = read(write(tmp_path / "log.json", [*SAMPLES, failed]))
    assert imported.notes == ["kept as null: 1 sample without a score (null or NaN)"]
    assert imported.records[0]["n"] == 3
    assert imported.records[0]["correct"].count(None) == 1


def test_messages_and_attachments(tmp_path):
    each = sample(
        1, 1, "attachment://abc", 1,
        input=[{"role": "system", "content": "s"},
               {"role": "user", "content": [{"type": "text", "text": "long "},
                                            {"type": "text", "text": "question"}]}],
        target=["7", "seven"], attachments={"abc": "a long answer"},
    )  # fmt: skip
    [record] = read(write(tmp_path / "log.json", [each])).records
    assert (record["prompt"], record["texts"]) == ("long question", ["a long answer"])
    assert (record["gold"], record["correct"]) == ("7", [1])


def test_what_is_wrong_is_named(tmp_path):
    two = sample(1, 1, "7", "C")
    two["scores"]["f1"] = {"value": 0.5}
    with pytest.raises(ConfigError, match="has the scores match, f1: name one with --reward"):
        read(write(tmp_path / "log.json", [two]))
    [record] = read(write(tmp_path / "log.json", [two]), reward="f1", correct_above=0).records
    assert record["rewards"] == [0.5]
    for value in ("good", "1_0", "１"):
        with pytest.raises(DataError, match=r"a score must be a finite number, .*, got '.+'"):
            read(write(tmp_path / "log.json", [sample(1, 1, "7", value)]))
    with pytest.raises(DataError, match="has no samples"):
        read(write(tmp_path / "log.json", []))
    path = tmp_path / "log.eval"
    path.write_text("no zip")
    with pytest.raises(DataError, match="is not a log of inspect_ai"):
        read(path)


def with_zstandard(path, name, content):
    """A zip of one file as Inspect writes it: Zstandard, which zipfile cannot write."""
    pyarrow = pytest.importorskip("pyarrow")
    with zipfile.ZipFile(path, "w") as archive:
        archive.writestr(name, pyarrow.compress(content, codec="zstd", asbytes=True))
        central = archive.fp.tell()
    data = bytearray(path.read_bytes())
    for start, method, size in ((0, 8, 22), (central, 10, 24)):  # places in the two headers
        struct.pack_into("<H", data, start + method, 93)
        struct.pack_into("<I", data, start + size, len(content))
    path.write_bytes(data)
    return path


def test_zstandard_is_read(tmp_path):
    content = json.dumps(SAMPLES[0]).encode()
    path = with_zstandard(tmp_path / "log.eval", "samples/1_epoch_1.json", content)
    [record] = read(path).records
    assert (record["texts"], record["correct"]) == (["is 7"], [1])
    path.write_bytes(path.read_bytes().replace(b"\x28\xb5\x2f\xfd", b"\x28\xb5\x2f\xfe"))
    with pytest.raises(DataError, match="damaged Zstandard data"):
        read(path)


@pytest.mark.parametrize("name", ["samples/bomb.json", "summaries.json"])
def test_a_small_archive_that_would_fill_the_memory_is_refused(tmp_path, name):
    path = write(tmp_path / "log.eval", SAMPLES)
    with zipfile.ZipFile(path, "a", zipfile.ZIP_DEFLATED) as archive:
        archive.writestr(name, b"[" * 25_000_000)
    with pytest.raises(DataError, match=f"^{path}: {name} unpacks to 25,000,000 bytes from 24,"):
        read(path)


def test_a_log_that_inspect_wrote():
    pytest.importorskip("pyarrow")
    log = open_log(Path(__file__).parents[1] / "data" / "inspect_arith.eval")
    counts = {group.prompt: sum(one.correct for one in group.samples) for group in log}
    assert list(counts.values()) == [2, 3, 2, 4, 2, 0]
    first = log[0].samples[1]
    assert (first.text[:19], first.answer, first.tokens) == ("I count step by ste", None, 32)
    assert log.notes() == []


def test_zstandard_without_pyarrow_names_what_to_install(tmp_path, monkeypatch):
    path = with_zstandard(tmp_path / "log.eval", "samples/1_epoch_1.json", b"{}")
    monkeypatch.setitem(sys.modules, "pyarrow", None)
    with pytest.raises(DataError, match=r"needs pyarrow.*; or write it as .json"):
        read(path)


def test_an_answer_that_is_the_whole_text_is_none(tmp_path):
    one = sample(1, 1, "It is 7", "C")
    one["scores"]["match"]["answer"] = "It is 7\n"
    [record] = read(write(tmp_path / "log.json", [one])).records
    assert record["answers"] == [None]
