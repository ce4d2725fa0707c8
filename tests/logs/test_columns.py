"""Columns of a log: each different value is read once, and every way of reading gives the same."""

import gzip
import json
import random

import pytest

from setrl.logs import LogOptions, log, open_log
from setrl.logs import rows as rows_module
from setrl.logs.paths import MISSING, MOST_KNOWN, ReadOnce, column, value_at
from setrl.logs.rows import Rows
from setrl.samples.values import read_answer, read_count, read_label
from setrl.support.errors import DataError

NAMES = [f"p{place // 4}" for place in range(2_400)]


def rows(names=NAMES):
    return [
        {"qid": name, "correct": place % 3 == 0, "pred": str(place % 7), "output": f"text {place}",
         "strategy": ["a", "b", -1, None][place % 4]}
        for place, name in enumerate(names)
    ]  # fmt: skip


def write(path, records, between=b""):
    lines = [json.dumps(record).encode() + b"\n" + between for record in records]
    data = b"".join(lines)
    path.write_bytes(gzip.compress(data, mtime=0) if path.suffix == ".gz" else data)
    return path


def test_a_value_that_repeats_is_read_once():
    calls = []
    read = ReadOnce(lambda value: calls.append(value) or value * 2)
    assert read(["a", "b", "a"]) == read(["a", "b", "a"]) == ["aa", "bb", "aa"]
    assert calls == ["a", "b"]
    assert read([MISSING, "a"]) == [None, "aa"]


def test_equal_numbers_of_different_kinds_are_read_apart():
    assert ReadOnce(read_answer)([1, True, 1.0, "1"]) == ["1"] * 4
    read = ReadOnce(read_count, "tokens")
    assert read([1, 1.0, "1"]) == [1, 1, 1]
    assert read([1]) == [1]
    for values in ([True], [1, True], [1.0, True]):
        with pytest.raises(ValueError, match=r"tokens must be .* got True"):
            read(values)


def test_the_first_value_that_is_refused_is_named():
    with pytest.raises(ValueError, match=r"way must be .* got 0\.5"):
        ReadOnce(read_label, "way")(["x", 0.5, 0.25, 0.125])


def test_not_all_values_are_remembered():
    calls = []
    read = ReadOnce(lambda value: calls.append(value))
    read(["kept"])
    read([str(number) for number in range(MOST_KNOWN + 1)])
    read(["new"])
    read(["kept"])
    assert calls.count("kept") == 2


def test_a_column_holds_what_is_at_the_path_of_each_object():
    parts = [1, None, "s", [1], {"b": 2}, {"b": {"c": 3}}, {"b.c": 4}, {"b": {}}]
    rng = random.Random(0)
    for _ in range(300):
        objects = [
            {key: rng.choice(parts) for key in rng.sample(["a", "a.b", "a.b.c"], rng.randrange(4))}
            for _ in range(rng.randrange(4))
        ]
        for path in ("a", "a.b", "a.b.c"):
            assert column(objects, path) == [at(record, path) for record in objects]


def at(record, path):
    try:
        return value_at(record, path)
    except KeyError:
        return MISSING


@pytest.mark.parametrize("order", ["in order", "shuffled", "interleaved"])
@pytest.mark.parametrize("form", ["plain.jsonl", "blank.jsonl", "damaged.jsonl", "packed.jsonl.gz"])
def test_groups_that_are_read_together_are_those_that_are_read_alone(tmp_path, order, form):
    records = rows()
    if order == "shuffled":
        random.Random(0).shuffle(records)
    if order == "interleaved":
        records = [record for first in range(4) for record in records[first::4]]
    between = {"blank.jsonl": b"\n \n", "damaged.jsonl": b"{broken\n"}.get(form, b"")
    path = write(tmp_path / form, records, between)
    whole = open_log(path, LogOptions(allow_damaged=True))
    groups = list(whole)
    assert groups == [whole[place] for place in range(len(whole))]
    texts = {}
    for record in records:
        texts.setdefault(record["qid"], []).append(record["output"])
    assert {group.id: list(group.texts) for group in groups} == texts
    assert [group.samples[0].strategy for group in groups if group.id == "p0"] == (
        [{"text 0": "a", "text 1": "b", "text 2": -1, "text 3": None}[texts["p0"][0]]]
    )


@pytest.mark.parametrize("size", [1, 300, 2**30])
def test_no_size_of_a_chunk_changes_a_group(tmp_path, monkeypatch, size):
    path = write(tmp_path / "log.jsonl", rows())
    expected = list(open_log(path))
    monkeypatch.setattr(log, "CHUNK", size)
    monkeypatch.setattr(rows_module, "BLOCK", size)
    assert list(open_log(path)) == expected


def test_a_value_that_is_refused_names_its_line_and_groups_before_it_come_first(tmp_path):
    records = rows()
    records[1_702]["strategy"] = 0.5
    records[2_100]["strategy"] = [1]
    found = open_log(write(tmp_path / "log.jsonl", records))
    came = []
    with pytest.raises(DataError, match=r"log\.jsonl:1703: strategy must be .* got 0\.5"):
        came.extend(found)
    assert [group.id for group in came] == [f"p{number}" for number in range(425)]


def test_the_first_line_that_cannot_be_read_is_named_whatever_is_wrong_with_it(tmp_path):
    records = rows()
    records[2_350]["correct"] = "maybe"
    data = write(tmp_path / "log.jsonl", records).read_bytes()
    with pytest.raises(DataError, match=r"log\.jsonl:2351: correct must be .* got 'maybe'"):
        open_log(tmp_path / "log.jsonl", needs=["correct"])
    (tmp_path / "log.jsonl").write_bytes(data + b"{broken\n")
    with pytest.raises(DataError, match=r"log\.jsonl:2351: correct must be"):
        open_log(tmp_path / "log.jsonl", needs=["correct"])
    lines = data.splitlines(keepends=True)
    lines[2_349] = b"{broken\n"
    (tmp_path / "log.jsonl").write_bytes(b"".join(lines))
    with pytest.raises(DataError, match=r"log\.jsonl:2350: is not JSON"):
        open_log(tmp_path / "log.jsonl", needs=["correct"])


def test_notes_are_about_all_groups_however_often_they_are_read(tmp_path):
    found = open_log(write(tmp_path / "log.jsonl", rows()))
    _ = [found[0], found[0]]
    for _ in range(2):
        groups = list(found)
        assert found[1] == groups[1]
        assert found.notes()[0].startswith("600 samples have no label")


def test_only_some_groups_are_in_memory_at_once(tmp_path, monkeypatch):
    monkeypatch.setattr(log, "CHUNK", 4_000)
    found = open_log(write(tmp_path / "log.jsonl", rows()))
    sizes = []
    groups = found.reader.groups
    monkeypatch.setattr(
        found.reader, "groups", lambda chunk: sizes.append(sum(map(len, chunk))) or groups(chunk)
    )
    assert len(list(found)) == 600
    assert 4 < max(sizes) < 60  # rows of some 80 bytes


def test_a_label_that_is_missing_is_one_that_is_null(tmp_path):
    records = [{"id": 1, "correct": 1, "strategy": "a"}, {"id": 1, "correct": 0}]
    [group] = open_log(write(tmp_path / "log.jsonl", records), LogOptions(degenerate="null"))
    assert [sample.strategy for sample in group.samples] == ["a", -1]


def test_contradictions_are_counted_both_ways(tmp_path):
    pairs = [(1, 1), (0, 0), (1, 0), (0, 1), (0, 1), (None, 1)]
    records = [{"id": 1, "correct": right, "reward": reward} for right, reward in pairs]
    found = open_log(write(tmp_path / "log.jsonl", records), needs=["reward"])
    assert "in 3 of 5 samples: correct says" in found.notes()[0]


def test_rows_are_read_again_in_any_order(tmp_path):
    records = rows(NAMES[:40])
    found = Rows(write(tmp_path / "log.jsonl", records, b"\n"))
    assert [record for batch, _ in found.scan() for record in batch] == records
    rng = random.Random(0)
    for _ in range(2_000):
        chosen = rng.sample(range(40), rng.randrange(1, 5))
        assert found.records(chosen) == [records[row] for row in chosen]
