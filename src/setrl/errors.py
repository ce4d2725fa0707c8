"""What can go wrong, by who can mend it; each class has its exit code in `setrl.cli`."""


class ConfigError(ValueError):
    """A config or a command line is wrong: it names the file, the key and the near miss."""


class DataError(ValueError):
    """A file that was given does not hold what it should: it names the file and the line."""


class RunError(RuntimeError):
    """A run cannot go on: it names what failed and what is kept."""
