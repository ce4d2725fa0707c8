"""The bar of long work, with the time left."""

from __future__ import annotations

import sys
from typing import Any

from tqdm import tqdm

WATCHED, IN_A_LOG = 0.5, 30.0  # seconds between what a terminal and a file are shown


def progress_bar(show: bool, **options: Any) -> tqdm[Any]:
    """A bar of tqdm's, with options of its own; in a log it speaks twice a minute."""
    interval = WATCHED if sys.stderr.isatty() else IN_A_LOG
    return tqdm(disable=not show, mininterval=interval, maxinterval=IN_A_LOG, **options)
