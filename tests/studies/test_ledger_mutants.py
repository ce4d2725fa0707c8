"""Mutants of the ledger's checks: what becomes of them."""

import claims
from claims import CLAIMS
from claims.claims import examine
from studies.ledger_mutants import main, mutants, outcome, page


def outcomes(id):
    (row,) = claims.find(id)
    before = examine(row)
    return {mutant.change: outcome(mutant, before) for mutant in mutants(row)}


def test_a_mutant_is_found_out_or_followed_by_the_texts():
    found = outcomes("tutorial-pass-32")
    assert found["1 - rate → 1 + rate"] == "found out"
    assert found["5 → 6"] == "followed"  # digits of a number that a text prints


def test_a_mutant_that_only_renames_survives():
    assert outcomes("summaries-diversity")["7 → 8"] == "survives"


def test_rows_that_were_tried_are_not_tried_again(tmp_path, capsys):
    main(tmp_path, ("summaries-diversity",))
    assert "100% done" in capsys.readouterr().out
    main(tmp_path, ("summaries-diversity",))
    assert not capsys.readouterr().out
    written = (tmp_path / "README.md").read_text(encoding="utf-8")
    assert f"of 1 of the {len(CLAIMS)} rows" in written
    assert "`summaries-diversity`" in written


def test_the_page_counts_what_survives():
    known = {"a": {"counts": {"found out": 2, "survives": 1}, "listed": []}}
    known["a"]["listed"] = [["survives", "place", "claims/a.py:1", "0 → 1"]]
    assert "| place | 1 |" in page(known)
