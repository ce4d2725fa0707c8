import gzip

import pytest

from setrl.logs.rows import Rows
from setrl.support.errors import DataError
from setrl.support.files import kinds
from setrl.support.files.kinds import open_gzip
from setrl.tasks import tables


@pytest.fixture
def bomb(tmp_path, monkeypatch):
    monkeypatch.setattr(kinds, "LEAST", 100_000)
    path = tmp_path / "bomb.jsonl.gz"
    path.write_bytes(gzip.compress(b'{"prompt": "' + bytes(3_000_000)))
    return path


def test_a_small_file_that_unpacks_to_very_much_is_refused(bomb):
    with pytest.raises(DataError, match="unpacks to more than 0 MB, over 200 times its size"):
        tables.read_file(bomb)
    with pytest.raises(DataError, match="unpack it yourself"):
        list(Rows(bomb).scan())


def test_a_file_is_read_and_sought_as_by_gzip(tmp_path):
    text = b"".join(f"{number}\n".encode() for number in range(50_000))
    path = tmp_path / "numbers.gz"
    path.write_bytes(gzip.compress(text))
    with open_gzip(path) as file:
        assert file.read(5) == text[:5]
        file.seek(2)
        assert next(iter(file)) == b"1\n"
        file.seek(0)
        assert file.read() == text
