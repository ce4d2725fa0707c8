"""`setrl tasks`."""

from __future__ import annotations

from dataclasses import dataclass

from tyro.conf import Positional

from setrl.errors import ConfigError


@dataclass(frozen=True)
class Tasks:
    """List the tasks that a config can name, with examples of their problems.

    These are the domains of setrl, and the generators of reasoning-gym if it is installed. A config
    names them as `domain: NAME` and as `task: {reasoning_gym: NAME}`.

    Attributes:
        names: Show only these tasks, with whole examples and the line of the config.
        examples: The number of examples of each task.
        seed: Decides which examples.
        json: Print JSON instead of text.
    """

    names: Positional[tuple[str, ...]] = ()
    examples: int = 2
    seed: int = 0
    json: bool = False

    def run(self) -> None:
        """Print the tasks."""
        from dataclasses import asdict
        from json import dumps

        from setrl.tasks.listing import listed, listing_text

        if self.examples < 0:
            raise ConfigError(f"--examples must be at least 0, got {self.examples}")
        found = listed(self.names, self.examples, self.seed)
        if self.json:
            print(dumps([asdict(one) for one in found], indent=2, ensure_ascii=False))
        else:
            print(listing_text(found, whole=bool(self.names)))
