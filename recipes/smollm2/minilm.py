"""all-MiniLM-L6-v2 as the encoder of a judge: 384 numbers of a text, by transformers alone.

    judge: {judge: embedding, encode: "recipes.smollm2.minilm:encode", threshold: 0.15}

`encode` reads the folder that `recipes.smollm2.model` made, MINILM or pretrained/models/minilm.
"""

from __future__ import annotations

import os
from collections.abc import Sequence
from functools import cache
from pathlib import Path

import numpy as np
import torch
from numpy.typing import NDArray
from transformers import AutoModel, AutoTokenizer

LONGEST = 256  # tokens: the model was trained on no longer texts, and the rest is not read
AT_ONCE = 32


class MiniLM:
    """The model of a folder; a text is the mean of its tokens' vectors, of length 1."""

    def __init__(self, folder: str | Path):
        self.tokenizer = AutoTokenizer.from_pretrained(folder)
        self.model = AutoModel.from_pretrained(folder).eval()

    def __call__(self, texts: Sequence[str]) -> NDArray[np.float64]:
        """Return (texts, 384) numbers."""
        order = np.argsort([len(text) for text in texts])  # so that there is little padding
        found = np.zeros((len(texts), self.model.config.hidden_size))
        for start in range(0, len(texts), AT_ONCE):
            places = order[start : start + AT_ONCE]
            found[places] = self._encoded([texts[place] for place in places])
        return found

    @torch.inference_mode()
    def _encoded(self, texts: list[str]) -> NDArray[np.float32]:
        some = self.tokenizer(
            texts, padding=True, truncation=True, max_length=LONGEST, return_tensors="pt"
        )
        hidden_NTd = self.model(**some).last_hidden_state
        mask_NT1 = some["attention_mask"][..., None]
        mean_Nd = (hidden_NTd * mask_NT1).sum(1) / mask_NT1.sum(1)
        return torch.nn.functional.normalize(mean_Nd, dim=1).numpy()


@cache
def _usual() -> MiniLM:
    return MiniLM(os.environ.get("MINILM", "pretrained/models/minilm"))


def encode(texts: Sequence[str]) -> NDArray[np.float64]:
    """Return (texts, 384) numbers, by the model of the usual folder."""
    return _usual()(texts)
