"""`python -m claims`, as `make verify` calls it."""

from dataclasses import replace

import pytest

import claims as ledger
from claims.__main__ import main
from claims.claims import Verdict


def test_a_claim_is_verified(capsys):
    main(["note-def-3.2"])
    assert capsys.readouterr().out.splitlines()[-1] == "1 claim: all confirmed"


def test_a_claim_that_is_not_confirmed_is_named_last_and_exits_with_1(capsys, monkeypatch):
    wrong = replace(ledger.find("note-def-3.2")[0], verdict=Verdict.HOLDS)
    monkeypatch.setattr(ledger, "CLAIMS", (wrong,))
    with pytest.raises(SystemExit) as ended:
        main([])
    assert ended.value.code == 1
    out, err = capsys.readouterr()
    assert out.splitlines()[-1] == "1 claim: 1 not confirmed: note-def-3.2"
    assert not err


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["note-prop-9"], "unknown claim 'note-prop-9'; did you mean 'note-prop"),
        (["maxpo", "--markdown", "page.md"], "remove the ids or --markdown"),
    ],
)
def test_wrong_usage_is_explained(arguments, message):
    with pytest.raises(SystemExit, match=message):
        main(arguments)
