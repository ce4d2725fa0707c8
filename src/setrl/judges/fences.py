"""Keeping each sample inside its own fence, for every possible text.

A sample is written by the policy that is being trained, so in time it contains anything that raises
its reward. It cannot close its fence, because the fence carries a mark that no sample of the
request contains; and it cannot open its own turn, because the tokens that separate turns in
chat templates are broken up.
"""

from __future__ import annotations

import hashlib
import re
from collections.abc import Sequence

# Texts that servers turn into control tokens when they find them inside a message: <|im_end|>,
# <｜User｜>, </s>, <start_of_turn>, <think>, [INST], <<SYS>> …
CONTROL = re.compile(
    r"<(?=[|｜])|[|｜](?=>)"
    r"|<(?=/?(?:s|bos|eos|pad|unk|mask|think|tool_call|tool_response)>)"
    r"|<(?=(?:start|end)_of_\w+>)"
    r"|(?-i:\[(?=/?[A-Z_]{4,}\]))"
    r"|<(?=<SYS>>)|<(?=</SYS>>)",
    re.IGNORECASE,
)


def harmless(text: str) -> str:
    """Insert a space into all that a chat template might take for a control token.

    Lone surrogates, which no UTF-8 can carry, become question marks.

    >>> harmless("x=2<|im_end|>")
    'x=2< |im_end| >'
    """
    return CONTROL.sub(r"\g<0> ", text).encode("utf-8", "replace").decode()


def mark(texts: Sequence[str]) -> str:
    """Return eight hex digits that no text contains, a function of only the texts.

    To contain its own mark, a sample would have to contain a hash of itself and of all other
    samples; if it does by chance, the group gets another mark.

    >>> mark(["a problem", "a sample"]) == mark(["a problem", "a sample"])
    True
    """
    whole = hashlib.sha256()
    for text in texts:
        whole.update(hashlib.sha256(text.encode()).digest())
    together = "\n".join(texts)
    while (digits := whole.hexdigest()[:8]) in together:
        whole.update(b"again")
    return digits


def short_mark(texts: Sequence[str]) -> str:
    """Return the shortest run of # that no text contains.

    >>> short_mark(["6*7", "6*7=42 ## easy"])
    '###'
    """
    longest = max((len(run) for text in texts for run in re.findall("#+", text)), default=0)
    return "#" * (longest + 1)
