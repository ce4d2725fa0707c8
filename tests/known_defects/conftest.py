"""What the tests of known defects share.

Each test here fails today, and names the defect. Who fixes one deletes the mark `xfail`, and the
test stays where its subject is tested. `raises=` names how it fails, so that a test that breaks in
another way (a name that has moved, say) is seen.
"""

import pytest


@pytest.fixture
def setrl(capsys):
    """Run a command line in this process: exit code, standard output, standard error."""
    from setrl import cli

    def run(*arguments):
        with pytest.raises(SystemExit) as left:
            cli.main([str(argument) for argument in arguments])
        printed = capsys.readouterr()
        return left.value.code, printed.out, printed.err

    return run
