"""What can go wrong, by who can repair it; each class has its exit code in `setrl.cli`."""

from collections.abc import Iterator
from contextlib import contextmanager


class ConfigError(ValueError):
    """A config or a command line is wrong: the message names file, key and near miss."""


class DataError(ValueError):
    """An input file does not hold what it should: the message names the file and the line."""


class RunError(RuntimeError):
    """A run cannot go on: the message names what failed and what is kept."""


class Terminated(KeyboardInterrupt):
    """SIGTERM arrived: work ends as after Ctrl-C, with another exit code."""


def explain(error: BaseException) -> str:
    """Say what people need to know about an error, with its class if it is not one of ours."""
    if isinstance(error, ConfigError | DataError | RunError):
        return str(error)
    if isinstance(error, OSError) and error.strerror:  # libraries also raise it for other problems
        what = f"cannot write or read {error.filename}" if error.filename else "cannot write"
        return f"{what}: {error.strerror}"
    return f"{type(error).__name__}: {error}"


@contextmanager
def usage_errors(*kinds: type[Exception]) -> Iterator[None]:
    """Turn each ValueError inside the block into a ConfigError: a refused value is wrong usage.

    Args:
        kinds: Further exception classes to turn into ConfigError.
    """
    refusals: tuple[type[Exception], ...] = (ValueError, *kinds)
    try:
        yield
    except (ConfigError, DataError):
        raise
    except refusals as error:
        raise ConfigError(str(error)) from error
