"""`setrl credit`."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import tyro


def credit(
    file: Annotated[Path, tyro.conf.Positional],
    method: str = "poly_epo",
    set_size: int | None = None,
    reward: str | None = None,
    cluster: str | None = None,
    group: str | None = None,
    output: Path | None = None,
) -> None:
    """Give every sample of logged groups its advantage.

    Args:
        file: JSON Lines: a group a line, or a sample a line.
        method: One of setrl.methods.
        set_size: K, for methods that have one.
        reward: The key of a sample's reward, where it is not reward, correct or score.
        cluster: The key of its strategy, where it is not cluster, strategy, final or answer.
        group: The key that the samples of a group share, for files of a sample a line.
        output: Where the groups go (JSONL), with advantages; standard output by default.
    """
    from setrl.logs.groups import Keys, credit_file

    options = {} if set_size is None else {"set_size": set_size}
    credit_file(file, {"method": method, **options}, Keys(reward, cluster, group), output)
