"""The bar of long work, with the time left."""

from __future__ import annotations

import sys
from typing import Any

from tqdm import tqdm

# Seconds between what is shown, and after which it is shown though nothing has moved.
ON_A_TERMINAL = {"mininterval": 0.5, "maxinterval": 10.0}
IN_A_LOG = {"mininterval": 30.0, "maxinterval": 30.0}


def progress_bar(show: bool, **options: Any) -> tqdm[Any]:
    """A bar of tqdm's, with options of its own; in a log it speaks twice a minute."""
    pace = ON_A_TERMINAL if sys.stderr.isatty() else IN_A_LOG
    return tqdm(disable=not show, **(options | pace))
