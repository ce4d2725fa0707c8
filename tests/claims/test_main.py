"""`python -m claims`, as `make verify` calls it."""

from pathlib import Path

import pytest

from claims.__main__ import main


def test_a_claim_is_verified(capsys):
    main(("note-def-3.2",))
    assert "1 claims" in capsys.readouterr().out


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ({"only": ("note-prop-9",)}, "unknown claim 'note-prop-9'; did you mean 'note-prop"),
        ({"only": ("maxpo",), "markdown": Path("page.md")}, "give no ids with it"),
    ],
)
def test_wrong_usage_is_explained(arguments, message):
    with pytest.raises(SystemExit, match=message):
        main(**arguments)
