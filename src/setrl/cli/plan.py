"""`setrl plan`."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import Annotated

import tyro
from tyro.conf import Positional

from setrl.lm.preflight.assumptions import Assumptions


@dataclass(frozen=True, kw_only=True)
class Plan(Assumptions):
    """What a run would take from its first step: tokens, a judge's requests, disk, memory, hours.

    Nothing is written, and no server is asked. `setrl train --dry-run` does all checks of a run,
    and says what of it is there already.

    Attributes:
        config: The YAML file of the run.
        json: Print JSON instead of a table.
        set: KEY=VALUE, changes one key of the config; can be repeated.
    """

    config: Positional[Path]
    json: bool = False
    set: Annotated[tuple[str, ...], tyro.conf.UseAppendAction] = ()

    def run(self) -> None:
        """Print the table, or all numbers as JSON."""
        from json import dumps

        from setrl.files import plain_json
        from setrl.lm.config import ComparisonConfig
        from setrl.lm.preflight.costs import as_json, costs
        from setrl.lm.preflight.costs_text import costs_text
        from setrl.lm.run import quiet

        config = ComparisonConfig.load(self.config, self.set)
        quiet()
        found = costs(config, self)
        if self.json:
            print(dumps(plain_json(as_json(found)), indent=2, ensure_ascii=False))
        else:
            print(costs_text(found))
