"""What the command line answers."""

import pytest


@pytest.mark.xfail(strict=True, raises=AssertionError, reason="lists all commands, names none")
@pytest.mark.parametrize(
    ("written", "meant"),
    [("credt", "credit"), ("evalute", "evaluate"), ("judge-adit", "judge-audit")],
)
def test_a_command_that_is_nearly_right_is_recognised(setrl, written, meant):
    code, _, error = setrl(written)
    assert code == 2
    assert f"did you mean {meant}?" in " ".join(error.lower().split())
