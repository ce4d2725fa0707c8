"""Samples are together when their embeddings are near."""

from __future__ import annotations

import warnings
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray
from typing_extensions import override

from setrl.judges.base import Group, Judge, Judgement
from setrl.judges.partition import cluster_by_distance, spread_over_all
from setrl.samples.values import DEGENERATE
from setrl.support.files.loading import load_function

ENOUGH = 16  # different texts, of which a judge that joins none is warned of
Encode = Callable[[list[str]], Any]
"""N texts → (N, d) numbers, any kind of array."""


@dataclass(frozen=True)
class EmbeddingJudge(Judge):
    """Thresholded agglomerative clustering by cosine distance.

        d(i, j) = 1 − eᵢ·eⱼ / (‖eᵢ‖ ‖eⱼ‖),    the nearest strategies joined while mean d < threshold

    Quick, and blind to what embeddings do not represent: they place texts by subject and wording,
    and all samples of a prompt have one subject. Measure it on labelled pairs before you train with
    it (`setrl judge-audit`), and choose the threshold there. A blank text is degenerate, and so is
    one whose embedding is 0 and has no direction.

    Attributes:
        encode: Texts → (N, d): a function of yours.
        threshold: Cosine distance from which strategies stay apart, in (0, 2].
    """

    encode: Encode
    threshold: float

    def __post_init__(self) -> None:
        if not 0 < self.threshold <= 2:
            raise ValueError(f"threshold must be in (0, 2], got {self.threshold}")

    @override
    def judge(self, groups: Sequence[Group]) -> list[Judgement]:
        """Return the labels; the texts of all groups are encoded in one call."""
        texts = [text for group in groups for text in group.texts]
        directions = _make_unit_vectors(self.encode(texts), texts) if texts else np.zeros((0, 1))
        ends = np.cumsum([len(group.texts) for group in groups])[:-1]
        parts = np.split(directions, ends)
        judgements = [self._judge_by_distances(part_Nd) for part_Nd in parts]
        self._warn_if_all_are_alone(judgements, parts)
        return judgements

    def _warn_if_all_are_alone(
        self, judgements: Sequence[Judgement], parts: Sequence[NDArray[np.float64]]
    ) -> None:
        """Say that the threshold joins nothing: each sample would be a strategy of its own."""
        several = [
            (judgement.labels_N or (), part_Nd[part_Nd.any(axis=1)])
            for judgement, part_Nd in zip(judgements, parts, strict=True)
            if part_Nd.any(axis=1).sum() > 1
        ]
        rows = [[label for label in labels if label != DEGENERATE] for labels, _ in several]
        if sum(map(len, rows)) < ENOUGH or any(len(set(row)) < len(row) for row in rows):
            return
        nearest = min(_find_smallest_distance(directions_Nd) for _, directions_Nd in several)
        warnings.warn(
            f"the embedding judge leaves every sample alone: no two of {sum(map(len, rows))} "
            f"different texts are nearer than its threshold {self.threshold:g}; the nearest two of "
            f"a prompt have the distance {nearest:.2g}. Choose the threshold with `setrl "
            "judge-audit` on labelled pairs; docs/results/judge_people has what it gave for texts "
            "that people compared",
            stacklevel=3,
        )

    def _judge_by_distances(self, directions_Nd: NDArray[np.float64]) -> Judgement:
        places = np.flatnonzero(directions_Nd.any(axis=1))
        distances_NN = cosine_distances(directions_Nd[places])
        labels = cluster_by_distance(distances_NN, self.threshold)
        return Judgement(spread_over_all(places.tolist(), labels, len(directions_Nd)))


def _find_smallest_distance(directions_Nd: NDArray[np.float64]) -> float:
    distances_NN = cosine_distances(directions_Nd)
    return float(distances_NN[~np.eye(len(distances_NN), dtype=bool)].min())


def of_encoder(encode: str, threshold: float) -> EmbeddingJudge:
    """Compare what the function `module:name` encodes.

    Args:
        encode: N texts → N rows of numbers, such as `encode` of a sentence-transformers model.
        threshold: Cosine distance, in (0, 2]: strategies at this distance or farther stay apart.
    """
    return EmbeddingJudge(load_function(encode, ".").value, threshold)


def cosine_distances(directions_Nd: NDArray[np.float64]) -> NDArray[np.float64]:
    """1 − cosine of all pairs of unit vectors: (N, N) in [0, 2], exactly 0 on the diagonal."""
    distances_NN = np.clip(1.0 - directions_Nd @ directions_Nd.T, 0.0, 2.0)
    np.fill_diagonal(distances_NN, 0.0)
    return (distances_NN + distances_NN.T) / 2  # products of floats need not be symmetric


def _make_unit_vectors(embeddings: Any, texts: list[str]) -> NDArray[np.float64]:
    """Return unit vectors, and 0 for a vector without a direction."""
    embeddings_Nd = np.asarray(embeddings, dtype=np.float64)
    if embeddings_Nd.ndim != 2 or len(embeddings_Nd) != len(texts):
        raise ValueError(
            f"encode must give one row per text, ({len(texts)}, d), got {embeddings_Nd.shape}"
        )
    if not np.isfinite(embeddings_Nd).all():
        raise ValueError("encode must give finite numbers, got NaN or infinity")
    blank_N = np.array([not text.strip() for text in texts])
    norms_N = np.linalg.norm(embeddings_Nd, axis=1)
    norms_N[blank_N | (norms_N == 0)] = np.inf
    return embeddings_Nd / norms_N[:, None]
