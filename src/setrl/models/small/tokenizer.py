"""A tokenizer made from a domain's vocabulary."""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import TYPE_CHECKING

from tokenizers import Regex, Tokenizer, decoders, models, pre_tokenizers

if TYPE_CHECKING:
    from transformers import PreTrainedTokenizerFast

PAD, EOS, UNKNOWN = "<pad>", "<eos>", "<unk>"


def make_tokenizer(vocabulary: Sequence[str]) -> PreTrainedTokenizerFast:
    """Make a tokenizer whose tokens are the strings of `vocabulary`, the longest match first.

    Decoding joins tokens without spaces, so `decode(encode(text)) == text` for every text that the
    vocabulary can write; other characters become `<unk>`. No token marks the beginning of the text,
    as in Qwen3; `<eos>` ends a sample and `<pad>` pads on the left.

    >>> tokenizer = make_tokenizer(["x", "=", "1", "2", "12"])
    >>> tokenizer.tokenize("x=121")
    ['x', '=', '12', '1']
    """
    from transformers import PreTrainedTokenizerFast

    _check_vocabulary(vocabulary)
    ids = {token: index for index, token in enumerate((PAD, EOS, UNKNOWN, *vocabulary))}
    tokenizer = Tokenizer(models.WordLevel(ids, unk_token=UNKNOWN))
    longest_first = sorted(vocabulary, key=len, reverse=True)
    pattern = Regex("|".join(re.escape(token) for token in longest_first))
    tokenizer.pre_tokenizer = pre_tokenizers.Split(pattern, behavior="isolated")
    tokenizer.decoder = decoders.Fuse()
    return PreTrainedTokenizerFast(
        tokenizer_object=tokenizer,
        pad_token=PAD,
        eos_token=EOS,
        unk_token=UNKNOWN,
        padding_side="left",
        clean_up_tokenization_spaces=False,
    )


def _check_vocabulary(vocabulary: Sequence[str]) -> None:
    reserved = {PAD, EOS, UNKNOWN}
    if wrong := sorted(token for token in vocabulary if not token or token in reserved):
        raise ValueError(f"a vocabulary must have no empty or reserved tokens, got {wrong}")
    if len(set(vocabulary)) != len(vocabulary):
        twice = sorted({token for token in vocabulary if list(vocabulary).count(token) > 1})
        raise ValueError(f"a vocabulary must hold each token once, got {twice} more than once")
