"""What a judge of recipes/front/clusters.yaml reads of a sample: its last number, or its letters.

Both need no model, and know nothing of the domain's strategies.
"""

from __future__ import annotations

import re
from typing import Any

from sklearn.feature_extraction.text import HashingVectorizer

NUMBER = re.compile(r"[0-9]+")
LETTERS = HashingVectorizer(
    analyzer="char", ngram_range=(1, 3), alternate_sign=False, n_features=4096
)


def last_number(text: str) -> str | None:
    """Return the last number of a sample of `multiplication`; None if it has no number.

    >>> last_number("(600-17)*6=3600-102=3498")
    '3498'
    """
    found = NUMBER.findall(text)
    return found[-1] if found else None


def runs_of_letters(texts: list[str]) -> Any:
    """Count each run of one to three letters in a sample: (N, 4096), hashed, of length 1."""
    return LETTERS.transform(texts).toarray()
