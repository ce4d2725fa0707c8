"""What the tests of the command line share."""

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
