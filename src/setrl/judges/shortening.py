"""Long samples, cut in the middle until the samples of a request fit a budget of tokens."""

from __future__ import annotations

from collections.abc import Sequence

from setrl.models.served.usage import approximate_tokens


def shorten_together(texts: Sequence[str], budget: int) -> list[str]:
    """Cut the longest texts to one common length, so that all have at most `budget` tokens.

    Short texts stay whole; what they leave of their share goes to the longer ones.

    >>> shorten_together(["x=7", "a" * 300], budget=41)[0]
    'x=7'
    """
    limit, left = 0, budget
    sizes = sorted(map(approximate_tokens, texts))
    for i, size in enumerate(sizes):
        limit = left // (len(sizes) - i)
        if size > limit:
            break
        left -= size
    else:
        return list(texts)
    return [shorten(text, limit) for text in texts]


def shorten(text: str, limit: int) -> str:
    """Return the text within `limit` tokens: whole, or its head, a note, and its tail.

    The head shows the strategy and the tail the answer. The note itself is never dropped, so a
    limit below about 15 tokens gives only the note.
    """
    size = approximate_tokens(text)
    if size <= limit:
        return text
    keep = len(text) * limit // size
    while keep > 0 and approximate_tokens(_cut(text, keep)) > limit:
        keep = keep * 9 // 10 - 1
    return _cut(text, max(keep, 0))


def _cut(text: str, keep: int) -> str:
    head, tail = text[: (keep + 1) // 2], text[len(text) - keep // 2 :]
    return f"{head}\n[… {len(text) - keep} characters left out …]\n{tail}"
