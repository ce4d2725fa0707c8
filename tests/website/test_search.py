"""Search of the built site finds guides and the reference first; `make docs` asks it."""

import pytest

from website import search


@pytest.fixture
def found(monkeypatch):
    """What search finds for each query, by default what it shall find."""
    hits = {query: [*pages, "more.html"] for query, pages in search.FIRST.items()}
    monkeypatch.setattr(search.shutil, "which", lambda name: name)
    monkeypatch.setattr(search, "first_hits", lambda site, queries: [hits[one] for one in queries])
    return hits


def test_what_is_found_first_has_no_fault(found, tmp_path):
    assert len(search.FIRST) == 10
    assert list(search.faults(tmp_path)) == []


def test_a_page_that_is_found_late_is_a_fault(found, tmp_path):
    found["judge"] = ["results/judges.html", *found["judge"]]
    found["audit"] = []
    assert list(search.faults(tmp_path)) == [
        "search for judge: finds results/judges.html, judges.html first, "
        "not judges.html, reference/judges.html",
        "search for audit: finds nothing first, not audit.html, reference/audit.html",
    ]
