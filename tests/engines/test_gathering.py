"""What two processes with the same rows get: one exchange for short lists, two for long ones."""

from types import SimpleNamespace

import pytest

from setrl.train.trl import gathering


@pytest.mark.parametrize(
    ("rows", "exchanges"),
    [([], 1), (["a", None, -1], 1), ([{"x": [1.5]}], 1), (["é" * 9000], 2)],
    ids=["none", "labels", "rows", "long"],
)
def test_rows_of_all_processes_come_in_order(monkeypatch, rows, exchanges):
    sizes = []

    def all_gather(received, sent):
        sizes.append(len(sent))
        for one in received:
            one.copy_(sent)

    fake = SimpleNamespace(
        is_initialized=lambda: True, get_world_size=lambda: 2, all_gather=all_gather
    )
    monkeypatch.setattr(gathering, "dist", fake)
    alone = SimpleNamespace(num_processes=2, device="cpu")
    monkeypatch.setattr(gathering, "PartialState", lambda: alone)
    assert gathering.gather_rows(rows) == rows * 2
    assert len(sizes) == exchanges
    assert sizes[0] == gathering.SHORT
