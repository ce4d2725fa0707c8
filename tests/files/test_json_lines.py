"""The reader and the appender of JSON Lines: torn ends, other values, and line numbers."""

import pytest

from setrl.support import files
from setrl.support.errors import DataError
from setrl.support.files import json_lines

WHOLE = b'{"step": 1}\n{"step": 2}\n'
TORN = [b"{", b'{"step": 3, "x', b'{"step": 3', b'{"text": "\xc2']


def write(path, data):
    path.write_bytes(data)
    return path


def steps(lines):
    return [line.record["step"] for line in lines]


def test_what_is_appended_is_read(tmp_path):
    path = tmp_path / "metrics.jsonl"
    files.append_line(path, {"step": 1, "x": float("nan"), "s": "²"})
    files.append_line(path, {"step": 2})
    assert files.read_lines(path) == [{"step": 1, "x": None, "s": "²"}, {"step": 2}]
    assert files.read_lines(tmp_path / "none.jsonl") == []


@pytest.mark.parametrize("end", TORN)
def test_a_torn_end_is_refused_left_out_or_cut(tmp_path, end):
    path = write(tmp_path / "f.jsonl", WHOLE + end)
    with pytest.raises(DataError, match=r"f.jsonl:3: is not"):
        list(json_lines.read(path))
    assert steps(json_lines.read(path, "leave_out")) == [1, 2]
    assert path.read_bytes() == WHOLE + end
    assert steps(json_lines.read(path, "cut")) == [1, 2]
    assert path.read_bytes() == WHOLE


def test_a_last_line_may_lack_its_newline_unless_one_is_to_be_appended(tmp_path):
    path = write(tmp_path / "f.jsonl", WHOLE.rstrip())
    assert steps(json_lines.read(path)) == steps(json_lines.read(path, "leave_out")) == [1, 2]
    assert steps(json_lines.read(path, "cut")) == [1]
    files.append_line(path, {"step": 5})
    assert steps(json_lines.read(path)) == [1, 5]


@pytest.mark.parametrize("torn", ["refuse", "leave_out", "cut"])
@pytest.mark.parametrize(
    ("line", "message"),
    [
        (b"{]", "2: is not JSON: Expecting property name"),
        (b"[1]", "2: a line must be an object, got list"),
        (b"\xff", "2: is not text in UTF-8"),
        (b'{"step', "2: is not JSON: "),
    ],
)
def test_a_whole_line_that_is_no_object_is_always_refused(tmp_path, torn, line, message):
    path = write(tmp_path / "f.jsonl", b"{}\n" + line + b"\n{}\n")
    with pytest.raises(DataError, match=rf"f.jsonl:{message}"):
        list(json_lines.read(path, torn))


def test_a_file_of_another_kind_is_not_called_torn(tmp_path):
    path = write(tmp_path / "f.jsonl", b"\xff")
    with pytest.raises(DataError, match=r"f.jsonl:1: is not text"):
        list(json_lines.read(path, "leave_out"))


@pytest.mark.parametrize(
    ("data", "message"),
    [
        (b"\x1f\x8b\x08", "is compressed by gzip"),
        (b"\x28\xb5\x2f\xfd", "is compressed by zstd"),
        (b"PK\x03\x04", "is a zip archive"),
        (b"PAR1", "is a Parquet file"),
        ("{}\n".encode("utf-16"), "is text in UTF-16"),
        (b'[{"a": 1}]', "is a JSON array"),
        (b"[\n  {}\n]", "is a JSON array"),
        (b"\xef\xbb\xbf[{}]", "is a JSON array"),
    ],
)
def test_a_file_of_another_kind_is_named(tmp_path, data, message):
    with pytest.raises(DataError, match=rf"f.jsonl: {message}"):
        list(json_lines.read(write(tmp_path / "f.jsonl", data)))


@pytest.mark.parametrize("deep", [b"[" * 100_000, b'{"a":' * 100_000])
def test_what_is_nested_too_deep_gets_a_sentence(tmp_path, deep):
    with pytest.raises(DataError, match=r"f.jsonl:1: is nested too deep"):
        list(json_lines.read(write(tmp_path / "f.jsonl", deep)))
    with pytest.raises(DataError, match=r"f.json: is nested too deep"):
        files.read_json(write(tmp_path / "f.json", deep))


def test_a_byte_order_mark_is_read_over(tmp_path):
    path = write(tmp_path / "f.jsonl", b'\xef\xbb\xbf{"a": 1}\n{"a": 2}\n')
    assert [(line.start, line.record["a"]) for line in json_lines.read(path)] == [(3, 1), (12, 2)]
    assert files.read_json(write(tmp_path / "f.json", b'\xef\xbb\xbf{"a": 1}')) == {"a": 1}


@pytest.mark.parametrize(
    ("data", "message"),
    [(b'{"a": ', "is damaged"), (bytes(20), "is damaged"), (b"[1]", "must hold an object")],
)
def test_a_json_file_that_is_damaged_gets_a_sentence(tmp_path, data, message):
    with pytest.raises(DataError, match=rf"run.json: {message}"):
        files.read_json(write(tmp_path / "run.json", data))


def test_lines_know_their_numbers_and_where_they_start(tmp_path):
    path = write(tmp_path / "f.jsonl", b'{"a": 1}\n\n  \n{"b": 2}\n')
    assert [(line.number, line.start) for line in json_lines.read(path)] == [(1, 0), (4, 13)]


def test_a_folder_and_a_missing_file_cannot_be_read(tmp_path):
    for path in (tmp_path, tmp_path / "none.jsonl"):
        with pytest.raises(DataError, match="cannot be read: "):
            list(json_lines.read(path))


def test_a_line_separator_inside_a_string_cuts_no_record(tmp_path):
    path = tmp_path / "records.jsonl"
    texts = ["one\u2028two\x85three", "four"]
    files.write_lines(path, [{"text": text} for text in texts])
    assert [record["text"] for record in files.read_lines(path)] == texts


@pytest.mark.parametrize("line", [
    b'{"a": [{"b": 1}', b'{"c": 2}]}', b'{"a": 1}, {"b": 2}', b'{"a": 1', b'"b": 2}', b"", b"[1]",
    b'{"a": 1, "a": 2}', b'{"b": {"a": 1, "a": 2}}', b'{"a": "\xff"}', b'{"a": "\xed\xa0\x80"}',
    b"[" * 100_000, b'{"a": "', b'"}', b"{} {}",
])  # fmt: skip
def test_lines_that_are_parsed_together_are_whole_objects_on_their_own(line):
    assert json_lines.parse_together([b"{}", line]) is None
    assert json_lines.parse_together([line, b'{"a": [{"b": 1}', b'{"c": 2}]}', b"{}, {}"]) is None


def test_lines_that_are_parsed_together_give_what_each_one_gives():
    lines = [
        b'{"a": "b\\":", "c": ":"}',
        b'{"a": {"a": [{"a": 1}, {"a": 2}]}}',
        b' {"\xc3\xa9": NaN}',
        b"{}",
    ]
    together = json_lines.parse_together(lines)
    assert repr(together) == repr([json_lines.parse(line) for line in lines])
