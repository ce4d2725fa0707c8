"""Text of data and of models, shown so that nothing in it is hidden or acts on a terminal."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import groupby
from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from transformers import PreTrainedTokenizerBase

LEFT, RIGHT = "⟦", "⟧"  # around the special tokens of a model


def escaped(text: str, kept: str = "\n") -> str:
    r"""Return a string with an escape for each character that cannot be seen and is not kept.

    Control characters, marks of direction, and spaces other than " " are such characters.

    >>> print(escaped("a\x1b[2Jb\u202ec d\te"))
    a\x1b[2Jb\u202ec d\te
    """
    return "".join(
        character
        if character.isprintable() or character in kept
        else character.encode("unicode_escape").decode()
        for character in text
    )


def shortened(text: str, most: int) -> str:
    """Return a string without its middle, if it is longer than `most` characters.

    >>> shortened("abcdefghij", 4)
    'ab … (6 characters) … ij'
    """
    if len(text) <= most:
        return text
    half = most // 2
    return f"{text[:half]} … ({len(text) - 2 * half:,} characters) … {text[-half:]}"


def from_here(place: str) -> str:
    """Return a place in a file, without the folder in which the command was given."""
    return place.removeprefix(f"{Path.cwd()}/")


def special_ids(tokenizer: PreTrainedTokenizerBase) -> set[int]:
    """Return the tokens of a model that are not text, such as the ones that begin a message."""
    added = getattr(tokenizer, "added_tokens_decoder", {})
    return {*tokenizer.all_special_ids, *(i for i, token in added.items() if token.special)}


def visible(ids: Sequence[int], tokenizer: PreTrainedTokenizerBase) -> str:
    """Return tokens as text that is safe to print, each special token in ⟦ ⟧."""
    special = special_ids(tokenizer)
    parts = []
    for is_special, run in groupby(ids, key=special.__contains__):
        tokens = list(run)
        if is_special:
            parts += [f"{LEFT}{escaped(str(tokenizer.decode([token])))}{RIGHT}" for token in tokens]
        else:
            parts.append(escaped(str(tokenizer.decode(tokens))))
    return "".join(parts)
