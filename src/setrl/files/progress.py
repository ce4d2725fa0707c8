"""The progress bar of long work, with the time left."""

from __future__ import annotations

import sys
from typing import Any

from tqdm import tqdm

# Seconds between updates, and seconds after which the bar is shown although nothing has moved.
ON_A_TERMINAL = {"mininterval": 0.5, "maxinterval": 10.0}
IN_A_LOG = {"mininterval": 30.0, "maxinterval": 30.0}


def progress_bar(show: bool, **options: Any) -> tqdm[Any]:
    """Return tqdm's bar with our options; in a log it prints twice a minute."""
    pace = ON_A_TERMINAL if sys.stderr.isatty() else IN_A_LOG
    return tqdm(disable=not show, **(options | pace))
