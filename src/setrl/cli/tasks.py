"""`setrl tasks`."""

from __future__ import annotations

from dataclasses import dataclass

from tyro.conf import Positional

from setrl.cli.said import Said
from setrl.support.errors import ConfigError


@dataclass(frozen=True)
class Tasks(Said):
    """List the tasks that a config can name, with examples of their problems.

    These are the domains of setrl, and the generators of reasoning-gym if it is installed. A config
    names them as `domain: NAME` and as `task: {reasoning_gym: NAME}`.

    Attributes:
        names: Show only these tasks, with whole examples and the line of the config.
        examples: The number of examples of each task.
        seed: Decides which examples.

    Json:
        tasks: For each task: config, the line that names it; name; kind; strategy, what a strategy
            is, or null if no function reads it; accepts_nonsense, whether its verifier calls "?"
            right; and examples with prompt, answer and strategy.
    """

    names: Positional[tuple[str, ...]] = ()
    examples: int = 2
    seed: int = 0

    def run(self) -> None:
        """Print the tasks."""
        from dataclasses import asdict

        from setrl.tasks.listing import listed, listing_text

        if self.examples < 0:
            raise ConfigError(f"--examples must be at least 0, got {self.examples}")
        found = listed(self.names, self.examples, self.seed)
        text = listing_text(found, whole=bool(self.names))
        self.tell(text, tasks=[asdict(one) for one in found])
