"""What can go wrong, by who can fix it; each class has its exit code in `setrl.cli`."""

from collections.abc import Iterator
from contextlib import contextmanager


class ConfigError(ValueError):
    """A config or a command line is wrong: it names the file, the key and the near miss."""


class DataError(ValueError):
    """A file that was given does not hold what it should: it names the file and the line."""


class RunError(RuntimeError):
    """A run cannot go on: it names what failed and what is kept."""


class Terminated(KeyboardInterrupt):
    """SIGTERM was received: work ends as after Ctrl-C, with another exit code."""


def explain(error: BaseException) -> str:
    """What people need to know of an error; its class, too, if it is not one of ours."""
    if isinstance(error, ConfigError | DataError | RunError):
        return str(error)
    if isinstance(error, OSError) and error.strerror:  # libraries raise it for other things, too
        what = f"cannot write or read {error.filename}" if error.filename else "cannot write"
        return f"{what}: {error.strerror}"
    return f"{type(error).__name__}: {error}"


@contextmanager
def usage_errors(*kinds: type[Exception]) -> Iterator[None]:
    """Inside it, a value that is refused is wrong usage: a ValueError becomes a ConfigError.

    Args:
        kinds: Further classes that become one.
    """
    refusals: tuple[type[Exception], ...] = (ValueError, *kinds)
    try:
        yield
    except (ConfigError, DataError):
        raise
    except refusals as error:
        raise ConfigError(str(error)) from error
